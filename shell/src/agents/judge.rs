//! The one function that says what an agent is doing, why it waits, and what to do next.
//!
//! Pure: facts in, verdict out; the first thing that holds is the answer, and the order is that of the mending: what
//! keeps everything from going on stands before what keeps one thing from it. It decides nothing that any machine
//! does. What could not be read never ends as idle (CON-1). Not here: how a cause is said (`words`). Rules: WHY-1,
//! AUD-8, CON-1.

use awakener_kernel::ids::MessageId;
use awakener_kernel::station::PhaseName;
use awakener_kernel::time::{Millis, Wall};
use awakener_kernel::values::DispatchOutcome;
use awakener_kernel::waker::{Capability, Notice, Phase};
use awakener_spec::rule;

use super::cause::{Cause, State};
use super::facts::{Facts, FlightFacts, PlaneFacts, RosterFact, Shut, Source, StationFacts, WakerFacts};
use crate::http::wire::status::OutstandingAlert;

/// What is to be said of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What it is doing.
    pub state: State,
    /// Why.
    pub cause: Cause,
    /// Since when, as far as that is known.
    pub since: Option<Wall>,
    /// When it is over by itself, as far as that is known.
    pub until: Option<Wall>,
    /// The message that it is about.
    pub message: Option<MessageId>,
}

impl Verdict {
    const fn of(state: State, cause: Cause) -> Self {
        Self { state, cause, since: None, until: None, message: None }
    }

    const fn since(self, since: Option<Wall>) -> Self {
        Self { since, ..self }
    }

    const fn until(self, until: Option<Wall>) -> Self {
        Self { until, ..self }
    }

    const fn about(self, message: Option<MessageId>) -> Self {
        Self { message, ..self }
    }
}

/// What an agent is doing, and why.
pub fn judge(facts: &Facts) -> Verdict {
    rule!(Why1);
    let verdict = first(facts);
    if verdict.state == State::Idle
        && let Some(cause) = unread(facts)
    {
        // What is not known is not nothing.
        rule!(Con1);
        return Verdict { cause, state: State::Unknown, ..verdict };
    }
    let waiting = oldest(facts).map(|alert| alert.opened);
    // What is about the station has lasted as long as its phase; since when a brake holds nobody wrote down.
    let phase = facts.station().map(|station| station.since).filter(|_| match verdict.cause {
        Cause::AtRest | Cause::MailWaits | Cause::Resting => true,
        _other => false,
    });
    verdict.since(verdict.since.or(waiting).or(phase))
}

fn first(facts: &Facts) -> Verdict {
    let Some(plane) = facts.plane() else { return Verdict::of(State::Unknown, Cause::PlaneUnread) };
    if !plane.running {
        return Verdict::of(State::Failed, Cause::PlaneDown);
    }
    latched(facts)
        .or_else(|| broken(facts, plane))
        .or_else(|| busy(facts, plane))
        .or_else(|| blind(facts))
        .or_else(|| braked(facts, plane))
        .or_else(|| station(facts))
        .or_else(|| alert(facts, plane))
        .unwrap_or_else(|| at_rest(facts, plane))
}

/// The first source that should be there and could not be read.
fn unread(facts: &Facts) -> Option<Cause> {
    match (&facts.station, &facts.wake) {
        (Source::Silent, _) => Some(Cause::StationSilent),
        (Source::Unread(_), _) => Some(Cause::StationUnread),
        (_, Source::Silent) => Some(Cause::WakeSilent),
        (_, Source::Unread(_)) => Some(Cause::WakeUnread),
        _known => None,
    }
}

