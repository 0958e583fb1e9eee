//! `cargo xtask serve`: builds the page, serves it, rebuilds it when a file changes and reloads it.
//!
//! It deliberately listens on the machine's own address alone, and looks at file times instead of
//! asking the operating system, which works everywhere and costs a few milliseconds a look.

use crate::house::House;
use crate::http::{self, Answer, Request};
use crate::options::Options;
use crate::page::{self, Profile};
use crate::tools;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The port that is tried first when none is asked for.
const DEFAULT_PORT: u16 = 8080;
/// How many ports after it are tried.
const FURTHER_PORTS: u16 = 20;
/// How often file times are looked at.
const LOOK: Duration = Duration::from_millis(300);
/// How long a page's question for news is kept open.
const NEWS: Duration = Duration::from_secs(20);
/// What is watched, besides the manifests: everything that can end in the page.
const WATCHED: [&str; 9] = [
    "src/lib.rs",
    "src/main.rs",
    "src/ui",
    "src/web",
    "src/studio",
    "src/engine",
    "www",
    "tests/scenarios",
    "index.html",
];
/// The address of the script that reloads pages; no file of the page can have it.
const LIVE: &str = "/~live";

/// Asks the server for news and reloads the page when it has been rebuilt.
const LIVE_SCRIPT: &str = "\
const here = new URL(import.meta.url);
const built = here.searchParams.get('built');
let event = '0';
for (;;) {
  try {
    const answer = await fetch(new URL(`news?event=${event}`, here));
    const [first, ...said] = (await answer.text()).split('\\n');
    const [now, latest] = first.split(' ');
    if (latest !== built) { location.reload(); break; }
    if (now !== event && said.length) console.error(said.join('\\n'));
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

#[derive(Debug)]
struct Site {
    dist: PathBuf,
    watching: bool,
    news: Mutex<News>,
    changed: Condvar,
}

/// Builds, serves and, unless told otherwise, watches; returns only on failure.
///
/// # Errors
/// A first build that fails while not watching, a port that is taken, or no wasm target.
pub fn run(house: &House, options: &Options) -> Result<(), String> {
    let profile = Profile::of(options);
    let dist = options.path(house, "--dist", "dist");
    let listener = listen(options.value("--port"))?;
    let address = listener.local_addr().map_err(|error| format!("the port cannot be read: {error}"))?;
    let watching = !options.has("--no-watch") && !options.has("--no-build");
    let site = Arc::new(Site { dist, watching, news: Mutex::default(), changed: Condvar::new() });

    // What is there before the first build counts as known, so that an edit during it is not missed.
    let known = fingerprint(house);
    if options.has("--no-build") {
        if !site.dist.join("index.html").is_file() {
            return Err(format!("there is no page in {}; build it first", site.dist.display()));
        }
    } else {
        tools::wasm_target(house)?;
        rebuild(house, profile, &site).or_else(|error| if watching { Ok(()) } else { Err(error) })?;
    }
    println!("Highwater is at http://{address}/ (embedded form: http://{address}/embed/1/)");
    println!("{}", if watching { "Rebuilds when a file changes; Ctrl-C ends it." } else { "Ctrl-C ends it." });

    if watching {
        let (house, site) = (house.clone(), Arc::clone(&site));
        std::thread::spawn(move || watch(&house, profile, &site, known));
    }
    for stream in listener.incoming().flatten() {
        let site = Arc::clone(&site);
        std::thread::spawn(move || answer(&site, &stream));
    }
    Ok(())
}

fn listen(asked: Option<&str>) -> Result<TcpListener, String> {
    if let Some(text) = asked {
        let port: u16 = text.parse().map_err(|_| format!("`--port {text}`: a number from 0 to 65535 was expected"))?;
        return TcpListener::bind(("127.0.0.1", port))
            .map_err(|error| format!("port {port} cannot be used: {error}. Choose another with --port N."));
    }
    for port in DEFAULT_PORT..=DEFAULT_PORT + FURTHER_PORTS {
        match TcpListener::bind(("127.0.0.1", port)) {
            Ok(listener) => return Ok(listener),
            Err(error) => println!("Port {port} cannot be used ({error}); trying the next."),
        }
    }
    Err(format!("no free port from {DEFAULT_PORT} to {}; choose one with --port N", DEFAULT_PORT + FURTHER_PORTS))
}

fn rebuild(house: &House, profile: Profile, site: &Site) -> Result<(), String> {
    let start = Instant::now();
    let result = page::build(house, profile, &site.dist);
    let mut news = site.news.lock().expect("no thread panics while it holds the news");
    // The clock makes the number differ from those of an earlier server, so that its pages reload too.
    news.event = SystemTime::now().duration_since(UNIX_EPOCH).map_or(news.event + 1, |since| since.as_millis() as u64);
    match &result {
        Ok(()) => {
            news.built = news.event;
            news.failure = None;
            println!("Built in {:.1} s.", start.elapsed().as_secs_f64());
        }
        Err(error) => {
            eprintln!("{error}\nThe page was not rebuilt.");
            news.failure = Some(error.clone());
        }
    }
    drop(news);
    site.changed.notify_all();
    result
}

fn watch(house: &House, profile: Profile, site: &Site, mut known: u64) {
    loop {
        std::thread::sleep(LOOK);
        let now = fingerprint(house);
        if now != known {
            known = now;
            // A failure has been printed and told to the pages; the next change tries again.
            drop(rebuild(house, profile, site));
        }
    }
}

/// A number that changes when a watched file appears, goes, or is written.
fn fingerprint(house: &House) -> u64 {
    let mut sum = 0_u64;
    for name in WATCHED.iter().chain(&["Cargo.toml", "Cargo.lock"]) {
        add(&house.root.join(name), &mut sum);
    }
    sum
}

fn add(path: &Path, sum: &mut u64) {
    if let Ok(entries) = fs::read_dir(path) {
        // The order in which a folder is listed does not matter: the sum is the same in any order.
        entries.flatten().for_each(|entry| add(&entry.path(), sum));
    } else if let Ok(data) = fs::metadata(path) {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        (path, data.len(), data.modified().ok()).hash(&mut hasher);
        *sum = sum.wrapping_add(hasher.finish());
    }
}

fn answer(site: &Site, stream: &TcpStream) {
    let Some(request) = http::read_request(stream) else {
        return;
    };
    let policy = fs::read_to_string(site.dist.join("index.html")).ok().and_then(|html| page::policy(&html));
    http::send(stream, &request, &respond(site, &request), policy.as_deref());
}

fn respond(site: &Site, request: &Request) -> Answer {
    if !["GET", "HEAD"].contains(&request.method.as_str()) {
        let mut answer = Answer::text("405 Method Not Allowed", "Only GET and HEAD.\n");
        answer.headers.push(("Allow", "GET, HEAD".to_owned()));
        return answer;
    }
    if site.watching && request.path.starts_with(LIVE) {
        return live(site, request);
    }
    let mut answer = http::file(&site.dist, request);
    if site.watching && answer.status.starts_with("404") && !site.dist.join("index.html").is_file() {
        let news = site.news.lock().expect("no thread panics while it holds the news");
        let failure = news.failure.as_deref().unwrap_or("The page is being built.");
        return Answer::text("503 Service Unavailable", format!("{failure}\nReload when it is built.\n"));
    }
    if site.watching && answer.kind.starts_with("text/html") {
        let built = site.news.lock().expect("no thread panics while it holds the news").built;
        let script = format!("<script type=\"module\" src=\"{LIVE}/reload.js?built={built}\"></script></head>");
        let html = String::from_utf8_lossy(&answer.body).replacen("</head>", &script, 1);
        answer.body = html.into_bytes();
    }
    answer
}

fn live(site: &Site, request: &Request) -> Answer {
    if request.path.ends_with("/reload.js") {
        let mut answer = Answer::text("200 OK", LIVE_SCRIPT);
        answer.kind = "text/javascript; charset=utf-8";
        return answer;
    }
    let seen: u64 = request.query.strip_prefix("event=").and_then(|text| text.parse().ok()).unwrap_or(0);
    let news = site.news.lock().expect("no thread panics while it holds the news");
    let (news, _) = site
        .changed
        .wait_timeout_while(news, NEWS, |news| news.event == seen)
        .expect("no thread panics while it holds the news");
    let failure = news.failure.as_ref().map(|failure| format!("\n{failure}")).unwrap_or_default();
    Answer::text("200 OK", format!("{} {}{failure}", news.event, news.built))
}
