//! The audit chain taken out of a running plane and judged without it.
//!
//! Rules: AUD-1, AUD-3, AUD-5.

use std::fs;

use super::{Machine, lines};

fn exported() -> (Machine, String, String) {
    let machine = Machine::story();
    let (export, kept) = (machine.path("chain.jsonl"), machine.path("kept.json"));
    machine.mail("one");
    machine.ok(&["audit", "checkpoint", "--out", &kept]);
    machine.mail("two");
    machine.ok(&["audit", "export", "--out", &export]);
    (machine, export, kept)
}

#[test]
fn aud_3_a_cut_tail_shows_to_who_kept_a_checkpoint() {
    let (machine, export, kept) = exported();
    let all = lines(&export);
    let checked = machine.json(&["audit", "verify", &export, "--checkpoint", &kept]);
    assert_eq!(checked["records"], all.len());
    let size = usize::try_from(checked["checkpoint"]["size"].as_u64().unwrap()).unwrap();
    assert!(size < all.len());
    let cut = |keep: usize| {
        let file = machine.file("cut.jsonl", &(all[..keep].join("\n") + "\n"));
        file.to_str().unwrap().to_owned()
    };
    // As much as the checkpoint covers is enough; one record less is not, and without the checkpoint nobody sees it.
    machine.ok(&["audit", "verify", &cut(size), "--checkpoint", &kept]);
    let short = cut(size - 1);
    machine.ok(&["audit", "verify", &short]);
    let failure = machine.fails(&["audit", "verify", &short, "--checkpoint", &kept], 65);
    assert_eq!((&failure["rule"], &failure["reason"]), (&"AUD-3".into(), &"checkpoint_truncated".into()));
    // A checkpoint that somebody else signed, or changed, is none.
    let forged = fs::read_to_string(&kept).unwrap().replace(&format!("\"size\":{size}"), "\"size\":1");
    let forged = machine.file("forged.json", &forged);
    machine.fails(&["audit", "verify", &export, "--checkpoint", forged.to_str().unwrap()], 65);
    let public = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
    let args = ["audit", "verify", &export, "--checkpoint", &kept, "--audit-key", public];
    machine.fails(&args, 65);
    // Of another plane: other records.
    let other = Machine::up();
    let foreign = machine.path("foreign.jsonl");
    other.mail_less_export(&foreign);
    let failure = machine.fails(&["audit", "verify", &foreign, "--checkpoint", &kept], 65);
    assert_eq!(failure["rule"], "AUD-3");
}

#[test]
fn aud_5_a_changed_export_names_the_record() {
    let (machine, export, _) = exported();
    machine.ok(&["audit", "verify", &export]);
    machine.ok(&["audit", "verify"]);
    let text = fs::read_to_string(&export).unwrap().replacen("\"ops\"", "\"opz\"", 1);
    let changed = machine.file("changed.jsonl", &text);
    let failure = machine.fails(&["audit", "verify", changed.to_str().unwrap()], 65);
    assert_eq!((&failure["rule"], &failure["reason"]), (&"AUD-5".into(), &"chain_broken".into()));
    assert!(failure["error"].as_str().unwrap().contains("record "));
    // An export never goes over a file that is there.
    machine.fails(&["audit", "export", "--out", &export], 1);
    // A part is one object too.
    let part = machine.json(&["audit", "export", "--from", "3"]);
    assert_eq!(part["entries"][0]["position"], 3);
}

impl Machine {
    fn mail_less_export(&self, file: &str) {
        for name in ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"] {
            self.ok(&["target", "add", name]);
        }
        self.ok(&["audit", "export", "--out", file]);
    }
}
