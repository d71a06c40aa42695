//! What becomes of hints that are not accepted.

use std::sync::Arc;
use std::time::Duration;

use awakener::wake::Via;
use awakener_kernel::ids::Target;
use awakener_kernel::time::Millis;
use awakener_kernel::wire::{Hint, SigningKey};
use awakener_spec::Class;
use awakener_tools::enforces_process;
use serde_json::{Value, json};

use super::rig::{
    self, BUILDER, OBSERVER, entries, folded, listening, manifest, run, start, stays, stop, until, with,
};
use super::scripted::{Scripted, sign};
use super::station::Station;

/// Bytes for each class that can be told without the plane, with the way to make them.
fn bad(plane: &Scripted) -> Vec<(Class, Vec<u8>)> {
    let made = |change: &dyn Fn(&mut Hint)| {
        let mut hint = plane.hint(90);
        change(&mut hint);
        sign(hint, &plane.router)
    };
    let stranger = SigningKey::from_bytes(&[9; 32]);
    let mut foreign = plane.hint(90);
    foreign.router_key_id = awakener_kernel::wire::public_key(&stranger).key_id();
    vec![
        (Class::Malformed, b"{}".to_vec()),
        (Class::WrongRouter, sign(foreign, &stranger)),
        (Class::Tamper, sign(plane.hint(90), &stranger)),
        (Class::WrongTarget, made(&|hint| hint.target = Target::parse("elsewhere").unwrap())),
        (
            Class::NotYetValid,
            made(&|hint| {
                hint.time = hint.time + Millis::seconds(60);
                hint.expires_at = hint.expires_at + Millis::seconds(60);
            }),
        ),
        (
            Class::Stale,
            made(&|hint| {
                hint.time = hint.time - Millis::seconds(60);
                hint.expires_at = hint.expires_at - Millis::seconds(60);
            }),
        ),
        // The nonce of the one that was accepted.
        (Class::Replay, sign(plane.hint(50), &plane.router)),
        // A new nonce, an older token: two hints came in the wrong order.
        (Class::FreshnessRegression, sign(plane.hint(49), &plane.router)),
    ]
}

/// Presents bytes at the listener, as the observer or as anybody.
async fn post(addr: std::net::SocketAddr, bytes: &[u8], observer: bool) -> Value {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let mut request = client.post(format!("http://{addr}/v1/hints")).body(bytes.to_vec());
    if observer {
        request = request.bearer_auth(OBSERVER);
    }
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 202);
    answer.json().await.unwrap()
}

