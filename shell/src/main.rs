//! The program: everything it does stands in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    awakener::cli::main()
}
