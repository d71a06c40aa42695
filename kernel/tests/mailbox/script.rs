//! Random scripts: what may happen to a mailbox, with a hand on the dice so that each input meets each of its outcomes.
//!
//! A line of a script is a kind and three dice; it means something in every situation, so scripts shrink well.

use std::collections::BTreeMap;

use awakener_kernel::config::Config;
use awakener_kernel::ids::{Fence, MessageId, Tier, WakeId};
use awakener_kernel::machine::{Machine as _, Outcome};
use awakener_kernel::mailbox::entry::{Closed, Entry};
use awakener_kernel::mailbox::input::{AckKey, Input};
use awakener_kernel::time::Millis;
use awakener_kernel::values::{
    Ack, AckOutcome, By, DispatchOutcome, Finish, FlightEnd, FlightReport, Question, Response,
};
use proptest::prelude::*;

use crate::cast::*;
use crate::store::Fate;
use crate::world::{Told, World};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Start,
    Admit,
    Claim,
    Renew,
    Release,
    Read,
    FinishTurn,
    Respond,
    Ack,
    Ask,
    Report,
    Sweep,
    Published,
    Resolve,
    ReleaseQuarantine,
    Expire,
    Fire,
    /// Time passes.
    Tick,
    /// The process dies.
    Crash,
    /// Arming, roster, gate change.
    Registry,
}

#[derive(Clone, Copy, Debug)]
pub struct Line {
    pub kind: Kind,
    pub dice: [u8; 3],
    /// 0 = the commit fails; 1 = it waits for the next line.
    pub luck: u8,
}

pub fn script() -> impl Strategy<Value = Vec<Line>> {
    use Kind as K;
    let kinds = prop_oneof![
        6 => Just(K::Start), 16 => Just(K::Admit), 14 => Just(K::Claim), 3 => Just(K::Renew),
        3 => Just(K::Release), 18 => Just(K::Read), 10 => Just(K::FinishTurn), 10 => Just(K::Respond),
        12 => Just(K::Ack), 8 => Just(K::Ask), 12 => Just(K::Report), 6 => Just(K::Sweep),
        4 => Just(K::Published), 3 => Just(K::Resolve), 4 => Just(K::ReleaseQuarantine),
        4 => Just(K::Expire), 14 => Just(K::Fire), 7 => Just(K::Tick), 2 => Just(K::Crash),
        4 => Just(K::Registry),
    ];
    let line = (kinds, any::<[u8; 3]>(), 0..40_u8).prop_map(|(kind, dice, luck)| Line { kind, dice, luck });
    prop::collection::vec(line, 30..130)
}

/// Limits small enough that scripts reach them.
pub fn small() -> Config {
    Config {
        lease: Millis(90),
        permit: Millis(30),
        flight_max: Millis(90),
        escalate: Millis(200),
        message_age: Millis(160),
        attempts: 2,
        re_emissions: 2,
        re_emission_base: Millis(15),
        page: 3,
        queue: 6,
        tier0_reserve: 2,
        causal_depth: 2,
        ..Config::default()
    }
}

/// How often each kind of input advanced, was absorbed, was refused.
pub type Shares = BTreeMap<Kind, [u32; 3]>;

/// Plays a script to its end.
pub fn play(script: &[Line], shares: &mut Shares) -> World {
    let mut w = World::asleep(small());
    let mut waiting: Vec<(Kind, Input)> = Vec::new();
    for line in script {
        let kind = likely(&w, line);
        let Some(input) = write(&mut w, kind, line.dice) else { continue };
        waiting.push((kind, input));
        if line.luck == 1 {
            continue;
        }
        let (kinds, inputs): (Vec<Kind>, Vec<_>) =
            std::mem::take(&mut waiting).into_iter().map(|(kind, input)| (kind, (input, None))).unzip();
        if line.luck == 0 {
            let fates = [Fate::NotDurable, Fate::UnknownLost, Fate::UnknownKept, Fate::BadWrite];
            w.store.fate = fates[usize::from(line.dice[2]) % fates.len()];
        }
        for (kind, told) in kinds.into_iter().zip(w.all(inputs).unwrap_or_default()) {
            shares.entry(kind).or_default()[column(&told)] += 1;
        }
    }
    w
}

