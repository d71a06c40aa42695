//! A waker on a disk: the smallest driver that keeps the laws, so that tests reach the machine as the shell does.

use awakener_kernel::config::Config;
use awakener_kernel::ids::{Fence, MessageId, Nonce, Token, WakeId};
use awakener_kernel::machine::{Image as _, Machine, Outcome, OutcomeOf};
use awakener_kernel::open::{CommitError, Entry, Open, Store, Txn, TxnId, Write};
use awakener_kernel::time::{Millis, Mono, Now, Wall};
use awakener_kernel::values::{Answer, Hint, Permit};
use awakener_kernel::waker::{Effect, Event, Image, Input, Record, Ticket, Waker};
use awakener_spec::Class;
use serde::Serialize;

/// How the next commit ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fortune {
    #[default]
    Durable,
    NotDurable,
    UnknownButWritten,
}

/// What is durable, as the fold of committed records and of nothing else.
#[derive(Clone, Debug, Default)]
pub struct Disk {
    pub image: Image,
    staged: Vec<Record>,
    transactions: u64,
    fortune: Fortune,
}

impl Disk {
    fn write_down(&mut self) {
        self.staged.drain(..).for_each(|record| self.image.apply(&record));
    }
}

impl Store for Disk {
    type Error = ();

    fn begin(&mut self) -> Result<TxnId, ()> {
        self.transactions += 1;
        self.staged.clear();
        Ok(TxnId(self.transactions))
    }

    fn commit(&mut self, _txn: TxnId) -> Result<(), CommitError<()>> {
        match std::mem::take(&mut self.fortune) {
            Fortune::Durable => {
                self.write_down();
                Ok(())
            }
            Fortune::NotDurable => Err(CommitError::NotDurable(())),
            Fortune::UnknownButWritten => {
                self.write_down();
                Err(CommitError::Unknown(()))
            }
        }
    }
}

impl Write<Waker> for Disk {
    fn write(&mut self, entry: Entry<'_, Waker>) -> Result<(), ()> {
        self.staged.extend_from_slice(entry.records);
        Ok(())
    }
}

/// One step, as the outside saw it after the commit.
#[derive(Clone, Debug)]
pub struct Seen {
    pub outcome: OutcomeOf<Waker>,
    pub records: Vec<Record>,
    pub effects: Vec<Effect>,
}

impl Seen {
    pub fn event(&self) -> Event {
        match self.outcome {
            Outcome::Advanced(event) => event,
            Outcome::Absorbed | Outcome::Refused(_) => panic!("expected an advance: {self:?}"),
        }
    }

    pub fn dispatch(&self) -> Option<(Ticket, u64)> {
        self.effects.iter().find_map(|effect| match effect {
            Effect::Dispatch { ticket, attempt, .. } => Some((*ticket, *attempt)),
            _ => None,
        })
    }

    pub fn asked(&self) -> Option<Ticket> {
        self.effects.iter().find_map(|effect| match effect {
            Effect::Ask { ticket, .. } => Some(*ticket),
            _ => None,
        })
    }

    pub fn swept(&self) -> Option<Ticket> {
        self.effects.iter().find_map(|effect| match effect {
            Effect::Sweep { ticket } => Some(*ticket),
            _ => None,
        })
    }

    pub fn probed(&self) -> Option<Ticket> {
        self.effects.iter().find_map(|effect| match effect {
            Effect::Probe { ticket, .. } => Some(*ticket),
            _ => None,
        })
    }
}

/// A waker, its disk and its clocks.
#[derive(Clone, Debug)]
pub struct Rig {
    pub config: Config,
    pub disk: Disk,
    pub waker: Waker,
    pub now: Now,
    minted: u64,
    fires: u32,
}

impl Rig {
    pub fn new(config: Config) -> Self {
        Self::on(config, Disk::default(), Now { wall: Wall(1_000), mono: Mono(10) })
    }

    fn on(config: Config, mut disk: Disk, now: Now) -> Self {
        let waker = wake(&config, &mut disk, now);
        Self { config, disk, waker, now, minted: 0, fires: 0 }
    }

    /// One step in one transaction. `None`: the commit failed, and the waker was recovered.
    pub fn try_give(&mut self, input: Input, fortune: Fortune) -> Option<Seen> {
        let txn = Txn::begin(&mut self.disk).unwrap();
        self.disk.fortune = fortune;
        let open = Open::new(self.waker.clone(), &txn);
        let open = open.step(&mut self.disk, &self.config, self.now, input, ()).unwrap();
        let records = self.disk.staged.clone();
        let Ok(committed) = txn.commit(&mut self.disk) else {
            self.recover();
            return None;
        };
        let mut released = open.close(&committed).unwrap();
        self.waker = released.machine;
        Some(Seen { outcome: released.outcomes.remove(0), records, effects: released.effects })
    }

