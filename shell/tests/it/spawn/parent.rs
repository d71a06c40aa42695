//! What a child gets from a parent that has much to hide: a process of its own, since a test cannot change its environment.
//!
//! The parent is this test program again, started with secrets in its environment and a descriptor that was left open.

use std::process::{Command, Stdio};
use std::sync::Arc;

use awakener::keys::{SecretKey, Token};
use awakener::spawn::{self, Environment, Program, Secrets};
use awakener::store::Lock;

use super::{bounds, finish, lives, number, shell, start, text, until};

/// Set in the parent: its directory.
const PARENT: &str = "TEST_PARENT_IN";

/// Runs the test of this name again, in a process with more in its environment and descriptor 9 open.
fn again(test: &str, dir: &std::path::Path, variables: &[(&str, &str)]) -> String {
    let output = Command::new("sh")
        .args(["-c", "exec 9</etc/passwd; exec \"$@\"", "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(PARENT, dir)
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said}{}", text(&output.stderr));
    said
}

#[test]
fn spw_2_a_child_finds_no_secret_by_name_or_by_value_and_no_descriptor() {
    if let Some(dir) = std::env::var_os(PARENT) {
        let dir = std::path::PathBuf::from(dir);
        let secrets = Secrets::of_state(&dir).unwrap();
        let program = Program {
            environment: Environment::without(Arc::new(secrets)).with(["AGENT_API_KEY", "INNOCENT"]),
            ..shell(&dir, "env; echo; ls /proc/self/fd")
        };
        assert!(std::fs::exists("/proc/self/fd/9").unwrap(), "nothing was left open for it");
        let ended = finish(&program, bounds());
        println!("BEGIN\n{}END", text(&ended.out.bytes));
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (key, token) = (SecretKey::generate().unwrap(), Token::generate().unwrap());
    key.create(&dir.path().join("keys/ack-lotse.key")).unwrap();
    token.create(&dir.path().join("tokens/lotse.token")).unwrap();
    let hex = key.to_hex();
    let said = again(
        "spawn::parent::spw_2_a_child_finds_no_secret_by_name_or_by_value_and_no_descriptor",
        dir.path(),
        &[
            ("AWS_SECRET_ACCESS_KEY", "planted-1"),
            ("GITHUB_TOKEN", "planted-2"),
            ("DATABASE_URL", "planted-3"),
            ("STRIPE_KEY", "planted-4"),
            ("UNLISTED", "planted-5"),
            ("AWAKENER_TOKEN_FILE", "planted-6"),
            ("INNOCENT", token.expose()),
            ("LANG", &hex),
            ("TZ", &hex.to_ascii_uppercase()),
            ("AGENT_API_KEY", "its own"),
            ("LC_TIME", "C"),
        ],
    );
    let (_, rest) = said.split_once("BEGIN\n").unwrap();
    let (environment, descriptors) = rest.split_once("END").unwrap().0.split_once("\n\n").unwrap();
    assert!(
        environment.contains("AGENT_API_KEY=its own") && environment.contains("LC_TIME=C"),
        "{environment}"
    );
    assert!(environment.contains("STARTED_BY_AWAKENER=") && environment.contains("PATH="), "{environment}");
    for hidden in
        ["planted-", token.expose(), hex.as_str(), &hex.to_ascii_uppercase(), "INNOCENT", "LANG=", "TZ="]
    {
        assert!(!environment.contains(hidden), "{hidden}: {environment}");
    }
    // 3 is the directory that `ls` reads.
    assert_eq!(descriptors.split_whitespace().collect::<Vec<_>>(), ["0", "1", "2", "3"]);
}

#[test]
fn spw_3_what_clears_its_environment_and_loses_its_parents_is_caught_by_who_adopts() {
    const SCRIPT: &str = "(env -i /usr/bin/setsid /bin/sh -c 'echo $$ >pid; exec /bin/sleep 300' &) ; while ! test -s pid; do :; done";
    if let Some(dir) = std::env::var_os(PARENT) {
        let dir = std::path::PathBuf::from(dir);
        if std::env::var_os("TEST_ADOPTS").is_some() {
            spawn::adopt().unwrap();
        }
        let ended = finish(&shell(&dir, SCRIPT), bounds());
        println!("BEGIN{} {}END", ended.left, ended.survived);
        return;
    }
    let test =
        "spawn::parent::spw_3_what_clears_its_environment_and_loses_its_parents_is_caught_by_who_adopts";
    let dir = tempfile::tempdir().unwrap();
    let said = again(test, dir.path(), &[("TEST_ADOPTS", "yes")]);
    assert!(said.contains("BEGIN1 falseEND"), "{said}");
    assert!(!lives(number(&dir.path().join("pid"))));
    // The limit, and the control: without adoption nobody finds it.
    let dir = tempfile::tempdir().unwrap();
    let said = again(test, dir.path(), &[]);
    assert!(said.contains("BEGIN0 falseEND"), "{said}");
    let pid = number(&dir.path().join("pid"));
    assert!(lives(pid));
    super::end(pid);
}

#[test]
fn spw_3_the_lock_of_a_store_is_the_parents_alone() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("station.db");
    let lock = Lock::take(&store).unwrap();
    let mut child = start(&shell(dir.path(), "echo $$ >pid; exec sleep 300"));
    let pid = number(&dir.path().join("pid"));
    let held: Vec<_> = std::fs::read_dir(format!("/proc/{pid}/fd"))
        .unwrap()
        .filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok())
        .collect();
    assert!(held.iter().all(|file| !file.ends_with("station.lock")), "{held:?}");
    assert!(Lock::take(&store).is_err(), "the control: it is held");
    drop(lock);
    assert!(child.ended().is_none());
    drop(Lock::take(&store).unwrap());
    child.kill();
    until("it is gone", || !lives(pid));
}

#[test]
fn spw_2_an_argument_with_a_secret_starts_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let token = Token::generate().unwrap();
    let mut secrets = Secrets::default();
    secrets.add(token.expose().as_bytes());
    let environment = Environment::without(Arc::new(secrets));
    let mut program = Program { environment, ..shell(dir.path(), "true") };
    program.argv.push(format!("--header=Bearer {}", token.expose()).into());
    let fault = spawn::start(&program, spawn::Streams::Kept).unwrap_err().to_string();
    assert!(fault.contains("argument 3") && !fault.contains(token.expose()), "{fault}");
    program.argv.pop();
    finish(&program, bounds());
}
