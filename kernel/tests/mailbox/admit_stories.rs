//! Admission inside the mailbox: repeats, causes, queues (ADM-2, ADM-7, ADM-12, PRT-2).

use awakener_kernel::admission::RosterVerdict;
use awakener_kernel::config::Config;
use awakener_kernel::ids::{Fence, MessageId};
use awakener_kernel::mailbox::input::{Event, Facts, Input};
use awakener_kernel::time::Millis;
use awakener_kernel::values::Response;
use awakener_spec::Reason;
use awakener_tools::enforces;

use crate::cast::*;
use crate::world::{World, absorbed, advanced, refused};

/// Admits a message of the target's own principal under this lease; its cause and depth.
fn said(w: &mut World, n: u8, fence: Option<Fence>) -> (Option<MessageId>, u32) {
    let mut submitted = submitted(own(), "message/1", n);
    submitted.fence = fence;
    match advanced(w.give(Input::Admit(submitted))) {
        Event::Admitted { cause, depth, .. } => (cause, depth),
        other => panic!("{other:?}"),
    }
}

enforces! {
    [Adm7]
    fn adm_7_the_same_submission_is_one_message_and_wakes_once(seen) {
        let mut w = World::new();
        let hint = w.alerted(1);
        for crashed in [false, true] {
            if crashed {
                w.crash();
                w.start();
            }
            let before = w.snapshot();
            absorbed(w.give(alert(1)));
            let mut other = submitted(mira(), "interrupt-alert/1", 1);
            other.content = content(2);
            assert_eq!(refused(w.give(Input::Admit(other))), Reason::DuplicateConflict);
            assert_eq!(w.snapshot(), before);
        }
        seen.refusal(Reason::DuplicateConflict);
        assert_eq!((w.disk().rows.len(), hint.message), (1, msg(1)));
        // Also when it is finished, when the roster is gone, and when the id is too old by now.
        advanced(w.give(Input::Resolve { message: msg(1) }));
        w.registry.roster = RosterVerdict::Absent;
        w.tick(Millis(2 * w.config.dedup_horizon.0));
        absorbed(w.give(alert(1)));
        // A refusal is not remembered.
        w.registry.roster = RosterVerdict::Listed;
        assert_eq!(refused(w.give(alert(5))), Reason::TooOld);
    }

    [Adm7]
    fn adm_7_what_was_refused_may_come_again(_seen) {
        let mut w = World::new();
        w.registry.roster = RosterVerdict::NotListed;
        assert_eq!(refused(w.give(alert(1))), Reason::NotOnRoster);
        w.registry.roster = RosterVerdict::Listed;
        advanced(w.give(alert(1)));
        absorbed(w.give(alert(1)));
    }

    [Adm2, Adm3]
    fn adm_2_a_refused_alert_leaves_nothing(seen) {
        type Wrong = fn(&mut World);
        let table: [(Reason, Wrong); 9] = [
            (Reason::TargetCannotAck, |w| w.registry.can_ack = false),
            (Reason::RosterAbsent, |w| w.registry.roster = RosterVerdict::Absent),
            (Reason::RosterMalformed, |w| w.registry.roster = RosterVerdict::Malformed),
            (Reason::RosterExpired, |w| w.registry.roster = RosterVerdict::Expired),
            (Reason::NotOnRoster, |w| w.registry.roster = RosterVerdict::NotListed),
            (Reason::Tier0Closed, |w| w.registry.open = false),
            (Reason::RepeatCap, |w| w.registry.repeats = w.config.echo),
            (Reason::Overloaded, |w| w.registry.overloaded = true),
            (Reason::TooOld, |w| w.tick(Millis(w.config.dedup_horizon.0 + 1))),
        ];
        for (reason, wrong) in table {
            let mut w = World::new();
            wrong(&mut w);
            let before = w.snapshot();
            assert_eq!(refused(w.give(alert(1))), reason);
            assert_eq!(w.snapshot(), before);
            seen.refusal(reason);
        }
        advanced(World::new().give(alert(1)));
    }

    [Adm12]
    fn adm_12_the_cause_is_the_deepest_claimed_message_then_the_first(_seen) {
        let mut w = World::new();
        assert_eq!(said(&mut w, 50, None), (None, 0));
        for n in [1, 2] {
            advanced(w.give(mail(n)));
        }
        let fence = w.claimed(ann());
        // 50 is claimed as well; all three have depth 0, and it came first.
        assert_eq!(said(&mut w, 51, Some(fence)), (Some(msg(50)), 1));
        assert_eq!(said(&mut w, 52, None), (Some(msg(50)), 1));
        advanced(w.give(read(fence, 50)));
        advanced(w.give(respond(fence, 50, 1, Response::Done)));
        assert_eq!(said(&mut w, 53, None), (Some(msg(1)), 1));
        // A deeper one goes before an earlier one.
        advanced(w.give(Input::Release { fence }));
        assert_eq!(said(&mut w, 54, None), (None, 0));
        let fence = w.claimed(ann());
        assert_eq!(said(&mut w, 55, Some(fence)), (Some(msg(51)), 2));
        // Nobody else's submission has it.
        let told = advanced(w.give(mail(3)));
        assert!(matches!(told, Event::Admitted { cause: None, depth: 0, .. }), "{told:?}");
    }

    [Inb7]
    fn inb_7_a_lease_that_is_not_live_is_lost(seen) {
        let mut w = World::new();
        advanced(w.give(mail(1)));
        let fence = w.claimed(ann());
        w.tick(w.config.lease);
        let mut late = submitted(own(), "message/1", 2);
        late.fence = Some(fence);
        assert_eq!(refused(w.give(Input::Admit(late.clone()))), Reason::LostLease);
        seen.refusal(Reason::LostLease);
        // Without a lease it has no cause, and with the live one it has.
        late.fence = None;
        advanced(w.give(Input::Admit(late)));
        let fence = w.claimed(bob());
        assert_eq!(said(&mut w, 3, Some(fence)), (Some(msg(1)), 1));
    }

    [Adm2]
    fn adm_2_a_queue_is_per_sender_and_keeps_room_for_alerts(seen) {
        let mut w = World::with(Config { queue: 2, tier0_reserve: 1, ..Config::default() });
        for n in [1, 2] {
            advanced(w.give(mail(n)));
        }
        assert_eq!(refused(w.give(mail(3))), Reason::QueueFull);
        seen.refusal(Reason::QueueFull);
        advanced(w.give(Input::Admit(submitted(otto(), "message/1", 4))));
        advanced(w.give(alert(5)));
        assert_eq!(refused(w.give(alert(6))), Reason::QueueFull);
        w.crash();
        w.start();
        assert_eq!(refused(w.give(alert(6))), Reason::QueueFull);
        // What is finished makes room.
        let fence = w.reading(ann(), 1);
        advanced(w.give(respond(fence, 1, 1, Response::Done)));
        advanced(w.give(alert(6)));
        assert_eq!(refused(w.give(mail(7))), Reason::QueueFull);
    }
}

#[test]
fn adm_12_the_cause_is_read_inside_the_transaction() {
    let mut w = World::new();
    advanced(w.give(mail(1)));
    let submission = Input::Admit(submitted(own(), "message/1", 2));
    let told = w.all(vec![(claim(ann()), None), (submission, None)]).unwrap();
    let cause = Some(msg(1));
    assert!(
        matches!(&told[1], awakener_kernel::machine::Outcome::Advanced(Event::Admitted { cause: c, .. }) if *c == cause),
        "{told:?}"
    );
}

#[test]
fn adm_7_a_repeat_inside_one_transaction_is_a_repeat() {
    let mut w = World::new();
    let told = w.all(vec![(mail(1), None), (mail(1), None), (mail(2), None::<Facts>)]).unwrap();
    assert!(told[0].is_advanced() && !told[1].is_advanced() && told[2].is_advanced());
    assert_eq!(w.disk().rows.len(), 2);
}
