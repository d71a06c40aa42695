//! Laws that every step of every random run keeps. What they remember comes from outcomes and effects, never from
//! the records: a machine that wrote a wrong record would otherwise be its own witness.

use awakener_kernel::ids::{Nonce, Token};
use awakener_kernel::machine::{Image as _, Machine, Outcome};
use awakener_kernel::time::{Mono, Wall};
use awakener_kernel::values::{Answer, DispatchOutcome, FlightEnd, Hint};
use awakener_kernel::waker::{Capability, Effect, Event, Fate, Image, Input, Ticket};
use awakener_spec::Class;
use awakener_tools::enforces;

use crate::cooperation::{everything_is_done, seldom_enough};
use crate::rig::Rig;
use crate::runs::{Happening, Scene, is_due, runs};

/// A law about single steps.
fn each_step(law: impl Fn(&Happening<'_>)) {
    runs(|(): &mut (), scene| match scene {
        Scene::Step(step) => law(step),
        Scene::Recovered(_) | Scene::End(_) => {}
    });
}

#[test]
fn ver_5_what_does_not_advance_is_a_stutter() {
    each_step(|step| {
        if !step.seen.outcome.is_advanced() {
            assert_eq!(&step.rig.waker, step.before);
            assert!(step.seen.records.is_empty() && step.seen.effects.is_empty());
        }
    });
}

#[test]
fn ver_5_only_acceptance_changes_what_verification_remembers() {
    each_step(|step| {
        let kept = |image: &Image| (image.window.clone(), image.high_water);
        let accepted = matches!(step.seen.outcome, Outcome::Advanced(Event::Accepted { .. }));
        assert_eq!(kept(step.disk_before) != kept(&step.rig.disk.image), accepted);
    });
}

#[test]
fn aud_2_the_image_is_the_fold_of_its_records() {
    each_step(|step| {
        let mut image = step.disk_before.clone();
        step.seen.records.iter().for_each(|record| image.apply(record));
        assert_eq!(&image, step.rig.waker.image());
        assert_eq!(image, step.rig.disk.image);
        let text = serde_json::to_string(&image).unwrap();
        assert_eq!(serde_json::from_str::<Image>(&text).unwrap(), image);
    });
}

#[test]
fn dsp_11_fire_advances_if_and_only_if_it_is_due() {
    each_step(|step| {
        if step.input == Input::Fire {
            assert_eq!(step.seen.outcome.is_advanced(), is_due(step.before, step.rig, step.now.mono));
        }
        step.rig.clone().settle();
    });
}

#[test]
fn dsp_11_a_recovery_keeps_what_is_durable_and_owes_a_look_at_once() {
    runs(|disk: &mut Option<Image>, scene| match scene {
        Scene::Step(step) => *disk = Some(step.rig.disk.image.clone()),
        Scene::Recovered(rig) => {
            assert!((*rig).clone().settle().iter().any(|seen| seen.swept().is_some()));
            assert_eq!(rig.waker.image(), &rig.disk.image);
            let mut again = (*rig).clone();
            again.recover();
            assert_eq!(again.disk.image.boot, rig.disk.image.boot + 1);
            again.disk.image.boot = rig.disk.image.boot;
            assert_eq!(again.disk.image, rig.disk.image);
        }
        Scene::End(_) => {}
    });
}

/// What verification remembers, as a list that is searched from end to end.
#[derive(Default)]
struct Naive {
    seen: Vec<(Wall, Nonce)>,
    high: Option<Token>,
    asked: Option<(Ticket, Hint)>,
}

impl Naive {
    fn expected(&self, rig: &Rig, wall: Wall, hint: &Hint) -> Option<Class> {
        let full = self.seen.len() >= rig.config.nonce_history as usize;
        let movable = self.seen.iter().any(|(expires, _)| *expires + rig.config.skew <= wall);
        match () {
            () if wall >= hint.expires => Some(Class::Stale),
            () if self.seen.iter().any(|(_, nonce)| *nonce == hint.nonce) => Some(Class::Replay),
            () if self.high.is_some_and(|high| high >= hint.token) => Some(Class::FreshnessRegression),
            () if full && !movable => Some(Class::WindowFull),
            () => None,
        }
    }

    fn accept(&mut self, rig: &Rig, hint: &Hint) {
        if self.seen.len() >= rig.config.nonce_history as usize {
            let oldest = *self.seen.iter().min().unwrap();
            self.seen.retain(|seen| *seen != oldest);
        }
        self.seen.push((hint.expires, hint.nonce));
        self.high = Some(hint.token);
    }

    fn follow(&mut self, step: &Happening<'_>) {
        for effect in &step.seen.effects {
            if let (Effect::Ask { ticket, .. }, Input::Hint(hint)) = (effect, step.input) {
                self.asked = Some((*ticket, hint));
            }
        }
        if let (Outcome::Advanced(Event::Accepted { .. }), Input::Answer { .. }) =
            (&step.seen.outcome, step.input)
        {
            let (_, hint) = self.asked.unwrap();
            self.accept(step.rig, &hint);
        }
    }
}

enforces! {
    [Ver3]
    fn ver_3_the_window_is_the_naive_list_and_so_are_its_classes(_seen) {
        runs(|naive: &mut Naive, scene| match scene {
            Scene::Step(step) => {
                if let Input::Hint(hint) = &step.input {
                    let class = match step.seen.outcome {
                        Outcome::Refused(class) => Some(class),
                        Outcome::Advanced(_) | Outcome::Absorbed => None,
                    };
                    assert_eq!(class, naive.expected(step.rig, step.now.wall, hint));
                }
                naive.follow(step);
                let window = &step.rig.disk.image.window;
                let mut list = naive.seen.clone();
                list.sort_unstable();
                assert!(window.iter().map(|seen| (seen.expires, seen.nonce)).eq(list.iter().copied()));
                assert!(list.iter().all(|(_, nonce)| window.contains(*nonce)));
                assert_eq!(step.rig.disk.image.high_water, naive.high);
            }
            // A commit of unknown fate may have accepted what nobody heard of; the list starts from there.
            Scene::Recovered(rig) => {
                naive.seen = rig.disk.image.window.iter().map(|seen| (seen.expires, seen.nonce)).collect();
                naive.high = rig.disk.image.high_water;
            }
            Scene::End(_) => {}
        });
    }
}

#[test]
fn ver_2_no_token_is_accepted_twice_whatever_crashes() {
    runs(|last: &mut (Option<Token>, Naive), scene| {
        if let Scene::Step(step) = scene {
            last.1.follow(step);
            if let Outcome::Advanced(Event::Accepted { .. }) = step.seen.outcome {
                let token = last.1.asked.unwrap().1.token;
                assert!(last.0.is_none_or(|last| last < token));
                last.0 = Some(token);
            }
        }
    });
}

/// The flight as the outside knows it: what was really sent out, and what was really said to have ended.
#[derive(Default)]
struct Flights {
    open: Option<u64>,
    last: u64,
    started: Option<Mono>,
}

impl Flights {
    fn follow(&mut self, step: &Happening<'_>) {
        match step.seen.outcome {
            Outcome::Advanced(Event::FlightEnded { attempt, end }) => {
                assert!(end != FlightEnd::Expired || step.input == Input::Fire);
                self.open = self.open.filter(|open| *open != attempt);
            }
            Outcome::Advanced(Event::Probed(Fate::Gone)) => self.open = None,
            Outcome::Advanced(Event::Dispatched { outcome, .. }) if outcome.certainly_nothing() => {
                self.open = None;
            }
            Outcome::Advanced(_) | Outcome::Absorbed | Outcome::Refused(_) => {}
        }
        for effect in &step.seen.effects {
            if let Effect::Dispatch { attempt, .. } = effect {
                assert_eq!(self.open, None, "a second flight");
                assert!(*attempt > self.last, "an attempt number comes again");
                if let Some(started) = self.started {
                    assert!(step.now.mono >= started + step.rig.config.cooldown, "within the cooldown");
                }
                (self.open, self.last, self.started) = (Some(*attempt), *attempt, Some(step.now.mono));
            }
        }
    }
}

#[test]
fn dsp_2_there_is_one_flight_and_the_cooldown_lies_between_two() {
    runs(|flights: &mut Flights, scene| match scene {
        Scene::Step(step) => flights.follow(step),
        // Another monotonic clock may run from here on.
        Scene::Recovered(_) => flights.started = None,
        Scene::End(_) => {}
    });
}

#[test]
fn dsp_5_nothing_starts_on_top_of_an_unknown_outcome() {
    runs(|unknown: &mut bool, scene| {
        let Scene::Step(step) = scene else { return };
        let starts = step.seen.dispatch().is_some();
        match step.seen.outcome {
            Outcome::Advanced(Event::Dispatched { outcome, .. }) => {
                *unknown =
                    matches!(outcome, DispatchOutcome::OutcomeUnknown | DispatchOutcome::TypedUnverified);
            }
            Outcome::Advanced(Event::InboxRead | Event::FlightEnded { .. } | Event::Probed(_)) => {
                *unknown = false
            }
            Outcome::Advanced(_) | Outcome::Absorbed | Outcome::Refused(_) => {}
        }
        assert!(!(starts && *unknown));
    });
}

/// Every start answers a permit for the question that is out, within the permit's life, and no permit starts two.
#[test]
fn dsp_7_every_start_has_its_permit() {
    runs(|asked: &mut Option<(Ticket, Mono)>, scene| {
        let Scene::Step(step) = scene else { return };
        if let Some(dispatch) = step.seen.effects.iter().find_map(|effect| match effect {
            Effect::Dispatch { fence, until, .. } => Some((*fence, *until)),
            _ => None,
        }) {
            let Input::Answer { ticket, answer: Answer::Granted(permit) } = step.input else {
                panic!("a start without a permit: {step:?}")
            };
            let (awaited, at) = asked.take().unwrap();
            assert_eq!(awaited, ticket);
            assert_eq!(dispatch, (permit.fence, at + permit.life));
            assert!(step.now.mono < at + permit.life);
        }
        if let Some(ticket) = step.seen.asked() {
            *asked = Some((ticket, step.now.mono));
        }
    });
}

#[test]
fn dsp_8_nothing_starts_while_paused_or_ineligible() {
    runs(|switches: &mut (bool, Option<Capability>), scene| match scene {
        Scene::Step(step) => {
            match step.input {
                Input::Pause => switches.0 = true,
                Input::Resume => switches.0 = false,
                Input::Capability(capability) => switches.1 = Some(capability),
                _ => {}
            }
            let missing = matches!(switches.1, Some(Capability::Missing(_)));
            assert!(step.seen.dispatch().is_none() || !(switches.0 || missing));
        }
        Scene::Recovered(_) => *switches = (false, None),
        Scene::End(_) => {}
    });
}

#[test]
fn dsp_11_an_outstanding_alert_is_started_once_the_outside_works_again() {
    runs(|(): &mut (), scene| {
        if let Scene::End(rig) = scene {
            everything_is_done(&mut (*rig).clone());
        }
    });
}

#[test]
fn dsp_11_a_quiet_waker_wakes_only_for_its_sweeps() {
    runs(|(): &mut (), scene| {
        if let Scene::End(rig) = scene {
            seldom_enough(&mut (*rig).clone());
        }
    });
}
