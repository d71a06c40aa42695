//! The two outputs. Whoever reads may have gone; then there is nobody left to tell.

use std::io::{IsTerminal as _, Write as _};

/// Says a result.
pub fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}

/// Says something beside the results: one form for a terminal, one for everything else.
pub fn tell(terminal: &str, plain: &str) {
    let mut err = std::io::stderr().lock();
    let text = if err.is_terminal() { terminal } else { plain };
    let _ = err.write_all(text.as_bytes());
    let _ = err.flush();
}
