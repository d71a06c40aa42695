//! The scope `tiny`: every law in every reachable state, and planted faults that the laws must find.

mod controls;
mod faults;
mod shipped;
mod tiny;
