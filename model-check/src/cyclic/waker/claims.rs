//! What must follow in a cyclic waker world, and under which conditions.

use super::World;
use super::act::{Act, Look, Word};
use super::seen::Landed;
use crate::liveness::{Fair, Leads, Strength};
use crate::process::Fate;
use crate::world::Verdict;

const TIME: Fair<World> = Fair {
    name: "time passes",
    strength: Strength::Strong,
    takes: |action, _| *action == Act::Tick,
    why: "no adversary stops a clock; it may only crash machines in between",
};
const CALM: Fair<World> = Fair {
    name: "crashes and failures end some time",
    strength: Strength::Weak,
    takes: |action, _| *action == Act::Calm,
    why: "a daemon that dies for ever, or never reaches its plane, serves nobody; how often until then is the adversary's",
};
const BOOT: Fair<World> = Fair {
    name: "the daemon is started again",
    strength: Strength::Strong,
    takes: |action, _| *action == Act::Boot(Fate::Durable),
    why: "a supervisor does it; the adversary may crash it again at once",
};
const ASKS: Fair<World> = Fair {
    name: "the start that is due is asked about",
    strength: Strength::Strong,
    takes: |action, label| *action == Act::Fire(Fate::Durable) && label.what == "asked",
    why: "the driver fires what is due, however many hints it hears between; commits may fail and crashes come",
};
const LOOKS: Fair<World> = Fair {
    name: "the look that is due is fired",
    strength: Strength::Strong,
    takes: |action, label| *action == Act::Fire(Fate::Durable) && label.what == "sweeping",
    why: "as for starts",
};
const ENDS: Fair<World> = Fair {
    name: "what is due about a flight or an answer is fired",
    strength: Strength::Strong,
    takes: |action, label| *action == Act::Fire(Fate::Durable) && !matches!(label.what, "asked" | "sweeping"),
    why: "as for starts",
};
const PERMITS: Fair<World> = Fair {
    name: "the plane answers in time about a start that waits",
    strength: Strength::Strong,
    takes: |action, label| {
        matches!(action, Act::Answer(Word::Granted | Word::NotOutstanding, Fate::Durable))
            && matches!(label.what, "permitted" | "dropped")
    },
    why: "the plane works again some time, and answers before its permit is over; it may fail, be late or hold permits \
          back as often as it likes before",
};
const LATE: Fair<World> = Fair {
    name: "what nobody waits for any more is answered too",
    strength: Strength::Strong,
    takes: |action, label| {
        matches!(action, Act::Answer(..) | Act::Sweep(..))
            && matches!(label.verdict, Verdict::Absorbed | Verdict::Outside)
    },
    why: "calls of the driver end, if only by time-out; whatever is said",
};
const SWEEP: Fair<World> = Fair {
    name: "the plane answers sweeps",
    strength: Strength::Strong,
    takes: |action, label| {
        matches!(action, Act::Sweep(Look::Nothing | Look::Hint, Fate::Durable)) && label.what == "swept"
    },
    why: "as for starts",
};
const ADAPTER: Fair<World> = Fair {
    name: "the adapter carries dispatches out",
    strength: Strength::Strong,
    takes: |action, _| matches!(action, Act::Adapter(_, Fate::Durable)),
    why: "whatever comes of it: only that the queue before it moves",
};
const PROBE: Fair<World> = Fair {
    name: "probes are carried out",
    strength: Strength::Strong,
    takes: |action, _| matches!(action, Act::Probe(_, Fate::Durable)),
    why: "whatever is found: only that the queue before it moves",
};

/// Every claim.
pub(super) const CLAIMS: &[Leads<World>] = &[
    Leads {
        name: "DSP-1 a cooldown ends in its pending dispatch, unless the plane withdraws it",
        when: "an accepted wake waits for its start",
        from: |_, state, _| state.seen.waits,
        then: "it is started, or the plane has said that nothing is outstanding",
        to: |_, state, _| !state.seen.waits,
        fair: &[CALM, TIME, BOOT, ASKS, LOOKS, ENDS, PERMITS, LATE, SWEEP, ADAPTER, PROBE],
    },
    Leads {
        name: "DSP-2 a hint that comes in mid-flight leads to a look after the flight",
        when: "a hint came in mid-flight",
        from: |_, state, _| state.seen.landed != Landed::Not,
        then: "the flight is over, and the plane was asked or a start followed",
        to: |_, state, _| state.seen.landed == Landed::Not,
        fair: &[TIME, BOOT, ASKS, LOOKS, ENDS, PERMITS, LATE, SWEEP, ADAPTER, PROBE],
    },
    Leads {
        name: "DSP-11 after every recovery a look follows",
        when: "the daemon woke and has not looked yet",
        from: |_, state, _| !state.daemon.is_down() && !state.seen.looked,
        then: "the plane answered a sweep",
        to: |_, state, _| state.seen.looked,
        fair: &[CALM, TIME, BOOT, ASKS, LOOKS, ENDS, LATE, SWEEP, ADAPTER, PROBE],
    },
];
