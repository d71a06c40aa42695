//! The scenarios as acts: each plays one line of the scenario file and returns what was seen of it, as plain JSON.
//!
//! An act judges nothing; what it waits for only keeps it from looking too early, and a wait that is in vain makes the
//! line red. Facts come from answers, exports, receipts, exit codes and files. Reading order: this file (which act,
//! which stack) → `alert` (the ladder) → `gate`, `hints`, `runtime`, `station`, `crash`, `closing`.

mod alert;
mod closing;
mod crash;
mod gate;
mod hints;
mod runtime;
mod station;

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::{Mutex, MutexGuard, OnceCell};

use super::stack::{Agent, Kit, Plan, Stack, agent};

/// What an act comes to.
pub type Seen = Result<Value, String>;

/// The stacks, each built when the first act needs it.
#[derive(Debug)]
pub struct Stage {
    kit: Kit,
    main: OnceCell<Arc<Stack>>,
    loss: OnceCell<Arc<Stack>>,
    gate: OnceCell<Arc<Stack>>,
    crash: OnceCell<Arc<Stack>>,
    /// Acts that change what all of a stack's targets depend on take turns.
    gate_turn: Mutex<()>,
    crash_turn: Mutex<()>,
}

type Fallible<T> = Result<T, String>;

impl Stage {
    /// Without any stack yet.
    pub fn new(kit: Kit) -> Self {
        Self {
            kit,
            main: OnceCell::new(),
            loss: OnceCell::new(),
            gate: OnceCell::new(),
            crash: OnceCell::new(),
            gate_turn: Mutex::default(),
            crash_turn: Mutex::default(),
        }
    }

    /// What stacks share.
    pub const fn kit(&self) -> &Kit {
        &self.kit
    }

    /// The stacks that are up.
    pub fn stacks(&self) -> Vec<Arc<Stack>> {
        [&self.main, &self.loss, &self.gate, &self.crash]
            .into_iter()
            .filter_map(|cell| cell.get().cloned())
            .collect()
    }

    /// Sweeps are far apart here, so that only the network brings hints.
    async fn main(&self) -> Fallible<&Stack> {
        let far = "cooldown = \"200ms\"\nback_off_base = \"500ms\"";
        let plan = Plan {
            name: "main",
            limits: far,
            trial: "",
            wake: true,
            roster: true,
            agents: vec![
                agent("mataya-dyad"),
                agent("twice"),
                agent("order"),
                agent("tamper"),
                agent("router"),
                agent("forge"),
                Agent { station: false, ..agent("keys") },
                Agent { station: false, ..agent("away") },
                Agent { station: false, runtime: "turn-hook", ..agent("unknown") },
                Agent { script: "\"truncated\"", ..agent("cut") },
                Agent { station: false, ..agent("backlog") },
                Agent { script: "\"echo\"", ..agent("parrot") },
                Agent { proxied: true, set: "limits.turns_per_boot=1", ..agent("mute") },
            ],
        };
        self.up(&self.main, plan).await
    }

    /// Hints are short-lived here and sweeps frequent.
    async fn loss(&self) -> Fallible<&Stack> {
        let limits = "hint_ttl = \"1s\"\nsweep = \"1500ms\"\ncooldown = \"200ms\"";
        let agents = vec![agent("lost"), agent("late")];
        let plan = Plan { name: "loss", limits, trial: "", wake: true, roster: true, agents };
        self.up(&self.loss, plan).await
    }

    /// A plane alone, whose roster changes.
    async fn gate(&self) -> Fallible<(&Stack, MutexGuard<'_, ()>)> {
        let agents = ["gate", "other"].map(|target| Agent { station: false, ..agent(target) }).to_vec();
        let plan = Plan { name: "gate", limits: "", trial: "", wake: false, roster: false, agents };
        Ok((self.up(&self.gate, plan).await?, self.gate_turn.lock().await))
    }

    /// A stack whose processes die.
    async fn crash(&self) -> Fallible<(&Stack, MutexGuard<'_, ()>)> {
        let limits = "sweep = \"2s\"\ncooldown = \"200ms\"";
        let trial = "pause_at = [\"before_publish\"]";
        let agents = vec![agent("crash"), agent("again")];
        let plan = Plan { name: "crash", limits, trial, wake: true, roster: true, agents };
        Ok((self.up(&self.crash, plan).await?, self.crash_turn.lock().await))
    }

    async fn up<'a>(&'a self, cell: &'a OnceCell<Arc<Stack>>, plan: Plan) -> Fallible<&'a Stack> {
        let name = plan.name;
        let stack = cell
            .get_or_try_init(|| Stack::build(self.kit.clone(), plan))
            .await
            .map_err(|error| format!("the stack {name}: {error}"))?;
        Ok(stack)
    }
}

/// Whether the act looks back at everything and so comes last.
pub fn is_closing(name: &str) -> bool {
    matches!(name, "chain_verifies" | "word_never_said")
}

/// Plays one line; `tell` hears of the ladder's rungs as they come.
///
/// # Errors
/// In words, when it could not be played to its end.
pub async fn play(name: &str, stage: &Stage, tell: &(dyn Fn(&str) + Sync)) -> Seen {
    match name {
        "one_alert" => alert::one_alert(stage.main().await?, tell).await,
        "hint_lost" => hints::lost(stage.loss().await?).await,
        "hint_stale" => hints::stale(stage.loss().await?).await,
        "hint_duplicated" => hints::duplicated(stage.main().await?).await,
        "hint_reordered" => hints::reordered(stage.main().await?).await,
        "hint_tampered" => hints::tampered(stage.main().await?).await,
        "wrong_router" => hints::wrong_router(stage.main().await?).await,
        "hint_forged" => hints::forged(stage.main().await?).await,
        "hint_replayed_after_restart" => {
            let (stack, _turn) = stage.crash().await?;
            crash::replayed(stack).await
        }
        "plane_killed" => {
            let (stack, _turn) = stage.crash().await?;
            crash::killed(stack).await
        }
        "sender_unauthorised" => {
            let (stack, _turn) = stage.gate().await?;
            gate::unauthorised(stack).await
        }
        "roster_missing" => {
            let (stack, _turn) = stage.gate().await?;
            gate::missing(stack).await
        }
        "roster_malformed" => {
            let (stack, _turn) = stage.gate().await?;
            gate::malformed(stack).await
        }
        "roster_expired" => {
            let (stack, _turn) = stage.gate().await?;
            gate::expired(stack).await
        }
        "wrong_target" => {
            let main = stage.main().await?;
            let (stack, _turn) = stage.gate().await?;
            gate::wrong_target(stack, main).await
        }
        "ack_wrong_key" => runtime::ack_wrong_key(stage.main().await?).await,
        "runtime_unavailable" => runtime::unavailable(stage.main().await?).await,
        "runtime_unknown" => runtime::unknown(stage.main().await?).await,
        "output_truncated" => station::truncated(stage.main().await?).await,
        "backlog" => station::backlog(stage.main().await?).await,
        "runaway_echo" => station::runaway(stage.main().await?).await,
        "audit_fails_at_trip" => station::audit_fails(stage.main().await?).await,
        "chain_verifies" => closing::chain_verifies(stage).await,
        "word_never_said" => closing::word_never_said(stage).await,
        other => Err(format!("nobody knows how to play {other}")),
    }
}
