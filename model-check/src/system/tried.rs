//! One step of one machine, tried once: what it came to, and the process with it.
//!
//! A system state is a product, so that each state of one process stands in many of them; what was tried is remembered
//! by a hash of process, time and input. The memory is a thread's own and forgets everything when it is full: it
//! decides nothing. Not here: who tries what.

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::rc::Rc;

use awakener_kernel::machine::{Machine, Outcome, OutcomeOf};
use awakener_kernel::mailbox::input::Refusal;
use awakener_kernel::mailbox::{self, Mailbox};
use awakener_kernel::station::{self, Station};
use awakener_kernel::time::Now;
use awakener_kernel::waker::{self, Waker};
use awakener_spec::{Class, Reason};
use serde::Serialize;

use crate::process::{Fate, Process, Rows};
use crate::world::{Label, Verdict, fingerprint};

/// How many steps are remembered.
const REMEMBERED: usize = 1 << 15;

/// What a step came to.
#[derive(Debug)]
pub struct Done<M: Machine, R, C> {
    /// How it ended.
    pub outcome: OutcomeOf<M>,
    /// The same as a label, without effects.
    pub label: Label,
    /// Whether it left a trace although it did not advance.
    pub left_trace: bool,
    /// The process with the step staged.
    pub staged: Process<M, R, C>,
    /// After its commit; only what advanced.
    pub committed: Option<Committed<M, R, C>>,
}

/// A step that is on disk.
#[derive(Debug)]
pub struct Committed<M: Machine, R, C> {
    /// The process.
    pub process: Process<M, R, C>,
    /// What it wants done.
    pub effects: Vec<M::Effect>,
    /// The label with them.
    pub label: Label,
}

type Memory = HashMap<u64, Rc<dyn Any>, foldhash::fast::FixedState>;

thread_local! {
    static MEMORY: RefCell<Memory> = RefCell::default();
}

/// Looks something up, or makes and remembers it. `key` must name everything that `make` depends on.
pub fn remembered<T: 'static>(key: &impl Hash, make: impl FnOnce() -> T) -> Rc<T> {
    let key = fingerprint(&(std::any::type_name::<T>(), key));
    if let Some(known) = MEMORY.with_borrow(|memory| memory.get(&key).cloned())
        && let Ok(known) = known.downcast::<T>()
    {
        return known;
    }
    let made = Rc::new(make());
    MEMORY.with_borrow_mut(|memory| {
        if memory.len() >= REMEMBERED {
            memory.clear();
        }
        memory.insert(key, made.clone());
    });
    made
}

/// Tries one input. `world` names the configuration.
pub fn tried<M, R, C>(
    (world, config): (u64, &M::Config),
    process: &Process<M, R, C>,
    now: Now,
    input: M::Input,
    facts: impl FnOnce(M::Query) -> M::Facts,
    call: C,
) -> Option<Rc<Done<M, R, C>>>
where
    M: Named + 'static,
    R: Rows<M> + 'static,
    C: Clone + Eq + Hash + Debug + 'static,
{
    let query = process.needs(&input)?;
    Some(remembered(&(world, process, now, &input, &call), || {
        let tried = process.tried(config, now, input.clone(), facts(query), |_| call.clone());
        let label = label::<M>(&tried.outcome);
        let committed = tried.outcome.is_advanced().then(|| commit(tried.after.clone(), &label)).flatten();
        Done { outcome: tried.outcome, label, left_trace: !tried.stutters, staged: tried.after, committed }
    }))
}

/// Commits what is staged; the label is the step's own.
fn commit<M, R, C>(mut process: Process<M, R, C>, label: &Label) -> Option<Committed<M, R, C>>
where
    M: Named,
    R: Rows<M>,
    C: Clone + Eq + Hash + Debug,
{
    let visible = process.commit(Fate::Durable)?;
    let effects: Vec<_> = visible.effects.iter().map(M::effect).collect();
    Some(Committed { process, effects: visible.effects, label: Label { effects, ..label.clone() } })
}

fn label<M: Named>(outcome: &OutcomeOf<M>) -> Label {
    match outcome {
        Outcome::Advanced(event) => Label::of(Verdict::Advanced, M::event(event)),
        Outcome::Absorbed => Label::of(Verdict::Absorbed, "absorbed"),
        Outcome::Refused(refusal) => Label::of(Verdict::Refused, M::refusal(*refusal)),
    }
}

/// A machine whose words have names.
pub trait Named: Machine {
    /// Of an event.
    fn event(event: &Self::Event) -> &'static str;
    /// Of a refusal.
    fn refusal(refusal: Self::Refusal) -> &'static str;
    /// Of an effect.
    fn effect(effect: &Self::Effect) -> &'static str;
}

/// The name of an enum's variant.
pub fn variant(value: &impl Serialize) -> &'static str {
    serde_variant::to_variant_name(value).expect("an enum has names")
}

impl Named for Mailbox {
    fn event(event: &mailbox::input::Event) -> &'static str {
        variant(event)
    }
    fn refusal(refusal: Refusal) -> &'static str {
        match refusal {
            Refusal::Because(reason) => reason.text(),
            Refusal::Withheld(class) => class.text(),
        }
    }
    fn effect(effect: &mailbox::input::Effect) -> &'static str {
        variant(effect)
    }
}

impl Named for Waker {
    fn event(event: &waker::Event) -> &'static str {
        variant(event)
    }
    fn refusal(class: Class) -> &'static str {
        class.text()
    }
    fn effect(effect: &waker::Effect) -> &'static str {
        variant(effect)
    }
}

impl Named for Station {
    fn event(event: &station::Event) -> &'static str {
        variant(event)
    }
    fn refusal(reason: Reason) -> &'static str {
        reason.text()
    }
    fn effect(effect: &station::Effect) -> &'static str {
        variant(effect)
    }
}
