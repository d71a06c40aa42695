//! Operations that need a transaction of their own, or none: operator commands and what follows from them, sweeps, the
//! clock, the overview. Rules: ADM-9, DSP-11, EMT-6, OPR-1, OPR-2, ACK-9.

use super::*;

/// Operations that need a transaction of their own, or none.
impl Thread {
    pub(super) fn alone(&mut self, op: Op) -> Result<Reply, Refused> {
        match op {
            Op::Command(presented) => self.command(*presented),
            Op::Sweep(target, seen) => self.sweep(target, seen),
            Op::Refused { principal, target, message, reason } => {
                Err(self.note_refusal(&principal, &target, message.as_deref(), reason))
            }
            Op::Checkpoint => Ok(Reply::Checkpoint(Box::new(self.checkpoint()?))),
            Op::Overview => Ok(Reply::Overview(Box::new(self.overview()?))),
            // These are prepared, never alone.
            Op::Submit(_) | Op::Mailbox { .. } | Op::Ack { .. } => {
                Err(Refused::because(Reason::FactsMissing, "an input of a mailbox came alone"))
            }
        }
    }

    /// A refusal that reached no mailbox is accounted for all the same (ADM-9); the body never is.
    pub(super) fn note_refusal(
        &mut self,
        principal: &Principal,
        target: &str,
        message: Option<&str>,
        reason: Reason,
    ) -> Refused {
        let noted = self.db.note_refusal(self.clock.now(), principal, target, message, reason);
        match noted {
            Ok(()) => Refused::because(reason, target),
            Err(fault) => {
                tracing::error!(reason = %fault.reason, "a refusal could not be recorded: {fault}");
                Refused::because(reason, target)
            }
        }
    }

    pub(super) fn sweep(&mut self, target: Target, seen: Option<u64>) -> Result<Reply, Refused> {
        if !self.target_known(&target) {
            return Err(Refused::because(Reason::UnknownTarget, target.as_str()));
        }
        if let Some(seen) = seen {
            self.hear(&target, Token::from_u64(seen))?;
        }
        let fresh = fresh(self.clock.now());
        let staged = vec![Staged::plain(target.clone(), Input::Sweep { fresh })];
        let outcomes = self.mailbox_batch(staged).map_err(|failed| refused(&failed))?;
        match outcomes.first() {
            Some(Outcome::Advanced(Event::Swept(minted))) => sign(minted, &target, &self.setup.router_key)
                .map(|bytes| Reply::Swept(Some(bytes)))
                .map_err(|detail| Refused { reason: Reason::FactsMissing, detail }),
            _ => Ok(Reply::Swept(None)),
        }
    }

    pub(super) fn command(&mut self, presented: Presented) -> Result<Reply, Refused> {
        let statement = Statement::Signed {
            kind: "operator",
            subject: presented.command.as_ref().map_or("", |command| command.act.name().name()).to_owned(),
            operator: self.operator_of(&presented),
            signed: serde_json::from_str(&presented.raw).unwrap_or(serde_json::Value::Null),
        };
        let denial = self.denial(&presented);
        match (self.registry_step(registry::Input::Command(presented), Some(statement)), denial) {
            (Ok(outcome), _) => {
                // The act is durable, whatever becomes of this; the next input of the target tries again.
                if let Err(refused) = self.start_missing() {
                    tracing::error!(reason = %refused.reason, "a mailbox was not started: {}", refused.detail);
                }
                Ok(Reply::Registry(outcome))
            }
            (Err(refused), None) => Err(refused),
            (Err(refused), Some(denial)) => {
                // What narrows always acts: without a store it goes to the deny file, and nothing else happens before
                // it is taken in (OPR-2).
                Err(self.deny(&denial, refused))
            }
        }
    }

    /// Whose signature is under a command; nobody's, unless it is a registered key's.
    pub(super) fn operator_of(&self, presented: &Presented) -> Option<OperatorName> {
        let key = presented.command.as_ref().filter(|_| presented.signature_valid)?.key;
        Some(self.registry().ok()?.image().operators.get(&key)?.operator.clone())
    }

    /// What must stand in the deny file if this command cannot be recorded: only what is authorised, and narrows.
    pub(super) fn denial(&self, presented: &Presented) -> Option<Denial> {
        let command = presented.command.as_ref()?;
        // The registry may be under recovery; what was last published is what its operators decided.
        let view = self.view.read().unwrap_or_else(std::sync::PoisonError::into_inner).registry.clone();
        let image = view.as_ref()?.image();
        let (config, now) = (self.setup.limits.get(), self.clock.now());
        operator::authorise(image, presented, &Found::Nothing, config, now).ok()?;
        Denial::new(command.act.clone(), Some((command.id, command.not_after)), now.wall).ok()
    }

