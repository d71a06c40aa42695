//! The scope `tiny`: every law in every reachable state; and the registry of controls, which makes the laws fall.

mod command;
mod controls;
mod shipped;
mod tiny;
mod tla;
