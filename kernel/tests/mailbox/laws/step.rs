//! The laws of a step: stutter, sum of records, recovery, deadlines.

use std::collections::BTreeMap;

use awakener_kernel::ids::Tier;
use awakener_kernel::machine::Image as _;
use awakener_kernel::machine::Machine as _;
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::mailbox::image::Image;
use awakener_kernel::mailbox::input::{Authority, Event, Facts, Input, Query};
use awakener_kernel::open::{Open, Txn};
use awakener_kernel::time::Now;

use super::*;
use crate::store::Memory;
use crate::world::{Seen, World};

pub fn a_refusal_is_a_stutter(w: &World) -> Result<(), String> {
    for (before, steps, effects, after, _) in commits(w) {
        let moved = steps.iter().any(|step| advanced(step).is_some());
        require(moved || (before == after && effects.is_empty()), || format!("{steps:?} changed something"))?;
        for step in steps {
            let quiet = advanced(step).is_some() || step.records.is_empty();
            require(quiet, || format!("{step:?} left records"))?;
        }
    }
    Ok(())
}

pub fn an_advance_leaves_records(w: &World) -> Result<(), String> {
    let silent = w.steps().find(|step| advanced(step).is_some() && step.records.is_empty());
    require(silent.is_none(), || format!("{silent:?} left none"))
}

pub fn the_image_is_the_sum_of_its_records(w: &World) -> Result<(), String> {
    for (before, steps, _, after, disk) in commits(w) {
        let mut image = before.image().clone();
        steps.iter().flat_map(|step| &step.records).for_each(|record| image.apply(record));
        require(&image == after.image() && &image == disk, || format!("{steps:?}"))?;
    }
    for seen in &w.history {
        if let Seen::Boot { disk, after, .. } = seen {
            require(after.image() == disk, || "a boot changed the image".to_owned())?;
        }
    }
    Ok(())
}

pub fn rows_say_what_the_image_says(w: &World) -> Result<(), String> {
    let (image, rows) = (w.image(), &w.disk().rows);
    for (seq, row) in rows {
        let progress = image.progress.get(seq).copied().unwrap_or_default();
        let finished = row.finished.is_some();
        require(finished == image.is_finished(*seq), || format!("{seq}: {row:?}"))?;
        let same = (row.read, row.turn, row.response, row.quarantined)
            == (progress.read, progress.turn, progress.response, progress.quarantined);
        require(finished || same, || format!("{seq}: {row:?} and {progress:?}"))?;
        let open = row.tier == Tier::Zero && row.closed.is_none();
        require(open == image.witnesses.contains_key(seq), || format!("{seq}: {row:?}"))?;
        require(!open || !finished, || format!("{seq} is finished and open"))?;
    }
    let mut queued = BTreeMap::new();
    for row in rows.values().filter(|row| row.finished.is_none()) {
        *queued.entry(row.principal.clone()).or_insert(0) += 1;
    }
    require(queued == image.queued, || format!("{queued:?} is not {:?}", image.queued))
}

/// A machine that comes up from `image`, and its emitter.
pub fn booted(w: &World, now: Now, image: Image, start: bool) -> Mailbox {
    let mut store = Memory::default();
    let txn = Txn::begin(&mut store).unwrap();
    let mut open =
        Open::<Mailbox>::recover(&mut store, &txn, &w.config, now, image).expect("an image that boots");
    if start {
        open = open.step(&mut store, &w.config, now, Input::Start { floor: 0 }, Facts::None).unwrap();
    }
    let committed = txn.commit(&mut store).unwrap();
    open.close(&committed).unwrap().machine
}

pub fn a_crash_leaves_a_machine_that_boots_and_waits_as_long(w: &World) -> Result<(), String> {
    let mut emitting = false;
    let mut given_back = false;
    for seen in &w.history {
        let Seen::Commit { steps, after, .. } = seen else {
            emitting = false;
            continue;
        };
        emitting |= steps.iter().any(|step| matches!(advanced(step), Some((_, Event::Started))));
        given_back |= steps.iter().any(|step| matches!(advanced(step), Some((_, Event::QuarantineReleased))));
        let now = steps.last().expect("a step").now;
        let again = booted(w, now, after.image().clone(), false);
        require(again.check(&w.config).is_ok() && again.image() == after.image(), || format!("{again:?}"))?;
        require(again == booted(w, now, again.image().clone(), false), || "two boots differ".to_owned())?;
        // Both clocks went alike, so nothing is due sooner or later than it was; what was overdue is due now.
        let started = booted(w, now, after.image().clone(), emitting);
        let (was, is) = (after.deadline(&w.config), started.deadline(&w.config));
        let same = was.map(|at| at.max(now.mono)) == is;
        require(same || given_back, || format!("{was:?} became {is:?} at {now:?}\n{after:?}\n{started:?}"))?;
    }
    Ok(())
}

pub fn fire_advances_exactly_when_it_is_due(w: &World) -> Result<(), String> {
    for (before, steps, ..) in commits(w) {
        let [step, ..] = steps else { continue };
        if let Some(Input::Fire { .. }) = step.input {
            let due = before.deadline(&w.config).is_some_and(|at| at <= step.now.mono);
            require(due == advanced(step).is_some(), || format!("due: {due}, {step:?}"))?;
        }
    }
    Ok(())
}

pub fn firing_comes_to_an_end(w: &World) -> Result<(), String> {
    let mut store = Memory::default();
    store.durable = w.disk().clone();
    let mut machine = w.machine().clone();
    let now = Now { wall: w.now.wall, mono: w.now.mono + w.config.flight_max };
    for n in 0.. {
        if machine.deadline(&w.config).is_none_or(|at| at > now.mono) {
            break;
        }
        require(n < 500, || format!("it fires for ever: {machine:?}"))?;
        let txn = Txn::begin(&mut store).unwrap();
        let open = Open::new(machine, &txn);
        let input = Input::Fire { fresh: crate::cast::fresh(1_000_000 + n) };
        let facts = match open.needs(&input) {
            Query::None => Facts::None,
            _ => Facts::Authority(Authority { rostered: n % 2 == 0, armed: true, open: true }),
        };
        let open = open.step(&mut store, &w.config, now, input, facts).unwrap();
        let committed = txn.commit(&mut store).unwrap();
        machine = open.close(&committed).unwrap().machine;
    }
    Ok(())
}

pub fn every_state_keeps_its_invariants(w: &World) -> Result<(), String> {
    states(w).try_for_each(|machine| machine.check(&w.config).map_err(|violation| format!("{violation:?}")))
}
