//! Calls that must come to nothing: stale, senseless, forged.

use awakener_kernel::ids::{Fence, KeyId, Token};
use awakener_kernel::mailbox::input::{Input, Minted};
use awakener_kernel::time::Wall;
use awakener_kernel::values::{Ack, By};

use super::act::{Call, fresh, statement};
use super::seen::Permit;
use super::{State, World};
use crate::names;

impl World {
    /// Calls that anybody could make now, also senseless ones.
    pub(super) fn everything(&self, state: &State) -> Vec<Call> {
        let mut calls = self.calls(state);
        calls.extend([
            Call::Start,
            Call::Fire,
            Call::Sweep,
            Call::Submit(0),
            Call::Submit(1),
            Call::Claim(0),
            Call::Claim(1),
        ]);
        calls.extend([Call::Read(Fence(9), 0), Call::Ack(0, By::Station, Some(Fence(9)))]);
        calls.extend(stale(state).flat_map(with_fence));
        calls.sort_unstable();
        calls.dedup();
        calls
    }
}

/// Fences that are certainly stale: replaced, or out of time whatever became of renewals.
pub(super) fn stale(state: &State) -> impl Iterator<Item = Fence> + '_ {
    let latest = state.seen.leases.iter().map(|lease| lease.fence).max();
    state
        .seen
        .leases
        .iter()
        .filter(move |lease| Some(lease.fence) < latest || lease.at_most <= state.clock)
        .map(|lease| lease.fence)
}

pub(super) fn replaced(state: &State) -> impl Iterator<Item = Permit> + '_ {
    let latest = state.seen.permits.iter().map(|permit| permit.fence).max();
    state.seen.permits.iter().filter(move |permit| Some(permit.fence) < latest).copied()
}

/// Everything that a fence of a lease is good for.
pub(super) fn with_fence(fence: Fence) -> impl Iterator<Item = Call> {
    let about = |n| [Call::Read(fence, n), Call::Finish(fence, n), Call::Respond(fence, n)];
    let acks = [Call::Ack(0, By::Station, Some(fence)), Call::Ack(0, By::Agent, Some(fence))];
    [Call::Renew(fence), Call::Release(fence)].into_iter().chain(about(0)).chain(about(1)).chain(acks)
}

/// What an attacker could say.
pub(super) fn forged(state: &State) -> Vec<Input> {
    let mut all = Vec::new();
    for by in [By::Station, By::Agent] {
        let genuine = statement(0, by);
        let fence = state.seen.leases.last().map(|lease| lease.fence);
        let other_key = KeyId([9; 32]);
        for ack in [
            Ack { key: other_key, ..genuine },
            Ack { content: names::content(1), ..genuine },
            Ack { time: Wall(9_999), ..genuine },
            Ack { message: names::message(1), content: names::content(1), ..genuine },
            Ack { message: names::message(9), ..genuine },
        ] {
            all.push(Input::Ack { ack, fence });
        }
    }
    let Some(token) = Token::new(1, 1) else { return all };
    let unminted =
        Minted { message: names::message(0), fresh: fresh(99), token, time: Wall(0), expires: Wall(1) };
    all.push(Call::Ask(0, unminted).input(0));
    all.push(Call::Attempted(0, Fence(1), unminted).input(0));
    // A hint that was minted, with another token.
    if let Some(hint) = state.seen.hints.last()
        && let Some(next) = hint.token.next()
    {
        all.push(Call::Ask(0, Minted { token: next, ..*hint }).input(0));
    }
    all
}
