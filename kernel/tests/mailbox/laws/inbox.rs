//! Sequences, cursor, leases, attempts, results, acknowledgements.

use std::collections::{BTreeMap, BTreeSet};

use awakener_kernel::ids::{MessageId, Seq, Tier};
use awakener_kernel::machine::Machine as _;
use awakener_kernel::machine::Outcome;
use awakener_kernel::mailbox::entry::Finished;
use awakener_kernel::mailbox::input::{AckKey, Event, Facts, Input};
use awakener_kernel::mailbox::record::Record;
use awakener_kernel::values::{By, Finish};

use super::*;
use crate::ghost::Ghost;
use crate::world::World;

pub fn sequences_are_gapless(w: &World) -> Result<(), String> {
    let given: Vec<u64> = w
        .steps()
        .filter_map(advanced)
        .filter_map(|(_, event)| if let Event::Admitted { seq, .. } = event { Some(seq.get()) } else { None })
        .collect();
    let right: Vec<u64> = (1..=u64::try_from(given.len()).unwrap()).collect();
    require(given == right && w.disk().rows.len() == given.len(), || format!("{given:?}"))
}

pub fn one_key_is_one_message(w: &World) -> Result<(), String> {
    let mut first = BTreeMap::new();
    for (step, submitted) in w.steps().filter_map(|step| match &step.input {
        Some(Input::Admit(submitted)) => Some((step, submitted)),
        _ => None,
    }) {
        let key = (submitted.principal.clone(), submitted.id);
        match (first.get(&key), &step.outcome) {
            (None, Some(Outcome::Advanced(_))) => drop(first.insert(key, submitted.content)),
            (None, Some(Outcome::Absorbed)) => return Err(format!("{key:?} was never admitted")),
            (Some(known), outcome) => {
                let again = matches!(outcome, Some(Outcome::Absorbed));
                let conflict = matches!(outcome, Some(Outcome::Refused(_)));
                let right = if *known == submitted.content { again } else { conflict };
                require(right, || format!("{key:?} came to {outcome:?}"))?;
            }
            (None, _) => {}
        }
    }
    Ok(())
}

pub fn the_cursor_waits_for_witnesses_and_never_goes_back(w: &World) -> Result<(), String> {
    let mut ghost = Ghost::default();
    let mut places: BTreeMap<MessageId, Seq> = BTreeMap::new();
    let mut cursor: Option<Seq> = None;
    for step in w.steps() {
        if let Some((Input::Admit(submitted), Event::Admitted { seq, .. })) = advanced(step) {
            places.insert(submitted.id, *seq);
        }
        ghost.see(&w.config, step);
        let moves: Vec<Seq> = step
            .records
            .iter()
            .filter_map(|record| if let Record::CursorAdvanced { to } = record { Some(*to) } else { None })
            .collect();
        for to in &moves {
            require(Some(*to) > cursor, || format!("{cursor:?} went to {to}"))?;
            cursor = Some(*to);
            let passed: Vec<_> = ghost.open.iter().filter(|message| places[*message] <= *to).collect();
            require(passed.is_empty(), || format!("{to} passed {passed:?}"))?;
        }
        if let Some((Input::Ack { .. } | Input::Resolve { .. } | Input::Respond { .. }, _)) = advanced(step) {
            require(moves.len() <= 1, || format!("{moves:?} is more than one step"))?;
        }
    }
    // It is where the rows say: before the first message that is not finished.
    let reached =
        w.disk().rows.iter().take_while(|(_, row)| row.finished.is_some()).map(|(seq, _)| *seq).last();
    require(w.image().cursor == reached && cursor == reached, || format!("{cursor:?} is not {reached:?}"))
}

pub fn only_the_live_token_has_power(w: &World) -> Result<(), String> {
    let mut ghost = Ghost::default();
    for step in w.steps() {
        if let Some((input, _)) = advanced(step) {
            let presented = match input {
                Input::Renew { fence }
                | Input::Release { fence }
                | Input::Read { fence, .. }
                | Input::FinishTurn { fence, .. }
                | Input::Respond { fence, .. } => Some(*fence),
                Input::Ack { fence, .. } => *fence,
                Input::Admit(submitted) if submitted.principal == crate::cast::own() => submitted.fence,
                _ => None,
            };
            let live = ghost.live(step.now.wall);
            require(presented.is_none() || presented == live, || format!("{input:?} while {live:?}"))?;
        }
        ghost.see(&w.config, step);
    }
    Ok(())
}

