//! What can happen in a mailbox world, and the input that each of it is to the machine.

use awakener_kernel::admission::Submitted;
use awakener_kernel::ids::{Fence, Tier};
use awakener_kernel::mailbox::input::{Fresh, Input, Minted};
use awakener_kernel::time::Wall;
use awakener_kernel::values::{Ack, AckOutcome, By, Finish, FlightEnd, FlightReport, Question, Response};

use crate::names;
use crate::process::Fate;

/// One action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Act {
    /// The process wakes and its emitter starts, in one transaction.
    Boot,
    /// The open transaction commits.
    Commit,
    /// It does not, or nobody knows.
    CommitFails(Fate),
    /// Everything that is not on disk is gone.
    Crash,
    /// A millisecond passes.
    Tick,
    /// The first effect is performed.
    Perform,
    /// A hint is lost on its way.
    LoseHint,
    /// The first answer is heard.
    Hear,
    /// The first answer is heard, and will be heard again.
    HearTwice,
    /// The first answer is lost.
    LoseAnswer,
    /// A call to the machine.
    Call(Call),
}

/// A call to the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Call {
    /// The emitter starts.
    Start,
    /// A deadline is due.
    Fire,
    /// A sender submits message `n`.
    Submit(u8),
    /// A holder wants work.
    Claim(u8),
    /// It is still at work.
    Renew(Fence),
    /// It gives the work back.
    Release(Fence),
    /// It reads.
    Read(Fence, u8),
    /// Its turn is complete.
    Finish(Fence, u8),
    /// It has a result.
    Respond(Fence, u8),
    /// A signed statement about message `n`.
    Ack(u8, By, Option<Fence>),
    /// A daemon asks about a hint.
    Ask(u8, Minted),
    /// It says that its flight began.
    Attempted(u8, Fence, Minted),
    /// It says that its flight is over.
    Ended(u8, Fence, Minted, FlightEnd),
    /// It asks what is owed.
    Sweep,
}

/// Whose first chance number is not used yet.
pub const fn fresh(number: u8) -> Fresh {
    Fresh { wake: names::wake(number), nonce: names::nonce(number) }
}

/// The statement that everybody signs about message `n`.
pub const fn statement(n: u8, by: By) -> Ack {
    let outcome = match by {
        By::Station => AckOutcome::Handled,
        By::Agent | By::Human => AckOutcome::Declined,
    };
    Ack {
        message: names::message(n),
        content: names::content(n),
        outcome,
        by,
        key: names::key(),
        time: Wall(0),
    }
}

impl Call {
    /// The input of this call; `number` is chance that was never seen.
    pub fn input(self, number: u8) -> Input {
        match self {
            Self::Start => Input::Start { floor: 0 },
            Self::Fire => Input::Fire { fresh: fresh(number) },
            Self::Submit(n) => Input::Admit(Submitted {
                id: names::message(n),
                principal: names::sender(),
                content: names::content(n),
                schema: names::schema(if n == 0 { Tier::Zero } else { Tier::Two }),
                fence: None,
            }),
            Self::Claim(h) => Input::Claim { holder: names::holder(h), max: 2 },
            Self::Renew(fence) => Input::Renew { fence },
            Self::Release(fence) => Input::Release { fence },
            Self::Read(fence, n) => Input::Read { fence, message: names::message(n) },
            Self::Finish(fence, n) => {
                let (message, turn) = (names::message(n), turn(fence));
                Input::FinishTurn { fence, message, turn, finish: Finish::Complete }
            }
            Self::Respond(fence, n) => {
                let (message, turn) = (names::message(n), turn(fence));
                let response = if n == 0 { Response::Silence } else { Response::Done };
                Input::Respond { fence, message, turn, response }
            }
            Self::Ack(n, by, fence) => Input::Ack { ack: statement(n, by), fence },
            Self::Ask(d, hint) => Input::Ask {
                daemon: names::daemon(d),
                question: Question { wake: hint.fresh.wake, message: hint.message, token: hint.token },
            },
            Self::Attempted(d, fence, hint) => report(d, fence, hint, FlightReport::Attempted),
            Self::Ended(d, fence, hint, end) => report(d, fence, hint, FlightReport::Ended(end)),
            Self::Sweep => Input::Sweep { fresh: fresh(number) },
        }
    }

    /// The fence of a lease that it presents.
    pub const fn fence(self) -> Option<Fence> {
        match self {
            Self::Renew(fence)
            | Self::Release(fence)
            | Self::Read(fence, _)
            | Self::Finish(fence, _)
            | Self::Respond(fence, _) => Some(fence),
            Self::Ack(_, _, fence) => fence,
            Self::Start
            | Self::Fire
            | Self::Submit(_)
            | Self::Claim(_)
            | Self::Ask(..)
            | Self::Attempted(..)
            | Self::Ended(..)
            | Self::Sweep => None,
        }
    }
}

/// A lease makes one turn per message.
fn turn(fence: Fence) -> awakener_kernel::ids::TurnId {
    names::turn(u8::try_from(fence.0).expect("models are small"))
}

fn report(d: u8, fence: Fence, hint: Minted, report: FlightReport) -> Input {
    Input::Report { daemon: names::daemon(d), fence, wake: hint.fresh.wake, report }
}
