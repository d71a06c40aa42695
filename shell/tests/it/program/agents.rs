//! What is said of all agents and of one: rows, `why`, the page, each against the real program.
//!
//! Rules: WHY-1, AUD-8, CON-1, PRT-3, CAP-5, FUS-2.

use std::fs;
use std::net::TcpListener;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Ends, Machine};

/// Two addresses that nobody has just now.
fn free() -> [String; 2] {
    let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().to_string())
}

/// `lotse` hosted here and served by the wake daemon within `up`; `boje` attached, without a grant.
pub(super) fn harbour(settings: &str) -> (Machine, String) {
    let mut machine = Machine::made();
    let [listen, _] = free();
    let config = machine.state().join("awakener.toml");
    let text = fs::read_to_string(&config).unwrap();
    let station = format!(
        "{text}\n[models.fake]\nwindow = 8000\nbudget = 2000\n\n[stations.lotse]\nlisten = \"{listen}\"\n\
         plane = \"http://{}\"\npoll = \"50ms\"\n{settings}\n",
        machine.listen
    );
    fs::write(&config, station).unwrap();
    let manifest = machine.state().join("agents.toml");
    let text = fs::read_to_string(&manifest).unwrap_or_default();
    let agent = format!(
        "{text}\n[agents.lotse]\nruntime = \"agentapi\"\nendpoint = \"http://{listen}/message\"\nheadless = true\n\
         tier0_ack = true\ncooldown = \"1s\"\n"
    );
    fs::write(&manifest, agent).unwrap();
    machine.start();
    let key = machine.state().join("keys/ack-lotse.key");
    let key = key.to_str().unwrap();
    machine.register();
    machine.ok(&["target", "add", "boje"]);
    machine.ok(&["principal", "add", "boje", "--acts-for", "boje", "--may-read", "boje"]);
    machine.ok(&["keys", "new", key]);
    machine.ok(&["keys", "add-ack", "lotse", "--by-role", "station", "--key-file", key]);
    (machine, listen)
}

pub(super) fn station(machine: &Machine) -> Ends {
    Ends(machine.command(&["station", "lotse"]).stderr(Stdio::null()).spawn().unwrap())
}

/// The object that `why` or `status` prints, with its exit code.
fn said(machine: &Machine, args: &[&str]) -> (i32, Value) {
    let ended = machine.run(&[args, &["--json"]].concat());
    assert_eq!(ended.err, "", "{args:?}");
    (ended.code, serde_json::from_str(&ended.out).unwrap())
}

fn why(machine: &Machine, target: &str) -> (i32, Value) {
    let (code, why) = said(machine, &["why", target]);
    // Every status shows the mode (CAP-5).
    assert_eq!((&why["v"], &why["mode"]), (&json!(1), &json!("trial")));
    (code, why["agent"].clone())
}

fn state(row: &Value) -> (&str, &str) {
    (row["state"].as_str().unwrap(), row["cause"].as_str().unwrap())
}

