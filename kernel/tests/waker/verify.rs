//! Stories of hints: how they are judged, held, accepted, replayed. Numbers of the defaults.

use awakener_kernel::config::Config;
use awakener_kernel::ids::Fence;
use awakener_kernel::machine::Outcome;
use awakener_kernel::time::{Millis, Wall};
use awakener_kernel::values::{Answer, FlightReport, Hint, Permit};
use awakener_kernel::waker::{Effect, Event, Hold, Input, Next, Phase, Record};
use awakener_spec::Class;
use awakener_tools::enforces;

use crate::rig::{Rig, hint};
use crate::stories::{SECOND, ended, ready, refused, told};

#[test]
fn ver_2_the_start_is_on_disk_before_the_dispatch_leaves() {
    let mut rig = ready();
    let hint = rig.mint(30 * SECOND);
    let seen = rig.granted(hint);
    assert!(matches!(seen.records[..], [Record::Accepted { .. }, Record::DispatchAttempted { .. }]));
    assert!(matches!(
        seen.effects[..],
        [Effect::Report { report: FlightReport::Attempted, .. }, Effect::Dispatch { attempt: 1, .. }]
    ));
}

#[test]
fn ver_1_each_class_that_needs_state_is_told_from_the_others() {
    let mut rig = told();
    let old = hint(1, rig.now.wall, 30 * SECOND);
    refused(&mut rig, Input::Hint(old), Class::Replay);
    let mut behind = hint(1, rig.now.wall, 30 * SECOND);
    behind.nonce = hint(99, rig.now.wall, 1).nonce;
    refused(&mut rig, Input::Hint(behind), Class::FreshnessRegression);
    let fresh = hint(2, rig.now.wall, 30 * SECOND);
    assert!(rig.give(Input::Hint(fresh)).asked().is_some(), "control: a fresh one is asked about");
    rig.wait(30 * SECOND);
    refused(&mut rig, Input::Hint(hint(3, Wall(0), 1)), Class::Stale);
}

enforces! {
    [Ver3]
    fn ver_3_a_full_history_of_live_hints_refuses_and_gives_up_only_expired_ones(_seen) {
        let mut rig = Rig::new(Config { nonce_history: 2, ..Config::default() });
        let first = rig.mint(10 * SECOND);
        rig.granted(first);
        let long = rig.mint(30 * SECOND);
        rig.granted(long);
        rig.wait(11 * SECOND);
        let third = rig.mint(30 * SECOND);
        refused(&mut rig, Input::Hint(third), Class::WindowFull);
        // The skew after the end is over: a clock that steps back by it cannot revive the first hint any more.
        rig.wait(SECOND);
        let seen = rig.granted(third);
        assert!(matches!(&seen.records[..], [Record::Accepted { evicted, .. }] if *evicted == [first.nonce]));
        refused(&mut rig, Input::Hint(long), Class::Replay);
    }
}

enforces! {
    [Ver3]
    fn ver_3_1024_are_kept_exactly_and_freshness_bars_those_that_are_gone(_seen) {
        let few = Config { nonce_history: 1_023, ..Config::default() }.checked().unwrap_err();
        assert_eq!((few.name, few.floor), ("nonce_history", 1_024));
        let mut rig = Rig::new(Config::default());
        let hints: Vec<_> = (0..1_024)
            .map(|_| {
                let hint = rig.mint(30 * SECOND);
                rig.granted(hint);
                hint
            })
            .collect();
        for hint in &hints {
            refused(&mut rig, Input::Hint(*hint), Class::Replay);
        }
        let more = rig.mint(30 * SECOND);
        refused(&mut rig, Input::Hint(more), Class::WindowFull);
        rig.crash(0, 5);
        refused(&mut rig, Input::Hint(more), Class::WindowFull);

        rig.wait(30 * SECOND + rig.config.skew.0);
        let next = rig.mint(30 * SECOND);
        let seen = rig.granted(next);
        assert!(matches!(&seen.records[..], [Record::Accepted { evicted, .. }, ..] if *evicted == [hints[0].nonce]));
        let kept = hints[1..].iter().chain([&next]);
        assert_eq!(rig.disk.image.window.len(), 1_024);
        assert!(kept.clone().all(|hint| rig.disk.image.window.contains(hint.nonce)));
        // The same nonces and tokens in hints that would still be valid: only the class tells kept from gone.
        let again = |hint: &Hint| Input::Hint(Hint { time: next.time, expires: next.expires, ..*hint });
        refused(&mut rig, again(&hints[0]), Class::FreshnessRegression);
        refused(&mut rig, again(&hints[1]), Class::Replay);
    }
}

enforces! {
    [Ver3]
    fn ver_3_room_is_judged_again_at_acceptance(_seen) {
        let mut rig = Rig::new(Config { nonce_history: 1, ..Config::default() });
        let first = rig.mint(10 * SECOND);
        rig.granted(first);
        rig.wait(12 * SECOND);
        let second = rig.mint(30 * SECOND);
        let ticket = rig.give(Input::Hint(second)).asked().unwrap();
        let mut back = rig.clone();
        back.now.wall = Wall(rig.now.wall.0 - 1);
        let full = Event::Withheld { wake: second.wake, class: Class::WindowFull };
        assert_eq!(back.grant(ticket).event(), full, "the clock stepped back: the first hint could come again");
        assert!(matches!(rig.grant(ticket).event(), Event::Accepted { .. }), "control");
    }
}

