//! Messages as callers see them: one, several, or a page of an inbox (INB-5, INB-6, RTE-3).

use awakener_kernel::config::Config;
use awakener_kernel::ids::{ContentHash, MessageId, Principal, Seq, Target, Tier};
use awakener_kernel::mailbox::entry::{Closed, Entry, Finished};
use awakener_kernel::page::{self, InboxId, PerTier, Position, Waiting};
use awakener_kernel::values::Response;
use awakener_kernel::wire::Submission;
use awakener_spec::Reason;
use rusqlite::{Connection, OptionalExtension, Params, Row, params};
use serde_json::Value;

use super::readers::unreadable;
use crate::http::wire::V1;
use crate::http::wire::answers::{
    Admitted, ClosedState, Head, Message, Page, ResponseState, State, TurnState,
};
use crate::http::wire::requests::ReadFrom;
use crate::plane::Refused;

type Answer<T> = Result<T, Refused>;

/// One message row, read and understood.
#[derive(Clone, Debug)]
pub struct Found {
    /// Whose inbox.
    pub target: Target,
    /// Its place.
    pub seq: Seq,
    /// The kernel's row.
    pub entry: Entry,
    /// What was submitted.
    pub submission: Submission,
    /// W3C `traceparent` as it came.
    pub trace: Option<String>,
}

const COLUMNS: &str = "target, seq, entry, submission, trace";

/// Every message of this id, in whatever inbox: an id is one only together with its sender (ADM-7).
///
/// # Errors
/// `store_unavailable`, `store_corrupt`.
pub fn whole(conn: &Connection, id: MessageId) -> Answer<Vec<Found>> {
    many(conn, &format!("SELECT {COLUMNS} FROM message WHERE id = ?1 ORDER BY target, seq"), [id.to_string()])
}

/// The messages at these places of one inbox, in the order asked for.
///
/// # Errors
/// `store_unavailable`, `store_corrupt`.
pub fn heads(conn: &Connection, target: &Target, seqs: &[Seq]) -> Answer<Vec<Found>> {
    let sql = format!("SELECT {COLUMNS} FROM message WHERE target = ?1 AND seq = ?2");
    let mut found = Vec::with_capacity(seqs.len());
    for seq in seqs {
        found.extend(many(conn, &sql, params![target.as_str(), signed(seq.get())])?);
    }
    Ok(found)
}

/// The first result of an admission again (ADM-7).
///
/// # Errors
/// `store_unavailable`, `store_corrupt`.
pub fn admitted(conn: &Connection, principal: &Principal, id: MessageId) -> Answer<Option<Admitted>> {
    let sql = format!("SELECT {COLUMNS} FROM message WHERE principal = ?1 AND id = ?2");
    let found = many(conn, &sql, params![principal.as_str(), id.to_string()])?;
    Ok(found.into_iter().next().map(|Found { target, seq, entry, .. }| Admitted {
        v: V1,
        id,
        target,
        seq: seq.get(),
        tier: entry.tier,
        cause: entry.cause,
        depth: entry.depth,
        content_sha256: entry.content,
        repeat: true,
    }))
}

/// A page of one inbox: ordered by the kernel, then cut.
///
/// # Errors
/// `position_unknown`; `store_unavailable`, `store_corrupt`.
pub fn page(
    conn: &Connection,
    target: &Target,
    from: &ReadFrom,
    limit: u32,
    config: &Config,
) -> Answer<Page> {
    let inbox = inbox_id(conn, target)?;
    let last = last(conn, target)?;
    let position = match from {
        ReadFrom::Start => Position::start(inbox),
        ReadFrom::Tail => Position::tail(inbox, last_of_each(conn, target)?),
        ReadFrom::Position(text) => Position::decode(text, inbox, last).map_err(|reason| Refused {
            reason,
            detail: format!("the position is not one of the inbox of {target}"),
        })?,
    };
    let mut waiting: PerTier<Waiting> = PerTier::default();
    let size = limit.clamp(1, config.page.max(1));
    for (tier, (waiting, after)) in Tier::ALL.into_iter().zip(waiting.iter_mut().zip(position.after())) {
        *waiting = beyond(conn, target, tier, *after, size)?;
    }
    let page = page::order(&waiting, position, size, config);
    let seqs: Vec<Seq> = page.items.iter().map(|(_, seq)| *seq).collect();
    let items = heads(conn, target, &seqs)?;
    if items.len() != seqs.len() {
        return Err(Refused {
            reason: Reason::StoreCorrupt,
            detail: format!("rows of {target} are missing"),
        });
    }
    Ok(Page {
        v: V1,
        target: target.clone(),
        items: items.into_iter().map(|found| head_of(&found)).collect(),
        position: page.next.encode(),
        more: page.more,
        total: page.total,
        outstanding: count(
            conn,
            "SELECT count(*) FROM message INDEXED BY message_alert WHERE target = ?1 AND tier = 0 AND finished = 0",
            [target.as_str()],
        )?,
    })
}

