//! Turns that really run: how they start and end outside, whatever the station thinks of them.
//!
//! A turn may outlive the process that started it; then nobody hears of its end. Rules: FUS-2, STN-8, STN-9.

use awakener_kernel::station::{Input, Phase, Station, Ticket};

use super::act::End;
use super::outside::Run;
use super::seen::Broken;
use super::{Scene, World, values};

impl World {
    /// A turn really starts.
    pub(super) fn starts(&self, state: &mut Scene, turn: u8, ticket: Option<Ticket>) {
        state.seen.must(state.outside.running.is_empty(), Broken::Two);
        state.outside.running.push(Run { turn, ticket, start: state.starts });
        let now = state.clock;
        let Some(known) = state.seen.turn_mut(turn) else { return state.seen.breaks(Broken::Two) };
        known.started = true;
        let boot = known.boot;
        let hour = state.seen.in_hour(now, |turn| turn.started);
        let within = |count: usize, limit: u32| u32::try_from(count).is_ok_and(|count| count <= limit);
        let allowed = within(hour, self.bounds.per_hour)
            && within(state.seen.in_boot(boot, |turn| turn.started), self.bounds.per_boot)
            && within(state.seen.turns.iter().filter(|turn| turn.started).count(), 2 * self.bounds.per_hour);
        state.seen.must(allowed, Broken::Fuse);
    }

    /// A turn comes to its end; if its process is still there, the station hears of it.
    pub(super) fn turn_ends(&self, state: &mut Scene, turn: u8, end: End) {
        let Some(place) = state.outside.running.iter().position(|run| run.turn == turn) else { return };
        let run = state.outside.running.remove(place);
        let Some(known) = state.seen.turn_mut(turn) else { return };
        known.end = Some(end);
        let tier = self.bounds.mail[usize::from(known.message)].tier;
        if end == End::Unseen {
            return;
        }
        // For an agent that works by itself the driver answers with what the station waits for.
        let waited = match state.station.live().map(Station::phase) {
            Some(Phase::Cognizing(cognizing)) => Some(cognizing.ticket),
            Some(_) | None => None,
        };
        let Some(ticket) = run.ticket.or(waited) else { return };
        let (evidence, answer) = values::ended(end, tier);
        state.inbox.push_back(Input::TurnFinished { ticket, evidence, answer });
    }
}
