//! What passes between a station and its mailbox: claims, reports, results, ACKs.
//!
//! Whatever comes under a lease that is not honoured has no power. Rules: STN-5, STN-6, OBS-1, ACK-5, INB-7.

use awakener_kernel::ids::{Fence, Tier};
use awakener_kernel::station::{Input, Prior, Ticket};
use awakener_kernel::values::{Finish, TurnRef};
use awakener_spec::Reason;

use super::act::{Deed, End, How, LaneKind};
use super::outside::{Acked, Out};
use super::perform::deed;
use super::seen::Broken;
use super::values::{message_number, turn_number};
use super::{Scene, World, values};
use crate::names;

impl World {
    /// A message is claimed and read.
    pub(super) fn claim(&self, state: &mut Scene, ticket: Ticket, how: How) -> Input {
        // A claim of an earlier pass may still be under way when a hint comes; the read follows in its order.
        let read_follows = state
            .outbox
            .iter()
            .any(|out| matches!(out, Out::Effect(effect) if deed(effect) == Deed::ReadInbox));
        state.seen.must(!state.seen.hinted || read_follows, Broken::Unread);
        let (lane, work) = match how {
            How::Gives(n, lane) => {
                let outside = &mut state.outside;
                if !outside.held {
                    outside.fence += 1;
                    outside.held = true;
                }
                outside.claimed = ticket.epoch;
                outside.ids += 1;
                let letter = self.bounds.mail[usize::from(n)];
                let mailed = outside.mail[usize::from(n)];
                let prior = mailed.result.filter(|turn| mailed.complete == Some(*turn));
                let prior = prior
                    .map(|turn| Prior { turn: names::turn(turn), response: values::response(letter.tier) });
                let fence = Fence(u64::from(outside.fence));
                (lane, Some(values::work(letter, n, fence, u32::from(mailed.released), prior)))
            }
            How::Nothing | How::Done | How::Fails | How::Half => {
                let any = state.outside.open(self.bounds.mail, 0).next().is_some();
                state.spent.nothings += u8::from(any);
                // Whoever gets nothing gives back whatever it may hold.
                state.outside.held = false;
                (LaneKind::Mapped, None)
            }
        };
        Input::Claimed { ticket, turn: names::turn(state.outside.ids), lane: values::lane(lane), work }
    }

    /// The station's ACK leaves it.
    pub(super) fn ack_sent(&self, state: &mut Scene, turn: TurnRef) {
        let (n, number) = (message_number(turn.message), turn_number(turn.turn));
        let mailed = state.outside.mail[usize::from(n)];
        let whole = state.seen.turn(number).is_none_or(|turn| turn.end == Some(End::Whole));
        state.seen.must(mailed.complete == Some(number), Broken::Unreported);
        state.seen.must(mailed.result == Some(number), Broken::AckFirst);
        state.seen.must(whole, Broken::Unobserved);
        state.seen.must(self.bounds.mail[usize::from(n)].tier == Tier::Zero, Broken::WrongTier);
    }
}

/// The mailbox is told how a turn ended.
pub(super) fn report(state: &mut Scene, turn: TurnRef, fence: Fence, finish: Finish) {
    let number = turn_number(turn.turn);
    if finish == Finish::Complete {
        let whole = state.seen.turn(number).is_none_or(|turn| turn.end == Some(End::Whole));
        state.seen.must(whole, Broken::FalseReport);
        if state.outside.honours(fence) {
            state.outside.mail[usize::from(message_number(turn.message))].complete = Some(number);
        }
    }
}

/// It is brought a result.
pub(super) fn record_result(state: &mut Scene, turn: TurnRef, fence: Fence) -> Result<(), Reason> {
    let (held, number) = (state.outside.honours(fence), turn_number(turn.turn));
    let mailed = &mut state.outside.mail[usize::from(message_number(turn.message))];
    match mailed.result {
        Some(known) if known == number => Ok(()),
        // Whoever has lost its lease cannot know of what was recorded since.
        Some(_) => {
            state.seen.must(!held, Broken::OtherResult);
            Err(if held { Reason::ResultConflict } else { Reason::LostLease })
        }
        None if held => {
            mailed.result = Some(number);
            Ok(())
        }
        None => Err(Reason::LostLease),
    }
}

/// It is brought the station's ACK.
pub(super) fn acknowledge(state: &mut Scene, turn: TurnRef, fence: Fence) -> Result<(), Reason> {
    let held = state.outside.honours(fence);
    let mailed = &mut state.outside.mail[usize::from(message_number(turn.message))];
    match mailed.acked {
        Some(Acked::Station) => Ok(()),
        Some(Acked::Own(_)) => Err(Reason::AlreadyAcknowledged),
        None if held => {
            mailed.acked = Some(Acked::Station);
            Ok(())
        }
        None => Err(Reason::LostLease),
    }
}
