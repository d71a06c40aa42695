//! What every adapter must do, whatever it speaks: one suite, a world after another, each rule judged on what was seen.
//!
//! A [`Runtime`] is the adapter with a runtime around it that a test can put into each world. A runtime says if it has no
//! such world; which ones it has not is part of what its test states, so that nothing is left out unsaid. Rules: CAP-3,
//! DSP-2 to DSP-7, DSP-12.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use awakener::wake::{Order, RuntimeAdapter};
use awakener_kernel::ids::{MessageId, Target, WakeId};
use awakener_kernel::values::{DispatchOutcome, FlightEnd};
use awakener_kernel::waker::Fate;

/// The longest that anything may take.
const LIMIT: Duration = Duration::from_secs(15);
/// How long is watched for what must not come.
const WHILE: Duration = Duration::from_millis(400);
/// The most bytes of an endless answer that may be taken, buffers of the system included.
const MOST: u64 = 16 << 20;

/// A state in which a runtime is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum World {
    /// Idle; takes a notice and is idle again.
    Ready,
    /// The same, but some time passes before a notice can be given.
    Late,
    /// At work, and shows it.
    Working,
    /// Looks idle, and refuses a notice because it is at work.
    Refusing,
    /// Not there.
    Down,
    /// Takes a notice and says nothing.
    Mute,
    /// Takes a notice and breaks off.
    Cut,
    /// Takes a notice and answers what nobody understands.
    Garbage,
    /// Takes a notice and answers without an end.
    Huge,
    /// Takes a notice and answers a byte now and then.
    Slow,
}

/// What is held against an adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Law {
    /// One attempt is one notice at most.
    OncePerAttempt,
    /// Nothing leaves after the time in which it may.
    NotAfterWithin,
    /// A runtime at work is `refused_busy` and gets nothing.
    BusyIsRefused,
    /// A runtime that is not there is `unavailable`.
    DownIsUnavailable,
    /// Once bytes have left, anything but a good answer is unknown.
    UnknownIsUnknown,
    /// No answer holds it up, and none fills its memory.
    Bounded,
    /// After a restart `gone` is said only when it is certain.
    GoneIsCertain,
    /// A flight ends when the runtime shows it, else never.
    WatchEnds,
    /// Nothing leaves but the template.
    OnlyTheTemplate,
    /// Where a person submits, a person was told.
    AttendedIsHuman,
    /// It can do what it declares and does nothing else.
    Honest,
}

/// An adapter and its runtime.
pub trait Runtime {
    /// A new adapter, as after a restart.
    fn adapter(&self) -> Arc<dyn RuntimeAdapter>;
    /// Puts the runtime into a world and forgets what it heard; `false` if it has no such world.
    async fn enter(&self, world: World) -> bool;
    /// The notices that reached it in this world, as they came.
    async fn heard(&self) -> Vec<String>;
    /// The one notice that this order allows.
    fn template(&self, order: &Order) -> String;
    /// How many bytes of an endless answer were taken.
    fn taken(&self) -> u64 {
        0
    }
}

/// What came of the suite.
#[derive(Debug, Default)]
pub struct Report {
    /// The laws that were broken, and how.
    pub broken: Vec<(Law, String)>,
    /// The worlds that the runtime does not have.
    pub absent: BTreeSet<World>,
}

impl Report {
    /// The laws that were broken.
    pub fn laws(&self) -> BTreeSet<Law> {
        self.broken.iter().map(|(law, _)| *law).collect()
    }

    fn hold(&mut self, law: Law, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.broken.push((law, what()));
        }
    }
}

pub fn order(attempt: u64, within: Duration, attended: bool) -> Order {
    Order {
        target: Target::parse("builder").unwrap(),
        attempt,
        wake: WakeId::from_parts(1_700_000_000_000, [attempt.to_le_bytes()[0]; 10]),
        message: MessageId::from_parts(1_700_000_000_000, [9; 10]),
        attended,
        within,
    }
}

/// One dispatch, seen from outside.
#[derive(Debug)]
struct Seen {
    world: World,
    order: Order,
    outcome: Option<DispatchOutcome>,
    heard: Vec<String>,
    taken: u64,
}

