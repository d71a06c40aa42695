//! Instants and durations as plain integers of milliseconds, and the one textual form of a time (SIG-4).
//!
//! Not a clock: whoever calls the kernel reads clocks and hands over [`Now`]. All arithmetic saturates, so that no
//! time from outside can overflow a rule. Rules: SIG-4 (text), laws of a step (wall for expiry, mono for waiting).

use alloc::format;
use alloc::string::String;
use core::ops::{Add, Sub};

use serde::{Deserialize, Serialize};

use crate::ids::{Form, FormError};

/// A wall-clock instant: milliseconds since 1970-01-01T00:00:00Z. Serialised as that integer; signed documents use
/// the text of [`Wall::utc`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Wall(pub u64);

/// A monotonic instant: milliseconds since some moment that only this boot knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Mono(pub u64);

/// A length of time in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millis(pub u64);

/// Both clocks, read together by the caller of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Now {
    /// For expiry, rosters, keys, ACK times and fuse windows.
    pub wall: Wall,
    /// For cooldowns, leases and flights.
    pub mono: Mono,
}

const SECOND: u64 = 1_000;
const DAY: u64 = 86_400;

impl Millis {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// `n` seconds.
    pub const fn seconds(n: u64) -> Self {
        Self(n.saturating_mul(SECOND))
    }
}

impl Add for Millis {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

macro_rules! instant {
    ($name:ident) => {
        impl Add<Millis> for $name {
            type Output = Self;
            fn add(self, by: Millis) -> Self {
                Self(self.0.saturating_add(by.0))
            }
        }

        impl Sub<Millis> for $name {
            type Output = Self;
            fn sub(self, by: Millis) -> Self {
                Self(self.0.saturating_sub(by.0))
            }
        }

        impl $name {
            /// How long after `earlier` this is; zero if it is not after it.
            pub const fn saturating_since(self, earlier: Self) -> Millis {
                Millis(self.0.saturating_sub(earlier.0))
            }
        }
    };
}
instant!(Wall);
instant!(Mono);

impl Wall {
    /// The last instant that has a text: 9999-12-31T23:59:59.999Z.
    pub const LAST: Self = Self(253_402_300_799_999);

    /// The text `YYYY-MM-DDTHH:MM:SSZ`, with `.mmm` before the `Z` when the milliseconds are not zero. Instants
    /// after [`Wall::LAST`] are written as that one.
    pub fn utc(self) -> String {
        let ms = self.0.min(Self::LAST.0);
        let (seconds, ms) = (ms / SECOND, ms % SECOND);
        let (days, of_day) = (seconds / DAY, seconds % DAY);
        let (year, month, day) = civil(days);
        let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
        let fraction = if ms == 0 { String::new() } else { format!(".{ms:03}") };
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
    }

    /// Reads exactly `YYYY-MM-DDTHH:MM:SS[.mmm]Z` (SIG-4): a real date from 1970 on, upper-case letters, no
    /// offset, no leap second.
    ///
    /// # Errors
    /// [`Form::Time`] for everything else.
    pub fn parse_utc(text: &str) -> Result<Self, FormError> {
        read_utc(text.as_bytes()).map(Self).ok_or(FormError(Form::Time))
    }
}

fn read_utc(text: &[u8]) -> Option<u64> {
    let (seconds, ms) = match text.split_at_checked(19)? {
        (seconds, b"Z") => (seconds, 0),
        (seconds, [b'.', fraction @ .., b'Z']) if fraction.len() == 3 => (seconds, number(fraction)?),
        (_, _) => return None,
    };
    let [y1, y2, y3, y4, b'-', o1, o2, b'-', d1, d2, b'T', h1, h2, b':', m1, m2, b':', s1, s2] = *seconds
    else {
        return None;
    };
    let (year, month, day) = (number(&[y1, y2, y3, y4])?, number(&[o1, o2])?, number(&[d1, d2])?);
    let (hour, minute, second) = (number(&[h1, h2])?, number(&[m1, m2])?, number(&[s1, s2])?);
    if year < 1970 || !(1..=12).contains(&month) || day < 1 || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let days = days(year, month, day);
    // A date that the calendar does not have (30 February) comes back as another one.
    if civil(days) != (year, month, day) {
        return None;
    }
    Some((days * DAY + hour * 3_600 + minute * 60 + second) * SECOND + ms)
}

/// A run of ASCII digits as a number; at most four of them here.
fn number(digits: &[u8]) -> Option<u64> {
    digits
        .iter()
        .try_fold(0, |sum: u64, digit| digit.is_ascii_digit().then(|| sum * 10 + u64::from(digit - b'0')))
}

/// Days from 1970-01-01 to a date. Years are counted from 1 March, so that the leap day comes last; 719,468 days lie
/// between 0000-03-01 and 1970-01-01.
fn days(year: u64, month: u64, day: u64) -> u64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month = (month + 9) % 12;
    year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 719_469
}

/// The inverse of [`days`]: (year, month, day).
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (day_of_year * 5 + 2) / 153;
    let day = day_of_year - (shifted * 153 + 2) / 5 + 1;
    let month = (shifted + 2) % 12 + 1;
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}
