//! A plane without a store, for the one who measures what the store costs: requests come this far and are answered at
//! once, in batches like those of the store thread. Nothing that it says is true, and no command starts one.

use std::path::PathBuf;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, RwLock};

use awakener_kernel::registry::Registry;
use awakener_kernel::time::Wall;

use super::thread::{BATCH, QUEUE};
use super::{Arrivals, Grown, Op, Plane, Refused, Reply, View, Waiting};
use crate::clock::Clock;

/// A handle whose operations `answer` answers; ends with its last handle.
pub fn plane(
    registry: Arc<Registry>,
    mut answer: impl FnMut(Op) -> Result<Reply, Refused> + Send + 'static,
) -> Plane {
    let (ops, asked) = sync_channel::<(Op, Waiting)>(QUEUE);
    std::thread::spawn(move || {
        while let Ok(first) = asked.recv() {
            let calls: Vec<_> = std::iter::once(first).chain(asked.try_iter().take(BATCH - 1)).collect();
            for (op, waiting) in calls {
                // Whoever asked may have gone away.
                let _ = waiting.send(answer(op));
            }
        }
    });
    Plane {
        ops,
        arrivals: Arrivals::default(),
        view: Arc::new(RwLock::new(View { registry: Some(registry) })),
        path: Arc::new(PathBuf::new()),
        clock: Arc::new(Clock::starting_at(Wall(0))),
        broker: Arc::default(),
        grown: Grown::default(),
    }
}
