//! What there is to say of a trace, without the types of its world: every form of a counterexample is made of this.
//!
//! Rules: none of its own.

use serde::Serialize;
use serde_json::Value;

use super::diff::{Change, changes};
use super::follow::{self, Fall, Followed, Led, Stuck, value};
use super::{SCHEMA, Trace, print, words};
use crate::world::{Label, Scope, World, fingerprint};

/// A trace that was followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Told {
    /// The trace as far as it could be followed, with the fingerprint that it has now.
    pub trace: Trace,
    /// The world's type, as a path.
    #[serde(skip)]
    pub world_type: &'static str,
    /// What fell before anything was done.
    pub falls: Vec<Fallen>,
    /// What was done.
    pub steps: Vec<Told1>,
    /// Where the law of the trace, or without one any law, first did not hold: after that many steps.
    pub fell: Option<usize>,
    /// Why it was not followed to its end: the step, from one, and what is to say.
    pub stuck: Option<(usize, String)>,
    /// Whether the trace as written ends in the same state; nothing if it does not say.
    pub same_end: Option<bool>,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Told1 {
    /// Its number, from one.
    pub number: usize,
    /// What was done, in a few words.
    pub action: String,
    /// Who did it.
    pub from: &'static str,
    /// To whom.
    pub to: &'static str,
    /// What was said of it.
    pub label: Label,
    /// What became of it where it led nowhere.
    pub stayed: Option<&'static str>,
    /// What changed.
    pub changes: Vec<Change>,
    /// Laws that do not hold after it.
    pub falls: Vec<Fallen>,
}

/// A law that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fallen {
    /// Its whole name.
    pub law: &'static str,
    /// What can be tried there and breaks it, in words; empty if the state itself does.
    pub because: Vec<String>,
}

/// A label in a few words: `advanced committed, effects ask dispatch`.
pub fn said(label: &Label) -> String {
    let mut text = serde_variant::to_variant_name(&label.verdict).unwrap_or_default().to_owned();
    if !label.what.is_empty() {
        text += &format!(" {}", label.what);
    }
    if !label.effects.is_empty() {
        text += &format!(", effects {}", label.effects.join(" "));
    }
    text
}

impl Told {
    /// What a command that only runs it ends with: 1 the law falls, 2 a step is not possible, 0 neither.
    pub const fn exit(&self) -> u8 {
        match (self.fell.is_some(), self.stuck.is_some()) {
            (true, _) => 1,
            (false, true) => 2,
            (false, false) => 0,
        }
    }

    /// Follows a trace through a scope of its world. `law` is the place of the trace's law.
    pub fn of<W: World>(scope: &Scope<W>, trace: &Trace, law: Option<usize>) -> Self {
        let (read, unread) = match follow::actions::<W>(&trace.actions) {
            Ok(actions) => (actions, None),
            Err((at, stuck)) => {
                let before = trace.actions.get(..at).unwrap_or_default();
                (follow::actions::<W>(before).unwrap_or_default(), Some((at, stuck)))
            }
        };
        match follow::follow(&scope.world, &read) {
            Ok(mut followed) => {
                followed.stuck = followed.stuck.take().or(unread);
                Self::followed(trace, law, &followed)
            }
            Err(stuck) => Self {
                trace: trace.clone(),
                world_type: std::any::type_name::<W>(),
                falls: Vec::new(),
                steps: Vec::new(),
                fell: None,
                stuck: Some((0, why(&stuck))),
                same_end: None,
            },
        }
    }

    /// Tells of a way that was found.
    pub fn way<W: World>(scope: &Scope<W>, law: usize, way: &[W::Action]) -> Self {
        let trace = Trace {
            schema: SCHEMA.into(),
            world: W::NAME.into(),
            scope: scope.name.into(),
            law: W::LAWS.get(law).map(|law| law.name.to_owned()),
            actions: way.iter().map(value::<W>).collect(),
            last: None,
        };
        Self::of(scope, &trace, Some(law))
    }

    fn followed<W: World>(trace: &Trace, law: Option<usize>, followed: &Followed<W>) -> Self {
        let mut before = &followed.init;
        let mut steps = Vec::new();
        for (at, step) in followed.steps.iter().enumerate() {
            let (from, to) = W::parties(&step.action);
            let stayed = match step.led {
                Led::On if *before == step.after => Some("nothing changed"),
                Led::On => None,
                Led::Nowhere => Some("nothing changed"),
                Led::LeftTrace => Some("something changed that the state does not show"),
            };
            steps.push(Told1 {
                number: at + 1,
                action: words(&value::<W>(&step.action)),
                from,
                to,
                label: step.label.clone(),
                stayed,
                changes: changes(before, &step.after),
                falls: fallen::<W>(&step.falls),
            });
            before = &step.after;
        }
        let last = print(fingerprint(followed.last()));
        let fell = match law {
            Some(law) => followed.falls_at(law),
            None => (0..W::LAWS.len()).filter_map(|law| followed.falls_at(law)).min(),
        };
        let whole = followed.stuck.is_none();
        let same_end = trace.last.as_ref().filter(|_| whole).map(|written| *written == last);
        Self {
            trace: Trace { last: Some(last), ..trace.clone() },
            world_type: std::any::type_name::<W>(),
            falls: fallen::<W>(&followed.falls),
            steps,
            fell,
            stuck: followed.stuck.as_ref().map(|(at, stuck)| (at + 1, why(stuck))),
            same_end,
        }
    }
}

fn fallen<W: World>(falls: &[Fall]) -> Vec<Fallen> {
    let because = |(action, label): &(Value, Label)| format!("{}: {}", words(action), said(label));
    let fallen = |fall: &Fall| Fallen {
        law: W::LAWS[fall.law].name,
        because: fall.because.iter().map(because).collect(),
    };
    falls.iter().map(fallen).collect()
}

fn why(stuck: &Stuck) -> String {
    match stuck {
        Stuck::NoAction(error) => format!("the world has no such action ({error})"),
        Stuck::NotHere { instead } => {
            let mut can: Vec<String> = instead.iter().map(words).collect();
            let more = can.len().saturating_sub(12);
            can.truncate(12);
            let more = if more == 0 { String::new() } else { format!(", and {more} more") };
            format!("it cannot be tried here; what can: {}{more}", can.join(", "))
        }
        Stuck::Beyond => "it would go beyond what the scope allows its adversary".into(),
        Stuck::NoBeginning => "the world begins nowhere".into(),
    }
}
