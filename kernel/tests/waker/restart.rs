//! Stories of looks, pauses and restarts. B-… are field reports about other wakers. Numbers of the defaults.

use awakener_kernel::config::Config;
use awakener_kernel::ids::{Fence, MessageId};
use awakener_kernel::machine::{Machine, Outcome};
use awakener_kernel::time::{Millis, Mono, Now, Wall};
use awakener_kernel::values::{DispatchOutcome, FlightReport, Hint, Question};
use awakener_kernel::waker::{
    Capability, Effect, Event, Fate, Hold, Image, Input, Missing, Next, Phase, Record, Seen, Waker, Warning,
    Window,
};
use awakener_spec::{Class, Rule};

use crate::rig::{self, Rig, hint};
use crate::stories::{MINUTE, SECOND, attempting, ended, ready, refused, told};

#[test]
fn ver_3_a_smaller_history_gives_up_expired_nonces_at_boot_or_does_not_boot() {
    let mut rig = Rig::new(Config::default());
    for life in [5, 10, 30] {
        let hint = rig.mint(life * SECOND);
        rig.granted(hint);
    }
    let small = Config { nonce_history: 1, ..Config::default() };
    let image = rig.disk.image.clone();
    let early = Now { wall: rig.now.wall + Millis(7 * SECOND), mono: Mono(0) };
    let violation = Waker::recover(&small, early, image.clone()).unwrap_err();
    assert_eq!(violation.rule, Rule::Ver3);
    let late = Now { wall: rig.now.wall + Millis(12 * SECOND), mono: Mono(0) };
    let step = Waker::recover(&small, late, image).unwrap();
    assert!(matches!(step.records(), [Record::Booted { boot: 2, evicted }] if evicted.len() == 2));
}

#[test]
fn dsp_1_the_cooldown_survives_a_restart_and_is_clamped_to_its_own_length() {
    // The last one is a wall clock that stepped far back, as on a restored machine.
    let restarts =
        [(0, 10 * SECOND, 20 * SECOND), (0, 0, 30 * SECOND), (0, MINUTE, 0), (MINUTE, 0, 30 * SECOND)];
    for (back, later, rest) in restarts {
        let mut rig = told();
        ended(&mut rig, 1);
        let hint = rig.mint(30 * SECOND);
        rig.granted(hint);
        rig.now.wall = Wall(rig.now.wall.0.saturating_sub(back));
        rig.crash(later, 3);
        rig.give(Input::Capability(Capability::Unattended));
        let ticket = loop {
            if let Some(ticket) = rig.fire().asked() {
                break ticket;
            }
        };
        assert_eq!(rig.now.mono, Mono(3 + rest));
        assert!(rig.grant(ticket).dispatch().is_some());
    }
}

#[test]
fn dsp_8_nothing_starts_before_the_manifest_was_read() {
    let mut rig = Rig::new(Config::default());
    let hint = rig.mint(30 * SECOND);
    let next = Next::Wait(Hold::Ineligible(Missing::UnknownAgent));
    assert_eq!(rig.granted(hint).event(), Event::Accepted { wake: hint.wake, next });
}

#[test]
fn dsp_10_a_pause_holds_the_start_and_a_resume_looks() {
    let mut rig = ready();
    rig.give(Input::Pause);
    let hint = rig.mint(30 * SECOND);
    let wait = Event::Accepted { wake: hint.wake, next: Next::Wait(Hold::Paused) };
    assert_eq!(rig.granted(hint).event(), wait);
    rig.wait(50 * SECOND);
    assert!(rig.settle().is_empty());
    rig.give(Input::Resume);
    let ticket = rig.fire().asked().unwrap();
    rig.withhold(ticket, Class::NotOutstanding);
    assert!(rig.fire().swept().is_some());
}

#[test]
fn dsp_11_a_resume_looks_at_once_even_if_nothing_is_pending() {
    let mut rig = ready();
    rig.give(Input::Pause);
    rig.wait(10 * SECOND);
    rig.give(Input::Resume);
    let resumed = rig.now.mono;
    assert!(rig.fire().swept().is_some());
    assert_eq!(rig.now.mono, resumed);
}

#[test]
fn dsp_11_a_start_that_is_dropped_owes_a_look_for_those_that_it_stood_for() {
    let mut rig = ready();
    rig.give(Input::Capability(Capability::Missing(Missing::NoAdapter)));
    let hint = rig.mint(30 * SECOND);
    rig.granted(hint);
    // This sweep saw the same alert; what it found was coalesced into the start that is pending.
    assert!(rig.fire().swept().is_some());
    rig.give(Input::Capability(Capability::Unattended));
    let ticket = rig.fire().asked().unwrap();
    rig.withhold(ticket, Class::NotOutstanding);
    let dropped = rig.now.mono;
    assert!(rig.fire().swept().is_some());
    assert_eq!(rig.now.mono, dropped);
}

