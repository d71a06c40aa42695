//! FML-4: a graph for other programs is the same in every run, and is refused where nobody could use it.

use awakener_model_check::export::Format;
use awakener_model_check::manifest::Manifest;
use awakener_model_check::scope_md;
use awakener_model_check::worlds::NoGraph;

use super::{check, toy};

#[test]
fn fml_4_the_graph_has_every_state_edge_and_refused_input() {
    let report = check("crash");
    let json: serde_json::Value = serde_json::from_str(&toy().graph("crash", Format::Json).unwrap()).unwrap();
    let length = |name: &str| json[name].as_array().unwrap().len() as u64;
    assert_eq!((json["states"].as_u64(), length("edges")), (Some(report.states), report.edges));
    assert_eq!((length("stays"), length("fingerprints")), (report.states, report.states));
    let stays: usize =
        json["stays"].as_array().unwrap().iter().map(|set| set.as_array().unwrap().len()).sum();
    assert_eq!(stays as u64, report.stays);
    assert_eq!(json["edges"][0], serde_json::json!([0, 0, 1]));
    assert_eq!(json["labels"][0]["action"], "boot");
    assert_eq!(json["init"], serde_json::json!([0]));
    // Breadth first: nobody has a smaller number than the one that it was found from, and labels are sorted.
    let edges: Vec<Vec<u64>> = serde_json::from_value(json["edges"].clone()).unwrap();
    assert!(edges.is_sorted_by_key(|edge| (edge[0], edge[1])));
}

#[test]
fn fml_4_the_same_graph_is_the_same_text() {
    for format in [Format::Dot, Format::Json, Format::Mermaid] {
        assert_eq!(toy().graph("crash", format), toy().graph("crash", format));
    }
    let dot = toy().graph("calm", Format::Dot).unwrap();
    assert!(dot.starts_with("digraph \"toy calm\" {\n  s0 [") && dot.ends_with("}\n"), "{dot}");
    assert!(dot.contains("s0 -> s1 [label=\"boot\\noutside\"];"), "{dot}");
    let mermaid = toy().graph("calm", Format::Mermaid).unwrap();
    assert!(
        mermaid.starts_with("stateDiagram-v2\n    [*] --> s0\n    s0 --> s1  boot\n")
            || mermaid.contains("s0 --> s1: boot"),
        "{mermaid}"
    );
}

#[test]
fn fml_4_a_graph_too_large_for_a_format_is_refused_with_both_numbers() {
    let Err(NoGraph::TooLarge(large)) = toy().graph("long", Format::Mermaid) else { panic!("it is drawn") };
    assert!(large.states > 250);
    assert!(large.to_string().contains(&format!("has {} states", large.states)), "{large}");
    assert!(large.to_string().contains("up to 250 states"), "{large}");
    assert!(matches!(toy().graph("wide", Format::Dot), Err(NoGraph::Cut(_) | NoGraph::TooLarge(_))));
    assert!(toy().graph("crash", Format::Mermaid).is_ok());
    assert!(matches!(toy().graph("x", Format::Dot), Err(NoGraph::Unknown(_))));
}

#[test]
fn fml_2_scope_md_has_scopes_laws_simplifications_and_gaps() {
    let mut manifest = Manifest::default();
    manifest.set("toy", "crash", check("crash").pin.unwrap());
    let text = scope_md::markdown(&[toy()], &manifest);
    for part in [
        "## toy",
        "- Numbers stand for what is written.",
        "| disks \\| that lie | `model-check/tests/it/command/toy.rs::a_test` |",
        "| the weather | nothing can |",
        "| INB-1 | what was said to be saved survives | it crashed after it had saved |",
        "| `calm` | tiny | most = 2, crashes = 0 | not pinned | | |",
        &format!("| `crash` | tiny | most = 2, crashes = 1 | {} |", check("crash").states),
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}
