//! A law that has never fallen is a hope: each planted fault is found by the law that names it, and by nothing else
//! than the fault is that law broken.

use awakener_model_check::explore::{Searched, search_for};
use awakener_model_check::verdict::way;
use awakener_model_check::waker;

/// The law falls in the world with the fault and holds in the same world without. Returns the shortest way.
fn found<W: Searched + Clone>(law: &'static str, without: W, with: W) -> Vec<String> {
    let holds = W::LAWS.iter().find(|known| known.name == law).expect("the law has this name").holds;
    assert!(!search_for(without.clone(), law).broken.contains(law), "{law} is broken without the fault");
    assert_eq!(way(&without, holds), Vec::<String>::new());
    assert!(search_for(with.clone(), law).broken.contains(law), "{law} does not see the fault");
    let steps = way(&with, holds);
    println!("{law} falls after {} steps:", steps.len());
    steps.iter().for_each(|step| println!("  {step}"));
    steps
}

fn waker_scope(name: &str) -> waker::scope::Scope {
    *waker::scope::TINY.iter().find(|scope| scope.name == name).expect("the scope has this name")
}

#[test]
fn dsp_1_a_cooldown_that_drops_is_found() {
    let scope = waker_scope("cooldown");
    let fault = Some(waker::scope::Fault::CooldownDrops);
    let steps = found(
        waker::laws::NEVER_DROPPED,
        waker::World::new(scope),
        waker::World::new(waker::scope::Scope { fault, ..scope }),
    );
    assert!(steps.iter().any(|step| step.contains("Nothing")), "{steps:?}");
}

#[test]
fn ver_2_a_high_water_only_in_memory_is_found() {
    let scope = waker_scope("replay");
    let fault = Some(waker::scope::Fault::HighWaterInMemory);
    let steps = found(
        waker::laws::TOKENS_RISE,
        waker::World::new(scope),
        waker::World::new(waker::scope::Scope { fault, ..scope }),
    );
    assert!(steps.iter().any(|step| step == "Crash"), "{steps:?}");
}
