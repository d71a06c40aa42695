//! The hosted station (STN-8): claims work, runs the model through a runner, records the result, then acknowledges.
mod latch;
mod rows;
mod thread;
