//! tmp
use awakener_model_check::mailbox::scope::*;
use awakener_model_check::*;
fn main() {
    let l = *TINY.iter().find(|s| s.name == "lease").unwrap();
    for (n, s) in [
        ("alert only", Scope { submits: [1, 0], ..l }),
        ("alert only no renew", Scope { submits: [1, 0], renews: 0, ..l }),
        ("no renew, no crash", Scope { renews: 0, crashes: 0, ..l }),
        ("no renew, tick 1", Scope { renews: 0, ticks: 1, ..l }),
        ("no crash", Scope { crashes: 0, ..l }),
        ("mail only", Scope { submits: [0, 1], ..l }),
    ] {
        let t = std::time::Instant::now();
        let f = explore::count(&mailbox::World::new(s));
        println!("{n} {f} {:?}", t.elapsed());
    }
}
