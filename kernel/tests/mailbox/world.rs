//! One mailbox with everything around it: a disk, clocks, a registry that answers for roster, keys and arming, and a
//! history of what the outside saw. It drives the machine as a driver must: facts are read inside the transaction,
//! nothing is used before the commit.

use std::collections::{BTreeMap, BTreeSet};

use awakener_kernel::admission::{AdmitFacts, Prior, RosterVerdict, Submitted};
use awakener_kernel::config::Config;
use awakener_kernel::ids::{DaemonName, Fence, Holder, KeyId, MessageId, Principal, Seq, Tier};
use awakener_kernel::machine::{Machine as _, Outcome, OutcomeOf};
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::mailbox::image::Image;
use awakener_kernel::mailbox::input::{
    AckFacts, AckKey, Authority, Candidate, Effect, Event, Facts, Input, Mint, Minted, Query, Refusal,
};
use awakener_kernel::open::{Open, Txn};
use awakener_kernel::time::{Millis, Now};
use awakener_kernel::values::{By, Finish, FlightReport, Permit, Response};
use awakener_spec::Reason;

use crate::cast::{DAWN, MORNING, ack, alert, claim, finish, fresh, key, own, read, respond};
use crate::store::{Disk, Fate, Memory, Written};

/// What the plane knows beside the mailbox.
#[derive(Clone, Debug)]
pub struct Registry {
    pub roster: RosterVerdict,
    /// Senders that the roster lists no more.
    pub withdrawn: BTreeSet<Principal>,
    pub armed: bool,
    pub open: bool,
    pub can_ack: bool,
    pub keys: BTreeMap<KeyId, (By, AckKey)>,
    /// Whether the signature of the next ACK is not its key's.
    pub forged: bool,
    /// Whether the next ACK names another target.
    pub foreign: bool,
    pub repeats: u32,
    pub overloaded: bool,
}

impl Default for Registry {
    fn default() -> Self {
        let keys = [By::Station, By::Agent, By::Human].map(|by| (key(by), (by, AckKey::Valid)));
        Self {
            roster: RosterVerdict::Listed,
            withdrawn: BTreeSet::new(),
            armed: true,
            open: true,
            can_ack: true,
            keys: keys.into(),
            forged: false,
            foreign: false,
            repeats: 0,
            overloaded: false,
        }
    }
}

/// What the outside saw.
#[derive(Clone, Debug)]
pub enum Seen {
    /// A transaction that was committed.
    Commit { before: Mailbox, steps: Vec<Written>, effects: Vec<Effect>, after: Mailbox, disk: Image },
    /// A transaction that was not, as far as anybody heard.
    Lost,
    /// A machine came up from its image.
    Boot { now: Now, disk: Image, after: Mailbox },
}

#[derive(Debug)]
pub struct World {
    pub config: Config,
    pub now: Now,
    pub registry: Registry,
    pub store: Memory,
    pub history: Vec<Seen>,
    machine: Option<Mailbox>,
    fresh: u32,
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

