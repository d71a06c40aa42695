//! Hints of a plane whose clock jumps.
//!
//! Rules: EMT-1, EMT-6, ADM-2, VER-1.

use super::*;

/// The last token, as it stands in the store.
fn last_token(host: &Host) -> i64 {
    host.count("SELECT max(CAST(token AS INTEGER)) FROM mint")
}

/// Asks for what is owed, as a wake daemon does at each look.
fn sweep(host: &Host) -> Vec<Value> {
    let token = fs::read_to_string(host.state().join("tokens/daemon.token")).unwrap();
    let client = awakener::client::Client::new(&format!("http://{}", host.listen), token.trim()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let owed = runtime.block_on(client.sweep(&["lotse".parse().unwrap()])).unwrap();
    owed.hints.iter().map(|bytes| serde_json::from_slice(bytes).unwrap()).collect()
}

fn wall(hint: &Value) -> i64 {
    let time = awakener_kernel::time::Wall::parse_utc(hint["time"].as_str().unwrap()).unwrap();
    i64::try_from(time.0 / 1_000).unwrap()
}

cells! {
    "minting.forward" fn emt_1_tokens_rise_whatever_time_the_hints_have() {
        let address = super::daemon::free();
        let set = [format!("wake.listen={address}"), "limits.sweep=1s".to_owned()];
        let Some(mut host) = Host::story(&[&set[0], &set[1]], "1d") else { return };
        host.alert("wake");
        until("a hint is minted", || (host.minted() == 1).then_some(()));
        let before = sweep(&host).remove(0);
        let token = last_token(&host);
        host.plane_jumps(JUMP);
        assert!((host.plane_ahead() - JUMP).abs() < 60);
        let after = sweep(&host).remove(0);
        assert!(last_token(&host) > token);
        assert!((wall(&after) - wall(&before) - JUMP).abs() < 60, "{before} {after}");
        // A daemon that has the right time starts nothing.
        super::daemon::serves(&mut host, &address, "1ms");
        let _wake = host.beside(&["wake"]);
        until("the daemon refuses", || {
            let status = status_of(&host, &address)?;
            status["refused"]["not_yet_valid"].as_u64()
        });
        assert_eq!(host.receipts("runtime_notified") + host.receipts("wake_accepted"), 0);
    }

    "minting.backward" fn emt_6_nothing_is_minted_before_the_clock_has_caught_up_or_is_accepted() {
        let Some(mut host) = Host::story(&["limits.re_emission_base=1s"], "1d") else { return };
        let first = host.alert("wake");
        until("a hint is minted", || (host.minted() >= 1).then_some(()));
        let token = last_token(&host);
        assert_eq!(sweep(&host).len(), 1);
        host.plane_jumps(-JUMP);
        until("the step back is seen", || (host.recorded("clock_stepped_back") == 1).then_some(()));
        let minted = host.minted();
        assert_eq!(host.alert_refused(69), "tier0_closed");
        assert_eq!(sweep(&host), [] as [Value; 0]);
        // Mail, reads and claims go on; so does the schedule, which uses a place up for each hint that may not be.
        host.mail("mail");
        host.ok(&["inbox", "lotse", "--as", "lotse"]);
        let fence = host.claim();
        host.ok(&["read", &first, "--target", "lotse", "--fence", &fence, "--as", "lotse"]);
        host.ok(&["release", "lotse", "--fence", &fence, "--as", "lotse"]);
        until("an emission is refused", || (host.recorded("emission_refused") >= 1).then_some(()));
        assert_eq!(host.minted(), minted);
        // A restart makes nothing of it.
        host.stop();
        host.start();
        assert_eq!(host.alert_refused(69), "tier0_closed");
        assert_eq!(sweep(&host), [] as [Value; 0]);
        assert_eq!((host.minted(), host.recorded("clock_stepped_back")), (minted, 1));
        // Caught up.
        host.plane_jumps(0);
        until("the clock has caught up", || (host.recorded("clock_caught_up") == 1).then_some(()));
        assert_eq!(sweep(&host).len(), 1);
        let caught_up = last_token(&host);
        assert!(caught_up > token);
        host.alert("the clock is right");
        // Accepted, and killed right after it: what an operator accepted stays so.
        host.plane_jumps(-JUMP);
        until("the step back is seen", || (host.recorded("clock_stepped_back") == 2).then_some(()));
        host.ok(&["clock", "accept"]);
        host.plane.take().map(Ends);
        host.start();
        let hint = sweep(&host).remove(0);
        assert!(last_token(&host) > caught_up);
        let real = i64::try_from(awakener::clock::system().0 / 1_000).unwrap();
        assert!((wall(&hint) - real + JUMP).abs() < 60, "{hint}");
        assert_eq!((host.recorded("clock_stepped_back"), host.recorded("clock_caught_up")), (2, 1));
        // Open; a key whose life begins after the accepted time does not hold yet.
        assert_eq!(host.whole_status()["tier0_open"], true);
        assert_eq!(host.alert_refused(77), "target_cannot_ack");
    }
}
