//! The scope `tiny`: every law in every reachable state, and planted faults that the laws must find.

mod command;
mod shipped;
mod tiny;
