//! The input that each call is to the machine, and the facts that its driver looks up for it.
//!
//! A forgery differs from an honest call in what it says or in one fact, never in how it is judged. Not here: when a
//! call is offered ([`super::calls`]).

use awakener_kernel::admission::{AdmitFacts, Cause, RosterVerdict, Submitted};
use awakener_kernel::ids::{Fence, KeyId, Tier, TurnId};
use awakener_kernel::mailbox::input::{AckFacts, AckKey, Facts, Fresh, Input, Minted, Query};
use awakener_kernel::time::Wall;
use awakener_kernel::values::{Ack, AckOutcome, By, Finish, FlightEnd, FlightReport, Question, Response};

use super::act::{Call, Forgery};
use super::rows::Content;
use super::{State, World};
use crate::names;
use crate::plane;

/// A message, a wake or a fence that does not exist.
const NOBODY: u8 = 14;

/// Whose first chance number is not used yet.
const fn fresh(number: u8) -> Fresh {
    Fresh { wake: names::wake(number), nonce: names::nonce(number) }
}

/// The outcome that each signer states, always the same.
pub const fn outcome(by: By) -> AckOutcome {
    match by {
        By::Station => AckOutcome::Handled,
        By::Agent | By::Human => AckOutcome::Declined,
    }
}

/// The statement that everybody signs about message `n`.
const fn statement(n: u8, by: By) -> Ack {
    let (message, content) = (names::message(n), names::content(n));
    Ack { message, content, outcome: outcome(by), by, key: names::key(), time: Wall(0) }
}

/// A lease makes few turns per message; they have numbers.
pub(super) const fn turn(fence: u8, number: u8) -> TurnId {
    names::turn(fence * 2 + number)
}

const fn fence(number: u8) -> Fence {
    Fence(number as u64)
}

impl World {
    /// The input of this call; `None` if the hint that it names never left the process.
    pub(super) fn input(&self, state: &State, call: Call) -> Option<Input> {
        Some(match call {
            Call::Start => Input::Start { floor: u32::from(state.outside.floor) },
            Call::Fire => Input::Fire { fresh: fresh(state.unused()) },
            Call::Submit(n) => Input::Admit(self.submission(n, n)),
            Call::Claim(h) => Input::Claim { holder: names::holder(h), max: 3 },
            Call::Renew(f) => Input::Renew { fence: fence(f) },
            Call::Release(f) => Input::Release { fence: fence(f) },
            Call::Read(f, n) => Input::Read { fence: fence(f), message: names::message(n) },
            Call::Finish(f, n, number, finish) => finished(f, n, number, finish),
            Call::Respond(f, n) => {
                let alert = self.bounds.tier(n) == Tier::Zero;
                responded(f, n, if alert { Response::Silence } else { Response::Done })
            }
            Call::Shrug(f, n) => responded(f, n, Response::Done),
            Call::Ack(n, by, f) => Input::Ack { ack: statement(n, by), fence: f.map(fence) },
            Call::Ask(d, wake) => {
                let hint = state.seen.hint(wake)?;
                asked(d, Question { wake: hint.fresh.wake, message: hint.message, token: hint.token })
            }
            Call::Attempted(d, f, wake) => report(d, f, wake, FlightReport::Attempted),
            Call::Outcome(d, f, wake, outcome) => report(d, f, wake, FlightReport::Outcome(outcome)),
            Call::Ended(d, f, wake, end) => report(d, f, wake, FlightReport::Ended(end)),
            Call::Sweep => Input::Sweep { fresh: fresh(state.unused()) },
            Call::Published(wake, handed_over) => Input::Published { wake: names::wake(wake), handed_over },
            Call::Resolve(n) => Input::Resolve { message: names::message(n) },
            Call::ReleaseQuarantine(n) => Input::ReleaseQuarantine { message: names::message(n) },
            Call::Expire(n) => Input::Expire { message: names::message(n) },
            Call::Forge(forgery) => self.forged(state, forgery)?,
        })
    }

    fn submission(&self, n: u8, content: u8) -> Submitted {
        Submitted {
            id: names::message(n),
            principal: names::sender(),
            content: names::content(content),
            schema: names::schema(self.bounds.tier(n)),
            fence: None,
        }
    }

