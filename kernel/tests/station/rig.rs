//! A station with a disk in memory. Every step goes through a transaction and is checked against the laws.

use awakener_kernel::config::Config;
use awakener_kernel::fuse;
use awakener_kernel::ids::{CommandId, ContentHash, Fence, MessageId, Seq, Tier, TurnId, WakeId};
use awakener_kernel::machine::{Image as _, Machine as _, Outcome};
use awakener_kernel::open::{CommitError, Entry, Open, Store, Txn, TxnId, Write};
use awakener_kernel::station::*;
use awakener_kernel::time::{Millis, Mono, Now, Wall};
use awakener_kernel::values::{AckOutcome, Response};
use awakener_spec::Reason;

/// The durable side: what was committed, and what is staged.
#[derive(Clone, Debug, Default)]
pub struct Disk {
    pub image: Image,
    staged: Vec<Record>,
    txns: u64,
}

impl Store for Disk {
    type Error = ();

    fn begin(&mut self) -> Result<TxnId, ()> {
        self.staged.clear();
        self.txns += 1;
        Ok(TxnId(self.txns))
    }

    fn commit(&mut self, _txn: TxnId) -> Result<(), CommitError<()>> {
        for record in self.staged.drain(..) {
            self.image.apply(&record);
        }
        Ok(())
    }
}

impl Write<Station> for Disk {
    fn write(&mut self, entry: Entry<'_, Station>) -> Result<(), ()> {
        self.staged.extend(entry.records.iter().cloned());
        Ok(())
    }
}

/// What one step showed.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    pub outcome: Outcome<Event, Reason>,
    pub effects: Vec<Effect>,
}

#[derive(Clone, Debug)]
pub struct Rig {
    pub station: Station,
    pub disk: Disk,
    pub config: Config,
    pub now: Now,
}

pub const START: Now = Now { wall: Wall(1_700_000_000_000), mono: Mono(1_000) };

impl Rig {
    /// A station that was never armed.
    pub fn new() -> Self {
        Self::with(Config::default())
    }

    pub fn with(config: Config) -> Self {
        Self::boot(config, START, Disk::default()).expect("an empty image boots")
    }

    pub fn boot(config: Config, now: Now, mut disk: Disk) -> Option<Self> {
        let txn = Txn::begin(&mut disk).ok()?;
        let image = disk.image.clone();
        let open = Open::recover(&mut disk, &txn, &config, now, image).ok()?;
        let released = open.close(&txn.commit(&mut disk).ok()?).ok()?;
        assert!(released.effects.is_empty(), "a recovery has no effects");
        assert_eq!(*released.machine.image(), disk.image);
        Some(Self { station: released.machine, disk, config, now })
    }

    /// Down and up again, with another monotonic clock.
    pub fn crash(&mut self) {
        let now = Now { wall: self.now.wall, mono: Mono(7) };
        *self = Self::boot(self.config.clone(), now, self.disk.clone()).expect("what ran also boots");
    }

    pub fn step(&mut self, input: Input) -> Seen {
        let before = self.station.clone();
        let txn = Txn::begin(&mut self.disk).expect("this disk begins");
        let open = Open::new(before.clone(), &txn)
            .step(&mut self.disk, &self.config, self.now, input.clone(), ())
            .expect("this disk writes");
        let committed = txn.commit(&mut self.disk).expect("this disk commits");
        let mut released = open.close(&committed).expect("the same transaction");
        self.station = released.machine;
        let seen = Seen { outcome: released.outcomes.remove(0), effects: released.effects };
        assert_eq!(*self.station.image(), self.disk.image, "image = fold of records, after {input:?}");
        assert_eq!(self.station.check(&self.config), Ok(()), "after {input:?}");
        if !seen.outcome.is_advanced() {
            assert_eq!((&before, &Vec::new()), (&self.station, &seen.effects), "a stutter, at {input:?}");
        }
        seen
    }

    /// Takes a step that must advance.
    pub fn go(&mut self, input: Input) -> Vec<Effect> {
        let name = self.name();
        let seen = self.step(input.clone());
        assert!(seen.outcome.is_advanced(), "{name:?} × {input:?} → {:?}", seen.outcome);
        seen.effects
    }

    /// The same, with what it wrote down.
    pub fn recorded(&mut self, input: Input) -> (Vec<Effect>, Vec<Record>) {
        let step = self.station.clone().step(&self.config, self.now, input.clone(), ());
        (self.go(input), step.records().to_vec())
    }

    pub fn name(&self) -> PhaseName {
        self.station.phase().name()
    }

    pub fn ticket(&self) -> Ticket {
        self.station.ticket().expect("the phase waits for something")
    }