/// Looks until it holds.
pub(super) fn until(what: &str, machine: &Machine, holds: impl Fn(&Value) -> bool) -> Value {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let (_, row) = why(machine, "lotse");
        if holds(&row) {
            return row;
        }
        assert!(Instant::now() < end, "waited in vain until {what}: {row}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn counter<'a>(row: &'a Value, name: &str) -> &'a Value {
    let found = row["counters"].as_array().unwrap().iter().find(|counter| counter["name"] == name);
    found.unwrap_or(&Value::Null)
}

#[test]
fn why_1_a_row_says_what_an_agent_does_and_what_helps() {
    let (machine, _) = harbour("turn = \"700ms\"");
    // Nobody runs the station: never rest, and named; with work somebody must act.
    let (code, row) = why(&machine, "lotse");
    assert_eq!((code, state(&row)), (69, ("unknown", "station_silent")));
    assert_eq!(row["could_not_read"][0]["part"], "agents.lotse.station");
    assert_eq!((&row["phase"], counter(&row, "turns_per_hour")), (&Value::Null, &Value::Null));
    let (code, whole) = said(&machine, &["status"]);
    assert_eq!((code, &whole["mode"]), (69, &json!("trial")));
    assert_eq!(whole["could_not_read"][0]["part"], "agents.lotse.station");

    let running = station(&machine);
    let row = until("it rests", &machine, |row| state(row) == ("idle", "at_rest"));
    assert_eq!((&row["phase"]["name"], &row["phase"]["of"]), (&json!("armed"), &json!("station")));
    let first = row["phase"]["age_ms"].as_u64().unwrap();
    let row = until("its phase is older", &machine, |row| row["phase"]["age_ms"].as_u64().unwrap() > first);
    assert_eq!(row["phase"]["name"], "armed");
    let (code, row) = why(&machine, "lotse");
    assert_eq!((code, &row["could_not_read"]), (0, &Value::Null));
    assert_eq!(row["next"], Value::Null);

    machine.alert("pump 3");
    let row = until("it works", &machine, |row| state(row) == ("working", "at_work"));
    assert_eq!((&row["outstanding"], &row["rule"]), (&json!(1), &json!("STN-1")));
    let row = until("it is done", &machine, |row| state(row) == ("idle", "at_rest"));
    assert_eq!((&row["outstanding"], &row["unread"]), (&json!(0), &json!(0)));
    // One counter: what the fuse has counted is what is shown (FUS-2).
    let turns = counter(&row, "turns_per_hour");
    assert_eq!((&turns["value"], &turns["limit"], &turns["of"]), (&json!(1), &json!(30), &json!("station")));

    // The command that is shown does what is wanted.
    machine.ok(&["disarm", "lotse"]);
    until("it is dark", &machine, |row| row["phase"]["name"] == "dark");
    machine.mail("a note");
    let (_, row) = why(&machine, "lotse");
    assert_eq!((state(&row), &row["unread"]), (("needs_input", "not_armed"), &json!(1)));
    let next: Vec<&str> = row["next"].as_str().unwrap().split(' ').skip(1).collect();
    assert_eq!(next, ["arm", "lotse"]);
    machine.ok(&next);
    until("the note is done with", &machine, |row| state(row) == ("idle", "at_rest"));

    // A pause file holds, and taking it away is what helps.
    fs::write(machine.state().join("pause-lotse"), "").unwrap();
    let (_, row) = why(&machine, "lotse");
    assert_eq!(state(&row), ("idle", "paused"));
    let shell = std::process::Command::new("sh").arg("-c").arg(row["next"].as_str().unwrap()).status();
    assert!(shell.unwrap().success());
    assert_eq!(why(&machine, "lotse").1["cause"], "at_rest");

    // People see the same in one screen.
    let text = machine.ok(&["why", "lotse"]);
    assert!(text.starts_with("agent      lotse · idle · ") && text.lines().count() <= 24, "{text}");
    for part in ["phase      armed for ", "waits for  nothing", "rule       INB-3", "hour 2/30 · day 2/200"]
    {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let text = machine.ok(&["status"]);
    assert!(text.contains("agent  state") && text.contains("lotse  idle"), "{text}");
    let failure = machine.fails(&["why", "nobody"], 65);
    assert_eq!(failure["reason"], "unknown_target");

    // A station that has stopped to answer is not a station that has gone.
    let stopped = rustix::process::Pid::from_raw(i32::try_from(running.0.id()).unwrap()).unwrap();
    rustix::process::kill_process(stopped, rustix::process::Signal::STOP).unwrap();
    let (code, row) = why(&machine, "lotse");
    assert_eq!((code, state(&row)), (69, ("unknown", "station_unread")));
    assert!(row["could_not_read"][0]["detail"].as_str().unwrap().contains("in time"), "{row}");
    rustix::process::kill_process(stopped, rustix::process::Signal::CONT).unwrap();
    until("it answers again", &machine, |row| state(row) == ("idle", "at_rest"));
    drop(running);
    assert_eq!(why(&machine, "lotse").1["cause"], "station_silent");
}

#[test]
fn why_1_without_a_plane_it_says_what_store_and_files_and_others_say() {
    let (mut machine, _) = harbour("turn = \"1ms\"");
    machine.ok(&["send", "boje", "--as", "ops", "--text", "x"]);
    machine.alert("pump 3");
    let alert = why(&machine, "lotse").1["oldest"]["message"].clone();
    machine.stop();
    // The store is free: what it holds is known, and what is down is not called unread.
    let (code, row) = why(&machine, "boje");
    assert_eq!((code, state(&row), &row["unread"]), (0, ("failed", "plane_down"), &json!(1)));
    assert_eq!(row["next"], "awakener up");
    let (code, row) = why(&machine, "lotse");
    assert_eq!((code, state(&row)), (69, ("failed", "plane_down")));
    assert_eq!((&row["oldest"]["message"], &row["outstanding"]), (&alert, &json!(1)));
    let (code, whole) = said(&machine, &["status"]);
    assert_eq!(
        (code, &whole["agents"][0]["target"], &whole["agents"][1]["state"]),
        (69, &json!("boje"), &json!("failed"))
    );
    // Somebody else has it: files and others are still asked, and nothing is made up.
    let lock = awakener::store::Lock::take(&machine.state().join("plane.db")).unwrap();
    let (code, row) = why(&machine, "lotse");
    assert_eq!((code, state(&row)), (69, ("unknown", "plane_unread")));
    assert_eq!(
        (&row["outstanding"], &row["unread"], &row["plane"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    let parts: Vec<&Value> =
        row["could_not_read"].as_array().unwrap().iter().map(|part| &part["part"]).collect();
    assert_eq!(parts, ["agents.lotse.plane", "agents.lotse.station"]);
    assert_eq!(machine.fails(&["status"], 69)["reason"], "store_held");
    drop(lock);
    // Whatever lies at the latch path is said as soon as there is a plane again.
    fs::write(machine.state().join("latch-lotse"), "{").unwrap();
    machine.start();
    let (_, row) = why(&machine, "lotse");
    assert_eq!((state(&row), &row["rule"]), (("failed", "latched"), &json!("FUS-6")));
    assert_eq!(row["next"], "awakener latch clear lotse");
}

#[test]
fn prt_3_the_rows_are_for_observers_and_no_credential_is_passed_on() {
    let (machine, listen) = harbour("turn = \"1ms\"");
    let token = |name: &str| {
        let file = machine.state().join(format!("tokens/{name}.token"));
        fs::read_to_string(file).unwrap().trim().to_owned()
    };
    let ask = |path: &str, token: Option<&str>| -> (u16, Value) {
        let url = format!("http://{}{path}", machine.listen);
        let mut call = std::process::Command::new("curl");
        call.args(["-s", "-w", "\n%{http_code}", &url]);
        if let Some(token) = token {
            call.args(["-H", &format!("Authorization: Bearer {token}")]);
        }
        let said = String::from_utf8(call.output().unwrap().stdout).unwrap();
        let (body, status) = said.rsplit_once('\n').unwrap();
        (status.parse().unwrap(), serde_json::from_str(body).unwrap_or_default())
    };
    assert_eq!(ask("/v1/agents", Some(&token("observer"))).0, 200);
    for stranger in [None, Some(token("lotse")), Some(token("daemon")), Some("x".to_owned())] {
        let (status, problem) = ask("/v1/agents", stranger.as_deref());
        assert_eq!(status, 401, "{problem}");
    }
    let (status, problem) = ask("/v1/agents?target=nobody", Some(&token("observer")));
    assert_eq!((status, &problem["reason"]), (404, &json!("unknown_target")));
    let (status, problem) = ask("/v1/agents?targt=lotse", Some(&token("observer")));
    assert_eq!((status, &problem["reason"]), (400, &json!("malformed")));

    // Whoever sits on the port of the station sees a credential that opens nothing of the plane, and what it says
    // is no status.
    let squatter = TcpListener::bind(&listen).unwrap();
    let heard = std::thread::spawn(move || {
        use std::io::{Read as _, Write as _};
        let (mut stream, _) = squatter.accept().unwrap();
        let mut bytes = vec![0; 4_096];
        let read = stream.read(&mut bytes).unwrap();
        let body = r#"{"v":1,"target":"lotse","phase":"<img src=x onerror=alert(1)>"}"#;
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
        stream.write_all((head + body).as_bytes()).unwrap();
        String::from_utf8_lossy(&bytes[..read]).into_owned()
    });
    let (status, whole) = ask("/v1/agents", Some(&token("observer")));
    assert_eq!(status, 200);
    let heard = heard.join().unwrap();
    let row = whole["agents"].as_array().unwrap().iter().find(|row| row["target"] == "lotse").unwrap();
    assert_eq!(state(row), ("unknown", "station_unread"));
    assert!(!whole.to_string().contains("onerror"), "{whole}");
    let presented = heard.lines().find_map(|line| line.strip_prefix("authorization: Bearer ")).unwrap();
    for known in ["observer", "daemon", "lotse", "ops"] {
        assert_ne!(presented.trim(), token(known), "{heard}");
    }
    for path in ["/v1/agents", "/v1/status", "/v1/audit"] {
        assert_eq!(ask(path, Some(presented.trim())).0, 401, "{path}");
    }
    // Control: the real station takes it, for its status alone.
    let running = station(&machine);
    until("it rests", &machine, |row| state(row) == ("idle", "at_rest"));
    let of_station = |path: &str, token: &str| {
        let url = format!("http://{listen}{path}");
        let call = std::process::Command::new("curl")
            .args([
                "-s",
                "-o",
                "/dev/null",
                "-w",
                "%{http_code}",
                "-H",
                &format!("Authorization: Bearer {token}"),
                &url,
            ])
            .output();
        String::from_utf8(call.unwrap().stdout).unwrap()
    };
    assert_eq!(of_station("/v1/status", presented.trim()), "200");
    assert_eq!(of_station("/v1/audit", presented.trim()), "401");
    assert_eq!(of_station("/v1/audit", &token("observer")), "200");
    assert_eq!(of_station("/v1/status", "x"), "401");
    drop(running);
}

#[test]
fn prt_3_a_plane_that_others_could_reach_does_not_start() {
    let machine = Machine::made();
    let [listen, _] = free();
    let port = listen.rsplit(':').next().unwrap();
    for exposed in [&["--set", "http.expose=behind-tls-proxy"][..], &[]] {
        let anywhere = format!("http.listen=0.0.0.0:{port}");
        let failure = machine.fails(&[&["up", "--set", &anywhere], exposed].concat(), 78);
        assert_eq!((&failure["reason"], &failure["rule"]), (&json!("not_loopback"), &json!("PRT-3")));
    }
    assert!(!machine.state().join("plane.db").exists(), "it began to start");
}