    /// One input of the registry, committed by itself, and what follows from it.
    pub(super) fn registry_step(
        &mut self,
        input: registry::Input,
        statement: Option<Statement>,
    ) -> Result<OutcomeOf<Registry>, Refused> {
        let reading = self.clock.read();
        let item = Item { target: NO_TARGET.to_owned(), input, statement };
        let (mailboxes, state) = (&self.mailboxes, &self.setup.state);
        let result = self
            .registry
            .batch(&mut self.db, reading.now, vec![item], |db, _, _, query| {
                Ok(match query {
                    None => Found::Nothing,
                    Some(Outside::Clock) => Found::Clock(reading.observed),
                    Some(outside) => {
                        Found::Subject(crate::plane::facts::outside(db, mailboxes, state, &outside)?)
                    }
                })
            })
            .map_err(|failed| refused(&failed));
        let done = result.inspect_err(|_| self.lost = self.lost.max(Lost::Memory))?;
        self.publish_view();
        for (_, effect) in done.effects {
            self.follow(effect)?;
        }
        done.outcomes.into_iter().next().ok_or_else(no_outcome)
    }

    /// What an operator's act means for mailboxes, files and the clock.
    pub(super) fn follow(&mut self, effect: registry::Effect) -> Result<(), Refused> {
        use registry::Effect as Act;
        match effect {
            // The command is durable and is never accepted again, so what follows from it stays owed.
            Act::Resolve { target, message } => self.insist(target, Input::Resolve { message }),
            Act::ReleaseQuarantine { target, message } => {
                self.insist(target, Input::ReleaseQuarantine { message });
            }
            Act::SetClock(wall) => self.accept_clock(wall),
            Act::Reanchor => {
                self.db.reanchor(self.clock.now())?;
                // Whoever still walks has not seen this.
                (self.walking, self.intact) = (None, Some(true));
                self.registry_step(registry::Input::Chain { intact: true }, None)?;
            }
            // Daemons and stations ask, and whoever clears a latch brings the command; nobody has to be told.
            Act::Grant { .. } | Act::Withdraw { .. } | Act::PublishRing(_) | Act::ClearLatch { .. } => {}
        }
        Ok(())
    }

    /// Goes on from an earlier time. The command's own entry has the time that was held; without one at the accepted
    /// time the next start would hold on to that again. If it cannot be written, Tier-0 closes again at the next start.
    fn accept_clock(&mut self, wall: Wall) {
        self.clock.accept(wall);
        let noted =
            self.db.note("clock", NO_TARGET, self.clock.now(), serde_json::json!({ "accepted": wall }));
        if let Err(fault) = noted {
            tracing::error!(reason = %fault.reason, "an accepted time is not kept: {fault}");
        }
    }

    /// A target that was just registered gets its mailbox and its epoch.
    pub(super) fn start_missing(&mut self) -> Result<(), Refused> {
        let floor = self.floor;
        let missing: Vec<Target> = self
            .registry()?
            .image()
            .targets
            .iter()
            .filter(|target| self.mailboxes.machine(target.as_str()).is_none())
            .filter(|target| self.verifiers.let_go(target))
            .cloned()
            .collect();
        for target in missing {
            self.one(target, Input::Start { floor })?;
        }
        Ok(())
    }

    pub(super) fn insist(&mut self, target: Target, input: Input) {
        if let Err(refused) = self.one(target.clone(), input.clone()) {
            tracing::error!(reason = %refused.reason, "an act stays owed: {}", refused.detail);
            self.owed.push((target, input));
        }
    }

    pub(super) fn one(
        &mut self,
        target: Target,
        input: Input,
    ) -> Result<Option<OutcomeOf<Mailbox>>, Refused> {
        let outcomes =
            self.mailbox_batch(vec![Staged::plain(target, input)]).map_err(|failed| refused(&failed))?;
        Ok(outcomes.into_iter().next())
    }

    /// Tells the registry what the clock shows, but only when that means something (EMT-6).
    pub(super) fn look_at_clock(&mut self) -> Result<(), Refused> {
        let reading = self.clock.read();
        let closed = self.registry()?.image().clock.is_some();
        if closed || reading.behind() > self.setup.limits.get().skew {
            self.registry_step(registry::Input::Clock { observed: reading.observed }, None)?;
        }
        Ok(())
    }

    /// The roster as its stored command says it, if the command still verifies (ADM-5).
    pub(super) fn stored_roster(&self) -> Option<(KeyId, Roster)> {
        let registry = self.registry().ok()?;
        let installed = registry.image().roster.as_ref()?;
        crate::plane::queries::verified_roster(registry, &installed.raw)
    }

    pub(super) fn registry(&self) -> Result<&Registry, Refused> {
        self.registry
            .machine(NO_TARGET)
            .ok_or_else(|| Refused::because(Reason::StoreUnavailable, "the registry is not there"))
    }

    pub(super) fn target_known(&self, target: &Target) -> bool {
        self.registry().is_ok_and(|registry| registry.target_known(target))
    }

    pub(super) fn publish_view(&self) {
        if let Ok(registry) = self.registry() {
            let mut view = self.view.write().unwrap_or_else(std::sync::PoisonError::into_inner);
            view.registry = Some(Arc::new(registry.clone()));
        }
    }

    pub(super) fn overview(&self) -> Result<Overview, Refused> {
        Ok(Overview {
            now: self.clock.now(),
            head: self.db.head(),
            registry: self.registry()?.clone(),
            mailboxes: self
                .mailboxes
                .machines()
                .map(|(target, mailbox)| (target.clone(), mailbox.image().clone()))
                .collect(),
            limits: self.setup.limits.clone(),
            walking: self.walking.is_some(),
        })
    }
}
