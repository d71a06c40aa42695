//! CON-1: the program that people and CI run, from outside: its outputs and its exit codes.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use awakener_model_check::manifest::{Manifest, Pin};
use awakener_model_check::trace::{SCHEMA, Trace};
use awakener_model_check::world::Group;
use awakener_model_check::worlds;
use serde_json::{Value, json};

fn program(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_awakener-check"));
    command.args(args).stdin(Stdio::null());
    command
}

struct Ran {
    code: i32,
    out: String,
    err: String,
}

fn run(args: &[&str]) -> Ran {
    let Output { status, stdout, stderr } = program(args).output().expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("it speaks UTF-8");
    Ran { code: status.code().expect("it ends by itself"), out: text(stdout), err: text(stderr) }
}

/// The smallest pinned scope of the group `tiny`: world, scope, numbers.
fn smallest() -> (&'static str, &'static str, Pin) {
    let manifest = Manifest::load(&Manifest::place()).expect("it reads");
    let scopes = worlds::all().into_iter().flat_map(|world| {
        let name = world.name();
        world
            .scopes()
            .into_iter()
            .filter(|scope| scope.group == Group::Tiny)
            .map(move |scope| (name, scope.name))
    });
    let pinned =
        scopes.filter_map(|(world, scope)| Some((world, scope, manifest.pin(world, scope)?.clone())));
    pinned
        .filter(|(_, _, pin)| pin.states > 20)
        .min_by_key(|(_, _, pin)| pin.states)
        .expect("tiny scopes are pinned")
}

/// The scope that takes longest.
fn longest() -> (&'static str, &'static str) {
    let scopes = worlds::all().into_iter().flat_map(|world| {
        let name = world.name();
        world.scopes().into_iter().map(move |scope| (scope.group, name, scope.name))
    });
    let (_, world, scope) = scopes
        .filter(|scope| scope.0 != Group::Cyclic)
        .max_by_key(|scope| scope.0)
        .expect("there are scopes");
    (world, scope)
}

