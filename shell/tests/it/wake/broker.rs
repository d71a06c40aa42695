//! What every way of the hints must be able to do, or be survived doing: in process, over NATS, over loopback HTTP.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use awakener::broker::{Arrival, Broker as _, HttpPush, Subscription};
use awakener::wake::{Local, Setup};
use awakener_kernel::ids::Target;
use awakener_kernel::wire::{Hint, SigningKey, public_key};
use awakener_spec::Class;
use awakener_tools::enforces_process;

use super::carriers::{Carrier, Hostile, Malice};
use super::real::{Real, name};
use super::rig::{builder, limits, listening, looking, receipts, run, start, stays, stop, until, with};
use super::scripted::{Scripted, sign};
use super::station::Station;

fn target(name: &str) -> Target {
    Target::parse(name).unwrap()
}

fn hint(number: u8) -> Arc<[u8]> {
    Arc::from([number].as_slice())
}

/// The next hints, without what the connection says between them.
async fn hints(subscription: &mut Subscription, many: usize) -> Vec<u8> {
    let mut seen = Vec::new();
    while seen.len() < many {
        match subscription.next().await.expect("the broker is there") {
            Arrival::Hint(bytes) => seen.push(bytes[0]),
            Arrival::Connected | Arrival::Lost(_) => {}
        }
    }
    seen
}

/// How often each wake was dispatched, by the chain of the daemon.
fn dispatched(folder: &Path) -> usize {
    receipts(folder).iter().filter(|kind| *kind == "dispatch_attempted").count()
}

