//! What can be said to the plane, as an input of its mailbox, and what the mailbox must know to judge it.
//!
//! The same words in every mouth: a daemon's or station's own call, its late copy, and a stranger's attempt. Not here:
//! who hears the answer ([`super::plane`]).

use awakener_kernel::admission::{AdmitFacts, RosterVerdict, Submitted};
use awakener_kernel::ids::{Fence, KeyId, Tier, Token, WakeId};
use awakener_kernel::mailbox::input::{Authority, Facts, Fresh, Input, Query};
use awakener_kernel::time::Wall;
use awakener_kernel::values::{
    Ack, AckOutcome, By, DispatchOutcome, Finish, FlightEnd, FlightReport, Question, Response,
};
use serde::{Deserialize, Serialize};

use super::act::Who;
use crate::mailbox::rows::Rows;
use crate::names;
use crate::plane::{WHOLE, facts};

/// The messages: an alert, plain mail, another alert.
pub const MESSAGES: [u8; 3] = [0, 1, 2];
/// A wake that nobody minted, signed with a stolen key.
pub const FORGED: u8 = 200;
/// The turn that the agent runs with its own hands.
pub const AGENTS_TURN: u8 = 99;

/// A report of a flight, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flown {
    /// It began.
    Attempted,
    /// What the adapter said.
    Outcome(DispatchOutcome),
    /// It is over.
    Ended(FlightEnd),
}

/// One call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Say {
    /// The emitter starts again.
    Start,
    /// A sender submits message `n`.
    Submit(u8),
    /// Somebody who is not on the roster submits an alert.
    Intrude,
    /// Somebody claims: the station is holder 0.
    Claim(u8),
    /// A lease is renewed.
    Renew(u64),
    /// It is given back.
    Release(u64),
    /// Message `n` is read under it.
    Read(u64, u8),
    /// A turn on message `n` ended under it.
    Finish(u64, u8, u8, Finish),
    /// A turn on message `n` says something under it.
    Respond(u64, u8, u8),
    /// A signed ACK of message `n`, with the lease that is presented (0 = none).
    Ack(u8, By, u64),
    /// The same with a key that is nobody's.
    Forge(u8, By, u64),
    /// An operator closes alert `n`.
    Resolve(u8),
    /// A daemon asks for a permit for a wake.
    Ask(Who, u8),
    /// It reports of the flight under a permit.
    Report(Who, u64, u8, Flown),
    /// It asks what is owed.
    Sweep(Who),
}

/// The tier of message `n`.
pub const fn tier(n: u8) -> Tier {
    if n == 1 { Tier::Two } else { Tier::Zero }
}

/// Whether message `n` opens a witness.
pub const fn is_alert(n: u8) -> bool {
    matches!(tier(n), Tier::Zero)
}

/// What a turn on message `n` has to say.
pub const fn response(n: u8) -> Response {
    match tier(n) {
        Tier::Zero => Response::Reply(names::content(n)),
        Tier::One | Tier::Two | Tier::Three => Response::Done,
    }
}

/// The number of a message.
pub const fn number(message: awakener_kernel::ids::MessageId) -> u8 {
    message.as_bytes()[15]
}

/// Chance number `n`.
pub const fn fresh(n: u8) -> Fresh {
    Fresh { wake: names::wake(n), nonce: names::nonce(n) }
}

const fn statement(n: u8, by: By) -> Ack {
    let outcome = match by {
        By::Station => AckOutcome::Handled,
        By::Agent | By::Human => AckOutcome::Declined,
    };
    let (message, content) = (names::message(n), names::content(n));
    Ack { message, content, outcome, by, key: names::key(), time: Wall(0) }
}

const fn presented(fence: u64) -> Option<Fence> {
    if fence == 0 { None } else { Some(Fence(fence)) }
}

impl From<Flown> for FlightReport {
    fn from(flown: Flown) -> Self {
        match flown {
            Flown::Attempted => Self::Attempted,
            Flown::Outcome(outcome) => Self::Outcome(outcome),
            Flown::Ended(end) => Self::Ended(end),
        }
    }
}

impl From<FlightReport> for Flown {
    fn from(report: FlightReport) -> Self {
        match report {
            FlightReport::Attempted => Self::Attempted,
            FlightReport::Outcome(outcome) => Self::Outcome(outcome),
            FlightReport::Ended(end) => Self::Ended(end),
        }
    }
}

