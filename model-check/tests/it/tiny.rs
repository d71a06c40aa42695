//! Everything holds in every state, every law had something to forbid, and nothing was left out.

use awakener_model_check::explore::{Searched, count};
use awakener_model_check::verdict::verdict;
use awakener_model_check::waker;

fn check<W: Searched + Clone>() {
    let verdict = verdict::<W>();
    println!("{verdict}");
    assert!(verdict.is_clean(), "\n{verdict}");
    // Another search with another hash sees the same graph.
    for (scope, pinned, world) in W::tiny() {
        assert_eq!(count(&world), pinned, "{scope}");
    }
}

#[test]
fn fml_1_the_waker_keeps_its_laws_in_every_state() {
    check::<waker::World>();
}
