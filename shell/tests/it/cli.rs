//! The command line as people and programs meet it: what it makes, sends, refuses, and how it ends.
//!
//! Rules: CON-1, IDN-7, OPR-1, OPR-3, SPW-6, CAP-2, ACK-3, ADM-7.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use awakener::cli::{Ended, run};
use awakener::http::problem::Problem;
use awakener::keys::{FirstOperator, SecretKey, Token, token_hash};
use awakener_kernel::operator::{Act, ActName};
use awakener_kernel::wire::{AckStatement, OperatorCommand, Signed};
use awakener_spec::Reason;
use awakener_tools::enforces;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::plane::Plane;

const ID: &str = "019ae3c0-0000-7000-8000-000000000001";
const KEY_ID: &str = "sha256:0000000000000000000000000000000000000000000000000000000000000001";

/// A state directory that `init` has made.
struct State {
    dir: TempDir,
}

impl State {
    fn fresh() -> Self {
        let state = Self { dir: tempfile::tempdir().unwrap() };
        let operator = state.operator();
        let made = state.ok(&["init", "--trial", "--operator-key", operator.to_str().unwrap()]);
        assert_eq!(made["v"], 1);
        state
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    fn operator(&self) -> PathBuf {
        self.dir.path().join("away/operator.key")
    }

    /// A command with `--json` in this state directory.
    fn run(&self, args: &[&str]) -> Ended {
        let state = self.path();
        let all = ["awakener", "--json", "--state", state.to_str().unwrap()];
        run(all.iter().chain(args).map(Into::into))
    }

    fn ok(&self, args: &[&str]) -> Value {
        let ended = self.run(args);
        assert_eq!((ended.code, ended.err.as_str()), (0, ""), "{args:?}");
        serde_json::from_str(&ended.out).unwrap()
    }

    /// Like [`Self::ok`] with the operator key.
    fn operate(&self, args: &[&str]) -> Value {
        let key = self.operator();
        self.ok(&[args, &["--operator-key", key.to_str().unwrap()]].concat())
    }

    fn fails(&self, args: &[&str], code: u8) -> Value {
        failure(&self.run(args), code)
    }

    fn token(&self, principal: &str) {
        Token::generate().unwrap().create(&self.path().join(format!("tokens/{principal}.token"))).unwrap();
    }
}

/// The one object that a failure is with `--json`.
fn failure(ended: &Ended, code: u8) -> Value {
    assert_eq!((ended.code, ended.out.as_str()), (code, ""), "{}", ended.err);
    assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
    let value: Value = serde_json::from_str(&ended.err).unwrap();
    let members: BTreeSet<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = ["v", "error", "reason", "rule", "exit", "place", "next", "problems"];
    assert_eq!(members, BTreeSet::from(expected));
    assert_eq!((&value["v"], &value["exit"]), (&json!(1), &json!(code)));
    value
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_key_and_a_position_may_begin_with_a_hyphen() {
    let state = State::fresh();
    let key = format!("-{}", "A".repeat(42));
    state.operate(&["keys", "add-ack", "a", "--by-role", "agent", "--public", &key, "--dry-run"]);
    state.token("luna");
    // Understood, and then there is no plane.
    let args = ["inbox", "a", "--as", "luna", "--url", "http://127.0.0.1:9", "--position", "-x"];
    assert_eq!(state.fails(&args, 69)["reason"], "unreachable");
}

enforces! {
    [Con1]
    fn con_1_a_wrong_command_line_ends_with_2(seen) {
        let state = State::fresh();
        for args in [
            &["sned"][..],
            &["trace", "not-an-id"],
            &["send", "mataya-dyad"],
            &["send", "Mataya", "--text", "x"],
            &["send", "a", "--text", "x", "--body", "{}"],
            &["arm", "a", "--for", "soon"],
            &["ack", ID, "--target", "a", "--outcome", "fine"],
            &["status", "--set", "nothing"],
            &["--set", "nothing", "status", "--set", "limits.sweep=1s"],
            &["keys", "add-operator", "b", "--scopes", "everything", "--public", "x"],
        ] {
            let value = state.fails(args, 2);
            seen.problem(&value);
            assert_eq!(value["reason"], "usage", "{args:?}");
            let text = run(["awakener"].iter().chain(args).map(Into::into));
            assert_eq!((text.code, text.out.as_str()), (2, ""), "{args:?}");
        }
        // Without a credential where one must be named.
        assert_eq!(state.fails(&["send", "a", "--text", "x"], 2)["reason"], "usage");
        assert_eq!(state.fails(&["abort"], 2)["reason"], "usage");
        let help = run(["awakener", "--help"].map(Into::into));
        assert!(help.code == 0 && help.out.contains("Exit codes:"));
    }

    [Opr3]
    fn opr_3_init_leaves_keys_and_nobody_allowed_anything(_seen) {
        let state = State::fresh();
        let path = state.path();
        for dir in ["", "keys", "tokens"] {
            assert_eq!(mode(&path.join(dir)), 0o700, "{dir}");
        }
        for file in [
            "keys/router.key",
            "keys/audit.key",
            "keys/first-operator.json",
            "tokens/observer.token",
            "tokens/daemon.token",
            "awakener.toml",
            "agents.toml",
        ] {
            assert_eq!(mode(&path.join(file)), 0o600, "{file}");
        }
        let first = FirstOperator::load(&path).unwrap().unwrap();
        let operator = SecretKey::load(&state.operator()).unwrap();
        assert_eq!((first.key, mode(&state.operator())), (operator.public(), 0o600));
        // The private half is nowhere in the state directory.
        let secret = operator.to_hex();
        for file in fs::read_dir(path.join("keys")).unwrap() {
            assert!(!fs::read_to_string(file.unwrap().path()).unwrap().contains(secret.as_str()));
        }
        let checked = state.ok(&["check"]);
        assert_eq!((&checked["mode"], &checked["agents"]), (&json!("trial"), &json!([])));
    }

    [Opr3]
    fn opr_3_a_second_init_is_refused_and_changes_nothing(_seen) {
        let state = State::fresh();
        let key = state.path().join("keys/router.key");
        let before = fs::read_to_string(&key).unwrap();
        let value = state.fails(&["init"], 77);
        assert_eq!((&value["rule"], &value["reason"]), (&json!("OPR-3"), &Value::Null));
        assert_eq!(fs::read_to_string(&key).unwrap(), before);
        // Nor does the key of an operator go over a file that is there.
        let other = State { dir: tempfile::tempdir().unwrap() };
        let operator = state.operator();
        other.fails(&["init", "--operator-key", operator.to_str().unwrap()], 77);
        assert!(!other.path().join("awakener.toml").exists());
    }

    [Spw6]
    fn spw_6_a_key_that_others_can_reach_is_refused(seen) {
        let state = State::fresh();
        let file = state.operator();
        let dir = file.parent().unwrap().to_owned();
        let command = ["abort", "--dry-run", "--operator-key", file.to_str().unwrap()];
        state.ok(&command);
        for (path, bad, good) in [(&file, 0o640, 0o600), (&file, 0o604, 0o600), (&dir, 0o750, 0o700), (&dir, 0o701, 0o700)] {
            set_mode(path, bad);
            let value = state.fails(&command, 78);
            seen.problem(&value);
            assert_eq!(value["reason"], "key_mode");
            assert_eq!(value["place"], path.display().to_string());
            set_mode(path, good);
            state.ok(&command);
        }
        set_mode(&state.path().join("tokens/observer.token"), 0o644);
        assert_eq!(state.fails(&["status"], 78)["reason"], "key_mode");
    }

    [Cap2]
    fn cap_2_check_says_everything_that_is_wrong_with_the_manifest(seen) {
        let state = State::fresh();
        let file = state.path().join("agents.toml");
        fs::write(&file, "[agents.a]\nruntime = \"agentpi\"\n[agents.b]\nrunime = \"tmux\"\n").unwrap();
        let value = state.fails(&["check"], 78);
        seen.problem(&value);
        let problems = value["problems"].as_array().unwrap();
        let shown: Vec<(&Value, &Value)> = problems.iter().map(|p| (&p["line"], &p["nearest"])).collect();
        assert_eq!(shown, [(&json!(2), &json!("agentapi")), (&json!(4), &json!("runtime"))]);
        let state_dir = state.path();
        let args = ["awakener", "--state", state_dir.to_str().unwrap(), "check"];
        let text = run(args.map(Into::into)).err;
        assert!(text.contains("agents.toml:2: `agents.a.runtime`"), "{text}");
        assert!(text.contains("did you mean `agentapi`?") && text.contains("CAP-2"), "{text}");
    }

    [Con1]
    fn con_1_config_show_tells_values_with_their_origin(seen) {
        let state = State::fresh();
        // Both sides of the command count, and what is said last.
        let shown = state.ok(&[
            "--set", "limits.lease=50s", "--set=limits.cooldown=9s", "config", "show", "--set", "limits.cooldown=5s",
        ]);
        let origin = |key: &str| {
            let settings = shown["settings"].as_array().unwrap();
            let found = settings.iter().find(|entry| entry["key"] == key).unwrap();
            (found["value"].clone(), found["origin"].as_str().unwrap().to_owned())
        };
        assert_eq!(origin("limits.cooldown"), (json!(5_000), "flag --set".into()));
        assert_eq!(origin("limits.lease"), (json!(50_000), "flag --set".into()));
        assert_eq!(origin("limits.sweep"), (json!(60_000), "built in".into()));
        assert!(origin("mode").1.ends_with("awakener.toml:3"), "{:?}", origin("mode"));
        let value = state.fails(&["config", "show", "--set", "limits.cooldwn=5s"], 78);
        seen.problem(&value);
        assert_eq!(value["problems"][0]["nearest"], "limits.cooldown");
    }
}

#[test]
fn idn_7_without_a_file_the_operator_key_is_printed_once_and_kept_nowhere() {
    let state = State { dir: tempfile::tempdir().unwrap() };
    let made = state.ok(&["init"]);
    let secret = made["operator_key"].as_str().unwrap();
    assert_eq!(secret.len(), 64);
    for dir in ["", "keys", "tokens"] {
        for entry in fs::read_dir(state.path().join(dir)).unwrap() {
            let path = entry.unwrap().path();
            assert!(path.is_dir() || !fs::read_to_string(&path).unwrap().contains(secret), "{path:?}");
        }
    }
    // With a file it is not shown.
    let other = State { dir: tempfile::tempdir().unwrap() };
    let operator = other.operator();
    assert_eq!(
        other.ok(&["init", "--operator-key", operator.to_str().unwrap()])["operator_key"],
        Value::Null
    );
    assert_eq!(other.ok(&["check"])["mode"], "production");
}

#[test]
fn opr_1_every_act_can_be_said_and_its_command_is_signed_and_well_formed() {
    let state = State::fresh();
    let key = SecretKey::load(&state.operator()).unwrap();
    let roster = state.path().join("roster.toml");
    fs::write(
        &roster,
        "version = 1\nvalid = \"1h\"\n[[entries]]\nprincipal = \"ops\"\nschema = \"interrupt-alert/1\"\ntarget = \"a\"\n",
    )
    .unwrap();
    let public = key.public().to_string();
    let roster = roster.to_str().unwrap();
    let commands: &[&[&str]] = &[
        &["roster", "install", roster],
        &["roster", "remove"],
        &["target", "add", "a"],
        &["target", "remove", "a"],
        &["principal", "add", "ops", "--may-read", "a,b", "--acts-for", "a"],
        &["principal", "revoke", "ops"],
        &["arm", "a", "--for", "1h"],
        &["disarm", "a"],
        &["abort"],
        &["pause", "a", "--for", "5m"],
        &["pause"],
        &["resume"],
        &["stop-all"],
        &["latch", "clear", "a"],
        &["keys", "add-ack", "a", "--by-role", "agent", "--public", &public],
        &["keys", "revoke-ack", "a", KEY_ID],
        &["keys", "add-router", "--public", &public],
        &["keys", "revoke-router", KEY_ID],
        &["keys", "add-audit", "--public", &public],
        &["keys", "revoke-audit", KEY_ID],
        &["keys", "add-operator", "second", "--scopes", "arm,stop", "--public", &public],
        &["keys", "revoke-operator", KEY_ID],
        &["resolve", "a", ID],
        &["quarantine", "release", "a", ID],
        &["clock", "accept"],
        &["audit", "reanchor"],
    ];
    let mut said = BTreeSet::new();
    for command in commands {
        let shown = state.operate(&[command, &["--dry-run", "--reason", "a test"][..]].concat());
        assert_eq!(
            (&shown["dry_run"], &shown["path"]),
            (&json!(true), &json!("/v1/operator")),
            "{command:?}"
        );
        let signed = Signed::<OperatorCommand>::from_value(&shown["body"]).unwrap();
        let inside = signed.verify(&key.public()).unwrap();
        assert_eq!(inside.reason, "a test");
        let act = Act::parse(&inside.act, &Value::Object(inside.subject.clone())).unwrap();
        said.insert(act.name());
    }
    assert_eq!(said, ActName::ALL.iter().copied().collect());
    // A dry run wrote no token either.
    assert!(!state.path().join("tokens/ops.token").exists());
}

#[test]
fn opr_1_a_command_is_for_this_plane_for_a_short_time_and_sent_once() {
    let state = State::fresh();
    let plane = Plane::answering(vec![(200, json!({"v": 1, "act": "arm", "id": ID}))]);
    state.operate(&["arm", "a", "--url", &plane.url, "--expect", "unarmed"]);
    let request = plane.request();
    assert_eq!(request.line, "POST /v1/operator");
    let signed = Signed::<OperatorCommand>::from_value(&request.body).unwrap();
    let command = signed.document();
    let config = fs::read_to_string(state.path().join("awakener.toml")).unwrap();
    assert!(config.contains(&format!("plane = \"{}\"", command.plane)));
    assert_eq!(command.expected_state, "unarmed");
    let life = command.not_after.0 - command.id.unix_ms();
    assert_eq!(life, 300_000);
    assert!(plane.untouched());
}

#[test]
fn adm_7_a_message_of_unknown_fate_can_be_sent_again_as_the_same_one() {
    let state = State::fresh();
    state.token("ops");
    let admitted = json!({"v": 1, "id": ID, "target": "mataya-dyad", "seq": 1, "tier": 2, "cause": null, "depth": 0,
        "content_sha256": format!("sha256:{}", "7".repeat(64)), "repeat": true});
    let plane = Plane::answering(vec![(0, Value::Null), (200, admitted)]);
    let send = ["send", "mataya-dyad", "--text", "hello", "--as", "ops", "--url", &plane.url];
    let value = state.fails(&send, 69);
    assert_eq!(value["reason"], "outcome_unknown");
    let first = plane.request();
    let (id, thread) = (first.body["id"].as_str().unwrap(), first.body["thread"].as_str().unwrap());
    let next = value["next"].as_str().unwrap();
    assert!(next.contains(&format!("--id {id} --thread {thread}")), "{next}");
    state.ok(&[&send[..], &["--id", id, "--thread", thread]].concat());
    assert_eq!(plane.request().body, first.body);
    assert_eq!(first.body["body"], json!({"text": "hello"}));
    let token = fs::read_to_string(state.path().join("tokens/ops.token")).unwrap();
    let bearer = format!("authorization: bearer {}", token.trim().to_lowercase());
    assert!(first.headers.contains(&bearer));
}

#[test]
fn con_1_the_exit_code_is_that_of_the_reason_and_nothing_read_is_never_0() {
    let state = State::fresh();
    for reason in Reason::ALL {
        let mut body = serde_json::to_value(Problem::of(*reason, "because")).unwrap();
        body["next"] = "do that".into();
        let plane = Plane::answering(vec![(reason.status(), body)]);
        let value = state.fails(&["status", "--url", &plane.url], reason.exit());
        assert_eq!((&value["reason"], &value["rule"]), (&json!(reason), &json!(reason.rule())));
        assert_eq!(value["next"], "do that");
        assert!(value["error"].as_str().unwrap().contains("because"));
    }
    let gone = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    assert_eq!(state.fails(&["status", "--url", &gone], 69)["reason"], "unreachable");
    let abort =
        ["abort", "--operator-key", state.operator().to_str().unwrap(), "--url", &gone].map(str::to_owned);
    let abort: Vec<&str> = abort.iter().map(String::as_str).collect();
    assert_eq!(state.fails(&abort, 69)["reason"], "unreachable");
}

#[test]
fn ack_3_an_acknowledgement_is_signed_over_the_content_that_the_plane_shows() {
    let state = State::fresh();
    state.token("dyad");
    let key = SecretKey::generate().unwrap();
    key.create(&state.path().join("keys/ack-mataya-dyad.key")).unwrap();
    let hash = format!("sha256:{}", "7".repeat(64));
    let message = json!({
        "seq": 1, "id": ID, "target": "mataya-dyad", "principal": "ops", "thread": ID, "schema": "interrupt-alert/1",
        "tier": 0, "priority": "normal", "intent": "x", "response_expectation": "none", "content_sha256": hash,
        "admitted": "2026-01-01T00:00:00Z", "depth": 0, "state": {"read": true, "quarantined": false}, "body": {},
    });
    let plane = Plane::answering(vec![
        (200, json!({"v": 1, "message": message})),
        (200, json!({"v": 1, "repeat": false})),
    ]);
    let args =
        ["ack", ID, "--target", "mataya-dyad", "--outcome", "handled", "--as", "dyad", "--url", &plane.url];
    assert_eq!(state.ok(&args)["repeat"], false);
    assert_eq!(plane.request().line, format!("GET /v1/messages/{ID}"));
    let request = plane.request();
    assert_eq!(request.line, "POST /v1/acks");
    let signed = Signed::<AckStatement>::from_value(&request.body).unwrap();
    let statement = signed.verify(&key.public()).unwrap();
    assert_eq!(statement.content_sha256.to_string(), hash);
    assert_eq!((statement.outcome.as_str(), statement.by.as_str()), ("handled", "agent"));
}

#[test]
fn idn_6_a_new_principal_gets_a_token_file_and_the_plane_its_hash() {
    let state = State::fresh();
    let file = state.path().join("tokens/ops.token");
    let refusal = serde_json::to_value(Problem::of(Reason::OperatorOutOfScope, "")).unwrap();
    let enacted = json!({"v": 1, "id": ID, "act": "register_principal"});
    let plane = Plane::answering(vec![(403, refusal), (200, enacted)]);
    let operator = state.operator();
    let add = ["principal", "add", "ops", "--url", &plane.url, "--operator-key", operator.to_str().unwrap()];
    assert_eq!(state.fails(&add, 77)["reason"], "operator_out_of_scope");
    assert!(!file.exists(), "a token that was never registered stays");
    plane.request();
    state.ok(&add);
    assert_eq!(mode(&file), 0o600);
    let token = fs::read_to_string(&file).unwrap();
    let registered = plane.request().body["command"]["subject"]["credential"].clone();
    assert_eq!(registered, json!(token_hash(token.trim())));
}

#[test]
fn fus_6_whatever_stands_at_a_latch_path_is_shown_as_a_latch() {
    let state = State::fresh();
    assert_eq!(state.ok(&["latch", "show"])["latches"], json!([]));
    fs::create_dir(state.path().join("latch-a")).unwrap();
    fs::write(state.path().join("latch-b"), "{\"id\": 1}").unwrap();
    let shown = state.ok(&["latch", "show"]);
    let targets: Vec<&Value> = shown["latches"].as_array().unwrap().iter().map(|l| &l["target"]).collect();
    assert_eq!(targets, [&json!("a"), &json!("b")]);
}

#[test]
fn con_1_the_program_itself_ends_with_these_codes() {
    let state = State::fresh();
    let program = |args: &[&str]| {
        let state = state.path();
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_awakener"))
            .arg("--state")
            .arg(state)
            .args(args)
            .env_clear()
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    };
    let (code, out, err) = program(&["spec", "show", "ACK-2"]);
    assert!(code == 0 && out.contains("ACK-2") && err.is_empty(), "{out}{err}");
    let (code, out, err) = program(&["spec", "show", "lost_lese"]);
    assert!(code == 2 && out.is_empty() && err.starts_with("error: "), "{out}{err}");
    assert!(err.contains("\nrule:  CON-1 (usage)\nnext:  Did you mean `lost_lease`?"), "{err}");
    let (code, _, err) = program(&["init"]);
    assert!(code == 77 && err.contains("where: "), "{err}");
    assert_eq!(program(&["--nonsense"]).0, 2);
}
