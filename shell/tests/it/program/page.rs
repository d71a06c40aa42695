//! The page of all agents in a real headless Chromium: against the real plane, and against one that lies.
//!
//! `AWAKENER_PICTURES=DIR` keeps pictures of it, phone and desktop, light and dark. Rules: PRT-3, SPW-6, CON-1.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use awakener_tools::Tool;
use awakener_tools::chromium::{Browser, View, program};
use serde_json::{Value, json};

use super::agents::{harbour, station, until};

const PHONE: (u32, u32) = (390, 844);

/// What the page shows: its document without style and script.
fn look(browser: &Browser, url: &str) -> String {
    let mut dom = browser.dom(url).unwrap();
    for tag in ["style", "script"] {
        let (before, after) = dom.split_once(&format!("<{tag}>")).unwrap();
        dom = before.to_owned() + after.split_once(&format!("</{tag}>")).unwrap().1;
    }
    dom
}

fn browser(view: View) -> Option<Browser> {
    match program().unwrap() {
        Tool::Ready(program) => Some(Browser::new(&program, view)),
        Tool::Skipped(_) => None,
    }
}

/// The texts of the elements with this class, in order; what is escaped stays so.
fn texts(dom: &str, tag: &str, class: &str) -> Vec<String> {
    let open = if class.is_empty() { format!("<{tag}") } else { format!("<{tag} class=\"{class}") };
    let parts = dom.split(&open).skip(1);
    parts
        .filter_map(|part| part.split_once('>')?.1.split(&format!("</{tag}>")).next().map(str::to_owned))
        .collect()
}

/// Title and text of one element by its id.
fn by_id(dom: &str, id: &str) -> String {
    let after = dom.split_once(&format!("id=\"{id}\"")).map_or("", |(_, after)| after);
    let text = after.split_once('>').map_or("", |(_, text)| text);
    text.split("</").next().unwrap_or_default().to_owned()
}