#[test]
fn dsp_7_a_hint_is_held_while_the_plane_is_away_and_dropped_at_its_end() {
    let mut rig = ready();
    let hint = rig.mint(30 * SECOND);
    rig.wait(10 * SECOND);
    let mut ticket = rig.give(Input::Hint(hint)).asked().unwrap();
    let mut asked = 1;
    loop {
        assert_eq!(rig.give(Input::AskFailed { ticket }).event(), Event::AskFailed);
        let seen = rig.fire();
        match seen.asked() {
            Some(again) => {
                assert_ne!(again, ticket);
                (ticket, asked) = (again, asked + 1);
            }
            None => {
                let unanswered = Event::Withheld { wake: hint.wake, class: Class::Unanswered };
                assert_eq!(seen.event(), unanswered);
                break;
            }
        }
    }
    assert_eq!(rig.now.wall, hint.expires);
    assert_eq!(asked, 6);
    assert!(rig.disk.image.window.is_empty());
}

#[test]
fn dsp_7_a_withheld_hint_leaves_nothing_behind_and_may_come_again() {
    let mut rig = ready();
    let before = rig.disk.image.clone();
    let hint = rig.mint(30 * SECOND);
    for class in [
        Class::Unminted,
        Class::AuthorityWithdrawn,
        Class::NotArmed,
        Class::NotOutstanding,
        Class::PermitHeld,
    ] {
        let ticket = rig.give(Input::Hint(hint)).asked().unwrap();
        let seen = rig.withhold(ticket, class);
        assert_eq!(seen.event(), Event::Withheld { wake: hint.wake, class });
        assert_eq!(rig.disk.image, before);
    }
    assert!(rig.granted(hint).dispatch().is_some(), "control: granted, it starts");
}

#[test]
fn dsp_7_a_hint_that_comes_while_a_question_is_out_leaves_one_look() {
    let mut rig = ready();
    let first = rig.mint(30 * SECOND);
    let ticket = rig.give(Input::Hint(first)).asked().unwrap();
    let (second, third) = (rig.mint(30 * SECOND), rig.mint(30 * SECOND));
    assert_eq!(rig.give(Input::Hint(second)).event(), Event::LookOwed);
    assert_eq!(rig.give(Input::Hint(third)).outcome, Outcome::Absorbed);
    rig.withhold(ticket, Class::NotOutstanding);
    assert!(rig.fire().swept().is_some());
    assert!(rig.due().unwrap() > rig.now.mono, "one look, not two");
}

#[test]
fn dsp_7_a_permit_that_ran_out_on_its_way_starts_nothing() {
    let mut rig = ready();
    let hint = rig.mint(30 * SECOND);
    let ticket = rig.give(Input::Hint(hint)).asked().unwrap();
    rig.wait(5 * SECOND);
    let permit = Permit { fence: Fence(1), life: Millis(5 * SECOND) };
    let seen = rig.give(Input::Answer { ticket, answer: Answer::Granted(permit) });
    let next = Next::Wait(Hold::PermitSpent);
    assert_eq!(seen.event(), Event::Accepted { wake: hint.wake, next });
    let ticket = rig.fire().asked().expect("asked again under the accepted wake");
    assert!(rig.grant(ticket).dispatch().is_some());
}

#[test]
fn dsp_7_the_pending_start_is_dropped_when_the_plane_says_so_and_asked_again_when_another_has_the_permit() {
    let mut rig = told();
    let hint = rig.mint(30 * SECOND);
    rig.granted(hint);
    ended(&mut rig, 1);
    rig.wait(29 * SECOND);
    let ticket = rig.fire().asked().expect("asked again under the accepted wake");
    let held = Event::Permitted { wake: hint.wake, next: Next::Wait(Hold::PermitHeld) };
    assert_eq!(rig.withhold(ticket, Class::PermitHeld).event(), held);
    assert_eq!(rig.waker.phase(), Phase::Waiting);
    let asked = rig.now.mono;
    let ticket = loop {
        if let Some(ticket) = rig.fire().asked() {
            break ticket;
        }
    };
    assert_eq!(rig.now.mono, asked + Millis(30 * SECOND));
    let dropped = Event::Dropped { wake: hint.wake, class: Class::NotOutstanding };
    assert_eq!(rig.withhold(ticket, Class::NotOutstanding).event(), dropped);
    assert_eq!(rig.disk.image.pending, None);
    assert!(rig.fire().swept().is_some(), "it may have stood for others");
    assert_eq!(rig.now.mono, asked + Millis(30 * SECOND), "a look at once, not the regular one");
}

#[test]
fn ver_1_b_86_a_hint_that_comes_three_times_starts_once() {
    let mut rig = ready();
    let hint = rig.mint(30 * SECOND);
    let ticket = rig.give(Input::Hint(hint)).asked().unwrap();
    assert!(!matches!(rig.give(Input::Hint(hint)).outcome, Outcome::Refused(_)), "not classified yet");
    assert!(rig.grant(ticket).dispatch().is_some());
    refused(&mut rig, Input::Hint(hint), Class::Replay);
    rig.crash(SECOND, 0);
    refused(&mut rig, Input::Hint(hint), Class::Replay);
    assert_eq!(rig.give(Input::Answer { ticket, answer: grant() }).outcome, Outcome::Absorbed);
    assert_eq!(rig.disk.image.attempts, 1);
}

fn grant() -> Answer {
    Answer::Granted(Permit { fence: Fence(9), life: Millis(30 * SECOND) })
}
