//! Rosters, leases, expiry and acknowledgements while the plane's clock jumps.
//!
//! Rules: ADM-4, ADM-5, INB-3, INB-4, INB-7, ACK-3, ACK-6, ACK-7, EMT-6.

use super::*;

const CLAIM: [&str; 4] = ["claim", "lotse", "--as", "lotse"];
/// A lease that ends while a test runs.
const SHORT: &str = "limits.lease=3s";

/// Another holder takes the work, which it can when no lease is left.
fn taken_by_another(host: &Host) -> Option<String> {
    let claimed = host.run(&[&CLAIM[..], &["--holder", "other", "--json"]].concat());
    let value: Value = serde_json::from_str(claimed.out.lines().next()?).ok()?;
    Some(value["fence"].to_string())
}

fn held(host: &Host) -> String {
    host.json(&[&CLAIM[..], &["--holder", "first"]].concat())["fence"].to_string()
}

fn renew(host: &Host, fence: &str) -> super::super::Ended {
    host.run(&["renew", "lotse", "--fence", fence, "--as", "lotse"])
}

/// An alert that was read as claimed work, so that its agent may acknowledge it.
fn read_alert(host: &Host) -> String {
    let id = host.alert("read me");
    let fence = host.claim();
    host.ok(&["read", &id, "--target", "lotse", "--fence", &fence, "--as", "lotse"]);
    host.ok(&["release", "lotse", "--fence", &fence, "--as", "lotse"]);
    id
}

fn ack(id: &str) -> [&str; 8] {
    ["ack", id, "--target", "lotse", "--outcome", "handled", "--as", "lotse"]
}

