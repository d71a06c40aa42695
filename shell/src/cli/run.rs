//! Where the commands that keep running begin: each is one call into the part that does the work.
//!
//! Not here: anything of that work.

use awakener_kernel::ids::Target;

use super::context::Context;
use super::out::Answer;
use crate::exit::{Exit, Failure};

/// `up`: the message plane.
pub fn up(context: &Context) -> Result<Answer, Failure> {
    context.config()?;
    Err(not_built("up"))
}

/// `wake`: a wake daemon alone.
pub fn wake(context: &Context) -> Result<Answer, Failure> {
    context.config()?;
    Err(not_built("wake"))
}

/// `station`: the hosted station of a target.
pub fn station(context: &Context, _target: &Target) -> Result<Answer, Failure> {
    context.config()?;
    Err(not_built("station"))
}

/// `demo`, also what runs without any command.
pub fn demo(_context: &Context) -> Result<Answer, Failure> {
    Err(not_built("demo"))
}

fn not_built(command: &str) -> Failure {
    Failure::new(Exit::Failed, format!("`{command}` is not built yet."))
        .then("See `awakener --help` for what is.")
}
