//! The barrier and the acknowledgement (ACK-1 to ACK-10).

use awakener_kernel::config::Config;
use awakener_kernel::ids::{Fence, KeyId};
use awakener_kernel::machine::Outcome;
use awakener_kernel::mailbox::entry::{Closed, Finished};
use awakener_kernel::mailbox::input::{AckFacts, AckKey, Event, Facts, Input};
use awakener_kernel::mailbox::record::Record;
use awakener_kernel::time::Millis;
use awakener_kernel::values::{Ack, AckOutcome, By, DispatchOutcome, Finish, FlightReport, Response};
use awakener_spec::Reason;
use awakener_tools::enforces;

use crate::cast::*;
use crate::store::Fate;
use crate::world::{Seen, World, absorbed, advanced, refused, seq};

/// Mail 1 to 4 is finished, 5 is an alert, 6 to 9 are mail.
fn barrier() -> World {
    let mut w = World::new();
    for n in 1..=9 {
        advanced(w.give(if n == 5 { alert(5) } else { mail(n) }));
    }
    let fence = w.claimed(ann());
    for n in [1, 2, 3, 4] {
        advanced(w.give(read(fence, n)));
        advanced(w.give(respond(fence, n, n, reply(n))));
    }
    w
}

/// What the last commit recorded.
fn records(w: &World) -> Vec<Record> {
    match w.history.last() {
        Some(Seen::Commit { steps, .. }) => steps.iter().flat_map(|step| step.records.clone()).collect(),
        Some(Seen::Lost { .. } | Seen::Boot { .. }) | None => vec![],
    }
}

fn cursor_moves(w: &World) -> Vec<u64> {
    let to = |record: &Record| if let Record::CursorAdvanced { to } = record { Some(to.get()) } else { None };
    records(w).iter().filter_map(to).collect()
}

fn say(ack: Ack, fence: Option<Fence>) -> Input {
    Input::Ack { ack, fence }
}