cells! {
    "roster.forward" fn adm_5_a_roster_ends_with_the_clock_that_jumps_ahead() {
        let Some(host) = Host::story(&[], "1h") else { return };
        host.alert("the roster holds");
        host.plane_jumps(JUMP);
        assert_eq!(host.alert_refused(77), "roster_expired");
        host.mail("mail goes on");
    }

    "roster.backward" fn adm_5_a_roster_that_is_over_is_not_revived_by_a_step_back() {
        let Some(host) = Host::story(&[], "1h") else { return };
        host.plane_jumps(JUMP);
        assert_eq!(host.alert_refused(77), "roster_expired");
        host.plane_jumps(0);
        until("the step back is seen", || (host.recorded("clock_stepped_back") == 1).then_some(()));
        assert_eq!(host.alert_refused(77), "roster_expired");
        host.ok(&["clock", "accept"]);
        assert!(host.plane_ahead().abs() < 60);
        host.alert("an operator said that the hour is not over");
    }

    "lease.forward" fn inb_7_a_lease_outlasts_a_jump_ahead() {
        let Some(host) = Host::story(&[], "1d") else { return };
        host.mail("work");
        let fence = held(&host);
        host.plane_jumps(JUMP);
        assert!((host.plane_ahead() - JUMP).abs() < 60);
        assert_eq!(taken_by_another(&host), None);
        let renewed = renew(&host, &fence);
        assert_eq!(renewed.code, 0, "{}", renewed.err);
        host.ok(&["release", "lotse", "--fence", &fence, "--as", "lotse"]);
        assert!(taken_by_another(&host).is_some());
    }

    "lease.backward" fn inb_7_a_lease_ends_although_the_clock_went_back() {
        let Some(host) = Host::story(&[SHORT], "1d") else { return };
        host.mail("work");
        let fence = held(&host);
        host.plane_jumps(-JUMP);
        let other = until("the lease ends", || taken_by_another(&host));
        assert_ne!(fence, other);
        assert!(renew(&host, &fence).err.contains("lost_lease"));
    }

    "lease_restart.forward" fn inb_7_a_lease_is_over_after_a_start_with_a_later_clock() {
        let Some(mut host) = Host::story(&[], "1d") else { return };
        host.mail("work");
        let fence = held(&host);
        host.stop();
        host.start();
        // Without a jump it is the holder's still.
        assert_eq!(taken_by_another(&host), None);
        host.stop();
        host.plane_jumps(JUMP);
        host.start();
        let other = until("the lease ends", || taken_by_another(&host));
        assert_ne!(fence, other);
        assert!(renew(&host, &fence).err.contains("lost_lease"));
    }

    "lease_restart.backward" fn inb_7_what_is_left_of_a_lease_is_at_most_all_of_it() {
        let Some(mut host) = Host::story(&[SHORT], "1d") else { return };
        host.mail("work");
        let fence = held(&host);
        host.stop();
        host.plane_jumps(-JUMP);
        host.start();
        until("the lease ends", || taken_by_another(&host));
        assert!(renew(&host, &fence).err.contains("lost_lease"));
    }

    "message.forward" fn inb_3_mail_expires_early_and_an_alert_does_not() {
        let Some(host) = Host::story(&["limits.message_age=1h"], "1d") else { return };
        let (mail, alert) = (host.mail("mail"), host.alert("alert"));
        assert_eq!(host.receipts("expired"), 0);
        host.plane_jumps(JUMP);
        until("the mail expires", || (host.receipts("expired") == 1).then_some(()));
        assert!(host.ok(&["trace", &mail]).contains("expired"));
        assert!(host.outstanding(&alert));
    }

    "message.backward" fn inb_3_what_expired_stays_so_and_nothing_else_expires() {
        let Some(host) = Host::story(&["limits.message_age=1h"], "1d") else { return };
        host.mail("expires early");
        host.plane_jumps(JUMP);
        until("the mail expires", || (host.receipts("expired") == 1).then_some(()));
        host.mail("has its hour before it");
        host.plane_jumps(0);
        until("the step back is seen", || (host.recorded("clock_stepped_back") == 1).then_some(()));
        host.mail("comes while the time stands still");
        // The search for what is too old runs each second; two looks of the clock are later than one of those.
        host.ok(&["clock", "accept"]);
        host.plane_jumps(-JUMP);
        until("the second step is seen", || (host.recorded("clock_stepped_back") == 2).then_some(()));
        assert_eq!(host.receipts("expired"), 1);
        let status = host.status();
        assert_eq!((&status["cursor"], &status["last"]), (&1.into(), &3.into()));
    }

    "ack_signer.forward" fn ack_6_a_statement_from_the_future_waits_for_its_time() {
        let Some(host) = Host::story(&[], "1d") else { return };
        let id = read_alert(&host);
        host.clocks().hand.set(JUMP).unwrap();
        assert_eq!(host.fails(&ack(&id), 65)["reason"], "ack_time_out_of_bounds");
        assert!(host.outstanding(&id));
        host.clocks().hand.set(0).unwrap();
        host.ok(&ack(&id));
        assert!(!host.outstanding(&id));
    }

    "ack_signer.backward" fn ack_3_a_signer_whose_clock_is_late_is_heard() {
        let Some(host) = Host::story(&[], "1d") else { return };
        let id = read_alert(&host);
        host.clocks().hand.set(-JUMP).unwrap();
        host.ok(&ack(&id));
        assert!(!host.outstanding(&id));
    }

    "ack_plane.forward" fn ack_3_a_plane_whose_clock_is_ahead_hears_an_honest_ack() {
        let Some(host) = Host::story(&[], "1d") else { return };
        let id = read_alert(&host);
        host.clocks().up.set(JUMP).unwrap();
        assert!((host.plane_ahead() - JUMP).abs() < 60);
        host.ok(&ack(&id));
        assert!(!host.outstanding(&id));
    }

    "ack_plane.backward" fn ack_6_a_plane_whose_clock_stepped_back_lets_honest_acks_wait() {
        let Some(host) = Host::story(&[], "1d") else { return };
        let id = read_alert(&host);
        host.clocks().up.set(-JUMP).unwrap();
        // The store's time stands still; beyond the skew honest statements are ahead of it.
        until("the time stands still", || (host.plane_ahead() <= -5).then_some(()));
        assert_eq!(host.fails(&ack(&id), 65)["reason"], "ack_time_out_of_bounds");
        assert!(host.outstanding(&id));
        host.clocks().up.set(0).unwrap();
        until("the clock has caught up", || (host.recorded("clock_caught_up") == 1).then_some(()));
        host.ok(&ack(&id));
        assert!(!host.outstanding(&id));
    }
}
