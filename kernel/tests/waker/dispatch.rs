//! Stories of starts and flights. B-… are field reports about other wakers. Numbers of the defaults.

use awakener_kernel::config::Config;
use awakener_kernel::machine::Outcome;
use awakener_kernel::time::Mono;
use awakener_kernel::values::{DispatchOutcome, FlightEnd, FlightReport};
use awakener_kernel::waker::{Capability, Declared, Effect, Event, Hold, Input, Missing, Next, Phase};
use awakener_spec::{Class, Reason};

use crate::rig::Rig;
use crate::stories::{MINUTE, SECOND, attempting, ended, ready, told};

#[test]
fn dsp_1_an_answer_after_the_end_of_the_hint_is_none() {
    let mut rig = ready();
    let hint = rig.mint(30 * SECOND);
    let ticket = rig.give(Input::Hint(hint)).asked().unwrap();
    rig.wait(30 * SECOND);
    let seen = rig.grant(ticket);
    assert_eq!(seen.event(), Event::Withheld { wake: hint.wake, class: Class::Unanswered });
    assert!(seen.records.is_empty());
    assert!(seen.effects.is_empty());
}

#[test]
fn dsp_1_b_04_a_second_alert_in_the_cooldown_starts_once_at_its_end() {
    let mut rig = told();
    rig.wait(SECOND);
    ended(&mut rig, 1);
    let second = rig.mint(30 * SECOND);
    let wait = Event::Accepted { wake: second.wake, next: Next::Wait(Hold::Cooldown) };
    assert_eq!(rig.granted(second).event(), wait);
    let third = rig.mint(30 * SECOND);
    rig.granted(third);
    let ticket = rig.fire().asked().expect("one question");
    assert_eq!(rig.now.mono, Mono(10 + 30 * SECOND), "exactly at the end of the cooldown");
    let seen = rig.grant(ticket);
    assert_eq!(seen.event(), Event::Permitted { wake: third.wake, next: Next::Dispatch { attempt: 2 } });
    assert_eq!(rig.disk.image.pending, None, "coalesced: nothing more is pending");
}

#[test]
fn dsp_2_no_second_flight_before_the_first_has_ended() {
    let mut rig = told();
    rig.wait(MINUTE);
    let hint = rig.mint(30 * SECOND);
    let wait = Event::Accepted { wake: hint.wake, next: Next::Wait(Hold::Flight) };
    assert_eq!(rig.granted(hint).event(), wait);
    assert!(rig.settle().iter().all(|seen| seen.asked().is_none()));
    ended(&mut rig, 1);
    let ticket = rig.fire().asked().expect("the re-fire that was owed");
    assert_eq!(rig.grant(ticket).dispatch().unwrap().1, 2);
}

#[test]
fn dsp_2_a_look_is_owed_at_the_end_of_a_flight_but_not_within_the_cooldown() {
    for (lasted, looked) in [(SECOND, 30 * SECOND), (45 * SECOND, 45 * SECOND)] {
        let mut rig = told();
        rig.wait(lasted);
        ended(&mut rig, 1);
        assert!(rig.fire().swept().is_some());
        assert_eq!(rig.now.mono, Mono(10 + looked));
    }
}

#[test]
fn dsp_2_flight_max_ends_a_flight_and_a_look_is_owed() {
    let mut rig = told();
    let seen = loop {
        let seen = rig.fire();
        if seen.swept().is_none() {
            break seen;
        }
    };
    assert_eq!(seen.event(), Event::FlightEnded { attempt: 1, end: FlightEnd::Expired });
    assert_eq!(rig.now.mono, Mono(10 + 15 * MINUTE));
    assert!(rig.settle()[0].swept().is_some());
    assert_eq!(rig.give(Input::FlightEnded { attempt: 1, end: FlightEnd::Idle }).outcome, Outcome::Absorbed);
}

#[test]
fn dsp_3_definite_failures_back_off_up_to_the_cap_and_recovery_is_seen() {
    let mut rig = ready();
    let mut gaps = Vec::new();
    for attempt in 1..=8 {
        let hint = rig.mint(30 * SECOND);
        let seen = rig.granted(hint);
        let (ticket, number) = seen.dispatch().unwrap();
        assert_eq!(number, attempt);
        let outcome =
            [DispatchOutcome::Unavailable, DispatchOutcome::RefusedBusy, DispatchOutcome::NotAttempted]
                [(attempt % 3) as usize];
        let seen = rig.give(Input::Dispatched { ticket, outcome });
        assert!(matches!(
            seen.effects[..],
            [
                Effect::Report { report: FlightReport::Outcome(_), .. },
                Effect::Report { report: FlightReport::Ended(FlightEnd::NeverStarted), .. },
            ]
        ));
        assert_eq!(rig.waker.phase(), Phase::Resting);
        let failed = rig.now.mono;
        // Regular sweeps go on; the start waits.
        let early = rig.mint(30 * SECOND);
        let wait = Event::Accepted { wake: early.wake, next: Next::Wait(Hold::BackOff) };
        assert_eq!(rig.granted(early).event(), wait);
        let ticket = loop {
            if let Some(ticket) = rig.fire().asked() {
                break ticket;
            }
        };
        gaps.push(rig.now.mono.saturating_since(failed).0 / SECOND);
        rig.withhold(ticket, Class::NotOutstanding);
        rig.settle();
    }
    assert_eq!(gaps, [30, 60, 120, 240, 480, 900, 900, 900]);
    let hint = rig.mint(30 * SECOND);
    let (ticket, _) = rig.granted(hint).dispatch().unwrap();
    rig.give(Input::Dispatched { ticket, outcome: DispatchOutcome::NotifiedVerified });
    assert_eq!(rig.disk.image.failures, 0);
}