#[test]
fn con_1_a_complete_and_clean_search_ends_with_0() {
    let (world, scope, pin) = smallest();
    let ran = run(&["check", world, "--scope", scope]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert_eq!(ran.err, "");
    assert!(ran.out.ends_with("complete and clean\n"), "{}", ran.out);
    assert!(
        ran.out.contains("agrees") && ran.out.contains("match") && ran.out.contains("twin: "),
        "{}",
        ran.out
    );
    assert!(ran.out.contains(&format!("total: 1 scopes, {} states", pin.states)), "{}", ran.out);
}

#[test]
fn con_1_numbers_that_are_not_as_pinned_end_with_1() {
    let (world, scope, pin) = smallest();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("manifest.toml");
    let mut manifest = Manifest::default();
    manifest.set(world, scope, Pin { states: pin.states + 1, ..pin.clone() });
    manifest.save(&path).unwrap();
    let file = path.to_str().unwrap();
    let with = |more: &[&str]| run(&[&["check", world, "--scope", scope, "--manifest", file], more].concat());
    let ran = with(&[]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.out.contains(&format!("states {} instead of {}", pin.states, pin.states + 1)), "{}", ran.out);
    assert!(ran.out.ends_with("NOT clean\n"), "{}", ran.out);
    assert_eq!(with(&["--no-pins"]).code, 0);
    // Pinned anew, it is as pinned.
    assert_eq!(with(&["--pin"]).code, 0);
    assert_eq!(with(&[]).code, 0);
    assert_eq!(Manifest::load(&path).unwrap().pin(world, scope), Some(&pin));
}

#[test]
fn con_1_a_wrong_name_ends_with_2_and_is_told_the_right_one_and_all() {
    let (world, scope, _) = smallest();
    let near = |name: &str| format!("{name}x");
    for (args, what, right) in [
        (vec!["check", &near(world)], "world", world),
        (vec!["check", world, "--scope", &near(scope)], "scope", scope),
        (vec!["explore", world, "--scope", &near(scope)], "scope", scope),
        (vec!["graph", &near(world), "--scope", scope, "--format", "dot"], "world", world),
    ] {
        let ran = run(&args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
        assert!(ran.err.contains(&format!("error: there is no {what} `{right}x`")), "{}", ran.err);
        assert!(ran.err.contains(&format!("Did you mean `{right}`? There are: ")), "{}", ran.err);
    }
    let ran = run(&["check", world, "--law", "nobody"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("there is no law `nobody`") && ran.err.contains("\n  VER-5 "), "{}", ran.err);
    let ran = run(&["chek"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("check"), "{}", ran.err);
    assert_eq!(run(&["check", "--replay", "/nowhere/trace.json"]).code, 2);
    assert_eq!(run(&["--help"]).code, 0);
}

#[test]
fn con_1_failures_are_json_if_that_is_wanted() {
    for args in [&["check", "nowhere", "--json"][..], &["--json", "check", "--threads", "0"]] {
        let ran = run(args);
        let value: Value = serde_json::from_str(&ran.err).unwrap_or_else(|_| panic!("{}", ran.err));
        assert_eq!((ran.code, ran.out.as_str(), &value["exit"]), (2, "", &json!(2)));
        assert!(value["error"].is_string());
    }
}

#[test]
fn con_1_a_search_that_is_cut_ends_with_3_and_says_by_what() {
    let (world, scope) = longest();
    for (flag, much, cut) in
        [("--states", "50", "states"), ("--time", "0.000001", "time"), ("--memory", "0.0001", "memory")]
    {
        let ran = run(&["check", world, "--scope", scope, flag, much]);
        assert_eq!(ran.code, 3, "{flag}: {}{}", ran.out, ran.err);
        assert!(ran.out.contains(&format!("INCOMPLETE: cut by {cut} after ")), "{flag}: {}", ran.out);
    }
}

#[test]
fn con_1_ctrl_c_ends_with_3() {
    let (world, scope) = longest();
    let mut child = program(&["check", world, "--scope", scope])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut out = BufReader::new(child.stdout.take().expect("it has an output"));
    let mut head = String::new();
    // Once it has said something it listens for signals.
    out.read_line(&mut head).unwrap();
    assert!(head.starts_with("world"), "{head}");
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3), "{rest}");
    assert!(rest.contains("INCOMPLETE: cut by ^C after "), "{rest}");
}

#[test]
fn con_1_json_is_one_object_a_scope_and_nothing_else() {
    let (world, scope, pin) = smallest();
    let ran = run(&["check", world, "--scope", scope, "--json"]);
    assert_eq!(ran.code, 0);
    let lines: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let [line] = &lines[..] else { panic!("{}", ran.out) };
    assert_eq!(
        (&line["world"], &line["scope"], &line["states"]),
        (&json!(world), &json!(scope), &json!(pin.states))
    );
    assert_eq!(
        (&line["complete"], &line["second"]["agrees"], &line["pins"]),
        (&json!(true), &json!(true), &json!("match"))
    );
    for law in line["laws"].as_array().unwrap() {
        assert!(["holds", "idle"].contains(&law["verdict"].as_str().unwrap()), "{law}");
        assert_eq!(law["twin_depth"].is_null(), law["verdict"] == "idle", "{law}");
    }
    for line in run(&["list", "--json"]).out.lines() {
        let value: Value = serde_json::from_str(line).expect("JSON");
        assert!(value["scopes"].as_array().is_some_and(|scopes| !scopes.is_empty()), "{value}");
    }
}

/// A trace through the smallest scope, written as a file: the way to its last state.
fn written(directory: &Path) -> (PathBuf, Trace) {
    let (world, scope, _) = smallest();
    let ran = run(&["graph", world, "--scope", scope, "--format", "json"]);
    let graph: Value = serde_json::from_str(&ran.out).unwrap();
    let edges: Vec<[usize; 3]> = serde_json::from_value(graph["edges"].clone()).unwrap();
    let mut at = edges.iter().map(|edge| edge[2]).max().unwrap();
    let last = graph["fingerprints"][at].as_str().unwrap().to_owned();
    let mut actions = Vec::new();
    while at != 0 {
        let edge = edges.iter().find(|edge| edge[2] == at).unwrap();
        actions.push(graph["labels"][edge[1]]["action"].clone());
        at = edge[0];
    }
    actions.reverse();
    let trace = Trace {
        schema: SCHEMA.into(),
        world: world.into(),
        scope: scope.into(),
        law: None,
        actions,
        last: Some(last),
    };
    let path = directory.join("trace.json");
    std::fs::write(&path, trace.to_text()).unwrap();
    (path, trace)
}

#[test]
fn fml_5_a_written_trace_is_replayed_and_explained() {
    let directory = tempfile::tempdir().unwrap();
    let (path, trace) = written(directory.path());
    let file = path.to_str().unwrap();
    let ran = run(&["check", "--replay", file]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.ends_with("every law holds all the way\n"), "{}", ran.out);
    assert!(ran.out.contains(&format!("\n{:>2}. ", trace.actions.len())), "{}", ran.out);
    let explained = run(&["explain", file]);
    assert!(explained.code == 0 && explained.out.contains(" → "), "{}", explained.out);
    assert!(explained.out.len() > ran.out.len());
    let value: Value = serde_json::from_str(&run(&["explain", file, "--json"]).out).unwrap();
    assert_eq!(value["steps"].as_array().unwrap().len(), trace.actions.len());
    assert_eq!((&value["same_end"], &value["fell"]), (&json!(true), &Value::Null));

    let mut wrong = trace.clone();
    wrong.actions.insert(1, json!("fly"));
    std::fs::write(&path, wrong.to_text()).unwrap();
    let ran = run(&["check", "--replay", file]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("step 2 is not possible: the world has no such action"), "{}", ran.err);
    std::fs::write(&path, "{}").unwrap();
    assert_eq!(run(&["explain", file]).code, 2);
}

#[test]
fn fml_4_a_graph_is_written_into_a_file_as_it_is_said() {
    let (world, scope, _) = smallest();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("graph.dot");
    let args = ["graph", world, "--scope", scope, "--format", "dot"];
    let said = run(&args);
    assert_eq!(run(&[&args[..], &["--out", path.to_str().unwrap()]].concat()).out, "");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), said.out);
    let (world, scope) = longest();
    let ran = run(&["graph", world, "--scope", scope, "--format", "mermaid"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("written up to 250 states") && ran.err.contains("next:"), "{}", ran.err);
}

#[test]
fn prt_3_the_explorer_answers_on_the_loopback_interface() {
    let (world, scope, _) = smallest();
    let mut child = program(&["explore", world, "--scope", scope, "--port", "0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address =
        line.split("http://").nth(1).and_then(|rest| rest.split('/').next()).expect("an address").to_owned();
    let answer = answer(&address);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(address.starts_with("127.0.0.1:") && line.contains("^C ends it"), "{line}");
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("fingerprint"), "{answer}");
}

/// The initial states, once the server listens.
fn answer(address: &str) -> String {
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(60) {
        if let Ok(mut stream) = TcpStream::connect(address) {
            let request = format!("GET /.states HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
            let mut answer = String::new();
            let said = stream.write_all(request.as_bytes()).and_then(|()| stream.read_to_string(&mut answer));
            if said.is_ok() {
                return answer;
            }
        }
        std::thread::yield_now();
    }
    panic!("nobody listens on {address}");
}
