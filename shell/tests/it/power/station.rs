//! The latch of a station over power cuts: a station that trips is recorded, and judged by what a start would find.
//!
//! Once the end with code 90 was told the latch is there, and at no time is there half of one (FUS-4, FUS-6).

use std::path::Path;

use awakener::client::Client;
use awakener::host::Host;
use awakener::keys::{SecretKey, create_secret};
use awakener::plane::queries;
use awakener::station::latch::{Found, LatchFiles};
use awakener::store::Db;
use awakener_kernel::config::Config;
use awakener_kernel::ids::{ContentHash, TurnId};
use awakener_kernel::machine::Machine as _;
use awakener_kernel::station::{LatchCause, LatchId, LatchNote, Station, TripAudit};
use awakener_kernel::time::{Mono, Now, Wall};
use rusqlite::Connection;
use serde_json::json;

use super::super::child::{Home, Up, free_port, program};
use super::super::support::{ago, ahead, now, submission};
use super::events::Recording;
use super::judge::Fault;
use super::record::{snapshot, traced, written};
use super::told::Fact;
use super::trace::Trace;
use super::trial::faithful;

/// A station whose only turn sends its own input on, until the fuse ends it.
pub fn record(strace: &Path, home: &Home) -> Recording {
    home.configure(&format!(
        "[models.fake]\nwindow = 8192\nbudget = 4096\n\n[stations.lotse]\nlisten = \"127.0.0.1:{}\"\nplane = \"{}\"\n\
         turn = \"1ms\"\npoll = \"20ms\"\nscript = [\"echo\"]\n",
        free_port(),
        home.base()
    ));
    let up = home.up();
    let story = home.story();
    let (root, key) = (home.state(), SecretKey::generate().unwrap());
    key.create(&root.join("keys/ack-lotse.key")).unwrap();
    create_secret(&root.join("tokens/lotse.token"), story.agent.expose()).unwrap();
    home.act(
        "register_ack_key",
        json!({"target": "lotse", "by": "station", "key": key.public(), "not_before": ago(60_000),
            "not_after": ahead(86_400_000)}),
    );
    // The plane goes on meanwhile; its files are none of the station's.
    let others =
        |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("plane."));
    let mut recording = Recording::new(&root, snapshot(&root, others));
    let log = home.dir.path().join("calls-station");
    let mut command = program(&root, &["--json"]);
    command.args(["station", "lotse"]);
    let station = Up::start(traced(strace, &command, &log, &[]));
    let listens = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while !root.join("station-lotse.db").exists() {
        assert!(std::time::Instant::now() < listens, "the station does not start");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    // What lies there at its start is backlog; this comes later.
    std::thread::sleep(std::time::Duration::from_millis(700));
    let alice: Client = home.client(&story.alice);
    home.block(alice.submit(&submission("lotse", "message/1", json!("go on")), None)).unwrap();
    let (code, said) = station.ended();
    assert_eq!(code, 90, "{said}");
    recording.add(&Trace::parse(&written(&log)));
    faithful(&recording, snapshot(&root, others));
    up.stop();
    recording
}

/// `latch clear` by the operator, on what [`record`] has left; the station's files alone.
pub fn clear(strace: &Path, home: &Home) -> Recording {
    let up = home.up();
    let root = home.state();
    // SQLite makes the shared memory anew after a cut; the last to close takes it away.
    let others = |path: &Path| {
        path.file_name().is_some_and(|name| {
            let name = name.to_string_lossy();
            name.starts_with("plane.") || name.ends_with("-shm")
        })
    };
    let mut recording = Recording::new(&root, snapshot(&root, others));
    let log = home.dir.path().join("calls-clear");
    let mut command = program(&root, &["--json", "--url", &home.base()]);
    command.args(["latch", "clear", "lotse", "--reason", "a test", "--operator-key"]);
    command.arg(home.dir.path().join("away/operator.key"));
    let cleared = traced(strace, &command, &log, &[]).output().unwrap();
    assert!(cleared.status.success(), "{}", String::from_utf8_lossy(&cleared.stderr));
    recording.add(&Trace::parse(&written(&log)));
    faithful(&recording, snapshot(&root, others));
    up.stop();
    recording
}

