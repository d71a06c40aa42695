//! The process of a station as its driver runs it: start, commit, failed commit, crash, stop.
//!
//! One input, one commit, then its effects. After a commit that failed the process lives on and its machine is woken
//! again; what was let out before is still carried out. Rules: STN-2, FUS-6.

use awakener_kernel::machine::{Machine as _, Outcome};
use awakener_kernel::station::{Effect, Event, Input, LatchCause, LatchNote, LatchStage, Phase, Station};
use awakener_kernel::time::{Mono, Now, Wall};

use super::bounds::TICK;
use super::outside::{Lying, Out};
use super::perform::deed;
use super::seen::{Asked, Broken, Latched};
use super::values::{FOUND, latch};
use super::{Scene, Up, World, name};
use crate::process::Fate;

impl Scene {
    /// What the clocks say.
    pub(super) fn now(&self) -> Now {
        let ticks = |ticks: u32| u64::from(ticks) * TICK;
        Now { wall: Wall(ticks(self.wall)), mono: Mono(ticks(self.clock - self.born)) }
    }

    /// The process is gone, and with it whatever it had not done yet.
    pub(super) fn dies(&mut self) {
        self.station.crash();
        self.outbox.clear();
        self.inbox.clear();
        self.outside.poll = None;
        self.up = Up::Dead;
    }
}

/// The latch of a trip that is on record and whose file was not seen yet: the driver does not let it wait for a store
/// that fails (FUS-4).
fn unwritten(station: &Station) -> Option<LatchNote> {
    let Phase::LatchedDown(latched) = station.phase() else { return None };
    match latched.stage {
        LatchStage::Owed(_) | LatchStage::Auditing(..) | LatchStage::Writing(..) => {
            let latch = station.image().latch.as_ref()?;
            matches!(latch.cause, LatchCause::Tripped { .. }).then(|| latch.note())
        }
        LatchStage::Down | LatchStage::Archiving(..) | LatchStage::Removing(..) => None,
    }
}

impl World {
    /// What the world must know again when the step is committed, or cannot be.
    pub(super) fn asked(&self, state: &Scene, station: &Station, input: &Input) -> Asked {
        let fails = state.spent.failures < self.bounds.failures;
        let precaution = fails
            .then(|| station.trip(&self.config, state.now(), input).or_else(|| unwritten(station)))
            .flatten();
        Asked { from: station.phase().name(), input: input.clone(), precaution: precaution.map(Box::new) }
    }

    /// The process starts, or its machine is woken again. What lies at the latch path is taken in first.
    pub(super) fn boot(&self, state: &mut Scene) {
        state.boots += 1;
        if state.up == Up::Dead {
            state.up = Up::Starting;
            state.starts += 1;
            state.born = state.clock;
            let now = state.now();
            if state.outside.path != Lying::Nothing
                && let Some(record) = state.station.disk().image.adopt(latch(FOUND), now.wall)
            {
                state.station.write_apart(&[record]);
                state.seen.latch = Some(Latched::new(FOUND, state.clock, state.boots));
            }
        }
        if state.station.recover(&self.config, state.now()).is_err() {
            state.seen.breaks(Broken::Boot);
        }
    }

    /// The open transaction commits; what leaves is named.
    pub(super) fn commit(&self, state: &mut Scene) -> Vec<&'static str> {
        let Some(visible) = state.station.commit(Fate::Durable) else { return Vec::new() };
        let Some(to) = state.station.live().map(|machine| machine.phase().name()) else { return Vec::new() };
        if visible.answers.is_empty() {
            self.booted(state);
            self.awoke(state);
            state.up = Up::Up;
        }
        for (asked, outcome) in &visible.answers {
            if let Outcome::Advanced(event) = outcome {
                self.learn(state, asked, event, to, true);
            }
        }
        if state.seen.owed.is_some() {
            let asked = visible.effects.iter().find_map(|effect| match effect {
                Effect::CleanUp { ticket, .. } => Some(*ticket),
                _ => None,
            });
            state.seen.cleaning = state.seen.cleaning.or(asked);
        }
        let left = visible.effects.iter().map(|effect| name(&deed(effect))).collect();
        state.outbox.extend(visible.effects.into_iter().map(|effect| Out::Effect(Box::new(effect))));
        state.hear();
        left
    }

    /// The open transaction does not commit, or nobody knows; what leaves is named.
    pub(super) fn commit_fails(&self, state: &mut Scene, fate: Fate) -> Vec<&'static str> {
        state.spent.failures += 1;
        let (batch, outcomes) = (state.station.batch().to_vec(), state.station.peek());
        let to = state.station.machine().map(|machine| machine.phase().name());
        let none = state.station.commit(fate);
        assert!(none.is_none(), "a failed commit lets nothing out");
        let written = fate == (Fate::Unknown { written: true });
        if batch.is_empty() {
            if written {
                self.booted(state);
            }
            if state.up == Up::Starting {
                // A driver that cannot write its boot down does not start.
                state.dies();
            }
        }
        let mut left = Vec::new();
        for (asked, outcome) in batch.into_iter().zip(outcomes) {
            let (Outcome::Advanced(event), Some(to)) = (outcome, to) else { continue };
            if written {
                // The adversary knows what nobody was told.
                self.learn(state, &asked, &event, to, false);
            }
            let trips = matches!((event, &asked.input), (Event::Latched(_), Input::Claimed { .. }));
            state.seen.must(!trips || asked.precaution.is_some(), Broken::Unannounced);
            if let Some(note) = asked.precaution {
                left.push(name(&super::act::Deed::Precaution));
                state.outbox.push_back(Out::Precaution(note));
            }
        }
        left
    }
}
