//! What a call turns out to be before any transaction: an input of a mailbox, something that comes alone, or a refusal.
//!
//! Here the head of ADM-2 is asked, which needs the registry and no mailbox. Rules: ADM-1, ADM-2, ADM-9, ACK-3.

use super::*;

/// What a call turns out to be.
pub(super) enum Prepared {
    /// An input of a mailbox, which may share a transaction.
    Staged(Box<Staged>),
    /// Something that needs a transaction of its own, or none.
    Alone(Op),
    /// Nothing; it is refused before any machine is asked.
    Refuse(Refused),
}

/// One input of a mailbox, and what is known of it beside the store.
#[derive(Clone)]
pub(super) struct Staged {
    pub(super) target: Target,
    pub(super) input: Input,
    pub(super) statement: Option<Statement>,
    pub(super) known: Option<Known>,
}

impl Staged {
    pub(super) const fn plain(target: Target, input: Input) -> Self {
        Self { target, input, statement: None, known: None }
    }
}

impl Thread {
    /// What can be said without a transaction.
    pub(super) fn prepare(&mut self, op: Op) -> Prepared {
        match op {
            Op::Submit(submit) => self.prepare_submission(*submit),
            Op::Mailbox { target, input, statement } => {
                if !self.target_known(&target) {
                    return Prepared::Refuse(Refused::because(Reason::UnknownTarget, target.as_str()));
                }
                Prepared::Staged(Box::new(Staged { target, input: *input, statement, known: None }))
            }
            Op::Ack { signed, fence } => self.prepare_ack(*signed, fence),
            Op::Command(_) | Op::Sweep(..) | Op::Refused { .. } | Op::Checkpoint | Op::Overview => {
                Prepared::Alone(op)
            }
        }
    }

    /// The head of ADM-2 that needs the registry; the rest is the mailbox's.
    pub(super) fn prepare_submission(&mut self, submit: Submit) -> Prepared {
        let Submit { held, fence, trace, submission, body_bytes, content, normal, text } = submit;
        let attempt = Attempt {
            body_bytes,
            authenticated: true,
            within_rate: true,
            well_formed: true,
            other_sender: submission.from.as_ref().is_some_and(|from| *from != held.principal),
            schema_known: self.setup.routes.tier(&submission.schema).is_some(),
            target_known: self.target_known(&submission.target),
        };
        awakener_spec::rule!(Adm1);
        if let Err(reason) = admission::screen(&attempt, self.setup.limits.get()) {
            let refused = self.note_refusal(
                &held.principal,
                submission.target.as_str(),
                Some(&submission.id.to_string()),
                reason,
            );
            return Prepared::Refuse(refused);
        }
        let statement = Statement::Submission { submission: text, normal: normal.to_string(), trace };
        let submitted = Submitted {
            id: submission.id,
            principal: held.principal.clone(),
            content,
            schema: submission.schema,
            fence,
        };
        Prepared::Staged(Box::new(Staged {
            target: submission.target,
            input: Input::Admit(submitted),
            statement: Some(statement),
            known: Some(Known::Submission { held, normal }),
        }))
    }

    pub(super) fn prepare_ack(&mut self, signed: Signed<AckStatement>, fence: Option<Fence>) -> Prepared {
        let statement = signed.document().clone();
        let target = statement.target.clone();
        if !self.target_known(&target) {
            return Prepared::Refuse(Refused::because(Reason::UnknownTarget, target.as_str()));
        }
        let signature_valid = self
            .registry
            .machine(NO_TARGET)
            .and_then(|registry| registry.ack_public_key(&statement.key_id, &target))
            .is_some_and(|key| signed.verify(key).is_ok());
        let text = Statement::Signed {
            kind: "ack",
            subject: statement.message_id.to_string(),
            operator: None,
            signed: signed.to_value(),
        };
        Prepared::Staged(Box::new(Staged {
            target,
            input: Input::Ack { ack: statement.said(), fence },
            statement: Some(text),
            known: Some(Known::Signature { valid: signature_valid }),
        }))
    }
}