/// At no time are latch and incident both gone, and once the end was told the latch is (FUS-7).
pub fn judge_clear(state: &Path, told: &[&Fact]) -> Result<(), Fault> {
    let files = LatchFiles::new(state, "lotse");
    let cleared = told.contains(&&Fact::Exit(Some(0)));
    let incidents =
        std::fs::read_dir(state.join("incidents")).into_iter().flatten().map(|entry| entry.unwrap().path());
    let kept = incidents.filter(|path| path.extension().is_some_and(|end| end == "json")).any(|path| {
        let text = std::fs::read(&path).unwrap();
        serde_json::from_slice::<serde_json::Value>(&text).is_ok_and(|incident| incident["target"] == "lotse")
    });
    match files.found() {
        Found::Unreadable => Err(Fault::Opens("half a latch".to_owned())),
        Found::Nothing if !kept => Err(Fault::Lost("latch and incident".to_owned())),
        Found::Latch(_) if cleared => Err(Fault::Lost("the clearing".to_owned())),
        Found::Nothing | Found::Latch(_) => {
            let at = Now { mono: Mono(0), wall: now() };
            let opens = |error: awakener::store::StoreFault| Fault::Opens(error.to_string());
            let path = state.join("station-lotse.db");
            let mut db = Db::open(&path, ContentHash([9; 32])).map_err(opens)?;
            let host: Host<Station> = Host::boot(&mut db, Config::default(), at).map_err(opens)?;
            queries::chain(&Connection::open(&path).unwrap()).map_err(Fault::Chain)?;
            // Without the file the trip stands in the store until the clear does, and latches anew (FUS-6).
            let latched = host.machine("lotse").is_some_and(|station| station.image().latch.is_some());
            if cleared && latched { Err(Fault::Lost("the clear in the store".to_owned())) } else { Ok(()) }
        }
    }
}

/// The verdict on what a station would find at its next start.
pub fn judge(state: &Path, told: &[&Fact]) -> Result<(), Fault> {
    let files = LatchFiles::new(state, "lotse");
    let tripped = told.iter().any(|fact| **fact == Fact::Exit(Some(90)));
    match files.found() {
        Found::Unreadable => return Err(Fault::Opens("half a latch".to_owned())),
        Found::Nothing if tripped => return Err(Fault::Lost("the latch".to_owned())),
        Found::Nothing | Found::Latch(_) => {}
    }
    let opens = |error: awakener::store::StoreFault| Fault::Opens(error.to_string());
    let path = state.join("station-lotse.db");
    let mut db = Db::open(&path, ContentHash([9; 32])).map_err(opens)?;
    let at = Now { mono: Mono(0), wall: now() };
    let host: Host<Station> = Host::boot(&mut db, Config::default(), at).map_err(opens)?;
    queries::chain(&Connection::open(&path).unwrap()).map_err(Fault::Chain)?;
    let latched = host.machine("lotse").is_some_and(|station| station.image().latch.is_some());
    if tripped && !latched {
        return Err(Fault::Lost("the trip".to_owned()));
    }
    drop(db);
    // And it can still be latched, whatever is left of the reserve.
    if files.found() == Found::Nothing {
        let latch = LatchId(TurnId::from_parts(7, [5; 10]));
        let note = LatchNote {
            latch,
            cause: LatchCause::Found,
            at: Wall(7),
            audit: TripAudit::Recorded(ContentHash([9; 32])),
        };
        let written = files.reserve().and_then(|()| files.write(&note));
        written.map_err(|error| Fault::Opens(error.to_string()))?;
        if files.found() != Found::Latch(Box::new(note)) {
            return Err(Fault::Lost("the latch that was written after the cut".to_owned()));
        }
    }
    Ok(())
}
