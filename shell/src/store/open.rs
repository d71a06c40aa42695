//! Opening a store: whose file it is, which version, and whether it can be trusted.

use std::path::Path;

use awakener_kernel::audit::Head;
use awakener_kernel::ids::ContentHash;
use awakener_spec::Reason;
use rusqlite::{Connection, OpenFlags};

use super::{APPLICATION_ID, Db, Focus, Lock, SCHEMA_VERSION, StoreFault};

pub(super) fn open(path: &Path, config_hash: ContentHash) -> Result<Db, StoreFault> {
    let lock = Lock::take(path)?;
    let unavailable = |error: std::io::Error| StoreFault {
        reason: Reason::StoreUnavailable,
        path: path.to_owned(),
        detail: error.to_string(),
    };
    make(path).map_err(unavailable)?;
    let (conn, head) = connect(path)?;
    restrict(path).map_err(unavailable)?;
    Ok(Db {
        conn,
        path: path.to_owned(),
        _lock: lock,
        staged: head,
        head,
        config_hash,
        focus: Focus::default(),
        own: awakener_kernel::audit::Identities::default(),
        txn: 0,
        poisoned: false,
        pause: None,
    })
}

/// A connection to a file that is ours, intact and set up, and the end of its chain.
pub(super) fn connect(path: &Path) -> Result<(Connection, Head), StoreFault> {
    let fault = |reason, detail: &dyn std::fmt::Display| StoreFault {
        reason,
        path: path.to_owned(),
        detail: detail.to_string(),
    };
    let existed = std::fs::metadata(path).is_ok_and(|file| file.len() > 0);
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags).map_err(|error| fault(reason_of(&error), &error))?;
    let known = |error: rusqlite::Error| fault(reason_of(&error), &error);
    prepare(&conn).map_err(known)?;
    // Whose file it is comes first: nothing is changed in one that is not ours.
    let ours = identify(&conn, existed).map_err(|(reason, detail)| fault(reason, &detail))?;
    journal(&conn).map_err(known)?;
    if ours {
        conn.execute_batch(ADDED).map_err(known)?;
        let verdict: String =
            conn.pragma_query_value(None, "quick_check", |row| row.get(0)).map_err(known)?;
        if verdict != "ok" {
            return Err(fault(Reason::StoreCorrupt, &verdict));
        }
    } else {
        create(&conn).map_err(known)?;
    }
    read_back(&conn).map_err(|detail| fault(Reason::StoreCorrupt, &detail))?;
    let head = super::chain::head(&conn).map_err(|error| fault(Reason::StoreCorrupt, &error))?;
    Ok((conn, head))
}

/// What kind of trouble an SQLite error is.
pub(super) fn reason_of(error: &rusqlite::Error) -> Reason {
    use rusqlite::ErrorCode;
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => Reason::StoreForeign,
        Some(ErrorCode::DatabaseCorrupt) => Reason::StoreCorrupt,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Reason::StoreHeld,
        _ => Reason::StoreUnavailable,
    }
}

/// Settings of the connection that leave the file as it is.
fn prepare(conn: &Connection) -> rusqlite::Result<()> {
    conn.pragma_update(None, "busy_timeout", 2_000)?;
    conn.pragma_update(None, "trusted_schema", false)?;
    conn.pragma_update(None, "cell_size_check", true)?;
    conn.pragma_update(None, "mmap_size", 0)?;
    conn.pragma_update(None, "foreign_keys", true)?;
    conn.set_prepared_statement_cache_capacity(64);
    Ok(())
}

/// How commits become durable. `FULL`: one that was reported survives a power cut.
fn journal(conn: &Connection) -> rusqlite::Result<()> {
    conn.pragma_update(None, "journal_mode", "WAL")?;
    conn.pragma_update(None, "synchronous", "FULL")?;
    conn.pragma_update(None, "wal_autocheckpoint", 1_000)?;
    Ok(())
}

/// Whether the file is one of ours; `false` for a new one.
fn identify(conn: &Connection, existed: bool) -> Result<bool, (Reason, String)> {
    let said = |error: rusqlite::Error| (reason_of(&error), error.to_string());
    let number = |name| conn.pragma_query_value(None, name, |row| row.get::<_, i32>(0)).map_err(said);
    let (application, version) = (number("application_id")?, number("user_version")?);
    match (application, version) {
        (APPLICATION_ID, SCHEMA_VERSION) => Ok(true),
        (APPLICATION_ID, newer) if newer > SCHEMA_VERSION => {
            Err((Reason::StoreNewer, format!("layout {newer}, this program knows up to {SCHEMA_VERSION}")))
        }
        (0, 0) if !existed || is_empty(conn).map_err(said)? => Ok(false),
        (other, version) => Err((
            Reason::StoreForeign,
            format!("application id {other:#x}, layout {version}: not a store of awakener"),
        )),
    }
}

fn is_empty(conn: &Connection) -> rusqlite::Result<bool> {
    conn.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))
}

/// What was added to the first layout later; who does not know it is not disturbed by it.
const ADDED: &str = include_str!("added.sql");

/// The first rung of the ladder.
fn create(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute_batch(&format!(
        "BEGIN IMMEDIATE;\n{}\n{ADDED}\nPRAGMA application_id = {APPLICATION_ID};\nPRAGMA user_version = {SCHEMA_VERSION};\nCOMMIT;",
        include_str!("schema.sql")
    ))
}

/// What was set must also be in force.
fn read_back(conn: &Connection) -> Result<(), String> {
    let text =
        |name: &str| conn.pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0));
    for (name, wanted) in [
        ("journal_mode", rusqlite::types::Value::Text("wal".to_owned())),
        ("synchronous", rusqlite::types::Value::Integer(2)),
        ("trusted_schema", rusqlite::types::Value::Integer(0)),
    ] {
        let found = text(name).map_err(|error| error.to_string())?;
        if found != wanted {
            return Err(format!("{name} is {found:?}, needed {wanted:?}"));
        }
    }
    Ok(())
}

/// A new file is nobody else's from the start, because the files beside it get the same mode.
fn make(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    std::fs::OpenOptions::new().append(true).create(true).mode(0o600).open(path).map(drop)
}

/// Only its owner may read a store that somebody else made looser, and what lies beside it.
fn restrict(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    for end in ["", "-wal", "-shm"] {
        let mut beside = path.as_os_str().to_owned();
        beside.push(end);
        match std::fs::set_permissions(&beside, std::fs::Permissions::from_mode(0o600)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}
