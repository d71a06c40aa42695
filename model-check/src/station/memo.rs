//! What a machine says in vain, remembered: many states differ in the outside only and hold the very same machine at
//! the very same time, and there the same input comes to the same.
//!
//! Only what neither advanced nor left a trace is remembered, and only for inputs that are the same in all states of a
//! world with that machine and time. The first time each of them is tried.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use foldhash::fast::FixedState;

use crate::world::Verdict;

/// What came of one input: `None` where it has to be tried.
pub type Known = Option<(Verdict, &'static str)>;

/// Most machines that are remembered at once.
const MOST: usize = 1 << 18;

#[derive(Default)]
struct Shelf {
    rows: HashMap<u64, Rc<[Known]>, FixedState>,
    // Few rows differ.
    different: HashSet<Rc<[Known]>, FixedState>,
}

thread_local! {
    static SHELF: RefCell<Shelf> = RefCell::default();
}

/// What is known of one machine at one time; its inputs are asked for in a fixed order.
pub struct Memo {
    key: u64,
    known: Option<Rc<[Known]>>,
    at: usize,
    fresh: Vec<Known>,
}

impl Memo {
    /// Looks a machine up.
    pub fn open(key: u64) -> Self {
        let known = SHELF.with_borrow(|shelf| shelf.rows.get(&key).cloned());
        Self { key, known, at: 0, fresh: Vec::new() }
    }

    /// What is known of the next input.
    pub fn next(&mut self) -> Known {
        let known = self.known.as_ref().and_then(|known| known.get(self.at).copied().flatten());
        self.at += 1;
        known
    }

    /// What came of it.
    pub fn learn(&mut self, known: Known) {
        if self.known.is_none() {
            self.fresh.push(known);
        }
    }

    /// Keeps what was learnt.
    pub fn close(self) {
        if self.known.is_some() {
            return;
        }
        SHELF.with_borrow_mut(|shelf| {
            if shelf.rows.len() >= MOST {
                shelf.rows.clear();
            }
            let row: Rc<[Known]> = self.fresh.into();
            let row = match shelf.different.get(&row) {
                Some(same) => Rc::clone(same),
                None => {
                    shelf.different.insert(Rc::clone(&row));
                    row
                }
            };
            shelf.rows.insert(self.key, row);
        });
    }
}
