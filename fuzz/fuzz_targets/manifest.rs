//! Any bytes at the door for this document; see `judge` for what must hold.
#![no_main]

#[allow(dead_code, reason = "each target uses one of its functions")]
#[path = "../../shell/tests/it/doors/judge.rs"]
mod judge;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    judge::manifest(bytes);
});
