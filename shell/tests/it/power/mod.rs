//! Power cuts under the program as it ships (issue 4): recorded from outside, cut thousands of times, judged by opening
//! what is left.
//!
//! Reading order: [`record`] (strace writes down every call) → [`trace`] (the log as calls) → [`events`] (what became of
//! files and clients) → [`disk`] (what is durable) → [`cut`] (what is left, by chance) → [`judge`] and [`station`] (what
//! must hold) → [`controls`] (recordings that must not pass). No two recordings are the same, because senders overlap; so
//! a state that fails is kept as it is, beside the number of its cut.
//!
//! `AWAKENER_CUTS` is the number of cuts of each trial, `AWAKENER_SEED` where chance begins.

mod again;
mod controls;
mod cut;
mod disk;
mod events;
mod init;
mod judge;
mod record;
mod station;
mod told;
mod trace;
mod trial;
mod work;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use awakener_kernel::audit;
use awakener_spec::Reason;
use awakener_tools::{Tool, enforces_process, strace};
use rusqlite::Connection;

use super::child::Home;
use disk::Event;
use events::Recording;
use judge::{Fault, Judge};
use told::Fact;
use trial::{Found, cuts, replay, trial};

/// A recording, and where it was made.
struct Recorded {
    recording: Recording,
    judge_chain: Vec<String>,
    again: Vec<again::Again>,
}

fn tool() -> Option<PathBuf> {
    match strace::program().unwrap_or_else(|error| panic!("{error}")) {
        Tool::Ready(program) => Some(program),
        Tool::Skipped(_) => None,
    }
}

/// The plane is recorded once for all tests.
fn plane() -> Option<&'static Recorded> {
    static PLANE: OnceLock<Option<Recorded>> = OnceLock::new();
    PLANE
        .get_or_init(|| {
            let home = Home::new(&["limits.rate_per_minute=1000000"]);
            let strace = tool()?;
            let recording = work::record(&strace, &home);
            let judge_chain = Judge::chain_in(&home.state());
            let again = again::record(&strace, &home, &recording, 3);
            let resets = recording.begun_anew("plane.db-wal");
            let count =
                |like: fn(&Event) -> bool| recording.events.iter().filter(|event| like(event)).count();
            let admitted = count(|event| matches!(event, Event::Told(Fact::Admitted(..))));
            eprintln!(
                "recorded: {} events, {admitted} admissions, WAL begun anew {resets} times",
                recording.events.len()
            );
            assert!(resets > 0, "the WAL never filled up");
            Some(Recorded { recording, judge_chain, again })
        })
        .as_ref()
}

impl Recorded {
    fn judge(&self) -> Judge {
        Judge::new(self.judge_chain.clone())
    }

    fn trial(&self, events: &[Event], cuts: usize, judged: impl Fn(&Fault) -> bool) -> Found {
        let judge = self.judge();
        trial(&self.recording, events, cuts, |state, told| only(&judged, judge.plane(state, told)))
    }
}

/// Looks for faults of one kind only.
fn only(judged: &impl Fn(&Fault) -> bool, verdict: Result<(), Fault>) -> Result<(), Fault> {
    verdict.or_else(|fault| if judged(&fault) { Err(fault) } else { Ok(()) })
}

/// A control that does not fail proves nothing.
fn caught(what: &str, found: &Found) {
    let (number, fault) =
        found.first.as_ref().unwrap_or_else(|| panic!("{what}: not found in {} cuts", found.cuts));
    eprintln!("control, {what}: found by cut {number}: {fault}");
}

const fn lost(fault: &Fault) -> bool {
    matches!(fault, Fault::Lost(_))
}

const fn opens(fault: &Fault) -> bool {
    matches!(fault, Fault::Opens(_))
}

