//! The names, ids and inputs that stories are made of.

use awakener_kernel::admission::Submitted;
use awakener_kernel::ids::{
    ContentHash, DaemonName, Fence, Holder, KeyId, MessageId, Nonce, Principal, SchemaRef, TurnId, WakeId,
};
use awakener_kernel::mailbox::input::{Event, Fresh, Input};
use awakener_kernel::time::{Millis, Wall};
use awakener_kernel::values::{Ack, AckOutcome, By, Finish, FlightEnd, FlightReport, Question, Response};
use awakener_kernel::{ids::Token, time::Mono};

/// When every story begins.
pub const DAWN: Wall = Wall(1_800_000_000_000);
/// The monotonic clock then; odd, so that nobody mistakes one clock for the other.
pub const MORNING: Mono = Mono(77);

pub fn msg(n: u8) -> MessageId {
    MessageId::from_parts(DAWN.0, [n; 10])
}

pub fn turn(n: u8) -> TurnId {
    TurnId::from_parts(DAWN.0, [n; 10])
}

pub fn wake(n: u32) -> WakeId {
    WakeId::from_u128(u128::from(n))
}

pub fn fresh(n: u32) -> Fresh {
    let mut nonce = [0; 16];
    nonce[..4].copy_from_slice(&n.to_be_bytes());
    Fresh { wake: wake(n), nonce: Nonce(nonce) }
}

pub fn mira() -> Principal {
    Principal::parse("mira").unwrap()
}

pub fn otto() -> Principal {
    Principal::parse("otto").unwrap()
}

/// The principal that acts for the target.
pub fn own() -> Principal {
    Principal::parse("own").unwrap()
}

pub fn ann() -> Holder {
    Holder::parse("ann").unwrap()
}

pub fn bob() -> Holder {
    Holder::parse("bob").unwrap()
}

pub fn east() -> DaemonName {
    DaemonName::parse("east").unwrap()
}

pub fn west() -> DaemonName {
    DaemonName::parse("west").unwrap()
}

pub fn content(n: u8) -> ContentHash {
    ContentHash([n; 32])
}

pub fn reply(n: u8) -> Response {
    Response::Reply(ContentHash([n; 32]))
}

pub fn key(by: By) -> KeyId {
    KeyId(
        [match by {
            By::Station => 1,
            By::Agent => 2,
            By::Human => 3,
        }; 32],
    )
}

pub fn submitted(principal: Principal, schema: &str, n: u8) -> Submitted {
    Submitted {
        id: msg(n),
        principal,
        content: content(n),
        schema: SchemaRef::parse(schema).unwrap(),
        fence: None,
    }
}

/// An alert of mira's.
pub fn alert(n: u8) -> Input {
    Input::Admit(submitted(mira(), "interrupt-alert/1", n))
}

/// A message of mira's.
pub fn mail(n: u8) -> Input {
    Input::Admit(submitted(mira(), "message/1", n))
}

pub fn claim(holder: Holder) -> Input {
    Input::Claim { holder, max: 50 }
}

pub fn read(fence: Fence, n: u8) -> Input {
    Input::Read { fence, message: msg(n) }
}

pub fn finish(fence: Fence, n: u8, t: u8, finish: Finish) -> Input {
    Input::FinishTurn { fence, message: msg(n), turn: turn(t), finish }
}

pub fn respond(fence: Fence, n: u8, t: u8, response: Response) -> Input {
    Input::Respond { fence, message: msg(n), turn: turn(t), response }
}

/// The right statement about alert `n`.
pub fn statement(n: u8, by: By, outcome: AckOutcome) -> Ack {
    Ack { message: msg(n), content: content(n), outcome, by, key: key(by), time: DAWN }
}

pub fn ack(n: u8, by: By, fence: Option<Fence>) -> Input {
    Input::Ack { ack: statement(n, by, AckOutcome::Handled), fence }
}

pub fn question(w: u32, n: u8, token: Token) -> Question {
    Question { wake: wake(w), message: msg(n), token }
}

pub const ENDED: FlightReport = FlightReport::Ended(FlightEnd::ProcessEnded);

pub fn seconds(n: u64) -> Millis {
    Millis::seconds(n)
}

/// What fired, without the telling of the operator.
pub fn emissions(fired: Vec<(Millis, Event)>) -> Vec<(Millis, Event)> {
    fired.into_iter().filter(|(_, event)| *event != Event::Escalated).collect()
}
