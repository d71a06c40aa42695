//! A real NATS server that is absent, comes, is killed and comes back.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use awakener::broker::{Arrival, Nats};
use awakener::wake::{Local, Setup};
use awakener_tools::enforces_process;

use super::carriers::Carrier;
use super::real::{Real, name};
use super::rig::{builder, limits, looking, run, start, stays, stop, until, with};
use super::station::Station;

enforces_process! {
    [Brk1, Emt4] fn brk_1_a_server_that_is_not_there_yet_is_waited_for(_seen) {
        run(async {
            let Some(mut carrier) = Carrier::nats() else { return };
            let broker = carrier.client(256).await;
            let mut hints = broker.subscribe(&BTreeSet::from([builder()]));
            // Nothing is kept for later: what nobody takes now is lost, and said to be.
            let taken = broker.publish(&builder(), Arc::from(b"early".as_slice())).await;
            assert!(taken.unwrap_err().to_string().contains("not connected"), "nobody is there");
            assert_eq!((broker.counters().failed, broker.counters().connected), (1, Some(false)));
            carrier.server().start().unwrap();
            let first = tokio::time::timeout(Duration::from_secs(20), hints.next()).await.unwrap();
            assert_eq!(first, Some(Arrival::Connected));
            broker.publish(&builder(), Arc::from(b"hint".as_slice())).await.unwrap();
            let next = tokio::time::timeout(Duration::from_secs(5), hints.next()).await.unwrap();
            assert_eq!(next, Some(Arrival::Hint(Arc::from(b"hint".as_slice()))));
            let counters = broker.counters();
            assert_eq!((counters.handed_over, counters.reconnects, counters.connected), (1, 0, Some(true)));
        });
    }

    [Brk1, Dsp11] fn brk_1_a_server_that_is_killed_five_times_under_traffic_costs_no_alert(_seen) {
        run(async {
            let Some(mut carrier) = Carrier::nats() else { return };
            let (home, folder, station) =
                (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), Station::start().await);
            // The server is absent at first: the first alert goes without it.
            let (publisher, consumer) = (carrier.client(256).await, carrier.client(256).await);
            let mut plane = Real::start(home.path(), limits(), Some(Arc::clone(&publisher))).await;
            let local = Arc::new(Local::new(plane.plane.clone(), name("daemon")));
            let setup = with(folder.path(), local, station.adapter());
            let daemon = start(Setup { broker: Some(Arc::clone(&consumer)), ..looking(setup) }).await;
            let mut alerts = 0;
            for _ in 0..5 {
                for _ in 0..3 {
                    alerts += 1;
                    let id = plane.raise().await;
                    until("each alert wakes", async || station.told().len() >= alerts).await;
                    plane.acknowledge(id).await;
                }
                carrier.server().start().unwrap();
                until("both are back", async || {
                    [&publisher, &consumer].iter().all(|client| client.counters().connected == Some(true))
                }).await;
                for _ in 0..3 {
                    alerts += 1;
                    let id = plane.raise().await;
                    until("each alert wakes", async || station.told().len() >= alerts).await;
                    plane.acknowledge(id).await;
                }
                carrier.server().kill();
                until("both have noticed", async || {
                    [&publisher, &consumer].iter().all(|client| client.counters().connected == Some(false))
                }).await;
            }
            stays("none wakes twice", Duration::from_millis(500), async || station.told().len() == alerts).await;
            assert_eq!((publisher.counters().reconnects, consumer.counters().reconnects), (4, 4));
            // Both ways were used: some hints went through, some were refused by the client.
            let counters = publisher.counters();
            assert!(counters.handed_over >= 5 && counters.failed >= 5, "{counters:?}");
            for kind in ["wake_emitted", "wake_emit_failed"] {
                assert!(plane.count(kind) >= 5, "{kind}");
            }
            assert_eq!(plane.count("tier0_acknowledged"), alerts);
            stop(daemon).await;
        });
    }

    [Brk1] fn brk_1_after_a_restart_nothing_is_missed_that_comes_after_the_word(_seen) {
        run(async {
            let Some(mut carrier) = Carrier::nats() else { return };
            carrier.server().start().unwrap();
            let (one, other) = (carrier.client(256).await, carrier.client(256).await);
            let mut hints = one.subscribe(&BTreeSet::from([builder()]));
            carrier.settled(&mut hints).await;
            for round in 0..5_u8 {
                carrier.server().kill();
                carrier.server().start().unwrap();
                // The word comes when the server has the subscription again; what is published from then on comes.
                let word = tokio::time::timeout(Duration::from_secs(20), hints.next()).await.unwrap();
                assert_eq!(word, Some(Arrival::Connected), "round {round}");
                until("the publisher is back", async || {
                    other.publish(&builder(), Arc::from([round].as_slice())).await.is_ok()
                }).await;
                let hint = tokio::time::timeout(Duration::from_secs(5), hints.next()).await.unwrap();
                assert_eq!(hint, Some(Arrival::Hint(Arc::from([round].as_slice()))), "round {round}");
            }
        });
    }

    [Prt3] fn prt_3_a_server_elsewhere_takes_tls(_seen) {
        run(async {
            let refused = Nats::to(&["nats://192.0.2.1:4222"]).await.unwrap_err();
            assert!(refused.contains("tls://"), "{refused}");
            assert!(Nats::to(&["nats://127.0.0.1:1"]).await.is_ok());
        });
    }
}
