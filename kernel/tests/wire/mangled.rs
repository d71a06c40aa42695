//! Spoiled documents at each door, and the corpus of the fuzzer: nothing panics, and what is taken means what it says.

use std::cell::Cell;
use std::fmt::Debug;
use std::fs;

use awakener_kernel::wire::{AckStatement, Checkpoint, Document, OperatorCommand, Signed};
use awakener_tools::enforces;
use awakener_tools::mangle::{Edit, mangle};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::json;

use crate::common::{router, sample, sample_text};
use crate::documents::{ack, checkpoint, command, submission};
use crate::judge::{self, Fate};

/// Spoils a document again and again. It must be refused, taken for another one, and, by other bytes than the good ones,
/// taken for itself.
fn spoil<T>(good: &[u8], judge: impl Fn(&[u8]) -> Fate<T>, same: impl Fn(&Fate<T>) -> bool) {
    let counts = [const { Cell::new(0) }; 3];
    let edits = vec(any::<Edit>(), 0..4);
    let mut runner = TestRunner::new(ProptestConfig { cases: 2_000, ..ProptestConfig::default() });
    let run = runner.run(&edits, |edits| {
        let bytes = mangle(good, &edits);
        let fate = judge(&bytes);
        let count = match fate {
            Fate::Refused => &counts[0],
            _ if !same(&fate) => &counts[1],
            _ if bytes == good => return Ok(()),
            _ => &counts[2],
        };
        count.set(count.get() + 1);
        Ok(())
    });
    run.unwrap_or_else(|error| panic!("{error}"));
    let counts = counts.map(Cell::into_inner);
    assert!(counts.iter().all(|count| *count > 0), "refused, other, same: {counts:?}");
}

fn signed<D: Document + Clone + PartialEq + Debug>(document: &D) {
    let good = Signed::sign(document.clone(), &router());
    spoil(&good.encode(), judge::signed::<D>, |fate| {
        let Fate::Verified(read) = fate else { return false };
        assert_eq!((read.document(), read.encode()), (document, good.encode()));
        true
    });
}

enforces! {
    [Sig2, Sig3]
    fn sig_2_sig_3_a_spoiled_hint_is_refused_or_says_what_was_signed(_seen) {
        spoil(sample_text().as_bytes(), judge::hint, |fate| {
            let Fate::Verified(read) = fate else { return false };
            assert_eq!(read.hint, sample());
            true
        });
    }

    [Ack3]
    fn ack_3_a_spoiled_statement_is_refused_or_says_what_was_signed(_seen) {
        signed(&ack());
    }

    [Opr1]
    fn opr_1_a_spoiled_command_is_refused_or_says_what_was_signed(_seen) {
        signed(&command());
    }

    [Aud3]
    fn aud_3_a_spoiled_checkpoint_is_refused_or_says_what_was_signed(_seen) {
        signed(&checkpoint());
    }

    [Adm7]
    fn adm_7_a_spoiled_submission_is_refused_or_hashed_as_everybody_reads_it(_seen) {
        let mut sent = submission();
        sent.body = json!({"a": [1, 0.5, {"b": "\u{e9}"}], "text": "x", "long": "12345678901234567890"});
        let good = sent.content_hash();
        spoil(sent.to_value().to_string().as_bytes(), judge::submission, |fate| {
            matches!(fate, Fate::Taken(read) if read.content_hash() == good)
        });
    }
}

/// A target, a good document for it, and whether bytes are taken there for a good one.
type Seed = (&'static str, Vec<u8>, fn(&[u8]) -> bool);

/// One seed of each kind, and whatever a fuzzer found: each file goes through its target. `WRITE_CORPUS=1` writes the
/// seeds anew.
#[test]
fn sig_2_the_corpus_of_the_fuzzer_passes() {
    let seeds: [Seed; 5] = [
        ("hint", sample_text().into_bytes(), |bytes| matches!(judge::hint(bytes), Fate::Verified(_))),
        ("ack", Signed::sign(ack(), &router()).encode(), |bytes| {
            matches!(judge::signed::<AckStatement>(bytes), Fate::Verified(_))
        }),
        ("command", Signed::sign(command(), &router()).encode(), |bytes| {
            matches!(judge::signed::<OperatorCommand>(bytes), Fate::Verified(_))
        }),
        ("checkpoint", Signed::sign(checkpoint(), &router()).encode(), |bytes| {
            matches!(judge::signed::<Checkpoint>(bytes), Fate::Verified(_))
        }),
        ("submission", submission().to_value().to_string().into_bytes(), |bytes| {
            matches!(judge::submission(bytes), Fate::Taken(_))
        }),
    ];
    for (target, seed, passes) in seeds {
        let directory = awakener_tools::workspace().join("fuzz/corpus").join(target);
        if std::env::var_os("WRITE_CORPUS").is_some() {
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join("seed.json"), seed).unwrap();
        }
        let files: Vec<_> = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
        // The seeds are good ones, so that the fuzzer starts behind the door; the others need only not panic.
        for file in &files {
            let passed = passes(&fs::read(file).unwrap());
            assert!(passed || !file.ends_with("seed.json"), "{}", file.display());
        }
        assert!(files.iter().any(|file| file.ends_with("seed.json")), "{target}");
    }
}
