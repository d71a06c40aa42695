//! Opens what a power cut has left with the code that ships, and holds it against what was told before.
//!
//! The plane is started as `up` starts it, and asked for what it would hand out next. Rules: INB-1, INB-2, INB-4, ACK-1,
//! EMT-1, EMT-2, AUD-1, AUD-3, AUD-5.

use std::collections::BTreeMap;
use std::path::Path;

use awakener::keys::{FirstOperator, SecretKey};
use awakener::plane::{Op, Plane, Reply, Setup, Submit};
use awakener_kernel::config::Config;
use awakener_kernel::ids::{ContentHash, MessageId, Target};
use awakener_kernel::machine::{Machine as _, Outcome};
use awakener_kernel::mailbox::input::Event;
use awakener_kernel::registry::Input as Enrolment;
use awakener_kernel::registry::image::Running;
use awakener_kernel::router::Routes;
use rusqlite::Connection;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::super::support::submission;
use super::told::Fact;

/// How a plane broke its word.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// It does not start.
    #[error("does not start: {0}")]
    Opens(String),
    /// The chain is said to be tampered with, or is no beginning of what was recorded.
    #[error("the chain: {0}")]
    Chain(String),
    /// Something that was told is not there.
    #[error("lost: {0}")]
    Lost(String),
    /// Something that was handed out is handed out again.
    #[error("handed out again: {0}")]
    Reused(String),
}

/// What every cut is judged with.
pub struct Judge {
    runtime: Runtime,
    /// The chain at the end of the recording.
    whole: Vec<String>,
}

/// Rows of a recovered store.
struct Rows {
    places: BTreeMap<MessageId, u64>,
    finished: Vec<bool>,
    hashes: Vec<String>,
}

type Verdict = Result<(), Fault>;

fn holds(so: bool, otherwise: impl FnOnce() -> Fault) -> Verdict {
    if so { Ok(()) } else { Err(otherwise()) }
}

/// Starts a plane as `up` does.
fn start(state: &Path) -> Result<(Plane, std::thread::JoinHandle<()>), String> {
    let key = |name: &str| SecretKey::load(&state.join("keys").join(name)).map_err(|error| error.to_string());
    let (router, audit) = (key("router.key")?, key("audit.key")?);
    let first = FirstOperator::load(state).map_err(|error| error.to_string())?;
    let enrolment = first.map(|first| Enrolment::Enrol {
        plane: "trial".parse().unwrap(),
        operator: first.operator,
        key: first.key,
        audit: audit.public(),
        router: Some(router.public()),
    });
    let setup = Setup {
        state: state.to_owned(),
        limits: Config { rate_per_minute: 1_000_000, ..Config::default() }.checked().unwrap(),
        routes: Routes::default(),
        config_hash: ContentHash([7; 32]),
        enrolment,
        running: Running { binary: ContentHash([1; 32]), config: ContentHash([7; 32]) },
        router_key: router.signing().clone(),
        audit_key: audit.signing().clone(),
        manifest_accepted: true,
        pause: None,
        publish: tokio::sync::mpsc::channel(1_024).0,
    };
    Plane::start(setup).map_err(|refused| refused.detail)
}

