//! `explore`: stateright's web explorer, on the loopback interface only.
//!
//! Rules: PRT-3, CON-1.

use std::net::{Ipv4Addr, TcpListener};

use awakener_model_check::worlds::Listed;

use crate::args::Explore;
use crate::failure::Failure;
use crate::{out, select};

/// Runs the command, until somebody ends it.
pub fn run(worlds: &[Box<dyn Listed>], args: &Explore) -> Result<u8, Failure> {
    let world = select::world(worlds, &args.world)?;
    // The explorer panics where the port is taken: whether it is free is seen first.
    let taken = |error: std::io::Error| {
        Failure::failed(format!("cannot listen on 127.0.0.1:{}: {error}", args.port))
            .then("Choose another one with --port, or 0 for any that is free.")
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)).map_err(taken)?;
    let port = listener.local_addr().map_err(taken)?.port();
    drop(listener);
    let known: Vec<_> = world.scopes();
    let names: Vec<&str> = known.iter().map(|scope| scope.name).collect();
    awakener_model_check::lookup::find("scope", &args.scope, &names)?;
    out::say(&format!("{}/{} at http://127.0.0.1:{port}/ (^C ends it)\n", args.world, args.scope));
    world.serve(&args.scope, port)?;
    Ok(0)
}
