//! What a station does in the order in which it happens: passes, crashes, retries, grants.

use awakener_kernel::config::Config;
use awakener_kernel::ids::{Fence, Tier};
use awakener_kernel::machine::{Machine as _, Outcome};
use awakener_kernel::station::*;
use awakener_kernel::time::{Millis, Wall};
use awakener_kernel::values::{Finish, Response, TurnRef};
use awakener_spec::Reason;
use awakener_tools::enforces;

use crate::rig::*;

fn started(effects: &[Effect]) -> usize {
    effects.iter().filter(|e| matches!(e, Effect::StartTurn { .. })).count()
}

fn results(effects: &[Effect]) -> Vec<(TurnRef, Response)> {
    let result = |e: &Effect| match e {
        Effect::RecordResult { turn, response, .. } => Some((*turn, *response)),
        _ => None,
    };
    effects.iter().filter_map(result).collect()
}

fn acks(effects: &[Effect]) -> usize {
    effects.iter().filter(|e| matches!(e, Effect::SendAck { .. })).count()
}

enforces! {
    [Stn3]
    fn stn_3_one_alert_from_hint_to_armed_again(_seen) {
        let mut rig = Rig::new().arm();
        assert!(matches!(rig.go(Input::Hint { wake: wake(1) })[..], [Effect::ReadInbox { .. }]));
        assert!(matches!(rig.go(Input::InboxRead { ticket: rig.ticket() })[..], [Effect::Claim { .. }]));
        assert_eq!(started(&rig.claim(work(1))), 1);
        assert_eq!(rig.station.image().counters.boot(), 1, "counted before it starts");
        let effects = rig.finish(well());
        assert_eq!(results(&effects).len(), 1);
        assert_eq!(acks(&effects), 0, "result first");
        assert_eq!(acks(&rig.go(Input::ResultRecorded { ticket: rig.ticket() })), 1, "then the ACK");
        rig.go(Input::AckAccepted { ticket: rig.ticket() });
        assert_eq!(rig.name(), PhaseName::Synced);
        rig.cleaned();
        assert_eq!(rig.name(), PhaseName::Armed);
        assert!(rig.station.image().progress.is_empty());
    }
}

#[test]
fn stn_3_lower_tiers_need_no_ack() {
    let mut rig = Rig::new().arm().reading();
    rig.claim(mail(1));
    rig.finish(well());
    assert_eq!(acks(&rig.go(Input::ResultRecorded { ticket: rig.ticket() })), 0);
    assert_eq!(rig.name(), PhaseName::Synced);
}

enforces! {
    [Stn5]
    fn stn_5_a_hint_is_a_reason_to_look_and_never_work(_seen) {
        let passes = [1, 2].map(|n| {
            let mut rig = Rig::new().arm();
            let image = rig.station.image().clone();
            let woken = rig.go(Input::Hint { wake: wake(n) });
            assert!(matches!(woken[..], [Effect::ReadInbox { .. }]), "the inbox, and nothing else: {woken:?}");
            assert_eq!(*rig.station.image(), image, "of the hint nothing is kept");
            let read = rig.go(Input::InboxRead { ticket: rig.ticket() });
            assert!(matches!(&read[..], [Effect::Claim { skip, .. }] if skip.is_empty()));
            let mut idle = rig.clone();
            let (ticket, lane) = (rig.ticket(), hosted());
            let nothing = idle.go(Input::Claimed { ticket, turn: turn(1), lane, work: None });
            assert_eq!((started(&nothing), idle.name()), (0, PhaseName::Armed), "an empty inbox is no work");
            let effects = rig.claim(work(7));
            assert_eq!(rig.station.image().turn.map(|t| t.turn.message), Some(message(7)));
            (rig.station, effects)
        });
        assert_eq!(passes[0], passes[1], "which hint it was makes no difference");
    }

    [Obs2]
    fn obs_2_a_turn_records_what_it_was_told_and_what_it_used(_seen) {
        let mut rig = Rig::new().arm().reading();
        let (ticket, lane, work) = (rig.ticket(), hosted(), Some(work(1)));
        let (claimed, start) = rig.recorded(Input::Claimed { ticket, turn: turn(1), lane, work });
        assert_eq!(started(&claimed), 1);
        let [Record::TurnStarted { lane, .. }] = &start[..] else { panic!("{start:?}") };
        let Lane::Hosted { directive, model, mapped: Some(mapped) } = lane else { panic!("{lane:?}") };
        assert_eq!((directive, model.0.as_str(), mapped.window, mapped.budget), (&hash(2), "m", 200_000, 50_000));
        for (run, reason) in [(well(), Finish::Complete), (Run { stop: Stop::Length, ..well() }, Finish::Truncated)] {
            let mut rig = rig.clone();
            let (ticket, answer) = (rig.ticket(), Some(reply()));
            let (_, end) = rig.recorded(Input::TurnFinished { ticket, evidence: Evidence::Ran(run), answer });
            let Record::TurnFinished { turn: of, finish, evidence: Evidence::Ran(kept), .. } = end[0].clone() else {
                panic!("{end:?}")
            };
            assert_eq!((of.turn, finish, kept.tokens), (turn(1), reason, run.tokens));
        }
    }
}

