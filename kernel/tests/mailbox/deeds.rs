//! What stories do all the time, in one word each.

use awakener_kernel::ids::{DaemonName, Fence, Holder, MessageId};
use awakener_kernel::mailbox::input::{Effect, Event, Input, Minted};
use awakener_kernel::values::{By, Finish, FlightReport, Permit, Response};

use crate::cast::{ack, alert, claim, finish, fresh, read, respond};
use crate::world::{Seen, Told, World, advanced};

impl World {
    pub fn fire(&mut self) -> Told {
        let fresh = self.entropy();
        self.give(Input::Fire { fresh })
    }

    pub fn sweep(&mut self) -> Told {
        let fresh = self.entropy();
        self.give(Input::Sweep { fresh })
    }

    pub fn entropy(&mut self) -> awakener_kernel::mailbox::input::Fresh {
        self.fresh += 1;
        fresh(self.fresh)
    }

    /// The last hint's number, token and alert, as the effect or the sweep said them.
    pub fn swept(&mut self) -> Minted {
        match advanced(self.sweep()) {
            Event::Swept(minted) => minted,
            other => panic!("{other:?}"),
        }
    }

    /// An alert, and its first hint as it was published.
    pub fn alerted(&mut self, n: u8) -> Minted {
        advanced(self.give(alert(n)));
        advanced(self.fire());
        self.published().expect("a hint")
    }

    /// What the last commit published.
    pub fn published(&self) -> Option<Minted> {
        match self.history.last() {
            Some(Seen::Commit { effects, .. }) => effects.iter().find_map(|effect| match effect {
                Effect::Publish(minted) => Some(*minted),
                Effect::TellOperator(_) => None,
            }),
            Some(Seen::Lost { .. } | Seen::Boot { .. }) | None => None,
        }
    }

    /// What the last commit told the operator about.
    pub fn told(&self) -> Vec<MessageId> {
        match self.history.last() {
            Some(Seen::Commit { effects, .. }) => effects
                .iter()
                .filter_map(|effect| match effect {
                    Effect::TellOperator(message) => Some(*message),
                    Effect::Publish(_) => None,
                })
                .collect(),
            Some(Seen::Lost { .. } | Seen::Boot { .. }) | None => vec![],
        }
    }

    pub fn claimed(&mut self, holder: Holder) -> Fence {
        match advanced(self.give(claim(holder))) {
            Event::Leased { fence } => fence,
            other => panic!("{other:?}"),
        }
    }

    /// Claimed and read.
    pub fn reading(&mut self, holder: Holder, n: u8) -> Fence {
        let fence = self.claimed(holder);
        advanced(self.give(read(fence, n)));
        fence
    }

    /// Claimed, read, a complete turn, a response: everything that a station's ACK needs.
    pub fn worked(&mut self, holder: Holder, n: u8) -> Fence {
        let fence = self.reading(holder, n);
        advanced(self.give(finish(fence, n, n, Finish::Complete)));
        advanced(self.give(respond(fence, n, n, Response::Silence)));
        fence
    }

    pub fn acked(&mut self, n: u8, by: By, fence: Option<Fence>) {
        advanced(self.give(ack(n, by, fence)));
    }

    pub fn ask(&mut self, daemon: DaemonName, minted: Minted) -> Told {
        let Minted { message, fresh, token, .. } = minted;
        let question = awakener_kernel::values::Question { wake: fresh.wake, message, token };
        self.give(Input::Ask { daemon, question })
    }

    pub fn permitted(&mut self, daemon: DaemonName, minted: Minted) -> Permit {
        match advanced(self.ask(daemon, minted)) {
            Event::Permitted(permit) => permit,
            other => panic!("{other:?}"),
        }
    }

    /// A permit that became a flight.
    pub fn flying(&mut self, daemon: DaemonName, minted: Minted) -> Permit {
        let permit = self.permitted(daemon, minted);
        advanced(self.report(permit, minted, FlightReport::Attempted));
        permit
    }

    pub fn report(&mut self, permit: Permit, minted: Minted, report: FlightReport) -> Told {
        let current = self.image().permit.as_ref().filter(|current| current.fence == permit.fence);
        let daemon = current.map_or_else(crate::cast::east, |current| current.daemon.clone());
        self.give(Input::Report { daemon, fence: permit.fence, wake: minted.fresh.wake, report })
    }
}
