//! Plane, wake daemon and station as three processes, with a real NATS server between the first two.
//!
//! Rules: BRK-1, EMT-4, DSP-11.

use std::io::Write as _;
use std::net::TcpListener;
use std::process::Stdio;
use std::time::Duration;

use awakener_tools::Tool;
use awakener_tools::nats::{Server, program};

use super::{Ends, Machine, column};

fn free() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

/// Adds to a file of the state directory.
fn add(machine: &Machine, file: &str, text: &str) {
    let file = std::fs::OpenOptions::new().append(true).open(machine.state().join(file));
    file.unwrap().write_all(text.as_bytes()).unwrap();
}

fn start(machine: &Machine, args: &[&str]) -> Ends {
    let mut command = machine.command(args);
    Ends(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
}

#[test]
fn brk_1_alerts_are_acknowledged_by_way_of_nats_and_while_it_is_gone() {
    let Tool::Ready(program) = program().unwrap_or_else(|error| panic!("{error}")) else { return };
    let mut machine = Machine::made();
    let mut server = Server::new(&program, machine.dir.path()).unwrap();
    let (station, wake, url) = (free(), free(), server.url());
    let plane = format!("http://{}", machine.listen);
    machine.settings =
        vec!["wake.enabled=false".to_owned(), format!("wake.listen={wake}"), format!("wake.plane={plane}")];
    add(
        &machine,
        "awakener.toml",
        &format!(
            "\n[models.fake]\nwindow = 8000\nbudget = 2000\n\n\
             [stations.lotse]\nlisten = \"{station}\"\nplane = \"{plane}\"\npoll = \"1h\"\n"
        ),
    );
    add(
        &machine,
        "agents.toml",
        &format!(
            "\n[agents.lotse]\nruntime = \"agentapi\"\nendpoint = \"http://{station}/message\"\n\
             headless = true\ntier0_ack = true\ncooldown = \"1ms\"\n"
        ),
    );
    machine.serve = vec!["--broker".to_owned(), url.clone()];
    server.start().unwrap();
    machine.start();
    let key = machine.state().join("keys/ack-lotse.key");
    let key = key.to_str().unwrap();
    machine.ok(&["target", "add", "lotse"]);
    machine.ok(&["principal", "add", "ops"]);
    machine.ok(&["principal", "add", "lotse", "--acts-for", "lotse", "--may-read", "lotse"]);
    machine.ok(&["keys", "new", key]);
    machine.ok(&["keys", "add-ack", "lotse", "--by-role", "station", "--key-file", key]);
    let roster = "version = 1\nvalid = \"1h\"\n[[entries]]\nprincipal = \"ops\"\nschema = \"interrupt-alert/1\"\n\
                  target = \"lotse\"\n";
    machine.ok(&["roster", "install", machine.file("roster.toml", roster).to_str().unwrap()]);
    machine.ok(&["arm", "lotse", "--for", "1h"]);
    // The station looks when it starts; at rest only a wake brings it to look.
    let first = machine.alert("first");
    let _station = start(&machine, &["station", "lotse"]);
    machine.ok(&["trace", &first, "--wait", "40s"]);
    machine.settings.push("limits.sweep=1s".to_owned());
    let _wake = start(&machine, &["wake", "--broker", &url]);
    let (mut emitted, mut notified) = (0, 0);
    for (about, there) in [("there", true), ("gone", false), ("back", true), ("gone again", false)] {
        if there {
            server.start().unwrap();
        } else {
            server.kill();
        }
        std::thread::sleep(Duration::from_secs(2));
        let id = machine.alert(about);
        let trace = machine.ok(&["trace", &id, "--wait", "40s"]);
        assert!(trace.contains("nothing more is owed"), "{about}: {trace}");
        let steps = column(&trace, 1);
        let count = |kind: &str| steps.iter().filter(|step| **step == kind).count();
        for once in ["response_recorded", "tier0_acknowledged", "cursor_advanced"] {
            assert_eq!(count(once), 1, "{about}: {trace}");
        }
        emitted += count("wake_emitted");
        notified += count("runtime_notified");
    }
    assert_eq!(notified, 4, "each alert by its own notice");
    assert!(emitted >= 1, "the broker was used");
}

#[test]
fn emt_4_emitted_says_that_the_client_took_it_and_a_failure_is_no_senders() {
    let Tool::Ready(program) = program().unwrap_or_else(|error| panic!("{error}")) else { return };
    let mut machine = Machine::made();
    let mut server = Server::new(&program, machine.dir.path()).unwrap();
    machine.settings = vec!["wake.enabled=false".to_owned()];
    machine.serve = vec!["--broker".to_owned(), server.url()];
    server.start().unwrap();
    machine.start();
    machine.register();
    let told = |id: &str, kind: &str| {
        let end = std::time::Instant::now() + Duration::from_secs(40);
        loop {
            let trace = machine.ok(&["trace", id]);
            let steps = column(&trace, 1).into_iter().map(str::to_owned).collect::<Vec<_>>();
            if steps.iter().any(|step| step == kind) {
                return steps;
            }
            assert!(std::time::Instant::now() < end, "{kind} is not in {trace}");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    // Nobody listens: the server takes the hint and it is lost.
    let lost = machine.alert("lost");
    let steps = told(&lost, "wake_emitted");
    for more in ["wake_emit_failed", "wake_accepted", "dispatch_attempted", "runtime_notified", "inbox_read"]
    {
        assert!(!steps.iter().any(|step| step == more), "{steps:?}");
    }
    assert_eq!(machine.status()["outstanding"][0]["message"], lost.as_str());
    // Nobody takes it: the sender hears that its message is admitted, all the same.
    server.kill();
    let failed = machine.alert("not even taken");
    let steps = told(&failed, "wake_emit_failed");
    assert!(
        steps.iter().any(|step| step == "admitted") && !steps.iter().any(|step| step == "wake_emitted"),
        "{steps:?}"
    );
    let status = machine.whole_status();
    assert_eq!((&status["broker"]["handed_over"], &status["broker"]["failed"]), (&1.into(), &1.into()));
}

/// A secret of a broker, in a file like that of a key.
fn secret(machine: &Machine, name: &str, text: &str) {
    let path = machine.state().join("keys").join(name);
    std::fs::remove_file(&path).ok();
    awakener::keys::create_secret(&path, text).unwrap();
}

/// A plane that runs, what it says to its log, and whether its broker's client is where it shall be.
struct Client<'a> {
    machine: &'a Machine,
    plane: Ends,
    log: std::path::PathBuf,
}

impl<'a> Client<'a> {
    fn start(machine: &'a Machine) -> Self {
        let log = machine.dir.path().join("up.log");
        let mut command = machine.command(&["up"]);
        // Whatever any part of the program has to say, the client's library too.
        command.env("AWAKENER_LOG", "trace").stderr(std::fs::File::create(&log).unwrap());
        let plane = Ends(command.stdout(Stdio::null()).spawn().unwrap());
        Self { machine, plane, log }
    }

    fn until(&self, connected: bool, refused: bool) {
        let end = std::time::Instant::now() + Duration::from_secs(40);
        loop {
            let status = self.machine.run(&["status", "--json"]);
            let status: serde_json::Value = serde_json::from_str(&status.out).unwrap_or_default();
            let broker = &status["broker"];
            if broker["connected"] == connected && (broker["refused"].as_u64().unwrap_or(0) > 0) == refused {
                return;
            }
            let said = std::fs::read_to_string(&self.log).unwrap();
            assert!(
                std::time::Instant::now() < end,
                "{status} {}",
                &said[said.len().saturating_sub(2_000)..]
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Ends it; none of the words stands anywhere that it writes to.
    fn kept_to_itself(mut self, secrets: &[&str]) {
        let shown = [&["status", "--json"][..], &["status"], &["config", "show"], &["audit", "export"]]
            .map(|args| self.machine.ok(args));
        self.plane.0.kill().unwrap();
        self.plane.0.wait().unwrap();
        let mut written = vec![std::fs::read(&self.log).unwrap()];
        written.extend(shown.map(String::into_bytes));
        for file in ["plane.db", "plane.db-wal"] {
            written.extend(std::fs::read(self.machine.state().join(file)));
        }
        // The search finds what is there.
        assert!(written.iter().any(|bytes| holds(bytes, self.machine.listen.as_bytes())));
        for (place, bytes) in written.iter().enumerate() {
            assert!(!secrets.iter().any(|secret| holds(bytes, secret.as_bytes())), "a secret is in {place}");
        }
    }
}

fn holds(bytes: &[u8], what: &[u8]) -> bool {
    bytes.windows(what.len()).any(|window| window == what)
}

#[test]
fn brk_1_a_server_that_asks_who_comes_is_told_from_a_file_and_nobody_else_is() {
    let Tool::Ready(program) = program().unwrap_or_else(|error| panic!("{error}")) else { return };
    let mut machine = Machine::made();
    let mut server = Server::new(&program, machine.dir.path()).unwrap();
    let url = server.url();
    let nats =
        ["wake.enabled=false", "broker.kind=nats", &format!("broker.servers={url}")].map(str::to_owned);
    let (right, wrong) = ("quay-4-and-a-half", "wrong-as-can-be-9");
    let token: &[&str] = &["--auth", right];
    let user: &[&str] = &["--user", "awakener", "--pass", right];
    let by_token = ["broker.token_file=keys/nats.secret"].map(str::to_owned);
    let by_user = ["broker.user=awakener", "broker.password_file=keys/nats.secret"].map(str::to_owned);
    for (demands, settings) in [(token, &by_token[..]), (user, &by_user[..])] {
        server.kill();
        server.tell(demands);
        server.start().unwrap();
        machine.settings = nats.to_vec();
        // Nobody in particular, and somebody else.
        let nobody = Client::start(&machine);
        nobody.until(false, true);
        nobody.kept_to_itself(&[right]);
        machine.settings.extend(settings.iter().cloned());
        secret(&machine, "nats.secret", wrong);
        let other = Client::start(&machine);
        other.until(false, true);
        other.kept_to_itself(&[right, wrong]);
        secret(&machine, "nats.secret", right);
        let client = Client::start(&machine);
        client.until(true, false);
        // The server comes back with another secret, and lets nobody in who has the old one.
        server.kill();
        server.tell(&["--auth", wrong]);
        server.start().unwrap();
        client.until(false, true);
        client.kept_to_itself(&[right, wrong]);
    }
    // A file that others can read is no secret.
    let path = machine.state().join("keys/nats.secret");
    crate::child::set_mode(&path, 0o644);
    let failure = machine.fails(&["up"], 78);
    assert_eq!((&failure["reason"], &failure["rule"]), (&"key_mode".into(), &"SPW-6".into()));
    crate::child::set_mode(&path, 0o600);
    // Half of a way to log in is none.
    for wrong in [
        &["broker.user=awakener"][..],
        &["broker.password_file=keys/nats.secret"],
        &["broker.user=a", "broker.password_file=b", "broker.token_file=c"],
    ] {
        machine.settings = nats.iter().cloned().chain(wrong.iter().map(|&set| set.to_owned())).collect();
        let failure = machine.fails(&["up"], 78);
        assert_eq!(failure["reason"], "config_malformed", "{wrong:?}");
    }
    machine.settings = vec!["broker.token_file=keys/nats.secret".to_owned()];
    assert_eq!(machine.fails(&["up"], 78)["reason"], "config_malformed", "no server to tell it");
}

#[test]
fn con_1_the_broker_of_the_command_line_is_checked_like_that_of_the_file() {
    let machine = Machine::made();
    for wrong in ["nats://192.0.2.1:4222", "amqp://127.0.0.1", ""] {
        let failure = machine.fails(&["up", "--broker", wrong], 78);
        assert_eq!(failure["reason"], "config_malformed", "{wrong}");
    }
}