/// A crash at every moment between the end of the turn and the end of the pass.
#[test]
fn stn_6_a_crash_between_result_and_ack_repeats_neither_turn_nor_reply() {
    for crash_after in 0..3 {
        let mut rig = Rig::new().arm().cognizing();
        let said = results(&rig.finish(well()));
        if crash_after >= 1 {
            rig.go(Input::ResultRecorded { ticket: rig.ticket() });
        }
        if crash_after == 2 {
            rig.go(Input::AckRefused { ticket: rig.ticket(), why: Reason::StoreUnavailable });
        }
        rig.crash();
        assert_eq!(rig.name(), PhaseName::Armed);
        assert!(matches!(rig.fire()[..], [Effect::CleanUp { turn: Some(_), .. }]), "the old pass first");
        rig.cleaned();
        let mut rig = rig.reading();
        let effects = rig.claim(Work { fence: Fence(2), ..work(1) });
        assert_eq!(rig.name(), PhaseName::Acking);
        assert_eq!(started(&effects), 0, "no second turn");
        assert_eq!(results(&effects), said, "the same turn and reply, which the mailbox knows");
        assert!(
            matches!(effects[..], [Effect::ReportTurn { finish: Finish::Complete, fence: Fence(2), .. }, ..]),
            "a report that the crash may have lost: without it the mailbox takes no ACK, {effects:?}"
        );
        assert_eq!(acks(&rig.go(Input::ResultRecorded { ticket: rig.ticket() })), 1);
        rig.go(Input::AckAccepted { ticket: rig.ticket() });
        assert_eq!(rig.station.image().counters.boot(), 0, "nothing ran in this boot");
    }
}

#[test]
fn stn_6_what_the_mailbox_recorded_is_enough_to_go_on() {
    let mut rig = Rig::new().arm().reading();
    let prior = Some(Prior { turn: turn(77), response: Response::Silence });
    let effects = rig.claim(Work { prior, ..work(1) });
    let known = TurnRef { turn: turn(77), message: message(1) };
    assert_eq!((started(&effects), results(&effects)), (0, vec![(known, Response::Silence)]));
    let mut control = Rig::new().arm().reading();
    assert_eq!(started(&control.claim(work(1))), 1, "control: without it a turn starts");
}

enforces! {
    [Stn9]
    fn stn_9_a_crash_in_a_turn_is_a_failed_attempt(_seen) {
        let mut rig = Rig::new().arm().cognizing();
        rig.crash();
        let image = rig.station.image();
        assert_eq!(image.progress[&message(1)].failures, 1);
        assert_eq!(image.turn.map(|t| t.finish), Some(Some(Finish::Unknown)));
        rig.fire();
        assert_eq!(rig.step(Input::WorkFound).outcome, Outcome::Absorbed, "not before the cleanup");
        rig.cleaned();
        assert!(matches!(&rig.fire()[..], [Effect::Poll { skip }] if *skip == [message(1)]), "it rests");
    }
}