/// What a server of a test answers: the page with these headers, then rows, one answer per look.
struct Liar {
    base: String,
    looks: Arc<AtomicUsize>,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Liar {
    /// `answers` in order, the last one again and again; `None` hangs up.
    fn serving(page: String, headers: String, answers: Vec<Option<Value>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let (looks, heard) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
        let liar = Self { base, looks: looks.clone(), heard: heard.clone() };
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let request = asked(&stream);
                heard.lock().unwrap().push(request.clone());
                let (kind, body) = if request.starts_with("GET /status") {
                    (headers.clone(), page.clone())
                } else if request.starts_with("GET /v1/agents") {
                    let at = looks.fetch_add(1, Ordering::SeqCst).min(answers.len() - 1);
                    let Some(answer) = &answers[at] else { continue };
                    ("content-type: application/json\r\n".to_owned(), answer.to_string())
                } else {
                    continue;
                };
                let length = body.len();
                let answer = format!(
                    "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n{kind}\r\n{body}"
                );
                // A browser that has what it wants hangs up.
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        liar
    }

    fn url(&self) -> String {
        format!("{}/status#token=a-secret", self.base)
    }
}

fn asked(stream: &TcpStream) -> String {
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The page and its headers as the plane serves them.
fn served(listen: &str) -> (String, String) {
    let call =
        std::process::Command::new("curl").args(["-s", "-i", &format!("http://{listen}/status")]).output();
    let text = String::from_utf8(call.unwrap().stdout).unwrap();
    let (head, page) = text.split_once("\r\n\r\n").unwrap();
    let kept =
        head.lines().skip(1).filter(|line| !line.starts_with("content-length") && !line.starts_with("date"));
    let headers: String = kept.map(|line| format!("{line}\r\n")).collect();
    (page.to_owned(), headers)
}

#[test]
fn prt_3_the_page_shows_the_rows_of_a_real_plane_and_holds_none_itself() {
    let Some(desk) = browser(View::default()) else { return };
    let (machine, _) = harbour("turn = \"1ms\"");
    machine.ok(&["send", "boje", "--as", "ops", "--text", "x"]);
    let url = machine.json(&["status", "--page"])["url"].as_str().unwrap().to_owned();
    assert!(url.starts_with(&format!("http://{}/status#token=", machine.listen)), "{url}");
    assert!(machine.ok(&["status", "--page"]).contains("holds a secret"));

    // The document is the same for everybody and says nothing of anybody.
    let (page, headers) = served(&machine.listen);
    assert!(!page.contains("lotse") && !page.contains("boje"), "data in the page");
    for header in [
        "content-security-policy: default-src 'none'; script-src 'sha256-",
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "cache-control: no-store",
        "content-type: text/html; charset=utf-8",
    ] {
        assert!(headers.contains(header), "{header} is not in {headers}");
    }
    assert!(!headers.contains("unsafe-inline"), "{headers}");

    // Without a station: what could not be read is named, and no row rests that nobody knows of.
    let dom = look(&desk, &url);
    assert_eq!(texts(&dom, "h2", ""), ["lotse", "boje"], "{dom}");
    assert_eq!(texts(&dom, "span", "state unknown"), ["unknown 1", "unknown"], "{dom}");
    assert!(dom.contains("could not read station: nothing listens at its address"), "{dom}");
    assert!(!dom.contains(url.rsplit('=').next().unwrap()), "the token stays in the document");

    let running = station(&machine);
    machine.alert("pump 3");
    until("it rests", &machine, |row| row["cause"] == "at_rest" && row["outstanding"] == 0);
    let rows = machine.whole_status()["agents"].clone();
    let dom = look(&desk, &url);
    assert_eq!(texts(&dom, "h2", ""), ["boje", "lotse"]);
    assert_eq!(texts(&dom, "span", "state idle"), ["idle 2", "idle", "idle"], "{dom}");
    for row in rows.as_array().unwrap() {
        let target = row["target"].as_str().unwrap();
        let item =
            dom.split("<li class=\"agent").find(|item| item.contains(&format!(">{target}</h2>"))).unwrap();
        let next = row["next"].as_str().unwrap_or_default();
        assert_eq!(texts(item, "code", ""), [next], "{item}");
        let words = row["waits_for"].as_str().unwrap();
        assert!(item.contains(&format!(">waits for {words}</span>")), "{words} is not in {item}");
        assert!(item.contains(&format!("<dt>unread</dt><dd>{}</dd>", row["unread"])), "{item}");
        if target == "lotse" {
            assert!(item.contains("<dt>turns, hour</dt><dd>1 / 30</dd>"), "{item}");
            assert!(item.contains(">armed for "), "{item}");
        }
    }
    assert!(dom.contains("<title>awakener</title>") && by_id(&dom, "alarm").is_empty(), "{dom}");

    // Who has no credential, or a wrong one, sees nothing and is told how to get one.
    let bare = url.split('#').next().unwrap();
    for url in [bare.to_owned(), format!("{bare}#token=wrong")] {
        let dom = look(&desk, &url);
        assert!(by_id(&dom, "alarm").contains("awakener status --page"), "{dom}");
        assert!(!dom.contains("lotse"), "{dom}");
    }

    if let Some(place) = std::env::var_os("AWAKENER_PICTURES") {
        pictures(Path::new(&place), &url);
    }
    drop(running);
}

fn pictures(place: &Path, url: &str) {
    for (name, size) in [("desktop", (1_280, 900)), ("phone", PHONE)] {
        for (colours, dark) in [("light", false), ("dark", true)] {
            let browser = browser(View { size, dark, ..View::default() }).unwrap();
            browser.picture(url, &place.join(format!("status-{name}-{colours}.png"))).unwrap();
        }
    }
}

/// A row that says in every member what a page must not take for its own.
fn hostile(text: &str) -> Value {
    json!({"v": 1, "mode": text, "plane": text, "running": true, "now": text, "tier0_open": true, "roster_until": text,
        "agents": [{"target": text, "state": text, "cause": text, "rule": text, "waits_for": text, "next": text,
            "since": text, "phase": {"name": text, "of": text, "since": text, "age_ms": 1},
            "unread": text, "outstanding": 1,
            "counters": [{"name": text, "value": 1, "limit": 1, "unit": text, "of": text}],
            "could_not_read": [{"part": text, "reason": text, "detail": text}]}]})
}

#[test]
fn prt_3_the_page_takes_nothing_that_it_is_told_for_markup() {
    let Some(desk) = browser(View::default()) else { return };
    let (machine, _) = harbour("");
    let (page, headers) = served(&machine.listen);
    let evil = "<img src=x onerror=\"document.title='taken'\"><b id=bold>bold</b>";
    let liar = Liar::serving(page.clone(), headers.clone(), vec![Some(hostile(evil))]);
    let dom = look(&desk, &liar.url());
    assert!(dom.contains("&lt;b id=bold&gt;bold&lt;/b&gt;"), "control: the text is shown: {dom}");
    assert!(!dom.contains("<img") && !dom.contains("<b ") && !dom.contains("<title>taken"), "{dom}");
    // A state that is not of the list is unknown.
    assert_eq!(texts(&dom, "span", "state unknown"), ["unknown"], "{dom}");
    // The credential went into one header and nowhere else.
    let heard = liar.heard.lock().unwrap().clone();
    let lines: Vec<&str> =
        heard.iter().flat_map(|request| request.lines()).filter(|line| line.contains("a-secret")).collect();
    assert!(
        !lines.is_empty() && lines.iter().all(|line| *line == "Authorization: Bearer a-secret"),
        "{heard:?}"
    );
    assert!(!heard.iter().any(|request| request.to_lowercase().contains("\nreferer:")), "{heard:?}");

    // The policy keeps a script out that got into the document all the same; without it the script runs.
    let script = "<script>document.documentElement.dataset.taken = 'yes'</script></body>";
    let spoiled = page.replace("</body>", script);
    assert_ne!(spoiled, page);
    for (kept, taken) in [(headers.clone(), false), ("content-type: text/html\r\n".to_owned(), true)] {
        let liar = Liar::serving(spoiled.clone(), kept, vec![Some(hostile("x"))]);
        let dom = look(&desk, &liar.url());
        assert_eq!(dom.contains("data-taken=\"yes\""), taken, "{dom}");
    }
}

#[test]
fn con_1_a_page_that_gets_no_answer_says_so_and_how_old_it_is() {
    let Some(desk) = browser(View { budget: 8_000, ..View::default() }) else { return };
    let (machine, _) = harbour("");
    let (page, headers) = served(&machine.listen);
    let good = json!({"v": 1, "mode": "trial", "plane": "harbour", "running": true, "now": "2026-12-01T02:03:04Z",
        "agents": [{"target": "lotse", "state": "idle", "cause": "at_rest", "rule": "INB-3", "waits_for": "nothing",
            "counters": []}]});
    let liar = Liar::serving(page.clone(), headers.clone(), vec![Some(good.clone()), None]);
    let dom = look(&desk, &liar.url());
    assert!(liar.looks.load(Ordering::SeqCst) > 1, "it looked once");
    let alarm = by_id(&dom, "alarm");
    assert!(alarm.contains("does not answer") && alarm.contains("may be wrong"), "{alarm}");
    assert!(dom.contains("class=\"stale\"") && dom.contains(">lotse</h2>"), "{dom}");
    // Absent numbers are unknown and no zero.
    assert!(dom.contains("<dt>unread</dt><dd>unknown</dd>"), "{dom}");
    // Rows that could not be read are no empty list.
    let none = json!({"v": 1, "mode": "trial", "running": true, "now": "2026-12-01T02:03:04Z",
        "could_not_read": [{"part": "agents", "reason": "store_unavailable", "detail": "the disk is gone"}]});
    let liar = Liar::serving(page.clone(), headers.clone(), vec![Some(good.clone()), Some(none)]);
    let dom = look(&desk, &liar.url());
    assert!(by_id(&dom, "alarm").contains("the disk is gone") && dom.contains("class=\"stale\""), "{dom}");
    // Control: as long as answers come there is no alarm.
    let liar = Liar::serving(page, headers, vec![Some(good)]);
    let dom = look(&desk, &liar.url());
    assert!(by_id(&dom, "alarm").is_empty() && !dom.contains("class=\"stale\""), "{dom}");
}

#[test]
fn why_1_the_page_fits_a_phone_and_follows_the_colours_of_its_user() {
    let Some(_) = browser(View::default()) else { return };
    let (machine, _) = harbour("");
    let (page, _) = served(&machine.listen);
    let long = "a".repeat(64);
    let mut rows =
        hostile("a sentence of ordinary words that goes on for a while and has to be broken into lines");
    rows["agents"][0]["target"] = long.clone().into();
    rows["agents"][0]["unread"] = 10_000_000.into();
    let counter =
        |name: &str| json!({"name": name, "value": 1_000, "limit": 1_000, "unit": "count", "of": "station"});
    let names = ["turns_per_hour", "turns_per_day", "turns_per_boot", "attempts", "emissions", "failures"];
    rows["agents"][0]["counters"] = names.map(counter).to_vec().into();
    rows["agents"][0]["next"] = format!("awakener arm {long}").into();
    // Served without the policy, so that the test may measure in the page.
    let measure = "<script>setInterval(() => { const root = document.documentElement; \
        root.dataset.wide = String(root.scrollWidth > innerWidth); \
        root.dataset.back = getComputedStyle(document.body).backgroundColor; }, 100)</script></body>";
    let spoiled = page.replace("</body>", measure);
    let liar = Liar::serving(spoiled, "content-type: text/html\r\n".to_owned(), vec![Some(rows)]);
    let mut backs = Vec::new();
    for size in [(320, 700), PHONE, (800, 600), (1_280, 900)] {
        for dark in [false, true] {
            let dom = look(&browser(View { size, dark, ..View::default() }).unwrap(), &liar.url());
            assert!(dom.contains(&long), "{dom}");
            assert!(dom.contains("data-wide=\"false\""), "{size:?} must be scrolled sideways");
            backs.push(dom.split("data-back=\"").nth(1).unwrap().split('"').next().unwrap().to_owned());
        }
    }
    assert!(backs.chunks(2).all(|pair| pair == ["rgb(246, 247, 249)", "rgb(16, 20, 24)"]), "{backs:?}");
}
