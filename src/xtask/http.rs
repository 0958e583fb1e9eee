//! HTTP for static files: reads one request, answers it, closes.
//!
//! It deliberately has no keep-alive, no ranges and no uploads, and never leaves its folder. The loop that takes
//! connections is ours too: the small server libraries give up at the first connection that cannot be taken.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use std::fs;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

/// The longest head of a request that is read, in bytes.
const LONGEST_HEAD: usize = 16 * 1024;
/// The most headers that a request may have.
const MOST_HEADERS: usize = 64;
/// How long a client may take to send its whole request, and to take each piece of its answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long, and for how many bytes, what a client still sends is taken off its hands after the answer.
const LINGER: (Duration, usize) = (Duration::from_secs(1), 1024 * 1024);
/// The first rest after a connection that could not be taken, and the longest one.
const RESTS: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(500));
/// What stands in a path as it is.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A request, as far as a server of files looks at it.
#[derive(Debug, PartialEq, Eq)]
pub struct Request {
    /// `GET`, `HEAD` or another.
    pub method: String,
    /// The path, decoded, without the query.
    pub path: String,
    /// What stands behind the question mark, not decoded.
    pub query: String,
    /// What the client calls us; empty where it does not say.
    pub host: String,
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    /// The status line's number and words.
    pub status: &'static str,
    /// The media type.
    pub kind: String,
    /// Headers of this answer alone.
    pub headers: Vec<(&'static str, String)>,
    /// Whether pages of every origin may read it, as they may the page itself.
    pub shared: bool,
    /// What is sent.
    pub body: Vec<u8>,
}

impl Answer {
    /// A short answer in plain text.
    pub fn text(status: &'static str, text: impl Into<String>) -> Self {
        let kind = "text/plain; charset=utf-8".to_owned();
        Self { status, kind, headers: Vec::new(), shared: true, body: text.into().into_bytes() }
    }

    /// The same, kept from other origins.
    pub fn kept(self) -> Self {
        Self { shared: false, ..self }
    }
}

/// Takes connections for as long as there may be some. What cannot be taken (the process has no file left, a client
/// went away at once) is reported once and tried again after a rest that grows, so that waiting costs nothing.
pub fn take<S>(
    connections: impl Iterator<Item = io::Result<S>>,
    mut serve: impl FnMut(S) -> io::Result<()>,
    mut report: impl FnMut(&io::Error),
    mut rest: impl FnMut(Duration),
) {
    let mut next = RESTS.0;
    for connection in connections {
        match connection.and_then(&mut serve) {
            Ok(()) => next = RESTS.0,
            Err(error) => {
                if next == RESTS.0 {
                    report(&error);
                }
                rest(next);
                next = (next * 2).min(RESTS.1);
            }
        }
    }
}

/// Reads the request of a connection.
///
/// # Errors
/// The answer to what is no request, is too long, or does not come in time.
pub fn read_request(mut stream: &TcpStream) -> Result<Request, Answer> {
    let late = || Answer::text("408 Request Timeout", "The request did not come in time.\n");
    let end = Instant::now() + PATIENCE;
    stream.set_write_timeout(Some(PATIENCE)).map_err(|_| late())?;
    let (mut head, mut piece) = (Vec::new(), [0; 1024]);
    loop {
        // The limit is on the whole: a client that sends a byte now and then would otherwise hold us for long.
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
            return Err(late());
        }
        match stream.read(&mut piece) {
            Ok(0) => return Err(late()),
            Ok(length) => head.extend_from_slice(&piece[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return Err(late()),
        }
        if let Some(request) = parse(&head)? {
            return Ok(request);
        }
        if head.len() > LONGEST_HEAD {
            return Err(too_large());
        }
    }
}

/// Reads the head of a request; `None` where more of it must come.
fn parse(head: &[u8]) -> Result<Option<Request>, Answer> {
    let broken = || Answer::text("400 Bad Request", "This is no request that can be understood.\n");
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(head) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(too_large()),
        Err(_) => return Err(broken()),
    }
    let (method, target) = (request.method.ok_or_else(broken)?, request.path.ok_or_else(broken)?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let host = request.headers.iter().find(|header| header.name.eq_ignore_ascii_case("host"));
    Ok(Some(Request {
        method: method.to_owned(),
        path: decode(path).ok_or_else(broken)?,
        query: query.to_owned(),
        host: host.map(|host| String::from_utf8_lossy(host.value).into_owned()).unwrap_or_default(),
    }))
}

fn too_large() -> Answer {
    Answer::text("431 Request Header Fields Too Large", "The request is too long.\n")
}

/// Undoes percent encoding; `None` where it is broken or the result is no UTF-8.
fn decode(text: &str) -> Option<String> {
    let whole = |rest: &str| rest.as_bytes().get(..2).is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit));
    if !text.split('%').skip(1).all(whole) {
        return None;
    }
    percent_decode_str(text).decode_utf8().ok().map(|path| path.into_owned())
}