fn column(told: &Told) -> usize {
    match told {
        Outcome::Advanced(_) => 0,
        Outcome::Absorbed => 1,
        Outcome::Refused(_) => 2,
    }
}

fn pick<T: Clone>(dice: u8, of: impl IntoIterator<Item = T>) -> Option<T> {
    let of: Vec<T> = of.into_iter().collect();
    of.get(usize::from(dice).checked_rem(of.len())?).cloned()
}

/// True in `of` out of 16 throws.
fn odds(dice: u8, of: u8) -> bool {
    dice % 16 < of
}

fn id(n: u8) -> u8 {
    n % 24 + 1
}

/// What a line does: two times out of three, what its own kind needs first, if that is not there.
fn likely(w: &World, line: &Line) -> Kind {
    use Kind as K;
    let [a, _, c] = line.dice;
    if !odds((a / 16) ^ c, 11) {
        return line.kind;
    }
    let lease = w.machine().live_lease(w.now);
    let at_work = lease.is_some_and(|lease| !lease.claimed.is_empty());
    let read = lease.is_some_and(|lease| lease.claimed.values().any(|claimed| claimed.read));
    let aside = w.image().progress.values().any(|progress| progress.quarantined);
    match line.kind {
        K::Read | K::Renew | K::Release | K::FinishTurn | K::Respond if !at_work => K::Claim,
        K::FinishTurn | K::Respond if !read => K::Read,
        K::Ask | K::Published if w.disk().mints.is_empty() => K::Fire,
        K::Report if w.image().permit.is_none() => K::Ask,
        K::ReleaseQuarantine if !aside => K::Release,
        kind => kind,
    }
}

