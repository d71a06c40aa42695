//! How a verdict is said: what is waited for, in one line, and the next command, to be pasted.
//!
//! Text only; names and ids in it have closed forms, so nothing that a sender wrote gets here. Rules: WHY-1, CON-1.

use std::fmt::Write as _;

use awakener_kernel::fuse::Trip;
use awakener_kernel::ids::{MessageId, Target};
use awakener_kernel::station::{LatchCause, PhaseName};
use awakener_kernel::waker::{Capability, Missing};

use super::cause::Cause;
use super::facts::{Facts, LatchFact, StationFacts};
use super::judge::Verdict;

/// What the agent waits for, or what it does, in one line without a full stop.
pub fn waits_for(facts: &Facts, verdict: &Verdict) -> String {
    let plain = match verdict.cause {
        Cause::PlaneUnread => "somebody to look: the plane's part cannot be read",
        Cause::PlaneDown => "the plane: it does not run, so nothing is admitted and nobody is woken",
        Cause::FilesUnread => "somebody to look: the state directory cannot be read",
        Cause::Latched => return latched(facts),
        Cause::LatchClearing => "the clear: it was accepted and has not come to its end; give it again",
        Cause::StationRefused => return refused(facts),
        Cause::Quarantined => "an operator: an alert was set aside after too many attempts",
        Cause::AtWork => return at_work(facts.station()),
        Cause::LeaseHeld => return lease(facts),
        Cause::HumanTold => "a person: they were told and must submit what is in front of them",
        Cause::FateUnknown => "proof of what became of the flight before the restart, or its latest end",
        Cause::DispatchUnknown => "the runtime to read: nobody knows whether it has the notice",
        Cause::FlightOpen => "the runtime: it was told, and has not finished",
        Cause::Stopped => "an operator: everything is stopped",
        Cause::FleetPaused => "the end of the pause of all, or an operator",
        Cause::Paused => "the end of its pause, or an operator",
        Cause::DaemonPaused => "whoever laid a pause file into the wake daemon's own state directory",
        Cause::NotArmed => "an operator: it has no grant, so nobody wakes it",
        Cause::GrantExpired => "an operator: its grant is over, so nobody wakes it",
        Cause::NotStarted => "the plane's start to be on record",
        Cause::ManifestRefused => {
            "a manifest that is accepted: alerts are closed, and the plane must start again"
        }
        Cause::ChainBroken => "an operator: the audit chain is broken, so alerts are closed",
        Cause::ChainWalked => "the end of the walk over the audit chain; alerts are closed until then",
        Cause::ClockBehind => "the clock to catch up, or an operator: it stepped back, so alerts are closed",
        Cause::NoRoster => "a roster: there is none, so nobody may raise alerts",
        Cause::RosterMalformed => "a roster: the one that is installed cannot be used",
        Cause::RosterExpired => "a roster: the one that is installed is over",
        Cause::NotOnRoster => "a roster that names it: nobody may raise alerts for it",
        Cause::CannotAck => "a key: no valid one could acknowledge its alerts",
        Cause::StationSilent => "its station: nothing listens where it should be",
        Cause::StationUnread => "somebody to look: its station cannot be read",
        Cause::GrantSpent => "a new grant: a latch has used the last one up",
        Cause::FuseUsedUp => return used_up(facts.station()),
        Cause::AckOwed => "a signed acknowledgement: a result is recorded, nobody acknowledged the alert",
        Cause::WakeSilent => "the wake daemon: nothing listens where it should be",
        Cause::WakeUnread => "somebody to look: the wake daemon cannot be read",
        Cause::DaemonCutOff => "the wake daemon to reach the plane: it got no answer last time",
        Cause::NotServed => "somebody to name it in the manifest: no wake daemon here serves it",
        Cause::Ineligible => return ineligible(facts),
        Cause::AdapterUnavailable => return unavailable(facts),
        Cause::Escalated => "an operator: an alert is old and nobody works on it",
        Cause::Resting => "the end of the rest after a turn that was not observed",
        Cause::Busy => "its runtime: it said that it is busy, and is told again later",
        Cause::BackOff => return back_off(facts),
        Cause::Cooldown => "the end of the cooldown after the last start",
        Cause::PermitHeld => "another wake daemon: it has the permit",
        Cause::PermitAsked => "the plane's permit",
        Cause::StartDue => return start_due(facts),
        Cause::HintDue => "the first hint",
        Cause::HintOut => "the wake daemon to accept a hint; the next one follows on schedule",
        Cause::SweepDue => "the next sweep: all hints on schedule are used up",
        Cause::MailWaits if facts.hosted() => "its station's next look at the inbox",
        Cause::MailWaits => "its agent to look: mail wakes nobody",
        Cause::AtRest => "nothing",
    };
    plain.to_owned()
}

