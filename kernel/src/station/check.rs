//! What always holds of a station, stated once: debug assertion, model property, boot check and monitor.

use awakener_spec::Rule;

use super::image::{Image, MAX_PROGRESS};
use super::phase::Phase;
use super::{PhaseName, Station};
use crate::config::Config;
use crate::fuse::MAX_TURNS;
use crate::machine::Violation;

macro_rules! holds {
    ($rule:ident, $claim:expr, $invariant:literal) => {
        if !$claim {
            return Err(Violation { invariant: $invariant, rule: Rule::$rule });
        }
    };
}

/// What holds of every image, also of one that comes from disk.
pub(super) fn image(image: &Image) -> Result<(), Violation> {
    holds!(Fus2, image.counters.len() <= MAX_TURNS, "the fuse remembers a bounded number of turns");
    holds!(Stn9, image.progress.len() <= MAX_PROGRESS, "a bounded number of messages is remembered");
    let cleared = image.latch.as_ref().is_none_or(|latch| latch.clearing.is_some() || !latch.archived);
    holds!(Fus7, cleared, "a latch is archived only by a command");
    Ok(())
}

pub(super) fn check(station: &Station, _: &Config) -> Result<(), Violation> {
    image(&station.image)?;
    let (live, durable) = (&station.live, &station.image);
    let name = live.phase.name();
    let latched = name == PhaseName::LatchedDown;
    holds!(Fus6, latched == durable.latch.is_some(), "latched down if and only if there is a latch");
    holds!(Stn2, latched || durable.grant.is_some() == (name != PhaseName::Dark), "dark means no grant");
    holds!(Stn2, live.grant_ends.is_some() == durable.grant.is_some(), "a grant has an end on this clock");

    let running = durable.turn.filter(|turn| turn.finish.is_none());
    match &live.phase {
        Phase::Cognizing(c) => {
            holds!(Fus2, running.is_some_and(|t| t.turn == c.pass.turn), "the turn that runs was recorded");
        }
        Phase::Dark
        | Phase::Armed(_)
        | Phase::Waking(_)
        | Phase::Reading(_)
        | Phase::Acking(_)
        | Phase::Synced(_)
        | Phase::Refused(_)
        | Phase::LatchedDown(_) => holds!(Stn3, running.is_none(), "a turn runs in no phase but COGNIZING"),
    }
    let cleaning = live.cleaning.is_some();
    match name {
        PhaseName::Waking | PhaseName::Reading => {
            holds!(
                Stn9,
                !cleaning && durable.turn.is_none(),
                "no pass begins before the last one is cleaned up"
            );
        }
        PhaseName::Cognizing | PhaseName::Acking => {
            holds!(Stn9, !cleaning, "nothing is cleaned up that is still in use");
        }
        PhaseName::Synced => holds!(Stn9, cleaning, "SYNCED waits for a cleanup"),
        PhaseName::Dark | PhaseName::Armed | PhaseName::Refused | PhaseName::LatchedDown => {
            holds!(Stn9, cleaning || durable.turn.is_none(), "a turn that is over waits for its cleanup");
        }
    }
    Ok(())
}
