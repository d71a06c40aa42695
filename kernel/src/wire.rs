//! What crosses a boundary with a signature or a hash: hints, ACKs, operator commands, checkpoints, submissions.
//!
//! Bytes in, typed values out, and back. Pure: keys and time are arguments. Nothing here knows what an inbox holds;
//! whether a well-formed and well-signed thing is *allowed* is decided by the machines. Reading order: `domain`,
//! `verify`, `hint`, `screen`, then `signed` with the three documents that it carries, then `submission`.
//! Rules: SIG, IDN-5, VER-1 (the stateless classes), ACK-3, OPR-1, AUD-3, ADM-7, ADM-11.

pub mod ack;
pub mod checkpoint;
pub mod command;
pub mod domain;
pub mod hint;
mod malformed;
mod members;
pub mod screen;
pub mod signed;
pub mod submission;
pub mod verify;

pub use crate::ids::{PublicKey, SignatureBytes};
pub use ack::AckStatement;
pub use checkpoint::Checkpoint;
pub use command::OperatorCommand;
pub use domain::{Domain, SigningBytes};
pub use hint::{Hint, ParsedHint, UnsignedHint};
pub use malformed::Malformed;
pub use screen::{Claim, Class, KeyWindow, Keyring, Presented, RouterKey, present, screen};
pub use signed::{Document, Signed};
pub use submission::{Priority, ResponseExpectation, Submission};
pub use verify::{BadSignature, SigningKey, public_key, sign, verify};