enforces_process! {
    [Inb1, Inb2, Emt1, Emt2, Aud1] fn inb_1_what_was_told_before_a_power_cut_is_there_after_it(_seen) {
        let Some(recorded) = plane() else { return };
        let found = recorded.trial(&recorded.recording.events, cuts(900), |_| true);
        found.sound("the plane");
        found.hard_enough();
    }

    [Inb1, Emt2, Aud1] fn inb_1_power_that_fails_again_during_the_recovery_loses_no_more(_seen) {
        let Some(recorded) = plane() else { return };
        let (mut hit, mut floors) = (0, 0);
        for again in &recorded.again {
            let found = trial(&again.recording, &again.recording.events, cuts(40), again.judge());
            found.sound("a recovery");
            hit += found.hit();
            // Controls: a recovery that believes its own unsynced files is found out, by the floor of epochs that the
            // start after it reads, or by what it then hands out again.
            if floors == 0 {
                let floor = controls::unsynced_file(&again.recording, "epoch-floor.new");
                floors += usize::from(trial(&again.recording, &floor, 60, again.judge()).first.is_some());
            }
        }
        assert!(hit > 20, "only {hit} cuts met something to lose");
        assert!(floors > 0, "a recovery that does not sync its epoch floor passes");
    }

    [Aud1] fn aud_1_answers_without_syncs_or_before_them_are_found_out(_seen) {
        let Some(recorded) = plane() else { return };
        let off = controls::synchronous_off(&recorded.recording);
        caught("synchronous = OFF", &recorded.trial(&off, 400, lost));
        let first = controls::answered_first(&recorded.recording);
        caught("answer before commit", &recorded.trial(&first, 400, lost));
        let floor = controls::unsynced_file(&recorded.recording, "epoch-floor.new");
        caught("an epoch floor without sync", &recorded.trial(&floor, 1_000, opens));
        let deny = controls::unsynced_name(&recorded.recording, "deny");
        let denied = |fault: &Fault| matches!(fault, Fault::Lost(what) if what == "Denied");
        let judge = recorded.judge();
        let found = trial(&recorded.recording, &deny, 1_000, |state, told| match told.contains(&&Fact::Denied) {
            true => only(&denied, judge.plane(state, told)),
            false => Ok(()),
        });
        caught("a deny file whose directory is not synced", &found);
    }

    [Aud5] fn aud_5_a_torn_tail_is_no_tampering_and_a_flipped_byte_is(_seen) {
        let Some(recorded) = plane() else { return };
        tampering(recorded);
        shortened(recorded);
    }

    [Fus4] fn fus_4_after_a_power_cut_the_latch_is_whole_or_absent_and_there_once_told(_seen) {
        let Some(strace) = tool() else { return };
        let home = Home::new(&["limits.rate_per_minute=1000000"]);
        let recording = station::record(&strace, &home);
        let found = trial(&recording, &recording.events, cuts(500), station::judge);
        found.sound("the latch");
        let control = |events: &[Event], judged: fn(&Fault) -> bool| {
            trial(&recording, events, 400, |state, told| only(&judged, station::judge(state, told)))
        };
        let name = controls::unsynced_name(&recording, "latch-lotse");
        caught("a latch whose directory is not synced", &control(&name, lost));
        let file = controls::unsynced_file(&recording, "latch-lotse");
        caught("a latch without sync", &control(&file, opens));

        // And cleared by its operator.
        let recording = station::clear(&strace, &home);
        let found = trial(&recording, &recording.events, cuts(300), station::judge_clear);
        found.sound("latch clear");
        assert!(found.hit() > 20, "{found:?}");
        let unsynced = controls::unsynced_incident(&recording);
        caught("an incident without sync", &trial(&recording, &unsynced, 400, station::judge_clear));
        // The first sync of the state directory after the archive makes `incidents` durable: without that the
        // incident is gone although its own directory was synced.
        let unnamed = controls::unsynced_name(&recording, "incidents");
        caught("incidents that the directory above does not have", &trial(&recording, &unnamed, 400, station::judge_clear));
    }
}

