//! One target's mailbox: sequences, witnesses, cursor, lease, tokens, mints, the permit.
//!
//! All branching over inputs is in [`Mailbox::step`]; each arm is a named transition in the file of its subject:
//! [`admit`](self), work (claim, read, turn, result), ack, wake (mint, permit, flight), close (finishing, quarantine,
//! the operator). Not here: bodies and rows (facts and [`record::RowChange`]), roster and keys (`registry`), positions of readers
//! (`page`). Rules: INB-1…9, ACK-1…10, EMT-1…4, DSP-2, DSP-7, DSP-11.

mod ack;
mod admit;
mod check;
mod close;
pub mod entry;
pub mod image;
pub mod input;
pub mod ranges;
pub mod record;
mod timers;
mod wake;
mod work;

use crate::admission::Cause;
use crate::config::Config;
use crate::ids::{Fence, Seq, Tier};
use crate::machine::{Draft, ImageMut, Machine, Step, Violation};
use crate::open::Open;
use crate::time::{Mono, Now};
use awakener_spec::Reason;
use image::{Claimed, Image, Lease};
use input::{Effect, Event, Facts, Input, Query, Refusal};
use timers::{Due, Timers};

/// The machine: its durable image, and what only this boot knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mailbox {
    image: Image,
    timers: Timers,
    /// No hint is minted before the emitter's new epoch is durable (EMT-2).
    emitting: bool,
}

type StepOf = Step<Mailbox>;

impl ImageMut for Mailbox {
    fn image_mut(&mut self) -> &mut Image {
        &mut self.image
    }
}

impl Machine for Mailbox {
    type Config = Config;
    type Image = Image;
    type Input = Input;
    type Query = Query;
    type Facts = Facts;
    type Effect = Effect;
    type Event = Event;
    type Refusal = Refusal;

    fn recover(config: &Config, now: Now, image: Image) -> Result<StepOf, Violation> {
        let timers = Timers::recover(config, now, &image);
        let machine = Self { image, timers, emitting: false };
        machine.check(config)?;
        Ok(Step::absorbed(machine))
    }

    fn needs(&self, input: &Input) -> Query {
        match input {
            Input::Admit(submitted) => {
                Query::Admit { principal: submitted.principal.clone(), message: submitted.id }
            }
            Input::Claim { max, .. } => Query::Candidates { max: *max },
            Input::Read { message, .. }
            | Input::FinishTurn { message, .. }
            | Input::Respond { message, .. }
            | Input::Resolve { message }
            | Input::ReleaseQuarantine { message }
            | Input::Expire { message } => Query::Row(*message),
            Input::Ack { ack, .. } => Query::Ack(*ack),
            Input::Ask { question, .. } => Query::Mint(question.wake),
            Input::Report { wake, fence, .. } => Query::Flight(*wake, *fence),
            Input::Published { wake, .. } => Query::Mint(*wake),
            Input::Sweep { .. } => {
                if self.may_sweep().is_err() {
                    Query::None
                } else {
                    Query::Authorities(self.open_alerts())
                }
            }
            Input::Fire { .. } => match self.timers.next(self.emitting) {
                Some((_, Due::Emission(seq))) => {
                    self.image.witnesses.get(&seq).map_or(Query::None, |w| Query::Authority(w.message))
                }
                Some((_, Due::Lease | Due::Flight | Due::Escalation(_))) | None => Query::None,
            },
            Input::Start { .. } | Input::Renew { .. } | Input::Release { .. } => Query::None,
        }
    }

    fn step(self, config: &Config, now: Now, input: Input, facts: Facts) -> StepOf {
        match (input, facts) {
            (Input::Start { floor }, Facts::None) => self.start(config, now, floor),
            (Input::Admit(submitted), Facts::Admit(facts)) => self.admit(config, now, submitted, &facts),
            (Input::Claim { holder, max }, Facts::Candidates(candidates)) => {
                self.claim(config, now, holder, max, candidates)
            }
            (Input::Renew { fence }, Facts::None) => self.renew(config, now, fence),
            (Input::Release { fence }, Facts::None) => self.release(config, now, fence),
            (Input::Read { fence, message }, Facts::Row(row)) if self.fits(&row, message) => {
                self.read(config, now, fence, message, row)
            }
            (Input::FinishTurn { fence, message, turn, finish }, Facts::Row(row))
                if self.fits(&row, message) =>
            {
                self.finish_turn(now, fence, message, (turn, finish), row)
            }
            (Input::Respond { fence, message, turn, response }, Facts::Row(row))
                if self.fits(&row, message) =>
            {
                self.respond(now, fence, message, (turn, response), row)
            }
            (Input::Ack { ack, fence }, Facts::Ack(facts)) if self.fits(&facts.row, ack.message) => {
                self.acknowledge(config, now, &ack, fence, facts)
            }
            (Input::Ask { daemon, question }, Facts::Mint(mint)) if self.minted(mint.as_ref()) => {
                self.ask(config, now, daemon, &question, mint)
            }
            (Input::Report { daemon, fence, wake, report }, Facts::Flight(mint, told))
                if self.minted(mint.as_ref()) =>
            {
                self.report(config, now, &daemon, (fence, wake), report, (mint, &told))
            }
            (Input::Sweep { fresh }, Facts::Authorities(known)) => self.sweep(config, now, fresh, &known),
            (Input::Sweep { .. }, Facts::None) => match self.may_sweep() {
                Err(refusal) => self.refuse(refusal),
                Ok(()) => self.refuse(Reason::FactsMissing),
            },
            (Input::Published { wake, handed_over }, Facts::Mint(mint)) if self.minted(mint.as_ref()) => {
                self.published(wake, handed_over, mint)
            }
            (Input::Resolve { message }, Facts::Row(row)) if self.fits(&row, message) => {
                self.resolve(message, row)
            }
            (Input::ReleaseQuarantine { message }, Facts::Row(row)) if self.fits(&row, message) => {
                self.release_quarantine(config, now, message, row)
            }
            (Input::Expire { message }, Facts::Row(row)) if self.fits(&row, message) => {
                self.expire(config, now, message, row)
            }
            (Input::Fire { fresh }, Facts::Authority(authority)) => {
                self.fire(config, now, fresh, Some(authority))
            }
            (Input::Fire { fresh }, Facts::None) => self.fire(config, now, fresh, None),
            (
                Input::Start { .. }
                | Input::Admit(_)
                | Input::Claim { .. }
                | Input::Renew { .. }
                | Input::Release { .. }
                | Input::Read { .. }
                | Input::FinishTurn { .. }
                | Input::Respond { .. }
                | Input::Ack { .. }
                | Input::Ask { .. }
                | Input::Report { .. }
                | Input::Sweep { .. }
                | Input::Published { .. }
                | Input::Resolve { .. }
                | Input::ReleaseQuarantine { .. }
                | Input::Expire { .. }
                | Input::Fire { .. },
                Facts::None
                | Facts::Admit(_)
                | Facts::Candidates(_)
                | Facts::Row(_)
                | Facts::Authority(_)
                | Facts::Authorities(_)
                | Facts::Mint(_)
                | Facts::Flight(..)
                | Facts::Ack(_),
            ) => self.refuse(Reason::FactsMissing),
        }
    }

