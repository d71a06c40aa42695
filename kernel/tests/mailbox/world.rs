//! One mailbox with everything around it: a disk, clocks, a registry that answers for roster, keys and arming, and a
//! history of what the outside saw. It drives the machine as a driver must: facts are read inside the transaction,
//! nothing is used before the commit.

use awakener_kernel::config::Config;
use awakener_kernel::ids::Seq;
use awakener_kernel::machine::Machine as _;
use awakener_kernel::machine::{Outcome, OutcomeOf};
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::mailbox::image::Image;
use awakener_kernel::mailbox::input::{Effect, Event, Facts, Input, Refusal};
use awakener_kernel::open::{Open, Txn};
use awakener_kernel::time::{Millis, Now, Wall};
use awakener_spec::Reason;

use crate::cast::{DAWN, MORNING};
use crate::registry::Registry;
use crate::store::{Disk, Fate, Memory, Written};

/// What the outside saw.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "a history is short, and read more often than kept")]
pub enum Seen {
    /// A transaction that was committed.
    Commit { before: Mailbox, steps: Vec<Written>, effects: Vec<Effect>, after: Mailbox, disk: Image },
    /// A transaction that was not, as far as anybody heard; with its steps if it is on disk all the same.
    Lost { kept: Vec<Written> },
    /// A machine came up from its image.
    Boot { disk: Image, after: Mailbox },
}

#[derive(Clone, Debug)]
pub struct World {
    pub config: Config,
    pub now: Now,
    pub registry: Registry,
    pub store: Memory,
    pub history: Vec<Seen>,
    pub machine: Option<Mailbox>,
    pub fresh: u32,
}

/// What a story needs to know of one input.
pub type Told = OutcomeOf<Mailbox>;

impl World {
    /// A target's first boot; the emitter has not started.
    pub fn asleep(config: Config) -> Self {
        let mut world = Self {
            config,
            now: Now { wall: DAWN, mono: MORNING },
            registry: Registry::default(),
            store: Memory::default(),
            history: Vec::new(),
            machine: None,
            fresh: 0,
        };
        world.boot();
        world
    }

    /// A target whose emitter has started.
    pub fn with(config: Config) -> Self {
        let mut world = Self::asleep(config);
        world.start();
        world
    }

    /// The same, with the limits that ship.
    pub fn new() -> Self {
        Self::with(Config::default())
    }

    pub fn machine(&self) -> &Mailbox {
        self.machine.as_ref().expect("a machine that is up")
    }

    pub fn image(&self) -> &Image {
        self.machine().image()
    }

    pub fn disk(&self) -> &Disk {
        &self.store.durable
    }

    pub fn start(&mut self) {
        advanced(self.give(Input::Start { floor: 0 }));
    }

    // Time.

    pub fn tick(&mut self, by: Millis) {
        self.now = Now { wall: self.now.wall + by, mono: self.now.mono + by };
    }

    /// Time passes, and every deadline on the way fires when it is due.
    pub fn pass(&mut self, by: Millis) -> Vec<(Millis, Event)> {
        let (from, until) = (self.now.mono, self.now.mono + by);
        let mut fired = Vec::new();
        while let Some(due) = self.machine().deadline(&self.config).filter(|due| *due <= until) {
            self.tick(due.saturating_since(self.now.mono));
            fired.push((self.now.mono.saturating_since(from), advanced(self.fire())));
        }
        self.tick(until.saturating_since(self.now.mono));
        fired
    }

    // Boots, crashes, commits.

    /// The process dies and comes up again on another monotonic clock.
    pub fn crash(&mut self) {
        self.machine = None;
        self.now.mono = self.now.mono + Millis(1_000_003);
        self.boot();
    }

    /// The same, and meanwhile somebody has set the wall clock.
    pub fn crash_to(&mut self, wall: Wall) {
        self.now.wall = wall;
        self.crash();
    }

