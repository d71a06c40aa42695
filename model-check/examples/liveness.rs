//! Development aid: judges cyclic scopes by name.
use awakener_model_check::cyclic::faithful::Effort;
use awakener_model_check::liveness::all::{Extent, idle, superfluous, table};
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let quick = args.iter().any(|a| a == "quick");
    let mut extent = Extent { recount: !quick, ..Extent::default() };
    if quick {
        extent.effort = Effort { states: 2000, walks: 20, steps: 50 };
    }
    let mut reports = Vec::new();
    for entry in table() {
        let name = format!("{} {}", entry.world, entry.scope);
        if args.iter().filter(|a| *a != "quick").all(|a| name.contains(a.as_str())) {
            let report = entry.run(&extent);
            println!("{report}");
            if args.iter().any(|a| a == "json") {
                println!("{}", serde_json::to_string_pretty(&report).unwrap());
            }
        }
    }
    println!("superfluous: {:#?}\nidle: {:#?}", superfluous(&reports), idle(&reports));
}