    fn deadline(&self, _config: &Config) -> Option<Mono> {
        self.timers.next(self.emitting).map(|(at, _)| at)
    }

    fn image(&self) -> &Image {
        &self.image
    }

    fn check(&self, config: &Config) -> Result<(), Violation> {
        self.image.check()?;
        self.timers.check(config, &self.image)
    }
}

impl Mailbox {
    /// The lease, if its time is not over.
    pub fn live_lease(&self, now: Now) -> Option<&Lease> {
        self.image.lease.as_ref().filter(|_| self.timers.lease.is_some_and(|until| now.mono < until))
    }

    /// What a submission has as its cause when its sender works on this mailbox (ADM-12): the claimed message of
    /// greatest depth, then lowest sequence.
    ///
    /// # Errors
    /// `lost_lease` when a lease is presented that is not live (INB-7).
    pub fn cause(&self, now: Now, presented: Option<Fence>) -> Result<Option<Cause>, Reason> {
        let lease = self.live_lease(now);
        if let Some(fence) = presented
            && lease.is_none_or(|lease| lease.fence != fence)
        {
            return Err(Reason::LostLease);
        }
        let Some(lease) = lease else { return Ok(None) };
        let deepest = lease
            .claimed
            .values()
            .fold(None, |best: Option<&Claimed>, claimed| match best {
                Some(best) if best.depth >= claimed.depth => Some(best),
                Some(_) | None => Some(claimed),
            })
            .map(|claimed| Cause { message: claimed.message, depth: claimed.depth });
        Ok(deepest)
    }

    fn refuse(self, refusal: impl Into<Refusal>) -> StepOf {
        Step::refused(self, refusal.into())
    }

    /// Fires the first deadline that is due; absorbed when none is (law 4).
    fn fire(
        self,
        config: &Config,
        now: Now,
        fresh: input::Fresh,
        authority: Option<input::Authority>,
    ) -> StepOf {
        match self.timers.next(self.emitting).filter(|(at, _)| *at <= now.mono) {
            None => Step::absorbed(self),
            Some((_, Due::Lease)) => self.lease_expired(config, now),
            Some((_, Due::Flight)) => self.flight_expired(config, now),
            Some((_, Due::Escalation(seq))) => self.escalate(seq),
            Some((_, Due::Emission(seq))) => match authority {
                Some(authority) => self.emit(config, now, seq, fresh, authority),
                None => self.refuse(Reason::FactsMissing),
            },
        }
    }
}

impl Open<Mailbox> {
    /// [`Mailbox::cause`] of a mailbox whose steps are not durable yet, as a fact for [`Input::Admit`] that is read
    /// inside the transaction (ADM-12).
    ///
    /// # Errors
    /// `lost_lease` when a lease is presented that is not live (INB-7).
    pub fn cause(&self, now: Now, presented: Option<Fence>) -> Result<Option<Cause>, Reason> {
        self.sealed().cause(now, presented)
    }

    /// How often work was taken so far, as a fact for [`Input::Claim`]: turns of lower tiers are counted by it (RTE-3).
    pub fn claims(&self) -> u64 {
        self.sealed().image.lease_fence.0
    }
}

type DraftOf = Draft<Mailbox>;

impl Image {
    /// Whether a message of this tier is finished by a recorded response.
    const fn response_finishes(tier: Tier) -> bool {
        !matches!(tier, Tier::Zero)
    }

    /// The claimed message, if it is under this lease.
    fn claimed(&self, seq: Seq) -> Option<&Claimed> {
        self.lease.as_ref().and_then(|lease| lease.claimed.get(&seq))
    }
}
