//! Every identity and every short value with one textual form (IDN-1 to IDN-4, SIG-4, EMT-2).
//!
//! Parsed once, at the edge; what has one of these types is well-formed. No type here turns into another (IDN-1):
//!
//! ```compile_fail,E0308
//! use awakener_kernel::ids::{Principal, Target};
//! fn inbox_of(_: &Target) {}
//! inbox_of(&Principal::parse("mira").unwrap());
//! ```
//!
//! The same with the right type compiles:
//!
//! ```
//! use awakener_kernel::ids::Target;
//! fn inbox_of(_: &Target) {}
//! inbox_of(&Target::parse("mira").unwrap());
//! ```
//!
//! ```compile_fail,E0277
//! use awakener_kernel::ids::{Principal, Target};
//! let _: Target = Principal::parse("mira").unwrap().into();
//! ```

mod bytes;
mod form;
mod names;
mod numbers;
mod uuids;

pub use bytes::{ContentHash, KeyId, Nonce, PublicKey, SignatureBytes};
pub use form::{Form, FormError};
pub use names::{DaemonName, Holder, NameError, OperatorName, PlaneName, Principal, Station, Target};
pub use numbers::{Fence, MAX_INTEGER, SchemaRef, Seq, Tier, Token};
pub use uuids::{CommandId, LeaseId, MessageId, ThreadId, TurnId, WakeId};