    /// The ticket that a completion would carry: the awaited one, else the last that was issued.
    pub fn any_ticket(&self) -> Ticket {
        self.station.ticket().unwrap_or_else(|| self.station.last_ticket())
    }

    pub fn wait(&mut self, time: Millis) {
        self.now = Now { wall: self.now.wall + time, mono: self.now.mono + time };
    }

    pub fn deadline(&self) -> Option<Mono> {
        self.station.deadline(&self.config)
    }

    /// Waits for the next deadline and fires.
    pub fn fire(&mut self) -> Vec<Effect> {
        let at = self.deadline().expect("something is due some time");
        self.wait(at.saturating_since(self.now.mono));
        self.go(Input::Fire)
    }

    pub fn arm(mut self) -> Self {
        self.go(Input::Grant { until: self.now.wall + HOUR, command: command(1) });
        self
    }

    pub fn reading(mut self) -> Self {
        self.go(Input::WorkFound);
        self
    }

    pub fn claim(&mut self, work: Work) -> Vec<Effect> {
        self.go(Input::Claimed { ticket: self.ticket(), turn: turn(1), lane: hosted(), work: Some(work) })
    }

    pub fn cognizing(self) -> Self {
        let mut rig = self.reading();
        rig.claim(work(1));
        rig
    }

    pub fn finish(&mut self, run: Run) -> Vec<Effect> {
        let (evidence, answer) = (Evidence::Ran(run), Some(reply()));
        self.go(Input::TurnFinished { ticket: self.ticket(), evidence, answer })
    }

    pub fn acking(self) -> Self {
        let mut rig = self.cognizing();
        rig.finish(well());
        rig
    }

    pub fn synced(self) -> Self {
        let mut rig = self.acking();
        rig.go(Input::ResultRecorded { ticket: rig.ticket() });
        rig.go(Input::AckAccepted { ticket: rig.ticket() });
        rig
    }

    pub fn cleaned(&mut self) {
        let ticket = self.station.cleaning().expect("a cleanup is owed");
        self.go(Input::CleanupDone { ticket, cursor: CursorAfter::Moved });
    }

    /// The fuse trips; the audit record is being appended.
    pub fn tripped(self) -> Self {
        let mut rig = self.reading();
        rig.claim(tripping());
        rig
    }

    pub fn audit(&mut self, result: Result<ContentHash, Reason>) -> Vec<Effect> {
        self.go(Input::TripAuditDone { ticket: self.ticket(), result })
    }

    /// Tripped, audited, written, stopped.
    pub fn latched(self) -> Self {
        let mut rig = self.tripped();
        rig.audit(Ok(hash(9)));
        rig.go(Input::LatchWritten { ticket: rig.ticket(), ok: true });
        rig
    }
}

pub const HOUR: Millis = Millis::seconds(3_600);

pub fn message(n: u128) -> MessageId {
    MessageId::from_u128(n)
}
pub fn turn(n: u128) -> TurnId {
    TurnId::from_u128(n)
}
pub fn command(n: u128) -> CommandId {
    CommandId::from_u128(n)
}
pub fn wake(n: u128) -> WakeId {
    WakeId::from_u128(n)
}
pub fn hash(n: u8) -> ContentHash {
    ContentHash([n; 32])
}
pub fn seq(n: u64) -> Seq {
    Seq::new(n).expect("from 1")
}

/// An alert from outside.
pub fn work(n: u128) -> Work {
    let cause = cause(n);
    let (content, fence) = (hash(1), Fence(1));
    Work { seq: seq(10), tier: Tier::Zero, content, fence, released: 0, prior: None, cause }
}

/// A message of a lower tier.
pub fn mail(n: u128) -> Work {
    Work { tier: Tier::Two, ..work(n) }
}

/// What the fuse sees of a message from outside.
pub fn cause(n: u128) -> fuse::Work {
    let normal = hash(u8::try_from(n % 251).expect("small"));
    fuse::Work { message: message(n), normal, depth: 0, descends_from_own: false, ancestry: Vec::new() }
}

/// Work on which the fuse trips whatever was counted.
pub fn tripping() -> Work {
    let cause = fuse::Work { depth: 1_000, descends_from_own: true, ..cause(1) };
    Work { cause, ..work(1) }
}

pub fn hosted() -> Lane {
    let mapped = Some(Mapped { window: 200_000, budget: 50_000 });
    Lane::Hosted { directive: hash(2), model: Model("m".into()), mapped }
}

pub fn reply() -> Answer {
    Answer { response: Response::Reply(hash(3)), outcome: AckOutcome::Handled }
}

/// The one evidence of a complete turn.
pub fn well() -> Run {
    Run {
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
        tokens: Tokens { input: Some(100), output: Some(50), output_limit: Some(4_096) },
    }
}
