//! Threads that stay for a whole search and work when they are called, so that what worlds remember per thread is not
//! forgotten from level to level. Not here: what they do.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Some threads, and one that leads them.
#[derive(Debug, Default)]
pub(super) struct Crew {
    turn: Mutex<Turn>,
    bell: Condvar,
}

#[derive(Debug, Default)]
struct Turn {
    /// How many more of them shall begin.
    called: usize,
    /// How many are called or at work.
    busy: usize,
    over: bool,
}

impl Crew {
    fn turn(&self) -> MutexGuard<'_, Turn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, turn: MutexGuard<'a, Turn>) -> MutexGuard<'a, Turn> {
        self.bell.wait(turn).unwrap_or_else(PoisonError::into_inner)
    }

    /// Works whenever it is called, until there is no leader any more.
    pub(super) fn serve(&self, mut work: impl FnMut()) {
        loop {
            let mut turn = self.turn();
            while turn.called == 0 {
                if turn.over {
                    return;
                }
                turn = self.wait(turn);
            }
            turn.called -= 1;
            drop(turn);
            let _done = Done(self);
            work();
        }
    }

    /// The one who calls; when it goes, also by a panic, everybody may.
    pub(super) const fn lead(&self) -> Leader<'_> {
        Leader(self)
    }
}

/// Says that somebody's work is done, even if it ended in a panic.
struct Done<'a>(&'a Crew);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.turn().busy -= 1;
        self.0.bell.notify_all();
    }
}

/// The one who calls.
#[derive(Debug)]
pub(super) struct Leader<'a>(&'a Crew);

impl Leader<'_> {
    /// Calls `others`, works as well, and waits for them. At least one must serve; one that is quick may answer the call
    /// of another, too.
    pub(super) fn work(&self, others: usize, work: impl FnOnce()) {
        if others > 0 {
            let mut turn = self.0.turn();
            (turn.called, turn.busy) = (others, others);
            self.0.bell.notify_all();
        }
        work();
        let mut turn = self.0.turn();
        while turn.busy > 0 {
            turn = self.0.wait(turn);
        }
    }
}

impl Drop for Leader<'_> {
    fn drop(&mut self) {
        self.0.turn().over = true;
        self.0.bell.notify_all();
    }
}