/// Makes an input; `None` when the line was about the world around.
fn write(w: &mut World, kind: Kind, [a, b, c]: [u8; 3]) -> Option<Input> {
    Some(match kind {
        Kind::Start => Input::Start { floor: if odds(a, 3) { u32::from(b) % 8 } else { 0 } },
        Kind::Admit => admit(w, a, b, c),
        Kind::Claim => {
            Input::Claim { holder: if odds(a, 12) { ann() } else { bob() }, max: 1 + u32::from(b) % 4 }
        }
        Kind::Renew => Input::Renew { fence: fence(w, a) },
        Kind::Release => Input::Release { fence: fence(w, a) },
        Kind::Read => Input::Read { fence: fence(w, a), message: claimed(w, b, c) },
        Kind::FinishTurn => {
            let complete = [Finish::Complete, Finish::Complete, Finish::Timeout, Finish::Unreported];
            let finish = pick(c / 16, complete)?;
            let lease = w.image().lease.as_ref();
            let claimed = lease.into_iter().flat_map(|lease| lease.claimed.values());
            let known = pick(b, claimed.filter_map(|c| Some((c.message, w.disk().row(c.message)?.1.turn?))));
            if let Some((message, (turn, finish))) = known.filter(|_| odds(b / 16, 5)) {
                return Some(Input::FinishTurn { fence: fence(w, a), message, turn, finish });
            }
            Input::FinishTurn { fence: fence(w, a), message: read_one(w, b, c), turn: turn(c % 2), finish }
        }
        Kind::Respond => {
            let known = pick(b, w.disk().rows.values().filter_map(|row| Some((row.id, row.response?))));
            if let Some((message, (turn, response))) = known.filter(|_| odds(b / 16, 3)) {
                return Some(Input::Respond { fence: fence(w, a), message, turn, response });
            }
            let response = pick(a / 16, [Response::Silence, Response::Silence, Response::Done, reply(1)])?;
            Input::Respond { fence: fence(w, a), message: read_one(w, b, c), turn: turn(c % 2), response }
        }
        Kind::Ack => acknowledge(w, a, b, c),
        Kind::Ask => {
            let (wake, mut question) = mint(w, a, b)?;
            if odds(c / 16, 1) {
                question.token = awakener_kernel::ids::Token::new(1, 9_999)?;
            }
            let _ = wake;
            Input::Ask { daemon: if odds(c, 10) { east() } else { west() }, question }
        }
        Kind::Report => report(w, a, b, c)?,
        Kind::Sweep => Input::Sweep { fresh: w.entropy() },
        Kind::Published => {
            let wake = if odds(c, 4) { wake(900_000) } else { mint(w, a, b)?.0 };
            Input::Published { wake, handed_over: odds(b, 12) }
        }
        Kind::Resolve => {
            let open: Vec<MessageId> = w.image().witnesses.values().map(|witness| witness.message).collect();
            let message = if odds(a, 6) { pick(b, open) } else { None };
            let resolved = |row: &&Entry| row.closed == Some(Closed::OperatorResolved);
            let closed = w.disk().rows.values().filter(resolved).map(|row| row.id);
            Input::Resolve {
                message: message.or(pick(b, closed).filter(|_| odds(a, 12))).unwrap_or(msg(id(b))),
            }
        }
        Kind::ReleaseQuarantine => {
            let rows = || w.disk().rows.values();
            let aside = pick(b, rows().filter(|row| row.quarantined && row.finished.is_none()));
            let open = pick(b, rows().filter(|row| row.finished.is_none()));
            let row = aside.filter(|_| odds(a, 8)).or(open.filter(|_| odds(a, 12)));
            Input::ReleaseQuarantine { message: row.map_or(msg(id(b)), |row| row.id) }
        }
        Kind::Expire => {
            let old = |at| at + w.config.message_age <= w.now.wall;
            let rows = w.disk().rows.values().filter(|row| row.finished.is_none() && row.tier != Tier::Zero);
            let row = pick(b, rows.filter(|row| old(row.admitted))).filter(|_| odds(a, 8));
            let any = pick(b, w.disk().rows.values()).filter(|_| odds(a, 13));
            Input::Expire { message: row.or(any).map_or(msg(id(b)), |row| row.id) }
        }
        Kind::Fire => {
            // A driver wakes up when it is due, as a rule.
            if let Some(due) = w.machine().deadline(&w.config).filter(|_| odds(a, 11)) {
                let wait = due.saturating_since(w.now.mono);
                w.tick(if odds(b, 14) { wait } else { Millis(wait.0.saturating_sub(1)) });
            }
            Input::Fire { fresh: w.entropy() }
        }
        Kind::Tick => {
            w.tick(Millis(u64::from(a) % 24));
            return None;
        }
        Kind::Crash => {
            w.crash();
            return None;
        }
        Kind::Registry => {
            w.registry.armed = odds(a, 13);
            w.registry.open = odds(b, 14);
            w.registry.withdrawn.clear();
            if odds(c, 3) {
                w.registry.withdrawn.insert(otto());
            }
            return None;
        }
    })
}

fn admit(w: &World, a: u8, b: u8, c: u8) -> Input {
    let principal = pick(b, [mira(), otto(), own()]).unwrap();
    let schema = if odds(c, 9) { "interrupt-alert/1" } else { "message/1" };
    let known = pick(a, w.disk().rows.values().cloned());
    let mut submitted = match known.filter(|_| odds(c / 16, 3)) {
        Some(row) => {
            let mut again = submitted(row.principal, "message/1", 1);
            (again.id, again.schema, again.content) = (row.id, row.schema, row.content);
            again
        }
        // One id belongs to one sender here: what happens otherwise is no matter of this machine.
        None => {
            let n = id(a) / 3 * 3 + b % 3 + 1;
            submitted(principal, schema, n)
        }
    };
    if odds(a / 16, 1) {
        submitted.content = content(255);
    }
    submitted.fence = odds(b / 16, 4).then(|| w.image().lease_fence);
    Input::Admit(submitted)
}

fn fence(w: &World, a: u8) -> Fence {
    let last = w.image().lease_fence;
    if odds(a, 14) { last } else { Fence(u64::from(a / 16) % (last.0 + 2)) }
}

/// Mostly something that is under the lease.
fn claimed(w: &World, b: u8, c: u8) -> MessageId {
    let lease = w.image().lease.as_ref();
    let message = lease.and_then(|lease| pick(b, lease.claimed.values().map(|claimed| claimed.message)));
    message.filter(|_| odds(c, 13)).unwrap_or(msg(id(b)))
}

