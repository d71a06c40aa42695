//! What an observer outside knows, from inputs and outcomes alone: the laws compare the machine with this and never
//! with its own opinion.

use std::collections::{BTreeMap, BTreeSet};

use awakener_kernel::config::Config;
use awakener_kernel::ids::{DaemonName, Fence, MessageId, Tier};
use awakener_kernel::machine::Outcome;
use awakener_kernel::mailbox::input::{Event, Input};
use awakener_kernel::time::Wall;
use awakener_kernel::values::{Finish, FlightReport};

use crate::store::Written;

#[derive(Clone, Debug)]
pub struct Lease {
    pub fence: Fence,
    pub until: Wall,
}

#[derive(Clone, Debug)]
pub struct Permit {
    pub fence: Fence,
    pub daemon: DaemonName,
    pub until: Wall,
    pub flying: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Ghost {
    pub lease: Option<Lease>,
    pub permit: Option<Permit>,
    /// Alerts that nobody closed.
    pub open: BTreeSet<MessageId>,
    pub turns: BTreeMap<MessageId, Finish>,
    pub answered: BTreeSet<MessageId>,
    pub read: BTreeSet<MessageId>,
}

impl Ghost {
    /// The token that has power now.
    pub fn live(&self, now: Wall) -> Option<Fence> {
        self.lease.as_ref().filter(|lease| now < lease.until).map(|lease| lease.fence)
    }

    /// Learns from one durable step.
    pub fn see(&mut self, config: &Config, step: &Written) {
        let (Some(input), Some(Outcome::Advanced(event))) = (&step.input, &step.outcome) else { return };
        let now = step.now.wall;
        match (input, event) {
            (Input::Admit(submitted), Event::Admitted { tier: Tier::Zero, .. }) => {
                self.open.insert(submitted.id);
            }
            (Input::Ack { ack, .. }, _) => {
                self.open.remove(&ack.message);
            }
            (Input::Resolve { message }, _) => {
                self.open.remove(message);
            }
            (Input::Claim { .. }, Event::Leased { fence }) => {
                self.lease = Some(Lease { fence: *fence, until: now + config.lease });
            }
            (Input::Renew { .. }, _) => {
                if let Some(lease) = &mut self.lease {
                    lease.until = now + config.lease;
                }
            }
            (Input::Release { .. }, _) | (_, Event::LeaseExpired) => self.lease = None,
            (Input::Read { message, .. }, _) => {
                self.read.insert(*message);
            }
            (Input::FinishTurn { message, finish, .. }, _) => {
                self.turns.insert(*message, *finish);
            }
            (Input::Respond { message, .. }, _) => {
                self.answered.insert(*message);
            }
            (Input::Ask { daemon, .. }, Event::Permitted(permit)) => {
                let until = now + config.permit;
                let daemon = daemon.clone();
                self.permit = Some(Permit { fence: permit.fence, daemon, until, flying: false });
            }
            (Input::Report { fence, report, .. }, _) => self.reported(*fence, *report),
            (_, Event::FlightExpired) => self.permit = None,
            _ => {}
        }
    }

    fn reported(&mut self, fence: Fence, report: FlightReport) {
        let Some(permit) = self.permit.as_mut().filter(|permit| permit.fence == fence) else { return };
        match report {
            FlightReport::Attempted => permit.flying = true,
            FlightReport::Ended(_) => self.permit = None,
            FlightReport::Outcome(_) => {}
        }
    }
}
