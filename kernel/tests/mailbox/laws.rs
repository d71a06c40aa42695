//! The laws, over random scripts with crashes, lost commits and several inputs per transaction.
//!
//! The dice are the same at every run. Each law also demands that the scripts it saw were fair: every input met each
//! outcome that it can have in at least one of twenty tries.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use awakener_kernel::ids::{MessageId, Seq, Tier, WakeId};
use awakener_kernel::machine::{Image as _, Machine as _, Outcome};
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::mailbox::entry::Finished;
use awakener_kernel::mailbox::image::Image;
use awakener_kernel::mailbox::input::{AckKey, Authority, Effect, Event, Facts, Input, Query};
use awakener_kernel::mailbox::record::Record;
use awakener_kernel::open::{Open, Txn};
use awakener_kernel::time::Now;
use awakener_kernel::values::{By, Finish, FlightReport};
use awakener_tools::enforces;
use proptest::test_runner::{Config as Runs, RngAlgorithm, TestCaseError, TestRng, TestRunner};

use crate::ghost::Ghost;
use crate::script::{Kind, Shares, play, script};
use crate::store::{Memory, Written};
use crate::world::{Seen, World};

type Law = fn(&World) -> Result<(), String>;

/// Which outcomes an input can have: advanced, absorbed, refused.
const CAN: &[(Kind, [bool; 3])] = &[
    (Kind::Start, [true, true, false]),
    (Kind::Admit, [true, true, true]),
    (Kind::Claim, [true, true, true]),
    (Kind::Renew, [true, false, true]),
    (Kind::Release, [true, false, true]),
    (Kind::Read, [true, true, true]),
    (Kind::FinishTurn, [true, true, true]),
    (Kind::Respond, [true, true, true]),
    (Kind::Ack, [true, true, true]),
    (Kind::Ask, [true, false, true]),
    (Kind::Report, [true, true, true]),
    (Kind::Sweep, [true, false, true]),
    (Kind::Published, [true, false, true]),
    (Kind::Resolve, [true, true, true]),
    (Kind::ReleaseQuarantine, [true, true, true]),
    (Kind::Expire, [true, true, true]),
    (Kind::Fire, [true, true, false]),
];

/// Holds `law` against random scripts.
fn holds(law: Law) {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(120);
    let runs = Runs { cases, failure_persistence: None, ..Runs::default() };
    let mut runner = TestRunner::new_with_rng(runs, TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]));
    let shares = RefCell::new(Shares::new());
    let verdict = runner.run(&script(), |script| {
        let world = play(&script, &mut shares.borrow_mut());
        law(&world).map_err(|why| TestCaseError::fail(format!("{why}\n{}", story(&world))))
    });
    if let Err(broken) = verdict {
        panic!("{broken}");
    }
    fair(&shares.borrow());
}

fn fair(shares: &Shares) {
    for (kind, can) in CAN {
        let seen = shares.get(kind).copied().unwrap_or_default();
        let all: u32 = seen.iter().sum();
        let share = seen.map(|n| 100.0 * f64::from(n) / f64::from(all.max(1)));
        println!(
            "{kind:?}: advanced {:.0} %, absorbed {:.0} %, refused {:.0} % of {all}",
            share[0], share[1], share[2]
        );
        for (column, can) in can.iter().enumerate() {
            assert!(*can == (seen[column] > 0), "{kind:?}: can {can}, but {seen:?}");
            assert!(!can || share[column] >= 5.0, "{kind:?}: the scripts are not fair: {seen:?}");
        }
    }
}

/// What happened, for whoever reads a failure.
fn story(w: &World) -> String {
    let told = |step: &Written| format!("  {:?} {:?} -> {:?}\n", step.now, step.input, step.outcome);
    w.history
        .iter()
        .map(|seen| match seen {
            Seen::Commit { steps, .. } => steps.iter().map(told).collect(),
            Seen::Lost { kept } => format!("  lost; kept {:?}\n", kept.iter().map(told).collect::<String>()),
            Seen::Boot { .. } => "  boot\n".to_owned(),
        })
        .collect()
}

