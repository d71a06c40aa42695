//! Nothing is stuck and nothing goes on for ever, whatever came before: what a fair world does next comes to an end.

use awakener_kernel::ids::Tier;
use awakener_kernel::machine::{Machine as _, Outcome};
use awakener_kernel::mailbox::input::{Event, Facts, Input, Refusal};
use awakener_kernel::time::Millis;
use awakener_kernel::values::{By, Finish, FlightReport, Response};
use awakener_spec::Reason;

use super::*;
use crate::cast::{ENDED, ann, claim, east, statement, turn};
use crate::registry::Registry;
use crate::world::World;

/// The world of a script, as it is when everything around works again.
fn recovered(w: &World) -> World {
    let mut w = w.clone();
    w.registry = Registry::default();
    w.crash();
    w.start();
    w.pass(Millis(w.config.flight_max.0.max(w.config.lease.0)));
    w
}

pub fn no_alert_is_forgotten(w: &World) -> Result<(), String> {
    for machine in states(w) {
        let image = machine.image();
        for (seq, witness) in &image.witnesses {
            let progress = image.progress.get(seq).copied().unwrap_or_default();
            let claimed = image.lease.as_ref().is_some_and(|lease| lease.claimed.contains_key(seq));
            let cared_for = if progress.quarantined {
                witness.escalated
            } else {
                progress.attempts < w.config.attempts || claimed || progress.response.is_some()
            };
            require(cared_for, || format!("{seq}: {witness:?} {progress:?}"))?;
        }
    }
    Ok(())
}

pub fn a_sweep_finds_what_is_owed(w: &World) -> Result<(), String> {
    for (before, steps, ..) in commits(w) {
        let [step, ..] = steps else { continue };
        let (Some(Input::Sweep { .. }), Some(Facts::Authorities(known))) = (&step.input, &step.facts) else {
            continue;
        };
        let owed = known.iter().any(|(message, authority)| {
            let image = before.image();
            let seq = image.witnesses.iter().find(|(_, witness)| witness.message == *message);
            let attempts = seq.and_then(|(seq, _)| image.progress.get(seq)).map_or(0, |p| p.attempts);
            let may = authority.armed && authority.open && authority.rostered;
            may && attempts < w.config.attempts
        });
        require(owed == advanced(step).is_some(), || format!("owed: {owed}, {step:?}"))?;
    }
    Ok(())
}

pub fn flights_that_come_to_nothing_come_to_an_end(w: &World) -> Result<(), String> {
    let mut w = recovered(w);
    for round in 0.. {
        require(round < 500, || "the target is woken for ever".to_owned())?;
        let Outcome::Advanced(Event::Swept(hint)) = w.sweep() else { break };
        let permit = w.permitted(east(), hint);
        w.report(permit, hint, FlightReport::Attempted);
        w.report(permit, hint, ENDED);
    }
    for seq in w.image().witnesses.keys() {
        let progress = w.image().progress.get(seq).copied().unwrap_or_default();
        let over = progress.quarantined || (progress.response.is_some() && progress.attempts > 0);
        require(over, || format!("{seq} is given up without a word: {progress:?}"))?;
    }
    Ok(())
}

pub fn a_diligent_station_finishes_everything(w: &World) -> Result<(), String> {
    let mut w = recovered(w);
    for round in 0..=150 {
        require(round < 150, || "there is work for ever".to_owned())?;
        match w.give(claim(ann())) {
            Outcome::Advanced(_) => {}
            Outcome::Refused(Refusal::Because(Reason::NothingToClaim)) => break,
            told => return Err(format!("{told:?}")),
        }
        let lease = w.image().lease.clone().expect("a lease");
        for claimed in lease.claimed.values() {
            let (fence, message, turn) = (lease.fence, claimed.message, turn(100 + round));
            w.give(Input::Read { fence, message });
            w.give(Input::FinishTurn { fence, message, turn, finish: Finish::Complete });
            w.give(Input::Respond { fence, message, turn, response: Response::Silence });
            if claimed.tier == Tier::Zero {
                let (_, row) = w.disk().row(message).expect("a row");
                let mut ack = statement(1, By::Station, awakener_kernel::values::AckOutcome::Handled);
                (ack.message, ack.content) = (message, row.content);
                w.give(Input::Ack { ack, fence: Some(fence) });
            }
        }
    }
    let left = w.disk().rows.iter().find(|(_, row)| row.finished.is_none() && !row.quarantined);
    require(left.is_none(), || format!("{left:?} is left"))?;
    let pinned = w.image().witnesses.keys().next().map_or(w.image().last, |seq| seq.previous());
    require(w.image().cursor == pinned, || format!("{:?} is not {pinned:?}", w.image().cursor))
}
