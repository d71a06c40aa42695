//! The clocks of a process, read together.
//!
//! Wall time never runs backwards within a store: it has a floor, the last instant that the store has seen, and the
//! floor rises with every reading. What the machine's clock really showed is reported beside it, because a step back
//! is something to be judged (EMT-6); here nothing is judged. Rules: EMT-6, laws of a step (time is an argument).

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use awakener_kernel::time::{Millis, Mono, Now, Wall};

/// One reading of both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// What a step gets: `wall` is never less than in any reading before.
    pub now: Now,
    /// What the machine's wall clock showed.
    pub observed: Wall,
}

impl Reading {
    /// How far the machine's clock lies behind what the store has seen; zero as long as it never stepped back.
    pub const fn behind(&self) -> Millis {
        self.now.wall.saturating_since(self.observed)
    }
}

/// What a look at the wall clock shows that its store has to have on record (EMT-6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It went back by more than the skew; the store's time stands still.
    SteppedBack,
    /// It is again where the store is.
    CaughtUp,
}

/// Looks at a clock whose steps nobody else judges: that of a wake daemon or a station.
#[derive(Debug, Default)]
pub struct Watch {
    behind: bool,
}

impl Watch {
    /// What has changed since the last look.
    pub fn look(&mut self, reading: &Reading, skew: Millis) -> Option<Turn> {
        let behind = reading.behind() > skew;
        let turn = match (self.behind, behind) {
            (false, true) => Some(Turn::SteppedBack),
            (true, false) => Some(Turn::CaughtUp),
            (true, true) | (false, false) => None,
        };
        self.behind = behind;
        turn
    }
}

/// The wall clock and the monotonic clock of this process; shared between threads by reference.
pub struct Clock {
    start: Instant,
    floor: AtomicU64,
    wall: Box<dyn Fn() -> Wall + Send + Sync>,
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clock").field("floor", &self.floor).finish_non_exhaustive()
    }
}

impl Clock {
    /// A clock for a store whose last known instant is `last`; [`Wall`] zero for a new one. Monotonic time counts
    /// from this call.
    pub fn starting_at(last: Wall) -> Self {
        Self::reading(last, system)
    }

    /// A clock whose wall time comes from elsewhere: for trials that step clocks.
    pub fn reading(last: Wall, wall: impl Fn() -> Wall + Send + Sync + 'static) -> Self {
        Self { start: Instant::now(), floor: AtomicU64::new(last.0), wall: Box::new(wall) }
    }

    /// Reads both clocks.
    pub fn read(&self) -> Reading {
        let observed = (self.wall)();
        let before = self.floor.fetch_max(observed.0, Ordering::SeqCst);
        let mono = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        Reading { now: Now { wall: Wall(observed.0.max(before)), mono: Mono(mono) }, observed }
    }

    /// Lets wall time go on from `to`, although it is earlier: an operator has accepted it (EMT-6).
    pub fn accept(&self, to: Wall) {
        self.floor.store(to.0, Ordering::SeqCst);
    }

    /// Goes back to what the machine's clock shows, if that lies behind by more than the skew and the plane's time agrees
    /// with it. The plane's time goes back when an operator has accepted that and never else, so that whoever asks the
    /// plane before anything starts may follow it. Returns the accepted time.
    pub fn agree(&self, plane: Wall, skew: Millis) -> Option<Wall> {
        let reading = self.read();
        // Each of the two may be off by the skew.
        let agrees = plane.0.abs_diff(reading.observed.0) <= skew.0.saturating_mul(2);
        let accepted = (reading.behind() > skew && agrees).then_some(reading.observed)?;
        awakener_spec::rule!(Emt6);
        self.accept(accepted);
        Some(accepted)
    }

    /// Both clocks as a step takes them.
    pub fn now(&self) -> Now {
        self.read().now
    }

    /// Wall time, never running backwards.
    pub fn wall(&self) -> Wall {
        self.now().wall
    }

    /// Milliseconds since this clock was made.
    pub fn mono(&self) -> Mono {
        self.now().mono
    }
}

/// What the machine's wall clock shows; 0 for a clock before 1970.
pub fn system() -> Wall {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Wall(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn emt_6_wall_time_never_runs_backwards_and_the_step_is_reported() {
        let source = Arc::new(AtomicU64::new(1_000));
        let shown = Arc::clone(&source);
        let clock = Clock::reading(Wall(400), move || Wall(shown.load(Ordering::SeqCst)));
        let first = clock.read();
        assert_eq!((first.now.wall, first.behind()), (Wall(1_000), Millis::ZERO));
        source.store(700, Ordering::SeqCst);
        let back = clock.read();
        assert_eq!((back.now.wall, back.observed, back.behind()), (Wall(1_000), Wall(700), Millis(300)));
        source.store(1_001, Ordering::SeqCst);
        assert_eq!(clock.read().behind(), Millis::ZERO);
        assert_eq!(clock.wall(), Wall(1_001));
    }

    #[test]
    fn emt_6_a_step_back_is_reported_once_and_so_is_its_end() {
        let source = Arc::new(AtomicU64::new(10_000));
        let shown = Arc::clone(&source);
        let clock = Clock::reading(Wall(0), move || Wall(shown.load(Ordering::SeqCst)));
        let (mut watch, skew) = (Watch::default(), Millis(2_000));
        let mut at = |shown: u64| {
            source.store(shown, Ordering::SeqCst);
            watch.look(&clock.read(), skew)
        };
        // Within the skew nothing is to be said.
        assert_eq!([10_000, 8_000].map(&mut at), [None, None]);
        assert_eq!([7_999, 5_000, 8_000].map(&mut at), [Some(Turn::SteppedBack), None, Some(Turn::CaughtUp)]);
    }

    #[test]
    fn emt_6_a_clock_goes_back_when_the_plane_agrees_with_it_and_never_else() {
        let (source, skew) = (Arc::new(AtomicU64::new(90_000)), Millis(2_000));
        let shown = Arc::clone(&source);
        let clock = Clock::reading(Wall(0), move || Wall(shown.load(Ordering::SeqCst)));
        assert_eq!(clock.wall(), Wall(90_000));
        // Never forward, and not within the skew.
        assert_eq!((clock.agree(Wall(90_000), skew), clock.agree(Wall(99_000), skew)), (None, None));
        source.store(88_000, Ordering::SeqCst);
        assert_eq!((clock.agree(Wall(88_000), skew), clock.wall()), (None, Wall(90_000)));
        source.store(50_000, Ordering::SeqCst);
        for plane in [90_000, 54_001, 45_999] {
            assert_eq!((clock.agree(Wall(plane), skew), clock.wall()), (None, Wall(90_000)));
        }
        assert_eq!((clock.agree(Wall(54_000), skew), clock.wall()), (Some(Wall(50_000)), Wall(50_000)));
    }

    #[test]
    fn emt_6_a_store_from_the_future_is_the_floor() {
        let clock = Clock::starting_at(Wall(u64::MAX - 1));
        assert_eq!(clock.wall(), Wall(u64::MAX - 1));
        assert!(clock.read().behind() > Millis::ZERO);
        assert!(Clock::starting_at(Wall(0)).wall() > Wall(1_700_000_000_000));
    }
}
