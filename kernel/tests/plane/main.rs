//! The message plane's own rules: admission, routing, registry, operator gate, receipts, audit chain, pages.

mod admission;
mod router;