    fn boot(&mut self) {
        let txn = Txn::begin(&mut self.store).unwrap();
        let disk = self.store.durable.image.clone();
        let open = Open::<Mailbox>::recover(&mut self.store, &txn, &self.config, self.now, disk.clone())
            .expect("an image that boots");
        let committed = txn.commit(&mut self.store).expect("a disk that works");
        let released = open.close(&committed).expect("its own commit");
        assert_eq!((released.outcomes, released.effects), (vec![], vec![]), "recovery shows nothing");
        self.history.push(Seen::Boot { disk, after: released.machine.clone() });
        self.machine = Some(released.machine);
    }

    pub fn give(&mut self, input: Input) -> Told {
        self.all(vec![(input, None)]).expect("a commit that works").remove(0)
    }

    /// Judges `input` on facts that may not be the right ones.
    pub fn give_with(&mut self, input: Input, facts: Facts) -> Told {
        self.all(vec![(input, Some(facts))]).expect("a commit that works").remove(0)
    }

    /// One input whose commit meets `fate`; the machine is recovered if that is not a success.
    pub fn give_to(&mut self, fate: Fate, input: Input) -> Option<Told> {
        self.store.fate = fate;
        self.all(vec![(input, None)]).map(|mut told| told.remove(0))
    }

    /// Several inputs in one transaction; `None` if it was lost, and then the machine has been recovered.
    pub fn all(&mut self, inputs: Vec<(Input, Option<Facts>)>) -> Option<Vec<Told>> {
        let (before, fate) = (self.machine.take().expect("a machine that is up"), self.store.fate);
        let txn = Txn::begin(&mut self.store).unwrap();
        let mut open = Open::new(before.clone(), &txn);
        for (input, facts) in inputs {
            let facts = facts.unwrap_or_else(|| self.answer(&open, &input));
            match open.step(&mut self.store, &self.config, self.now, input, facts) {
                Ok(next) => open = next,
                Err(_) => return self.lost(fate),
            }
        }
        let Ok(committed) = txn.commit(&mut self.store) else { return self.lost(fate) };
        let released = open.close(&committed).expect("its own commit");
        self.history.push(Seen::Commit {
            before,
            steps: std::mem::take(&mut self.store.written),
            effects: released.effects,
            after: released.machine.clone(),
            disk: self.store.durable.image.clone(),
        });
        self.machine = Some(released.machine);
        Some(released.outcomes)
    }

    fn lost(&mut self, fate: Fate) -> Option<Vec<Told>> {
        self.store.staged = None;
        self.store.fate = Fate::Durable;
        let written = std::mem::take(&mut self.store.written);
        self.history.push(Seen::Lost { kept: if fate == Fate::UnknownKept { written } else { vec![] } });
        self.boot();
        None
    }

    pub fn attempts(&self, n: u64) -> u32 {
        self.image().progress.get(&seq(n)).map_or(0, |progress| progress.attempts)
    }

    pub fn cursor(&self) -> u64 {
        self.image().cursor.map_or(0, Seq::get)
    }

    /// Every durable step in order, also those of which nobody heard.
    pub fn steps(&self) -> impl Iterator<Item = &Written> {
        self.history.iter().flat_map(|seen| match seen {
            Seen::Commit { steps, .. } | Seen::Lost { kept: steps } => steps.as_slice(),
            Seen::Boot { .. } => &[],
        })
    }

    /// The machine, for comparing before and after.
    pub fn snapshot(&self) -> (Mailbox, Disk) {
        (self.machine().clone(), self.disk().clone())
    }
}

pub fn seq(n: u64) -> Seq {
    Seq::new(n).unwrap()
}

#[track_caller]
pub fn advanced(told: Told) -> Event {
    match told {
        Outcome::Advanced(event) => event,
        Outcome::Absorbed | Outcome::Refused(_) => panic!("not advanced but {told:?}"),
    }
}

#[track_caller]
pub fn refused(told: Told) -> Reason {
    match told {
        Outcome::Refused(Refusal::Because(reason)) => reason,
        other => panic!("not refused but {other:?}"),
    }
}

#[track_caller]
pub fn withheld(told: Told) -> awakener_spec::Class {
    match told {
        Outcome::Refused(Refusal::Withheld(class)) => class,
        other => panic!("not withheld but {other:?}"),
    }
}

#[track_caller]
pub fn absorbed(told: Told) {
    assert_eq!(told, Outcome::Absorbed);
}