enforces! {
    [Stn9]
    fn stn_9_retries_rest_longer_each_time_and_end(_seen) {
        let config = Config { attempts: 3, ..Config::default() };
        let mut rig = Rig::with(config).arm();
        let mut rests = Vec::new();
        let mut turns = 0;
        loop {
            let mut next = rig.reading();
            let effects = next.claim(work(1));
            turns += started(&effects);
            if next.name() == PhaseName::Armed {
                assert!(effects.contains(&Effect::TellOperator(Alarm::Stuck(message(1)))));
                break;
            }
            let cut = Run { stop: Stop::Length, ..well() };
            assert_eq!(results(&next.finish(cut)), [], "a truncated turn is no result of an alert");
            next.cleaned();
            let rested = next.station.image().progress[&message(1)].rests_until;
            rests.push(rested.saturating_since(next.now.wall));
            // Too early it is nothing new.
            let mut early = next.clone().reading();
            early.claim(work(1));
            assert_eq!(early.name(), PhaseName::Armed);
            next.wait(rested.saturating_since(next.now.wall));
            rig = next;
        }
        assert_eq!(turns, 3);
        assert_eq!(rests, [30, 60, 120].map(Millis::seconds));
    }
}

enforces! {
    [Stn9]
    fn stn_9_a_released_message_has_fresh_attempts(_seen) {
        let config = Config { attempts: 1, ..Config::default() };
        let mut rig = Rig::with(config).arm().cognizing();
        rig.finish(Run { denials: 1, ..well() });
        rig.cleaned();
        rig.wait(Millis(HOUR.0 - 1));
        let mut stuck = rig.clone().reading();
        assert_eq!(started(&stuck.claim(work(1))), 0);
        let mut released = rig.reading();
        assert_eq!(started(&released.claim(Work { released: 1, ..work(1) })), 1);
    }
}

enforces! {
    [Obs3]
    fn obs_3_a_truncated_turn_may_be_handled_for_the_queue_but_is_no_observation(_seen) {
        let mut rig = Rig::new().arm().reading();
        rig.claim(mail(1));
        let effects = rig.finish(Run { stop: Stop::Length, ..well() });
        assert_eq!(results(&effects).len(), 1);
        assert!(effects.iter().any(|e| matches!(e, Effect::ReportTurn { finish: Finish::Truncated, .. })));
        assert_eq!(rig.name(), PhaseName::Armed, "never ACKING");
        assert_eq!(rig.station.image().progress[&message(1)].finished, None);
        assert!(!Finish::Truncated.observed() && Finish::Complete.observed());
        // Of an alert it is not even handled.
        let mut alert = Rig::new().arm().cognizing();
        let effects = alert.finish(Run { stop: Stop::Length, ..well() });
        assert_eq!((results(&effects).len(), acks(&effects), alert.name()), (0, 0, PhaseName::Armed));
        // Control: the same turn, had it come to its end.
        let mut whole = Rig::new().arm().reading();
        whole.claim(mail(1));
        whole.finish(well());
        assert_eq!(whole.name(), PhaseName::Acking);
        assert!(whole.station.image().progress[&message(1)].finished.is_some());
    }
}

enforces! {
    [Obs2]
    fn obs_2_an_unmapped_model_starts_nothing(seen) {
        let mut rig = Rig::new().arm().reading();
        let lane = Lane::Hosted { directive: hash(2), model: Model("x".into()), mapped: None };
        let input = |lane| Input::Claimed { ticket: rig.ticket(), turn: turn(1), lane, work: Some(work(1)) };
        let (refused, control) = (input(lane), input(hosted()));
        assert_eq!(rig.step(refused).outcome, Outcome::Refused(Reason::UnmappedModel));
        assert_eq!((rig.name(), rig.station.image().counters.boot()), (PhaseName::Reading, 0));
        seen.refusal(Reason::UnmappedModel);
        assert_eq!(started(&rig.go(control)), 1, "control");
    }
}

#[test]
fn obs_1_a_complete_turn_without_an_answer_is_none() {
    let mut rig = Rig::new().arm().cognizing();
    let evidence = Evidence::Ran(well());
    rig.go(Input::TurnFinished { ticket: rig.ticket(), evidence, answer: None });
    assert_eq!(rig.station.image().turn.and_then(|t| t.finish), Some(Finish::Unknown));
}

enforces! {
    [Stn3]
    fn stn_3_a_turn_that_does_not_end_is_timed_out_and_its_lease_renewed_until_then(_seen) {
        let mut rig = Rig::new().arm().cognizing();
        let until = rig.now.mono + rig.config.flight_max;
        let mut renewals = 0;
        while rig.name() == PhaseName::Cognizing {
            let effects = rig.fire();
            renewals += effects.iter().filter(|e| matches!(e, Effect::Renew { .. })).count();
        }
        assert_eq!((rig.now.mono, renewals), (until, 29));
        assert_eq!(rig.station.image().turn.and_then(|t| t.finish), Some(Finish::Timeout));
    }
}

