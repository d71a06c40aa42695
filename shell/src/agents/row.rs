//! From facts to the rows that are shown. Not here: any decision.

use std::collections::{BTreeMap, BTreeSet};

use awakener_kernel::config::Config;
use awakener_kernel::ids::Target;
use awakener_kernel::mailbox::image::Image as Mailbox;
use awakener_kernel::registry::Closed;
use awakener_kernel::registry::image::Image;
use awakener_kernel::time::{Mono, Now, Wall};
use awakener_spec::{Reason, rule};

use super::ask::Heard;
use super::facts::{Facts, PlaneFacts, RosterFact, Shut, Source};
use super::files::Files;
use super::{judge, next, waits_for};
use crate::http::wire::agents::{Agent, Counter, PhaseNow, PlanePart};
use crate::http::wire::status::{Unread, target_status};

/// What of the plane holds for all targets.
#[derive(Clone, Debug)]
pub struct Ledger<'a> {
    /// By the plane's clock.
    pub now: Wall,
    /// Whether it runs.
    pub running: bool,
    /// What operators decided.
    pub image: &'a Image,
    /// Why Tier-0 is closed.
    pub closed: Option<Closed>,
    /// Whether the chain is being walked.
    pub walking: bool,
    /// The limits in force.
    pub limits: &'a Config,
    listed: BTreeSet<&'a Target>,
    roster: RosterFact,
}

impl<'a> Ledger<'a> {
    /// Of what a plane, or its store, has.
    pub fn new(now: Wall, image: &'a Image, limits: &'a Config) -> Self {
        let entries = image.roster.iter().flat_map(|installed| &installed.roster.entries);
        let roster = match &image.roster {
            None => RosterFact::Absent,
            Some(installed) if now >= installed.roster.not_after => {
                RosterFact::Expired(installed.roster.not_after)
            }
            Some(_) => RosterFact::Listed,
        };
        let listed = entries.map(|entry| &entry.target).collect();
        Self { now, running: false, image, closed: None, walking: false, limits, listed, roster }
    }

    /// Of a plane that runs, which alone knows whether a roster can be used and whether Tier-0 is open.
    pub fn running(
        now: Wall,
        registry: &'a awakener_kernel::registry::Registry,
        walking: bool,
        limits: &'a Config,
    ) -> Self {
        use awakener_kernel::admission::RosterVerdict;
        use awakener_kernel::machine::Machine as _;
        let mut ledger = Self::new(now, registry.image(), limits);
        (ledger.running, ledger.walking) = (true, walking);
        ledger.closed = registry.tier0_closed();
        // Any of its entries shows whether the whole can be used (ADM-4).
        let first = registry.image().roster.as_ref().and_then(|installed| installed.roster.entries.first());
        let verdict = first.map(|entry| {
            let at = Now { wall: now, mono: Mono(0) };
            registry.roster_verdict(&entry.principal, &entry.schema, &entry.target, at)
        });
        match verdict {
            Some(RosterVerdict::Malformed) => ledger.roster = RosterFact::Malformed,
            None if registry.image().roster.is_some() => ledger.roster = RosterFact::Malformed,
            Some(_) | None => {}
        }
        ledger
    }

    fn roster(&self, target: &Target) -> RosterFact {
        match self.roster {
            RosterFact::Listed if !self.listed.contains(target) => RosterFact::NotListed,
            other => other,
        }
    }

    fn shut(&self) -> Option<Shut> {
        self.closed.map(|closed| match closed {
            Closed::NotStarted => Shut::NotStarted,
            Closed::ManifestRefused => Shut::ManifestRefused,
            Closed::ChainNotVerified if self.walking => Shut::ChainWalked,
            Closed::ChainNotVerified => Shut::ChainBroken,
            Closed::ClockBehind => Shut::ClockBehind,
        })
    }
}

/// The plane's part about a target.
pub fn plane_facts(ledger: &Ledger<'_>, target: &Target, mailbox: &Mailbox) -> PlaneFacts {
    let Ledger { now, image, limits, .. } = ledger;
    let at = Now { wall: *now, mono: Mono(0) };
    let holds = |until: &Wall| now < until;
    let unfinished: u64 = mailbox.queued.values().map(|count| u64::from(*count)).sum();
    let read = mailbox.progress.values().filter(|progress| progress.read).count();
    let answered = mailbox.witnesses.iter().find(|(seq, _)| {
        mailbox.progress.get(seq).is_some_and(|progress| progress.response.is_some() && !progress.quarantined)
    });
    let keys = image.ack_keys.get(target);
    PlaneFacts {
        running: ledger.running,
        shut: ledger.shut(),
        stopped: image.stopped,
        fleet_pause: image.fleet_pause.filter(holds),
        pause: image.pauses.get(target).copied().filter(holds),
        grant: image.grants.get(target).copied(),
        roster: ledger.roster(target),
        can_ack: keys.is_some_and(|keys| keys.values().any(|entry| entry.key.holds(at))),
        mail: target_status(target, mailbox, image, *now),
        unread: unfinished.saturating_sub(u64::try_from(read).unwrap_or(u64::MAX)),
        answered: answered.map(|(_, witness)| witness.message),
        attempts_limit: limits.attempts,
        emissions_limit: limits.re_emissions.saturating_add(1),
    }
}

