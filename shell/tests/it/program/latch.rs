//! A station that answers itself until its fuse trips, and what people see and do about it.
//!
//! Rules: FUS-1, FUS-4, FUS-6, FUS-7, STN-3.

use std::fs;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use super::{Ended, Machine};

/// Runs the station until it ends by itself.
fn station(machine: &Machine) -> Ended {
    let mut child =
        machine.command(&["station", "lotse"]).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > until {
            child.kill().unwrap();
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ended { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
}

#[test]
fn fus_6_a_latch_is_shown_refuses_the_boot_and_is_cleared_by_the_operator_alone() {
    let machine = Machine::story();
    let listen = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let config = machine.state().join("awakener.toml");
    let mut text = fs::read_to_string(&config).unwrap();
    text += &format!(
        "\n[models.fake]\nwindow = 8000\nbudget = 2000\n\n[stations.lotse]\nlisten = \"{listen}\"\n\
         plane = \"http://{}\"\nscript = [\"echo\"]\npoll = \"50ms\"\nturn = \"1ms\"\n",
        machine.listen
    );
    fs::write(&config, text).unwrap();
    let key = machine.state().join("keys/ack-lotse.key");
    let key = key.to_str().unwrap();
    machine.ok(&["keys", "new", key]);
    machine.ok(&["keys", "add-ack", "lotse", "--by-role", "station", "--key-file", key]);
    assert_eq!(machine.ok(&["latch", "show"]), "none\n");

    machine.mail("say it again");
    let tripped = station(&machine);
    assert_eq!(tripped.code, 90, "{}", tripped.err);
    let shown = machine.ok(&["latch", "show"]);
    assert!(shown.starts_with("target") && shown.contains("Z  loop "), "{shown}");
    let latch = machine.json(&["latch", "show"])["latches"][0].clone();
    assert_eq!(latch["target"], "lotse");
    assert_eq!(station(&machine).code, 90, "the latch does not refuse the boot");

    // Somebody without the key clears nothing.
    let stranger = machine.path("away/stranger.key");
    machine.ok(&["keys", "new", &stranger]);
    machine.fails(&["latch", "clear", "lotse", "--operator-key", &stranger], 77);
    assert_eq!(machine.ok(&["latch", "show"]), shown);
    machine.ok(&["latch", "clear", "lotse", "--reason", "the script was wrong"]);
    let cleared = machine.ok(&["latch", "show"]);
    assert!(cleared.starts_with("none\n") && cleared.contains("incidents\n"), "{cleared}");
    // Cleared is not armed (STN-3).
    assert!(machine.ok(&["status"]).contains("lotse   not armed"));
}