/// The id of one inbox: the first entry of the store's chain tells this store from every other one, a restored older
/// copy of it excepted, whose positions are judged by their sequences.
fn inbox_id(conn: &Connection, target: &Target) -> Answer<InboxId> {
    let first: Option<String> = conn
        .prepare_cached("SELECT hash FROM audit WHERE position = 1")
        .and_then(|mut statement| statement.query_row([], |row| row.get(0)).optional())
        .map_err(|error| unreadable(&error))?;
    let first = first.unwrap_or_default();
    Ok(InboxId(ContentHash::of(format!("inbox\n{first}\n{target}").as_bytes())))
}

fn last(conn: &Connection, target: &Target) -> Answer<Option<Seq>> {
    number(conn, "SELECT max(seq) FROM message WHERE target = ?1", [target.as_str()])
}

fn last_of_each(conn: &Connection, target: &Target) -> Answer<PerTier<Option<Seq>>> {
    let mut last = [None; 4];
    for (tier, last) in Tier::ALL.into_iter().zip(&mut last) {
        *last = number(
            conn,
            "SELECT max(seq) FROM message WHERE target = ?1 AND tier = ?2",
            params![target.as_str(), signed(tier.get())],
        )?;
    }
    Ok(last)
}

fn beyond(conn: &Connection, target: &Target, tier: Tier, after: Option<Seq>, size: u32) -> Answer<Waiting> {
    let after = signed(after.map_or(0, Seq::get));
    let (target, tier) = (target.as_str(), signed(tier.get()));
    let seqs: Vec<i64> = conn
        .prepare_cached(
            "SELECT seq FROM message WHERE target = ?1 AND tier = ?2 AND seq > ?3 ORDER BY seq LIMIT ?4",
        )
        .and_then(|mut statement| {
            statement.query_map(params![target, tier, after, size], |row| row.get(0))?.collect()
        })
        .map_err(|error| unreadable(&error))?;
    let total = count(
        conn,
        "SELECT count(*) FROM message WHERE target = ?1 AND tier = ?2 AND seq > ?3",
        params![target, tier, after],
    )?;
    Ok(Waiting { seqs: seqs.into_iter().map(seq).collect::<Answer<_>>()?, total })
}

/// The head as callers see it.
pub fn head_of(found: &Found) -> Head {
    let Found { target, seq, entry, submission, .. } = found;
    Head {
        seq: seq.get(),
        id: entry.id,
        target: target.clone(),
        principal: entry.principal.clone(),
        thread: submission.thread,
        in_reply_to: submission.in_reply_to,
        schema: entry.schema.clone(),
        tier: entry.tier,
        priority: submission.priority,
        intent: submission.intent.clone(),
        response_expectation: submission.response_expectation,
        subject: submission.subject.clone(),
        admitted: entry.admitted,
        content_sha256: entry.content,
        cause: entry.cause,
        depth: entry.depth,
        state: state(entry),
    }
}

