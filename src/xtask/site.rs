//! What is answered to a request: files of the page and, while we watch, the script that reloads it and its news.
//!
//! It deliberately tells other origins nothing but numbers about a build: what a compiler says stays with the page.

use crate::http::{self, Answer, Request};
use crate::page;
use std::fs;
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long a page's question for news is kept open.
const NEWS: Duration = Duration::from_secs(20);
/// The address of the script that reloads pages; no file of the page can have it.
const LIVE: &str = "/~live";

/// Asks the server for news and reloads the page when it has been rebuilt.
const LIVE_SCRIPT: &str = "\
const here = new URL(import.meta.url);
const built = here.searchParams.get('built');
// A frame of another site is not told why, and does without.
const why = () => fetch(new URL('failure', here)).then((answer) => answer.text()).catch(() => '');
let event = '0';
for (;;) {
  try {
    const answer = await fetch(new URL(`news?event=${event}`, here));
    const [now, latest, state] = (await answer.text()).split(' ');
    if (latest !== built) { location.reload(); break; }
    if (now !== event && state === 'failed') console.error(`The page was not rebuilt. ${await why()}`);
    event = now;
  } catch {
    await new Promise((wake) => setTimeout(wake, 1000));
  }
}
";

/// What the pages are told: which build is served, and what went wrong since.
#[derive(Debug, Default)]
struct News {
    /// Counts every build, also those that failed.
    event: u64,
    /// Which build is served.
    built: u64,
    /// Why the last build failed, if it did.
    failure: Option<String>,
}

/// A folder with a page, and what is known of its builds.
#[derive(Debug)]
pub struct Site {
    /// Where the page is.
    pub dist: PathBuf,
    /// Whether it is rebuilt while it is served.
    pub watching: bool,
    news: Mutex<News>,
    changed: Condvar,
}

impl Site {
    /// The page in a folder.
    pub fn new(dist: PathBuf, watching: bool) -> Self {
        Self { dist, watching, news: Mutex::default(), changed: Condvar::new() }
    }

    fn news(&self) -> MutexGuard<'_, News> {
        self.news.lock().expect("no thread panics while it holds the news")
    }

    /// Takes note of a build and tells the pages that wait for news.
    pub fn tell(&self, failure: Option<String>) {
        let mut news = self.news();
        // The clock makes the number differ from those of an earlier server, so that its pages reload too.
        news.event =
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(news.event + 1, |since| since.as_millis() as u64);
        if failure.is_none() {
            news.built = news.event;
        }
        news.failure = failure;
        drop(news);
        self.changed.notify_all();
    }

    /// Answers the request of a connection.
    pub fn answer(&self, stream: &TcpStream) {
        let policy = fs::read_to_string(self.dist.join("index.html")).ok().and_then(|html| page::policy(&html));
        let (answer, head_alone) = match http::read_request(stream) {
            Ok(request) => (self.respond(&request), request.method == "HEAD"),
            Err(answer) => (answer, false),
        };
        http::send(stream, head_alone, &answer, policy.as_deref());
    }

    fn respond(&self, request: &Request) -> Answer {
        if !["GET", "HEAD"].contains(&request.method.as_str()) {
            let mut answer = Answer::text("405 Method Not Allowed", "Only GET and HEAD.\n");
            answer.headers.push(("Allow", "GET, HEAD".to_owned()));
            return answer;
        }
        if self.watching && request.path.starts_with(LIVE) {
            return self.live(request);
        }
        let mut answer = http::file(&self.dist, request);
        if self.watching && answer.status.starts_with("404") && !self.dist.join("index.html").is_file() {
            let why = self.failure(request).unwrap_or_else(|| "The page is being built.".to_owned());
            return Answer::text("503 Service Unavailable", format!("{why}\nReload when it is built.\n")).kept();
        }
        if self.watching && answer.kind.starts_with("text/html") {
            let built = self.news().built;
            let script = format!("<script type=\"module\" src=\"{LIVE}/reload.js?built={built}\"></script></head>");
            let html = String::from_utf8_lossy(&answer.body).replacen("</head>", &script, 1);
            answer.body = html.into_bytes();
        }
        answer
    }

    /// Why the last build failed, for whoever calls us by our own name: a name of another site that leads here would
    /// make its pages pages of ours.
    fn failure(&self, request: &Request) -> Option<String> {
        self.news().failure.clone().filter(|_| own(&request.host))
    }

    fn live(&self, request: &Request) -> Answer {
        if request.path.ends_with("/reload.js") {
            let mut answer = Answer::text("200 OK", LIVE_SCRIPT);
            answer.kind = "text/javascript; charset=utf-8".to_owned();
            return answer;
        }
        if request.path.ends_with("/failure") {
            return Answer::text("200 OK", self.failure(request).unwrap_or_default()).kept();
        }
        let seen: u64 = request.query.strip_prefix("event=").and_then(|text| text.parse().ok()).unwrap_or(0);
        let (news, _) = self
            .changed
            .wait_timeout_while(self.news(), NEWS, |news| news.event == seen)
            .expect("no thread panics while it holds the news");
        let state = if news.failure.is_some() { "failed" } else { "well" };
        Answer::text("200 OK", format!("{} {} {state}", news.event, news.built))
    }
}

