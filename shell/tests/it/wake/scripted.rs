//! A stand-in for the message plane: it answers as the test says, and remembers what it was told.
//!
//! It has the shape of the port and none of the plane's rules.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use awakener::broker::Later;
use awakener::wake::{NoAnswer, PlanePort, Reported, Ring, Shown};
use awakener_kernel::ids::{Fence, MessageId, Nonce, Target, Token, WakeId};
use awakener_kernel::time::{Millis, Wall};
use awakener_kernel::values::{Answer, FlightReport, Permit, Question};
use awakener_kernel::wire::{self, KeyWindow, RouterKey, SigningKey};
use awakener_spec::Class;

#[derive(Debug)]
struct Inner {
    up: bool,
    deaf: bool,
    withhold: Option<Class>,
    fence: u64,
    asked: Vec<Question>,
    reports: Vec<FlightReport>,
    owed: Vec<Vec<u8>>,
    sweeps: u32,
    ring: Ring,
}

/// The stand-in and the router whose hints it stands for.
#[derive(Clone, Debug)]
pub struct Scripted {
    inner: Arc<Mutex<Inner>>,
    pub router: SigningKey,
}

impl Default for Scripted {
    fn default() -> Self {
        let router = SigningKey::from_bytes(&[7; 32]);
        let ring = Ring { version: 1, keys: vec![key_of(&router)] };
        Self {
            inner: Arc::new(Mutex::new(Inner {
                up: true,
                deaf: false,
                withhold: None,
                fence: 0,
                asked: Vec::new(),
                reports: Vec::new(),
                owed: Vec::new(),
                sweeps: 0,
                ring,
            })),
            router,
        }
    }
}

fn key_of(router: &SigningKey) -> RouterKey {
    let window = KeyWindow { valid_from: Wall(0), valid_until: Wall::LAST };
    RouterKey { public: wire::public_key(router), window }
}

impl Scripted {
    pub fn up(&self, up: bool) {
        self.inner.lock().unwrap().up = up;
    }

    /// Another router from now on: the old key is withdrawn.
    pub fn rekey(&self) {
        let mut inner = self.inner.lock().unwrap();
        inner.ring.version += 1;
        inner.ring.keys = vec![key_of(&SigningKey::from_bytes(&[8; 32]))];
    }

    /// Answers questions and does not take reports.
    pub fn deaf(&self, deaf: bool) {
        self.inner.lock().unwrap().deaf = deaf;
    }

    pub fn withhold(&self, class: Option<Class>) {
        self.inner.lock().unwrap().withhold = class;
    }

    /// The next sweep finds this.
    pub fn owe(&self, hint: Vec<u8>) {
        self.inner.lock().unwrap().owed.push(hint);
    }

    pub fn asked(&self) -> Vec<Question> {
        self.inner.lock().unwrap().asked.clone()
    }

    pub fn reports(&self) -> Vec<FlightReport> {
        self.inner.lock().unwrap().reports.clone()
    }

    pub fn sweeps(&self) -> u32 {
        self.inner.lock().unwrap().sweeps
    }

    /// A hint of the router for `builder`; `number` makes id, nonce, alert and token.
    pub fn hint(&self, number: u32) -> wire::Hint {
        let now = awakener::clock::system();
        let mut nonce = [0; 16];
        nonce[..4].copy_from_slice(&number.to_be_bytes());
        wire::Hint {
            id: WakeId::from_parts(now.0, [nonce[3]; 10]),
            message_id: MessageId::from_parts(now.0, [nonce[3]; 10]),
            target: Target::parse("builder").unwrap(),
            nonce: Nonce(nonce),
            freshness_token: Token::new(1, number).unwrap(),
            time: now,
            expires_at: now + Millis::seconds(30),
            router_key_id: key_of(&self.router).key_id(),
        }
    }

    /// Its bytes.
    pub fn bytes(&self, number: u32) -> Vec<u8> {
        sign(self.hint(number), &self.router)
    }

    fn reached(&self) -> Result<std::sync::MutexGuard<'_, Inner>, NoAnswer> {
        let inner = self.inner.lock().unwrap();
        if inner.up { Ok(inner) } else { Err(NoAnswer("down".to_owned())) }
    }
}

pub fn sign(hint: wire::Hint, key: &SigningKey) -> Vec<u8> {
    wire::UnsignedHint::new(hint).unwrap().sign(key)
}

fn done<'a, T: Send + 'a>(result: T) -> Later<'a, T> {
    Box::pin(std::future::ready(result))
}

impl PlanePort for Scripted {
    fn permit<'a>(&'a self, _: &'a Target, question: Question) -> Later<'a, Result<Answer, NoAnswer>> {
        done(self.reached().map(|mut inner| {
            inner.asked.push(question);
            match inner.withhold {
                Some(class) => Answer::Withheld(class),
                None => {
                    inner.fence += 1;
                    let life = Millis(u64::try_from(Duration::from_secs(5).as_millis()).unwrap());
                    Answer::Granted(Permit { fence: Fence(inner.fence), life })
                }
            }
        }))
    }

    fn report<'a>(
        &'a self,
        _: &'a Target,
        _: Fence,
        _: WakeId,
        report: FlightReport,
    ) -> Later<'a, Result<Reported, NoAnswer>> {
        done(self.reached().and_then(|mut inner| {
            if inner.deaf {
                return Err(NoAnswer("deaf".to_owned()));
            }
            inner.reports.push(report);
            Ok(Reported::Noted)
        }))
    }

    fn sweep<'a>(&'a self, _: &'a Target, _: u64) -> Later<'a, Result<Vec<Vec<u8>>, NoAnswer>> {
        done(self.reached().map(|mut inner| {
            inner.sweeps += 1;
            std::mem::take(&mut inner.owed)
        }))
    }

    fn router_keys(&self) -> Later<'_, Result<Shown, NoAnswer>> {
        let now = awakener::clock::system();
        done(self.reached().map(|inner| Shown { ring: inner.ring.clone(), now }))
    }
}