impl Judge {
    pub fn new(whole: Vec<String>) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { runtime, whole }
    }

    /// The hashes of the chain in a state directory.
    pub fn chain_in(state: &Path) -> Vec<String> {
        let conn = Connection::open(state.join("plane.db")).unwrap();
        hashes(&conn)
    }

    /// The verdict on one state directory.
    pub fn plane(&self, state: &Path, told: &[&Fact]) -> Verdict {
        let (plane, thread) = start(state).map_err(Fault::Opens)?;
        let verdict = self.recovered(&plane, told);
        drop(plane);
        thread.join().unwrap();
        verdict
    }

    fn call(&self, plane: &Plane, op: Op) -> Result<Reply, Fault> {
        self.runtime.block_on(plane.call(op)).map_err(|refused| Fault::Opens(refused.detail))
    }

    fn recovered(&self, plane: &Plane, told: &[&Fact]) -> Verdict {
        let Reply::Overview(overview) = self.call(plane, Op::Overview)? else { panic!("no overview") };
        // The plane itself has walked the chain; Tier-0 would be closed if it were broken.
        holds(overview.registry.tier0_open(), || Fault::Chain("Tier-0 is closed".to_owned()))?;
        let conn = Connection::open(plane.path()).unwrap();
        let rows = Rows::of(&conn);
        self.chain(&rows)?;
        for (size, head) in kept(&conn) {
            let lost = || Fault::Lost(format!("records of the kept checkpoint over {size}"));
            holds(rows.hashes.len() >= size && tree_head(&rows.hashes[..size]) == head, lost)?;
        }
        let lotse = overview.mailboxes.get("lotse").cloned().unwrap_or_default();
        let mut highest = 0;
        for fact in told {
            let lost = || Fault::Lost(format!("{fact:?}"));
            let reused = || Fault::Reused(format!("{fact:?}"));
            match fact {
                Fact::Admitted(id, seq) => holds(rows.places.get(id) == Some(seq), lost)?,
                Fact::Acknowledged(id) => {
                    let place = rows.places.get(id).copied().ok_or_else(lost)?;
                    holds(rows.finished[usize::try_from(place).unwrap() - 1], lost)?;
                    holds(lotse.witnesses.values().all(|witness| witness.message != *id), lost)?;
                }
                Fact::Leased(fence) => holds(lotse.lease_fence.0 >= *fence, reused)?,
                Fact::Permitted(fence) => holds(lotse.permit_fence.0 >= *fence, reused)?,
                Fact::Read(id) => holds(has(&conn, "receipt", "kind = 'inbox_read' AND message", id), lost)?,
                Fact::Turn(turn) => holds(has(&conn, "receipt", "turn", turn), lost)?,
                Fact::Answered(id) => holds(has(&conn, "answer", "message", id), lost)?,
                Fact::Enacted(id) => {
                    let id = id.parse().unwrap();
                    holds(overview.registry.image().commands.contains_key(&id), lost)?;
                }
                Fact::Denied => holds(overview.registry.image().stopped, lost)?,
                Fact::Hint(token) => highest = highest.max(*token),
                Fact::Inbox { last, cursor } => {
                    holds(lotse.last.map_or(0, |seq| seq.get()) >= *last, lost)?;
                    holds(lotse.cursor.map_or(0, |seq| seq.get()) >= *cursor, lost)?;
                }
                Fact::Chain { size, root } => {
                    let size = usize::try_from(*size).unwrap();
                    holds(rows.hashes.len() >= size && tree_head(&rows.hashes[..size]) == *root, lost)?;
                }
                Fact::Exit(_) => {}
            }
        }
        holds(lotse.token.map_or(0, |token| token.get()) >= highest, || {
            Fault::Reused(format!("token {highest}"))
        })?;
        holds(highest == 0 || u64::from(lotse.epoch) > highest >> 32, || {
            Fault::Reused(format!("the epoch of token {highest}"))
        })?;
        self.next(plane, &overview, &rows, highest)
    }

    /// What is handed out next has never been told.
    fn next(
        &self,
        plane: &Plane,
        overview: &awakener::plane::Overview,
        rows: &Rows,
        highest: u64,
    ) -> Verdict {
        let image = overview.registry.image();
        let alice = image.credentials.values().find(|held| held.principal.as_str() == "alice");
        let target: Target = "lotse".parse().unwrap();
        let (Some(held), true) = (alice, image.grants.contains_key(&target)) else { return Ok(()) };
        let schema = if image.roster.is_some() && !image.stopped { "interrupt-alert/1" } else { "message/1" };
        let submission = submission("lotse", schema, json!("after the cut"));
        let submit = Submit::new(held.clone(), submission, None, None);
        let Reply::Mailbox(reply) = self.call(plane, Op::Submit(Box::new(submit)))? else {
            panic!("no reply")
        };
        let expected = rows.finished.len() + 1;
        let Outcome::Advanced(Event::Admitted { seq, .. }) = reply.outcome else {
            return Err(Fault::Opens(format!("it admits nothing: {:?}", reply.outcome)));
        };
        let place = usize::try_from(seq.get()).unwrap();
        holds(place == expected, || Fault::Reused(format!("place {place}, expected {expected}")))?;
        let Reply::Swept(hint) = self.call(plane, Op::Sweep(target, None))? else { panic!("no hint") };
        let Some(hint) = hint else { return Ok(()) };
        let hint: Value = serde_json::from_slice(&hint).unwrap();
        let token = hint["data"]["freshness_token"].as_u64().unwrap();
        holds(token > highest, || Fault::Reused(format!("token {token} after {highest}")))
    }

    /// What was recorded before the cut is a beginning of the whole chain; what follows was added by the recovery.
    fn chain(&self, rows: &Rows) -> Verdict {
        let same = rows.hashes.iter().zip(&self.whole).take_while(|(here, there)| here == there).count();
        let recorded = |position: usize| -> bool { self.whole.contains(&rows.hashes[position]) };
        let stranger = (same..rows.hashes.len()).find(|position| recorded(*position));
        holds(stranger.is_none(), || Fault::Chain(format!("a gap at {same}")))?;
        let places: Vec<u64> = rows.places.values().copied().collect();
        let top = places.iter().copied().max().unwrap_or(0);
        holds(places.len() as u64 == top, || Fault::Lost("places are not gapless (INB-2)".to_owned()))
    }
}

impl Rows {
    fn of(conn: &Connection) -> Self {
        let mut found = conn.prepare("SELECT seq, id, finished FROM message ORDER BY seq").unwrap();
        let rows: Vec<(i64, String, bool)> = found
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        Self {
            finished: rows.iter().map(|(_, _, finished)| *finished).collect(),
            places: rows
                .into_iter()
                .map(|(seq, id, _)| (id.parse().unwrap(), u64::try_from(seq).unwrap()))
                .collect(),
            hashes: hashes(conn),
        }
    }
}

fn hashes(conn: &Connection) -> Vec<String> {
    let mut found = conn.prepare("SELECT hash FROM audit ORDER BY position").unwrap();
    found.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

fn has(conn: &Connection, table: &str, column: &str, value: &impl ToString) -> bool {
    let sql = format!("SELECT EXISTS (SELECT 1 FROM {table} WHERE {column} = ?1)");
    conn.query_row(&sql, [value.to_string()], |row| row.get(0)).unwrap()
}

/// The newest checkpoints that the plane has kept itself (AUD-3).
fn kept(conn: &Connection) -> Vec<(usize, ContentHash)> {
    let mut found = conn.prepare("SELECT signed FROM checkpoint ORDER BY size DESC LIMIT 2").unwrap();
    let signed = found.query_map([], |row| row.get::<_, String>(0)).unwrap();
    signed
        .map(|signed| {
            let signed: Value = serde_json::from_str(&signed.unwrap()).unwrap();
            let said = &signed["checkpoint"];
            let head = serde_json::from_value(said["head"].clone()).unwrap();
            (usize::try_from(said["size"].as_u64().unwrap()).unwrap(), head)
        })
        .collect()
}

fn tree_head(hashes: &[String]) -> ContentHash {
    let leaves: Vec<ContentHash> = hashes.iter().map(|hash| ContentHash::parse(hash).unwrap()).collect();
    super::super::kills::tree_head(&leaves)
}
