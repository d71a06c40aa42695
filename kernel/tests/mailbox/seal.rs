//! Durable before visible: machine and effects come out of an open machine with the commit of their own transaction,
//! and with nothing else (`open`). That a step's machine cannot be read at all is a doctest of `machine::Step`.

use awakener_kernel::config::Config;
use awakener_kernel::machine::{Machine as _, Outcome};
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::mailbox::image::Image;
use awakener_kernel::mailbox::input::{Event, Facts, Input};
use awakener_kernel::open::{CommitError, Open, RecoverError, Txn};
use awakener_kernel::time::Now;
use awakener_spec::Rule;
use awakener_tools::enforces;

use crate::cast::*;
use crate::store::{Fate, Memory};
use crate::world::{Seen, World, advanced, seq};

const NOW: Now = Now { wall: DAWN, mono: MORNING };

fn recovered(store: &mut Memory, txn: &Txn) -> Open<Mailbox> {
    let image = store.durable.image.clone();
    Open::recover(store, txn, &Config::default(), NOW, image).unwrap()
}

fn started(store: &mut Memory, open: Open<Mailbox>) -> Open<Mailbox> {
    open.step(store, &Config::default(), NOW, Input::Start { floor: 0 }, Facts::None).unwrap()
}

enforces! {
    [Emt2]
    fn emt_2_a_sealed_machine_opens_with_its_own_commit_only(_seen) {
        let (mut here, mut elsewhere) = (Memory::default(), Memory::default());
        // Both count their transactions alike, so the other one must be further on.
        let _before = Txn::begin(&mut elsewhere).unwrap().commit(&mut elsewhere).unwrap();
        let foreign = Txn::begin(&mut elsewhere).unwrap().commit(&mut elsewhere).unwrap();

        let txn = Txn::begin(&mut here).unwrap();
        let open = recovered(&mut here, &txn);
        let open = started(&mut here, open);
        assert!(open.last_advanced());
        let sealed = open.clone();
        let Err(still) = open.close(&foreign) else { panic!("a foreign commit opened it") };
        assert_eq!(still, sealed, "and it is as it was");
        let committed = txn.commit(&mut here).unwrap();
        let released = still.close(&committed).unwrap();
        assert_eq!(released.outcomes, vec![Outcome::Advanced(Event::Started)]);
        assert_eq!(released.machine.image(), &here.durable.image);
        assert_eq!(released.machine.image().epoch, 1);
    }

    [Emt2]
    fn emt_2_a_commit_that_fails_opens_nothing_ever(_seen) {
        for fate in [Fate::NotDurable, Fate::UnknownLost, Fate::UnknownKept] {
            let mut store = Memory::default();
            let txn = Txn::begin(&mut store).unwrap();
            let lost = recovered(&mut store, &txn);
            let lost = started(&mut store, lost);
            store.fate = fate;
            match txn.commit(&mut store) {
                Err(CommitError::NotDurable(_)) => assert_eq!(fate, Fate::NotDurable),
                Err(CommitError::Unknown(_)) => assert_ne!(fate, Fate::NotDurable),
                Ok(_) => panic!("{fate:?} is no success"),
            }
            // The next transaction is another one, and opens its own machine only.
            let next = Txn::begin(&mut store).unwrap();
            let open = recovered(&mut store, &next);
            let committed = next.commit(&mut store).unwrap();
            assert!(lost.close(&committed).is_err(), "{fate:?}");
            assert!(open.close(&committed).is_ok());
        }
    }
}