enforces_process! {
    [Brk1] fn brk_1_hints_keep_to_their_target_and_their_order(_seen) {
        run(async {
            for carrier in Carrier::all(256) {
                let broker = carrier.client(256).await;
                let mut a = broker.subscribe(&BTreeSet::from([target("a")]));
                let mut both = broker.subscribe(&BTreeSet::from([target("a"), target("b")]));
                carrier.settled(&mut a).await;
                carrier.settled(&mut both).await;
                for (name, number) in [("a", 1), ("b", 2), ("a", 3), ("a", 3), ("nobody", 4)] {
                    broker.publish(&target(name), hint(number)).await.unwrap();
                }
                assert_eq!(hints(&mut a, 3).await, [1, 3, 3], "{}", carrier.name);
                let mut seen = hints(&mut both, 4).await;
                seen.sort_unstable();
                assert_eq!(seen, [1, 2, 3, 3], "{}", carrier.name);
                let more = tokio::time::timeout(Duration::from_millis(100), a.next()).await;
                assert!(more.is_err(), "{}: {more:?}", carrier.name);
                assert_eq!(broker.counters().handed_over, 5);
            }
        });
    }

    [Brk1] fn brk_1_a_slow_consumer_loses_and_is_told_and_counted(_seen) {
        run(async {
            for carrier in Carrier::all(4) {
                let (broker, other) = (carrier.client(4).await, carrier.client(4).await);
                let mut slow = broker.subscribe(&BTreeSet::from([target("a")]));
                carrier.settled(&mut slow).await;
                for number in 0..100 {
                    other.publish(&target("a"), hint(number)).await.unwrap();
                }
                if carrier.server.is_some() {
                    // In process the loss is noticed by who reads, over a network by who receives.
                    until("the loss is counted", async || broker.counters().lost >= 90).await;
                }
                // It is told, and still gets a few of the hundred.
                let (mut told, mut got) = (0, 0);
                while let Ok(arrival) = tokio::time::timeout(Duration::from_millis(300), slow.next()).await {
                    match arrival.unwrap() {
                        Arrival::Hint(_) => got += 1,
                        Arrival::Lost(many) => told += many,
                        Arrival::Connected => panic!("nothing was disconnected"),
                    }
                }
                let about = format!("{}: told {told}, got {got}, {:?}", carrier.name, broker.counters());
                assert!((1..=10).contains(&got) && told >= 1, "{about}");
                assert_eq!((broker.counters().lost + got, other.counters().failed), (100, 0), "{about}");
            }
        });
    }

    [Brk1] fn brk_1_what_comes_threefold_or_swapped_or_not_at_all_wakes_once_for_each_alert(_seen) {
        run(async {
            for malice in [Malice::Triples, Malice::Swaps, Malice::Loses] {
                for carrier in Carrier::between(256) {
                    let about = format!("{} {malice:?}", carrier.name);
                    let (home, folder, station) =
                        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), Station::start().await);
                    let publisher = Arc::new(Hostile::new(carrier.client(256).await, malice));
                    let mut plane = Real::start(home.path(), limits(), Some(publisher.clone())).await;
                    let local = Arc::new(Local::new(plane.plane.clone(), name("daemon")));
                    let setup = looking(with(folder.path(), local, station.adapter()));
                    let daemon = start(carrier.heard_by(setup).await).await;
                    for alert in 1..=4 {
                        let id = plane.raise().await;
                        until(&about, async || station.told().len() >= alert).await;
                        plane.acknowledge(id).await;
                    }
                    stays(&about, Duration::from_millis(300), async || station.told().len() == 4).await;
                    assert_eq!((plane.count("tier0_acknowledged"), dispatched(folder.path())), (4, 4), "{about}");
                    let (emitted, carried) = (plane.count("wake_emitted"), publisher.counters().handed_over);
                    let met = match malice {
                        Malice::Triples => emitted >= 4 && carried >= 12,
                        Malice::Swaps => emitted >= 4 && carried >= 2,
                        Malice::Loses => emitted >= 4 && carried == 0,
                    };
                    assert!(met, "{about}: {emitted} emitted, {carried} carried");
                    stop(daemon).await;
                }
            }
        });
    }

    [Brk1, Ver1] fn brk_1_a_key_that_was_withdrawn_wakes_nobody(seen) {
        run(async {
            for carrier in Carrier::between(256) {
                let (folder, plane, station) =
                    (tempfile::tempdir().unwrap(), Scripted::default(), Station::start().await);
                let broker = carrier.client(256).await;
                let setup = with(folder.path(), Arc::new(plane.clone()), station.adapter());
                let daemon = start(carrier.heard_by(setup).await).await;
                let publish = async |bytes: Vec<u8>| broker.publish(&builder(), Arc::from(bytes)).await.unwrap();
                // The control: the key as it holds.
                let good = plane.bytes(1);
                until("it wakes", async || {
                    publish(good.clone()).await;
                    !station.told().is_empty()
                }).await;
                until("its flight is over", async || plane.reports().len() == 3).await;
                plane.rekey();
                // The control: the new key wakes, so the daemon knows of it.
                let key = SigningKey::from_bytes(&[8; 32]);
                let new = sign(Hint { router_key_id: public_key(&key).key_id(), ..plane.hint(60) }, &key);
                until("the new key wakes", async || {
                    publish(new.clone()).await;
                    station.told().len() == 2
                }).await;
                let stale = sign(plane.hint(70), &SigningKey::from_bytes(&[7; 32]));
                until("it is refused", async || {
                    publish(stale.clone()).await;
                    daemon.status().await.unwrap().refused.contains_key(&Class::WrongRouter)
                }).await;
                seen.class(Class::WrongRouter);
                assert_eq!(station.told().len(), 2, "{}", carrier.name);
                stop(daemon).await;
            }
        });
    }

    [Brk1, Dsp7] fn brk_1_two_daemons_of_one_target_dispatch_each_wake_once(_seen) {
        run(async {
            for carrier in Carrier::between(256) {
                let (home, station) = (tempfile::tempdir().unwrap(), Station::start().await);
                let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
                let mut plane = Real::start(home.path(), limits(), Some(carrier.client(256).await)).await;
                let mut daemons = Vec::new();
                for (number, folder) in folders.iter().enumerate() {
                    let name = name(&format!("daemon-{number}"));
                    let local = Arc::new(Local::new(plane.plane.clone(), name.clone()));
                    let setup = looking(with(folder.path(), local, station.adapter()));
                    daemons.push(start(Setup { name, ..carrier.heard_by(setup).await }).await);
                }
                for alert in 1..=5 {
                    let id = plane.raise().await;
                    until(carrier.name, async || station.told().len() >= alert).await;
                    plane.acknowledge(id).await;
                }
                stays(carrier.name, Duration::from_millis(500), async || station.told().len() == 5).await;
                let both: usize = folders.iter().map(|folder| dispatched(folder.path())).sum();
                assert_eq!((both, plane.count("tier0_acknowledged")), (5, 5), "{}", carrier.name);
                for daemon in daemons {
                    stop(daemon).await;
                }
            }
        });
    }

    [Brk1, Emt4] fn brk_1_a_listener_that_comes_and_goes_five_times_misses_no_alert(_seen) {
        run(async {
            let (home, folder, station) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), Station::start().await);
            let addr = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
            let push = HttpPush::to(&[format!("http://{addr}/v1/hints")]).unwrap();
            let mut plane = Real::start(home.path(), limits(), Some(Arc::new(push.clone()))).await;
            for round in 1..=5 {
                // Nobody is there, as at the very start.
                let gone = plane.raise().await;
                until("the failure is a receipt", async || plane.count("wake_emit_failed") >= round).await;
                let local = Arc::new(Local::new(plane.plane.clone(), name("daemon")));
                let setup = looking(with(folder.path(), local, station.adapter()));
                let daemon = start(Setup { listen: Some(addr), ..setup }).await;
                until("the one that was missed wakes", async || station.told().len() == 2 * round - 1).await;
                plane.acknowledge(gone).await;
                let there = plane.raise().await;
                until("the one that is pushed wakes", async || station.told().len() == 2 * round).await;
                plane.acknowledge(there).await;
                until("its flight is over", async || daemon.status().await.unwrap().targets[0].flight.is_none()).await;
                stop(daemon).await;
            }
            let counters = push.counters();
            assert!(counters.handed_over >= 1 && counters.failed >= 5, "{counters:?}");
            assert_eq!((plane.count("tier0_acknowledged"), dispatched(folder.path()), station.told().len()), (10, 10, 10));
        });
    }

    [Brk1, Ver1] fn brk_1_a_pushed_hint_of_a_target_that_is_not_served_wakes_nobody(seen) {
        run(async {
            let (folder, plane, station) =
                (tempfile::tempdir().unwrap(), Scripted::default(), Station::start().await);
            let setup = listening(with(folder.path(), Arc::new(plane.clone()), station.adapter()));
            let daemon = start(setup).await;
            let push = HttpPush::to(&[format!("http://{}/v1/hints", daemon.addr().unwrap())]).unwrap();
            let key = SigningKey::from_bytes(&[7; 32]);
            let foreign = sign(Hint { target: target("other"), ..plane.hint(1) }, &key);
            push.publish(&target("other"), Arc::from(foreign)).await.unwrap();
            until("it is refused", async || {
                daemon.status().await.unwrap().refused.contains_key(&Class::WrongTarget)
            }).await;
            seen.class(Class::WrongTarget);
            assert_eq!(station.told().len(), 0);
            push.publish(&builder(), Arc::from(plane.bytes(2))).await.unwrap();
            until("its own wakes", async || station.told().len() == 1).await;
            stop(daemon).await;
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
