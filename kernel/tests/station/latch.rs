//! FUS-4…7: the order of a trip, what survives a failure of each part, and the order of a clear.

use awakener_kernel::config::Config;
use awakener_kernel::fuse::{Reading, Trip};
use awakener_kernel::machine::{Image as _, Machine as _, Outcome};
use awakener_kernel::station::*;
use awakener_kernel::time::Millis;
use awakener_spec::Reason;
use awakener_tools::enforces;

use crate::rig::*;

fn written(effects: &[Effect]) -> Option<TripAudit> {
    effects.iter().find_map(|e| match e {
        Effect::WriteLatch { note, .. } => Some(note.audit),
        _ => None,
    })
}

fn loud(effects: &[Effect], why: MissingAudit) -> bool {
    effects.contains(&Effect::TellOperator(Alarm::TripAuditMissing(LatchId(turn(1)), why)))
}

fn stops(effects: &[Effect]) -> bool {
    effects.contains(&Effect::StopProcess)
}

enforces! {
    [Fus4]
    fn fus_4_audit_then_latch_then_stop(_seen) {
        let mut rig = Rig::new().arm().reading();
        let effects = rig.claim(tripping());
        assert!(matches!(
            effects[..],
            [
                Effect::Release { .. },
                Effect::AppendTripAudit { within: AUDIT_WITHIN, .. },
                Effect::TellOperator(Alarm::Latched(_))
            ]
        ));
        let effects = rig.audit(Ok(hash(9)));
        assert_eq!(written(&effects), Some(TripAudit::Recorded(hash(9))), "the latch names the record");
        assert!(!stops(&effects));
        assert!(stops(&rig.go(Input::LatchWritten { ticket: rig.ticket(), ok: true })));
        assert_eq!(EXIT_LATCHED, 90);
        assert_eq!(rig.step(Input::WorkFound).outcome, Outcome::Refused(Reason::Latched));
        assert_eq!(rig.station.image().counters.boot(), 0, "no turn was started");
    }
}

enforces! {
    [Fus5]
    fn fus_5_latch_and_record_name_each_other(_seen) {
        for result in [Ok(hash(9)), Err(Reason::StoreUnavailable)] {
            let mut rig = Rig::new().arm().reading();
            let effects = rig.claim(tripping());
            let named = effects.iter().find_map(|e| match e {
                Effect::AppendTripAudit { latch, cause, .. } => Some((*latch, cause.clone())),
                _ => None,
            });
            let named = named.expect("the record is asked for, and is told the latch");
            let effects = rig.audit(result);
            let note = effects.iter().find_map(|e| match e {
                Effect::WriteLatch { note, .. } => Some(note.clone()),
                _ => None,
            });
            let note = note.expect("the latch is written");
            assert_eq!((note.latch, note.cause), named);
            let (said, alarm) = match result {
                Ok(record) => (TripAudit::Recorded(record), None),
                Err(why) => (TripAudit::Missing(MissingAudit::Failed(why)), Some(MissingAudit::Failed(why))),
            };
            assert_eq!(note.audit, said);
            assert_eq!(effects.iter().any(|e| matches!(e, Effect::TellOperator(_))), alarm.is_some());
            assert!(alarm.is_none_or(|why| loud(&effects, why)));
        }
    }

    [Aud4]
    fn aud_4_no_latch_goes_before_its_incident_is_kept(_seen) {
        let mut rig = Rig::new().arm().latched();
        clear(&mut rig, 2);
        let mut failed = rig.clone();
        let effects = failed.go(Input::LatchArchived { ticket: rig.ticket(), ok: false });
        assert!(!effects.iter().any(|e| matches!(e, Effect::RemoveLatch { .. })), "{effects:?}");
        let (effects, records) = rig.recorded(Input::LatchArchived { ticket: rig.ticket(), ok: true });
        assert!(matches!(effects[..], [Effect::RemoveLatch { .. }]));
        assert_eq!(records, [Record::LatchArchived], "that it is kept is on record before it is removed");
    }

    [Fus2]
    fn fus_2_what_is_counted_on_disk_before_a_turn_is_what_trips(_seen) {
        let mut rig = Rig::new().arm().reading();
        let (ticket, lane, work) = (rig.ticket(), hosted(), Some(work(1)));
        let (effects, records) = rig.recorded(Input::Claimed { ticket, turn: turn(1), lane, work });
        assert!(effects.iter().any(|e| matches!(e, Effect::StartTurn { .. })));
        assert!(matches!(records[..], [Record::TurnStarted { .. }]), "counted by the record that lets it start");
        let reading = |rig: &Rig| rig.disk.image.counters.reading(rig.now.wall);
        assert_eq!(reading(&rig), Reading { hour: 1, day: 1, boot: 1 });
        rig.crash();
        assert_eq!(reading(&rig), Reading { hour: 1, day: 1, boot: 0 }, "durable");

        let base = Config { turns_per_hour: 9, turns_per_day: 9, turns_per_boot: 9, ..Config::default() };
        type Trips = fn(Reading) -> Trip;
        let limits: [(Config, Trips); 3] = [
            (Config { turns_per_hour: 2, ..base.clone() }, |r| Trip::Hour { turns: r.hour, limit: 2 }),
            (Config { turns_per_day: 2, ..base.clone() }, |r| Trip::Day { turns: r.day, limit: 2 }),
            (Config { turns_per_boot: 2, ..base }, |r| Trip::Boot { turns: r.boot, limit: 2 }),
        ];
        for (config, trip) in limits {
            let mut rig = Rig::with(config).arm();
            for turns in 1..=2 {
                rig = rig.synced();
                rig.cleaned();
                assert_eq!(reading(&rig), Reading { hour: turns, day: turns, boot: turns });
            }
            let shown = reading(&rig);
            let mut rig = rig.reading();
            rig.claim(crate::rig::work(1));
            let cause = rig.station.image().latch.as_ref().map(|latch| latch.cause.clone());
            assert_eq!(cause, Some(LatchCause::Tripped { message: message(1), trip: trip(shown) }));
        }
    }
}