/// FUS-6: whatever lies at the path is a latch, whatever else is known.
fn latched(facts: &Facts) -> Option<Verdict> {
    let file = facts.files.known().and_then(|files| files.latch.as_ref());
    let station = facts.station();
    let own = station.filter(|station| station.phase == PhaseName::LatchedDown);
    let own = own.and_then(|station| station.latch.as_ref());
    let latch = own.or(file);
    let down = station.is_some_and(|station| station.phase == PhaseName::LatchedDown);
    if latch.is_none() && !down {
        return None;
    }
    let clearing = latch.is_some_and(|latch| latch.clearing);
    let cause = if clearing { Cause::LatchClearing } else { Cause::Latched };
    Some(Verdict::of(State::Failed, cause).since(latch.and_then(|latch| latch.at)))
}

fn broken(facts: &Facts, plane: &PlaneFacts) -> Option<Verdict> {
    if let Some(station) = facts.station().filter(|station| station.phase == PhaseName::Refused) {
        return Some(Verdict::of(State::Failed, Cause::StationRefused).since(Some(station.since)));
    }
    let aside = plane.mail.outstanding.iter().find(|alert| alert.quarantined)?;
    let verdict = Verdict::of(State::NeedsInput, Cause::Quarantined);
    Some(verdict.since(Some(aside.opened)).about(Some(aside.message)))
}

/// What shows that something is under way, whatever forbids the next start.
fn busy(facts: &Facts, plane: &PlaneFacts) -> Option<Verdict> {
    if let Some(station) = facts.station().filter(|station| at_work(station.phase)) {
        let message = station.turn.as_ref().map(|turn| turn.turn.message);
        return Some(working(Cause::AtWork).since(Some(station.since)).about(message));
    }
    // Of a hosted agent only its station says that it works: a lease and a flight outlive a station that died.
    if matches!(facts.station, Source::Silent | Source::Unread(_)) {
        return None;
    }
    if let (Source::Absent, Some(lease)) = (&facts.station, &plane.mail.lease) {
        return Some(working(Cause::LeaseHeld).since(Some(lease.at)));
    }
    let waker = facts.waker()?;
    let flight = waker.flight.as_ref()?;
    // A flight ends when its daemon sees the runtime at rest; what it was for may be done with long before.
    let owed = plane.mail.outstanding.iter().any(|alert| alert.message == flight.message);
    owed.then(|| flying(waker, flight))
}

const fn at_work(phase: PhaseName) -> bool {
    match phase {
        PhaseName::Waking
        | PhaseName::Reading
        | PhaseName::Cognizing
        | PhaseName::Acking
        | PhaseName::Synced => true,
        PhaseName::Dark | PhaseName::Armed | PhaseName::Refused | PhaseName::LatchedDown => false,
    }
}

fn flying(waker: &WakerFacts, flight: &FlightFacts) -> Verdict {
    let told = flight.notice == Notice::Told && !flight.read;
    let verdict = match waker.phase {
        Phase::Resolving => Verdict::of(State::Unknown, Cause::FateUnknown),
        Phase::Unknown => Verdict::of(State::Unknown, Cause::DispatchUnknown),
        _open if told && waker.capability == Some(Capability::Attended) => {
            Verdict::of(State::NeedsInput, Cause::HumanTold)
        }
        _open => working(Cause::FlightOpen),
    };
    verdict.since(Some(flight.started)).about(Some(flight.message))
}

/// Without the state directory nobody can say that neither latch nor pause holds.
fn blind(facts: &Facts) -> Option<Verdict> {
    facts.files.missing().map(|_| Verdict::of(State::Unknown, Cause::FilesUnread))
}

