//! One waker, its plane and its runtime, without end: it crashes, commits fail, completions are lost and come twice as
//! often as the adversary likes, and the plane mints for ever.
//!
//! Here: the state and its canonical form. What can be tried is in [`steps`], what becomes of effects in [`ports`], the
//! laws in [`laws`], what must follow in [`claims`]. Rules: VER-1…5, DSP-1…5, DSP-7, DSP-11, DSP-12.

pub mod act;
mod claims;
mod laws;
mod ports;
pub mod scope;
pub mod seen;
mod steps;

use std::collections::VecDeque;

use awakener_kernel::config::Config;
use awakener_kernel::ids::{Fence, MessageId, Nonce, Token, WakeId};
use awakener_kernel::time::{Mono, Now, Wall};
use awakener_kernel::values::Hint;
use awakener_kernel::waker::{Effect, Input, Waker};

use super::canon::{Canon, How, Rule};
use super::rules::{self, ATTEMPT, Limits, WAKE, planted};
use super::{Cyclic, Folded};
use crate::liveness::Leads;
use crate::names;
use crate::process::Process;
use crate::world::{self, Edge, Gap, Law, Scope};
use act::Act;
use scope::{BACK_OFF, COOLDOWN, FLIGHT_MAX, PERMIT, Powers, SKEW, TTL};
use seen::Seen;

/// A cyclic waker world.
#[derive(Clone, Debug)]
pub struct World {
    /// What the adversary may do.
    pub powers: Powers,
    config: Config,
}

/// A concrete state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Concrete {
    daemon: Process<Waker, (), ()>,
    now: u64,
    /// Effects that wait to be performed, each with whether a flight with a landed hint was over when it was released.
    out: VecDeque<(Effect, bool)>,
    /// The last completion, where the adversary may repeat it.
    last: Option<Input>,
    /// Hints that the adversary may present.
    hints: [Option<Hint>; 2],
    /// The number of the last hint that was minted.
    minted: u64,
    /// The last permit that was granted.
    granted: Fence,
    /// The attempt that really runs.
    running: Option<u64>,
    /// Whether crashes and failures are over.
    calm: bool,
    seen: Seen,
}

/// Most effects that wait.
const ROOM: usize = 2;

const LIMITS: Limits =
    Limits { cooldown: COOLDOWN, back_off: BACK_OFF, flight_max: FLIGHT_MAX, skew: SKEW, permit: PERMIT };

/// What the form makes of what only this world has.
const OWN: &[Rule] = &[
    ("", "running", How::Rank(ATTEMPT)),
    ("", "accepted", How::Rank(WAKE)),
    ("Seen", "decided", How::Since(COOLDOWN)),
];

impl World {
    /// A world with these powers of the adversary.
    pub fn new(powers: Powers) -> Self {
        Self { powers, config: scope::config(&powers) }
    }
}

impl Concrete {
    const fn now(&self) -> Now {
        Now { wall: Wall(self.now), mono: Mono(self.now) }
    }

    /// The plane mints a hint.
    fn mint(&mut self) -> Hint {
        self.minted += 1;
        let mut nonce = [0; 16];
        nonce[8..].copy_from_slice(&self.minted.to_be_bytes());
        Hint {
            wake: WakeId::from_u128(u128::from(self.minted)),
            message: MessageId::from_u128(0),
            nonce: Nonce(nonce),
            token: Token::from_u64((1 << 32) + self.minted).expect("models are small"),
            time: Wall(self.now),
            expires: Wall(self.now + TTL),
            key: names::key(),
        }
    }
}

impl world::World for World {
    type State = Folded<Concrete>;
    type Action = Act;

    const NAME: &'static str = "cyclic-waker";
    const LAWS: &'static [Law<Self>] = laws::LAWS;
    const ABSTRACTIONS: &'static [&'static str] = &[
        "A state is the machine as it is, folded by instants from now and by numbers in their order.",
        "One step is one transaction; its commit is durable, or its fate is unknown and it is written; one that is not written is a crash before it.",
        "Time moves by a millisecond, and not before everything that is due was fired.",
        "An effect waits as long as it likes; when it is performed its completion comes at once, or is lost.",
        "At most two effects wait; a driver with a full queue gives the machine no input but completions.",
        "A crash loses what waits; a failed commit does not.",
        "All hints are for one alert; plane and runtime answer what they like, as long as a permit is fresh and a flight is gone only if it can never start.",
        "The regular sweep never comes, so that it cannot be what saves a forgotten wake; but where sweeps fail or are lost.",
    ];
    const GAPS: &'static [Gap] = &[
        Gap { what: "clocks that step", covered_by: "kernel/tests/waker/restart.rs" },
        Gap { what: "pause, resume and reconnect", covered_by: "kernel/tests/waker/ops.rs" },
        Gap { what: "timers that fire late", covered_by: "the bounded world `waker`" },
    ];

    fn scopes() -> Vec<Scope<Self>> {
        scope::all()
    }

    fn init(&self) -> Vec<Self::State> {
        vec![self.fold(Concrete::default())]
    }

    fn steps(&self, state: &Self::State, edges: &mut Vec<Edge<Self>>) {
        steps::all(self, state, edges);
    }

    fn same(one: &Folded<Concrete>, other: &Folded<Concrete>) -> bool {
        one.same(other)
    }

    fn parties(action: &Act) -> (&'static str, &'static str) {
        match action {
            Act::Boot(_) | Act::Fire(_) | Act::Crash | Act::Calm | Act::Tick => ("daemon", "daemon"),
            Act::Again | Act::Lose(_) | Act::Present(..) | Act::Stray(_) => ("adversary", "daemon"),
            Act::Mint(_) => ("plane", "adversary"),
            Act::Answer(..) | Act::Sweep(..) => ("daemon", "plane"),
            Act::Adapter(..) | Act::Probe(..) => ("daemon", "runtime"),
            Act::End(_) | Act::EndUnheard => ("runtime", "daemon"),
        }
    }
}

impl Cyclic for World {
    type Concrete = Concrete;

    fn form(&self, state: &Concrete) -> String {
        let rules = planted(self.powers.fault, &[OWN, &rules::daemon(LIMITS)]);
        let mut canon = Canon::new(state.now);
        match state.daemon.live() {
            Some(machine) => canon.part(&rules, machine),
            None => canon.part(&rules, &state.daemon.disk().image),
        }
        // A hint whose time is over is refused as `stale` from here on, whatever else it says.
        let stale = |hint: &Hint| hint.expires.0 <= state.now;
        let hints =
            state.hints.each_ref().map(|hint| hint.as_ref().map(|hint| (!stale(hint)).then_some(hint)));
        canon.part(&rules, &hints);
        #[derive(Debug)]
        #[expect(dead_code, reason = "its text is read")]
        struct Rest<'a> {
            out: &'a VecDeque<(Effect, bool)>,
            last: Option<Input>,
            minted: u64,
            granted: Fence,
            running: Option<u64>,
            calm: bool,
            seen: &'a Seen,
        }
        let Concrete { out, last, minted, granted, running, calm, seen, .. } = state;
        let (last, minted, granted, running, calm) = (*last, *minted, *granted, *running, *calm);
        canon.part(&rules, &Rest { out, last, minted, granted, running, calm, seen });
        canon.finish()
    }

    fn properties(&self) -> &'static [Leads<Self>] {
        claims::CLAIMS
    }
}
