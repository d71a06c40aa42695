//! What a new daemon makes of the flight of a dead one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use awakener::broker::Later;
use awakener::wake::{Capabilities, Order, RuntimeAdapter, Via};
use awakener_kernel::time::Millis;
use awakener_kernel::values::{DispatchOutcome, FlightEnd, FlightReport};
use awakener_kernel::waker::{Fate, Phase};
use awakener_tools::enforces_process;

use super::rig::{looking, receipts, run, start, stays, stop, until, with};
use super::scripted::Scripted;
use super::station::{Station, adapter_at};

/// An adapter whose daemon dies while it is being used: it never comes back from a dispatch.
#[derive(Debug, Default)]
struct Dying(Arc<AtomicU32>);

impl RuntimeAdapter for Dying {
    fn capabilities(&self) -> Capabilities {
        Capabilities { status: false, verifies: false, proves_gone: false }
    }

    fn dispatch<'a>(&'a self, _: &'a Order) -> Later<'a, DispatchOutcome> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::pending())
    }

    fn probe<'a>(&'a self, _: &'a Order) -> Later<'a, Fate> {
        Box::pin(std::future::ready(Fate::CannotTell))
    }

    fn watch<'a>(&'a self, _: &'a Order) -> Later<'a, FlightEnd> {
        Box::pin(std::future::pending())
    }
}

/// A daemon that dies between its durable decision and the first byte.
async fn die_in_flight(folder: &std::path::Path, plane: &Scripted) {
    let used = Arc::new(AtomicU32::new(0));
    let dying = Dying(Arc::clone(&used));
    let daemon = start(with(folder, Arc::new(plane.clone()), dying)).await;
    daemon.present(Via::Broker, &plane.bytes(1)).await.unwrap();
    until("it has decided", async || used.load(Ordering::SeqCst) == 1).await;
    stop(daemon).await;
    assert_eq!(receipts(folder), ["wake_accepted", "dispatch_attempted"]);
}

fn ends(plane: &Scripted) -> Vec<FlightEnd> {
    let end = |report| match report {
        FlightReport::Ended(end) => Some(end),
        FlightReport::Attempted | FlightReport::Outcome(_) => None,
    };
    plane.reports().into_iter().filter_map(end).collect()
}

enforces_process! {
    [Dsp12, Dsp11] fn dsp_12_an_idle_runtime_is_woken_once_after_a_crash(_seen) {
        run(async {
            let (folder, plane, station) = (tempfile::tempdir().unwrap(), Scripted::default(), Station::start().await);
            die_in_flight(folder.path(), &plane).await;
            let daemon = start(with(folder.path(), Arc::new(plane.clone()), station.adapter())).await;
            // Idle once is no proof that nothing is on its way: the flight stays open until it was idle for a while.
            assert_eq!((station.told().len(), ends(&plane)), (0, vec![]));
            plane.owe(plane.bytes(2));
            until("the flight is resolved", async || ends(&plane) == [FlightEnd::Idle]).await;
            until("one wake", async || station.told().len() == 1).await;
            until("and its end", async || ends(&plane).len() == 2).await;
            stays("no second one", Duration::from_millis(300), async || station.told().len() == 1).await;
            stop(daemon).await;
        });
    }

    [Dsp12] fn dsp_12_a_dead_runtime_resolves_the_flight_at_once(_seen) {
        run(async {
            let (folder, plane) = (tempfile::tempdir().unwrap(), Scripted::default());
            let addr = Station::start().await.addr;
            until("the port is free", async || std::net::TcpListener::bind(addr).is_ok()).await;
            die_in_flight(folder.path(), &plane).await;
            let daemon = start(looking(with(folder.path(), Arc::new(plane.clone()), adapter_at(addr)))).await;
            until("gone", async || !ends(&plane).is_empty()).await;
            let station = Station::at(addr).await;
            plane.owe(plane.bytes(2));
            until("one wake", async || station.told().len() == 1).await;
            stop(daemon).await;
        });
    }

    [Dsp12] fn dsp_12_a_runtime_at_work_is_left_alone(_seen) {
        run(async {
            let (folder, plane, station) = (tempfile::tempdir().unwrap(), Scripted::default(), Station::start().await);
            station.running(true);
            die_in_flight(folder.path(), &plane).await;
            let daemon = start(with(folder.path(), Arc::new(plane.clone()), station.adapter())).await;
            until("it was found alive", async || {
                daemon.status().await.unwrap().targets[0].phase == Phase::Told
            }).await;
            plane.owe(plane.bytes(2));
            stays("nothing starts", Duration::from_millis(300), async || {
                station.told().is_empty() && ends(&plane).is_empty()
            }).await;
            station.running(false);
            until("it is idle", async || ends(&plane) == [FlightEnd::Idle]).await;
            until("then the next", async || station.told().len() == 1).await;
            stop(daemon).await;
        });
    }

    [Dsp12] fn dsp_12_what_nobody_can_tell_ends_at_flight_max_and_is_said(_seen) {
        run(async {
            let (folder, plane) = (tempfile::tempdir().unwrap(), Scripted::default());
            die_in_flight(folder.path(), &plane).await;
            let mut setup = with(folder.path(), Arc::new(plane.clone()), Dying::default());
            setup.limits.flight_max = Millis(300);
            let daemon = start(setup).await;
            until("it has expired", async || ends(&plane) == [FlightEnd::Expired]).await;
            until("the operator was told", async || {
                let conn = rusqlite::Connection::open(folder.path().join("wake.db")).unwrap();
                let said: u32 = conn
                    .query_row("SELECT count(*) FROM audit WHERE machine = 'operator'", [], |row| row.get(0))
                    .unwrap();
                said == 1
            }).await;
            assert_eq!(receipts(folder.path()).last().unwrap(), "flight_expired");
            stop(daemon).await;
        });
    }
}
