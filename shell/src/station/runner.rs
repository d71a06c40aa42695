//! What plays the turns of a hosted station: the port that every runner implements (STN-8).
//!
//! A runner gets the exact directive and gives back what it saw; how the turn ended is concluded from that by the kernel
//! (OBS-1). Not here: when a turn starts, and what its answer leads to.

use std::fmt::Debug;

use awakener_kernel::station::{Answer, Evidence};
use awakener_kernel::values::TurnRef;

use crate::broker::Later;

/// One turn, as a runner sees it.
#[derive(Clone, Debug)]
pub struct Task {
    /// The turn and its message.
    pub turn: TurnRef,
    /// What the sender wants, for the `fake` runner alone.
    pub intent: String,
    /// What the model is told, exactly; the turn records its SHA-256 (OBS-2).
    pub directive: String,
}

/// What a finished turn shows and says.
#[derive(Clone, Debug)]
pub struct Finished {
    /// What was seen of it.
    pub evidence: Evidence,
    /// What it has to say, with the text of the reply or the reason of the silence.
    pub answer: Option<(Answer, String)>,
    /// Whether it sends its own input on.
    pub echoes: bool,
}

/// Plays turns, one at a time.
pub trait Runner: Send + Sync + Debug {
    /// Plays one turn, in bounded time. Dropped, the turn is ended: no runtime works on for nobody.
    fn run<'a>(&'a self, task: &'a Task) -> Later<'a, Finished>;

    /// Ends what an earlier process of this station has left running. Blocks; before the first turn.
    ///
    /// # Errors
    /// What is left and cannot be ended: then no turn may start, or there would be two.
    fn recover(&self) -> Result<(), String>;

    /// Whether what it runs could read the station's ACK key (SPW-6).
    fn reaches_ack_key(&self) -> bool;
}
