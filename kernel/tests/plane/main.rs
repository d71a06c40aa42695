//! The message plane's own rules: admission, routing, registry, operator gate, receipts, audit chain, pages.

mod acts;
mod admission;
mod audit;
mod gate;
mod laws;
mod matrix;
mod page;
mod plane;
mod receipt;
mod registry;
mod rig;
mod router;
mod tree;
