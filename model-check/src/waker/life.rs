//! The life of a daemon's process: boots, and commits of every fate.
//!
//! Not here: crashes ([`super::steps`]), which need nothing but to forget.

use awakener_kernel::waker::{Effect, Input};

use super::seen::{Asked, Broken, Owes};
use super::steps::name;
use super::{State, World};
use crate::process::Fate;

impl World {
    /// The process begins, or the machine of a process whose commit has failed.
    pub(super) fn boot(&self, next: &mut State) {
        next.dead = false;
        next.seen.booted(next.ticks);
        next.running.iter_mut().for_each(|running| running.span.restart());
        if next.daemon.recover(&self.config, next.now()).is_err() {
            next.seen.broken.insert(Broken::Boot);
        } else if !self.budget.is_told_late() {
            let input = Input::Capability(self.budget.manifests[0]);
            let asked = Asked { input, at: next.ticks, wall: next.wall };
            next.daemon.stage(&self.config, next.now(), input, (), |_| asked);
        }
    }

    /// The open transaction commits; what it lets out.
    pub(super) fn commit(&self, next: &mut State) -> Vec<&'static str> {
        let Some(visible) = next.daemon.commit(Fate::Durable) else { return Vec::new() };
        let mut owes = Owes::default();
        for (asked, outcome) in &visible.answers {
            let more = next.seen.answered(self.budget.history, asked, outcome);
            owes.ends.extend(more.ends);
            owes.warnings += more.warnings;
        }
        next.seen.released(&visible.effects, &owes);
        let names = visible.effects.iter().map(name).collect();
        let performed = |effect: &Effect| !matches!(effect, Effect::Report { .. } | Effect::TellOperator(_));
        next.outbox.extend(visible.effects.into_iter().filter(performed));
        names
    }

    /// It does not, or nobody knows.
    pub(super) fn commit_fails(&self, next: &mut State, fate: Fate) {
        next.spent.failures += 1;
        if fate == (Fate::Unknown { written: true }) {
            // Nobody was told, but it is true.
            next.seen = next.inside(self).into_owned();
        }
        let visible = next.daemon.commit(fate);
        assert!(visible.is_none(), "a failed commit lets nothing out");
    }
}
