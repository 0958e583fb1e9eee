//! A small HTTP server for static files: reads one request, answers it, closes.
//!
//! It deliberately has no keep-alive, no ranges and no uploads, and never leaves its folder.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// The longest head of a request that is read, in bytes.
const LONGEST_HEAD: u64 = 16 * 1024;
/// How long a client may take to send its request or to take its answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// A request, as far as a server of files looks at it.
#[derive(Debug, PartialEq, Eq)]
pub struct Request {
    /// `GET`, `HEAD` or another.
    pub method: String,
    /// The path, decoded, without the query.
    pub path: String,
    /// What stands behind the question mark, not decoded.
    pub query: String,
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    /// The status line's number and words.
    pub status: &'static str,
    /// The media type.
    pub kind: &'static str,
    /// Headers of this answer alone.
    pub headers: Vec<(&'static str, String)>,
    /// What is sent.
    pub body: Vec<u8>,
}

impl Answer {
    /// A short answer in plain text.
    pub fn text(status: &'static str, text: impl Into<String>) -> Self {
        Self { status, kind: "text/plain; charset=utf-8", headers: Vec::new(), body: text.into().into_bytes() }
    }
}

/// Reads the request of a connection; `None` where it is none, or too long.
pub fn read_request(stream: &TcpStream) -> Option<Request> {
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.set_write_timeout(Some(PATIENCE)).ok()?;
    let mut reader = BufReader::new(stream.take(LONGEST_HEAD));
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let mut line = String::new();
    loop {
        line.clear();
        match reader.read_line(&mut line) {
            Ok(0) | Err(_) => return None,
            Ok(_) if line.trim_end().is_empty() => break,
            Ok(_) => {}
        }
    }
    parse(&first)
}

fn parse(line: &str) -> Option<Request> {
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?, words.next()?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    Some(Request { method: method.to_owned(), path: decode(path)?, query: query.to_owned() })
}

/// Undoes percent encoding; `None` where it is broken or the result is no UTF-8.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let (high, low) = (rest.next()? as char, rest.next()? as char);
            bytes.push((high.to_digit(16)? * 16 + low.to_digit(16)?) as u8);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
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
    // A symbolic link could still lead out, so the real place is compared too.
    let inside = match (path.canonicalize(), root.canonicalize()) {
        (Ok(real), Ok(root)) => real.starts_with(root),
        (Ok(_) | Err(_), _) => false,
    };
    match fs::read(&path) {
        Ok(body) if inside => Answer { status: "200 OK", kind: kind(&path), headers: Vec::new(), body },
        Ok(_) | Err(_) => Answer::text("404 Not Found", format!("There is no {}\n", request.path)),
    }
}

fn encoded(path: &str) -> String {
    let mut text = String::new();
    for byte in path.trim_start_matches('/').bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
            text.push(byte as char);
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    format!("/{text}")
}

fn kind(path: &Path) -> &'static str {
    match path.extension().and_then(|ending| ending.to_str()).unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "wasm" => "application/wasm",
        "json" | "map" => "application/json; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "txt" | "md" => "text/plain; charset=utf-8",
        "yaml" | "yml" => "application/yaml; charset=utf-8",
        _ => "application/octet-stream",
    }
}

/// Sends an answer; a client that went away is no failure of ours.
pub fn send(mut stream: &TcpStream, request: &Request, answer: &Answer, policy: Option<&str>) {
    let mut head = format!(
        "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\
         Cache-Control: no-cache\r\nAccess-Control-Allow-Origin: *\r\n\
         X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n",
        answer.status,
        answer.kind,
        answer.body.len()
    );
    if let Some(policy) = policy {
        head.push_str(&format!("Content-Security-Policy: {policy}\r\n"));
    }
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    let body: &[u8] = if request.method == "HEAD" { &[] } else { &answer.body };
    let sent = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)).and_then(|()| stream.flush());
    drop(sent);
}

#[cfg(test)]
mod tests {
    use super::{below, decode, encoded, kind, parse};
    use std::path::Path;

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
        let request = parse("GET /%2e%2e/Cargo.toml?x=1 HTTP/1.1\r\n").unwrap();
        assert_eq!(request.path, "/../Cargo.toml");
        assert_eq!(request.query, "x=1");
        assert_eq!(below(Path::new("dist"), &request.path), None);
    }

    #[test]
    fn broken_encodings_are_no_requests() {
        assert_eq!(decode("%"), None);
        assert_eq!(decode("%zz"), None);
        assert_eq!(decode("%ff"), None);
        assert_eq!(parse("GET"), None);
    }

    #[test]
    fn a_redirect_cannot_be_split_or_leave_the_server() {
        assert_eq!(encoded("/a b\r\nX: y"), "/a%20b%0D%0AX%3A%20y");
        assert_eq!(encoded("//other"), "/other");
    }

    #[test]
    fn media_types_are_those_that_browsers_insist_on() {
        assert_eq!(kind(Path::new("a.wasm")), "application/wasm");
        assert_eq!(kind(Path::new("a.js")), "text/javascript; charset=utf-8");
    }
}