#[test]
fn dsp_5_an_unknown_outcome_keeps_the_flight_open() {
    for outcome in [DispatchOutcome::OutcomeUnknown, DispatchOutcome::TypedUnverified] {
        let (mut rig, ticket) = attempting();
        rig.give(Input::Dispatched { ticket, outcome });
        assert_eq!(rig.waker.phase(), Phase::Unknown);
        let hint = rig.mint(30 * SECOND);
        rig.granted(hint);
        rig.wait(14 * MINUTE);
        assert!(
            rig.settle().iter().all(|seen| seen.asked().is_none()),
            "no attempt on top of an unknown one"
        );
        let mut idle = rig.clone();
        let end = FlightEnd::Idle;
        assert_eq!(
            idle.give(Input::FlightEnded { attempt: 1, end }).event(),
            Event::FlightEnded { attempt: 1, end }
        );
        assert!(idle.fire().asked().is_some());
        // A read tells that the runtime knows; it works now, and the flight ends with the work.
        assert_eq!(rig.give(Input::InboxRead { attempt: 1 }).event(), Event::InboxRead);
        assert_eq!(rig.waker.phase(), Phase::Told);
        ended(&mut rig, 1);
        assert!(rig.fire().asked().is_some());
    }
}

#[test]
fn dsp_3_work_that_was_read_ends_a_row_of_failures() {
    let (mut rig, ticket) = attempting();
    rig.give(Input::Dispatched { ticket, outcome: DispatchOutcome::Unavailable });
    assert_eq!(rig.disk.image.failures, 1);
    rig.wait(30 * SECOND);
    let hint = rig.mint(30 * SECOND);
    let (ticket, attempt) = rig.granted(hint).dispatch().unwrap();
    rig.give(Input::Dispatched { ticket, outcome: DispatchOutcome::TypedUnverified });
    assert_eq!(rig.disk.image.failures, 1, "typed text proves nothing");
    rig.give(Input::InboxRead { attempt });
    assert_eq!(rig.disk.image.failures, 0);
}

#[test]
fn dsp_5_b_29_a_status_that_is_misread_does_not_send_twice() {
    let mut rig = told();
    // The runtime runs a silent tool; repeated hints come all the while.
    for _ in 0..10 {
        rig.wait(30 * SECOND);
        let hint = rig.mint(30 * SECOND);
        assert_eq!(rig.granted(hint).dispatch(), None);
    }
    ended(&mut rig, 1);
    let ticket = rig.fire().asked().unwrap();
    assert_eq!(rig.grant(ticket).dispatch().unwrap().1, 2, "one re-fire for all of them");
}

#[test]
fn dsp_8_only_a_declared_runtime_is_woken_and_receipts_know_a_human() {
    let agent = Declared { adapter: true, tier0_ack: true, headless: true, requires_human_submit: false };
    let of = |agent| Capability::of(Some(agent));
    assert_eq!(Capability::of(None), Ok(Capability::Missing(Missing::UnknownAgent)));
    assert_eq!(of(agent), Ok(Capability::Unattended));
    assert_eq!(of(Declared { headless: false, ..agent }), Ok(Capability::Unattended));
    assert_eq!(of(Declared { adapter: false, ..agent }), Ok(Capability::Missing(Missing::NoAdapter)));
    assert_eq!(of(Declared { tier0_ack: false, ..agent }), Ok(Capability::Missing(Missing::NoTier0Ack)));
    assert_eq!(of(Declared { requires_human_submit: true, ..agent }), Err(Reason::ManifestRefused));
    let desk = Declared { headless: false, requires_human_submit: true, tier0_ack: false, ..agent };
    assert_eq!(of(desk), Ok(Capability::Attended));

    let mut rig = Rig::new(Config::default());
    rig.give(Input::Capability(Capability::Missing(Missing::NoTier0Ack)));
    let hint = rig.mint(30 * SECOND);
    let seen = rig.granted(hint);
    let hold = Hold::Ineligible(Missing::NoTier0Ack);
    assert_eq!(seen.event(), Event::Accepted { wake: hint.wake, next: Next::Wait(hold) });
    assert_eq!(rig.waker.held_by(rig.now), Some(hold));
    rig.give(Input::Capability(Capability::Attended));
    let ticket = rig.fire().asked().expect("it stayed owed");
    let seen = rig.grant(ticket);
    assert!(matches!(seen.effects[..], [_, Effect::Dispatch { attended: true, .. }]));
}
