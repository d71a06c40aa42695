//! The judgement of the registry: one step per input, and what a boot checks.

use awakener_spec::{Reason, Rule};

use super::image::{Image, Record, Running, SteppedBack};
use super::input::{Effect, Effects, Event, Input, Query, Refusal};
use super::{Registry, Volatile};
use crate::config::Config;
use crate::ids::{KeyId, OperatorName, PlaneName, PublicKey, Target};
use crate::machine::{Draft, Image as _, ImageMut, Machine, Step, Violation};
use crate::operator::{self, Act, Command, Denial, Found, Presented, Roster};
use crate::time::{Mono, Now, Wall};

impl ImageMut for Registry {
    fn image_mut(&mut self) -> &mut Image {
        &mut self.image
    }
}

impl Machine for Registry {
    type Config = Config;
    type Image = Image;
    type Input = Input;
    type Query = Query;
    type Facts = Found;
    type Effect = Effect;
    type Event = Event;
    type Refusal = Refusal;

    fn recover(config: &Config, _now: Now, image: Image) -> Result<Step<Self>, Violation> {
        let registry = Self { image, volatile: Volatile::default() };
        registry.check(config)?;
        Ok(Step::absorbed(registry))
    }

    fn needs(&self, input: &Input) -> Query {
        match input {
            Input::Command(presented) => presented.command.as_ref().and_then(|command| command.act.outside()),
            Input::Enrol { .. }
            | Input::Start { .. }
            | Input::Deny(_)
            | Input::Manifest { .. }
            | Input::Chain { .. }
            | Input::Clock { .. } => None,
        }
    }

    fn step(self, config: &Config, now: Now, input: Input, facts: Found) -> Step<Self> {
        match input {
            Input::Enrol { plane, operator, key, audit, router } => {
                self.enrol(plane, operator, (key, audit, router), now)
            }
            Input::Start { running, roster } => self.start(running, roster),
            Input::Command(presented) => self.command(&presented, &facts, config, now),
            Input::Deny(denial) => self.deny(denial),
            Input::Manifest { accepted } => {
                let volatile = Volatile { manifest_accepted: accepted, ..self.volatile };
                self.note(volatile, Event::ManifestNoted)
            }
            Input::Chain { intact } => {
                let volatile = Volatile { chain_intact: intact, ..self.volatile };
                self.note(volatile, Event::ChainNoted)
            }
            Input::Clock { observed } => self.clock(observed, config, now),
        }
    }

    /// Never: what ends by itself is judged when it is asked for.
    fn deadline(&self, _config: &Config) -> Option<Mono> {
        None
    }

    fn image(&self) -> &Image {
        &self.image
    }

    fn check(&self, _config: &Config) -> Result<(), Violation> {
        let image = &self.image;
        let broken = |invariant, rule| Err(Violation { invariant, rule });
        if image.plane.is_none() != image.operators.is_empty() {
            return broken("a plane has a name if and only if an operator key was enrolled", Rule::Idn7);
        }
        if image.grants.keys().any(|target| !image.targets.contains(target)) {
            return broken("only registered targets have grants", Rule::Adm13);
        }
        let gone = image.ack_keys.iter().filter(|(target, _)| !image.targets.contains(*target));
        if gone.flat_map(|(_, keys)| keys.values()).any(|entry| entry.key.revoked.is_none()) {
            return broken("the ACK keys of a target that is gone are revoked", Rule::Adm13);
        }
        let ack_keys = image.ack_keys.values().flatten().map(|(id, entry)| (id, &entry.key));
        let plane_keys = image.router_keys.iter().chain(&image.audit_keys);
        let operators = image.operators.iter().all(|(id, operator)| operator.key.key_id() == *id);
        if !operators || !ack_keys.chain(plane_keys).all(|(id, key)| key.key.key_id() == *id) {
            return broken("every key stands under its own id", Rule::Idn4);
        }
        if image.credentials.values().flat_map(|held| &held.may_read).any(|t| !image.targets.contains(t)) {
            return broken("credentials name registered targets", Rule::Idn6);
        }
        if image.commands.values().any(|end| image.forgotten.is_some_and(|forgotten| *end <= forgotten)) {
            return broken("remembered commands end after every forgotten one", Rule::Opr1);
        }
        Ok(())
    }
}

impl Registry {
    /// Volatile facts leave no record; the audit entry of the step is their trace.
    fn note(self, volatile: Volatile, event: Event) -> Step<Self> {
        if volatile == self.volatile {
            return Step::absorbed(self);
        }
        Draft::new(Self { volatile, ..self }).advanced(event)
    }

    fn enrol(
        self,
        plane: PlaneName,
        operator: OperatorName,
        (key, audit, router): (PublicKey, PublicKey, Option<PublicKey>),
        now: Now,
    ) -> Step<Self> {
        awakener_spec::rule!(Idn7);
        if self.image.plane.is_some() {
            return Step::refused(self, Reason::OperatorStateConflict);
        }
        // A key has one role.
        if key == audit || router.is_some_and(|router| router == key || router == audit) {
            return Step::refused(self, Reason::OperatorMalformed);
        }
        let mut draft = Draft::new(self);
        draft.record(Record::Enrolled { plane, operator, key, audit, router, at: now.wall });
        draft.advanced(Event::Enrolled)
    }

