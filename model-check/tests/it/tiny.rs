//! Everything holds in every state, every law had something to forbid, and stateright counts the same states.

use std::collections::BTreeSet;

use awakener_model_check::engine::{Options, explore};
use awakener_model_check::world::{Group, World};
use awakener_model_check::{mailbox, second, waker};

fn check<W: World>() {
    let mut idle: BTreeSet<&str> = W::LAWS.iter().map(|law| law.twin).collect();
    for scope in W::scopes().into_iter().filter(|scope| scope.group == Group::Tiny) {
        let found = explore(&scope.world, &Options::default());
        assert!(found.complete());
        for broken in &found.broken {
            panic!("{} {}: {} falls after {:#?}", W::NAME, scope.name, W::LAWS[broken.law].name, broken.way);
        }
        for (law, reached) in W::LAWS.iter().zip(&found.reached) {
            if *reached {
                idle.remove(law.twin);
            }
        }
        let counted = second::count(scope.world);
        assert_eq!(counted.states, found.states, "{} {}", W::NAME, scope.name);
        assert_eq!(counted.broken, BTreeSet::new());
    }
    assert_eq!(idle, BTreeSet::new(), "never reached");
}

#[test]
fn fml_1_the_mailbox_keeps_its_laws_in_every_state() {
    check::<mailbox::World>();
}

#[test]
fn fml_1_the_waker_keeps_its_laws_in_every_state() {
    check::<waker::World>();
}
