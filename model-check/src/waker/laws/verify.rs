//! What becomes of a hint: its class, and what it may change. Rules: VER-1…3, VER-5, DSP-7.

use std::borrow::Cow;

use awakener_kernel::waker::{Effect, Image};
use awakener_spec::Class;

use super::super::act::{Act, Shown};
use super::super::limits::SKEW;
use super::super::seen::Seen;
use super::super::{State, World};
use super::{Edge, advanced};
use crate::world::{Next, Verdict};

/// How the acceptance of a hint is called.
pub(super) const ACCEPTED: &str = "accepted";

/// Which classes apply to what is shown, in the order of VER-1, by what the ghost knows.
fn classes(world: &World, state: &State, seen: &Seen, shown: Shown) -> impl Iterator<Item = Class> {
    let text = state.text(shown);
    let says = |fits: &dyn Fn(super::super::door::Text) -> bool| text.is_some_and(fits);
    let key = matches!(shown, Shown::Foreign(_) | Shown::Lapsed(_) | Shown::Borrowed(_));
    let torn = key || matches!(shown, Shown::Tampered(_));
    let target = torn || matches!(shown, Shown::Misaddressed(_) | Shown::NotServed(_));
    let kept = |nonce| seen.accepted.iter().any(|taken| taken.kept && taken.text.nonce == nonce);
    let full = seen.evictable(world.budget.history, state.wall).is_some_and(|(_, may_go)| !may_go);
    [
        (shown == Shown::Garbage, Class::Malformed),
        (key, Class::WrongRouter),
        (torn, Class::Tamper),
        (target, Class::WrongTarget),
        (says(&|text| text.time > state.wall + SKEW), Class::NotYetValid),
        (says(&|text| text.expires <= state.wall), Class::Stale),
        (says(&|text| kept(text.nonce)), Class::Replay),
        (says(&|text| seen.high().is_some_and(|high| text.token <= high)), Class::FreshnessRegression),
        (text.is_some() && full, Class::WindowFull),
    ]
    .into_iter()
    .filter_map(|(applies, class)| applies.then_some(class))
}

fn shown(edges: &[Edge]) -> impl Iterator<Item = (Shown, &Edge)> {
    edges.iter().filter_map(|edge| match edge.action {
        Act::Present(shown) => Some((shown, edge)),
        _ => None,
    })
}

pub(super) fn first_class_wins(world: &World, state: &State, edges: &[Edge]) -> bool {
    let mut seen: Option<Cow<'_, Seen>> = None;
    shown(edges).all(|(shown, edge)| {
        let seen = seen.get_or_insert_with(|| state.inside(world));
        match classes(world, state, seen, shown).next() {
            Some(class) => edge.label.verdict == Verdict::Refused && edge.label.what == class.name(),
            None => edge.label.verdict != Verdict::Refused,
        }
    })
}

/// Something is shown that two classes with state apply to.
pub(super) fn two_classes(world: &World, state: &State, edges: &[Edge]) -> bool {
    let later = |class: &Class| !matches!(class, Class::WrongRouter | Class::Tamper | Class::WrongTarget);
    let many = |(shown, _)| classes(world, state, &state.seen, shown).filter(later).count() > 1;
    !state.daemon.is_staged() && shown(edges).any(many)
}

/// What verification remembers.
fn remembered(image: &Image) -> impl PartialEq {
    (image.window.clone(), image.high_water)
}

/// The images before and after an edge on which the machine moved, if they are not the same one.
fn change<'a>(state: &'a State, edge: &'a Edge) -> Option<(&'a Image, &'a Image)> {
    let Next::To(next) = &edge.next else { return None };
    let (before, after) = (state.daemon.inside(), next.daemon.inside());
    (advanced(edge) && !std::ptr::eq(before, after)).then_some((&before.image, &after.image))
}

pub(super) fn only_acceptance_changes(_: &World, state: &State, edges: &[Edge]) -> bool {
    edges.iter().all(|edge| {
        let changed =
            change(state, edge).is_some_and(|(before, after)| remembered(before) != remembered(after));
        !changed || edge.label.what == ACCEPTED
    })
}

/// What neither accepts nor starts nor ends anything.
const PASSING: &[&str] = &[
    "asked",
    "look_owed",
    "withheld",
    "ask_failed",
    "sweeping",
    "swept",
    "probing",
    "paused",
    "resumed",
    "capability_changed",
    "reconnected",
];

pub(super) fn nothing_durable(_: &World, state: &State, edges: &[Edge]) -> bool {
    let mut passing = edges.iter().filter(|edge| PASSING.contains(&edge.label.what));
    passing.all(|edge| change(state, edge).is_none_or(|(before, after)| before == after))
}

/// Accepted hints that have not ended by a clock that was never set back, and so are still in the history.
fn in_time<'a>(world: &World, state: &State, seen: &'a Seen) -> impl Iterator<Item = u8> + use<'a> {
    let (wall, steady) = (state.wall, world.budget.backs == 0);
    let texts = seen.accepted.iter().map(|taken| taken.text).filter(|text| text.wake == text.nonce);
    texts.filter(move |text| steady && wall < text.expires).map(|text| text.wake)
}

pub(super) fn again_is_a_replay(world: &World, state: &State, edges: &[Edge]) -> bool {
    let again = |n| {
        let mut here = edges.iter().filter(move |edge| edge.action == Act::Present(Shown::Minted(n)));
        here.all(|edge| edge.label.verdict == Verdict::Refused && edge.label.what == Class::Replay.name())
    };
    in_time(world, state, &state.seen).all(again)
}

pub(super) fn could_come_again(world: &World, state: &State, _: &[Edge]) -> bool {
    state.daemon.live().is_some() && in_time(world, state, &state.seen).next().is_some()
}

pub(super) fn survived(state: &State) -> bool {
    state.spent.crashes > 0 && !state.seen.accepted.is_empty()
}

pub(super) fn unminted_is_asked(_: &World, state: &State, _: &[Edge]) -> bool {
    let unminted =
        |effect: &Effect| matches!(effect, Effect::Ask { question, .. } if !state.has_minted(*question));
    state.outbox.iter().any(unminted)
}
