//! Spoiled exports: nothing panics, and a chain that verifies is the one that was exported.

use awakener_tools::mangle::{Edit, mangle};
use awakener_tools::readers;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use super::tests::{text, three, write};

#[test]
fn aud_5_a_spoiled_export_is_refused_or_says_what_was_exported() {
    let good = text(&three());
    let head = write(good.as_bytes()).unwrap().value["head"].clone();
    let (mut refused, mut shorter, mut same) = (0, 0, 0);
    let mut runner = TestRunner::new(ProptestConfig { cases: 300, ..ProptestConfig::default() });
    let strategy = vec(any::<Edit>(), 0..3);
    for _ in 0..300 {
        let edits = strategy.new_tree(&mut runner).unwrap().current();
        let bytes = mangle(good.as_bytes(), &edits);
        let Ok(answer) = write(&bytes) else {
            refused += 1;
            continue;
        };
        for line in bytes.split(|byte| *byte == b'\n') {
            assert!(readers::agree(line), "{}", String::from_utf8_lossy(&bytes));
        }
        // What is cut off at the end of a line shows by a checkpoint alone.
        if answer.value["records"] == 3 {
            assert_eq!(answer.value["head"], head);
            same += 1;
        } else {
            shorter += 1;
        }
    }
    assert!(refused > 0 && same > 0, "{refused} refused, {shorter} shorter, {same} the same");
}
