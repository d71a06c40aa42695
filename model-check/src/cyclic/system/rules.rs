//! What the canonical form makes of the numbers of the three machines.

use super::scope::{BACK_OFF, COOLDOWN, ESCALATE, FLIGHT_MAX, Fault, LEASE, PERMIT, RE_EMISSION, SKEW};
use crate::cyclic::canon::{How, Rule};

const TICKET: u8 = 0;
const ATTEMPT: u8 = 1;
const PERMITS: u8 = 2;
const WAKE: u8 = 3;
const EPOCH: u8 = 4;
const LEASES: u8 = 5;
const PLACE: u8 = 6;
const TURN: u8 = 7;

const fn most(a: u64, b: u64) -> u64 {
    if a > b { a } else { b }
}

/// Numbers that stand alone, under names that the rules know.
#[derive(Debug)]
#[expect(dead_code, reason = "its text is read")]
pub(super) struct Numbers {
    pub(super) attempt: Option<u64>,
    pub(super) minted: u64,
}

/// The plane's machine, rows and effects.
const PLANE: &[Rule] = &[
    ("Granted", "fence", How::Rank(PERMITS)),
    ("Image", "permit_fence", How::Rank(PERMITS)),
    ("Fence", "", How::Rank(LEASES)),
    ("WakeId", "", How::Rank(WAKE)),
    ("Nonce", "", How::Rank(WAKE)),
    ("TurnId", "", How::Rank(TURN)),
    ("Token", "", How::Token(EPOCH)),
    ("Image", "epoch", How::Rank(EPOCH)),
    // What a restart looks at, no further back than what it computes from it.
    ("Witness", "opened", How::Since(ESCALATE)),
    ("Witness", "last", How::Since(RE_EMISSION)),
    ("Lease", "at", How::Since(LEASE)),
    ("Granted", "at", How::Since(most(FLIGHT_MAX, PERMIT))),
    // Asked for only by the age of plain messages, which is switched off.
    ("Entry", "admitted", How::Nothing),
    // Judged by its end.
    ("Minted", "time", How::Nothing),
    ("Mono", "", How::Since(0)),
    ("Wall", "", How::Since(0)),
];

/// The daemon's machine and effects, and what the outside saw.
const DAEMON: &[Rule] = &[
    ("Ticket", "boot", How::Major(TICKET)),
    ("Ticket", "number", How::Minor(TICKET)),
    ("Image", "boot", How::Major(TICKET)),
    // Only ever the greatest of its boot.
    ("Live", "issued", How::Nothing),
    ("Image", "attempts", How::Rank(ATTEMPT)),
    ("", "attempt", How::Rank(ATTEMPT)),
    ("Fence", "", How::Rank(PERMITS)),
    ("WakeId", "", How::Rank(WAKE)),
    ("Nonce", "", How::Rank(WAKE)),
    ("Token", "", How::Token(EPOCH)),
    ("Flown", "wake", How::Rank(WAKE)),
    ("Numbers", "minted", How::Rank(WAKE)),
    // The back-off grows no further from here on.
    ("Image", "failures", How::Cap(2)),
    ("Hint", "time", How::Nothing),
    ("Image", "last_start", How::Since(most(COOLDOWN, BACK_OFF))),
    ("Flight", "started", How::Since(FLIGHT_MAX)),
    ("Window", "expiry", How::Since(SKEW)),
    ("Seen", "expires", How::Since(SKEW)),
    ("Asked", "out", How::Since(PERMIT)),
    ("Mono", "", How::Since(0)),
    ("Wall", "", How::Since(0)),
];

/// The station's machine and effects, and its desk.
const STATION: &[Rule] = &[
    ("Ticket", "epoch", How::Major(PLACE)),
    ("Ticket", "number", How::Minor(PLACE)),
    ("Image", "epoch", How::Major(PLACE)),
    // Whatever is under way was issued, so that it is never asked whether it was.
    ("Live", "issued", How::Nothing),
    ("TurnId", "", How::Rank(TURN)),
    ("Desk", "turns", How::Rank(TURN)),
    ("Fence", "", How::Rank(LEASES)),
    ("WakeId", "", How::Rank(WAKE)),
    // Neither back-off nor verdict change from here on.
    ("Progress", "failures", How::Cap(2)),
    // Read only when a thousand messages are remembered.
    ("Progress", "touched", How::Nothing),
    ("Turn", "started", How::Nothing),
    ("Latch", "at", How::Nothing),
    ("LatchNote", "at", How::Nothing),
    // Its limit is out of reach.
    ("Counters", "boot", How::Nothing),
    // An hour never passes.
    ("Counters", "turns", How::Since(0)),
    ("Mono", "", How::Since(0)),
    ("Wall", "", How::Since(0)),
];

/// Planted: without any time.
const INSTANTS_ALIKE: &[Rule] = &[("Mono", "", How::Nothing), ("Wall", "", How::Nothing)];
/// Planted: without what tells hints apart.
const HINTS_ALIKE: &[Rule] = &[
    ("WakeId", "", How::Nothing),
    ("Nonce", "", How::Nothing),
    ("Token", "", How::Nothing),
    ("Flown", "wake", How::Nothing),
    ("Numbers", "minted", How::Nothing),
];

/// The rules of each part.
pub(super) struct Rules {
    pub(super) plane: Vec<Rule>,
    pub(super) daemon: Vec<Rule>,
    pub(super) station: Vec<Rule>,
}

impl Rules {
    /// With a planted fault, or without.
    pub(super) fn new(fault: Option<Fault>) -> Self {
        let planted = match fault {
            None => &[],
            Some(Fault::InstantsAlike) => INSTANTS_ALIKE,
            Some(Fault::HintsAlike) => HINTS_ALIKE,
        };
        let with = |rules: &[Rule]| planted.iter().chain(rules).copied().collect();
        Self { plane: with(PLANE), daemon: with(DAEMON), station: with(STATION) }
    }
}
