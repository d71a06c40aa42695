//! How the stories begin.

use awakener_kernel::config::Config;
use awakener_kernel::machine::Outcome;
use awakener_kernel::values::{DispatchOutcome, FlightEnd};
use awakener_kernel::waker::{Capability, Event, Input, Next, Phase, Ticket};
use awakener_spec::Class;

use crate::rig::{Rig, Seen};

pub const SECOND: u64 = 1_000;
pub const MINUTE: u64 = 60 * SECOND;

/// A waker that may start its runtime, with its first sweep answered by "nothing".
pub fn ready() -> Rig {
    let mut rig = Rig::new(Config::default());
    rig.give(Input::Capability(Capability::Unattended));
    nothing_owed(&mut rig);
    rig
}

/// The sweep that is due finds nothing.
pub fn nothing_owed(rig: &mut Rig) {
    let seen = rig.settle();
    let ticket = seen.iter().find_map(Seen::swept).expect("a sweep");
    rig.give(Input::Swept { ticket, any: false });
    assert_eq!(rig.waker.phase(), Phase::Resting);
}

/// A waker whose first hint was accepted and dispatched; the adapter has not answered.
pub fn attempting() -> (Rig, Ticket) {
    let mut rig = ready();
    let hint = rig.mint(30 * SECOND);
    let seen = rig.granted(hint);
    assert_eq!(seen.event(), Event::Accepted { wake: hint.wake, next: Next::Dispatch { attempt: 1 } });
    let (ticket, _) = seen.dispatch().unwrap();
    (rig, ticket)
}

/// The same, and the runtime has the notice.
pub fn told() -> Rig {
    let (mut rig, ticket) = attempting();
    rig.give(Input::Dispatched { ticket, outcome: DispatchOutcome::NotifiedVerified });
    assert_eq!(rig.waker.phase(), Phase::Told);
    rig
}

pub fn ended(rig: &mut Rig, attempt: u64) {
    let seen = rig.give(Input::FlightEnded { attempt, end: FlightEnd::WorkFinished });
    assert_eq!(seen.event(), Event::FlightEnded { attempt, end: FlightEnd::WorkFinished });
}

pub fn refused(rig: &mut Rig, input: Input, class: Class) {
    assert_eq!(rig.give(input).outcome, Outcome::Refused(class));
}
