//! A daemon whose plane is another process: everything between them is HTTP.

use std::sync::Arc;
use std::time::Duration;

use awakener::wake::Remote;
use awakener_kernel::time::Millis;
use awakener_spec::ReceiptKind;
use awakener_tools::enforces_process;
use serde_json::json;

use super::rig::{self, run, start, stays, stop, until};
use super::station::Station;
use crate::support::{Rig, submission};

enforces_process! {
    [Dsp7, Dsp11] fn dsp_11_a_daemon_elsewhere_finds_an_alert_and_reports_over_http(_seen) {
        let plane = Rig::with(|limits| limits.cooldown = Millis(1));
        let story = plane.story();
        let observer = plane.observer();
        run(async {
            let (folder, station) = (tempfile::tempdir().unwrap(), Station::start().await);
            let mut setup = rig::setup(folder.path(), Arc::new(Remote::new(plane.daemon())));
            setup.manifest = rig::manifest(&rig::BUILDER.replace("builder", "lotse"));
            setup.adapters.insert(story.target.clone(), Arc::new(station.adapter()));
            setup.limits.sweep = Millis(200);
            let daemon = start(setup).await;
            // The control: nothing is owed, nothing starts.
            stays("nothing starts", Duration::from_millis(300), async || station.told().is_empty()).await;
            let alert = submission("lotse", "interrupt-alert/1", json!("fire"));
            story.alice.submit(&alert, None).await.unwrap();
            until("the runtime was told", async || !station.told().is_empty()).await;
            assert!(station.told()[0].contains(&alert.id.to_string()), "{:?}", station.told());
            let filter = awakener::client::ReceiptFilter { message: Some(alert.id), ..Default::default() };
            until("the plane heard", async || {
                let known = observer.receipts(&filter).await.unwrap();
                known.receipts.iter().any(|receipt| receipt.kind == ReceiptKind::RuntimeNotified)
            }).await;
            assert!(daemon.status().await.unwrap().plane_reachable);
            stop(daemon).await;
        });
    }
}