pub fn attempts_are_bounded_and_quarantine_closes_no_witness(w: &World) -> Result<(), String> {
    for machine in states(w) {
        let image = machine.image();
        for (seq, progress) in &image.progress {
            let most = w.config.attempts + u32::from(progress.response.is_some());
            require(progress.attempts <= most, || format!("{seq}: {progress:?}"))?;
            let claimed = image.lease.as_ref().is_some_and(|lease| lease.claimed.contains_key(seq));
            let spent = progress.attempts >= most;
            require(!spent || progress.quarantined || claimed, || {
                format!("{seq} is forgotten: {progress:?}")
            })?;
        }
    }
    for step in w.steps() {
        let closes = step.records.iter().any(|record| matches!(record, Record::WitnessClosed { .. }));
        let asked = matches!(step.input, Some(Input::Ack { .. } | Input::Resolve { .. }));
        require(!closes || asked, || format!("{step:?} closed a witness"))?;
    }
    let closed_by_quarantine = w
        .disk()
        .rows
        .values()
        .find(|row| row.tier == Tier::Zero && row.finished == Some(Finished::Quarantined));
    require(closed_by_quarantine.is_none(), || format!("{closed_by_quarantine:?}"))
}

pub fn finished_work_is_never_touched_again(w: &World) -> Result<(), String> {
    let mut finished: BTreeSet<Seq> = BTreeSet::new();
    for record in records(w) {
        let touched: Vec<Seq> = match record {
            Record::Finished { seq, .. } => {
                require(finished.insert(*seq), || format!("{seq} is finished twice"))?;
                vec![]
            }
            Record::Leased { lease } => lease.claimed.keys().copied().collect(),
            Record::Read { seq, .. }
            | Record::TurnFinished { seq, .. }
            | Record::Responded { seq, .. }
            | Record::Quarantined { seq, .. }
            | Record::AttemptWithoutRead { seq, .. }
            | Record::Minted { seq, .. }
            | Record::WitnessClosed { seq, .. } => vec![*seq],
            _ => vec![],
        };
        let wrong: Vec<_> = touched.iter().filter(|seq| finished.contains(seq)).collect();
        require(wrong.is_empty(), || format!("{record:?} touches {wrong:?}"))?;
    }
    Ok(())
}

pub fn an_ack_is_earned(w: &World) -> Result<(), String> {
    let mut ghost = Ghost::default();
    for step in w.steps() {
        if let Some((Input::Ack { ack, fence }, _)) = advanced(step) {
            require(ghost.open.contains(&ack.message), || format!("{ack:?} closes nothing"))?;
            let earned = match ack.by {
                By::Station => {
                    fence.is_some()
                        && *fence == ghost.live(step.now.wall)
                        && ghost.turns.get(&ack.message) == Some(&Finish::Complete)
                        && ghost.answered.contains(&ack.message)
                }
                By::Agent | By::Human => ghost.read.contains(&ack.message),
            };
            require(earned, || format!("{ack:?} with {fence:?} on {ghost:?}"))?;
            let Some(Facts::Ack(facts)) = &step.facts else { return Err("an ACK without facts".to_owned()) };
            let (_, row) = facts.row.clone().expect("a row");
            let right = facts.signature_valid
                && facts.this_target
                && facts.key == AckKey::Valid
                && row.content == ack.content
                && ack.time <= step.now.wall + w.config.skew;
            require(right, || format!("{ack:?} on {facts:?}"))?;
        }
        ghost.see(&w.config, step);
    }
    Ok(())
}

pub fn a_result_is_recorded_once(w: &World) -> Result<(), String> {
    let mut answered = BTreeSet::new();
    for record in records(w) {
        if let Record::Responded { seq, .. } = record {
            require(answered.insert(*seq), || format!("{seq} was answered twice"))?;
        }
    }
    Ok(())
}
