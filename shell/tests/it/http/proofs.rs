//! Checkpoints that the plane signs by itself, and proofs over HTTP (AUD-3).

use std::time::{Duration, Instant};

use awakener_kernel::audit::proof::{consistent, included};
use awakener_kernel::audit::{self, tree};
use awakener_kernel::json;
use awakener_kernel::time::Millis;
use awakener_kernel::wire::{Checkpoint, Signed};
use awakener_tools::enforces_process;
use serde_json::json;

use crate::support::{PLANE, Rig, problem, submission, word};

fn newest(rig: &Rig) -> Checkpoint {
    rig.block(rig.observer().newest_checkpoint()).unwrap().verify(&rig.audit.public()).unwrap().clone()
}

/// Waits for a checkpoint over at least so many records.
fn covered(rig: &Rig, size: u64) -> Checkpoint {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        if let Ok(signed) = rig.block(rig.observer().newest_checkpoint())
            && signed.document().size >= size
        {
            return signed.verify(&rig.audit.public()).unwrap().clone();
        }
        assert!(Instant::now() < deadline, "no checkpoint over {size} records");
        std::thread::yield_now();
    }
}

enforces_process! {
    [Aud3] fn aud_3_checkpoints_are_signed_on_a_count_and_kept(_seen) {
        // An hour of clock: what is signed is signed for the count alone.
        let mut rig = Rig::with(|limits| (limits.checkpoint_records, limits.checkpoint_age) = (5, Millis(60_000)));
        let first = covered(&rig, 1);
        let story = rig.story();
        let mut last = first.size;
        for number in 0..20 {
            rig.block(story.alice.submit(&submission("lotse", "message/1", json!(word(number))), None)).unwrap();
            let size = rig.audited().len() as u64;
            // Never further behind than the count, once the thread has come round.
            let kept = covered(&rig, size - 5);
            assert!(kept.size >= last && kept.plane.as_str() == PLANE);
            last = kept.size;
        }
        assert!(last > first.size);
        // Each is kept, and each is consistent with all before it.
        let conn = rusqlite::Connection::open(rig.dir.path().join("plane.db")).unwrap();
        let kept: Vec<Checkpoint> = conn
            .prepare("SELECT signed FROM checkpoint ORDER BY size")
            .unwrap()
            .query_map([], |row| row.get::<_, String>(0))
            .unwrap()
            .map(|text| {
                let signed: Signed<Checkpoint> = Signed::parse(text.unwrap().as_bytes()).unwrap();
                signed.verify(&rig.audit.public()).unwrap().clone()
            })
            .collect();
        assert!(kept.len() >= 4, "{kept:?}");
        rig.restart();
        let now = covered(&rig, last + 1);
        for old in &kept {
            let proof = rig.block(rig.observer().consistency(old.size)).unwrap();
            let path = proof.path.unwrap();
            assert!(consistent(old.size, now.size, &old.head, &now.head, &path), "{}", old.size);
            assert!(!consistent(old.size, now.size, &first.head, &now.head, &path) || old.head == first.head);
        }
    }

    [Aud3] fn aud_3_checkpoints_are_signed_on_a_clock_but_not_over_nothing_new(_seen) {
        let rig = Rig::with(|limits| (limits.checkpoint_records, limits.checkpoint_age) = (1_000, Millis(1)));
        let story = rig.story();
        rig.block(story.alice.submit(&submission("lotse", "message/1", json!(1)), None)).unwrap();
        // Fewer than the count, and covered all the same.
        let size = rig.audited().len() as u64;
        assert!(size < 1_000);
        let all = covered(&rig, size);
        let again = newest(&rig);
        assert_eq!((all.size, all.head), (again.size, again.head));
        // Control: with a clock that is not up, nothing is signed for so few.
        let slow = Rig::with(|limits| (limits.checkpoint_records, limits.checkpoint_age) = (1_000, Millis(60_000)));
        let first = covered(&slow, 1);
        slow.story();
        assert_eq!(newest(&slow), first);
    }

    [Aud3] fn aud_3_every_record_and_every_beginning_is_proved(_seen) {
        let rig = Rig::start();
        let story = rig.story();
        rig.block(story.alice.submit(&submission("lotse", "message/1", json!(1)), None)).unwrap();
        let signed = rig.block(rig.observer().checkpoint()).unwrap();
        let kept = signed.document().clone();
        let entries = rig.audited();
        let hashes: Vec<_> = entries.iter().map(|entry| audit::hash(&json::canonical(entry))).collect();
        let mut grown = tree::Tree::default();
        let heads: Vec<_> = hashes.iter().map(|hash| { grown.push(hash); grown.head() }).collect();
        let size = usize::try_from(kept.size).unwrap();
        assert_eq!(kept.head, heads[size - 1]);
        for (at, hash) in hashes[..size].iter().enumerate() {
            let proof = rig.block(rig.observer().inclusion(at as u64 + 1)).unwrap();
            assert_eq!((proof.hash, proof.index, proof.entry.as_ref()), (Some(*hash), Some(at as u64), Some(&entries[at])));
            let path = proof.path.unwrap();
            let leaf = tree::leaf(&hash.0);
            assert!(included(&leaf, at as u64, kept.size, &path, &kept.head));
            assert!(!included(&tree::leaf(&kept.head.0), at as u64, kept.size, &path, &kept.head));
            let proof = rig.block(rig.observer().consistency(at as u64 + 1)).unwrap();
            assert!(consistent(at as u64 + 1, kept.size, &heads[at], &kept.head, &proof.path.unwrap()));
        }
        // Nothing is proved of what is not there.
        let none = rig.block(rig.observer().inclusion(kept.size + 100)).unwrap();
        assert_eq!((none.hash, none.index, none.path), (None, None, None));
        assert_eq!(rig.block(rig.observer().consistency(kept.size + 1)).unwrap().path, None);
        // Only observers ask.
        assert_eq!(problem(rig.block(story.alice.consistency(1)))["reason"], "unauthenticated");
        assert_eq!(problem(rig.block(story.alice.inclusion(1)))["reason"], "unauthenticated");
        assert_eq!(problem(rig.block(story.alice.newest_checkpoint()))["reason"], "unauthenticated");
    }
}
