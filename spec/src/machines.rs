//! The tables of the machines, as they are written.
//!
//! Not here: reading them; the tests of the kernel walk every machine along its table. No rules of its own.

/// Each machine's name and its table, in the words of its TOML file.
pub const MACHINES: &[(&str, &str)] = &[
    ("mailbox", include_str!("../machines/mailbox.toml")),
    ("waker", include_str!("../machines/waker.toml")),
    ("station", include_str!("../machines/station.toml")),
    ("registry", include_str!("../machines/registry.toml")),
];