    fn forged(&self, state: &State, forgery: Forgery) -> Option<Input> {
        let agent = statement(0, By::Agent);
        let ack = |ack: Ack| Input::Ack { ack, fence: None };
        let minted = |wake: u8| state.seen.hint(wake);
        let question = |minted: &Minted| Question {
            wake: minted.fresh.wake,
            message: minted.message,
            token: minted.token,
        };
        let nobody = names::message(NOBODY);
        Some(match forgery {
            Forgery::AckForeignKey(by) => ack(Ack { key: KeyId([9; 32]), ..statement(0, by) }),
            Forgery::AckRevokedKey | Forgery::AckBadSignature | Forgery::AckOtherTarget => ack(agent),
            Forgery::AckOtherContent => ack(Ack { content: names::content(NOBODY), ..agent }),
            Forgery::AckFuture => ack(Ack { time: Wall(9_999), ..agent }),
            Forgery::AckOtherTier(n) => ack(statement(n, By::Agent)),
            Forgery::AckUnknown => ack(Ack { message: nobody, ..agent }),
            Forgery::AckWithoutLease => ack(statement(0, By::Station)),
            Forgery::SubmitOtherContent(n) => Input::Admit(self.submission(n, NOBODY)),
            Forgery::SubmitTakenId
            | Forgery::SubmitStranger
            | Forgery::SubmitWithoutRoster
            | Forgery::SubmitMalformedRoster
            | Forgery::SubmitExpiredRoster
            | Forgery::SubmitSelfWake
            | Forgery::SubmitCannotAck
            | Forgery::SubmitLostLease
            | Forgery::SubmitEcho => Input::Admit(self.submission(NOBODY, NOBODY)),
            Forgery::AskUnminted => {
                let token = awakener_kernel::ids::Token::new(1, 1)?;
                asked(0, Question { wake: names::wake(NOBODY), message: names::message(0), token })
            }
            Forgery::AskOtherToken(wake) => {
                let question = question(minted(wake)?);
                asked(0, Question { token: question.token.next()?, ..question })
            }
            Forgery::AskOtherMessage(wake) => {
                asked(0, Question { message: nobody, ..question(minted(wake)?) })
            }
            Forgery::ReportNeverGranted(wake) => {
                report(0, NOBODY, wake, FlightReport::Ended(FlightEnd::Idle))
            }
            Forgery::ReportUnminted => report(0, 1, NOBODY, FlightReport::Attempted),
            Forgery::ReportOtherDaemon(f, wake, d) => report(1 - d, f, wake, FlightReport::Attempted),
            Forgery::PublishedUnminted => Input::Published { wake: names::wake(NOBODY), handed_over: true },
            Forgery::ReadWithoutLease(n) => Input::Read { fence: fence(NOBODY), message: names::message(n) },
            Forgery::RespondWithoutLease(n) => responded(NOBODY, n, Response::Silence),
            Forgery::ResolveUnknown => Input::Resolve { message: nobody },
            Forgery::ReleaseUnknown => Input::ReleaseQuarantine { message: nobody },
            Forgery::ExpireUnknown => Input::Expire { message: nobody },
        })
    }

    /// What the driver looks up: the truth, but for what the forgery is about.
    pub(super) fn facts(&self, state: &State, content: &Content, call: Call, query: Query) -> Facts {
        let tier = |message| self.bounds.tier(names::message_number(message));
        let mut facts = plane::facts(&content.rows, query, state.outside.authority(), tier);
        if let Call::Forge(forgery) = call {
            match &mut facts {
                Facts::Admit(facts) => self.distort_submission(forgery, facts),
                Facts::Ack(facts) => distort_ack(forgery, facts),
                _ => {}
            }
        }
        facts
    }

    fn distort_submission(&self, forgery: Forgery, facts: &mut AdmitFacts) {
        match forgery {
            Forgery::SubmitTakenId => facts.id_taken = true,
            Forgery::SubmitStranger => facts.roster = RosterVerdict::NotListed,
            Forgery::SubmitWithoutRoster => facts.roster = RosterVerdict::Absent,
            Forgery::SubmitMalformedRoster => facts.roster = RosterVerdict::Malformed,
            Forgery::SubmitExpiredRoster => facts.roster = RosterVerdict::Expired,
            Forgery::SubmitSelfWake => facts.acts_for_target = true,
            Forgery::SubmitCannotAck => facts.can_ack = false,
            Forgery::SubmitLostLease => facts.lost_lease = true,
            Forgery::SubmitEcho => {
                facts.cause = Some(Cause { message: names::message(0), depth: self.config.causal_depth });
            }
            _ => {}
        }
    }
}

const fn distort_ack(forgery: Forgery, facts: &mut AckFacts) {
    match forgery {
        Forgery::AckRevokedKey => facts.key = AckKey::Revoked,
        Forgery::AckBadSignature => facts.signature_valid = false,
        Forgery::AckOtherTarget => facts.this_target = false,
        _ => {}
    }
}

const fn finished(f: u8, n: u8, number: u8, finish: Finish) -> Input {
    Input::FinishTurn { fence: fence(f), message: names::message(n), turn: turn(f, number), finish }
}

const fn responded(f: u8, n: u8, response: Response) -> Input {
    Input::Respond { fence: fence(f), message: names::message(n), turn: turn(f, 0), response }
}

fn asked(d: u8, question: Question) -> Input {
    Input::Ask { daemon: names::daemon(d), question }
}

fn report(d: u8, f: u8, wake: u8, report: FlightReport) -> Input {
    Input::Report { daemon: names::daemon(d), fence: fence(f), wake: names::wake(wake), report }
}
