//! Small worlds whose graphs are known by arithmetic.

use serde::{Deserialize, Serialize};

use crate::world::{Edge, Gap, Label, Law, Next, STUTTER, Scope, Verdict, World, refuses, stutters};

/// Counters from 0 to `side`, each raised alone; with `ring`, also all of them reset. A state that lies on `broken` breaks a law.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    pub(crate) side: u32,
    pub(crate) ring: bool,
    pub(crate) broken: Option<(u32, u32)>,
    /// A shortcut from the beginning, tried last.
    pub(crate) shortcut: Option<(u32, u32)>,
    /// How often the beginning is named; it is one state all the same.
    pub(crate) starts: usize,
}

impl Grid {
    pub(crate) const fn of(side: u32) -> Self {
        Self { side, ring: false, broken: None, shortcut: None, starts: 1 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Axis {
    X,
    Y,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Act {
    Raise(Axis),
    Reset,
    Jump,
    Probe { at: u32 },
}

fn on(world: &Grid, state: (u32, u32)) -> bool {
    world.broken == Some(state)
}

impl World for Grid {
    type State = (u32, u32);
    type Action = Act;

    const NAME: &'static str = "grid";
    const LAWS: &'static [Law<Self>] = &[
        Law { name: STUTTER, holds: stutters, twin: "refused", reached: refuses },
        Law {
            name: "TOY-1 nobody is there",
            holds: |world, state, _| !on(world, *state),
            twin: "the corner",
            reached: |world, state, _| *state == (world.side, world.side),
        },
        Law {
            name: "TOY-2 always",
            holds: |_, _, _| true,
            twin: "never",
            reached: |world, state, _| state.0 > world.side,
        },
    ];
    const ABSTRACTIONS: &'static [&'static str] = &[];
    const GAPS: &'static [Gap] = &[];

    fn scopes() -> Vec<Scope<Self>> {
        Vec::new()
    }

    fn init(&self) -> Vec<(u32, u32)> {
        vec![(0, 0); self.starts]
    }

    fn steps(&self, state: &(u32, u32), edges: &mut Vec<Edge<Self>>) {
        assert!(edges.is_empty(), "as promised");
        let (x, y) = *state;
        for (axis, next) in [(Axis::X, (x + 1, y)), (Axis::Y, (x, y + 1))] {
            let there = next.0 <= self.side && next.1 <= self.side;
            let (verdict, next) =
                if there { (Verdict::Advanced, Next::To(next)) } else { (Verdict::Refused, Next::Stays) };
            let label =
                Label { verdict, what: "raise", effects: if there { vec!["raised"] } else { vec![] } };
            edges.push(Edge { action: Act::Raise(axis), label, next });
        }
        if self.ring {
            edges.push(Edge { action: Act::Reset, label: Label::OUTSIDE, next: Next::To((0, 0)) });
        }
        let at = x % 3;
        let label = Label::of(Verdict::Absorbed, "");
        edges.push(Edge { action: Act::Probe { at }, label, next: Next::Stays });
        if let (Some(to), (0, 0)) = (self.shortcut, (x, y)) {
            edges.push(Edge { action: Act::Jump, label: Label::OUTSIDE, next: Next::To(to) });
        }
        edges.push(Edge { action: Act::Jump, label: Label::OUTSIDE, next: Next::Beyond });
    }

    fn parties(_: &Act) -> (&'static str, &'static str) {
        ("a", "b")
    }
}