/// What operators and faults of the plane forbid. Only what waits makes a brake somebody's business.
fn braked(facts: &Facts, plane: &PlaneFacts) -> Option<Verdict> {
    let waits = State::if_waiting(work_waits(facts, plane));
    let files = facts.files.known();
    if plane.stopped || files.is_some_and(|files| files.stop_all) {
        return Some(Verdict::of(waits, Cause::Stopped));
    }
    if let Some(until) = plane.fleet_pause {
        return Some(Verdict::of(waits, Cause::FleetPaused).until(Some(until)));
    }
    if plane.pause.is_some() || files.is_some_and(|files| files.pause) {
        return Some(Verdict::of(waits, Cause::Paused).until(plane.pause));
    }
    if facts.waker().is_some_and(|waker| waker.paused) {
        return Some(Verdict::of(waits, Cause::DaemonPaused));
    }
    match plane.grant {
        None => return Some(Verdict::of(waits, Cause::NotArmed)),
        Some(until) if until <= facts.now => {
            return Some(Verdict::of(waits, Cause::GrantExpired).since(Some(until)));
        }
        Some(_holds) => {}
    }
    // A closed Tier-0 is a fault and no decision: it needs somebody even while nothing waits.
    let fault = |cause| Some(Verdict::of(State::NeedsInput, cause));
    match plane.shut {
        Some(Shut::ManifestRefused) => return fault(Cause::ManifestRefused),
        Some(Shut::ChainBroken) => return fault(Cause::ChainBroken),
        Some(Shut::ClockBehind) => return fault(Cause::ClockBehind),
        Some(Shut::ChainWalked) => return Some(working(Cause::ChainWalked)),
        Some(Shut::NotStarted) => return Some(working(Cause::NotStarted)),
        None => {}
    }
    if plane.mail.outstanding.is_empty() {
        return None;
    }
    let roster =
        roster(plane.roster).map(|(cause, since)| Verdict::of(State::NeedsInput, cause).since(since));
    roster.or_else(|| (!plane.can_ack).then(|| Verdict::of(State::NeedsInput, Cause::CannotAck)))
}

const fn roster(fact: RosterFact) -> Option<(Cause, Option<Wall>)> {
    match fact {
        RosterFact::Absent => Some((Cause::NoRoster, None)),
        RosterFact::Malformed => Some((Cause::RosterMalformed, None)),
        RosterFact::Expired(since) => Some((Cause::RosterExpired, Some(since))),
        RosterFact::NotListed => Some((Cause::NotOnRoster, None)),
        RosterFact::Listed => None,
    }
}

/// What its hosted station stands before.
fn station(facts: &Facts) -> Option<Verdict> {
    let waits = facts.plane().is_some_and(|plane| work_waits(facts, plane));
    match &facts.station {
        Source::Absent => None,
        Source::Silent => Some(Verdict::of(State::if_waiting(waits), Cause::StationSilent)),
        Source::Unread(_) => Some(Verdict::of(State::Unknown, Cause::StationUnread)),
        Source::Known(station) if station.phase == PhaseName::Dark => {
            Some(Verdict::of(State::if_waiting(waits), Cause::GrantSpent).since(Some(station.since)))
        }
        Source::Known(station) if used_up(station) => {
            Some(Verdict::of(State::if_waiting(waits), Cause::FuseUsedUp))
        }
        Source::Known(_) => None,
    }
}

/// Whether the count backstop would trip before the next turn (FUS-1): the numbers are those that it judges.
pub const fn used_up(station: &StationFacts) -> bool {
    let (turns, limits) = (station.turns, station.limits);
    turns.hour >= limits.turns_per_hour
        || turns.day >= limits.turns_per_day
        || turns.boot >= limits.turns_per_boot
}

/// Why an alert that nothing forbids is not worked on yet.
fn alert(facts: &Facts, plane: &PlaneFacts) -> Option<Verdict> {
    let oldest = oldest(facts)?;
    if let (Source::Absent, Some(answered)) = (&facts.station, plane.answered) {
        return Some(Verdict::of(State::NeedsInput, Cause::AckOwed).about(Some(answered)));
    }
    let verdict = match &facts.wake {
        Source::Absent => Verdict::of(State::NeedsInput, Cause::NotServed),
        Source::Silent => Verdict::of(State::NeedsInput, Cause::WakeSilent),
        Source::Unread(_) => Verdict::of(State::Unknown, Cause::WakeUnread),
        Source::Known(wake) if !wake.plane_reachable => Verdict::of(State::Failed, Cause::DaemonCutOff),
        Source::Known(wake) => match &wake.waker {
            Some(waker) => waits_for(facts, plane, waker, &wake.daemon, oldest),
            None => Verdict::of(State::NeedsInput, Cause::NotServed),
        },
    };
    Some(verdict.about(Some(oldest.message)))
}

