//! What the canonical form makes of the numbers of the three machines; the daemon's are as in every cyclic world.

use super::scope::{BACK_OFF, COOLDOWN, ESCALATE, FLIGHT_MAX, LEASE, PERMIT, RE_EMISSION, SKEW};
use crate::cyclic::canon::{How, Rule};
use crate::cyclic::rules::{self, EPOCH, Fault, Limits, OWN, PERMITS, WAKE, most, planted};

const LEASES: u8 = OWN;
const PLACE: u8 = OWN + 1;
const TURN: u8 = OWN + 2;

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

const LIMITS: Limits =
    Limits { cooldown: COOLDOWN, back_off: BACK_OFF, flight_max: FLIGHT_MAX, skew: SKEW, permit: PERMIT };

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

/// The rules of each part.
pub(super) struct Rules {
    pub(super) plane: Vec<Rule>,
    pub(super) daemon: Vec<Rule>,
    pub(super) station: Vec<Rule>,
}

impl Rules {
    /// With a planted fault, or without.
    pub(super) fn new(fault: Option<Fault>) -> Self {
        Self {
            plane: planted(fault, &[PLANE]),
            daemon: planted(fault, &[&rules::daemon(LIMITS)]),
            station: planted(fault, &[STATION]),
        }
    }
}
