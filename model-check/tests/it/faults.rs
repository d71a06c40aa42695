//! A law that has never fallen is a hope: each planted fault is found by the law that names it, and by nothing else
//! than the fault is that law broken.

use awakener_model_check::explore::{Searched, search_for};
use awakener_model_check::mailbox;
use awakener_model_check::verdict::way;

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

fn mailbox_scope(name: &str) -> mailbox::scope::Scope {
    *mailbox::scope::TINY.iter().find(|scope| scope.name == name).expect("the scope has this name")
}

#[test]
fn ack_3_an_ack_answered_before_its_commit_is_found() {
    let scope = mailbox_scope("ack");
    let fault = Some(mailbox::scope::Fault::AckAnsweredBeforeCommit);
    let steps = found(
        mailbox::laws::ACK_ON_DISK,
        mailbox::World::new(scope),
        mailbox::World::new(mailbox::scope::Scope { fault, ..scope }),
    );
    assert!(steps.last().is_some_and(|step| step.contains("Ack")), "{steps:?}");
}