enforces! {
    [Ack1, Ack2, Ack10, Inb4, Inb9]
    fn ack_2_the_cursor_waits_for_the_alert_while_later_mail_is_read_and_finished(_seen) {
        let mut w = barrier();
        assert_eq!(w.cursor(), 4);
        let fence = w.image().lease_fence;
        for n in [6, 7, 8, 9] {
            advanced(w.give(read(fence, n)));
            advanced(w.give(respond(fence, n, n, Response::Silence)));
            assert_eq!((w.cursor(), cursor_moves(&w)), (4, vec![]));
            assert_eq!(w.disk().rows[&seq(n.into())].finished, Some(Finished::Responded));
        }
        // Reading the alert, a complete turn and a reply are no ACK.
        advanced(w.give(read(fence, 5)));
        advanced(w.give(finish(fence, 5, 5, Finish::Complete)));
        advanced(w.give(respond(fence, 5, 5, reply(5))));
        assert_eq!(w.cursor(), 4);
        w.crash();
        assert_eq!(w.cursor(), 4);
        w.acked(5, By::Agent, None);
        assert_eq!((w.cursor(), cursor_moves(&w)), (9, vec![9]), "one jump");
    }

    [Ack2, Ack10]
    fn ack_10_two_witnesses_and_the_first_to_close_is_the_later_one(_seen) {
        let mut w = World::new();
        for n in [1, 3] {
            advanced(w.give(alert(n)));
            advanced(w.give(mail(n + 1)));
        }
        let fence = w.claimed(ann());
        for n in 1..=4 {
            advanced(w.give(read(fence, n)));
        }
        for n in [2, 4] {
            advanced(w.give(respond(fence, n, n, Response::Done)));
        }
        w.acked(3, By::Agent, Some(fence));
        assert_eq!(w.cursor(), 0);
        w.acked(1, By::Agent, Some(fence));
        assert_eq!((w.cursor(), cursor_moves(&w)), (4, vec![4]));
    }

    [Ack3, Ack4, Ack5, Inb3]
    fn ack_4_each_outcome_closes_the_witness_and_is_kept_with_its_role(_seen) {
        let all = [AckOutcome::Handled, AckOutcome::Silence, AckOutcome::Declined, AckOutcome::Failed];
        for outcome in all {
            for by in [By::Station, By::Agent, By::Human] {
                let mut w = World::new();
                advanced(w.give(alert(1)));
                let fence = w.worked(ann(), 1);
                let told = w.give(say(statement(1, by, outcome), Some(fence)));
                assert_eq!(advanced(told), Event::Acknowledged { outcome, by });
                let row = &w.disk().rows[&seq(1)];
                assert_eq!(row.closed, Some(Closed::Acknowledged(outcome, by, key(by))));
                assert_eq!(row.finished, Some(Finished::WitnessClosed));
                assert_eq!((w.cursor(), w.image().witnesses.len()), (1, 0));
            }
        }
    }

    [Ack6]
    fn ack_6_each_wrong_ack_has_its_own_reason_and_changes_nothing(seen) {
        type Wrong = fn(&mut World, &mut Ack);
        let table: [(Reason, Wrong); 9] = [
            (Reason::AckWrongKey, |_, ack| ack.key = KeyId([9; 32])),
            (Reason::AckWrongKey, |_, ack| ack.by = By::Human),
            (Reason::AckKeyRevoked, |w, ack| {
                w.registry.keys.insert(ack.key, (ack.by, AckKey::Revoked));
            }),
            (Reason::AckBadSignature, |w, _| w.registry.forged = true),
            (Reason::AckWrongTarget, |w, _| w.registry.foreign = true),
            (Reason::AckUnknownMessage, |_, ack| ack.message = msg(77)),
            (Reason::AckWrongTier, |_, ack| (ack.message, ack.content) = (msg(2), content(2))),
            (Reason::AckWrongContent, |_, ack| ack.content = content(2)),
            (Reason::AckTimeOutOfBounds, |w, ack| ack.time = w.now.wall + w.config.skew + Millis(1)),
        ];
        let mut w = World::new();
        advanced(w.give(alert(1)));
        advanced(w.give(mail(2)));
        let fence = w.worked(ann(), 1);
        let registry = w.registry.clone();
        for (reason, wrong) in table {
            let mut ack = statement(1, By::Station, AckOutcome::Handled);
            wrong(&mut w, &mut ack);
            let before = w.snapshot();
            assert_eq!(refused(w.give(say(ack, Some(fence)))), reason);
            assert_eq!(w.snapshot(), before, "{reason} changed something");
            seen.refusal(reason);
            w.registry = registry.clone();
        }
        // The control: the same statement with nothing wrong, as late as the skew allows.
        let late = w.now.wall + w.config.skew;
        let ack = Ack { time: late, ..statement(1, By::Station, AckOutcome::Handled) };
        advanced(w.give(say(ack, Some(fence))));
    }

    [Ack3, Ack5, Ack6, Ack7, Inb7]
    fn ack_6_the_first_thing_wrong_is_the_answer_whatever_else_is(seen) {
        let mut w = World::new();
        for n in [1, 3] {
            advanced(w.give(alert(n)));
        }
        advanced(w.give(mail(2)));
        // 3 was closed before; 1 is open and nothing was done about it; 2 is no alert.
        let old = w.reading(bob(), 3);
        w.acked(3, By::Human, None);
        advanced(w.give(Input::Release { fence: old }));
        let row = |w: &World, n: u8| w.disk().row(msg(n));

        let mut ack = Ack {
            content: content(200),
            time: w.now.wall + Millis(10 * w.config.skew.0),
            ..statement(2, By::Station, AckOutcome::Declined)
        };
        let mut facts =
            AckFacts { key: AckKey::Wrong, signature_valid: false, this_target: false, row: None };
        let mut fence = Some(old);
        macro_rules! answer {
            ($reason:ident) => {
                let before = w.snapshot();
                let told = w.give_with(say(ack, fence), Facts::Ack(facts.clone()));
                assert_eq!(refused(told), Reason::$reason);
                assert_eq!(w.snapshot(), before);
                seen.refusal(Reason::$reason);
            };
        }
        answer!(AckWrongKey);
        facts.key = AckKey::Revoked;
        answer!(AckKeyRevoked);
        facts.key = AckKey::Valid;
        answer!(AckBadSignature);
        facts.signature_valid = true;
        answer!(AckWrongTarget);
        facts.this_target = true;
        answer!(AckUnknownMessage);
        facts.row = row(&w, 2);
        answer!(AckWrongTier);
        (ack.message, facts.row) = (msg(3), row(&w, 3));
        answer!(AckWrongContent);
        ack.content = content(3);
        answer!(AckTimeOutOfBounds);
        ack.time = w.now.wall;
        answer!(AlreadyAcknowledged);
        (ack.message, ack.content, facts.row) = (msg(1), content(1), row(&w, 1));
        answer!(LostLease);
        fence = None;
        answer!(LostLease);
        // A lease that covers the mail only.
        let Facts::Candidates(mut candidates) = w.facts(&claim(ann())) else { panic!("other facts") };
        candidates.retain(|candidate| candidate.message == msg(2));
        advanced(w.give_with(claim(ann()), Facts::Candidates(candidates)));
        fence = Some(w.image().lease_fence);
        answer!(NotClaimed);
        advanced(w.give(Input::Release { fence: fence.unwrap() }));
        fence = Some(w.claimed(ann()));
        facts.row = row(&w, 1);
        answer!(AckNotComplete);
        advanced(w.give(read(fence.unwrap(), 1)));
        facts.row = row(&w, 1);
        answer!(AckNotComplete);
        advanced(w.give(finish(fence.unwrap(), 1, 1, Finish::Complete)));
        facts.row = row(&w, 1);
        answer!(AckNoResponse);
        advanced(w.give(respond(fence.unwrap(), 1, 1, Response::Silence)));
        advanced(w.give(say(ack, fence)));
    }

    [Ack5]
    fn ack_5_agent_and_human_need_that_it_was_read(seen) {
        for by in [By::Agent, By::Human] {
            let mut w = World::new();
            advanced(w.give(alert(1)));
            let fence = w.claimed(ann());
            assert_eq!(refused(w.give(ack(1, by, None))), Reason::AckNotRead);
            seen.refusal(Reason::AckNotRead);
            advanced(w.give(read(fence, 1)));
            // Read once is read, also when the lease is long gone.
            advanced(w.give(Input::Release { fence }));
            w.crash();
            assert_eq!(refused(w.give(ack(1, by, Some(fence)))), Reason::LostLease);
            w.acked(1, by, None);
        }
    }

    [Ack5]
    fn ack_5_only_a_complete_turn_supports_the_station(_seen) {
        for how in Finish::ALL {
            let mut w = World::new();
            advanced(w.give(alert(1)));
            let fence = w.reading(ann(), 1);
            advanced(w.give(finish(fence, 1, 1, how)));
            advanced(w.give(respond(fence, 1, 1, reply(1))));
            let told = w.give(ack(1, By::Station, Some(fence)));
            if how.observed() {
                advanced(told);
            } else {
                assert_eq!(refused(told), Reason::AckNotComplete, "{how:?}");
            }
        }
    }

    [Ack5, Stn6]
    fn ack_5_a_station_that_died_after_its_result_acknowledges_under_a_new_lease(_seen) {
        let mut w = World::new();
        advanced(w.give(alert(1)));
        let old = w.worked(ann(), 1);
        w.crash();
        w.tick(w.config.lease);
        let fence = w.claimed(ann());
        // Result and turn stand; the same result again is no second reply.
        absorbed(w.give(respond(fence, 1, 1, Response::Silence)));
        assert_eq!(refused(w.give(ack(1, By::Station, Some(old)))), Reason::LostLease);
        w.acked(1, By::Station, Some(fence));
    }

    [Ack7]
    fn ack_7_the_same_ack_again_is_nothing_new_and_another_one_comes_too_late(seen) {
        let mut w = World::new();
        advanced(w.give(alert(1)));
        let fence = w.worked(ann(), 1);
        let first = statement(1, By::Station, AckOutcome::Handled);
        advanced(w.give(say(first, Some(fence))));
        for crashed in [false, true] {
            if crashed {
                w.crash();
            }
            let before = w.snapshot();
            absorbed(w.give(say(first, Some(fence))));
            absorbed(w.give(say(Ack { time: w.now.wall, ..first }, None)));
            for other in [
                Ack { outcome: AckOutcome::Failed, ..first },
                Ack { by: By::Agent, key: key(By::Agent), ..first },
            ] {
                assert_eq!(refused(w.give(say(other, Some(fence)))), Reason::AlreadyAcknowledged);
            }
            assert_eq!(w.snapshot(), before);
        }
        seen.refusal(Reason::AlreadyAcknowledged);
    }

    [Ack7, Ack3]
    fn ack_7_an_ack_of_unknown_fate_can_be_sent_again(_seen) {
        for (fate, stored) in [(Fate::UnknownKept, true), (Fate::UnknownLost, false), (Fate::NotDurable, false)] {
            let mut w = World::new();
            advanced(w.give(alert(1)));
            w.reading(ann(), 1);
            assert_eq!(w.give_to(fate, ack(1, By::Agent, None)), None);
            assert_eq!(w.cursor(), u64::from(stored), "{fate:?}");
            let told = w.give(ack(1, By::Agent, None));
            assert_eq!(told.is_advanced(), !stored);
            assert!(!matches!(told, Outcome::Refused(_)), "{told:?}");
            assert_eq!(w.cursor(), 1);
        }
    }

    [Ack8]
    fn ack_8_nothing_that_is_answered_run_or_notified_closes_a_witness(_seen) {
        for response in [reply(1), Response::Silence] {
            for outcome in DispatchOutcome::ALL {
                let mut w = World::new();
                let hint = w.alerted(1);
                let permit = w.flying(east(), hint);
                advanced(w.report(permit, hint, FlightReport::Outcome(outcome)));
                let fence = w.reading(ann(), 1);
                advanced(w.give(finish(fence, 1, 1, Finish::Complete)));
                advanced(w.give(respond(fence, 1, 1, response)));
                advanced(w.report(permit, hint, ENDED));
                advanced(w.give(Input::Release { fence }));
                w.pass(Millis(10 * w.config.escalate.0));
                assert_eq!((w.cursor(), w.image().witnesses.len()), (0, 1), "{response:?} {outcome:?}");
            }
        }
    }
}

#[test]
fn ack_5_done_is_no_result_of_an_alert() {
    let mut w = World::with(Config::default());
    advanced(w.give(alert(1)));
    advanced(w.give(mail(2)));
    let fence = w.reading(ann(), 1);
    assert_eq!(refused(w.give(respond(fence, 1, 1, Response::Done))), Reason::ResponseRequired);
    advanced(w.give(respond(fence, 1, 1, Response::Silence)));
    advanced(w.give(read(fence, 2)));
    advanced(w.give(respond(fence, 2, 2, Response::Done)));
}