enforces! {
    [Fus5]
    fn fus_5_a_failed_audit_still_latches_and_says_so(_seen) {
        let mut rig = Rig::new().arm().tripped();
        let effects = rig.audit(Err(Reason::StoreUnavailable));
        let why = MissingAudit::Failed(Reason::StoreUnavailable);
        assert_eq!(written(&effects), Some(TripAudit::Missing(why)));
        assert!(loud(&effects, why));
        assert!(stops(&rig.go(Input::LatchWritten { ticket: rig.ticket(), ok: true })));
    }
}

enforces! {
    [Fus4]
    fn fus_4_a_late_audit_is_not_waited_for(_seen) {
        let mut rig = Rig::new().arm().tripped();
        let late = rig.ticket();
        rig.wait(Millis(AUDIT_WITHIN.0 - 1));
        assert_eq!(rig.step(Input::Fire).outcome, Outcome::Absorbed, "not yet");
        rig.wait(Millis(1));
        let effects = rig.go(Input::Fire);
        assert_eq!(written(&effects), Some(TripAudit::Missing(MissingAudit::Late)));
        assert!(loud(&effects, MissingAudit::Late));
        let done = Input::TripAuditDone { ticket: late, result: Ok(hash(9)) };
        assert_eq!(rig.step(done).outcome, Outcome::Absorbed, "the latch has said that it is missing");
    }
}

enforces! {
    [Fus4]
    fn fus_4_the_process_stops_even_when_the_latch_cannot_be_written(_seen) {
        let mut rig = Rig::new().arm().tripped();
        rig.audit(Ok(hash(9)));
        let effects = rig.go(Input::LatchWritten { ticket: rig.ticket(), ok: false });
        assert!(effects.contains(&Effect::TellOperator(Alarm::LatchNotWritten(LatchId(turn(1))))));
        assert!(stops(&effects));
        let mut silent = Rig::new().arm().tripped();
        silent.audit(Ok(hash(9)));
        assert!(stops(&silent.fire()), "nor when no answer comes");
    }
}

enforces! {
    [Fus6]
    fn fus_6_a_trip_record_latches_every_boot_until_it_is_cleared(_seen) {
        // A crash at each stage of the trip.
        for stage in 0..3 {
            let mut rig = Rig::new().arm().tripped();
            if stage >= 1 {
                rig.audit(Ok(hash(9)));
            }
            if stage == 2 {
                rig.go(Input::LatchWritten { ticket: rig.ticket(), ok: true });
            }
            rig.crash();
            assert_eq!(rig.name(), PhaseName::LatchedDown);
            let known = if stage == 0 {
                TripAudit::Missing(MissingAudit::Interrupted)
            } else {
                TripAudit::Recorded(hash(9))
            };
            assert_eq!(written(&rig.fire()), Some(known), "the file is written again");
            assert!(stops(&rig.go(Input::LatchWritten { ticket: rig.ticket(), ok: true })));
        }
    }
}

enforces! {
    [Fus6]
    fn fus_6_what_lies_at_the_path_latches_and_is_left_alone(_seen) {
        let mut rig = Rig::new().arm().cognizing();
        let effects = rig.go(Input::LatchFound { latch: LatchId(turn(5)) });
        assert_eq!((written(&effects), stops(&effects)), (None, true));
        rig.crash();
        while rig.deadline().is_some_and(|at| at <= rig.now.mono) {
            assert_eq!(written(&rig.go(Input::Fire)), None);
        }
        assert_eq!(rig.name(), PhaseName::LatchedDown);
    }
}

