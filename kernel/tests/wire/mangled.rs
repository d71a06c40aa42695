//! Spoiled documents at each door: nothing panics, and what is taken means what it says to everybody.
//!
//! What one reader understands, every reader does. A signed document that still verifies is the one that was signed. A submission that is taken has the content hash
//! that anybody finds who reads it with a common JSON parser.

use std::cell::Cell;

use awakener_kernel::ids::ContentHash;
use awakener_kernel::json::canonical;
use awakener_kernel::wire::{Document, ParsedHint, Signed, Submission, verify};
use awakener_tools::enforces;
use awakener_tools::mangle::{Edit, mangle};
use awakener_tools::readers;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::common::{public, router, sample, sample_text};
use crate::documents::{ack, checkpoint, command, submission};

/// What came of one spoiled document.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Refused,
    /// Taken, and it says something else than the good one; a signature does not hold.
    Other,
    /// Taken for the good one.
    Same,
}

/// Spoils a document again and again; each fate must have been met, the last one also by other bytes.
fn spoil(good: &[u8], judge: impl Fn(&[u8]) -> Fate) {
    let [refused, other, same] = [const { Cell::new(0) }; 3];
    let edits = vec(any::<Edit>(), 0..4);
    let mut runner = TestRunner::new(ProptestConfig { cases: 2_000, ..ProptestConfig::default() });
    let run = runner.run(&edits, |edits| {
        let bytes = mangle(good, &edits);
        let fate = judge(&bytes);
        assert!(fate == Fate::Refused || readers::agree(&bytes), "{}", String::from_utf8_lossy(&bytes));
        let count = match fate {
            Fate::Refused => &refused,
            Fate::Other => &other,
            Fate::Same if bytes == good => return Ok(()),
            Fate::Same => &same,
        };
        count.set(count.get() + 1);
        Ok(())
    });
    run.unwrap_or_else(|error| panic!("{error}"));
    let counts = [refused, other, same].map(Cell::into_inner);
    assert!(counts.iter().all(|count| *count > 0), "refused, other, same: {counts:?}");
}

fn signed<D: Document + Clone + PartialEq + std::fmt::Debug>(document: &D) {
    let good = Signed::sign(document.clone(), &router());
    spoil(&good.encode(), |bytes| {
        let Ok(read) = Signed::<D>::parse(bytes) else { return Fate::Refused };
        let again = Signed::<D>::parse(&read.encode()).unwrap();
        assert_eq!((&again, again.encode()), (&read, read.encode()));
        match read.verify(&public(&router())) {
            Ok(said) => {
                assert_eq!((said, read.encode()), (document, good.encode()));
                Fate::Same
            }
            Err(_) => Fate::Other,
        }
    });
}

enforces! {
    [Sig2, Sig3]
    fn sig_2_sig_3_a_spoiled_hint_is_refused_or_says_what_was_signed(_seen) {
        let text = sample_text();
        let good = ParsedHint::parse(text.as_bytes()).unwrap();
        spoil(text.as_bytes(), |bytes| {
            let Ok(read) = ParsedHint::parse(bytes) else { return Fate::Refused };
            match verify(&public(&router()), read.signing_bytes(), &read.signature) {
                Ok(()) => {
                    assert_eq!((&read.hint, &read), (&sample(), &good));
                    Fate::Same
                }
                Err(_) => Fate::Other,
            }
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
        spoil(sent.to_value().to_string().as_bytes(), |bytes| {
            let Ok(read) = Submission::parse(bytes, 1 << 16) else { return Fate::Refused };
            let mut common: Value = serde_json::from_slice(bytes).unwrap();
            let members = common.as_object_mut().unwrap();
            members.remove("id");
            members.remove("from");
            assert_eq!(read.content_hash(), ContentHash::of(&canonical(&common)));
            if read.content_hash() == good { Fate::Same } else { Fate::Other }
        });
    }
}
