//! The door of a wake daemon: what hints look like there, and the kernel's own screen that judges them before any
//! machine does.
//!
//! Signatures are symbols: a claim says whether they hold. Not here: what class a hint should have
//! ([`super::laws`]). Rules: VER-1, SIG-1, EMT-1.

use awakener_kernel::ids::{Target, Token};
use awakener_kernel::time::{Millis, Wall};
use awakener_kernel::values;
use awakener_kernel::wire::{Claim, Hint, KeyWindow, Malformed, Presented, screen};
use awakener_spec::Class;

use super::act::{Shown, Theft};
use super::limits::{SKEW, TTL};
use super::{State, World};
use crate::names;

/// When a hint was minted by the plane, and how long it lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Minted {
    /// By the plane's clock.
    pub at: u8,
    /// Milliseconds.
    pub life: u8,
}

/// What is in a hint, in small numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text {
    /// Its wake.
    pub wake: u8,
    /// Its nonce.
    pub nonce: u8,
    /// Its token.
    pub token: Token,
    /// When it says that it was made.
    pub time: u8,
    /// When it ends.
    pub expires: u8,
}

/// The token of minted hint `n`; there is room between two of them.
pub fn token(n: u8) -> Token {
    Token::new(1, 10 * u32::from(n)).expect("models are small")
}

fn stolen(theft: Theft) -> (u8, u8, Token) {
    let far = || Token::new(Token::MAX_EPOCH, u32::MAX).expect("the greatest token");
    let made = |counter| Token::new(1, counter).expect("models are small");
    match theft {
        Theft::Low => (101, 101, made(5)),
        Theft::Equal => (102, 102, made(10)),
        Theft::Next => (103, 103, made(15)),
        Theft::Far => (104, 104, far()),
        Theft::Early => (105, 105, far()),
        Theft::Nonce(n) => (110 + n, n, far()),
        Theft::Again(n) => (n, 200 + n, token(n)),
    }
}

impl Shown {
    /// The minted hint that it is made of, if it is made of one.
    pub const fn origin(self) -> Option<u8> {
        match self {
            Self::Minted(n)
            | Self::Foreign(n)
            | Self::Lapsed(n)
            | Self::Borrowed(n)
            | Self::Tampered(n)
            | Self::Misaddressed(n)
            | Self::NotServed(n) => Some(n),
            Self::Garbage | Self::Stolen(_) => None,
        }
    }
}

impl State {
    /// The numbers of all hints that the plane has minted.
    pub(super) fn minted(&self) -> impl Iterator<Item = u8> + use<> {
        1..=u8::try_from(self.hints.len()).expect("models are small")
    }

    /// What such a hint says now; `None` for what is no hint.
    pub(super) fn text(&self, shown: Shown) -> Option<Text> {
        if let Some(n) = shown.origin() {
            let Minted { at, life } = self.hints[usize::from(n) - 1];
            return Some(Text { wake: n, nonce: n, token: token(n), time: at, expires: at + life });
        }
        let Shown::Stolen(theft) = shown else { return None };
        let time = if theft == Theft::Early { self.wall + SKEW + 1 } else { self.wall };
        let (wake, nonce, token) = stolen(theft);
        Some(Text { wake, nonce, token, time, expires: time + TTL })
    }

    /// Everything that can be shown here: what was minted, what needs no key to forge, and with a stolen key the rest.
    pub(super) fn shown(&self, thief: bool) -> impl Iterator<Item = Shown> + use<> {
        let forged = [
            Shown::Foreign as fn(u8) -> Shown,
            Shown::Lapsed,
            Shown::Borrowed,
            Shown::Tampered,
            Shown::Misaddressed,
            Shown::NotServed,
        ];
        let (numbers, few) =
            (self.minted(), [Theft::Low, Theft::Equal, Theft::Next, Theft::Far, Theft::Early]);
        let again = self.minted().flat_map(|n| [Theft::Nonce(n), Theft::Again(n)]);
        let thefts = few.into_iter().chain(again).filter(move |_| thief).map(Shown::Stolen);
        let forged = self.minted().flat_map(move |n| forged.map(|forge| forge(n)));
        numbers.map(Shown::Minted).chain([Shown::Garbage]).chain(forged).chain(thefts)
    }
}

impl World {
    /// Brings something before the kernel's screen.
    ///
    /// # Errors
    /// The class, if no machine is to see it.
    pub(super) fn screened(&self, state: &State, shown: Shown) -> Result<values::Hint, Class> {
        let presented = match state.text(shown) {
            Some(text) => Presented::Hint(Box::new(self.claim(shown, text))),
            None => Presented::Malformed(Malformed::Missing("nonce")),
        };
        let wall = Wall(u64::from(state.wall));
        screen(wall, Millis(u64::from(SKEW)), &presented).map(|hint| values::Hint::from(&hint))
    }

    fn claim(&self, shown: Shown, text: Text) -> Claim {
        let Text { wake, nonce, token, time, expires } = text;
        let always = KeyWindow { valid_from: Wall(0), valid_until: Wall(u64::MAX) };
        let over = KeyWindow { valid_until: Wall(1), ..always };
        let hint = Hint {
            id: names::wake(wake),
            message_id: names::message(0),
            target: self.target(shown),
            nonce: names::nonce(nonce),
            freshness_token: token,
            time: Wall(u64::from(time)),
            expires_at: Wall(u64::from(expires)),
            router_key_id: names::key(),
        };
        let good = Claim {
            hint,
            router: Some(always),
            source_agrees: true,
            signature_valid: true,
            subject_agrees: true,
            served: true,
        };
        let tampered = |claim| Claim { signature_valid: false, subject_agrees: false, ..claim };
        match shown {
            Shown::Garbage | Shown::Minted(_) | Shown::Stolen(_) => good,
            Shown::Foreign(_) => tampered(Claim { router: None, ..good }),
            Shown::Lapsed(_) => tampered(Claim { router: Some(over), ..good }),
            Shown::Borrowed(_) => tampered(Claim { source_agrees: false, ..good }),
            Shown::Tampered(_) => tampered(good),
            Shown::Misaddressed(_) => Claim { subject_agrees: false, ..good },
            Shown::NotServed(_) => Claim { served: false, ..good },
        }
    }

    fn target(&self, shown: Shown) -> Target {
        match shown {
            Shown::NotServed(_) => self.others.clone(),
            _ => self.served.clone(),
        }
    }
}
