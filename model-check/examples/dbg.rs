use awakener_model_check::cyclic::{Cyclic, system as waker};
use awakener_model_check::world::{Next, World};
use std::collections::{HashSet, VecDeque};
fn main() {
    let name = std::env::args().nth(1).unwrap();
    let max: usize = std::env::args().nth(2).unwrap().parse().unwrap();
    let scope = waker::World::scopes().into_iter().find(|s| s.name == name).unwrap();
    let w = scope.world;
    let mut seen = HashSet::new();
    let mut q = VecDeque::new();
    for s in w.init() {
        seen.insert(s.clone());
        q.push_back((s, 0));
    }
    let mut last = -1;
    let mut e = Vec::new();
    while let Some((s, d)) = q.pop_front() {
        if d > last {
            eprintln!("depth {d} states {} queue {}", seen.len(), q.len());
            last = d;
        }
        if seen.len() > max {
            println!("{}", w.form(&s));
            for _ in 0..8 {
                let (s, _) = q.pop_back().unwrap();
                println!("{}", w.form(&s));
            }
            return;
        }
        e.clear();
        w.steps(&s, &mut e);
        for edge in e.drain(..) {
            if let Next::To(n) = edge.next {
                if seen.insert(n.clone()) {
                    q.push_back((n, d + 1));
                }
            }
        }
    }
    println!("done {}", seen.len());
}