    /// OPR-2 for what is started, ADM-5 for the roster that is loaded.
    fn start(self, running: Running, verified: Option<(KeyId, Roster)>) -> Step<Self> {
        let changed = self.image.running != Some(running);
        let stored = self.image.roster.as_ref();
        awakener_spec::rule!(Adm5);
        let signed = stored.is_some_and(|stored| {
            verified.is_some_and(|(key, roster)| stored.key == key && stored.roster == roster)
        });
        let roster_sound = signed || stored.is_none();
        let volatile = Volatile { started: true, roster_signed: signed, ..self.volatile };
        if !changed && volatile == self.volatile {
            return Step::absorbed(self);
        }
        let mut draft = Draft::new(Self { volatile, ..self });
        if changed {
            awakener_spec::rule!(Opr2);
            draft.record(Record::Started(running));
        }
        draft.advanced(Event::Started { changed, roster_sound })
    }

    fn command(self, presented: &Presented, found: &Found, config: &Config, now: Now) -> Step<Self> {
        let command = match operator::authorise(&self.image, presented, found, config, now) {
            Ok(command) => command.clone(),
            Err(reason) => return Step::refused(self, reason),
        };
        let installs = matches!(command.act, Act::InstallRoster(_));
        let volatile = Volatile { roster_signed: self.volatile.roster_signed || installs, ..self.volatile };
        let mut effects = self.effects(&command.act);
        effects.extend(self.handed_on(&command, found));
        let ring = self.image.ring;
        let mut draft = Draft::new(Self { volatile, ..self });
        let event = Event::Enacted { id: command.id, act: command.act.name() };
        draft.record(Record::Enacted {
            id: command.id,
            not_after: command.not_after,
            key: command.key,
            at: now.wall,
            forget: now.wall - config.skew,
            act: command.act,
            raw: presented.raw.clone(),
        });
        effects.into_iter().for_each(|effect| draft.effect(effect));
        tell_ring(&mut draft, ring);
        draft.advanced(event)
    }

    /// Always narrows, and only once: a file that is read again changes nothing.
    fn deny(self, denial: Denial) -> Step<Self> {
        awakener_spec::rule!(Opr2);
        let record = Record::Denied(denial.clone());
        let mut after = self.image.clone();
        after.apply(&record);
        let known = denial.command().is_some_and(|(id, _)| self.image.commands.contains_key(&id));
        if known || after == self.image {
            return Step::absorbed(self);
        }
        let effects = self.effects(denial.act());
        let ring = self.image.ring;
        let mut draft = Draft::new(self);
        draft.record(record);
        effects.into_iter().for_each(|effect| draft.effect(effect));
        tell_ring(&mut draft, ring);
        draft.advanced(Event::Denied { act: denial.act().name() })
    }

    fn clock(self, observed: Wall, config: &Config, now: Now) -> Step<Self> {
        awakener_spec::rule!(Emt6);
        let behind = observed + config.skew < now.wall;
        match (behind, self.image.clock) {
            (true, None) => {
                let mut draft = Draft::new(self);
                draft.record(Record::ClockSteppedBack(SteppedBack { held: now.wall, observed }));
                draft.advanced(Event::ClockSteppedBack)
            }
            (false, Some(_)) => {
                let mut draft = Draft::new(self);
                draft.record(Record::ClockCaughtUp);
                draft.advanced(Event::ClockCaughtUp)
            }
            (true, Some(_)) | (false, None) => Step::absorbed(self),
        }
    }

    /// What stations must hear about their grants.
    fn effects(&self, act: &Act) -> Effects {
        let granted = |target: &Target| self.image.grants.contains_key(target);
        let withdraw = |target: &Target| Effect::Withdraw { target: target.clone() };
        if let Act::Arm(of) = act {
            return Effects::from([Effect::Grant { target: of.target.clone(), until: of.until }]);
        }
        if let Act::Disarm(of) | Act::RemoveTarget(of) = act {
            return Some(&of.target).filter(|target| granted(target)).map(withdraw).into_iter().collect();
        }
        if let Act::Abort(_) = act {
            return self.image.grants.keys().map(withdraw).collect();
        }
        Effects::new()
    }

    /// What other machines and the driver must do because an operator may ask for it.
    fn handed_on(&self, command: &Command, found: &Found) -> Option<Effect> {
        if let Act::Resolve(of) = &command.act {
            awakener_spec::rule!(Ack9);
            return Some(Effect::Resolve { target: of.target.clone(), message: of.message });
        }
        if let Act::ReleaseQuarantine(of) = &command.act {
            awakener_spec::rule!(Inb8);
            return Some(Effect::ReleaseQuarantine { target: of.target.clone(), message: of.message });
        }
        if let Act::ClearLatch(of) = &command.act {
            awakener_spec::rule!(Fus7);
            let (target, reason) = (of.target.clone(), command.reason.clone());
            return Some(Effect::ClearLatch { target, command: command.id, reason });
        }
        if let Act::Reanchor(_) = &command.act {
            return Some(Effect::Reanchor);
        }
        match (&command.act, found) {
            (Act::AcceptClock(_), Found::Clock(observed)) => Some(Effect::SetClock(*observed)),
            _ => None,
        }
    }
}

fn tell_ring(draft: &mut Draft<Registry>, before: u64) {
    let ring = draft.machine.image.ring;
    if ring != before {
        draft.effect(Effect::PublishRing(ring));
    }
}