    pub fn give(&mut self, input: Input) -> Seen {
        self.try_give(input, Fortune::Durable).unwrap()
    }

    /// Everything that is not on disk is gone; the same process goes on.
    pub fn recover(&mut self) {
        self.waker = wake(&self.config, &mut self.disk, self.now);
    }

    /// The process died and came back so much later by the wall, on another monotonic clock.
    pub fn crash(&mut self, later: u64, mono: u64) {
        self.now = Now { wall: self.now.wall + Millis(later), mono: Mono(mono) };
        self.recover();
    }

    pub fn wait(&mut self, ms: u64) {
        self.now = Now { wall: self.now.wall + Millis(ms), mono: self.now.mono + Millis(ms) };
    }

    pub fn due(&self) -> Option<Mono> {
        self.waker.deadline(&self.config)
    }

    /// Waits for the next deadline and fires it.
    pub fn fire(&mut self) -> Seen {
        self.fires += 1;
        assert!(self.fires < 1_000, "what is waited for never comes: {:?}", self.waker);
        let wait = self.due().unwrap().saturating_since(self.now.mono);
        self.wait(wait.0);
        self.give(Input::Fire)
    }

    /// Fires what is due now, all of it.
    pub fn settle(&mut self) -> Vec<Seen> {
        let mut seen = Vec::new();
        while self.due().is_some_and(|due| due <= self.now.mono) {
            seen.push(self.give(Input::Fire));
            assert!(seen.len() < 20, "a busy loop: {seen:?}");
        }
        seen
    }

    /// The next hint of the emitter, which lives this long.
    pub fn mint(&mut self, life: u64) -> Hint {
        self.minted += 1;
        hint(self.minted, self.now.wall, life)
    }

    /// A hint that the plane permits.
    pub fn granted(&mut self, hint: Hint) -> Seen {
        let ticket = self.give(Input::Hint(hint)).asked().expect("the plane is asked");
        self.grant(ticket)
    }

    pub fn grant(&mut self, ticket: Ticket) -> Seen {
        let fence = Fence(self.disk.image.attempts + 1);
        let permit = Permit { fence, life: self.config.permit };
        self.give(Input::Answer { ticket, answer: Answer::Granted(permit) })
    }

    pub fn withhold(&mut self, ticket: Ticket, class: Class) -> Seen {
        self.give(Input::Answer { ticket, answer: Answer::Withheld(class) })
    }
}

fn wake(config: &Config, disk: &mut Disk, now: Now) -> Waker {
    let txn = Txn::begin(disk).unwrap();
    let image = disk.image.clone();
    let open = Open::<Waker>::recover(disk, &txn, config, now, image).unwrap();
    let committed = txn.commit(disk).unwrap();
    let released = open.close(&committed).unwrap();
    assert!(released.effects.is_empty(), "a recovery has no effects");
    released.machine
}

pub fn hint(number: u64, wall: Wall, life: u64) -> Hint {
    let mut nonce = [0; 16];
    nonce[..8].copy_from_slice(&number.to_be_bytes());
    let chance = [0; 10];
    Hint {
        wake: WakeId::from_parts(number, chance),
        message: MessageId::from_parts(number, chance),
        nonce: Nonce(nonce),
        token: Token::from_u64(number).unwrap(),
        time: wall,
        expires: wall + Millis(life),
        key: awakener_kernel::ids::KeyId([7; 32]),
    }
}

/// Small numbers, so that every deadline is met in a short run.
pub fn tiny() -> Config {
    Config {
        hint_ttl: Millis(8),
        skew: Millis(1),
        nonce_history: 3,
        cooldown: Millis(5),
        flight_max: Millis(30),
        sweep: Millis(25),
        permit: Millis(6),
        back_off_base: Millis(4),
        back_off_max: Millis(20),
        ..Config::default()
    }
}

/// The name of a value that serialises as a name, or as a name with content.
pub fn name(value: &impl Serialize) -> String {
    match serde_json::to_value(value).unwrap() {
        serde_json::Value::String(name) => name,
        serde_json::Value::Object(map) => map.keys().next().unwrap().clone(),
        other => panic!("{other}"),
    }
}
