//! Cooldowns and hints of a wake daemon whose clock jumps. Hints are pushed to it, and sweeps bring more.
//!
//! Rules: DSP-1, DSP-11, VER-1, VER-4, EMT-6.

use std::net::TcpListener;

use super::*;

pub(super) fn free() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

/// Lets a daemon at this address serve `lotse` with a runtime that takes every notice and is idle at once.
pub(super) fn serves(host: &mut Host, address: &str, cooldown: &str) {
    let plane = format!("wake.plane=http://{}", host.listen);
    host.settings.extend([plane, format!("wake.listen={address}")]);
    host.configure(
        "agents.toml",
        &format!(
            "\n[agents.lotse]\nruntime = \"fake\"\noutcome = \"notified_verified\"\nheadless = true\n\
             tier0_ack = true\ncooldown = \"{cooldown}\"\n"
        ),
    );
}

/// A plane, and a daemon with this cooldown.
struct Pair {
    host: Host,
    address: String,
    wake: Option<Ends>,
}

impl Pair {
    fn new(cooldown: &str) -> Option<Self> {
        let address = free();
        let push = format!("broker.push=http://{address}/v1/hints");
        let mut host = Host::made(&["limits.sweep=1s", "broker.kind=http", &push])?;
        serves(&mut host, &address, cooldown);
        host.start();
        host.register("1d");
        let mut pair = Self { host, address, wake: None };
        pair.starts();
        Some(pair)
    }

    fn starts(&mut self) {
        self.wake = Some(self.host.beside(&["wake"]));
        until("the daemon serves", || status_of(&self.host, &self.address));
    }

    fn stops(&mut self) {
        self.wake.take().unwrap().stop();
    }

    fn status(&self) -> Value {
        status_of(&self.host, &self.address).unwrap()
    }

    fn refused(&self, class: &str) -> u64 {
        self.status()["refused"][class].as_u64().unwrap_or(0)
    }

    /// Wakes that the daemon has accepted.
    fn accepted(&self) -> i64 {
        let store = rusqlite::Connection::open(self.host.state().join("wake.db")).unwrap();
        let sql = "SELECT count(*) FROM receipt WHERE kind = 'wake_accepted'";
        store.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    fn notified(&self) -> i64 {
        self.host.receipts("runtime_notified")
    }

    /// An alert has started the runtime once, its flight is over, and the next wake is accepted and waits for the
    /// cooldown.
    fn pending(&self) {
        self.host.alert("first");
        until("it is notified", || (self.notified() == 1).then_some(()));
        until("its flight is over", || self.status()["targets"][0]["flight"].is_null().then_some(()));
        self.host.alert("second");
        until("the next wake is accepted", || (self.accepted() >= 2).then_some(()));
        until("it waits", || (self.status()["targets"][0]["held_by"] == "cooldown").then_some(()));
    }

    /// How long the daemon's time is ahead of this machine's, in seconds.
    fn ahead(&self) -> i64 {
        ahead_of(&self.status())
    }

    fn clock(&self, seconds: i64) {
        self.host.clocks().wake.set(seconds).unwrap();
    }
}

cells! {
    "cooldown.forward" fn dsp_1_a_cooldown_outlasts_a_jump_ahead() {
        let Some(pair) = Pair::new("1h") else { return };
        pair.pending();
        pair.host.plane_jumps(JUMP);
        pair.clock(JUMP);
        until("the daemon's time has jumped", || (pair.ahead() > JUMP - 60).then_some(()));
        // What is accepted at the new time waits like the one before it.
        let before = pair.accepted();
        pair.host.alert("third");
        until("its wake is accepted", || (pair.accepted() > before).then_some(()));
        assert_eq!(pair.status()["targets"][0]["held_by"], "cooldown");
        assert_eq!(pair.notified(), 1);
    }

    "cooldown.backward" fn dsp_1_a_cooldown_ends_although_the_clock_went_back() {
        let Some(pair) = Pair::new("5s") else { return };
        pair.pending();
        pair.clock(-JUMP);
        until("the pending start comes", || (pair.notified() == 2).then_some(()));
        assert!(pair.host.plane_ahead().abs() < 60);
    }

    "cooldown_restart.forward" fn dsp_1_a_cooldown_is_over_after_a_start_with_a_later_clock() {
        let Some(mut pair) = Pair::new("1h") else { return };
        pair.pending();
        // Without a jump it goes on after a restart.
        pair.stops();
        pair.starts();
        until("it waits", || (pair.status()["targets"][0]["held_by"] == "cooldown").then_some(()));
        assert_eq!(pair.notified(), 1);
        pair.stops();
        pair.host.plane_jumps(JUMP);
        pair.clock(JUMP);
        pair.starts();
        until("the pending start comes", || (pair.notified() == 2).then_some(()));
    }

    "cooldown_restart.backward" fn dsp_1_what_is_left_of_a_cooldown_is_at_most_all_of_it() {
        let Some(mut pair) = Pair::new("5s") else { return };
        pair.pending();
        pair.stops();
        pair.clock(-JUMP);
        pair.starts();
        until("the pending start comes", || (pair.notified() == 2).then_some(()));
    }

    "hint.forward" fn ver_1_a_daemon_that_is_ahead_starts_nothing_until_its_clock_is_right() {
        let Some(pair) = Pair::new("1ms") else { return };
        pair.clock(JUMP);
        until("the daemon's time has jumped", || (pair.ahead() > JUMP - 60).then_some(()));
        let id = pair.host.alert("wake");
        until("its hints are stale", || (pair.refused("stale") >= 2).then_some(()));
        assert_eq!(pair.notified() + pair.accepted(), 0);
        assert!(pair.host.outstanding(&id));
        pair.clock(0);
        until("it is notified", || (pair.notified() >= 1).then_some(()));
    }

    "hint.backward" fn ver_1_a_daemon_that_is_behind_starts_nothing_until_its_clock_is_right() {
        let Some(pair) = Pair::new("1ms") else { return };
        pair.clock(-JUMP);
        until("its time stands still", || (pair.ahead() <= -5).then_some(()));
        assert!(pair.status()["clock_behind_ms"].as_u64().unwrap() > 7_000_000);
        let id = pair.host.alert("wake");
        until("its hints come too early", || (pair.refused("not_yet_valid") >= 2).then_some(()));
        assert_eq!(pair.notified() + pair.accepted(), 0);
        assert!(pair.host.outstanding(&id));
        pair.clock(0);
        until("it is notified", || (pair.notified() >= 1).then_some(()));
        let chain = rusqlite::Connection::open(pair.host.state().join("wake.db")).unwrap();
        let noted = |what: &str| -> i64 {
            let sql = format!("SELECT count(*) FROM audit WHERE instr(CAST(entry AS TEXT), '\"{what}\"') > 0");
            chain.query_row(&sql, [], |row| row.get(0)).unwrap()
        };
        assert_eq!((noted("stepped_back"), noted("caught_up")), (1, 1));
    }
}