enforces! {
    [Stn3]
    fn stn_3_the_agents_own_ack_closes_what_it_is_about(_seen) {
        let mut rig = Rig::new().arm().cognizing();
        let other = Input::OwnAck { message: message(2), seq: seq(11), by: Hand::Agent };
        assert_eq!(rig.step(other).outcome, Outcome::Absorbed, "another alert's");
        rig.go(Input::OwnAck { message: message(1), seq: seq(10), by: Hand::Agent });
        assert_eq!(rig.station.image().turn.and_then(|t| t.finish), Some(Finish::Unreported));
        rig.go(Input::AckAccepted { ticket: rig.ticket() });
        rig.cleaned();
        assert_eq!(rig.name(), PhaseName::Armed);
    }
}

#[test]
fn stn_8_an_attached_agent_runs_its_own_turn() {
    let mut rig = Rig::new().arm().reading();
    let claimed =
        Input::Claimed { ticket: rig.ticket(), turn: turn(1), lane: Lane::Attached, work: Some(work(1)) };
    assert_eq!(started(&rig.go(claimed)), 0);
    let (ticket, evidence) = (rig.ticket(), Evidence::Unreported);
    rig.go(Input::TurnFinished { ticket, evidence, answer: Some(reply()) });
    assert_eq!(rig.name(), PhaseName::Armed, "unreported is not observed");
}

enforces! {
    [Stn7]
    fn stn_7_latency_is_measured_only_above_the_known_tail(_seen) {
        for (tail, latency) in [
            (None, Latency::Unmeasured(Unmeasured::Backlog)),
            (Some(10), Latency::Unmeasured(Unmeasured::Backlog)),
            (Some(9), Latency::Measured),
            (Some(0), Latency::Measured),
        ] {
            let mut rig = Rig::new().arm();
            if let Some(tail) = tail {
                rig.go(Input::MarkTail { tail: Tail(tail) });
            }
            let mut rig = rig.acking();
            rig.go(Input::ResultRecorded { ticket: rig.ticket() });
            let seen = rig.step(Input::AckAccepted { ticket: rig.ticket() });
            assert_eq!(seen.outcome, Outcome::Advanced(Event::Synced(latency)));
        }
        // The tail is what was there before the test: it is marked while nothing runs, and never goes back.
        let mut rig = Rig::new().arm();
        rig.go(Input::MarkTail { tail: Tail(9) });
        assert_eq!(rig.step(Input::MarkTail { tail: Tail(8) }).outcome, Outcome::Absorbed);
        let late = rig.cognizing().step(Input::MarkTail { tail: Tail(11) });
        assert_eq!(late.outcome, Outcome::Refused(Reason::OutOfPhase));
    }
}

#[test]
fn stn_2_a_grant_has_an_end_and_a_bound() {
    let mut rig = Rig::new();
    let grant = |until| Input::Grant { until, command: command(1) };
    let (most, now) = (rig.now.wall + rig.config.grant, rig.now.wall);
    let refused = Outcome::Refused(Reason::OperatorBoundExceeded);
    assert_eq!(rig.step(grant(most + Millis(1))).outcome, refused);
    assert_eq!(rig.step(grant(now)).outcome, Outcome::Refused(Reason::NotArmed));
    rig.go(grant(now + HOUR));
    assert_eq!(rig.step(grant(now + HOUR)).outcome, Outcome::Absorbed, "the same grant again");
    rig.wait(Millis(HOUR.0 - 1));
    rig.crash();
    assert_eq!(rig.name(), PhaseName::Armed, "a crash returns to ARMED while the grant holds");
    rig.wait(Millis(1));
    rig.crash();
    assert_eq!((rig.name(), rig.station.image().grant), (PhaseName::Dark, None), "and to DARK after it");
}

