//! FML-5: a counterexample in its four forms, and what runs again from each.

use awakener_model_check::trace::told::Told;
use awakener_model_check::trace::{Files, NoTrace, SCHEMA, Trace, rust, text};
use serde_json::json;

use super::toy::{SURVIVES, Toy};
use super::{check, toy};

fn fall() -> Told {
    let mut falls = check("forgets").falls;
    assert_eq!(falls.len(), 1);
    falls.remove(0)
}

#[test]
fn fml_5_the_steps_say_what_happens_and_what_changes() {
    let text = text::text(&fall(), true);
    let expected = "\
toy, scope forgets
law: INB-1 what was said to be saved survives

 1. boot  [adversary → counter]
    outside
      memory: Down → Up { count: 0 }
 2. add by=1  [caller → counter]
    advanced added
      memory.count: 0 → 1
 3. write save  [caller → counter]
    advanced saved, effects tell
      disk: 0 → 1
      said: [] → [1]
 4. crash  [adversary → counter]
    outside
      memory: Up { count: 1 } → Down
      disk: 1 → 0
      crashes: 0 → 1
    ✗ FALLS: INB-1 what was said to be saved survives

INB-1 what was said to be saved survives: falls after step 4 of 4
";
    assert_eq!(text, expected);
}

#[test]
fn fml_5_the_diagram_has_everybody_and_the_fall() {
    let expected = "\
sequenceDiagram
    autonumber
    participant p0 as adversary
    participant p1 as counter
    participant p2 as caller
    p0-)p1: boot
    p2->>p1: add by=1
    Note right of p1: advanced added
    p2->>p1: write save
    Note right of p1: advanced saved, effects tell
    p0-)p1: crash
    Note over p1: FALLS INB-1 what was said to be saved survives
";
    assert_eq!(Files::of(&fall()).mmd, expected);
}

#[test]
fn fml_5_the_trace_runs_again_and_falls_at_the_same_step() {
    let written = Files::of(&fall()).json;
    let trace = Trace::parse(&written).unwrap();
    let told = toy().follow(&trace).unwrap();
    assert_eq!((told.fell, told.same_end, told.stuck.clone()), (Some(4), Some(true), None));
    assert_eq!(told.exit(), 1);
    assert_eq!(told.trace.to_text(), written);
    // In a world that does not forget, the same way ends elsewhere and nothing falls.
    let healthy = toy().follow(&Trace { scope: "crash".into(), ..trace }).unwrap();
    assert_eq!((healthy.fell, healthy.same_end, healthy.exit()), (None, Some(false), 0));
    assert!(text::end(&healthy).contains("holds all the way"));
}

#[test]
fn fml_5_a_step_that_is_not_possible_is_named() {
    let trace = |actions| Trace {
        schema: SCHEMA.into(),
        world: "toy".into(),
        scope: "calm".into(),
        law: None,
        actions,
        last: None,
    };
    let stuck = |actions| toy().follow(&trace(actions)).unwrap().stuck.unwrap();
    let (at, why) = stuck(vec![json!("boot"), json!("crash")]);
    assert!(at == 2 && why.contains("what can: add by=0, add by=1, write save"), "{at} {why}");
    let (at, why) = stuck(vec![json!("boot"), json!("fly")]);
    assert!(at == 2 && why.contains("no such action"), "{at} {why}");
    let (at, why) = stuck([vec![json!("boot")], vec![json!({"add": {"by": 1}}); 3]].concat());
    assert!(at == 4 && why.contains("beyond"), "{at} {why}");
    // What leads nowhere is possible.
    let told = toy().follow(&trace(vec![json!("boot"), json!({"add": {"by": 0}})])).unwrap();
    assert_eq!((told.stuck, told.steps[1].stayed), (None, Some("nothing changed")));
}

#[test]
fn con_1_a_file_that_is_no_trace_or_names_nothing_known_is_told_so() {
    assert!(matches!(Trace::parse("{"), Err(NoTrace::Malformed(_))));
    let later = r#"{"$schema": "urn:awakener:schema:trace:2", "new": 1}"#;
    assert_eq!(Trace::parse(later), Err(NoTrace::OtherSchema("urn:awakener:schema:trace:2".into())));
    let more = Files::of(&fall()).json.replacen('{', "{\"more\": 1,", 1);
    assert!(Trace::parse(&more).unwrap_err().to_string().contains("more"));
    let trace = fall().trace;
    let unknown = toy().follow(&Trace { scope: "forget".into(), ..trace.clone() }).unwrap_err();
    assert_eq!((unknown.what, unknown.nearest.as_deref()), ("scope", Some("forgets")));
    let unknown = toy().follow(&Trace { law: Some("INB-1".into()), ..trace }).unwrap_err();
    assert_eq!(unknown.what, "law");
}

/// The way of the fall, through the world that does not forget.
fn healthy() -> Told {
    toy().follow(&Trace { scope: "crash".into(), ..fall().trace }).unwrap()
}

#[test]
fn fml_5_the_test_is_one_that_compiles_and_runs() {
    // It stands in this directory as it is written, and is built and run with all others.
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/command/written.rs");
    let written = rust::rust(&healthy());
    if std::env::var_os("AWAKENER_BLESS").is_some() {
        std::fs::write(path, &written).unwrap();
    }
    let stands = std::fs::read_to_string(path).unwrap();
    assert_eq!(stands, written, "to write it anew: AWAKENER_BLESS=1 cargo test -p awakener-model-check");
}

#[test]
#[should_panic(expected = "falls after step 4 of 4")]
fn fml_5_the_test_fails_where_the_law_falls() {
    let way = [r#""boot""#, r#"{"add":{"by":1}}"#, r#"{"write":"save"}"#, r#""crash""#];
    rust::must_hold::<Toy<false>>("forgets", SURVIVES, &way);
}

#[test]
fn fml_5_all_four_are_written_under_one_name() {
    let directory = tempfile::tempdir().unwrap();
    let files = Files::of(&fall());
    let paths = files.write(&directory.path().join("new")).unwrap();
    let names: Vec<_> = paths.iter().map(|path| path.file_name().unwrap().to_string_lossy()).collect();
    let name = "toy-forgets-inb-1-what-was-said-to-be-saved-survives";
    assert_eq!(names, ["txt", "mmd", "rs", "json"].map(|ending| format!("{name}.{ending}")));
    assert_eq!(std::fs::read_to_string(&paths[3]).unwrap(), files.json);
}
