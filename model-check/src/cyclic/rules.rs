//! What the canonical form makes of a wake daemon's numbers, in every cyclic world that has one; and what can be wrong
//! with a form, on purpose.
//!
//! A world puts its own rules before these ([`planted`]). Not here: how a rule is carried out ([`super::canon`]).

use super::canon::{How, Rule};

/// Sort: tickets of a daemon, by boot.
pub const TICKET: u8 = 0;
/// Sort: attempts.
pub const ATTEMPT: u8 = 1;
/// Sort: fences of permits.
pub const PERMITS: u8 = 2;
/// Sort: wakes, and what is counted with them.
pub const WAKE: u8 = 3;
/// Sort: epochs of the store, and the tokens of each.
pub const EPOCH: u8 = 4;
/// The first sort that is a world's own.
pub const OWN: u8 = 5;

/// How far back a daemon looks, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The pause between two starts.
    pub cooldown: u64,
    /// The longest pause after failures.
    pub back_off: u64,
    /// The longest flight.
    pub flight_max: u64,
    /// How far clocks may disagree.
    pub skew: u64,
    /// The life of a permit.
    pub permit: u64,
}

/// The greater one.
pub const fn most(a: u64, b: u64) -> u64 {
    if a > b { a } else { b }
}

/// The daemon's machine, its effects, and what the outside saw of them.
pub const fn daemon(limits: Limits) -> [Rule; 21] {
    let Limits { cooldown, back_off, flight_max, skew, permit } = limits;
    [
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
        ("", "minted", How::Rank(WAKE)),
        // The back-off grows no further from here on.
        ("Image", "failures", How::Cap(2)),
        // What was minted in the past is judged by its end.
        ("Hint", "time", How::Nothing),
        ("Image", "last_start", How::Since(most(cooldown, back_off))),
        ("Flight", "started", How::Since(flight_max)),
        ("Window", "expiry", How::Since(skew)),
        ("Seen", "expires", How::Since(skew)),
        ("Asked", "out", How::Since(permit)),
        ("Mono", "", How::Since(0)),
        ("Wall", "", How::Since(0)),
    ]
}

/// A planted fault of the canonical form; [`super::faithful`] must see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Instants are all alike.
    InstantsAlike,
    /// Hints are all alike.
    HintsAlike,
}

impl Fault {
    const fn rules(self) -> &'static [Rule] {
        match self {
            Self::InstantsAlike => &[("Mono", "", How::Nothing), ("Wall", "", How::Nothing)],
            Self::HintsAlike => &[
                ("WakeId", "", How::Nothing),
                ("Nonce", "", How::Nothing),
                ("Token", "", How::Nothing),
                ("Flown", "wake", How::Nothing),
                ("", "accepted", How::Nothing),
                ("", "minted", How::Nothing),
            ],
        }
    }
}

/// These rules, with a planted fault before them, or without.
pub fn planted(fault: Option<Fault>, parts: &[&[Rule]]) -> Vec<Rule> {
    let planted = fault.map_or(&[][..], Fault::rules);
    planted.iter().chain(parts.iter().copied().flatten()).copied().collect()
}