/// Mostly something that was read under the lease, or that has a result.
fn read_one(w: &World, b: u8, c: u8) -> MessageId {
    let lease = w.image().lease.as_ref();
    let mut known: Vec<MessageId> = lease.map_or(vec![], |lease| {
        lease.claimed.values().filter(|claimed| claimed.read).map(|claimed| claimed.message).collect()
    });
    if odds(c, 4) {
        known.extend(w.disk().rows.values().filter(|row| row.response.is_some()).map(|row| row.id));
    }
    pick(b, known).filter(|_| odds(c, 13)).unwrap_or_else(|| claimed(w, b, c))
}

fn acknowledge(w: &mut World, a: u8, b: u8, c: u8) -> Input {
    let rows = || w.disk().rows.values().filter(|row| row.tier == Tier::Zero);
    let ready = pick(b, rows().filter(|row| row.closed.is_none() && row.response.is_some()));
    let read = pick(b, rows().filter(|row| row.closed.is_none() && row.read));
    let closed = pick(b, rows().filter(|row| row.closed.is_some()));
    let by = pick(c, [By::Station, By::Station, By::Agent, By::Human]).unwrap();
    let row = match a % 16 {
        0..=3 => ready.or(read),
        4..=6 => read,
        7..=10 => closed,
        11..=14 => pick(b, rows()),
        _ => pick(b, w.disk().rows.values()),
    };
    let mut ack = match &row {
        Some(row) => Ack { message: row.id, content: row.content, ..statement(1, by, AckOutcome::Handled) },
        None => statement(id(b), by, AckOutcome::Handled),
    };
    match row.and_then(|row| row.closed) {
        // The same once more.
        Some(Closed::Acknowledged(outcome, by, key)) if odds(c / 16, 12) => {
            (ack.outcome, ack.by, ack.key) = (outcome, by, key);
        }
        _ if odds(c / 16, 12) => {}
        _ => ack.outcome = AckOutcome::Failed,
    }
    ack.time = w.now.wall;
    w.registry.forged = a == 20;
    w.registry.foreign = a == 40;
    let state = if a == 60 { AckKey::Revoked } else { AckKey::Valid };
    w.registry.keys.insert(key(ack.by), (ack.by, state));
    match a {
        80 => ack.content = content(254),
        100 => ack.time = ack.time + w.config.skew + Millis(1),
        120 => ack.key = key(if ack.by == By::Human { By::Agent } else { By::Human }),
        _ => {}
    }
    let presented = ack.by == By::Station || odds(a / 16, 4);
    Input::Ack { ack, fence: presented.then(|| fence(w, c / 16)) }
}

fn mint(w: &World, a: u8, b: u8) -> Option<(WakeId, Question)> {
    let all: Vec<_> = w.disk().mints.iter().collect();
    let (wake, mint) = if odds(a, 10) { all.last().copied() } else { pick(b, all) }?;
    Some((*wake, Question { wake: *wake, message: mint.message, token: mint.token }))
}

fn report(w: &World, a: u8, b: u8, c: u8) -> Option<Input> {
    let reports = [
        FlightReport::Attempted,
        FlightReport::Attempted,
        FlightReport::Attempted,
        FlightReport::Attempted,
        FlightReport::Outcome(DispatchOutcome::NotifiedVerified),
        FlightReport::Outcome(DispatchOutcome::OutcomeUnknown),
        FlightReport::Ended(FlightEnd::ProcessEnded),
        FlightReport::Ended(FlightEnd::NeverStarted),
    ];
    let report = pick(c, reports)?;
    let current = w.image().permit.as_ref().map(|permit| (permit.daemon.clone(), permit.fence, permit.wake));
    if let Some((daemon, fence, wake)) = current.filter(|_| odds(a, 13)) {
        return Some(Input::Report { daemon, fence, wake, report });
    }
    let fence = Fence(u64::from(b) % (w.image().permit_fence.0 + 2));
    Some(Input::Report { daemon: east(), fence, wake: mint(w, a, b)?.0, report })
}
