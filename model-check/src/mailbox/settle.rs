//! How the ghost learns: what callers say, what is on disk of it, and what is answered.
//!
//! A call that is on disk happened, also when nobody was told (a commit of unknown fate); a call that was answered is on
//! disk, or a law falls.

use awakener_kernel::ids::{MessageId, Tier};
use awakener_kernel::machine::Outcome::{Absorbed, Advanced};
use awakener_kernel::machine::OutcomeOf;
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::mailbox::input::{Event, Minted};
use awakener_kernel::values::{By, DispatchOutcome, Finish};

use super::act::Call;
use super::input::outcome as stated;
use super::outside::bit;
use super::scope::{Bounds, LIFE};
use super::seen::{Asked, Broken, Closing, Flight, Lease, Leased, Permit, Seen};
use crate::names;

fn small(number: u64) -> u8 {
    u8::try_from(number).expect("models are small")
}

impl Seen {
    /// A caller says something; the caller itself knows that from now on. False if it knows nothing new.
    pub fn said(&mut self, call: Call, at: u8) -> bool {
        let store = &mut self.store;
        match call {
            Call::Release(fence) => {
                store.leases.iter_mut().filter(|l| l.fence == fence).for_each(|l| l.over = true);
            }
            Call::Renew(fence) => {
                let known = store.leases.iter_mut().filter(|l| l.fence == fence);
                known.for_each(|lease| lease.at_most = lease.at_most.max(at + LIFE));
            }
            Call::Attempted(_, fence, _) => {
                let known = store.permits.iter_mut().filter(|p| p.fence == fence);
                known.for_each(|permit| permit.attempted = permit.attempted.or(Some(at)));
            }
            Call::Ended(_, fence, ..) => {
                store.permits.iter_mut().filter(|p| p.fence == fence).for_each(|p| p.over = true);
                store.flights.iter_mut().filter(|f| f.fence == fence).for_each(|f| f.over = true);
            }
            _ => return false,
        }
        true
    }

    /// A call is on disk, and `told` says whether its answer leaves the process. `hint` is what a due emission minted.
    pub fn settle(
        &mut self,
        bounds: &Bounds,
        stepped: bool,
        asked: &Asked,
        outcome: &OutcomeOf<Mailbox>,
        told: bool,
        hint: Option<&Minted>,
    ) {
        let at = asked.at;
        match (asked.call, outcome) {
            (Call::Submit(n), Advanced(Event::Admitted { seq, .. })) => {
                self.flag(self.store.mail(n).stored, Broken::Twice);
                let mail = self.mail(n);
                mail.stored = true;
                if told {
                    mail.place = Some(small(seq.get()));
                }
            }
            (Call::Submit(n), Absorbed) if told => {
                let known = self.store.mail(n).place;
                let differs = known.is_some() && known != asked.place;
                self.flag(asked.place.is_none() || differs, Broken::Twice);
                self.mail(n).place = asked.place;
            }
            (Call::Claim(_), Advanced(_) | Absorbed) if told => {
                if let Some(leased) = asked.lease
                    && (outcome.is_advanced() || self.store.lease(leased.fence).is_none())
                {
                    self.leased(&leased);
                }
            }
            (Call::Renew(fence), Advanced(_)) if told => {
                let known = self.store.leases.iter_mut().filter(|l| l.fence == fence);
                known.for_each(|lease| lease.until = at + LIFE);
            }
            (Call::Release(fence), Advanced(_)) => {
                let known = self.store.leases.iter_mut().filter(|l| l.fence == fence);
                known.for_each(|lease| lease.released = true);
            }
            (Call::Read(fence, n), Advanced(_)) => {
                self.worked(fence, n, at, stepped);
                let mail = self.mail(n);
                (mail.read, mail.reads) = (true, mail.reads + 1);
            }
            (Call::Finish(fence, n, number, finish), Advanced(_)) => {
                self.worked(fence, n, at, stepped);
                self.mail(n).turn = Some(finish);
                self.ended((fence, n, number, finish));
            }
            (Call::Respond(fence, n), Advanced(_)) => {
                self.worked(fence, n, at, stepped);
                self.flag(self.store.mail(n).responded, Broken::RepliedTwice);
                self.mail(n).responded = true;
                self.mail(n).replied |= told;
            }
            (Call::Respond(_, n), Absorbed) if told => self.mail(n).replied = true,
            (Call::Shrug(..), Advanced(_)) => self.flag(true, Broken::Shrugged),
            (Call::Ack(n, by, fence), Advanced(_)) => {
                let earned = self.has_earned(n, by, fence, at, stepped);
                self.flag(!earned, Broken::Unearned);
                self.closed(n, Closing::Acked(stated(by), by), told);
            }
            (Call::Resolve(n), Advanced(_)) => self.closed(n, Closing::Resolved, told),
            (Call::ReleaseQuarantine(n), Advanced(_)) => {
                let mail = self.mail(n);
                (mail.reads, mail.returns) = (0, mail.returns + 1);
            }
            (Call::Expire(n), Advanced(_)) => {
                self.flag(bounds.tier(n) == Tier::Zero, Broken::AlertExpired);
                self.mail(n).expired = true;
            }
            (Call::Ask(daemon, wake), Advanced(Event::Permitted(permit))) => {
                let about = self.hint(wake).map(|hint| hint.message);
                self.about(bounds, about);
                if told {
                    let fence = small(permit.fence.0);
                    let rises = self.store.permits.iter().all(|known| known.fence < fence);
                    self.flag(!rises, Broken::PermitFence);
                    let until = at + LIFE;
                    self.store.permits.push(Permit {
                        fence,
                        daemon,
                        wake,
                        until,
                        attempted: None,
                        over: false,
                        spent: false,
                    });
                }
            }
            (Call::Attempted(_, fence, _), Advanced(_) | Absorbed) if told => self.started(fence, at),
            (Call::Outcome(_, fence, _, outcome), Advanced(_)) => self.outcome(fence, outcome),
            (Call::Ended(_, fence, ..), Advanced(_)) => self.spent(fence),
            (Call::Fire, Advanced(Event::FlightExpired)) => {
                if let Some(flight) = self.store.flights.last() {
                    self.spent(flight.fence);
                }
            }
            (Call::Sweep, Advanced(Event::Swept(minted))) => {
                self.about(bounds, Some(minted.message));
                if told {
                    self.allocated(minted);
                    self.left(*minted);
                }
            }
            (Call::Fire, Advanced(Event::Minted)) => {
                self.store.emits();
                if let Some(hint) = hint {
                    self.about(bounds, Some(hint.message));
                    self.allocated(hint);
                }
            }
            (Call::Fire, Advanced(Event::EmissionRefused(_))) => self.store.emits(),
            (_, _) => {}
        }
    }

