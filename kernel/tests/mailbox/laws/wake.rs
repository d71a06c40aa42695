//! Tokens, hints, permits, flights.

use std::collections::{BTreeMap, BTreeSet};

use awakener_kernel::ids::{Seq, WakeId};
use awakener_kernel::mailbox::input::{Effect, Input};
use awakener_kernel::mailbox::record::Record;
use awakener_kernel::values::FlightReport;

use super::*;
use crate::ghost::Ghost;
use crate::world::{Seen, World};

pub fn tokens_fences_and_epochs_only_rise(w: &World) -> Result<(), String> {
    let (mut token, mut lease, mut permit) = (None, None, None);
    let mut wakes: BTreeSet<WakeId> = BTreeSet::new();
    for record in records(w) {
        match record {
            Record::Minted { token: next, wake, .. } => {
                require(Some(*next) > token && wakes.insert(*wake), || format!("{token:?} then {next:?}"))?;
                token = Some(*next);
            }
            Record::Leased { lease: next } => {
                require(Some(next.fence) > lease, || format!("{lease:?} then {next:?}"))?;
                lease = Some(next.fence);
            }
            Record::PermitGranted { granted } => {
                require(Some(granted.fence) > permit, || format!("{permit:?} then {granted:?}"))?;
                permit = Some(granted.fence);
            }
            _ => {}
        }
    }
    Ok(())
}

pub fn nothing_is_minted_before_the_start_of_its_boot(w: &World) -> Result<(), String> {
    let mut started = false;
    for seen in &w.history {
        let steps = match seen {
            Seen::Boot { .. } => {
                started = false;
                continue;
            }
            Seen::Commit { steps, .. } | Seen::Lost { kept: steps } => steps,
        };
        for step in steps {
            started |= step.records.iter().any(|record| matches!(record, Record::EpochStarted { .. }));
            let minted = step.records.iter().any(|record| matches!(record, Record::Minted { .. }));
            require(started || !minted, || format!("{step:?}"))?;
        }
    }
    Ok(())
}

pub fn one_permit_per_target_whoever_asks(w: &World) -> Result<(), String> {
    let mut ghost = Ghost::default();
    for step in w.steps() {
        if let Some((Input::Ask { daemon, .. }, _)) = advanced(step)
            && let Some(held) = &ghost.permit
        {
            let free = !held.flying && (held.daemon == *daemon || held.until <= step.now.wall);
            require(free, || format!("{daemon} was given what {held:?} holds at {:?}", step.now))?;
        }
        ghost.see(&w.config, step);
    }
    Ok(())
}

pub fn hints_are_for_open_alerts_and_bounded(w: &World) -> Result<(), String> {
    let mut ghost = Ghost::default();
    let mut used: BTreeMap<Seq, u32> = BTreeMap::new();
    let mut aside: BTreeSet<Seq> = BTreeSet::new();
    for step in w.steps() {
        for record in &step.records {
            let scheduled = match record {
                Record::Minted { seq, message, scheduled, .. } => {
                    let right = ghost.open.contains(message) && !aside.contains(seq);
                    require(right, || format!("{record:?} for no open alert"))?;
                    scheduled.then_some(*seq)
                }
                Record::EmissionRefused { seq, .. } => Some(*seq),
                Record::Quarantined { seq, .. } => {
                    aside.insert(*seq);
                    None
                }
                Record::QuarantineReleased { seq, .. } => {
                    aside.remove(seq);
                    None
                }
                _ => None,
            };
            if let Some(seq) = scheduled {
                let n = used.entry(seq).or_default();
                *n += 1;
                require(*n <= w.config.re_emissions + 1, || format!("{seq} has {n} emissions"))?;
            }
        }
        ghost.see(&w.config, step);
    }
    Ok(())
}

pub fn a_flight_without_a_read_costs_one_attempt(w: &World) -> Result<(), String> {
    for step in w.steps() {
        let count = step.records.iter().filter(|r| matches!(r, Record::AttemptWithoutRead { .. })).count();
        require(count <= 1, || format!("{step:?}"))?;
        let ended = matches!(
            step.input,
            Some(Input::Report { report: FlightReport::Ended(_), .. } | Input::Fire { .. })
        );
        require(count == 0 || ended, || format!("{step:?} ended no flight"))?;
    }
    Ok(())
}

pub fn what_is_published_was_minted_in_the_same_commit(w: &World) -> Result<(), String> {
    for (_, steps, effects, ..) in commits(w) {
        let minted: BTreeSet<WakeId> = steps
            .iter()
            .flat_map(|step| &step.records)
            .filter_map(|record| match record {
                Record::Minted { wake, scheduled: true, .. } => Some(*wake),
                _ => None,
            })
            .collect();
        let published: BTreeSet<WakeId> = effects
            .iter()
            .filter_map(|effect| match effect {
                Effect::Publish(minted) => Some(minted.fresh.wake),
                Effect::TellOperator(_) => None,
            })
            .collect();
        require(minted == published, || format!("{minted:?} and {published:?}"))?;
    }
    Ok(())
}