#[test]
fn idn_7_what_init_has_made_is_there_after_a_power_cut() {
    let Some(strace) = tool() else { return };
    let (_dir, recording) = init::record(&strace);
    trial(&recording, &recording.events, cuts(200), init::judge).sound("init");
    let unsynced = controls::unsynced_file(&recording, "audit.key");
    caught("a key without sync", &trial(&recording, &unsynced, 400, init::judge));
    let unsynced = controls::unsynced_name(&recording, "state");
    caught("a directory that the one above does not have", &trial(&recording, &unsynced, 400, init::judge));
}

/// The whole disk after the recording, and one byte of it changed.
fn tampering(recorded: &Recorded) {
    let judge = recorded.judge();
    let told: Vec<&Fact> = Vec::new();
    let at_end = || {
        let dir = trial::scratch();
        replay(&recorded.recording, dir.path());
        dir
    };
    let verified = |dir: &Path| {
        let conn = Connection::open(dir.join("plane.db")).unwrap();
        let mut found = conn.prepare("SELECT entry FROM audit ORDER BY position").unwrap();
        let entries: Vec<Vec<u8>> =
            found.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        audit::verify(entries.iter().map(Vec::as_slice))
    };
    let whole = at_end();
    verified(whole.path()).unwrap();
    judge.plane(whole.path(), &told).unwrap();
    // Far enough back to be in the database file and not in the WAL, and in every part of an entry.
    for (position, share) in [(2, 3), (5, 2), (9, 4)] {
        let dir = at_end();
        let file = dir.path().join("plane.db");
        let entry: Vec<u8> = {
            let conn = Connection::open(&file).unwrap();
            conn.query_row("SELECT entry FROM audit WHERE position = ?1", [position], |row| row.get(0))
                .unwrap()
        };
        flip(&file, &entry[..200.min(entry.len())], entry.len().min(200) / share);
        let broken = verified(dir.path()).unwrap_err();
        assert_eq!(broken.reason(), Reason::ChainBroken, "entry {position}: {broken:?}");
        let fault = judge.plane(dir.path(), &told).unwrap_err();
        assert!(matches!(fault, Fault::Chain(_)), "entry {position}: {fault:?}");
    }
}

/// A changed byte in the WAL ends it there for SQLite, like a torn tail: no chain says so by itself, and who kept a
/// checkpoint sees it (AUD-3).
fn shortened(recorded: &Recorded) {
    let judge = recorded.judge();
    let told = recorded.recording.events.iter().filter_map(|event| match event {
        Event::Told(fact @ Fact::Chain { .. }) => Some(fact),
        _ => None,
    });
    let told: Vec<&Fact> = told.collect();
    for (kept, shows) in [(&[][..], false), (&told[..], true)] {
        let dir = trial::scratch();
        replay(&recorded.recording, dir.path());
        let wal = dir.path().join("plane.db-wal");
        let mut bytes = std::fs::read(&wal).unwrap();
        bytes[32 + 24 + 100] ^= 1;
        std::fs::write(&wal, bytes).unwrap();
        let found = judge.plane(dir.path(), kept);
        assert_eq!(found.as_ref().is_err_and(lost), shows, "{found:?}");
        assert!(shows || found.is_ok(), "{found:?}");
    }
}

/// Changes one byte of a file behind the back of everybody.
fn flip(file: &Path, part: &[u8], at: usize) {
    let mut bytes = std::fs::read(file).unwrap();
    // Pages that were split keep old copies in what they no longer use.
    let copies: Vec<usize> =
        (0..bytes.len() - part.len()).filter(|start| bytes[*start..].starts_with(part)).collect();
    assert!(!copies.is_empty(), "it is in the file");
    copies.into_iter().for_each(|start| bytes[start + at] ^= 1);
    std::fs::write(file, bytes).unwrap();
}