    fn boot(&mut self) {
        let txn = Txn::begin(&mut self.store).unwrap();
        let disk = self.store.durable.image.clone();
        let open = Open::<Mailbox>::recover(&mut self.store, &txn, &self.config, self.now, disk.clone())
            .expect("an image that boots");
        let committed = txn.commit(&mut self.store).expect("a disk that works");
        let released = open.close(&committed).expect("its own commit");
        assert_eq!((released.outcomes, released.effects), (vec![], vec![]), "recovery shows nothing");
        self.history.push(Seen::Boot { now: self.now, disk, after: released.machine.clone() });
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
        let before = self.machine.take().expect("a machine that is up");
        let txn = Txn::begin(&mut self.store).unwrap();
        let mut open = Open::new(before.clone(), &txn);
        for (input, facts) in inputs {
            let facts = facts.unwrap_or_else(|| self.answer(&open, &input));
            match open.step(&mut self.store, &self.config, self.now, input, facts) {
                Ok(next) => open = next,
                Err(_) => return self.lost(),
            }
        }
        let Ok(committed) = txn.commit(&mut self.store) else { return self.lost() };
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

    fn lost(&mut self) -> Option<Vec<Told>> {
        self.store.staged = None;
        self.store.fate = Fate::Durable;
        self.history.push(Seen::Lost);
        self.boot();
        None
    }

    // Facts.

    /// The right facts for an input, to be spoilt.
    pub fn facts(&mut self, input: &Input) -> Facts {
        let txn = Txn::begin(&mut self.store).unwrap();
        let facts = self.answer(&Open::new(self.machine().clone(), &txn), input);
        self.store.staged = None;
        facts
    }

    fn answer(&self, open: &Open<Mailbox>, input: &Input) -> Facts {
        let disk = self.store.view();
        match open.needs(input) {
            Query::None => Facts::None,
            Query::Admit { .. } => match input {
                Input::Admit(submitted) => Facts::Admit(self.of_submission(disk, open, submitted)),
                other => panic!("{other:?} is no submission"),
            },
            Query::Candidates { max } => Facts::Candidates(candidates(disk, max)),
            Query::Row(message) => Facts::Row(disk.row(message)),
            Query::Authority(message) => Facts::Authority(self.authority(disk, message)),
            Query::Authorities(messages) => {
                Facts::Authorities(messages.into_iter().map(|m| (m, self.authority(disk, m))).collect())
            }
            Query::Mint(wake) => Facts::Mint(disk.mints.get(&wake).map(|mint| Mint {
                seq: mint.seq,
                message: mint.message,
                token: mint.token,
                authority: self.authority(disk, mint.message),
            })),
            Query::Ack(ack) => Facts::Ack(AckFacts {
                key: match self.registry.keys.get(&ack.key) {
                    Some((by, state)) if *by == ack.by => *state,
                    Some(_) | None => AckKey::Wrong,
                },
                signature_valid: !self.registry.forged,
                this_target: !self.registry.foreign,
                row: disk.row(ack.message),
            }),
        }
    }

    fn of_submission(&self, disk: &Disk, open: &Open<Mailbox>, submitted: &Submitted) -> AdmitFacts {
        let prior = disk
            .rows
            .iter()
            .find(|(_, row)| (&row.principal, row.id) == (&submitted.principal, submitted.id))
            .map(|(seq, row)| Prior { content: row.content, seq: *seq });
        let acts_for_target = submitted.principal == own();
        let cause = if acts_for_target { open.cause(self.now, submitted.fence) } else { Ok(None) };
        AdmitFacts {
            prior,
            tier: tier(submitted.schema.name()),
            acts_for_target,
            can_ack: self.registry.can_ack,
            roster: self.roster(&submitted.principal),
            tier0_open: self.registry.open,
            lost_lease: cause.is_err(),
            cause: cause.unwrap_or_default(),
            repeats: self.registry.repeats,
            overloaded: self.registry.overloaded,
        }
    }

    fn roster(&self, principal: &Principal) -> RosterVerdict {
        if self.registry.withdrawn.contains(principal) {
            return RosterVerdict::NotListed;
        }
        self.registry.roster
    }

    fn authority(&self, disk: &Disk, message: MessageId) -> Authority {
        let (_, row) = disk.row(message).expect("an alert that is stored");
        Authority {
            rostered: self.roster(&row.principal) == RosterVerdict::Listed,
            armed: self.registry.armed,
            open: self.registry.open,
        }
    }

    // What stories do all the time.

    pub fn fire(&mut self) -> Told {
        let fresh = self.entropy();
        self.give(Input::Fire { fresh })
    }

    pub fn sweep(&mut self) -> Told {
        let fresh = self.entropy();
        self.give(Input::Sweep { fresh })
    }

    pub fn entropy(&mut self) -> awakener_kernel::mailbox::input::Fresh {
        self.fresh += 1;
        fresh(self.fresh)
    }

    /// The last hint's number, token and alert, as the effect or the sweep said them.
    pub fn swept(&mut self) -> Minted {
        match advanced(self.sweep()) {
            Event::Swept(minted) => minted,
            other => panic!("{other:?}"),
        }
    }

    /// An alert, and its first hint as it was published.
    pub fn alerted(&mut self, n: u8) -> Minted {
        advanced(self.give(alert(n)));
        advanced(self.fire());
        self.published().expect("a hint")
    }

    /// What the last commit published.
    pub fn published(&self) -> Option<Minted> {
        match self.history.last() {
            Some(Seen::Commit { effects, .. }) => effects.iter().find_map(|effect| match effect {
                Effect::Publish(minted) => Some(*minted),
                Effect::TellOperator(_) => None,
            }),
            Some(Seen::Lost | Seen::Boot { .. }) | None => None,
        }
    }

    /// What the last commit told the operator about.
    pub fn told(&self) -> Vec<MessageId> {
        match self.history.last() {
            Some(Seen::Commit { effects, .. }) => effects
                .iter()
                .filter_map(|effect| match effect {
                    Effect::TellOperator(message) => Some(*message),
                    Effect::Publish(_) => None,
                })
                .collect(),
            Some(Seen::Lost | Seen::Boot { .. }) | None => vec![],
        }
    }

    pub fn claimed(&mut self, holder: Holder) -> Fence {
        match advanced(self.give(claim(holder))) {
            Event::Leased { fence } => fence,
            other => panic!("{other:?}"),
        }
    }

    /// Claimed and read.
    pub fn reading(&mut self, holder: Holder, n: u8) -> Fence {
        let fence = self.claimed(holder);
        advanced(self.give(read(fence, n)));
        fence
    }

    /// Claimed, read, a complete turn, a response: everything that a station's ACK needs.
    pub fn worked(&mut self, holder: Holder, n: u8) -> Fence {
        let fence = self.reading(holder, n);
        advanced(self.give(finish(fence, n, n, Finish::Complete)));
        advanced(self.give(respond(fence, n, n, Response::Silence)));
        fence
    }

    pub fn acked(&mut self, n: u8, by: By, fence: Option<Fence>) {
        advanced(self.give(ack(n, by, fence)));
    }

    pub fn ask(&mut self, daemon: DaemonName, minted: Minted) -> Told {
        let Minted { message, fresh, token, .. } = minted;
        let question = awakener_kernel::values::Question { wake: fresh.wake, message, token };
        self.give(Input::Ask { daemon, question })
    }

    pub fn permitted(&mut self, daemon: DaemonName, minted: Minted) -> Permit {
        match advanced(self.ask(daemon, minted)) {
            Event::Permitted(permit) => permit,
            other => panic!("{other:?}"),
        }
    }

    /// A permit that became a flight.
    pub fn flying(&mut self, daemon: DaemonName, minted: Minted) -> Permit {
        let permit = self.permitted(daemon, minted);
        advanced(self.report(permit, minted, FlightReport::Attempted));
        permit
    }

    pub fn report(&mut self, permit: Permit, minted: Minted, report: FlightReport) -> Told {
        self.give(Input::Report { fence: permit.fence, wake: minted.fresh.wake, report })
    }

    pub fn attempts(&self, n: u64) -> u32 {
        self.image().progress.get(&seq(n)).map_or(0, |progress| progress.attempts)
    }

    pub fn cursor(&self) -> u64 {
        self.image().cursor.map_or(0, Seq::get)
    }

    /// The machine, for comparing before and after.
    pub fn snapshot(&self) -> (Mailbox, Disk) {
        (self.machine().clone(), self.disk().clone())
    }
}

pub fn seq(n: u64) -> Seq {
    Seq::new(n).unwrap()
}

pub fn tier(schema: &str) -> Tier {
    match schema {
        "interrupt-alert" => Tier::Zero,
        "directive" => Tier::One,
        "message" => Tier::Two,
        _ => Tier::Three,
    }
}

/// In the order of RTE-3.
fn candidates(disk: &Disk, max: u32) -> Vec<Candidate> {
    let mut all: Vec<Candidate> = disk
        .rows
        .iter()
        .filter(|(_, row)| row.finished.is_none() && !row.quarantined)
        .map(|(seq, row)| Candidate {
            seq: *seq,
            message: row.id,
            tier: row.tier,
            principal: row.principal.clone(),
            depth: row.depth,
        })
        .collect();
    all.sort_by_key(|candidate| (candidate.tier, candidate.seq));
    all.truncate(usize::try_from(max).unwrap());
    all
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