fn latched(facts: &Facts) -> String {
    let file = facts.files.known().and_then(|files| files.latch.as_ref());
    let own = facts.station().and_then(|station| station.latch.as_ref());
    let why = own.or(file).and_then(|latch: &LatchFact| latch.cause.as_ref()).map(cause_of);
    format!(
        "an operator to clear its latch: {}",
        why.unwrap_or_else(|| "what lies there cannot be read".into())
    )
}

fn cause_of(cause: &LatchCause) -> String {
    let LatchCause::Tripped { trip, .. } = cause else {
        return "something was found at the latch path".to_owned();
    };
    match trip {
        Trip::Hour { turns, limit } => format!("{turns} turns within an hour, {limit} are allowed"),
        Trip::Day { turns, limit } => format!("{turns} turns within a day, {limit} are allowed"),
        Trip::Boot { turns, limit } => format!("{turns} turns since its start, {limit} are allowed"),
        Trip::Loop { cycle } => format!("a loop of {} messages", cycle.len().saturating_sub(1)),
        Trip::Depth { depth, limit } => format!("a causal chain of {depth}, {limit} are allowed"),
        Trip::Echo { run, limit, .. } => format!("its own words {run} times in a row, {limit} are allowed"),
    }
}

fn refused(facts: &Facts) -> String {
    let causes = facts.station().and_then(|station| station.refused_by.as_deref()).unwrap_or_default();
    let words: Vec<&str> = causes
        .iter()
        .map(|cause| match cause {
            awakener_kernel::station::RefusedCause::AuditUnavailable => "nothing can be recorded",
            awakener_kernel::station::RefusedCause::ConfigInvalid => "its configuration is not valid",
        })
        .collect();
    let words =
        if words.is_empty() { "for a reason that it does not say".to_owned() } else { words.join(", ") };
    format!("its station to take work again: {words}")
}

fn at_work(station: Option<&StationFacts>) -> String {
    let words = match station.map(|station| station.phase) {
        Some(PhaseName::Waking) => "the inbox: its station was woken",
        Some(PhaseName::Reading) => "the claim: its station takes work",
        Some(PhaseName::Cognizing) => "the end of a turn",
        Some(PhaseName::Acking) => "its result and its acknowledgement to be recorded",
        Some(PhaseName::Synced) => "the cleanup of a turn",
        Some(PhaseName::Dark | PhaseName::Armed | PhaseName::Refused | PhaseName::LatchedDown) | None => {
            "its station"
        }
    };
    words.to_owned()
}

fn lease(facts: &Facts) -> String {
    let lease = facts.plane().and_then(|plane| plane.mail.lease.as_ref());
    match lease {
        Some(lease) => format!("{}: it works on {} under a lease", lease.holder, messages(lease.claimed)),
        None => "whoever has the lease".to_owned(),
    }
}

fn messages(count: u64) -> String {
    if count == 1 { "1 message".to_owned() } else { format!("{count} messages") }
}

fn used_up(station: Option<&StationFacts>) -> String {
    let mut words = "an operator: one more turn would trip the fuse".to_owned();
    if let Some(StationFacts { turns, limits, .. }) = station {
        for (name, turns, limit) in [
            ("hour", turns.hour, limits.turns_per_hour),
            ("day", turns.day, limits.turns_per_day),
            ("start", turns.boot, limits.turns_per_boot),
        ] {
            if turns >= limit {
                let _ = write!(words, ", {turns} of {limit} turns of this {name}");
            }
        }
    }
    words
}

fn ineligible(facts: &Facts) -> String {
    let missing = facts.waker().and_then(|waker| match waker.capability {
        Some(Capability::Missing(missing)) => Some(missing),
        Some(Capability::Unattended | Capability::Attended) | None => None,
    });
    let words = match missing {
        Some(Missing::NoAdapter) => "nothing here implements its runtime",
        Some(Missing::NoTier0Ack) => "its manifest entry does not say tier0_ack",
        Some(Missing::UnknownAgent) | None => "the manifest does not name it",
    };
    format!("somebody to change the manifest: {words}")
}

fn unavailable(facts: &Facts) -> String {
    format!("its runtime: it could not be reached {}, and is tried again", in_a_row(facts))
}

fn back_off(facts: &Facts) -> String {
    format!("the end of the back-off: a dispatch failed {}", in_a_row(facts))
}

