//! Times in order, and what is said of them.

use std::time::Duration;

/// Times of one thing, in microseconds.
#[derive(Clone, Debug, Default)]
pub struct Times(Vec<f64>);

impl Times {
    pub fn add(&mut self, time: Duration) {
        self.0.push(time.as_secs_f64() * 1e6);
    }

    pub fn merge(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    pub const fn number(&self) -> usize {
        self.0.len()
    }

    /// The time within which this share of them lies; 0 of none.
    pub fn share(&self, share: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "an index between 0 and the last one"
        )]
        let at = (sorted.len().saturating_sub(1) as f64 * share).round() as usize;
        sorted.get(at).copied().unwrap_or_default()
    }

    pub fn p50(&self) -> f64 {
        self.share(0.50)
    }

    pub fn p99(&self) -> f64 {
        self.share(0.99)
    }
}

impl std::fmt::Display for Times {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "p50 {:.0} us, p99 {:.0} us ({} times)", self.p50(), self.p99(), self.number())
    }
}

/// Whether a goal is met, in a word.
pub const fn met(is: bool) -> &'static str {
    if is { "met" } else { "MISSED" }
}
