//! Facts that do not fit their input are a defect of the driver: nothing is judged on them (AUD-2).

use awakener_kernel::config::Config;
use awakener_kernel::mailbox::input::{Facts, Input};
use awakener_kernel::values::{By, Finish, FlightReport, Response};
use awakener_spec::Reason;

use crate::cast::*;
use crate::world::{World, advanced, refused, seq};

/// An alert at work under a permit, a mint, and mail: every input of [`inputs`] is legal here.
fn busy() -> World {
    let mut w = World::new();
    let hint = w.alerted(1);
    advanced(w.give(mail(2)));
    w.permitted(east(), hint);
    w.worked(ann(), 1);
    advanced(w.give(mail(3)));
    w
}

fn inputs(w: &mut World) -> Vec<Input> {
    let (fence, permit) = (w.image().lease_fence, w.image().permit_fence);
    let fresh = w.entropy();
    let (wake, mint) = w.disk().mints.iter().next_back().map(|(wake, mint)| (*wake, *mint)).unwrap();
    let question = awakener_kernel::values::Question { wake, message: mint.message, token: mint.token };
    vec![
        Input::Start { floor: 9 },
        alert(4),
        claim(ann()),
        Input::Renew { fence },
        Input::Release { fence },
        read(fence, 2),
        finish(fence, 1, 7, Finish::Complete),
        respond(fence, 1, 1, Response::Silence),
        ack(1, By::Station, Some(fence)),
        Input::Ask { daemon: east(), question },
        Input::Report { daemon: east(), fence: permit, wake, report: FlightReport::Attempted },
        Input::Sweep { fresh },
        Input::Published { wake, handed_over: true },
        Input::Resolve { message: msg(1) },
        Input::ReleaseQuarantine { message: msg(1) },
        Input::Expire { message: msg(2) },
    ]
}

#[test]
fn aud_2_facts_of_another_kind_are_missing_facts() {
    let mut w = busy();
    let all = inputs(&mut w);
    let kinds: Vec<Facts> = all.iter().map(|input| w.facts(input)).collect();
    let mut refusals = 0;
    for (input, right) in all.iter().zip(&kinds) {
        for facts in &kinds {
            if std::mem::discriminant(facts) == std::mem::discriminant(right) {
                continue;
            }
            let before = w.snapshot();
            assert_eq!(
                refused(w.give_with(input.clone(), facts.clone())),
                Reason::FactsMissing,
                "{input:?} on {facts:?}"
            );
            assert_eq!(w.snapshot(), before);
            refusals += 1;
        }
        // The control: on its own facts the same input is judged, whatever comes of it.
        let mut control = busy();
        let told = control.give(input.clone());
        assert!(!format!("{told:?}").contains("FactsMissing"), "{input:?}");
    }
    assert!(refusals > 100, "{refusals}");
}

#[test]
fn aud_2_a_row_of_another_message_is_a_missing_fact() {
    let mut w = busy();
    let fence = w.image().lease_fence;
    let others = [w.disk().row(msg(2)), w.disk().row(msg(1)).map(|(_, row)| (seq(9), row)), {
        let mut row = w.disk().row(msg(1));
        row.as_mut().unwrap().1.finished = Some(awakener_kernel::mailbox::entry::Finished::Expired);
        row
    }];
    let about = [
        read(fence, 1),
        finish(fence, 1, 7, Finish::Complete),
        respond(fence, 1, 1, Response::Silence),
        Input::Resolve { message: msg(1) },
        Input::ReleaseQuarantine { message: msg(1) },
        Input::Expire { message: msg(1) },
    ];
    for row in others {
        let before = w.snapshot();
        for input in &about {
            let told = w.give_with(input.clone(), Facts::Row(row.clone()));
            assert_eq!(refused(told), Reason::FactsMissing, "{input:?} on {row:?}");
        }
        let statement = ack(1, By::Station, Some(fence));
        let Facts::Ack(mut facts) = w.facts(&statement) else { panic!("other facts") };
        facts.row = row;
        assert_eq!(refused(w.give_with(statement, Facts::Ack(facts))), Reason::FactsMissing);
        assert_eq!(w.snapshot(), before);
    }
    w.acked(1, By::Station, Some(fence));
}

#[test]
fn aud_2_a_sweep_is_told_of_exactly_the_alerts_that_it_asked_about() {
    let mut w = World::new();
    for n in [1, 2] {
        advanced(w.give(alert(n)));
    }
    let input = Input::Sweep { fresh: w.entropy() };
    let Facts::Authorities(right) = w.facts(&input) else { panic!("other facts") };
    let spoilt = [vec![], vec![right[0]], vec![right[1], right[0]], vec![right[0], right[1], right[1]]];
    for wrong in spoilt {
        let before = w.snapshot();
        assert_eq!(refused(w.give_with(input.clone(), Facts::Authorities(wrong))), Reason::FactsMissing);
        assert_eq!(w.snapshot(), before);
    }
    assert_eq!(refused(w.give_with(input.clone(), Facts::None)), Reason::FactsMissing);
    advanced(w.give_with(input, Facts::Authorities(right)));
}

#[test]
fn aud_2_a_hint_that_is_due_needs_its_authority() {
    let mut w = World::with(Config::default());
    advanced(w.give(alert(1)));
    let fire = Input::Fire { fresh: w.entropy() };
    let before = w.snapshot();
    assert_eq!(refused(w.give_with(fire.clone(), Facts::None)), Reason::FactsMissing);
    assert_eq!(w.snapshot(), before);
    advanced(w.give(fire));
}