fn waits_for(
    facts: &Facts,
    plane: &PlaneFacts,
    waker: &WakerFacts,
    daemon: &str,
    oldest: &OutstandingAlert,
) -> Verdict {
    let later = (waker.rests_ms > 0).then(|| facts.now + Millis(waker.rests_ms));
    match waker.capability {
        None => return Verdict::of(State::NeedsInput, Cause::NotServed),
        Some(Capability::Missing(_)) => return Verdict::of(State::NeedsInput, Cause::Ineligible),
        Some(Capability::Unattended | Capability::Attended) => {}
    }
    let last = waker.last_outcome.filter(|_| waker.failures > 0);
    if matches!(last, Some(DispatchOutcome::Unavailable | DispatchOutcome::NotAttempted)) {
        return Verdict::of(State::Failed, Cause::AdapterUnavailable).until(later);
    }
    if oldest.escalated {
        return Verdict::of(State::NeedsInput, Cause::Escalated);
    }
    if let Some(until) = facts.station().and_then(|station| station.rests_until.as_deref()) {
        return working(Cause::Resting).until(Wall::parse_utc(until).ok());
    }
    if later.is_some() {
        let cause = match (waker.failures, last) {
            (0, _) => Cause::Cooldown,
            (_, Some(DispatchOutcome::RefusedBusy)) => Cause::Busy,
            (_, _) => Cause::BackOff,
        };
        return working(cause).until(later);
    }
    let foreign = plane.mail.permit.as_ref().filter(|permit| permit.daemon != daemon);
    if let Some(permit) = foreign {
        return working(Cause::PermitHeld).since(Some(permit.at));
    }
    match waker.phase {
        Phase::Asking | Phase::Renewing => working(Cause::PermitAsked),
        Phase::Waiting => working(Cause::StartDue),
        _resting if oldest.emissions == 0 => working(Cause::HintDue),
        _resting if oldest.emissions < plane.emissions_limit => working(Cause::HintOut),
        _resting => working(Cause::SweepDue),
    }
}

/// No alert waits for anything that could be named.
fn at_rest(facts: &Facts, plane: &PlaneFacts) -> Verdict {
    if plane.unread > 0 {
        let resting = facts.station().and_then(|station| station.rests_until.as_deref());
        return match (facts.hosted(), resting) {
            (true, Some(until)) => working(Cause::Resting).until(Wall::parse_utc(until).ok()),
            (true, None) => working(Cause::MailWaits),
            // Mail wakes nobody: it is found when its agent looks.
            (false, _) => Verdict::of(State::Idle, Cause::MailWaits),
        };
    }
    match roster(plane.roster) {
        Some((cause, since)) => Verdict::of(State::Idle, cause).since(since),
        None => Verdict::of(State::Idle, Cause::AtRest),
    }
}

/// Whether anything waits that this agent should do by itself.
fn work_waits(facts: &Facts, plane: &PlaneFacts) -> bool {
    !plane.mail.outstanding.is_empty() || (facts.hosted() && plane.unread > 0)
}

fn oldest(facts: &Facts) -> Option<&OutstandingAlert> {
    facts.plane().and_then(|plane| plane.mail.outstanding.iter().find(|alert| !alert.quarantined))
}

const fn working(cause: Cause) -> Verdict {
    Verdict::of(State::Working, cause)
}

impl State {
    const fn if_waiting(waits: bool) -> Self {
        if waits { Self::NeedsInput } else { Self::Idle }
    }
}