#[test]
fn dsp_3_the_back_off_survives_a_restart() {
    let mut rig = ready();
    for wait in [30, 60, 120] {
        let hint = rig.mint(30 * SECOND);
        let (ticket, _) = rig.granted(hint).dispatch().unwrap();
        rig.give(Input::Dispatched { ticket, outcome: DispatchOutcome::Unavailable });
        if wait < 120 {
            rig.wait(wait * SECOND);
        }
    }
    let hint = rig.mint(30 * SECOND);
    let wait = Event::Accepted { wake: hint.wake, next: Next::Wait(Hold::BackOff) };
    assert_eq!(rig.granted(hint).event(), wait);
    rig.crash(20 * SECOND, 0);
    rig.give(Input::Capability(Capability::Unattended));
    while rig.fire().asked().is_none() {}
    assert_eq!(rig.now.mono, Mono(100 * SECOND));
}

#[test]
fn dsp_11_sweeps_never_stop() {
    let mut rig = told();
    let mut at = Vec::new();
    for _ in 0..5 {
        assert!(rig.fire().swept().is_some());
        at.push(rig.now.mono.0);
    }
    assert_eq!(at, [1, 2, 3, 4, 5].map(|n| 10 + n * MINUTE), "in flight, and although nobody answers");
}

#[test]
fn dsp_11_a_look_is_owed_at_boot_and_on_reconnect() {
    let mut rig = Rig::new(Config::default());
    assert_eq!(rig.due(), Some(rig.now.mono));
    let ticket = rig.fire().swept().unwrap();
    assert_eq!(rig.give(Input::AskFailed { ticket }).event(), Event::AskFailed);
    assert_eq!(rig.due(), Some(rig.now.mono + Millis(3_750)), "soon, but not at once");
    assert_eq!(rig.give(Input::AskFailed { ticket }).outcome, Outcome::Absorbed, "said already");
    assert_eq!(rig.give(Input::Reconnect).event(), Event::Reconnected);
    assert_eq!(rig.give(Input::Reconnect).outcome, Outcome::Absorbed);
    let again = rig.fire().swept().unwrap();
    assert_eq!(rig.give(Input::Swept { ticket, any: true }).outcome, Outcome::Absorbed, "late");
    assert_eq!(rig.give(Input::Swept { ticket: again, any: true }).event(), Event::Swept { any: true });
    assert_eq!(rig.due(), Some(rig.now.mono + Millis(MINUTE)));
}

#[test]
fn dsp_11_b_10_killed_between_the_acceptance_and_the_dispatch() {
    let mut rig = ready();
    let hint = rig.mint(30 * SECOND);
    let ticket = rig.give(Input::Hint(hint)).asked().unwrap();
    // The transaction is durable, its effects die with the process.
    assert!(rig.grant(ticket).dispatch().is_some());
    rig.crash(5 * SECOND, 0);
    rig.give(Input::Capability(Capability::Unattended));
    refused(&mut rig, Input::Hint(hint), Class::Replay);
    let probe = rig.settle().iter().find_map(rig::Seen::probed).expect("the flight is looked up");
    assert_eq!(
        rig.give(Input::Probed { ticket: probe, fate: Fate::Gone }).event(),
        Event::Probed(Fate::Gone)
    );
    let mut sweeps = 0;
    while sweeps == 0 {
        sweeps += u32::from(rig.fire().swept().is_some());
    }
    assert!(rig.now.mono >= Mono(25 * SECOND), "the cooldown ran on over the restart");
    let again = rig.mint(30 * SECOND);
    let again = hint_for(again, hint.message);
    assert_eq!(rig.granted(again).dispatch().unwrap().1, 2, "it wakes once");
}

fn hint_for(hint: Hint, message: MessageId) -> Hint {
    Hint { message, ..hint }
}

