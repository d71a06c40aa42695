//! tmp
use awakener_model_check::*;
use std::time::Instant;
fn main() {
    let only = std::env::args().nth(1);
    for scope in mailbox::scope::TINY {
        if only.as_deref().is_some_and(|o| o != scope.name) {
            continue;
        }
        let t = Instant::now();
        let found = explore::search(mailbox::World::new(scope));
        println!(
            "{} {} gen {} depth {} {:?}",
            scope.name,
            found.states,
            found.generated,
            found.depth,
            t.elapsed()
        );
        for b in &found.broken {
            println!("  BROKEN {b}");
            let law = mailbox::laws::LAWS.iter().find(|l| l.name == *b).unwrap();
            let w = mailbox::World::new(scope);
            for a in explore::shortest(&w, law.holds).unwrap_or_default() {
                println!("     {a:?}");
            }
        }
        for l in mailbox::laws::LAWS {
            if !found.reached.contains(l.twin) {
                println!("  not reached: {}", l.twin)
            }
        }
    }
}
