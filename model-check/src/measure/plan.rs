//! What is measured: which scopes, by whom, in which order.

use super::Failed;
use super::job::{How, Job, Subject};
use super::two_phase::TwoPhase;
use crate::world::{Group, World as _};

/// What somebody wants measured.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Only this world; else all, and two-phase commit.
    pub world: Option<String>,
    /// Only this scope; else of each world the last of its group `ci`, or what it has last.
    pub scope: Option<String>,
    /// Threads of the engine.
    pub threads: usize,
    /// How often each is measured; the fastest counts.
    pub repeat: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { world: None, scope: None, threads: 2, repeat: 3 }
    }
}

/// Every measurement.
///
/// # Errors
/// [`Failed::World`], [`Failed::Scope`].
pub(super) fn jobs(subjects: &[Subject], settings: &Settings) -> Result<Vec<Job>, Failed> {
    let wanted = |subject: &&Subject| settings.world.as_ref().is_none_or(|world| world == subject.world);
    let chosen: Vec<&Subject> = subjects.iter().filter(wanted).collect();
    if chosen.is_empty() {
        return Err(Failed::World(subjects.iter().map(|subject| subject.world).collect()));
    }
    let (mut jobs, mut named) = (Vec::new(), false);
    for subject in &chosen {
        let scope = match &settings.scope {
            None => usual(subject),
            Some(name) => subject.scopes.iter().map(|(name, _)| *name).find(|known| known == name),
        };
        let Some(scope) = scope else { continue };
        named = true;
        jobs.extend(searches(subject.world, settings.threads).into_iter().map(|(how, threads)| Job {
            world: subject.world.to_owned(),
            scope: scope.to_owned(),
            how,
            threads,
        }));
    }
    match (named, chosen.as_slice()) {
        (false, [first, ..]) => {
            let names = chosen.iter().flat_map(|subject| subject.scopes.iter().map(|(name, _)| *name));
            Err(Failed::Scope(if chosen.len() == 1 { first.world } else { "any world" }, names.collect()))
        }
        _ => Ok(jobs),
    }
}

/// The scope that is measured unless somebody names another.
fn usual(subject: &Subject) -> Option<&'static str> {
    if subject.world == TwoPhase::NAME {
        return Some("managers_9");
    }
    let of = |group: Option<Group>| {
        subject.scopes.iter().rev().find(|scope| group.is_none_or(|group| scope.1 == group))
    };
    of(Some(Group::Ci)).or_else(|| of(None)).map(|(name, _)| *name)
}

/// Who searches a scope of this world. The first stateright is what ratios are taken to.
fn searches(world: &str, threads: usize) -> Vec<(How, usize)> {
    let mut all = vec![(How::StaterightDfs, 1), (How::Graph, threads), (How::Deep, threads), (How::Deep, 1)];
    if world == TwoPhase::NAME {
        all.extend([(How::StaterightNative, 1), (How::StaterightNative, 2)]);
    }
    all.dedup();
    all
}
