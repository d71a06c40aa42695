//! The thread that owns the wake daemon's store, its wakers and its fold.
//!
//! Takes what has queued up, steps it in one transaction, and lets effects go after the commit. The only code of the
//! daemon that touches the store. Rules: VER-1, VER-2, VER-4, VER-5, DSP-10, AUD-2.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use awakener_kernel::config::Config;
use awakener_kernel::machine::{Machine as _, Outcome, OutcomeOf};
use awakener_kernel::time::{Mono, Wall};
use awakener_kernel::values::DispatchOutcome;
use awakener_kernel::waker::{Capability, Effect, Event, Input, Phase, Waker};
use awakener_kernel::wire::{Presented, screen};
use awakener_spec::{AuditKind, Class};
use serde_json::json;
use tokio::sync::oneshot;

use super::fold::{Fold, Line, Sample, Via};
use super::inbox::{Cmd, Judged};
use super::pauses::Pauses;
use super::port::Ring;
use super::ports::Ports;
use super::status::{Status, TargetStatus};
use super::verify::Verifier;
use crate::clock::{Clock, Turn, Watch};
use crate::host::{Failed, Host, Item};
use crate::store::{Db, StoreFault};

/// How many commands share a transaction at most.
const BATCH: usize = 256;
/// The longest wait, and how often pause files are looked at.
const TICK: Duration = Duration::from_millis(250);
/// Where the ring is kept.
pub(super) const RING: &str = "ring";

/// Where an input came from, as far as its outcome matters to somebody.
enum Origin {
    Hint { via: Via, sample: Sample, answer: Option<oneshot::Sender<Judged>> },
    Inside,
}

/// One input and its origin.
type Staged = (Item<Waker>, Origin);

pub(super) struct Thread {
    pub(super) db: Db,
    pub(super) clock: Arc<Clock>,
    pub(super) watch: Watch,
    pub(super) host: Host<Waker>,
    /// What a recovery after a failed commit needs again.
    pub(super) config: Config,
    pub(super) own: BTreeMap<String, Config>,
    pub(super) capabilities: BTreeMap<String, Capability>,
    pub(super) pauses: Pauses,
    pub(super) verifier: Arc<Verifier>,
    pub(super) ports: Ports,
    pub(super) fold: Fold,
    pub(super) inbox: Receiver<Cmd>,
    pub(super) about: Status,
    /// The classes that the plane gave, by which the hint came in; a question has one way in.
    pub(super) asked_via: BTreeMap<String, (Via, Sample)>,
    /// Whether the wakers know what is volatile in them: pauses and capabilities.
    pub(super) introduced: bool,
    pub(super) looked: Mono,
    pub(super) shown: BTreeMap<String, Shown>,
    pub(super) started: Wall,
}

/// What is kept of a waker beside its machine, for displays only.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown {
    phase: Phase,
    since: Wall,
    outcome: Option<DispatchOutcome>,
}

