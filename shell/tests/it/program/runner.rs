//! `awakener station` with a runtime of its own: alerts handled by a program, killed in the middle, and told lies.
//!
//! Rules: STN-8, STN-9, OBS-1, OBS-2, SPW-2, SPW-3, SPW-6, INB-8.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::spawn::{lives, number};
use super::Machine;

/// A station as a process; killed at its end.
struct Station(Child);

impl Station {
    fn start(machine: &Machine, target: &str, variables: &[(&str, &str)]) -> Self {
        let log = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(machine.path(&format!("{target}.log")))
            .unwrap();
        let mut command = machine.command(&["station", target]);
        command.envs(variables.iter().copied()).env("PATH", std::env::var_os("PATH").unwrap());
        Self(command.stdout(Stdio::null()).stderr(log).spawn().unwrap())
    }

    /// The end without any chance to tidy up.
    fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// It must end by itself.
    fn code(&mut self) -> i32 {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status.code().unwrap();
            }
            assert!(Instant::now() < end, "it goes on");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Station {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn until(machine: &Machine, what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(
            Instant::now() < end,
            "waited in vain: {what}\n{}",
            fs::read_to_string(machine.path("lotse.log")).unwrap_or_default()
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A target whose station runs this script for each turn; its folder.
fn runs(machine: &Machine, target: &str, script: &str) -> std::path::PathBuf {
    let folder = machine.dir.path().join(target);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("agent.sh"), script).unwrap();
    let listen = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let config = machine.state().join("awakener.toml");
    let mut text = fs::read_to_string(&config).unwrap();
    if !text.contains("[models.script]") {
        text += "\n[models.script]\nwindow = 8000\nbudget = 2000\n";
    }
    text += &format!(
        "\n[stations.{target}]\nlisten = \"{listen}\"\nplane = \"http://{}\"\nmodel = \"script\"\nrunner = \
         \"local-runner\"\nargv = [\"sh\", \"agent.sh\", \"{{name}}\"]\nfolder = \"{}\"\nenv = [\"AGENT_API_KEY\", \
         \"NOTE\"]\ntimeout = \"60s\"\npoll = \"50ms\"\n",
        machine.listen,
        folder.display()
    );
    fs::write(&config, text).unwrap();
    let key = machine.state().join(format!("keys/ack-{target}.key"));
    let key = key.to_str().unwrap();
    machine.ok(&["keys", "new", key]);
    machine.ok(&["keys", "add-ack", target, "--by-role", "station", "--key-file", key]);
    folder
}

fn outstanding(machine: &Machine) -> usize {
    machine.status()["outstanding"].as_array().unwrap().len()
}

/// The evidence that the station's own chain keeps of its turns.
fn turns(machine: &Machine) -> Vec<Value> {
    let store = rusqlite::Connection::open(machine.state().join("station-lotse.db")).unwrap();
    let mut select = store.prepare("SELECT entry FROM audit ORDER BY position").unwrap();
    let entries = select.query_map([], |row| row.get::<_, Vec<u8>>(0)).unwrap();
    let entries = entries.map(|entry| serde_json::from_slice::<Value>(&entry.unwrap()).unwrap());
    entries
        .flat_map(|entry| entry["records"].as_array().cloned().unwrap_or_default())
        .filter_map(|record| record.get("turn_started").or(record.get("turn_finished")).cloned())
        .collect()
}

const DONE: &str = "echo '{\"awakener\":1,\"stop\":\"end_turn\",\"reply\":\"the tug is ordered\",\"turns\":1,\"input_tokens\":40,\"output_tokens\":7}'";

#[test]
fn stn_8_a_script_is_woken_handles_the_alert_and_finds_no_secret_of_its_station() {
    let machine = Machine::story();
    let folder = runs(
        &machine,
        "lotse",
        &format!("cat >directive; env >environment; ls /proc/self/fd >descriptors; {DONE}\n"),
    );
    let token = fs::read_to_string(machine.state().join("tokens/lotse.token")).unwrap();
    let ack = fs::read_to_string(machine.state().join("keys/ack-lotse.key")).unwrap();
    let planted = [
        ("AWS_SECRET_ACCESS_KEY", "planted-1"),
        ("GITHUB_TOKEN", "planted-2"),
        ("UNLISTED", "planted-3"),
        ("NOTE", token.trim()),
        ("LANG", ack.trim()),
        ("AGENT_API_KEY", "its own"),
    ];
    let _station = Station::start(&machine, "lotse", &planted);
    let id = machine.alert("order the tug");
    until(&machine, "it is acknowledged", || outstanding(&machine) == 0);
    let token_of =
        |name: &str| fs::read_to_string(machine.state().join(format!("tokens/{name}.token"))).unwrap();
    until(&machine, "it rests", || ask(&machine, "lotse", token_of("observer").trim())["phase"] == "armed");

    let environment = fs::read_to_string(folder.join("environment")).unwrap();
    assert!(environment.contains("AGENT_API_KEY=its own"), "{environment}");
    for hidden in ["planted-", token.trim(), ack.trim(), "AWAKENER_STATE"] {
        assert!(!environment.contains(hidden), "{hidden}: {environment}");
    }
    assert_eq!(fs::read_to_string(folder.join("descriptors")).unwrap().split_whitespace().count(), 4);
    // OBS-2: what is recorded is the hash of the bytes that the program read.
    let directive = fs::read(folder.join("directive")).unwrap();
    let text = String::from_utf8(directive.clone()).unwrap();
    assert!(text.contains(&id) && text.contains("order the tug") && text.ends_with("}\n"), "{text}");
    let found = turns(&machine);
    let lane = &found[0]["lane"]["hosted"];
    assert_eq!(lane["directive"], json!(awakener_kernel::ids::ContentHash::of(&directive)));
    assert_eq!((&lane["model"], &lane["mapped"]["budget"]), (&json!("script"), &json!(2000)));
    assert_eq!(found[1]["finish"], "complete");
    assert_eq!(found[1]["evidence"]["ran"]["tokens"]["output"], 7);
    let trace = machine.ok(&["trace", &id]);
    for kind in ["cognition_complete", "response_recorded", "tier0_acknowledged"] {
        assert!(trace.contains(kind), "{kind}: {trace}");
    }
    // SPW-6: the program runs as the same user, and the status does not hide what that means.
    let shown = ask(&machine, "lotse", token_of("observer").trim());
    assert_eq!(shown["ack_key_in_reach_of_runner"], true, "{shown}");
    let store = rusqlite::Connection::open(machine.state().join("station-lotse.db")).unwrap();
    let detail: String = store
        .query_row("SELECT detail FROM receipt WHERE kind = 'cleanup_complete'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(detail, "\"ack_key_in_reach\"");
}

/// The station's own status.
fn ask(machine: &Machine, target: &str, observer: &str) -> Value {
    let config: toml::Value = fs::read_to_string(machine.state().join("awakener.toml"))
        .unwrap()
        .parse::<toml::Table>()
        .unwrap()
        .into();
    let listen = config["stations"][target]["listen"].as_str().unwrap().to_owned();
    super::super::spawn::runtime().block_on(async {
        let request =
            super::super::support::http().get(format!("http://{listen}/v1/status")).bearer_auth(observer);
        serde_json::from_slice(&request.send().await.unwrap().bytes().await.unwrap()).unwrap()
    })
}

#[test]
fn stn_9_what_only_looks_like_success_is_tried_again_and_ends_with_the_operator() {
    let quick = ["limits.back_off_base=50ms", "limits.back_off_max=100ms", "limits.attempts=2"];
    let machine = Machine::story_with(&quick);
    let folder = runs(
        &machine,
        "lotse",
        "cat >/dev/null; echo x >>turns; echo 'All done! The alert is acknowledged.'\n",
    );
    let _station = Station::start(&machine, "lotse", &[]);
    let id = machine.alert("order the tug");
    until(&machine, "it is set aside", || machine.ok(&["trace", &id]).contains("quarantined"));
    let trace = machine.ok(&["trace", &id]);
    assert!(!trace.contains("cognition_complete") && !trace.contains("tier0_acknowledged"), "{trace}");
    assert_eq!(outstanding(&machine), 1, "quarantine closes no witness");
    assert_eq!(fs::read_to_string(folder.join("turns")).unwrap().lines().count(), 2);
    let finishes: Vec<Value> =
        turns(&machine).iter().filter_map(|turn| turn.get("finish").cloned()).collect();
    assert_eq!(finishes, ["unknown", "unknown"]);
}

#[test]
fn spw_3_a_station_that_is_killed_leaves_its_program_to_the_next_one_which_ends_it_first() {
    let machine = Machine::story();
    // Each run says whether the one before still lives; the first one ignores every polite request.
    let script = format!(
        "cat >/dev/null\nif test -f pid; then kill -0 $(cat pid) 2>/dev/null && echo two >>two; {DONE}; exit; fi\n\
         trap '' TERM HUP INT; echo $$ >pid; while :; do sleep 0.1; done\n"
    );
    let folder = runs(&machine, "lotse", &script);
    let station = Station::start(&machine, "lotse", &[]);
    machine.alert("order the tug");
    let pid = number(&folder.join("pid"));
    let note = machine.state().join("runner-lotse");
    until(&machine, "it is noted", || {
        fs::read_to_string(&note).is_ok_and(|text| text.contains(&format!(":{pid},")))
    });
    station.kill();
    assert!(lives(pid), "a program does not die with its station here");
    let _station = Station::start(&machine, "lotse", &[]);
    until(&machine, "the next one does the work", || outstanding(&machine) == 0);
    assert!(!lives(pid) && !Path::new(&folder.join("two")).exists(), "there were two");
    // Both turns were counted (FUS-2).
    assert_eq!(turns(&machine).iter().filter(|turn| turn.get("lane").is_some()).count(), 2);
}

#[test]
fn fus_1_three_stations_that_pass_a_message_round_latch_and_show_the_circle() {
    let machine = Machine::story();
    for target in ["bruecke", "hafen"] {
        machine.ok(&["target", "add", target]);
        machine.ok(&["principal", "add", target, "--acts-for", target, "--may-read", target]);
    }
    let ring = ["lotse", "bruecke", "hafen"];
    for (target, next) in ring.iter().zip(ring.iter().cycle().skip(1)) {
        // The agent passes on what it was told, under its own name, with its own command line.
        let script = format!(
            "cat >/dev/null; echo x >>turns; '{}' --state '{}' --set http.listen={} send {next} --as {target} --text 'pass it on' \
             --intent 'pass it on' >>sent 2>&1; {DONE}\n",
            env!("CARGO_BIN_EXE_awakener"),
            machine.state().display(),
            machine.listen
        );
        runs(&machine, target, &script);
        machine.ok(&["arm", target, "--for", "1h"]);
    }
    let mut stations: Vec<Station> =
        ring.iter().map(|target| Station::start(&machine, target, &[])).collect();
    let first = machine.mail("pass it on");
    assert_eq!(stations[0].code(), 90, "{}", fs::read_to_string(machine.path("lotse.log")).unwrap());
    let latch: Value =
        serde_json::from_slice(&fs::read(machine.state().join("latch-lotse")).unwrap()).unwrap();
    let cycle = latch
        .pointer("/latch/cause/tripped/trip/loop/cycle")
        .and_then(Value::as_array)
        .unwrap_or_else(|| panic!("{latch}"));
    // From the message that came back over both others to the one that it began with.
    assert_eq!(cycle.len(), 4, "{latch}");
    assert_eq!(cycle[3], json!(first));
    let targets: Vec<String> = cycle
        .iter()
        .map(|id| {
            let store = rusqlite::Connection::open(machine.state().join("plane.db")).unwrap();
            let sql = "SELECT target FROM message WHERE id = ?1";
            store.query_row(sql, [id.as_str().unwrap()], |row| row.get(0)).unwrap()
        })
        .collect();
    assert_eq!(targets, ["lotse", "hafen", "bruecke", "lotse"]);
    let shown = machine.ok(&["latch", "show"]);
    assert!(shown.contains("loop"), "{shown}");
    // It is broken there; nobody else goes on, and nobody else is latched.
    assert_eq!(fs::read_to_string(machine.dir.path().join("lotse/turns")).unwrap().lines().count(), 1);
    for station in &mut stations[1..] {
        assert!(station.0.try_wait().unwrap().is_none());
    }
    for target in &ring[1..] {
        assert!(!machine.state().join(format!("latch-{target}")).exists());
    }
}

#[test]
fn fus_1_outside_senders_that_repeat_themselves_latch_nobody() {
    let machine = Machine::story();
    machine.ok(&["principal", "add", "other"]);
    let folder = runs(&machine, "lotse", &format!("cat >/dev/null; echo x >>turns; {DONE}\n"));
    let mut station = Station::start(&machine, "lotse", &[]);
    let mut refused = 0;
    let mut sent = 0;
    for n in 0..6 {
        for sender in ["ops", "other"] {
            let text = format!("again {n}");
            let ended = machine
                .run(&["send", "lotse", "--as", sender, "--text", &text, "--intent", "again", "--json"]);
            if ended.code == 0 {
                sent += 1;
            } else {
                assert!(ended.err.contains("repeat_cap"), "{}", ended.err);
                refused += 1;
            }
        }
    }
    assert!(sent >= 6 && refused >= 2, "{sent} sent, {refused} refused");
    until(&machine, "all that was taken is handled", || {
        fs::read_to_string(folder.join("turns")).is_ok_and(|turns| turns.lines().count() == sent)
            && machine.status()["cursor"] == json!(sent)
    });
    assert!(station.0.try_wait().unwrap().is_none());
    assert_eq!(machine.ok(&["latch", "show"]), "none\n");
    // The control: what it says to itself trips it (the test of the latch shows the rest).
    fs::write(
        folder.join("agent.sh"),
        format!(
            "cat >/dev/null; '{}' --state '{}' --set http.listen={} send lotse --as lotse --text again --intent again; {DONE}\n",
            env!("CARGO_BIN_EXE_awakener"),
            machine.state().display(),
            machine.listen
        ),
    )
    .unwrap();
    machine.mail("something else");
    assert_eq!(station.code(), 90);
}