/// Whether the host of a request is this machine's own name for itself, with any port.
fn own(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|digit| digit.is_ascii_digit()) => name,
        Some(_) | None => host,
    };
    ["127.0.0.1", "localhost", "[::1]"].iter().any(|known| known.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::{Site, own};
    use crate::http::{Answer, Request};

    fn site() -> Site {
        let site = Site::new(std::env::temp_dir().join("highwater-no-page-is-here"), true);
        site.tell(Some("error: src/secret.rs does not compile".to_owned()));
        site
    }

    fn get(site: &Site, path: &str, host: &str) -> Answer {
        let (method, query) = ("GET".to_owned(), String::new());
        site.respond(&Request { method, path: path.to_owned(), query, host: host.to_owned() })
    }

    fn says_why(answer: &Answer) -> bool {
        String::from_utf8_lossy(&answer.body).contains("secret")
    }

    #[test]
    fn what_a_compiler_said_is_readable_from_our_own_origin_alone() {
        let site = site();
        for path in ["/", "/index.html", "/~live/failure", "/~live/news", "/~live/reload.js"] {
            let answer = get(&site, path, "127.0.0.1:8080");
            assert!(!(says_why(&answer) && answer.shared), "{path} tells every origin");
            // A name that another site has made lead here is an origin of that site.
            assert!(!says_why(&get(&site, path, "rebound.example:8080")), "{path} tells every name");
        }
        for path in ["/", "/~live/failure"] {
            assert!(says_why(&get(&site, path, "localhost:8080")), "{path} tells nobody");
        }
    }

    #[test]
    fn a_failed_build_is_news_and_a_good_one_after_it_too() {
        let site = site();
        let news = |site: &Site| String::from_utf8(get(site, "/~live/news", "").body).unwrap();
        assert!(news(&site).ends_with(" 0 failed"), "{}", news(&site));
        site.tell(None);
        assert!(news(&site).ends_with(" well"), "{}", news(&site));
        assert!(!says_why(&get(&site, "/~live/failure", "localhost")));
    }

    #[test]
    fn our_own_names_are_known_with_and_without_a_port() {
        for good in ["127.0.0.1", "127.0.0.1:8080", "localhost:1", "LOCALHOST", "[::1]:80"] {
            assert!(own(good), "{good}");
        }
        for bad in ["", "127.0.0.1.example", "localhost.example:80", "localhost:", ":80", "127.0.0.1:80:80", "x"] {
            assert!(!own(bad), "{bad}");
        }
    }
}