/// The file below `root` that a path names, before looking whether it exists.
///
/// `None` for every path that could lead out of the folder: dots, drive letters, backslashes, zero bytes.
pub fn below(root: &Path, path: &str) -> Option<PathBuf> {
    let relative = path.strip_prefix('/')?;
    if relative.contains(['\\', '\0', ':']) || relative.starts_with('/') {
        return None;
    }
    let relative = Path::new(relative);
    let plain = relative.components().all(|part| matches!(part, Component::Normal(_)));
    plain.then(|| root.join(relative))
}

/// Answers with a file of `root`, or says why not.
pub fn file(root: &Path, request: &Request) -> Answer {
    let Some(mut path) = below(root, &request.path) else {
        return Answer::text("403 Forbidden", "This path leads out of the page.\n");
    };
    if path.is_dir() {
        if !request.path.ends_with('/') {
            // Without the slash the relative addresses of the page would miss their files.
            let mut answer = Answer::text("301 Moved Permanently", "");
            answer.headers.push(("Location", format!("{}/", encoded(&request.path))));
            return answer;
        }
        path.push("index.html");
    }
    match contents(root, &path) {
        Ok(body) => Answer { status: "200 OK", kind: kind(&path), headers: Vec::new(), shared: true, body },
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Answer::text("404 Not Found", format!("There is no {}\n", request.path))
        }
        // No file left to open, no right to read it: it may be there, so nobody is told that it is not.
        Err(_) => Answer::text("503 Service Unavailable", format!("{} cannot be read now.\n", request.path)),
    }
}

/// What is in a file, unless a symbolic link leads out of the folder.
fn contents(root: &Path, path: &Path) -> io::Result<Vec<u8>> {
    if !path.canonicalize()?.starts_with(root.canonicalize()?) {
        return Err(io::ErrorKind::NotFound.into());
    }
    fs::read(path)
}

fn encoded(path: &str) -> String {
    format!("/{}", utf8_percent_encode(path.trim_start_matches('/'), PLAIN))
}

fn kind(path: &Path) -> String {
    let found = mime_guess::from_path(path).first_or_octet_stream();
    let words = found.type_() == "text" || found.subtype() == "json" || found.subtype() == "javascript";
    if words { format!("{}; charset=utf-8", found.essence_str()) } else { found.essence_str().to_owned() }
}

/// Sends an answer; a client that went away is no failure of ours.
pub fn send(mut stream: &TcpStream, head_alone: bool, answer: &Answer, policy: Option<&str>) {
    let mut head = format!(
        "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\
         Cache-Control: no-cache\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n",
        answer.status,
        answer.kind,
        answer.body.len()
    );
    head.push_str(if answer.shared {
        "Access-Control-Allow-Origin: *\r\n"
    } else {
        "Cross-Origin-Resource-Policy: same-origin\r\n"
    });
    if let Some(policy) = policy {
        head.push_str(&format!("Content-Security-Policy: {policy}\r\n"));
    }
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    let body: &[u8] = if head_alone { &[] } else { &answer.body };
    let sent = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)).and_then(|()| stream.flush());
    if sent.is_ok() {
        let_go(stream);
    }
}

