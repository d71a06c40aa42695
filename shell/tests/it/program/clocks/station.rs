//! Fuse windows of a station whose clock jumps.
//!
//! Rules: FUS-1, FUS-2, FUS-3, FUS-4.

use super::*;

/// The station has two turns an hour and three a day, and answers everything with silence.
fn started() -> Option<(Host, Ends, String)> {
    let mut host = Host::made(&["limits.turns_per_hour=2", "limits.turns_per_day=3"])?;
    host.start();
    host.register("1d");
    let listen = super::daemon::free();
    host.configure(
        "awakener.toml",
        &format!(
            "\n[models.fake]\nwindow = 8000\nbudget = 2000\n\n[stations.lotse]\nlisten = \"{listen}\"\n\
             plane = \"http://{}\"\nscript = [\"silence\"]\npoll = \"100ms\"\nturn = \"1ms\"\n",
            host.listen
        ),
    );
    let station = host.beside(&["station", "lotse"]);
    for n in 1..=2 {
        turn(&host, n);
    }
    assert_eq!(turns(&host, &listen), (2, 2));
    Some((host, station, listen))
}

/// Mail number `n` is answered.
fn turn(host: &Host, n: u64) {
    host.mail(&crate::support::word(n));
    until("the mail is answered", || (host.status()["cursor"] == n).then_some(()));
}

/// Turns of the hour and of the day, as the station shows them.
fn turns(host: &Host, listen: &str) -> (u64, u64) {
    let turns = until("the station says", || status_of(host, listen))["turns"].clone();
    (turns["hour"].as_u64().unwrap(), turns["day"].as_u64().unwrap())
}

fn jump(host: &Host, seconds: i64) {
    host.plane_jumps(seconds);
    host.clocks().station.set(seconds).unwrap();
}

/// The next mail trips the fuse.
fn trips(host: &Host, mut station: Ends, what: &str) {
    host.mail("one too many");
    let ended = until("the station ends", || station.0.try_wait().unwrap());
    assert_eq!(ended.code(), Some(90));
    let latch = fs::read_to_string(host.state().join("latch-lotse")).unwrap();
    assert!(latch.contains(what), "{latch}");
}

cells! {
    "fuse.forward" fn fus_1_a_jump_ahead_gives_at_most_one_more_hour() {
        let Some((host, station, listen)) = started() else { return };
        jump(&host, JUMP);
        until("the hour is over", || (turns(&host, &listen) == (0, 2)).then_some(()));
        turn(&host, 3);
        assert_eq!(turns(&host, &listen), (1, 3));
        trips(&host, station, "day");
    }

    "fuse.backward" fn fus_2_a_step_back_hides_no_turn() {
        let Some((host, station, listen)) = started() else { return };
        jump(&host, -JUMP);
        assert_eq!(turns(&host, &listen), (2, 2));
        trips(&host, station, "hour");
    }
}
