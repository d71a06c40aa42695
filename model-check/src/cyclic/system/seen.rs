//! What the outside saw of the cyclic system: last values and bits. A ghost: it looks at outcomes and performed effects.

use std::collections::BTreeSet;

use awakener_kernel::ids::Fence;

/// A law about one moment that was broken at that moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Broken {
    /// What was refused or absorbed on the way of a call left a trace.
    Trace,
    /// A machine refused to wake from an image that it had written.
    Boot,
    /// A wake or an attempt was dispatched twice.
    DispatchTwice,
    /// A permit was used twice.
    PermitTwice,
    /// A flight began while another was open.
    Together,
    /// Something was dispatched although nothing was outstanding or ever submitted.
    Unasked,
    /// A turn began on a message that had had a complete one.
    TurnTwice,
    /// A result was recorded twice.
    ReplyTwice,
    /// A stale lease moved something.
    StaleLease,
    /// The cursor reached an outstanding alert.
    Cursor,
}

/// What was dispatched last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flown {
    /// Its attempt.
    pub attempt: u64,
    /// The number of its wake.
    pub wake: u64,
    /// Its permit.
    pub permit: Fence,
}

/// What the outside saw.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Seen {
    /// By message: the sender heard that it is admitted.
    pub sent: [bool; 2],
    /// By message: it was read under a lease.
    pub read: [bool; 2],
    /// By message: a complete turn was seen.
    pub observed: [bool; 2],
    /// By message: its result is recorded.
    pub replied: [bool; 2],
    /// The alert is acknowledged.
    pub acked: bool,
    /// The operator was told about the alert or the station.
    pub told: bool,
    /// The plain message came while a turn ran.
    pub mid_run: bool,
    /// What was dispatched last.
    pub flown: Flown,
    /// What went wrong.
    pub broken: BTreeSet<Broken>,
}

impl Seen {
    /// Notes what is wrong.
    pub fn flag(&mut self, wrong: bool, what: Broken) {
        if wrong {
            self.broken.insert(what);
        }
    }
}