fn in_a_row(facts: &Facts) -> String {
    match facts.waker().map_or(0, |waker| waker.failures) {
        1 => "once".to_owned(),
        failures => format!("{failures} times in a row"),
    }
}

fn start_due(facts: &Facts) -> String {
    match facts.waker().and_then(|waker| waker.held_by.as_ref()) {
        Some(held) => {
            let word = held.as_str().unwrap_or("more than one reason");
            let plain = word.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'_' | b' '));
            format!(
                "its start: the wake daemon holds it ({})",
                if plain { word } else { "a reason of its own" }
            )
        }
        None => "its start: a wake was accepted".to_owned(),
    }
}

/// The command that helps, to be pasted where the operator's key and the state directory are set as usual; none if
/// waiting is what there is to do.
pub fn next(facts: &Facts, verdict: &Verdict) -> Option<String> {
    let target = &facts.target;
    let about = |message: Option<MessageId>, with: fn(&Target, MessageId) -> String| {
        message.map(|message| with(target, message))
    };
    let trace = |_: &Target, message: MessageId| format!("awakener trace {message}");
    let command = match verdict.cause {
        Cause::PlaneUnread | Cause::ChainWalked | Cause::NotStarted => "awakener audit verify".to_owned(),
        Cause::PlaneDown => "awakener up".to_owned(),
        Cause::FilesUnread => "awakener latch show".to_owned(),
        Cause::Latched | Cause::LatchClearing => format!("awakener latch clear {target}"),
        Cause::StationRefused | Cause::ManifestRefused | Cause::NotServed | Cause::Ineligible => {
            "awakener check".to_owned()
        }
        Cause::StationUnread | Cause::WakeUnread | Cause::DaemonCutOff => "awakener config show".to_owned(),
        Cause::Quarantined => {
            return about(verdict.message, |target, message| {
                format!("awakener quarantine release {target} {message}")
            });
        }
        Cause::HumanTold
        | Cause::FateUnknown
        | Cause::DispatchUnknown
        | Cause::AdapterUnavailable
        | Cause::Escalated => return about(verdict.message, trace),
        Cause::AckOwed => {
            return about(verdict.message, |target, message| {
                format!("awakener ack {message} --target {target} --outcome handled --as {target}")
            });
        }
        Cause::Stopped => {
            let file = facts.files.known().filter(|files| files.stop_all);
            file.map_or_else(|| "awakener resume".to_owned(), |files| remove(&files.state, "stop-all"))
        }
        Cause::FleetPaused => "awakener resume".to_owned(),
        Cause::Paused => {
            let file = facts.files.known().filter(|files| files.pause);
            let file = file.map(|files| remove(&files.state, &format!("pause-{target}")));
            file.unwrap_or_else(|| format!("awakener resume {target}"))
        }
        Cause::NotArmed | Cause::GrantExpired | Cause::GrantSpent => format!("awakener arm {target}"),
        Cause::ChainBroken => "awakener audit verify".to_owned(),
        Cause::ClockBehind => "awakener clock accept".to_owned(),
        Cause::NoRoster | Cause::RosterMalformed | Cause::RosterExpired | Cause::NotOnRoster => {
            "awakener roster show".to_owned()
        }
        Cause::CannotAck => "awakener keys list".to_owned(),
        Cause::StationSilent => format!("awakener station {target}"),
        Cause::WakeSilent => "awakener wake".to_owned(),
        Cause::FuseUsedUp => return used_up_next(facts),
        // Where that directory is, only its own machine knows.
        Cause::DaemonPaused => return None,
        Cause::AtWork
        | Cause::LeaseHeld
        | Cause::FlightOpen
        | Cause::Resting
        | Cause::Busy
        | Cause::BackOff
        | Cause::Cooldown
        | Cause::PermitHeld
        | Cause::PermitAsked
        | Cause::StartDue
        | Cause::HintDue
        | Cause::HintOut
        | Cause::SweepDue
        | Cause::MailWaits
        | Cause::AtRest => return None,
    };
    Some(command)
}

/// A pause keeps the next turn away until the window has moved on; the count of a start ends with the process.
fn used_up_next(facts: &Facts) -> Option<String> {
    let StationFacts { turns, limits, target, .. } = facts.station()?;
    let length = if turns.day >= limits.turns_per_day { "24h" } else { "1h" };
    Some(format!("awakener pause {target} --for {length}"))
}

/// A file of the state directory that holds something; in quotes that no path gets out of.
fn remove(state: &str, name: &str) -> String {
    format!("rm '{}/{name}'", state.replace('\'', r"'\''"))
}
