//! The message plane's own rules: admission, routing, registry, operator gate, receipts, audit chain, pages.

mod admission;
mod gate;
mod matrix;
mod plane;
mod registry;
mod rig;
mod router;
