//! Laws of what is finished, and of the cursor.

use awakener_kernel::ids::Tier;
use awakener_kernel::mailbox::entry::Finished;

use super::super::World;
use super::super::act::Call;
use super::super::seen::Broken;
use super::{advances, alerts, place, rows, tried};
use crate::world::Law;

pub const NEVER_BACK: Law<World> = Law {
    name: "INB-4 the cursor never goes back",
    holds: |_, state, _| state.seen.intact(Broken::Cursor),
    twin: "the cursor moved",
    reached: |_, state, _| state.seen.store.cursor > 0,
};

pub const GREATEST: Law<World> = Law {
    name: "INB-4 the cursor is the greatest n so that 1 to n are finished",
    holds: |_, state, _| {
        let finished = rows(state).take_while(|(_, _, row)| row.finished.is_some()).count();
        let cursor = state.plane.disk().image.cursor.map_or(0, |seq| seq.get());
        cursor == finished as u64
    },
    twin: "a message is finished before one that stands before it",
    reached: |_, state, _| {
        rows(state).any(|(seq, _, row)| {
            row.finished.is_some() && rows(state).any(|(s, _, other)| s < seq && other.finished.is_none())
        })
    },
};

pub const BARRIER: Law<World> = Law {
    name: "ACK-2 the cursor never reaches an alert that nobody closed",
    holds: |_, state, _| {
        alerts(state).all(|(seq, n, _)| {
            state.seen.store.cursor < place(seq) || state.seen.store.mail(n).closed.is_some()
        })
    },
    twin: "later mail is finished, and an alert pins the cursor",
    reached: |_, state, _| {
        alerts(state).any(|(seq, _, alert)| {
            alert.closed.is_none() && rows(state).any(|(s, _, row)| s > seq && row.finished.is_some())
        })
    },
};

pub const REASONED: Law<World> = Law {
    name: "INB-3 nothing is finished but for a recorded reason, and reading is none",
    holds: |_, state, _| {
        rows(state).all(|(_, n, row)| {
            let mail = state.seen.store.mail(n);
            row.finished.is_none_or(|how| match how {
                Finished::WitnessClosed => row.tier == Tier::Zero && mail.closed.is_some(),
                Finished::Responded => row.tier != Tier::Zero && mail.responded,
                Finished::Quarantined => row.tier != Tier::Zero && row.quarantined,
                Finished::Expired => row.tier != Tier::Zero && mail.expired,
            })
        })
    },
    twin: "mail was read and is not finished",
    reached: |_, state, _| {
        rows(state).any(|(_, _, row)| row.tier != Tier::Zero && row.read && row.finished.is_none())
    },
};

pub const AGE: Law<World> = Law {
    name: "INB-3 age ends old mail that nobody works on, and never an alert",
    holds: |world, state, edges| {
        let now = state.outside.clock.now().wall;
        let image = &state.plane.inside().image;
        let old = |n: u8| {
            let row = state.plane.inside().rows.row(crate::names::message(n));
            row.is_some_and(|(seq, row)| {
                let free = image.lease.as_ref().is_none_or(|lease| !lease.claimed.contains_key(&seq));
                now >= row.admitted + world.config.message_age && free && row.tier != Tier::Zero
            })
        };
        state.seen.intact(Broken::AlertExpired)
            && tried(edges).all(|(call, edge)| !matches!(call, Call::Expire(n) if !old(n)) || !advances(edge))
    },
    twin: "an alert is old",
    reached: |world, state, edges| {
        let now = state.outside.clock.now().wall;
        tried(edges).any(|(call, _)| matches!(call, Call::Expire(_)))
            && alerts(state).any(|(_, _, row)| now >= row.admitted + world.config.message_age)
    },
};
