//! When a runtime is told, when not, and what is said of it.

use std::sync::Arc;
use std::time::Duration;

use awakener::wake::Via;
use awakener_kernel::time::Millis;
use awakener_kernel::values::{DispatchOutcome, FlightEnd, FlightReport};
use awakener_kernel::waker::{Hold, Missing, Phase};
use awakener_tools::enforces_process;
use axum::http::StatusCode;

use super::rig::{self, looking, manifest, receipts, run, start, stays, stop, until, with};
use super::scripted::Scripted;
use super::station::{Station, adapter_at};

const NOTIFIED: FlightReport = FlightReport::Outcome(DispatchOutcome::NotifiedVerified);
const IDLE: FlightReport = FlightReport::Ended(FlightEnd::Idle);

async fn phase(daemon: &awakener::wake::Daemon) -> Phase {
    daemon.status().await.unwrap().targets[0].phase
}

enforces_process! {
    [Dsp2, Dsp4, Dsp6, Dsp7] fn dsp_2_the_attempt_is_durable_before_the_runtime_is_told(_seen) {
        run(async {
            let (folder, plane, station) = (tempfile::tempdir().unwrap(), Scripted::default(), Station::start().await);
            let state = folder.path().to_owned();
            station.works(true);
            station.when_told(move || {
                assert_eq!(receipts(&state), ["wake_accepted", "dispatch_attempted"]);
            });
            let daemon = start(with(folder.path(), Arc::new(plane.clone()), station.adapter())).await;
            daemon.present(Via::Broker, &plane.bytes(1)).await.unwrap();
            until("the plane heard", async || plane.reports() == [FlightReport::Attempted, NOTIFIED]).await;
            assert_eq!(phase(&daemon).await, Phase::Told);
            // Work goes on; the flight ends when the runtime is idle again.
            station.running(false);
            until("the flight is over", async || plane.reports() == [FlightReport::Attempted, NOTIFIED, IDLE]).await;
            let question = plane.asked()[0];
            assert_eq!(station.told(), [format!("awakener: read the inbox of builder; alert {}; attempt 1", question.message)]);
            assert_eq!(receipts(folder.path()), ["wake_accepted", "dispatch_attempted", "runtime_notified"]);
            // The end of a flight owes a look (DSP-2).
            let sweeps = plane.sweeps();
            until("a look was taken", async || plane.sweeps() > sweeps || sweeps >= 2).await;
            stop(daemon).await;
        });
    }

    [Dsp1] fn dsp_1_a_cooldown_coalesces_what_comes_meanwhile(_seen) {
        run(async {
            let (folder, plane, station) = (tempfile::tempdir().unwrap(), Scripted::default(), Station::start().await);
            let mut setup = with(folder.path(), Arc::new(plane.clone()), station.adapter());
            setup.manifest = manifest(&rig::BUILDER.replace("1ms", "1200ms"));
            let daemon = start(setup).await;
            daemon.present(Via::Broker, &plane.bytes(1)).await.unwrap();
            until("the first flight is over", async || plane.reports().len() == 3).await;
            for number in 2..5 {
                daemon.present(Via::Broker, &plane.bytes(number)).await.unwrap();
                until("it is accepted", async || plane.asked().len() >= number as usize).await;
            }
            until("the rest is told once", async || station.told().len() == 2).await;
            let times = station.times();
            assert!(times[1] - times[0] >= Duration::from_millis(1_100), "{times:?}");
            until("that flight is over", async || plane.reports().len() == 6).await;
            stays("nothing more", Duration::from_millis(300), async || station.told().len() == 2).await;
            // The last question is the one of the start, about the latest of them.
            assert_eq!(plane.asked().last().unwrap().token.counter(), 4);
            stop(daemon).await;
        });
    }

    [Dsp2] fn dsp_2_while_a_flight_lasts_nothing_else_starts(_seen) {
        run(async {
            let (folder, plane, station) = (tempfile::tempdir().unwrap(), Scripted::default(), Station::start().await);
            station.works(true);
            let daemon = start(with(folder.path(), Arc::new(plane.clone()), station.adapter())).await;
            daemon.present(Via::Broker, &plane.bytes(1)).await.unwrap();
            until("the runtime works", async || plane.reports().len() == 2).await;
            daemon.present(Via::Broker, &plane.bytes(2)).await.unwrap();
            until("the second is accepted", async || {
                daemon.status().await.unwrap().targets[0].held_by == Some(Hold::Flight)
            }).await;
            stays("one flight", Duration::from_millis(300), async || station.told().len() == 1).await;
            station.running(false);
            until("the second was told after the first", async || station.told().len() == 2).await;
            stop(daemon).await;
        });
    }

    [Dsp3, Dsp4] fn dsp_3_a_runtime_that_is_down_is_tried_again_later(_seen) {
        run(async {
            let (folder, plane) = (tempfile::tempdir().unwrap(), Scripted::default());
            // A port where nobody listens any more.
            let addr = Station::start().await.addr;
            until("the port is free", async || std::net::TcpListener::bind(addr).is_ok()).await;
            let daemon = start(looking(with(folder.path(), Arc::new(plane.clone()), adapter_at(addr)))).await;
            daemon.present(Via::Broker, &plane.bytes(1)).await.unwrap();
            let down = FlightReport::Outcome(DispatchOutcome::Unavailable);
            let never = FlightReport::Ended(FlightEnd::NeverStarted);
            until("the plane heard", async || plane.reports() == [FlightReport::Attempted, down, never]).await;
            assert_eq!(receipts(folder.path()).last().unwrap(), "runtime_unavailable");
            // A look is owed; what it finds waits for the back-off, then flies.
            let (station, failed) = (Station::at(addr).await, std::time::Instant::now());
            plane.owe(plane.bytes(2));
            until("the runtime was told", async || station.told().len() == 1).await;
            assert!(failed.elapsed() >= Duration::from_millis(100), "{:?}", failed.elapsed());
            stop(daemon).await;
        });
    }

    [Dsp3, Dsp4] fn dsp_3_a_busy_runtime_is_not_written_to(_seen) {
        run(async {
            let (folder, plane, station) = (tempfile::tempdir().unwrap(), Scripted::default(), Station::start().await);
            station.running(true);
            let daemon = start(looking(with(folder.path(), Arc::new(plane.clone()), station.adapter()))).await;
            daemon.present(Via::Broker, &plane.bytes(1)).await.unwrap();
            let busy = FlightReport::Outcome(DispatchOutcome::RefusedBusy);
            until("the plane heard", async || plane.reports().contains(&busy)).await;
            assert_eq!(receipts(folder.path()).last().unwrap(), "skipped");
            assert_eq!(station.told().len(), 0);
            // The same when the runtime itself says so.
            station.running(false);
            station.answer(Some(StatusCode::CONFLICT));
            plane.owe(plane.bytes(2));
            until("it was refused again", async || {
                plane.reports().iter().filter(|report| **report == busy).count() == 2
            }).await;
            station.answer(None);
            plane.owe(plane.bytes(3));
            until("the runtime was told", async || station.told().len() == 1).await;
            stop(daemon).await;
        });
    }

    [Dsp4, Dsp5] fn dsp_5_an_unknown_outcome_is_neither_success_nor_failure(_seen) {
        run(async {
            let (folder, plane, station) = (tempfile::tempdir().unwrap(), Scripted::default(), Station::start().await);
            station.mute(true);
            station.works(true);
            let daemon = start(with(folder.path(), Arc::new(plane.clone()), station.adapter())).await;
            daemon.present(Via::Broker, &plane.bytes(1)).await.unwrap();
            let unknown = FlightReport::Outcome(DispatchOutcome::OutcomeUnknown);
            until("the plane heard", async || plane.reports() == [FlightReport::Attempted, unknown]).await;
            assert_eq!(receipts(folder.path()).last().unwrap(), "dispatch_unknown");
            assert_eq!(phase(&daemon).await, Phase::Unknown);
            station.mute(false);
            daemon.present(Via::Broker, &plane.bytes(2)).await.unwrap();
            // No next attempt as long as the runtime may be at work.
            stays("no next attempt", Duration::from_millis(400), async || station.told().len() == 1).await;
            station.running(false);
            until("idle ends it", async || plane.reports().get(2) == Some(&IDLE)).await;
            until("then the next flies", async || station.told().len() == 2).await;
            stop(daemon).await;
        });
    }

    [Dsp8] fn dsp_8_only_what_can_acknowledge_is_woken_unattended(_seen) {
        run(async {
            let unable = rig::BUILDER.replace("tier0_ack = true", "tier0_ack = false");
            let attended = r#"
                [agents.builder]
                runtime = "fake"
                outcome = "notified_human"
                headless = false
                requires_human_submit = true
                cooldown = "1ms"
            "#;
            for (text, held) in [(unable.as_str(), Some(Hold::Ineligible(Missing::NoTier0Ack))), (attended, None)] {
                let (folder, plane, station) = (tempfile::tempdir().unwrap(), Scripted::default(), Station::start().await);
                let mut setup = with(folder.path(), Arc::new(plane.clone()), station.adapter());
                setup.manifest = manifest(text);
                let daemon = start(setup).await;
                daemon.present(Via::Broker, &plane.bytes(1)).await.unwrap();
                match held {
                    Some(_) => {
                        until("it waits", async || daemon.status().await.unwrap().targets[0].held_by == held).await;
                        stays("nothing starts", Duration::from_millis(200), async || station.told().is_empty()).await;
                    }
                    None => {
                        let human = FlightReport::Outcome(DispatchOutcome::NotifiedHuman);
                        until("the human was told", async || plane.reports().contains(&human)).await;
                        assert_eq!(receipts(folder.path()).last().unwrap(), "human_notified");
                    }
                }
                stop(daemon).await;
            }
        });
    }

    [Dsp3] fn dsp_3_without_an_adapter_the_wake_stays_owed(_seen) {
        run(async {
            let (folder, plane, station) = (tempfile::tempdir().unwrap(), Scripted::default(), Station::start().await);
            let daemon = start(rig::setup(folder.path(), Arc::new(plane.clone()))).await;
            daemon.present(Via::Broker, &plane.bytes(1)).await.unwrap();
            until("it waits", async || {
                daemon.status().await.unwrap().targets[0].held_by == Some(Hold::Ineligible(Missing::NoAdapter))
            }).await;
            assert_eq!(receipts(folder.path()), ["wake_accepted"]);
            stop(daemon).await;
            // The accepted wake outlives the daemon and flies once there is a way.
            let daemon = start(with(folder.path(), Arc::new(plane.clone()), station.adapter())).await;
            until("the runtime was told", async || station.told().len() == 1).await;
            stop(daemon).await;
        });
    }

    [Dsp10] fn dsp_10_a_pause_file_holds_starts_until_it_is_gone(_seen) {
        run(async {
            let (folder, plane, station) = (tempfile::tempdir().unwrap(), Scripted::default(), Station::start().await);
            for (number, name) in [(1, "pause-builder"), (2, "stop-all")] {
                let file = folder.path().join(name);
                // The daemon is dead while the file is written.
                std::fs::write(&file, "").unwrap();
                let daemon = start(with(folder.path(), Arc::new(plane.clone()), station.adapter())).await;
                daemon.present(Via::Broker, &plane.bytes(number)).await.unwrap();
                until("it is held", async || {
                    daemon.status().await.unwrap().targets[0].held_by == Some(Hold::Paused)
                }).await;
                stays("nothing starts", Duration::from_millis(300), async || {
                    station.told().len() == number as usize - 1
                }).await;
                std::fs::remove_file(&file).unwrap();
                until("the runtime was told", async || station.told().len() == number as usize).await;
                until("the flight is over", async || plane.reports().len() == 3 * number as usize).await;
                stop(daemon).await;
            }
        });
    }

    [Dsp11] fn dsp_11_what_was_lost_is_found_by_a_look(_seen) {
        run(async {
            let (folder, plane, station) = (tempfile::tempdir().unwrap(), Scripted::default(), Station::start().await);
            let mut setup = with(folder.path(), Arc::new(plane.clone()), station.adapter());
            setup.limits.sweep = Millis(150);
            let daemon = start(setup).await;
            until("there was a look at the start", async || plane.sweeps() >= 1).await;
            plane.owe(plane.bytes(1));
            until("the runtime was told", async || station.told().len() == 1).await;
            // A hint of a sweep passes verification like any other.
            plane.owe(plane.bytes(1));
            until("the same again is a replay", async || {
                daemon.status().await.unwrap().refused.contains_key(&awakener_spec::Class::Replay)
            }).await;
            // The plane goes away and comes back: one look at once, long before the regular one.
            stop(daemon).await;
            let daemon = start(with(folder.path(), Arc::new(plane.clone()), station.adapter())).await;
            plane.up(false);
            until("the plane is missed", async || !daemon.status().await.unwrap().plane_reachable).await;
            plane.owe(plane.bytes(2));
            plane.up(true);
            until("the runtime was told again", async || station.told().len() == 2).await;
            stop(daemon).await;
        });
    }

    [Dsp2, Dsp11] fn dsp_2_the_plane_hears_the_end_of_a_flight_before_it_is_asked_again(_seen) {
        run(async {
            let (folder, plane, station) = (tempfile::tempdir().unwrap(), Scripted::default(), Station::start().await);
            let daemon = start(looking(with(folder.path(), Arc::new(plane.clone()), station.adapter()))).await;
            until("there are looks", async || plane.sweeps() >= 2).await;
            daemon.present(Via::Broker, &plane.bytes(1)).await.unwrap();
            until("the runtime was told", async || station.told().len() == 1).await;
            plane.deaf(true);
            let sweeps = plane.sweeps();
            // A plane that believes in a flight would find nothing.
            stays("no look", Duration::from_millis(700), async || plane.sweeps() <= sweeps + 1).await;
            plane.deaf(false);
            until("it heard everything", async || plane.reports() == [FlightReport::Attempted, NOTIFIED, IDLE]).await;
            until("looks go on", async || plane.sweeps() > sweeps + 1).await;
            stop(daemon).await;
        });
    }
}