async fn see(runtime: &impl Runtime, world: World, order: Order) -> Option<Seen> {
    if !runtime.enter(world).await {
        return None;
    }
    let adapter = runtime.adapter();
    let outcome = tokio::time::timeout(LIMIT, adapter.dispatch(&order)).await.ok();
    if outcome.is_none_or(|outcome| outcome.certainly_nothing()) {
        // Something may still be on its way that should not.
        let end = Instant::now() + WHILE;
        while Instant::now() < end && runtime.heard().await.is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    Some(Seen { world, outcome, heard: runtime.heard().await, taken: runtime.taken(), order })
}

/// Runs the suite.
pub async fn judge(runtime: &impl Runtime) -> Report {
    let mut report = Report::default();
    let long = Duration::from_secs(30);
    let trials = [
        (World::Ready, long, false),
        (World::Ready, long, true),
        (World::Ready, Duration::ZERO, false),
        (World::Late, Duration::from_millis(100), false),
        (World::Working, long, false),
        (World::Refusing, long, false),
        (World::Down, long, false),
        (World::Mute, long, false),
        (World::Cut, long, false),
        (World::Garbage, long, false),
        (World::Huge, long, false),
        (World::Slow, long, false),
    ];
    let capabilities = runtime.adapter().capabilities();
    for (number, (world, within, attended)) in trials.into_iter().enumerate() {
        let order = order(number as u64 + 1, within, attended);
        match see(runtime, world, order).await {
            Some(seen) => judge_dispatch(runtime, &seen, capabilities.verifies, &mut report),
            None => {
                report.absent.insert(world);
            }
        }
    }
    judge_probe(runtime, capabilities.proves_gone, &mut report).await;
    judge_watch(runtime, capabilities.status, &mut report).await;
    report
}

fn judge_dispatch(runtime: &impl Runtime, seen: &Seen, verifies: bool, report: &mut Report) {
    use DispatchOutcome as Is;
    let said = || format!("{seen:?}");
    let silent = seen.heard.is_empty();
    report.hold(Law::Bounded, seen.outcome.is_some() && seen.taken <= MOST, said);
    report.hold(Law::OncePerAttempt, seen.heard.len() <= 1, said);
    let template = runtime.template(&seen.order);
    report.hold(Law::OnlyTheTemplate, seen.heard.iter().all(|heard| *heard == template), said);
    let Some(outcome) = seen.outcome else { return };
    report.hold(Law::Honest, verifies || outcome != Is::NotifiedVerified, said);
    let expired = seen.order.within < Duration::from_secs(1);
    match seen.world {
        World::Ready | World::Late if expired => {
            report.hold(Law::NotAfterWithin, silent && outcome.certainly_nothing(), said);
        }
        World::Ready | World::Late if seen.order.attended => {
            report.hold(Law::AttendedIsHuman, outcome == Is::NotifiedHuman && !silent, said);
        }
        World::Ready | World::Late => {
            report.hold(Law::AttendedIsHuman, outcome != Is::NotifiedHuman, said);
            let told = if verifies { outcome == Is::NotifiedVerified } else { !outcome.certainly_nothing() };
            report.hold(Law::Honest, told && !silent, said);
        }
        World::Working => report.hold(Law::BusyIsRefused, silent && outcome == Is::RefusedBusy, said),
        World::Refusing => report.hold(Law::BusyIsRefused, outcome == Is::RefusedBusy, said),
        World::Down => report.hold(Law::DownIsUnavailable, silent && outcome == Is::Unavailable, said),
        World::Mute | World::Cut | World::Garbage | World::Huge | World::Slow => {
            let unknown = matches!(outcome, Is::OutcomeUnknown | Is::TypedUnverified);
            let nothing = silent && outcome.certainly_nothing();
            report.hold(Law::UnknownIsUnknown, unknown || nothing, said);
        }
    }
}

async fn judge_probe(runtime: &impl Runtime, proves: bool, report: &mut Report) {
    let order = order(90, Duration::ZERO, false);
    for world in [World::Ready, World::Working, World::Mute, World::Down] {
        if runtime.enter(world).await {
            let fate = tokio::time::timeout(LIMIT, runtime.adapter().probe(&order)).await.ok();
            let said = || format!("probed {world:?}: {fate:?}");
            report.hold(Law::Bounded, fate.is_some(), said);
            let (gone, dead) = (fate == Some(Fate::Gone), world == World::Down);
            report.hold(Law::GoneIsCertain, !gone || dead, said);
            report.hold(Law::Honest, gone == (dead && proves), said);
        }
    }
}

async fn judge_watch(runtime: &impl Runtime, sees: bool, report: &mut Report) {
    let order = order(91, Duration::ZERO, false);
    for world in [World::Ready, World::Working, World::Down] {
        if !runtime.enter(world).await {
            continue;
        }
        let adapter = runtime.adapter();
        let ends = sees && world != World::Working;
        let wait = if ends { LIMIT } else { WHILE };
        let end = tokio::time::timeout(wait, adapter.watch(&order)).await.ok();
        let right = match world {
            _ if !ends => end.is_none(),
            World::Down => matches!(end, Some(FlightEnd::ProcessEnded)),
            _ => matches!(end, Some(FlightEnd::Idle)),
        };
        report.hold(Law::WatchEnds, right, || format!("watched {world:?}: {end:?}"));
    }
}