enforces_process! {
    [Ver1, Ver4, Ver5, Dsp3] fn ver_4_each_class_is_told_and_audited_and_starts_nothing(seen) {
        run(async {
            let (folder, plane, station) = (tempfile::tempdir().unwrap(), Scripted::default(), Station::start().await);
            let setup = listening(with(folder.path(), Arc::new(plane.clone()), station.adapter()));
            let daemon = start(setup).await;
            let addr = daemon.addr().unwrap();
            // The control: a good hint leads to a question and to the runtime.
            let good = post(addr, &plane.bytes(50), true).await;
            assert_eq!(good, json!({ "v": 1, "class": null, "asked": true }));
            until("the runtime was told", async || station.told().len() == 1).await;
            until("its flight is over", async || plane.reports().len() == 3).await;
            let (asked, before) = (plane.asked().len(), daemon.status().await.unwrap());

            for (class, bytes) in bad(&plane) {
                assert_eq!(post(addr, &bytes, true).await["class"], json!(class), "{class}");
                seen.class(class);
                // Anybody else learns nothing.
                assert_eq!(post(addr, &bytes, false).await, json!({}));
            }
            until("all are counted", async || {
                daemon.status().await.unwrap().refused.values().sum::<u64>() == 16
            }).await;
            let after = daemon.status().await.unwrap();
            assert_eq!(after.targets[0].high_water, before.targets[0].high_water);
            assert_eq!((after.targets[0].attempts, plane.asked().len()), (1, asked));
            assert_eq!(station.told().len(), 1);

            let lines = folded(folder.path());
            let told: Vec<_> = lines.iter().map(|line| (&line["class"], &line["kind"], &line["via"])).collect();
            let wanted: Vec<_> = bad(&plane).into_iter().map(|(class, _)| (json!(class), json!(class.kind()))).collect();
            let listener = json!("listener");
            assert_eq!(told, wanted.iter().map(|(class, kind)| (class, kind, &listener)).collect::<Vec<_>>());
            stop(daemon).await;
        });
    }

    [Ver4, Ver5] fn ver_4_ten_thousand_bad_hints_are_two_entries(_seen) {
        run(async {
            let (folder, plane, station) = (tempfile::tempdir().unwrap(), Scripted::default(), Station::start().await);
            let daemon = start(with(folder.path(), Arc::new(plane.clone()), station.adapter())).await;
            let mut long = vec![b'x'; 3_000];
            for number in 0..10_000_u32 {
                long[..4].copy_from_slice(&number.to_be_bytes());
                let judged = daemon.present(Via::Listener, &long).await.unwrap();
                assert_eq!(judged.class, Some(Class::Malformed));
            }
            assert_eq!(folded(folder.path()).len(), 1);
            // Beside it there is only what the start itself wrote.
            assert!(entries(folder.path()) < 20);
            // The control: the way is still free.
            assert_eq!(daemon.present(Via::Listener, &plane.bytes(1)).await.unwrap().class, None);
            until("the runtime was told", async || station.told().len() == 1).await;
            stop(daemon).await;
            let lines = folded(folder.path());
            let counts: Vec<_> = lines.iter().map(|line| line["count"].as_u64().unwrap()).collect();
            assert_eq!(counts, [1, 9_999]);
            for line in lines {
                // 256 bytes are 342 characters.
                assert_eq!(line["sample"].as_str().unwrap().len(), 342);
            }
        });
    }

    [Ver4] fn ver_4_counts_are_written_when_their_time_is_over(_seen) {
        run(async {
            let (folder, plane) = (tempfile::tempdir().unwrap(), Scripted::default());
            let mut setup = rig::setup(folder.path(), Arc::new(plane.clone()));
            setup.pace.fold = Millis(100);
            let daemon = start(setup).await;
            let (_, stale) = bad(&plane).into_iter().find(|(class, _)| *class == Class::Stale).unwrap();
            for _ in 0..5 {
                daemon.present(Via::Broker, &stale).await.unwrap();
            }
            until("the count is written", async || folded(folder.path()).len() == 2).await;
            let lines = folded(folder.path());
            assert_eq!((lines[1]["count"].as_u64(), lines[1]["clock_suspect"].as_bool()), (Some(4), Some(true)));
            assert!(daemon.status().await.unwrap().clock_suspect);
            stop(daemon).await;
        });
    }

    [Ver2, Ver4, Dsp7] fn ver_2_a_replay_is_one_after_a_restart_too(seen) {
        run(async {
            let (folder, plane, station) = (tempfile::tempdir().unwrap(), Scripted::default(), Station::start().await);
            let first = plane.bytes(3);
            let daemon = start(with(folder.path(), Arc::new(plane.clone()), station.adapter())).await;
            daemon.present(Via::Broker, &first).await.unwrap();
            until("it was accepted and flown", async || plane.reports().len() == 3).await;
            stop(daemon).await;
            let daemon = start(with(folder.path(), Arc::new(plane.clone()), station.adapter())).await;
            let class = daemon.present(Via::Broker, &first).await.unwrap().class;
            assert_eq!(class, Some(Class::Replay));
            seen.class(Class::Replay);
            let older = daemon.present(Via::Broker, &plane.bytes(2)).await.unwrap().class;
            assert_eq!(older, Some(Class::FreshnessRegression));
            // The control: a newer one is none of both.
            assert_eq!(daemon.present(Via::Broker, &plane.bytes(4)).await.unwrap().class, None);
            until("only that one was told", async || station.told().len() == 2).await;
            stop(daemon).await;
        });
    }

    [Ver4, Ver5, Dsp7] fn ver_4_what_the_plane_never_minted_is_an_alarm(seen) {
        run(async {
            let (folder, plane, station) = (tempfile::tempdir().unwrap(), Scripted::default(), Station::start().await);
            let daemon = start(with(folder.path(), Arc::new(plane.clone()), station.adapter())).await;
            plane.withhold(Some(Class::Unminted));
            daemon.present(Via::Broker, &plane.bytes(9)).await.unwrap();
            until("it is audited", async || folded(folder.path()).len() == 1).await;
            seen.class(Class::Unminted);
            let line = folded(folder.path()).remove(0);
            assert_eq!((&line["class"], &line["kind"], &line["via"]), (&json!("unminted"), &json!("alarm"), &json!("broker")));
            assert_eq!(daemon.status().await.unwrap().targets[0].high_water, None);
            // The control: nothing of it stands in the way of a genuine one, even with an older token.
            plane.withhold(None);
            daemon.present(Via::Broker, &plane.bytes(8)).await.unwrap();
            until("the genuine one was told", async || station.told().len() == 1).await;
            stop(daemon).await;
        });
    }

    [Dsp7] fn dsp_7_without_an_answer_a_hint_is_held_and_then_dropped(_seen) {
        run(async {
            let (folder, plane, station) = (tempfile::tempdir().unwrap(), Scripted::default(), Station::start().await);
            let mut setup = with(folder.path(), Arc::new(plane.clone()), station.adapter());
            setup.limits.hint_ttl = Millis(800);
            let daemon = start(setup).await;
            plane.up(false);
            let brief = |number, life| {
                let mut hint = plane.hint(number);
                hint.expires_at = hint.time + Millis(life);
                sign(hint, &plane.router)
            };
            daemon.present(Via::Broker, &brief(1, 700)).await.unwrap();
            // Held, although the plane is silent; dropped at its end.
            until("it was dropped", async || {
                daemon.status().await.unwrap().refused.contains_key(&Class::Unanswered)
            }).await;
            assert_eq!((station.told().len(), plane.asked().len()), (0, 0));
            // The plane is back before the next one ends: it was held for that.
            daemon.present(Via::Broker, &brief(2, 10_000)).await.unwrap();
            stays("nothing starts", Duration::from_millis(150), async || station.told().is_empty()).await;
            plane.up(true);
            until("the held one was told", async || station.told().len() == 1).await;
            stop(daemon).await;
        });
    }

    [Ver2] fn ver_2_what_cannot_be_recorded_starts_nothing(_seen) {
        run(async {
            let (folder, plane, station) = (tempfile::tempdir().unwrap(), Scripted::default(), Station::start().await);
            let daemon = start(with(folder.path(), Arc::new(plane.clone()), station.adapter())).await;
            let other = rusqlite::Connection::open(folder.path().join("wake.db")).unwrap();
            other.execute_batch("BEGIN IMMEDIATE").unwrap();
            // Longer than the store waits for another writer: the hint is lost, and nobody was asked.
            assert_eq!(daemon.present(Via::Broker, &plane.bytes(1)).await, None);
            assert_eq!((station.told().len(), plane.asked().len()), (0, 0));
            other.execute_batch("ROLLBACK").unwrap();
            // It was never seen, so it is none of the refused ones; and the daemon works as before.
            until("it starts when it comes again", async || {
                daemon.present(Via::Broker, &plane.bytes(1)).await.is_some_and(|judged| judged.class.is_none())
            }).await;
            until("the runtime was told", async || station.told().len() == 1).await;
            stop(daemon).await;
        });
    }

    [Ver1] fn ver_1_hints_are_verified_while_the_plane_is_down(_seen) {
        run(async {
            let (folder, plane) = (tempfile::tempdir().unwrap(), Scripted::default());
            let daemon = start(rig::setup(folder.path(), Arc::new(plane.clone()))).await;
            stop(daemon).await;
            plane.up(false);
            let daemon = start(rig::setup(folder.path(), Arc::new(plane.clone()))).await;
            assert_eq!(daemon.present(Via::Broker, &plane.bytes(1)).await.unwrap().class, None);
            let stranger = sign(plane.hint(2), &SigningKey::from_bytes(&[9; 32]));
            assert_eq!(daemon.present(Via::Broker, &stranger).await.unwrap().class, Some(Class::Tamper));
            assert!(!daemon.status().await.unwrap().plane_reachable);
            stop(daemon).await;
        });
    }
}

#[test]
fn ver_5_the_listener_tells_its_chain_to_the_observer_only() {
    run(async {
        let (folder, plane) = (tempfile::tempdir().unwrap(), Scripted::default());
        let mut setup = listening(rig::setup(folder.path(), Arc::new(plane)));
        setup.manifest = manifest(BUILDER);
        let daemon = start(setup).await;
        let base = format!("http://{}", daemon.addr().unwrap());
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let audit = client.get(format!("{base}/v1/audit?from=1&limit=1"));
        let refused = audit.try_clone().unwrap().send().await.unwrap();
        assert_eq!(refused.status(), 401);
        let told: Value = audit.bearer_auth(OBSERVER).send().await.unwrap().json().await.unwrap();
        assert_eq!(told["entries"].as_array().unwrap().len(), 1);
        assert_eq!(told["entries"][0]["position"], 1);
        let status: Value =
            client.get(format!("{base}/v1/status")).send().await.unwrap().json().await.unwrap();
        assert_eq!((&status["mode"], &status["served"]), (&json!("trial"), &json!(["builder"])));
        let page = client.get(format!("{base}/v1/status")).header("origin", "http://127.0.0.1");
        assert_eq!(page.send().await.unwrap().status(), 403);
        stop(daemon).await;
    });
}
