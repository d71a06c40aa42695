//! The way of the hints: in process, and over loopback HTTP.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use awakener::broker::{Arrival, Broker, HttpPush, InProcess};
use awakener::wake::Local;
use awakener_kernel::ids::Target;
use awakener_tools::enforces_process;

use super::real::{Real, name};
use super::rig::{limits, listening, run, start, stop, until, with};
use super::station::Station;

fn target(name: &str) -> Target {
    Target::parse(name).unwrap()
}

fn hint(number: u8) -> Arc<[u8]> {
    Arc::from([number].as_slice())
}

enforces_process! {
    [Brk1] fn brk_1_hints_keep_to_their_target_and_their_order(_seen) {
        run(async {
            let broker = InProcess::default();
            let mut a = broker.subscribe(&BTreeSet::from([target("a")]));
            let mut both = broker.subscribe(&BTreeSet::from([target("a"), target("b")]));
            for (name, number) in [("a", 1), ("b", 2), ("a", 3), ("a", 3), ("nobody", 4)] {
                broker.publish(&target(name), hint(number)).await.unwrap();
            }
            for number in [1, 3, 3] {
                assert_eq!(a.next().await, Some(Arrival::Hint(hint(number))));
            }
            let mut seen = Vec::new();
            for _ in 0..4 {
                let Some(Arrival::Hint(bytes)) = both.next().await else { panic!("four hints") };
                seen.push(bytes[0]);
            }
            seen.sort_unstable();
            assert_eq!(seen, [1, 2, 3, 3]);
            let more = tokio::time::timeout(Duration::from_millis(100), a.next()).await;
            assert!(more.is_err(), "{more:?}");
            assert_eq!(broker.counters().handed_over, 5);
        });
    }

    [Brk1] fn brk_1_a_slow_consumer_loses_and_is_told_and_counted(_seen) {
        run(async {
            let broker = InProcess::with_buffer(4);
            let mut slow = broker.subscribe(&BTreeSet::from([target("a")]));
            for number in 0..100 {
                broker.publish(&target("a"), hint(number)).await.unwrap();
            }
            let (mut lost, mut last) = (0, None);
            while last != Some(99) {
                match slow.next().await.unwrap() {
                    Arrival::Hint(bytes) => last = Some(bytes[0]),
                    Arrival::Lost(many) => lost += many,
                    Arrival::Connected => panic!("nothing was disconnected"),
                }
            }
            assert!(lost >= 90, "{lost}");
            assert_eq!((broker.counters().lost, broker.counters().failed), (lost, 0));
        });
    }

    [Emt4] fn emt_4_a_hint_is_pushed_to_another_process_and_a_failure_is_a_receipt(_seen) {
        run(async {
            let (home, folder, station) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), Station::start().await);
            // The address is known before the daemon that listens there: reserve it.
            let addr = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
            let push = HttpPush::to(&[format!("http://{addr}/v1/hints")]).unwrap();
            let mut plane = Real::start(home.path(), limits(), Some(Arc::new(push.clone()))).await;
            // Nobody listens: the sender of the alert has its answer all the same.
            plane.raise().await;
            until("the failure is a receipt", async || plane.receipts().contains(&"wake_emit_failed".to_owned())).await;
            assert_eq!(push.counters().failed, 1);
            let local = Arc::new(Local::new(plane.plane.clone(), name("daemon")));
            let mut setup = listening(with(folder.path(), local, station.adapter()));
            setup.listen = Some(addr);
            let daemon = start(setup).await;
            plane.raise().await;
            until("it was pushed", async || plane.receipts().contains(&"wake_emitted".to_owned())).await;
            until("the runtime was told", async || !station.told().is_empty()).await;
            assert_eq!(push.counters().handed_over, 1);
            stop(daemon).await;
        });
    }
}