enforces! {
    [Fus6]
    fn fus_6_a_boot_adopts_a_latch_that_the_store_does_not_know(_seen) {
        let mut rig = Rig::new().arm();
        let record = rig.disk.image.adopt(LatchId(turn(5)), rig.now.wall).expect("there was none");
        rig.disk.image.apply(&record);
        assert_eq!(rig.disk.image.adopt(LatchId(turn(6)), rig.now.wall), None, "one is enough");
        rig.crash();
        assert_eq!(rig.name(), PhaseName::LatchedDown);
        let grant = Input::Grant { until: rig.now.wall + HOUR, command: command(3) };
        for input in [Input::Hint { wake: wake(1) }, Input::WorkFound, grant] {
            assert_eq!(rig.step(input).outcome, Outcome::Refused(Reason::Latched));
        }
    }
}

enforces! {
    [Fus6]
    fn fus_6_a_driver_can_latch_a_trip_that_it_cannot_commit(_seen) {
        let rig = Rig::new().arm().reading();
        let claimed =
            |work| Input::Claimed { ticket: rig.ticket(), turn: turn(1), lane: hosted(), work: Some(work) };
        let note = rig.station.trip(&rig.config, rig.now, &claimed(tripping())).expect("it trips");
        assert_eq!(note.latch, LatchId(turn(1)));
        assert!(matches!(note.audit, TripAudit::Missing(MissingAudit::Failed(_))));
        assert_eq!(rig.station.trip(&rig.config, rig.now, &claimed(work(1))), None, "control");
        // What it announces is what the step does.
        let mut same = rig.clone();
        same.go(claimed(tripping()));
        let latch = same.station.image().latch.as_ref().expect("latched");
        assert_eq!((latch.latch, &latch.cause, latch.at), (note.latch, &note.cause, note.at));
    }
}

fn clear(rig: &mut Rig, n: u128) {
    let effects = rig.go(Input::Clear { command: command(n) });
    assert!(matches!(effects[..], [Effect::ArchiveLatch { .. }]));
}

#[test]
fn fus_7_archived_then_removed_then_dark() {
    let mut rig = Rig::new().arm().latched();
    clear(&mut rig, 2);
    let effects = rig.go(Input::LatchArchived { ticket: rig.ticket(), ok: true });
    assert!(matches!(effects[..], [Effect::RemoveLatch { .. }]));
    assert_eq!(rig.name(), PhaseName::LatchedDown, "still");
    rig.go(Input::LatchRemoved { ticket: rig.ticket(), ok: true });
    assert_eq!((rig.name(), &rig.station.image().latch), (PhaseName::Dark, &None));
    rig.crash();
    assert_eq!(rig.name(), PhaseName::Dark, "a boot does not arm what an operator did not");
    let rig = rig.arm();
    assert_eq!(rig.name(), PhaseName::Armed);
}

#[test]
fn fus_7_a_clear_that_is_half_done_leaves_it_latched_and_can_be_repeated() {
    for (archived, crash) in [(false, true), (true, true), (false, false), (true, false)] {
        let mut rig = Rig::new().arm().latched();
        clear(&mut rig, 2);
        if archived {
            rig.go(Input::LatchArchived { ticket: rig.ticket(), ok: true });
        }
        if crash {
            rig.crash();
        } else {
            let ticket = rig.ticket();
            let failed = if archived {
                Input::LatchRemoved { ticket, ok: false }
            } else {
                Input::LatchArchived { ticket, ok: false }
            };
            let effects = rig.go(failed);
            assert!(matches!(effects[..], [Effect::TellOperator(Alarm::ClearFailed(_))]));
        }
        assert_eq!(rig.name(), PhaseName::LatchedDown);
        clear(&mut rig, 3);
        rig.go(Input::LatchArchived { ticket: rig.ticket(), ok: true });
        rig.go(Input::LatchRemoved { ticket: rig.ticket(), ok: true });
        assert_eq!(rig.name(), PhaseName::Dark);
    }
}

enforces! {
    [Stn3]
    fn stn_3_in_latched_down_a_disarm_takes_only_the_grant(_seen) {
        let mut rig = Rig::new().arm().latched();
        rig.go(Input::Disarm);
        assert_eq!((rig.name(), rig.station.image().grant), (PhaseName::LatchedDown, None));
        assert_eq!(rig.step(Input::Disarm).outcome, Outcome::Absorbed);
        let grant = Input::Grant { until: rig.now.wall + HOUR, command: command(4) };
        assert_eq!(rig.step(grant).outcome, Outcome::Refused(Reason::Latched));
    }
}

enforces! {
    [Fus2]
    fn fus_2_the_counters_outlive_the_latch(_seen) {
        let mut rig = Rig::new().arm().synced();
        rig.cleaned();
        let mut rig = rig.latched();
        clear(&mut rig, 2);
        rig.go(Input::LatchArchived { ticket: rig.ticket(), ok: true });
        rig.go(Input::LatchRemoved { ticket: rig.ticket(), ok: true });
        assert_eq!(rig.station.image().counters.len(), 1);
    }
}