impl Found {
    /// The whole message as callers see it, with the text of its answer.
    ///
    /// # Errors
    /// `store_unavailable`.
    pub fn message(&self, conn: &Connection) -> Answer<Message> {
        let mut head = head_of(self);
        if let Some(response) = &mut head.state.response {
            response.body = conn
                .prepare_cached("SELECT body FROM answer WHERE message = ?1 AND turn = ?2 AND target = ?3")
                .and_then(|mut statement| {
                    let key =
                        params![self.entry.id.to_string(), response.turn.to_string(), self.target.as_str()];
                    statement.query_row(key, |row| row.get(0)).optional()
                })
                .map_err(|error| unreadable(&error))?;
        }
        if let Some(turn) = &mut head.state.turn {
            let record: Option<String> = conn
                .prepare_cached(
                    "SELECT signed FROM statement WHERE kind = 'turn' AND subject = ?1 ORDER BY position DESC",
                )
                .and_then(|mut statement| {
                    statement.query_row([turn.id.to_string()], |row| row.get(0)).optional()
                })
                .map_err(|error| unreadable(&error))?;
            turn.record = record
                .map(|text| serde_json::from_str(&text))
                .transpose()
                .map_err(|error| corrupt(&error))?;
        }
        Ok(Message { head, body: self.submission.body.clone(), traceparent: self.trace.clone() })
    }
}

fn state(entry: &Entry) -> State {
    State {
        read: entry.read,
        turn: entry.turn.map(|(id, finish)| TurnState { id, finish, record: None }),
        response: entry.response.map(|(turn, response)| {
            let kind = match response {
                Response::Reply(_) => "reply",
                Response::Silence => "silence",
                Response::Done => "done",
            };
            ResponseState { turn, kind: kind.to_owned(), body: None }
        }),
        closed: entry.closed.map(|closed| match closed {
            Closed::Acknowledged(outcome, by, key_id) => ClosedState::Acknowledged { outcome, by, key_id },
            Closed::OperatorResolved => ClosedState::OperatorResolved,
        }),
        finished: entry.finished.map(|how| {
            match how {
                Finished::WitnessClosed => "witness_closed",
                Finished::Responded => "responded",
                Finished::Quarantined => "quarantined",
                Finished::Expired => "expired",
            }
            .to_owned()
        }),
        quarantined: entry.quarantined,
    }
}

fn many(conn: &Connection, sql: &str, values: impl Params) -> Answer<Vec<Found>> {
    let rows: Vec<(String, i64, String, String, Option<String>)> = conn
        .prepare_cached(sql)
        .and_then(|mut statement| {
            let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?));
            statement.query_map(values, read)?.collect()
        })
        .map_err(|error| unreadable(&error))?;
    rows.into_iter()
        .map(|(target, place, entry, submission, trace)| {
            let value: Value = serde_json::from_str(&submission).map_err(|error| corrupt(&error))?;
            Ok(Found {
                target: Target::parse(&target).map_err(|error| corrupt(&error))?,
                seq: seq(place)?,
                entry: serde_json::from_str(&entry).map_err(|error| corrupt(&error))?,
                submission: Submission::from_value(&value).map_err(|error| corrupt(&error))?,
                trace,
            })
        })
        .collect()
}

fn number(conn: &Connection, sql: &str, values: impl Params) -> Answer<Option<Seq>> {
    let found: Option<i64> = conn
        .prepare_cached(sql)
        .and_then(|mut statement| statement.query_row(values, |row| row.get(0)))
        .map_err(|error| unreadable(&error))?;
    found.map(seq).transpose()
}

fn count(conn: &Connection, sql: &str, values: impl Params) -> Answer<u64> {
    let found: i64 = conn
        .prepare_cached(sql)
        .and_then(|mut statement| statement.query_row(values, |row| row.get(0)))
        .map_err(|error| unreadable(&error))?;
    u64::try_from(found).map_err(|error| corrupt(&error))
}

fn seq(number: i64) -> Answer<Seq> {
    u64::try_from(number).ok().and_then(Seq::new).ok_or_else(|| corrupt(&format!("sequence {number}")))
}

fn corrupt(error: &dyn std::fmt::Display) -> Refused {
    Refused { reason: Reason::StoreCorrupt, detail: format!("a stored message cannot be read: {error}") }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
