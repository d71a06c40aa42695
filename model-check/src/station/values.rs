//! The values of the kernel that stand for the few messages, turns and ends of a station world.

use awakener_kernel::fuse;
use awakener_kernel::ids::{CommandId, ContentHash, Fence, MessageId, Seq, Tier, TurnId};
use awakener_kernel::station::{
    Answer, Claim, Evidence, Exit, Lane, LatchId, Mapped, Model, Output, Prior, Run, Stop, Tokens, Work,
};
use awakener_kernel::values::{AckOutcome, Response};

use super::act::{End, LaneKind};
use super::bounds::{Cause, Letter};
use crate::names;

/// The name of whatever was found at the latch path.
pub const FOUND: u8 = 200;
/// The turn of a result that an earlier store brought about.
pub const PRIOR_TURN: u8 = 100;
/// The turn of another station.
pub const OTHER_TURN: u8 = 101;

/// The number of a message.
pub const fn message_number(message: MessageId) -> u8 {
    message.as_bytes()[15]
}

/// The number of a turn.
pub const fn turn_number(turn: TurnId) -> u8 {
    turn.as_bytes()[15]
}

/// The number of a latch.
pub const fn latch_number(latch: LatchId) -> u8 {
    turn_number(latch.0)
}

/// Latch number `n`.
pub const fn latch(n: u8) -> LatchId {
    LatchId(names::turn(n))
}

/// The hash of the audit record that names latch number `n`.
pub const fn trip_hash(n: u8) -> ContentHash {
    ContentHash([n; 32])
}

/// Command number `n`.
pub const fn command(n: u8) -> CommandId {
    CommandId::from_u128(n as u128)
}

/// The place of message number `n`.
pub fn seq(n: u8) -> Seq {
    Seq::new(u64::from(n) + 1).expect("not zero")
}

/// Work on message number `n`.
pub fn work(letter: Letter, n: u8, fence: Fence, released: u32, prior: Option<Prior>) -> Work {
    let message = names::message(n);
    let (normal, depth, own) = match letter.cause {
        Cause::Outside => (names::content(n), 0, false),
        Cause::Own | Cause::Loop => (names::content(n), 1, true),
        Cause::Deep => (names::content(n), 2, true),
        Cause::Echo => (names::content(9), 1, true),
    };
    let ancestry = match letter.cause {
        Cause::Loop => vec![fuse::Ancestor { message: names::message(8), here: true, normal }],
        Cause::Outside | Cause::Own | Cause::Deep | Cause::Echo => Vec::new(),
    };
    let cause = fuse::Work { message, normal, depth, descends_from_own: own, ancestry };
    Work { seq: seq(n), tier: letter.tier, content: names::content(n), fence, released, prior, cause }
}

/// Who runs it.
pub fn lane(kind: LaneKind) -> Lane {
    let hosted = |mapped| Lane::Hosted { directive: ContentHash([2; 32]), model: Model("m".into()), mapped };
    match kind {
        LaneKind::Mapped => hosted(Some(Mapped { window: 2, budget: 1 })),
        LaneKind::Unmapped => hosted(None),
        LaneKind::Attached => Lane::Attached,
    }
}

/// What a turn on a message of this tier says.
pub const fn response(tier: Tier) -> Response {
    match tier {
        Tier::Zero | Tier::One => Response::Reply(ContentHash([3; 32])),
        Tier::Two | Tier::Three => Response::Done,
    }
}

/// What the runner shows of a turn that ended so, and what the turn has to say.
pub fn ended(end: End, tier: Tier) -> (Evidence, Option<Answer>) {
    let whole = Run {
        exit: Exit::Code(0),
        stopped: None,
        claim: Claim::Success,
        stop: Stop::EndOfTurn,
        output: Output::Whole,
        final_event: true,
        model_failed: false,
        tool_failed: false,
        denials: 0,
        turns: Some(1),
        tokens: Tokens::default(),
    };
    let answer = Some(Answer { response: response(tier), outcome: AckOutcome::Handled });
    match end {
        End::Whole => (Evidence::Ran(whole), answer),
        End::Mute => (Evidence::Ran(whole), None),
        End::Cut => (Evidence::Ran(Run { stop: Stop::Length, output: Output::Cut, ..whole }), answer),
        End::Clash => (Evidence::Ran(Run { exit: Exit::Code(1), ..whole }), answer),
        End::Unreported | End::Unseen => (Evidence::Unreported, None),
    }
}
