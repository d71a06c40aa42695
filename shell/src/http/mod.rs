//! The plane over HTTP: bounds, authenticates, parses, asks the plane, answers. It decides nothing (ADM-1).

pub mod problem;
pub mod wire;
