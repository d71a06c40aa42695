use awakener_model_check::engine::{Options, explore};
use awakener_model_check::station::World;
use awakener_model_check::world::{Group, World as _};
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let second = args.iter().any(|a| a == "second");
    let only = args.iter().find(|a| *a != "second");
    let mut all = vec![false; World::LAWS.len()];
    for scope in World::scopes() {
        let hit = only.is_none_or(|o| scope.name == *o || format!("{:?}", scope.group).to_lowercase() == *o);
        if !hit || (only.is_none() && scope.group == Group::Deep) {
            continue;
        }
        let found = explore(&scope.world, &Options { graph: false, ..Options::default() });
        let secs = found.took.as_secs_f64();
        print!(
            "{:?} {:24} {:9} states {:9} edges {:10} stays depth {:3} {:6.1}s {:7.0}/s",
            scope.group,
            scope.name,
            found.states,
            found.edges,
            found.stays,
            found.depth,
            secs,
            found.states as f64 / secs
        );
        if second {
            let c = awakener_model_check::second::count(scope.world.clone());
            print!(
                "  second {} {}",
                c.states,
                if c.states == found.states && c.broken == found.broken.iter().map(|b| b.law).collect() {
                    "agrees"
                } else {
                    "DISAGREES"
                }
            );
        }
        println!();
        for (i, r) in found.reached.iter().enumerate() {
            all[i] |= r;
        }
        for b in &found.broken {
            println!("  BROKEN {}", World::LAWS[b.law].name);
            for a in &b.way {
                println!("     {a:?}");
            }
        }
    }
    for (law, r) in World::LAWS.iter().zip(all) {
        if !r {
            println!("  never: {} ({})", law.twin, law.name)
        }
    }
}
