//! Permits, flights, sweeps (ADM-6, DSP-2, DSP-7, DSP-11).

use awakener_kernel::config::Config;
use awakener_kernel::ids::Fence;
use awakener_kernel::mailbox::input::{Input, Minted};
use awakener_kernel::time::Millis;
use awakener_kernel::values::{By, Finish, FlightEnd, FlightReport, Permit, Question, Response};
use awakener_spec::{Class, Reason};
use awakener_tools::enforces;

use crate::cast::*;
use crate::world::{World, absorbed, advanced, refused, withheld};

fn about(hint: Minted) -> Question {
    Question { wake: hint.fresh.wake, message: hint.message, token: hint.token }
}

const IDLE: FlightReport = FlightReport::Ended(FlightEnd::Idle);

enforces! {
    [Dsp7, Adm6]
    fn dsp_7_the_first_thing_wrong_is_the_answer_whatever_else_is(seen) {
        let mut w = World::new();
        let hint = w.alerted(1);
        let other = w.alerted(2);
        w.permitted(west(), other);
        let fence = w.reading(ann(), 1);
        w.acked(1, By::Agent, Some(fence));
        w.registry.withdrawn.insert(mira());
        w.registry.armed = false;
        w.registry.open = false;
        let foreign = [
            Question { wake: wake(9_999), ..about(hint) },
            Question { token: other.token, ..about(hint) },
            Question { message: msg(2), ..about(hint) },
        ];
        for question in foreign {
            assert_eq!(withheld(w.give(Input::Ask { daemon: east(), question })), Class::Unminted);
        }
        let answer = |w: &mut World, hint: Minted, class: Class| {
            let before = w.snapshot();
            assert_eq!(withheld(w.ask(east(), hint)), class);
            assert_eq!(w.snapshot(), before);
            seen.class(class);
        };
        answer(&mut w, hint, Class::AuthorityWithdrawn);
        w.registry.open = true;
        answer(&mut w, hint, Class::AuthorityWithdrawn);
        w.registry.withdrawn.clear();
        answer(&mut w, hint, Class::NotArmed);
        w.registry.armed = true;
        answer(&mut w, hint, Class::NotOutstanding);
        answer(&mut w, other, Class::PermitHeld);
        w.tick(w.config.permit);
        w.permitted(east(), other);
    }

    [Dsp7]
    fn dsp_7_a_lost_answer_is_given_again_and_only_the_last_permit_counts(seen) {
        let mut w = World::new();
        let hint = w.alerted(1);
        let lost = w.permitted(east(), hint);
        let again = w.permitted(east(), hint);
        assert!(again.fence > lost.fence);
        assert_eq!(refused(w.report(lost, hint, FlightReport::Attempted)), Reason::StaleTicket);
        seen.refusal(Reason::StaleTicket);
        advanced(w.report(again, hint, FlightReport::Attempted));
        absorbed(w.report(again, hint, FlightReport::Attempted));
        assert_eq!(withheld(w.ask(east(), hint)), Class::PermitHeld, "while it flies not even east");
    }

    [Dsp7, Dsp2]
    fn dsp_7_a_second_daemon_waits_for_the_permit_or_the_flight_to_be_over(seen) {
        let mut w = World::new();
        let hint = w.alerted(1);
        w.permitted(east(), hint);
        for crashed in [false, true] {
            if crashed { w.crash() }
            assert_eq!(withheld(w.ask(west(), hint)), Class::PermitHeld);
        }
        seen.class(Class::PermitHeld);
        w.tick(Millis(w.config.permit.0 - 1));
        assert_eq!(withheld(w.ask(west(), hint)), Class::PermitHeld);
        w.tick(Millis(1));
        let permit = w.flying(west(), hint);
        w.start();
        w.pass(Millis(w.config.flight_max.0 - 1));
        assert_eq!(withheld(w.ask(east(), hint)), Class::PermitHeld);
        // The very moment is not enough: the flight's end must be on record, or it would never be counted.
        w.tick(Millis(1));
        assert_eq!(withheld(w.ask(east(), hint)), Class::PermitHeld);
        assert_eq!(w.attempts(1), 0);
        w.pass(Millis(0));
        assert_eq!(w.attempts(1), 1);
        w.permitted(east(), hint);
        // The daemon that was given up on comes back.
        let before = w.machine().clone();
        assert_eq!(w.report(permit, hint, ENDED), awakener_kernel::machine::Outcome::Absorbed);
        assert_eq!(refused(w.report(permit, hint, FlightReport::Attempted)), Reason::StaleTicket);
        assert_eq!(w.machine(), &before, "what is over cannot end or begin again");
    }

    [Dsp2]
    fn dsp_2_a_flight_without_a_read_counts_one_attempt_and_one_with_none(_seen) {
        let ends = [
            (FlightEnd::ProcessEnded, 1),
            (FlightEnd::WorkFinished, 1),
            (FlightEnd::Idle, 1),
            (FlightEnd::Expired, 1),
            (FlightEnd::NeverStarted, 0),
        ];
        for (end, attempts) in ends {
            let mut w = World::new();
            let hint = w.alerted(1);
            let permit = w.flying(east(), hint);
            advanced(w.report(permit, hint, FlightReport::Ended(end)));
            assert_eq!(w.report(permit, hint, FlightReport::Ended(end)), awakener_kernel::machine::Outcome::Absorbed);
            assert_eq!(w.attempts(1), attempts, "{end:?}");
            w.permitted(west(), hint);
        }
        let mut w = World::new();
        let hint = w.alerted(1);
        let permit = w.flying(east(), hint);
        w.reading(ann(), 1);
        advanced(w.report(permit, hint, ENDED));
        assert_eq!(w.attempts(1), 1, "the read's own, not the flight's too");
    }

    [Dsp7, Dsp2]
    fn dsp_2_the_end_of_a_flight_counts_also_when_its_beginning_was_not_heard(_seen) {
        let mut w = World::new();
        let hint = w.alerted(1);
        let permit = w.permitted(east(), hint);
        advanced(w.report(permit, hint, IDLE));
        assert_eq!(w.attempts(1), 1);
        let unused = w.permitted(east(), hint);
        advanced(w.report(unused, hint, FlightReport::Ended(FlightEnd::NeverStarted)));
        assert_eq!(w.attempts(1), 1);
        w.flying(east(), hint);
    }

    [Dsp2, Inb8, Ack9]
    fn dsp_2_flights_that_nobody_reads_in_end_in_quarantine(_seen) {
        let mut w = World::with(Config { attempts: 3, ..Config::default() });
        let mut hint = w.alerted(1);
        for attempt in 1..=3 {
            let permit = w.flying(east(), hint);
            advanced(w.report(permit, hint, ENDED));
            assert_eq!(w.attempts(1), attempt);
            if attempt < 3 {
                hint = w.swept();
            }
        }
        assert_eq!(w.told(), vec![msg(1)]);
        assert_eq!(withheld(w.sweep()), Class::NotOutstanding);
        assert_eq!(withheld(w.ask(east(), hint)), Class::NotOutstanding);
        assert_eq!(w.image().witnesses.len(), 1);
    }

    [Dsp2, Inb8]
    fn dsp_2_the_end_of_a_flight_takes_no_work_from_whoever_has_read_it(_seen) {
        let mut w = World::with(Config { attempts: 2, ..Config::default() });
        let hint = w.alerted(1);
        let fence = w.reading(ann(), 1);
        let permit = w.flying(east(), hint);
        advanced(w.report(permit, hint, ENDED));
        assert_eq!((w.attempts(1), w.told()), (2, vec![]));
        advanced(w.give(finish(fence, 1, 1, Finish::Complete)));
        advanced(w.give(respond(fence, 1, 1, Response::Silence)));
        w.acked(1, By::Station, Some(fence));
        // Claimed but not read: nobody has seen it, and it is set aside.
        let mut w = World::with(Config { attempts: 1, ..Config::default() });
        let hint = w.alerted(1);
        let fence = w.claimed(ann());
        let permit = w.flying(east(), hint);
        advanced(w.report(permit, hint, ENDED));
        assert_eq!(w.told(), vec![msg(1)]);
        assert_eq!(refused(w.give(read(fence, 1))), Reason::NotClaimed);
    }

    [Dsp2]
    fn dsp_2_a_flight_of_a_closed_alert_costs_nothing(_seen) {
        let mut w = World::new();
        let hint = w.alerted(1);
        let permit = w.flying(east(), hint);
        advanced(w.give(Input::Resolve { message: msg(1) }));
        advanced(w.report(permit, hint, ENDED));
        assert_eq!(w.attempts(1), 0);
        w.crash();
    }

    [Dsp11]
    fn dsp_11_a_sweep_needs_an_open_alert_with_attempts_left_and_no_flight(seen) {
        let mut w = World::with(Config { attempts: 1, ..Config::default() });
        assert_eq!(withheld(w.sweep()), Class::NotOutstanding);
        let hint = w.alerted(1);
        w.registry.armed = false;
        assert_eq!(withheld(w.sweep()), Class::NotArmed);
        w.registry.withdrawn.insert(mira());
        assert_eq!(withheld(w.sweep()), Class::AuthorityWithdrawn);
        w.registry.withdrawn.clear();
        w.registry.armed = true;
        let permit = w.flying(east(), hint);
        assert_eq!(withheld(w.sweep()), Class::PermitHeld);
        seen.class(Class::PermitHeld);
        advanced(w.report(permit, hint, FlightReport::Ended(FlightEnd::NeverStarted)));
        w.swept();
        let permit = w.flying(east(), hint);
        advanced(w.report(permit, hint, ENDED));
        assert_eq!(withheld(w.sweep()), Class::NotOutstanding, "set aside");
        advanced(w.give(Input::ReleaseQuarantine { message: msg(1) }));
        w.swept();
    }

    [Dsp11]
    fn dsp_11_no_alert_stands_in_the_way_of_the_next(_seen) {
        // The sender of the older one has left the roster.
        let mut w = World::new();
        advanced(w.give(Input::Admit(submitted(otto(), "interrupt-alert/1", 1))));
        advanced(w.give(alert(2)));
        w.registry.withdrawn.insert(otto());
        assert_eq!(w.swept().message, msg(2));
        w.registry.withdrawn.clear();
        assert_eq!(w.swept().message, msg(1));
        // The older one has used up its attempts and waits for its ACK.
        let mut w = World::with(Config { attempts: 1, ..Config::default() });
        advanced(w.give(alert(1)));
        let fence = w.worked(ann(), 1);
        advanced(w.give(Input::Release { fence }));
        advanced(w.give(alert(2)));
        assert_eq!(w.swept().message, msg(2));
    }

    [Dsp11, Emt3]
    fn dsp_11_sweeps_take_no_place_in_the_schedule(_seen) {
        let mut w = World::new();
        advanced(w.give(alert(1)));
        let mut tokens = Vec::new();
        let mut fired = 0;
        for _ in 0..100 {
            tokens.push(w.swept().token);
            fired += emissions(w.pass(seconds(30))).len();
        }
        assert_eq!(fired, 6);
        assert!(tokens.is_sorted_by(|a, b| a < b));
    }
}

#[test]
fn dsp_7_a_report_under_a_permit_that_nobody_gave_is_stale() {
    let mut w = World::new();
    let hint = w.alerted(1);
    let other = w.alerted(2);
    let made_up = |fence| Permit { fence: Fence(fence), life: Millis(1) };
    let permit = w.permitted(east(), hint);
    for (fence, about) in [(0, hint), (permit.fence.0 + 1, hint), (permit.fence.0, other)] {
        for report in [FlightReport::Attempted, ENDED] {
            let before = w.snapshot();
            assert_eq!(refused(w.report(made_up(fence), about, report)), Reason::StaleTicket);
            assert_eq!(w.snapshot(), before);
        }
    }
    advanced(w.report(permit, hint, FlightReport::Attempted));
}
