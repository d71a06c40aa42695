//! The daemon and the real message plane in one process.

use std::sync::Arc;
use std::time::Duration;

use awakener::broker::{Broker, InProcess};
use awakener::wake::{Local, Setup, Via};
use awakener_kernel::ids::{MessageId, Nonce, Token, WakeId};
use awakener_kernel::time::Millis;
use awakener_kernel::wire::{Hint, public_key};
use awakener_spec::Class;
use awakener_tools::enforces_process;

use super::real::{Real, name};
use super::rig::{builder, folded, heard, limits, run, start, stays, stop, until, with};
use super::scripted::sign;
use super::station::Station;

enforces_process! {
    [Dsp7, Emt4, Dsp4] fn dsp_7_an_alert_reaches_the_runtime_and_the_plane_hears_of_it(_seen) {
        run(async {
            let (home, folder, station) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), Station::start().await);
            let broker = InProcess::default();
            let mut plane = Real::start(home.path(), limits(), Some(Arc::new(broker.clone()))).await;
            let local = Arc::new(Local::new(plane.plane.clone(), name("daemon")));
            let daemon = start(heard(with(folder.path(), local, station.adapter()), broker)).await;
            let alert = plane.raise().await;
            until("the runtime was told", async || station.told().len() == 1).await;
            assert!(station.told()[0].contains(&alert.to_string()), "{:?}", station.told());
            let wanted = ["persisted", "admitted", "wake_minted", "wake_emitted", "wake_accepted", "dispatch_attempted", "runtime_notified"];
            until("the plane heard", async || {
                let receipts = plane.receipts();
                wanted.iter().all(|kind| receipts.iter().any(|receipt| receipt == kind))
            }).await;
            stop(daemon).await;
        });
    }

    [Dsp11] fn dsp_11_a_lost_hint_is_found_at_the_plane(_seen) {
        run(async {
            let (home, folder, station) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), Station::start().await);
            let mut plane = Real::start(home.path(), limits(), None).await;
            let local = Arc::new(Local::new(plane.plane.clone(), name("daemon")));
            let mut setup = with(folder.path(), local, station.adapter());
            setup.limits.sweep = Millis(200);
            let daemon = start(setup).await;
            // The control: nothing is owed, nothing starts.
            stays("nothing starts", Duration::from_millis(300), async || station.told().is_empty()).await;
            let alert = plane.raise().await;
            until("the runtime was told", async || station.told().len() == 1).await;
            assert!(station.told()[0].contains(&alert.to_string()));
            stop(daemon).await;
        });
    }

    [Dsp7] fn dsp_7_of_two_daemons_one_gets_the_permit(seen) {
        run(async {
            let home = tempfile::tempdir().unwrap();
            let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
            let stations = [Station::start().await, Station::start().await];
            let broker = InProcess::default();
            let mut plane = Real::start(home.path(), limits(), Some(Arc::new(broker.clone()))).await;
            let mut daemons = Vec::new();
            for (at, (folder, station)) in folders.iter().zip(&stations).enumerate() {
                station.works(true);
                let name = name(&format!("daemon-{at}"));
                let local = Arc::new(Local::new(plane.plane.clone(), name.clone()));
                let setup = heard(with(folder.path(), local, station.adapter()), broker.clone());
                daemons.push(start(Setup { name, ..setup }).await);
            }
            plane.raise().await;
            let told = || stations.iter().map(|station| station.told().len()).sum::<usize>();
            until("one was told", async || told() == 1).await;
            // Once by the broker's hint, and once more if its first sweep came late enough to find the alert as well.
            until("the other was refused", async || {
                let mut held = 0;
                for daemon in &daemons {
                    let refused = daemon.status().await.unwrap().refused;
                    held += refused.get(&Class::PermitHeld).copied().unwrap_or_default();
                }
                held > 0
            }).await;
            seen.class(Class::PermitHeld);
            stays("no second start", Duration::from_millis(300), async || told() == 1).await;
            for daemon in daemons {
                stop(daemon).await;
            }
        });
    }

    [Ver4, Ver5, Dsp7] fn ver_4_a_stolen_router_key_starts_nothing(seen) {
        run(async {
            let (home, folder, station) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), Station::start().await);
            let broker = InProcess::default();
            let mut plane = Real::start(home.path(), limits(), Some(Arc::new(broker.clone()))).await;
            let local = Arc::new(Local::new(plane.plane.clone(), name("daemon")));
            let daemon = start(heard(with(folder.path(), local, station.adapter()), broker.clone())).await;
            let now = awakener::clock::system();
            let forged = Hint {
                id: WakeId::from_parts(now.0, [0xee; 10]),
                message_id: MessageId::from_parts(now.0, [0xee; 10]),
                target: builder(),
                nonce: Nonce([0xee; 16]),
                // Far above anything that the plane has minted.
                freshness_token: Token::new(1_000, 1).unwrap(),
                time: now,
                expires_at: now + Millis::seconds(30),
                router_key_id: public_key(&plane.router).key_id(),
            };
            let bytes = sign(forged, &plane.router);
            broker.publish(&builder(), Arc::from(bytes.clone())).await.unwrap();
            until("it is an alarm", async || folded(folder.path()).iter().any(|line| line["kind"] == "alarm")).await;
            seen.class(Class::Unminted);
            assert_eq!(station.told().len(), 0);
            assert_eq!(daemon.status().await.unwrap().targets[0].high_water, None);
            // The control: its huge token does not keep the genuine hint out.
            plane.raise().await;
            until("the runtime was told", async || station.told().len() == 1).await;
            assert_eq!(daemon.present(Via::Broker, &bytes).await.unwrap().class, None);
            stop(daemon).await;
        });
    }
}