    const fn mail(&mut self, n: u8) -> &mut super::seen::Mail {
        &mut self.store.mail[n as usize]
    }

    fn leased(&mut self, leased: &Leased) {
        self.flag(self.store.leases.iter().any(|known| known.fence >= leased.fence), Broken::LeaseFence);
        self.store.leases.push(Lease::new(leased));
    }

    /// Whether a fence has power over a message.
    fn holds(&self, fence: u8, n: u8, at: u8, stepped: bool) -> bool {
        self.store.lease(fence).is_some_and(|lease| {
            let covers = lease.covers & bit::<u8>(n) != 0;
            covers && !lease.released && !self.store.is_stale(lease, at, stepped)
        })
    }

    fn worked(&mut self, fence: u8, n: u8, at: u8, stepped: bool) {
        self.flag(!self.holds(fence, n, at, stepped), Broken::Unleased);
    }

    fn has_earned(&self, n: u8, by: By, fence: Option<u8>, at: u8, stepped: bool) -> bool {
        let mail = self.store.mail(n);
        match by {
            By::Station => {
                let holds = fence.is_some_and(|fence| self.holds(fence, n, at, stepped));
                holds && mail.turn == Some(Finish::Complete) && mail.responded
            }
            By::Agent | By::Human => mail.read,
        }
    }

    fn closed(&mut self, n: u8, how: Closing, told: bool) {
        self.flag(self.store.mail(n).closed.is_some(), Broken::ClosedTwice);
        let mail = self.mail(n);
        mail.closed = Some(how);
        mail.told |= told;
    }

    fn ended(&mut self, end: (u8, u8, u8, Finish)) {
        let (fence, n, number, finish) = end;
        let same = |known: &&(u8, u8, u8, Finish)| (known.0, known.1, known.2) == (fence, n, number);
        match self.store.turns.iter().find(same) {
            Some(known) => self.flag(known.3 != finish, Broken::TwoEnds),
            None => self.store.turns.push(end),
        }
    }

    /// A hint or a permit is about an alert that is stored and not closed.
    fn about(&mut self, bounds: &Bounds, message: Option<MessageId>) {
        let outstanding = message.map(names::message_number).is_some_and(|n| {
            let mail = self.store.mail.get(usize::from(n));
            let open = mail.is_some_and(|mail| mail.stored && mail.closed.is_none());
            open && bounds.tier(n) == Tier::Zero
        });
        self.flag(!outstanding, Broken::NotOutstanding);
    }

    fn started(&mut self, fence: u8, at: u8) {
        if self.store.flights.iter().any(|flight| flight.fence == fence) {
            return;
        }
        let permit = self.store.permits.iter().find(|permit| permit.fence == fence);
        let from = permit.and_then(|permit| permit.attempted).unwrap_or(at);
        let over = permit.is_some_and(|permit| permit.over);
        self.store.flights.push(Flight { fence, until: from + LIFE, at_most: at + LIFE, over });
    }

    fn spent(&mut self, fence: u8) {
        self.store.permits.iter_mut().filter(|p| p.fence == fence).for_each(|p| p.spent = true);
    }

    fn outcome(&mut self, fence: u8, outcome: DispatchOutcome) {
        let contradicts = self.store.outcomes.iter().any(|(f, known)| *f == fence && *known != outcome);
        self.flag(contradicts, Broken::Contradiction);
        if !contradicts {
            self.store.outcomes.push((fence, outcome));
        }
    }
}