impl Thread {
    pub(super) fn run(mut self) {
        let known: Vec<String> = self.host.machines().map(|(target, _)| target.clone()).collect();
        known.iter().for_each(|target| self.saw(target));
        loop {
            let first = match self.inbox.recv_timeout(self.wait()) {
                Ok(cmd) => Some(cmd),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            let mut cmds: Vec<Cmd> = first.into_iter().collect();
            cmds.extend(self.inbox.try_iter().take(BATCH.saturating_sub(cmds.len())));
            let go_on = self.serve(cmds);
            self.look_at_clock();
            self.look_at_pauses();
            self.fire();
            let lines = self.fold.due(self.clock.mono());
            self.write(lines);
            if self.db.poisoned() {
                self.reopen();
            }
            if let Err(fault) = self.host.snapshot(&mut self.db, false) {
                tracing::warn!("no snapshot: {fault}");
            }
            if !go_on {
                break;
            }
        }
        let lines = self.fold.rest();
        self.write(lines);
        // Only a convenience for the next start.
        let _ = self.host.snapshot(&mut self.db, true);
    }

    fn wait(&self) -> Duration {
        let now = self.clock.mono();
        let due = [self.host.deadline(), self.fold.deadline()].into_iter().flatten().min();
        due.map_or(TICK, |at| Duration::from_millis(at.saturating_since(now).0).min(TICK))
    }

    /// Whether to go on.
    fn serve(&mut self, cmds: Vec<Cmd>) -> bool {
        let mut staged: Vec<Staged> = Vec::new();
        for cmd in cmds {
            match cmd {
                Cmd::Hint { via, presented, sample, answer } => {
                    staged.extend(self.screen(via, &presented, sample, answer));
                }
                Cmd::Input { target, input } => staged.push(plain(target, input)),
                Cmd::Reconnect => {
                    let all = self.host.machines().map(|(target, _)| plain(target.clone(), Input::Reconnect));
                    staged.extend(all);
                }
                Cmd::Ring(ring) => self.keep(&ring),
                Cmd::PlaneTime(plane) => self.follow_clock(plane),
                Cmd::Status(answer) => {
                    self.step(std::mem::take(&mut staged));
                    // Whoever asked may have gone away.
                    let _ = answer.send(self.status());
                }
                Cmd::Stop => {
                    self.step(staged);
                    return false;
                }
            }
        }
        self.step(staged);
        true
    }

    /// The classes that need no state; what passes goes to its waker.
    fn screen(
        &mut self,
        via: Via,
        presented: &Presented,
        sample: Sample,
        answer: Option<oneshot::Sender<Judged>>,
    ) -> Option<Staged> {
        let now = self.clock.now();
        match screen(now.wall, self.config.skew, presented) {
            Err(class) => {
                self.refused(class, via, &sample, answer);
                None
            }
            Ok(hint) => {
                let (target, input) = (hint.target.as_str().to_owned(), Input::Hint((&hint).into()));
                Some((Item { target, input, statement: None }, Origin::Hint { via, sample, answer }))
            }
        }
    }

    /// One transaction; effects are let go afterwards.
    fn step(&mut self, staged: Vec<Staged>) {
        if staged.is_empty() {
            return;
        }
        let (items, origins): (Vec<Item<Waker>>, Vec<Origin>) = staged.into_iter().unzip();
        let targets: Vec<String> = items.iter().map(|item| item.target.clone()).collect();
        match self.host.batch(&mut self.db, self.clock.now(), items, |_, _, _, ()| Ok(())) {
            Ok(done) => {
                for (target, outcome) in targets.iter().zip(&done.outcomes) {
                    self.note(target, outcome);
                    // What is accepted is durable now, and the next sweep says so (EMT-2).
                    self.saw(target);
                }
                for ((target, outcome), origin) in targets.into_iter().zip(done.outcomes).zip(origins) {
                    self.settle(target, &outcome, origin);
                }
                for (target, effect) in done.effects {
                    self.act(&target, effect);
                }
            }
            Err(failed) => {
                let (Failed::NotDurable(fault) | Failed::Unknown(fault)) = failed;
                // Nothing was shown. The wakers came back from disk, owe a look, and probe what they cannot know.
                tracing::error!(reason = %fault.reason, "{} inputs are lost: {fault}", targets.len());
                self.introduced = false;
                std::thread::sleep(Duration::from_millis(50));
            }
        }
    }

    /// Keeps since when a waker has been where it is.
    fn note(&mut self, target: &str, outcome: &OutcomeOf<Waker>) {
        let Some(phase) = self.host.machine(target).map(Waker::phase) else { return };
        let since = self.clock.now().wall;
        let shown = self.shown.entry(target.to_owned()).or_insert(Shown { phase, since, outcome: None });
        if shown.phase != phase {
            (shown.phase, shown.since) = (phase, since);
        }
        if let Outcome::Advanced(Event::Dispatched { outcome, .. }) = outcome {
            shown.outcome = Some(*outcome);
        }
    }

    /// Lets sweeps of a target say what was accepted for it.
    pub(super) fn saw(&self, target: &str) {
        if let Some(token) = self.host.machine(target).and_then(|waker| waker.image().high_water) {
            self.ports.saw(target, token);
        }
    }

    /// What the outcome of one input means outside of its machine.
    fn settle(&mut self, target: String, outcome: &OutcomeOf<Waker>, origin: Origin) {
        match (outcome, origin) {
            (Outcome::Refused(class), Origin::Hint { via, sample, answer }) => {
                self.refused(*class, via, &sample, answer);
            }
            (outcome, Origin::Hint { via, sample, answer }) => {
                let asked = matches!(outcome, Outcome::Advanced(Event::Asked { .. }));
                if asked {
                    self.asked_via.insert(target, (via, sample));
                }
                tell(answer, Judged { class: None, asked });
            }
            (Outcome::Advanced(Event::Withheld { class, .. }), Origin::Inside) => {
                let (via, sample) =
                    self.asked_via.remove(&target).unwrap_or((Via::Broker, Sample::default()));
                self.refused(*class, via, &sample, None);
            }
            (Outcome::Advanced(_) | Outcome::Absorbed | Outcome::Refused(_), Origin::Inside) => {}
        }
    }

    fn refused(&mut self, class: Class, via: Via, sample: &Sample, answer: Option<oneshot::Sender<Judged>>) {
        awakener_spec::rule!(Ver5);
        let line = self.fold.add(self.clock.mono(), class, via, sample);
        self.write(line);
        tell(answer, Judged { class: Some(class), asked: false });
    }

    /// Lines of the fold become audit entries of no machine and no target.
    fn write(&mut self, lines: impl IntoIterator<Item = Line>) {
        for line in lines {
            match line.kind {
                AuditKind::Alarm => {
                    tracing::error!(class = %line.class, count = line.count, rule = "VER-4",
                        "a hint has a good signature and was never minted: is a router key stolen?");
                }
                _ => tracing::warn!(class = %line.class, count = line.count, via = ?line.via, "hint refused"),
            }
            if let Err(fault) = self.db.note("verifier", "", self.clock.now(), json!({ "hints": line })) {
                tracing::error!(reason = %fault.reason, "a refusal could not be recorded: {fault}");
            }
        }
    }

    fn act(&mut self, target: &str, effect: Effect) {
        if let Effect::TellOperator(warning) = effect {
            tracing::error!(target, ?warning, rule = "DSP-12", "the fate of a flight is not known");
            let said =
                self.db.note("operator", target, self.clock.now(), json!({ "tell_operator": warning }));
            if let Err(fault) = said {
                tracing::error!(reason = %fault.reason, "a warning could not be recorded: {fault}");
            }
            return;
        }
        self.ports.send(target, effect);
    }

    fn fire(&mut self) {
        let due = self.host.due(self.clock.now());
        self.step(due.into_iter().map(|target| plain(target, Input::Fire)).collect());
    }

    /// Says what is volatile in a waker: a pause before the capability, so that nothing starts in between.
    fn look_at_pauses(&mut self) {
        let now = self.clock.now();
        let tick = u64::try_from(TICK.as_millis()).unwrap_or(u64::MAX);
        if self.introduced && now.mono.saturating_since(self.looked).0 < tick {
            return;
        }
        self.looked = now.mono;
        let told = self.introduced;
        self.introduced = true;
        let mut staged = Vec::new();
        for (target, capability) in &self.capabilities {
            let pause = if self.pauses.hold(target, now.wall) { Input::Pause } else { Input::Resume };
            staged.push(plain(target.clone(), pause));
            if !told {
                staged.push(plain(target.clone(), Input::Capability(*capability)));
            }
        }
        self.step(staged);
    }

    /// A clock that went back, and one that has caught up, is on record (EMT-6).
    fn look_at_clock(&mut self) {
        let reading = self.clock.read();
        let (held, observed) = (reading.now.wall, reading.observed);
        let what = match self.watch.look(&reading, self.config.skew) {
            None => return,
            Some(Turn::SteppedBack) => {
                tracing::error!(rule = "EMT-6", held = %held.utc(), observed = %observed.utc(), "the clock stepped back");
                json!({ "stepped_back": { "held": held, "observed": observed } })
            }
            Some(Turn::CaughtUp) => json!({ "caught_up": observed }),
        };
        self.note_clock(what);
    }

    /// Where the plane's time agrees with a clock that went back, that time holds.
    fn follow_clock(&mut self, plane: Wall) {
        if let Some(accepted) = self.clock.agree(plane, self.config.skew) {
            tracing::warn!(rule = "EMT-6", accepted = %accepted.utc(), "the clock goes on from the plane's time");
            self.note_clock(json!({ "accepted": accepted, "plane": plane }));
        }
    }

    fn note_clock(&mut self, what: serde_json::Value) {
        awakener_spec::rule!(Emt6);
        if let Err(fault) = self.db.note("clock", "", self.clock.now(), what) {
            tracing::error!(reason = %fault.reason, "a step of the clock could not be recorded: {fault}");
        }
    }

    fn keep(&mut self, ring: &Ring) {
        let text = serde_json::to_string(ring).unwrap_or_default();
        if let Err(fault) = self.db.set_meta(RING, &text) {
            tracing::warn!("the ring is not kept: {fault}");
        }
    }

    /// After a commit of unknown fate: close, open, recover.
    fn reopen(&mut self) {
        loop {
            let reopened: Result<Host<Waker>, StoreFault> = self.db.reopen().and_then(|()| {
                let (config, own) = (self.config.clone(), self.own.clone());
                Host::boot_each(&mut self.db, config, own, self.clock.now())
            });
            match reopened {
                Ok(host) => {
                    self.host = host;
                    self.introduced = false;
                    return;
                }
                Err(fault) => {
                    tracing::error!(reason = %fault.reason, "the store cannot be opened again: {fault}");
                    std::thread::sleep(Duration::from_secs(1));
                }
            }
        }
    }

    fn status(&self) -> Status {
        let reading = self.clock.read();
        let now = reading.now;
        let shown = |target: &str, phase: Phase| self.shown.get(target).filter(|shown| shown.phase == phase);
        let targets = self.host.machines().map(|(target, waker)| TargetStatus {
            target: target.clone(),
            phase: waker.phase(),
            since: shown(target, waker.phase()).map_or(self.started, |shown| shown.since).utc(),
            held_by: waker.held_by(now),
            rests_ms: waker.rests_for(now).0,
            cooldown_ms: self.own.get(target).unwrap_or(&self.config).cooldown.0,
            failures: waker.image().failures,
            last_outcome: self.shown.get(target).and_then(|shown| shown.outcome),
            capability: self.capabilities.get(target).copied(),
            paused: self.pauses.hold(target, now.wall),
            flight: waker.image().flight.as_ref().map(super::rows::shown),
            attempts: waker.image().attempts,
            high_water: waker.image().high_water.map(awakener_kernel::ids::Token::get),
        });
        Status {
            targets: targets.collect(),
            served: self.verifier.served().iter().map(ToString::to_string).collect(),
            ring: self.verifier.ring().keys.len(),
            head: self.db.head(),
            refused: self.fold.totals().clone(),
            clock_suspect: self.fold.clock_suspect(),
            clock_behind_ms: reading.behind().0,
            now: now.wall.utc(),
            ..self.about.clone()
        }
    }
}

const fn plain(target: String, input: Input) -> Staged {
    (Item { target, input, statement: None }, Origin::Inside)
}

/// A caller that has gone away needs no answer.
fn tell(answer: Option<oneshot::Sender<Judged>>, judged: Judged) {
    if let Some(answer) = answer {
        let _ = answer.send(judged);
    }
}