#[test]
fn dsp_12_b_31_a_restart_while_the_runner_lives_starts_no_second_one() {
    let mut rig = told();
    let first = rig.disk.image.flight.unwrap();
    rig.crash(40 * SECOND, 0);
    rig.give(Input::Capability(Capability::Unattended));
    assert_eq!(rig.waker.phase(), Phase::Resolving);
    let hint = rig.mint(30 * SECOND);
    assert_eq!(rig.granted(hint).dispatch(), None, "not before the fate is known");
    let seen = rig.settle();
    let probing = seen.iter().find(|seen| seen.probed().is_some()).unwrap();
    let told_again = Effect::Report { fence: Fence(1), wake: first.wake, report: FlightReport::Attempted };
    assert_eq!(probing.effects[0], told_again, "the first report may have died with the process");
    let probe = probing.probed().unwrap();
    rig.give(Input::Probed { ticket: probe, fate: Fate::Alive });
    assert_eq!(rig.waker.phase(), Phase::Told);
    rig.wait(MINUTE);
    assert!(rig.settle().iter().all(|seen| seen.asked().is_none()));
    ended(&mut rig, 1);
    assert!(rig.fire().asked().is_some());
}

#[test]
fn dsp_12_what_nobody_can_tell_is_bounded_and_said() {
    let (mut rig, late) = attempting();
    rig.crash(5 * MINUTE, 0);
    rig.give(Input::Capability(Capability::Unattended));
    let mut probes = 0;
    let told = loop {
        let seen = rig.fire();
        if let Some(ticket) = seen.probed() {
            probes += 1;
            rig.give(Input::Probed { ticket, fate: Fate::CannotTell });
        }
        if seen.effects.iter().any(|effect| matches!(effect, Effect::TellOperator(_))) {
            break seen;
        }
    };
    assert_eq!(rig.now.mono, Mono(10 * MINUTE), "flight_max runs on over the restart");
    assert_eq!(probes, 10, "it is looked up again, but not all the time");
    let warning = told.effects.iter().find_map(|effect| match effect {
        Effect::TellOperator(Warning::FateUnknown { attempt, .. }) => Some(*attempt),
        _ => None,
    });
    assert_eq!(warning, Some(1));
    let outcome = DispatchOutcome::NotifiedVerified;
    assert_eq!(rig.give(Input::Dispatched { ticket: late, outcome }).outcome, Outcome::Absorbed);
    let hint = rig.mint(30 * SECOND);
    assert!(rig.granted(hint).dispatch().is_some(), "not deaf for ever");
}

#[test]
fn dsp_12_a_probe_found_alive_counts_as_told() {
    let (mut rig, _) = attempting();
    rig.crash(SECOND, 0);
    let probe = rig.settle().iter().find_map(rig::Seen::probed).unwrap();
    let seen = rig.give(Input::Probed { ticket: probe, fate: Fate::Alive });
    assert!(matches!(seen.records[..], [Record::FoundAlive { attempt: 1 }]));
    rig.crash(SECOND, 0);
    let probe = rig.settle().iter().find_map(rig::Seen::probed).unwrap();
    let seen = rig.give(Input::Probed { ticket: probe, fate: Fate::Alive });
    assert!(seen.records.is_empty(), "known already");
    assert_eq!(rig.waker.phase(), Phase::Told);
}

#[test]
fn ver_5_check_sees_each_broken_image() {
    let good = told().disk.image;
    let config = Config::default();
    let now = Now { wall: Wall(9_000), mono: Mono(0) };
    let rule = |image: Image| Waker::recover(&config, now, image).map(|_| ()).map_err(|v| v.rule);
    assert_eq!(rule(good.clone()), Ok(()));
    assert_eq!(rule(Image { high_water: None, ..good.clone() }), Err(Rule::Ver2));
    assert_eq!(rule(Image { attempts: 9, ..good.clone() }), Err(Rule::Dsp2));
    assert_eq!(rule(Image { last_start: Some(Wall(1)), ..good.clone() }), Err(Rule::Dsp2));
    assert_eq!(rule(Image { flight: None, last_start: None, ..good.clone() }), Err(Rule::Dsp1));
    assert_eq!(rule(Image { flight: None, attempts: 0, ..good.clone() }), Err(Rule::Dsp1));
    let ahead = hint(5, Wall(0), 1);
    let pending = Question { wake: ahead.wake, message: ahead.message, token: ahead.token };
    assert_eq!(rule(Image { pending: Some(pending), ..good.clone() }), Err(Rule::Ver2));
    let mut window = Window::default();
    let seen = |n| Seen { nonce: hint(n, Wall(0), 1).nonce, expires: Wall(99_999_999) };
    (1..=1_025).for_each(|n| window.insert(seen(n)));
    assert_eq!(rule(Image { window: window.clone(), ..good.clone() }), Err(Rule::Ver3));
    window.remove(seen(7).nonce);
    assert_eq!(rule(Image { window, ..good }), Ok(()));
}
