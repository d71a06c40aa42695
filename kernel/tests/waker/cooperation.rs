//! An outside in which everything works, for what must happen in the end.

use awakener_kernel::values::{DispatchOutcome, FlightEnd, Hint};
use awakener_kernel::waker::{Capability, Effect, Fate, Input, Phase};
use awakener_spec::Class;

use crate::rig::{Rig, Seen, hint};

/// Whatever state a run has left behind: one alert is outstanding, and is started within the sum of all bounds.
pub fn everything_is_done(rig: &mut Rig) {
    let mut outside = Working { outstanding: true, minted: 10_000 };
    rig.give(Input::Resume);
    rig.give(Input::Capability(Capability::Unattended));
    let config = &rig.config;
    let bounds =
        [config.flight_max, config.back_off_max, config.permit, config.permit, config.sweep, config.sweep];
    let end = bounds.into_iter().fold(rig.now.mono, |at, bound| at + bound);
    while outside.outstanding {
        let seen = rig.fire();
        outside.perform(rig, &seen);
        assert!(rig.now.mono <= end, "forgotten in {:?}: {:?}", rig.waker.phase(), rig.waker);
    }
    while rig.waker.phase() != Phase::Resting {
        let seen = rig.fire();
        outside.perform(rig, &seen);
        assert!(rig.now.mono <= end + config_slack(rig), "never at rest: {:?}", rig.waker);
    }
}

/// With nothing outstanding the waker comes to rest, and then fires once per sweep.
pub fn seldom_enough(rig: &mut Rig) {
    let mut outside = Working { outstanding: false, minted: 10_000 };
    rig.give(Input::Resume);
    rig.give(Input::Capability(Capability::Unattended));
    let settled = rig.now.mono + rig.config.flight_max + rig.config.back_off_max + config_slack(rig);
    while rig.now.mono < settled {
        let seen = rig.fire();
        outside.perform(rig, &seen);
    }
    assert_eq!(rig.waker.phase(), Phase::Resting);
    for _ in 0..5 {
        let last = rig.now.mono;
        let seen = rig.fire();
        assert!(seen.swept().is_some());
        outside.perform(rig, &seen);
        assert!(rig.now.mono == last + rig.config.sweep || last < settled + rig.config.sweep);
    }
}

fn config_slack(rig: &Rig) -> awakener_kernel::time::Millis {
    rig.config.cooldown + rig.config.sweep + rig.config.permit
}

struct Working {
    outstanding: bool,
    minted: u64,
}

impl Working {
    fn perform(&mut self, rig: &mut Rig, seen: &Seen) {
        for effect in &seen.effects {
            self.act(rig, effect);
        }
    }

    fn act(&mut self, rig: &mut Rig, effect: &Effect) {
        let then = match *effect {
            Effect::Ask { ticket, .. } if self.outstanding => rig.grant(ticket),
            Effect::Ask { ticket, .. } => rig.withhold(ticket, Class::NotOutstanding),
            Effect::Sweep { ticket } => {
                if self.outstanding {
                    let found = self.mint(rig);
                    let then = rig.give(Input::Hint(found));
                    self.perform(rig, &then);
                }
                rig.give(Input::Swept { ticket, any: self.outstanding })
            }
            Effect::Dispatch { ticket, attempt, .. } => {
                rig.give(Input::Dispatched { ticket, outcome: DispatchOutcome::NotifiedVerified });
                rig.give(Input::InboxRead { attempt });
                self.outstanding = false;
                rig.wait(1);
                rig.give(Input::FlightEnded { attempt, end: FlightEnd::WorkFinished })
            }
            Effect::Probe { ticket, .. } => rig.give(Input::Probed { ticket, fate: Fate::Gone }),
            Effect::Report { .. } | Effect::TellOperator(_) => return,
        };
        self.perform(rig, &then);
    }

    fn mint(&mut self, rig: &Rig) -> Hint {
        self.minted += 1;
        hint(self.minted, rig.now.wall, 8)
    }
}
