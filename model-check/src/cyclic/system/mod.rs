//! The whole chain in small and without end: a plane, a wake daemon and a hosted station, one alert, and perhaps a
//! plain message that comes while a turn runs.
//!
//! Each step commits at once. What a process wants done waits in its own queue; carrying out a call is one action: the
//! plane's step, its answer and the caller's step, with the ways in which it can go wrong beside it. Reading order:
//! `act` → `scope` → here (the state), `rules` (its form) → `steps` (what can be tried) → `calls`, `desk` (what comes of
//! it) → `laws`, `claims`. Rules: sections 4 to 8.

pub mod act;
mod calls;
mod claims;
mod desk;
mod laws;
mod rules;
pub mod scope;
pub mod seen;
mod steps;

use std::collections::VecDeque;

use awakener_kernel::config::Config;
use awakener_kernel::ids::{CommandId, Fence, MessageId};
use awakener_kernel::mailbox::{self, Mailbox};
use awakener_kernel::station::{self, Station};
use awakener_kernel::time::{Mono, Now, Wall};
use awakener_kernel::values::{Hint, TurnRef};
use awakener_kernel::waker::{self, Waker};

use super::canon::{Canon, NEVER};
use super::{Cyclic, Folded};
use crate::liveness::Leads;
use crate::mailbox::rows::Rows;
use crate::process::Process;
use crate::world::{self, Edge, Gap, Law, Scope};
use act::{Act, Who};
use scope::Powers;
use seen::Seen;

/// The cyclic system.
#[derive(Clone, Debug)]
pub struct World {
    /// What the adversary may do.
    pub powers: Powers,
    config: Config,
}

/// A concrete state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Concrete {
    plane: Process<Mailbox, Rows, ()>,
    daemon: Process<Waker, (), ()>,
    station: Process<Station, (), ()>,
    now: u64,
    wire: Wire,
    desk: Desk,
    /// Whether crashes and losses are over.
    calm: bool,
    seen: Seen,
}

/// What is between plane and daemon.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Wire {
    /// What the plane wants done.
    plane: VecDeque<mailbox::input::Effect>,
    /// What the daemon wants done.
    daemon: VecDeque<waker::Effect>,
    /// The hint that is under way; a newer one takes its place.
    hint: Option<Hint>,
    /// The attempt whose end the daemon's adapter waits for.
    watching: Option<u64>,
    /// The number of the last hint.
    wakes: u64,
}

/// What is at the station.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Desk {
    /// What the station wants done.
    jobs: VecDeque<station::Effect>,
    /// The turn that runs.
    turn: Option<(station::Ticket, TurnRef)>,
    /// Whether time passed since it began.
    aged: bool,
    /// The poll that stands: what it does not look for.
    poll: Option<Vec<MessageId>>,
    /// The lease that was taken last.
    lease: Option<Fence>,
    /// The process stopped on a latch.
    latched: bool,
    /// The number of the last turn's name.
    turns: u64,
}

/// Most effects that wait before a process is given anything but answers.
const ROOM: usize = 2;

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

    fn is_down(&self, who: Who) -> bool {
        match who {
            Who::Plane => self.plane.is_down(),
            Who::Daemon => self.daemon.is_down(),
            Who::Station => self.station.is_down(),
        }
    }

    /// Whether somebody waits to be fired.
    fn is_due(&self, config: &Config) -> bool {
        let now = self.now();
        self.plane.is_due(config, now) || self.daemon.is_due(config, now) || self.station.is_due(config, now)
    }

    /// The plane's status shows an alert as escalated. A crash between that record and the telling loses the telling,
    /// and nothing makes up for it: only the status is left.
    fn shown(&self) -> bool {
        self.plane.disk().image.witnesses.values().any(|witness| witness.escalated)
    }

    /// The alert is stored and not acknowledged.
    fn outstanding(&self) -> bool {
        self.plane.disk().rows.row(crate::names::message(0)).is_some() && !self.seen.acked
    }
}

impl world::World for World {
    type State = Folded<Concrete>;
    type Action = Act;