fn require(holds: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why()) }
}

fn advanced(step: &Written) -> Option<(&Input, &Event)> {
    match (&step.input, &step.outcome) {
        (Some(input), Some(Outcome::Advanced(event))) => Some((input, event)),
        _ => None,
    }
}

fn commits(w: &World) -> impl Iterator<Item = (&Mailbox, &[Written], &[Effect], &Mailbox, &Image)> {
    w.history.iter().filter_map(|seen| match seen {
        Seen::Commit { before, steps, effects, after, disk } => {
            Some((before, steps.as_slice(), effects.as_slice(), after, disk))
        }
        Seen::Lost { .. } | Seen::Boot { .. } => None,
    })
}

/// Every state that a machine was in.
fn states(w: &World) -> impl Iterator<Item = &Mailbox> {
    w.history.iter().filter_map(|seen| match seen {
        Seen::Commit { after, .. } | Seen::Boot { after, .. } => Some(after),
        Seen::Lost { .. } => None,
    })
}

fn records(w: &World) -> impl Iterator<Item = &Record> {
    w.steps().flat_map(|step| &step.records)
}

// Laws of a step.

fn a_refusal_is_a_stutter(w: &World) -> Result<(), String> {
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

fn an_advance_leaves_records(w: &World) -> Result<(), String> {
    let silent = w.steps().find(|step| advanced(step).is_some() && step.records.is_empty());
    require(silent.is_none(), || format!("{silent:?} left none"))
}

fn the_image_is_the_sum_of_its_records(w: &World) -> Result<(), String> {
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

fn rows_say_what_the_image_says(w: &World) -> Result<(), String> {
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
fn booted(w: &World, now: Now, image: Image, start: bool) -> Mailbox {
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

fn a_crash_leaves_a_machine_that_boots_and_waits_as_long(w: &World) -> Result<(), String> {
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

fn fire_advances_exactly_when_it_is_due(w: &World) -> Result<(), String> {
    for (before, steps, ..) in commits(w) {
        let [step, ..] = steps else { continue };
        if let Some(Input::Fire { .. }) = step.input {
            let due = before.deadline(&w.config).is_some_and(|at| at <= step.now.mono);
            require(due == advanced(step).is_some(), || format!("due: {due}, {step:?}"))?;
        }
    }
    Ok(())
}

fn firing_comes_to_an_end(w: &World) -> Result<(), String> {
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

fn every_state_keeps_its_invariants(w: &World) -> Result<(), String> {
    states(w).try_for_each(|machine| machine.check(&w.config).map_err(|violation| format!("{violation:?}")))
}

// Inbox.

fn sequences_are_gapless(w: &World) -> Result<(), String> {
    let given: Vec<u64> = w
        .steps()
        .filter_map(advanced)
        .filter_map(|(_, event)| if let Event::Admitted { seq, .. } = event { Some(seq.get()) } else { None })
        .collect();
    let right: Vec<u64> = (1..=u64::try_from(given.len()).unwrap()).collect();
    require(given == right && w.disk().rows.len() == given.len(), || format!("{given:?}"))
}

fn one_key_is_one_message(w: &World) -> Result<(), String> {
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

fn the_cursor_waits_for_witnesses_and_never_goes_back(w: &World) -> Result<(), String> {
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

fn only_the_live_token_has_power(w: &World) -> Result<(), String> {
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

fn tokens_fences_and_epochs_only_rise(w: &World) -> Result<(), String> {
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

fn nothing_is_minted_before_the_start_of_its_boot(w: &World) -> Result<(), String> {
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

fn one_permit_per_target_whoever_asks(w: &World) -> Result<(), String> {
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

fn hints_are_for_open_alerts_and_bounded(w: &World) -> Result<(), String> {
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

fn attempts_are_bounded_and_quarantine_closes_no_witness(w: &World) -> Result<(), String> {
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

fn finished_work_is_never_touched_again(w: &World) -> Result<(), String> {
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

fn an_ack_is_earned(w: &World) -> Result<(), String> {
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

fn a_result_is_recorded_once(w: &World) -> Result<(), String> {
    let mut answered = BTreeSet::new();
    for record in records(w) {
        if let Record::Responded { seq, .. } = record {
            require(answered.insert(*seq), || format!("{seq} was answered twice"))?;
        }
    }
    Ok(())
}

fn a_flight_without_a_read_costs_one_attempt(w: &World) -> Result<(), String> {
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

fn what_is_published_was_minted_in_the_same_commit(w: &World) -> Result<(), String> {
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

enforces! {
    [Inb1, Adm7] fn law_1_a_refusal_is_a_stutter(_seen) { holds(a_refusal_is_a_stutter) }
    [Inb1] fn law_2_an_advance_leaves_records(_seen) { holds(an_advance_leaves_records) }
    [Inb1] fn law_2_the_image_is_the_sum_of_its_records(_seen) { holds(the_image_is_the_sum_of_its_records) }
    [Inb3, Ack1] fn law_2_rows_say_what_the_image_says(_seen) { holds(rows_say_what_the_image_says) }
    [Emt2] fn law_4_a_crash_leaves_a_machine_that_boots_and_waits_as_long(_seen) {
        holds(a_crash_leaves_a_machine_that_boots_and_waits_as_long)
    }
    [Emt3] fn law_3_fire_advances_exactly_when_it_is_due(_seen) { holds(fire_advances_exactly_when_it_is_due) }
    [Emt3, Ack9] fn law_3_firing_comes_to_an_end(_seen) { holds(firing_comes_to_an_end) }
    [Inb4, Inb7] fn law_7_every_state_keeps_its_invariants(_seen) { holds(every_state_keeps_its_invariants) }
    [Inb2] fn inb_2_sequences_are_gapless(_seen) { holds(sequences_are_gapless) }
    [Adm7] fn adm_7_one_key_is_one_message(_seen) { holds(one_key_is_one_message) }
    [Ack2, Inb4, Ack10] fn ack_2_the_cursor_waits_for_witnesses_and_never_goes_back(_seen) {
        holds(the_cursor_waits_for_witnesses_and_never_goes_back)
    }
    [Inb7] fn inb_7_only_the_live_token_has_power(_seen) { holds(only_the_live_token_has_power) }
    [Emt1, Emt2] fn emt_1_tokens_fences_and_epochs_only_rise(_seen) { holds(tokens_fences_and_epochs_only_rise) }
    [Emt2] fn emt_2_nothing_is_minted_before_the_start_of_its_boot(_seen) {
        holds(nothing_is_minted_before_the_start_of_its_boot)
    }
    [Dsp7] fn dsp_7_one_permit_per_target_whoever_asks(_seen) { holds(one_permit_per_target_whoever_asks) }
    [Emt3, Dsp11] fn emt_3_hints_are_for_open_alerts_and_bounded(_seen) { holds(hints_are_for_open_alerts_and_bounded) }
    [Inb8] fn inb_8_attempts_are_bounded_and_quarantine_closes_no_witness(_seen) {
        holds(attempts_are_bounded_and_quarantine_closes_no_witness)
    }
    [Inb3] fn inb_3_finished_work_is_never_touched_again(_seen) { holds(finished_work_is_never_touched_again) }
    [Ack3, Ack5] fn ack_5_an_ack_is_earned(_seen) { holds(an_ack_is_earned) }
    [Stn6] fn stn_6_a_result_is_recorded_once(_seen) { holds(a_result_is_recorded_once) }
    [Dsp2] fn dsp_2_a_flight_without_a_read_costs_one_attempt(_seen) {
        holds(a_flight_without_a_read_costs_one_attempt)
    }
    [Emt1] fn emt_1_what_is_published_was_minted_in_the_same_commit(_seen) {
        holds(what_is_published_was_minted_in_the_same_commit)
    }
}