#[test]
fn stn_2_a_grant_that_ended_by_the_wall_clock_starts_nothing_even_before_its_timer() {
    let mut rig = Rig::new().arm();
    rig.now.wall = rig.now.wall + HOUR;
    assert_eq!(rig.step(Input::Hint { wake: wake(1) }).outcome, Outcome::Refused(Reason::NotArmed));
    assert!(rig.step(Input::Fire).outcome.is_advanced(), "the look was due");
    rig.now.mono = rig.now.mono + HOUR;
    rig.go(Input::Fire);
    assert_eq!(rig.name(), PhaseName::Dark);
}

#[test]
fn stn_2_a_clock_set_back_over_a_crash_lengthens_no_grant() {
    let mut rig = Rig::new().arm();
    rig.now.wall = Wall(1);
    rig.crash();
    let ends = rig.now.mono + rig.config.grant;
    rig.now.mono = ends;
    while rig.name() == PhaseName::Armed {
        rig.go(Input::Fire);
        assert!(rig.deadline().is_none_or(|at| at > rig.now.mono) || rig.name() == PhaseName::Armed);
    }
    assert_eq!(rig.name(), PhaseName::Dark, "at most its own bound after the boot");
}

enforces! {
    [Stn3]
    fn stn_3_refused_ends_when_the_last_cause_is_gone(_seen) {
        let mut rig = Rig::new().arm().cognizing();
        let (audit, config) = (RefusedCause::AuditUnavailable, RefusedCause::ConfigInvalid);
        let effects = rig.go(Input::CauseFound { cause: audit });
        assert!(effects.iter().any(|e| matches!(e, Effect::CleanUp { .. })), "the turn is stopped");
        rig.go(Input::CauseFound { cause: config });
        assert_eq!(rig.step(Input::CauseFound { cause: config }).outcome, Outcome::Absorbed);
        rig.go(Input::CauseGone { cause: audit });
        assert_eq!(rig.name(), PhaseName::Refused);
        rig.go(Input::CauseGone { cause: config });
        assert_eq!(rig.name(), PhaseName::Armed);
    }
}

enforces! {
    [Stn4]
    fn stn_4_an_old_ticket_is_absorbed_a_foreign_one_refused(_seen) {
        let mut rig = Rig::new().arm().cognizing();
        let old = rig.ticket();
        let finished =
            |ticket| Input::TurnFinished { ticket, evidence: Evidence::Ran(well()), answer: Some(reply()) };
        rig.go(Input::LeaseLost { fence: Fence(1) });
        assert_eq!(rig.step(finished(old)).outcome, Outcome::Absorbed);
        let never = Ticket { number: 1_000, ..old };
        assert_eq!(rig.step(finished(never)).outcome, Outcome::Refused(Reason::OutOfPhase));
        rig.crash();
        assert_eq!(rig.step(finished(old)).outcome, Outcome::Refused(Reason::StaleTicket));
    }
}

enforces! {
    [Stn9]
    fn stn_9_a_cleanup_is_asked_for_until_it_is_done(_seen) {
        let mut rig = Rig::new().arm().synced();
        let ticket = rig.station.cleaning();
        for _ in 0..3 {
            assert!(matches!(rig.fire()[..], [Effect::CleanUp { .. }]));
            assert_eq!(rig.station.cleaning(), ticket, "the same act");
        }
        assert!(matches!(rig.station.image().turn, Some(turn) if turn.finish == Some(Finish::Complete)));
        rig.cleaned();
        assert_eq!((rig.name(), rig.station.image().turn), (PhaseName::Armed, None));
    }
}

#[test]
fn stn_9_the_memory_of_unfinished_work_is_bounded() {
    let mut image = Image::default();
    use awakener_kernel::machine::Image as _;
    for n in 0..3_000 {
        let (why, at) = (None, Wall(n));
        let message = message(u128::from(n));
        image.apply(&Record::PassFailed { message, why, rests_until: at, at });
    }
    assert_eq!(image.progress.len(), MAX_PROGRESS);
    assert!(image.progress.contains_key(&message(2_999)), "the newest stays");
}

#[test]
fn rte_2_tiers_are_what_decides_the_ack() {
    for tier in [Tier::One, Tier::Two, Tier::Three] {
        let mut rig = Rig::new().arm().reading();
        rig.claim(Work { tier, ..work(1) });
        rig.finish(well());
        rig.go(Input::ResultRecorded { ticket: rig.ticket() });
        assert_eq!(rig.name(), PhaseName::Synced);
    }
}