    const NAME: &'static str = "cyclic-system";
    const LAWS: &'static [Law<Self>] = laws::LAWS;
    const ABSTRACTIONS: &'static [&'static str] = &[
        "A state is the three machines as they are, folded by instants from now and by numbers in their order.",
        "Each step commits at once; a commit that fails is a crash before or after it.",
        "A call, its answer and what the caller makes of it are one action; calls and answers can be lost.",
        "Time moves by a millisecond, not before everything that is due was fired, and (but for `slow`) not while \
         something can be carried out: the network is faster than the clock.",
        "One hint is under way at a time; a newer one takes its place.",
        "Each process carries out one effect after the other; at most two wait before it is given anything but answers.",
        "Minted hints, and what was told of attempts, count only while something still names their wake.",
    ];
    const GAPS: &'static [Gap] = &[
        Gap { what: "commits that fail", covered_by: "the bounded worlds" },
        Gap { what: "clocks that step", covered_by: "the bounded worlds and kernel/tests" },
        Gap { what: "two daemons, two stations", covered_by: "the bounded world `system`" },
        Gap {
            what: "that the operator hears of an alert although the plane crashes between record and telling",
            covered_by: "nothing yet: the telling is lost, only the status shows the alert as escalated",
        },
        Gap { what: "operators: arm, disarm, clear, resolve, release", covered_by: "the bounded worlds" },
    ];

    fn scopes() -> Vec<Scope<Self>> {
        scope::all()
    }

    fn init(&self) -> Vec<Self::State> {
        let mut state = Concrete {
            plane: Process::default(),
            daemon: Process::default(),
            station: Process::default(),
            now: 0,
            wire: Wire::default(),
            desk: Desk::default(),
            calm: false,
            seen: Seen::default(),
        };
        for who in Who::ALL {
            if !(who == Who::Daemon && self.powers.no_daemon) {
                self.boot(&mut state, who);
            }
        }
        let grant = station::Input::Grant { until: Wall(NEVER), command: CommandId::from_u128(1) };
        self.tell_station(&mut state, grant);
        if !self.powers.message {
            // Only the scope with the message begins before the alert.
            self.submit(&mut state, 0);
        }
        vec![self.fold(state)]
    }

    fn steps(&self, state: &Self::State, edges: &mut Vec<Edge<Self>>) {
        steps::all(self, state, edges);
    }

    fn same(one: &Folded<Concrete>, other: &Folded<Concrete>) -> bool {
        one.same(other)
    }

    fn parties(action: &Act) -> (&'static str, &'static str) {
        act::parties(action)
    }
}

impl Cyclic for World {
    type Concrete = Concrete;

    fn form(&self, state: &Concrete) -> String {
        let rules::Rules { plane: plane_rules, daemon: daemon_rules, station: desk_rules } =
            rules::Rules::new(self.powers.fault);
        let mut canon = Canon::new(state.now);
        match state.plane.live() {
            Some(machine) => canon.part(&plane_rules, machine),
            None => canon.part(&plane_rules, &state.plane.disk().image),
        }
        match state.daemon.live() {
            Some(machine) => canon.part(&daemon_rules, machine),
            None => canon.part(&daemon_rules, &state.daemon.disk().image),
        }
        match state.station.live() {
            Some(machine) => canon.part(&desk_rules, machine),
            None => canon.part(&desk_rules, &state.station.disk().image),
        }
        let Wire { plane, daemon, hint, watching, wakes } = &state.wire;
        canon.part(&plane_rules, plane);
        // A hint whose time is over is refused as `stale` from here on, whatever else it says.
        canon.part(&daemon_rules, &hint.map(|hint| (hint.expires.0 > state.now).then_some(hint)));
        canon.part(&daemon_rules, daemon);
        canon.part(&desk_rules, &state.desk);
        canon.part(&daemon_rules, &rules::Numbers { attempt: *watching, minted: *wakes });
        canon.part(&daemon_rules, &(&state.seen, state.calm));
        let rows = &state.plane.disk().rows;
        canon.part(&plane_rules, &rows.messages);
        for (wake, mint) in &rows.mints {
            if canon.mentions(&format!("{wake:?}")) {
                canon.part(&plane_rules, &(wake, mint));
            }
        }
        for told in &rows.told {
            if canon.mentions(&format!("{:?}", told.0)) {
                canon.part(&daemon_rules, told);
            }
        }
        canon.finish()
    }

    fn properties(&self) -> &'static [Leads<Self>] {
        claims::of(&self.powers)
    }
}