/// The rows of these targets.
pub fn all<'a>(
    ledger: &Ledger<'_>,
    targets: impl Iterator<Item = &'a Target>,
    mailboxes: &BTreeMap<String, Mailbox>,
    files: &Files,
    heard: &mut Heard,
) -> Vec<Agent> {
    targets
        .map(|target| {
            let plane = match mailboxes.get(target.as_str()) {
                Some(mailbox) => Source::Known(plane_facts(ledger, target, mailbox)),
                None => Source::Unread("its mailbox is not loaded".to_owned()),
            };
            row(&Facts {
                target: target.clone(),
                now: ledger.now,
                plane,
                files: files.about(target.as_str(), ledger.now),
                wake: heard.wake(target),
                station: heard.station(target),
            })
        })
        .collect()
}

/// One row.
pub fn row(facts: &Facts) -> Agent {
    rule!(Aud8);
    let verdict = judge(facts);
    let plane = facts.plane();
    let oldest = plane.and_then(|plane| plane.mail.outstanding.first());
    Agent {
        target: facts.target.clone(),
        state: verdict.state,
        cause: verdict.cause,
        rule: verdict.cause.rule(),
        waits_for: waits_for(facts, &verdict),
        since: verdict.since,
        until: verdict.until,
        message: verdict.message,
        next: next(facts, &verdict),
        phase: phase(facts),
        unread: plane.map(|plane| plane.unread),
        outstanding: plane.map(|plane| u64::try_from(plane.mail.outstanding.len()).unwrap_or(u64::MAX)),
        oldest: oldest.cloned(),
        counters: counters(facts),
        plane: plane.map(|plane| PlanePart {
            armed: plane.mail.armed,
            paused: plane.mail.paused,
            granted_until: plane.mail.granted_until.clone(),
            cursor: plane.mail.cursor,
            last: plane.mail.last,
            lease: plane.mail.lease.clone(),
            permit: plane.mail.permit.clone(),
        }),
        could_not_read: could_not_read(facts),
    }
}

fn phase(facts: &Facts) -> Option<PhaseNow> {
    let at = |name: String, of: &str, since: Wall| PhaseNow {
        name,
        of: of.to_owned(),
        since,
        age_ms: facts.now.saturating_since(since).0,
    };
    if let Some(station) = facts.station() {
        return Some(at(word(station.phase), "station", station.since));
    }
    // A station that cannot be read has a phase that nobody knows; the waker's would be mistaken for it.
    if facts.hosted() {
        return None;
    }
    facts.waker().map(|waker| at(word(waker.phase), "wake", waker.since))
}

/// The name of a value of a closed list.
fn word(of: impl serde::Serialize) -> String {
    serde_json::to_value(of).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

/// What enforcement counts, by whoever enforces it.
fn counters(facts: &Facts) -> Vec<Counter> {
    let counter = |name: &str, value: u64, limit: Option<u64>, unit: &str, of: &str| Counter {
        name: name.to_owned(),
        value,
        limit,
        unit: unit.to_owned(),
        of: of.to_owned(),
    };
    let mut all = Vec::new();
    if let Some(station) = facts.station() {
        let (turns, limits) = (station.turns, station.limits);
        for (name, turns, limit) in [
            ("turns_per_hour", turns.hour, limits.turns_per_hour),
            ("turns_per_day", turns.day, limits.turns_per_day),
            ("turns_per_boot", turns.boot, limits.turns_per_boot),
        ] {
            all.push(counter(name, turns.into(), Some(limit.into()), "count", "station"));
        }
    }
    if let Some(plane) = facts.plane() {
        // Those of the alert that is closest to its limit.
        let most = |of: fn(&crate::http::wire::status::OutstandingAlert) -> u32| {
            plane.mail.outstanding.iter().map(of).max().unwrap_or(0).into()
        };
        let (attempts, emissions) = (plane.attempts_limit.into(), plane.emissions_limit.into());
        all.push(counter("attempts", most(|alert| alert.attempts), Some(attempts), "count", "plane"));
        all.push(counter("emissions", most(|alert| alert.emissions), Some(emissions), "count", "plane"));
    }
    if let Some(waker) = facts.waker() {
        // After failures the same wait is the back-off, which can be longer than the cooldown.
        let limit = (waker.rests_ms <= waker.cooldown_ms).then_some(waker.cooldown_ms);
        all.push(counter("cooldown", waker.rests_ms, limit, "ms", "wake"));
        all.push(counter("failures", waker.failures.into(), None, "count", "wake"));
    }
    all
}

fn could_not_read(facts: &Facts) -> Vec<Unread> {
    let target = &facts.target;
    let sources = [
        ("plane", facts.plane.missing(), silent(&facts.plane)),
        ("files", facts.files.missing(), silent(&facts.files)),
        ("wake", facts.wake.missing(), silent(&facts.wake)),
        ("station", facts.station.missing(), silent(&facts.station)),
    ];
    let missing = sources.into_iter().filter_map(|(name, why, silent)| Some((name, why?, silent)));
    missing
        .map(|(name, why, silent)| {
            rule!(Con1);
            let reason = if silent { Reason::Unreachable } else { Reason::StoreUnavailable };
            Unread { part: format!("agents.{target}.{name}"), reason, detail: why.to_owned() }
        })
        .collect()
}

const fn silent<T>(source: &Source<T>) -> bool {
    matches!(source, Source::Silent)
}