/// Ends a connection so that the answer arrives. Closing while something lies unread makes the kernel send a reset,
/// and a reset may overtake the answer to a request that was too long to be read.
fn let_go(mut stream: &TcpStream) {
    if stream.shutdown(Shutdown::Write).is_err() {
        return;
    }
    let (end, mut left, mut piece) = (Instant::now() + LINGER.0, LINGER.1, [0; 4096]);
    while left > 0 {
        let time = end.saturating_duration_since(Instant::now());
        if time.is_zero() || stream.set_read_timeout(Some(time)).is_err() {
            return;
        }
        match stream.read(&mut piece) {
            Ok(0) => return,
            Ok(length) => left = left.saturating_sub(length),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST_HEAD, RESTS, Request, below, decode, encoded, kind, parse, send, take};
    use std::io::{self, Read, Write};
    use std::net::{Shutdown, TcpListener, TcpStream};
    use std::path::Path;
    use std::time::Duration;

    fn request(head: &str) -> Request {
        parse(head.as_bytes()).unwrap().unwrap()
    }

    fn status(head: &str) -> &'static str {
        parse(head.as_bytes()).unwrap_err().status
    }

    #[test]
    fn an_answer_arrives_though_the_request_was_not_read_to_its_end() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        client.write_all(&[b'a'; 100_000]).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        send(&server, false, &super::too_large(), None);
        drop(server);
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
    }

    #[test]
    fn paths_stay_below_the_folder() {
        let root = Path::new("dist");
        assert_eq!(below(root, "/"), Some(root.join("")));
        assert_eq!(below(root, "/embed/1/"), Some(root.join("embed/1/")));
        for bad in ["/../Cargo.toml", "/a/../../b", "//etc/passwd", "/..", "/a\\..\\b", "/c:/x", "etc", "/a\0b"] {
            assert_eq!(below(root, bad), None, "{bad}");
        }
    }

    #[test]
    fn encoded_dots_are_seen_after_decoding() {
        let request = request("GET /%2e%2e/Cargo.toml?x=1 HTTP/1.1\r\nhOST: localhost:8080\r\n\r\n");
        assert_eq!(request.path, "/../Cargo.toml");
        assert_eq!(request.query, "x=1");
        assert_eq!(request.host, "localhost:8080");
        assert_eq!(below(Path::new("dist"), &request.path), None);
    }

    #[test]
    fn what_is_broken_is_answered_with_400() {
        for bad in ["%", "%zz", "%f", "%ff", "%+1", "a%e4b"] {
            assert_eq!(decode(bad), None, "{bad}");
            assert_eq!(status(&format!("GET /{bad} HTTP/1.1\r\n\r\n")), "400 Bad Request", "{bad}");
        }
        assert_eq!(decode("%c3%A4%25").as_deref(), Some("ä%"));
        for bad in ["GET\r\n\r\n", "\0\r\n\r\n", "GET / HTTP/9\r\n\r\n", "GET / HTTP/1.1\r\nno header\r\n\r\n"] {
            assert_eq!(status(bad), "400 Bad Request", "{bad}");
        }
    }

    #[test]
    fn a_head_that_is_not_whole_is_waited_for_and_one_without_end_is_not() {
        assert_eq!(parse(b"GET / HTTP/1.1\r\nHost: x\r\n").unwrap(), None);
        let many = "a: b\r\n".repeat(LONGEST_HEAD);
        assert!(status(&format!("GET / HTTP/1.1\r\n{many}\r\n")).starts_with("431"));
    }

    #[test]
    fn a_connection_that_cannot_be_taken_is_said_once_and_costs_a_rest() {
        let no = || Err(io::Error::from_raw_os_error(24));
        let mut all: Vec<io::Result<u8>> = vec![Ok(1), Ok(2), no(), Ok(3)];
        all.splice(2..2, (0..9).map(|_| no()));
        let (mut served, mut said, mut rests) = (Vec::new(), 0, Vec::new());
        let serve = |number| {
            served.push(number);
            // The second cannot be served, because no thread could be started for it.
            if number == 2 { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
        };
        take(all.into_iter(), serve, |_| said += 1, |rest| rests.push(rest));
        assert_eq!((served, said), (vec![1, 2, 3], 1));
        assert_eq!(rests.len(), 11);
        assert!(rests.windows(2).all(|two| two[1] == (two[0] * 2).min(RESTS.1)), "{rests:?}");
        assert!(rests[0] > Duration::ZERO);
    }

    #[test]
    fn a_redirect_cannot_be_split_or_leave_the_server() {
        assert_eq!(encoded("/a b\r\nX: y"), "/a%20b%0D%0AX%3A%20y");
        assert_eq!(encoded("//other"), "/other");
        assert_eq!(encoded("/embed/1-_.~"), "/embed/1-_.~");
    }

    #[test]
    fn media_types_are_those_that_browsers_insist_on() {
        assert_eq!(kind(Path::new("a.wasm")), "application/wasm");
        assert_eq!(kind(Path::new("a.js")), "text/javascript; charset=utf-8");
        assert_eq!(kind(Path::new("a.html")), "text/html; charset=utf-8");
        assert_eq!(kind(Path::new("a.svg")), "image/svg+xml");
        assert_eq!(kind(Path::new("a")), "application/octet-stream");
    }
}