impl Say {
    /// The input; `unused` is chance that was never seen.
    pub fn input(self, rows: &Rows, unused: u8) -> Input {
        match self {
            Self::Start => Input::Start { floor: 0 },
            Self::Submit(n) => Input::Admit(submitted(n, names::sender())),
            Self::Intrude => Input::Admit(submitted(9, names::sender())),
            Self::Claim(h) => Input::Claim { holder: names::holder(h), max: 50 },
            Self::Renew(fence) => Input::Renew { fence: Fence(fence) },
            Self::Release(fence) => Input::Release { fence: Fence(fence) },
            Self::Read(fence, n) => Input::Read { fence: Fence(fence), message: names::message(n) },
            Self::Finish(fence, n, turn, finish) => {
                let (message, turn) = (names::message(n), names::turn(turn));
                Input::FinishTurn { fence: Fence(fence), message, turn, finish }
            }
            Self::Respond(fence, n, turn) => {
                let (message, turn) = (names::message(n), names::turn(turn));
                Input::Respond { fence: Fence(fence), message, turn, response: response(n) }
            }
            Self::Ack(n, by, fence) => Input::Ack { ack: statement(n, by), fence: presented(fence) },
            Self::Forge(n, by, fence) => {
                let ack = Ack { key: KeyId([9; 32]), ..statement(n, by) };
                Input::Ack { ack, fence: presented(fence) }
            }
            Self::Resolve(n) => Input::Resolve { message: names::message(n) },
            Self::Ask(who, wake) => {
                Input::Ask { daemon: daemon(who), question: question(rows, names::wake(wake)) }
            }
            Self::Report(who, fence, wake, flown) => Input::Report {
                daemon: daemon(who),
                fence: Fence(fence),
                wake: names::wake(wake),
                report: flown.into(),
            },
            Self::Sweep(_) => Input::Sweep { fresh: fresh(unused) },
        }
    }

    /// What the rows say, with every authority in place but a stranger's, and none that an operator has withdrawn.
    pub fn facts(self, rows: &Rows, withdrawn: bool, query: Query) -> Facts {
        let authority = Authority { armed: !withdrawn, ..WHOLE };
        let facts = facts(rows, query, authority, |_| match self {
            Self::Submit(n) => tier(n),
            _ => Tier::Zero,
        });
        match (facts, self) {
            (Facts::Admit(facts), Self::Intrude) => {
                Facts::Admit(AdmitFacts { roster: RosterVerdict::NotListed, ..facts })
            }
            (facts, _) => facts,
        }
    }

    /// The lease under which it is said.
    pub const fn lease(self) -> Option<u64> {
        match self {
            Self::Renew(fence)
            | Self::Release(fence)
            | Self::Read(fence, _)
            | Self::Finish(fence, ..)
            | Self::Respond(fence, ..) => Some(fence),
            Self::Ack(_, _, fence) | Self::Forge(_, _, fence) if fence != 0 => Some(fence),
            Self::Ack(..)
            | Self::Forge(..)
            | Self::Start
            | Self::Submit(_)
            | Self::Intrude
            | Self::Claim(_)
            | Self::Resolve(_)
            | Self::Ask(..)
            | Self::Report(..)
            | Self::Sweep(_) => None,
        }
    }

    /// Who would say it.
    pub const fn speaker(&self) -> &'static str {
        match self {
            Self::Start => "plane",
            Self::Submit(_) => "sender",
            Self::Resolve(_) => "operator",
            Self::Intrude | Self::Forge(..) => "stranger",
            Self::Ask(Who::Second, _) | Self::Report(Who::Second, ..) | Self::Sweep(Who::Second) => {
                "second daemon"
            }
            Self::Ask(..) | Self::Report(..) | Self::Sweep(_) => "first daemon",
            Self::Ack(_, By::Agent | By::Human, _)
            | Self::Claim(1)
            | Self::Finish(_, _, AGENTS_TURN, _)
            | Self::Respond(_, _, AGENTS_TURN) => "agent",
            Self::Ack(..)
            | Self::Claim(_)
            | Self::Renew(_)
            | Self::Release(_)
            | Self::Read(..)
            | Self::Finish(..)
            | Self::Respond(..) => "station",
        }
    }
}

fn submitted(n: u8, principal: awakener_kernel::ids::Principal) -> Submitted {
    Submitted {
        id: names::message(n),
        principal,
        content: names::content(n),
        schema: names::schema(tier(n)),
        fence: None,
    }
}

fn daemon(who: Who) -> awakener_kernel::ids::DaemonName {
    names::daemon(u8::from(who == Who::Second))
}

/// What a daemon says of a wake is what its hint said; of one that was never minted it says what it likes.
fn question(rows: &Rows, wake: WakeId) -> Question {
    let made_up = (names::message(0), Token::new(1, 999).expect("models are small"));
    let (message, token) = rows.mints.get(&wake).map_or(made_up, |(_, message, token)| (*message, *token));
    Question { wake, message, token }
}
