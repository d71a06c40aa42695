//! Random runs: what may happen to a waker, in an order and at times that nobody planned.
//!
//! Each run prints how often each kind of input advanced, was absorbed, was refused, and fails when an outcome that
//! the kind can have became rare: a law that is never put to the test holds for nothing.

use std::cell::RefCell;

use awakener_kernel::machine::Machine;
use awakener_kernel::time::{Millis, Mono, Now};
use awakener_kernel::waker::{Capability, Image, Input, Waker};
use proptest::test_runner::{Config as Runs, RngAlgorithm, TestRng, TestRunner};

use crate::ops::{Op, Outside, ops};
use crate::rig::{Fortune, Rig, Seen, tiny};
use crate::tally::Tally;

/// One step, with everything around it.
#[derive(Debug)]
pub struct Happening<'a> {
    pub rig: &'a Rig,
    pub now: Now,
    pub before: &'a Waker,
    pub disk_before: &'a Image,
    pub input: Input,
    pub seen: &'a Seen,
}

/// What a law is shown.
#[derive(Debug)]
pub enum Scene<'a> {
    /// A committed step.
    Step(Happening<'a>),
    /// The waker was recovered: after a crash, or after a commit that failed (then the process lives on).
    Recovered(&'a Rig),
    /// The run is over.
    End(&'a Rig),
}

/// Shows a law every step of many runs; `G` is what the law remembers within one run.
pub fn runs<G: Default>(law: impl Fn(&mut G, &Scene<'_>)) {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    // Making the runs costs more than running them; PROPTEST_CASES gives more.
    let few = Runs { cases: Runs::default().cases / 2, failure_persistence: None, ..Runs::default() };
    let mut runner = TestRunner::new_with_rng(few, rng);
    let tally = RefCell::new(Tally::default());
    let run = |ops: Vec<Op>| {
        one_run(&ops, &law, &mut tally.borrow_mut());
        Ok(())
    };
    runner.run(&ops(), run).unwrap_or_else(|failure| panic!("{failure}"));
    tally.borrow().judge();
}

fn one_run<G: Default>(ops: &[Op], law: &impl Fn(&mut G, &Scene<'_>), tally: &mut Tally) {
    let (mut rig, mut outside, mut memory) = (Rig::new(tiny()), Outside::default(), G::default());
    rig.give(Input::Capability(Capability::Unattended));
    let mut fortune = Fortune::Durable;
    for op in ops {
        match op {
            Op::Wait { wall, mono } => {
                rig.now = Now { wall: rig.now.wall + Millis(*wall), mono: rig.now.mono + Millis(*mono) };
            }
            Op::Crash { later, mono } => {
                rig.crash(*later, *mono);
                outside.lost();
                law(&mut memory, &Scene::Recovered(&rig));
                rig.give(Input::Capability(Capability::Unattended));
            }
            Op::CommitFails(next) => fortune = *next,
            _ => {}
        }
        let Some(input) = outside.input(&mut rig, op) else { continue };
        let (before, disk_before, now) = (rig.waker.clone(), rig.disk.image.clone(), rig.now);
        let Some(seen) = rig.try_give(input, std::mem::take(&mut fortune)) else {
            outside.lost();
            law(&mut memory, &Scene::Recovered(&rig));
            rig.give(Input::Capability(Capability::Unattended));
            continue;
        };
        rig.waker.check(&rig.config).unwrap();
        tally.count(&input, &seen);
        seen.effects.iter().for_each(|effect| outside.heard(effect));
        let (before, disk_before) = (&before, &disk_before);
        law(&mut memory, &Scene::Step(Happening { rig: &rig, now, before, disk_before, input, seen: &seen }));
    }
    law(&mut memory, &Scene::End(&rig));
}

/// The moment before which nothing is due.
pub fn is_due(waker: &Waker, rig: &Rig, mono: Mono) -> bool {
    waker.deadline(&rig.config).is_some_and(|due| due <= mono)
}