enforces! {
    [Aud4]
    fn aud_4_no_act_is_free_before_its_record_is_durable(_seen) {
        type Act = fn(&mut World) -> Input;
        let acts: [Act; 3] = [
            |w| Input::Fire { fresh: w.entropy() },
            |w| Input::Sweep { fresh: w.entropy() },
            |_| claim(ann()),
        ];
        for act in acts {
            for fate in [Fate::NotDurable, Fate::UnknownLost, Fate::UnknownKept, Fate::BadWrite] {
                let mut w = World::new();
                advanced(w.give(alert(1)));
                let shown = w.history.len();
                let input = act(&mut w);
                assert_eq!(w.give_to(fate, input.clone()), None, "{input:?} has an answer after {fate:?}");
                let later = &w.history[shown..];
                assert!(!later.iter().any(|seen| matches!(seen, Seen::Commit { .. })), "{later:?}");
            }
            // The control: committed, it has its answer, and the record of it is on disk.
            let mut w = World::new();
            advanced(w.give(alert(1)));
            let (input, before) = (act(&mut w), w.disk().image.clone());
            advanced(w.give(input));
            assert_ne!(w.disk().image, before);
        }
        // The seal itself: the commit of another transaction lets nothing out.
        let (mut here, mut elsewhere) = (Memory::default(), Memory::default());
        let _first = Txn::begin(&mut elsewhere).unwrap().commit(&mut elsewhere).unwrap();
        let foreign = Txn::begin(&mut elsewhere).unwrap().commit(&mut elsewhere).unwrap();
        let txn = Txn::begin(&mut here).unwrap();
        let open = recovered(&mut here, &txn);
        let open = started(&mut here, open);
        let Err(sealed) = open.close(&foreign) else { panic!("a foreign commit let it out") };
        assert!(sealed.close(&txn.commit(&mut here).unwrap()).is_ok());
    }
}

#[test]
fn inb_1_a_write_that_fails_takes_the_whole_transaction_with_it() {
    let mut w = World::new();
    let before = w.snapshot();
    w.store.fate = Fate::BadWrite;
    assert_eq!(w.all(vec![(mail(1), None), (mail(2), None)]), None);
    assert_eq!(w.disk(), &before.1);
    w.start();
    assert!(w.all(vec![(mail(1), None), (mail(2), None)]).is_some());
    assert_eq!(w.disk().rows.len(), 2);
}

/// An image that breaks an invariant does not boot, and says which rule it breaks.
#[test]
fn aud_2_a_broken_image_does_not_boot() {
    let mut w = World::new();
    for n in 1..=3 {
        w.give(if n == 1 { alert(n) } else { mail(n) });
    }
    let fence = w.worked(ann(), 2);
    w.give(read(fence, 3));
    let hint = {
        w.fire();
        w.published().unwrap()
    };
    w.permitted(east(), hint);
    type Break = fn(&mut Image);
    let table: [(Rule, Break); 9] = [
        (Rule::Inb4, |image| image.cursor = Some(seq(9))),
        (Rule::Ack2, |image| image.cursor = Some(seq(1))),
        (Rule::Inb4, |image| image.ahead.insert(seq(9))),
        (Rule::Ack10, |image| {
            image.witnesses.clear();
            image.ahead.insert(seq(1));
        }),
        (Rule::Inb3, |image| {
            image.progress.insert(seq(2), Default::default());
        }),
        (Rule::Inb7, |image| image.lease_fence = image.lease_fence.next()),
        (Rule::Inb8, |image| image.progress.get_mut(&seq(3)).unwrap().quarantined = true),
        (Rule::Dsp7, |image| image.permit_fence = image.permit_fence.next()),
        (Rule::Emt2, |image| image.epoch = 0),
    ];
    let good = w.image().clone();
    let boots = |image: Image| {
        let mut store = Memory::default();
        let txn = Txn::begin(&mut store).unwrap();
        Open::<Mailbox>::recover(&mut store, &txn, &Config::default(), NOW, image).map(drop)
    };
    assert_eq!(boots(good.clone()), Ok(()), "the control");
    for (rule, spoil) in table {
        let mut image = good.clone();
        spoil(&mut image);
        match boots(image) {
            Err(RecoverError::Violation(violation)) => assert_eq!(violation.rule, rule, "{violation:?}"),
            other => panic!("{rule}: {other:?}"),
        }
    }
}
