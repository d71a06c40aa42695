//! Many edits in one text: each function that is edited gets every form of its body, and a number chooses among them.
//!
//! A control is one number in the environment of a program that was built once. That is why some hundred controls
//! cost one build and not some hundred. What cannot be woven (an edit outside of a function's body, or two functions
//! one inside the other) is built alone. Not here: building and running. Rule: CNF-3.

use std::collections::BTreeMap;
use std::ops::Range;

use super::source::{Function, Source};

/// Names the control that a woven program follows.
pub const VARIABLE: &str = "AWAKENER_CONTROL";

/// What the woven kernel is told at its end: which control is followed.
pub const SWITCH: &str = r#"
extern crate std;

/// Which control is followed.
#[doc(hidden)]
pub mod control_switch {
    static CHOSEN: std::sync::OnceLock<u32> = std::sync::OnceLock::new();

    /// Whether it is this one.
    #[inline]
    pub fn is(number: u32) -> bool {
        *CHOSEN.get_or_init(|| {
            std::env::var("AWAKENER_CONTROL").ok().and_then(|text| text.parse().ok()).unwrap_or(0)
        }) == number
    }
}
"#;

/// One other form of one function's body.
#[derive(Clone, Debug)]
pub struct Form {
    /// The control's number; 0 is none.
    pub number: u32,
    /// The function that it belongs to, by the place of its body.
    pub body: Range<usize>,
    /// The body, braces included.
    pub text: String,
}

/// A text with all its forms, and where each of them stands in it.
#[derive(Clone, Debug, Default)]
pub struct Woven {
    /// The text.
    pub text: String,
    /// Places of forms.
    pub places: Vec<(Range<usize>, u32)>,
}

/// The form of an edit, if it lies in the body of one function.
pub fn edited(
    source: &Source,
    text: &str,
    number: u32,
    at: usize,
    find: &str,
    replace: &str,
) -> Option<Form> {
    let range = at..at + find.len();
    let function = source.around(&range)?;
    let Range { start, end } = function.body;
    let body = [&text[start..at], replace, &text[range.end..end]].concat();
    Some(Form { number, body: function.body.clone(), text: body })
}

/// The form of a function that leaves one variable as it was. `from` is how the function reaches it; `to` is how what
/// it returns does, as `step.…`, or empty if it returns nothing.
pub fn frozen(function: &Function, text: &str, number: u32, from: &str, to: &str) -> Form {
    let body = &text[function.body.clone()];
    let text = match (&function.returns, to) {
        (Some(returns), to) if !to.is_empty() => {
            let returns = &text[returns.clone()];
            format!(
                "{{ let kept = {from}.clone(); let mut run = move || -> {returns} {body}; let mut step = run(); \
                 {to} = kept; step }}"
            )
        }
        _ => format!("{{ let kept = {from}.clone(); let mut run = || {body}; run(); {from} = kept; }}"),
    };
    Form { number, body: function.body.clone(), text }
}

/// Puts every form into the text. `switch` is the path of [`SWITCH`]'s function. Forms that stand inside one another
/// cannot be told apart: their numbers come back in the second part, and must be built alone.
pub fn weave(source: &Source, text: &str, forms: &[Form], switch: &str) -> (Woven, Vec<u32>) {
    let mut by_body: BTreeMap<usize, (Range<usize>, Vec<&Form>)> = BTreeMap::new();
    for form in forms {
        by_body.entry(form.body.start).or_insert_with(|| (form.body.clone(), Vec::new())).1.push(form);
    }
    let (mut woven, mut left, mut done) = (Woven::default(), Vec::new(), 0);
    for (body, forms) in by_body.into_values() {
        if body.start < done {
            left.extend(forms.iter().map(|form| form.number));
            continue;
        }
        let constant = source.functions.iter().find(|f| f.body == body).and_then(|f| f.constant.clone());
        match constant {
            // A choice at run time is not constant.
            Some(constant) if constant.start >= done => {
                woven.text.push_str(&text[done..constant.start]);
                woven.text.push_str(&text[constant.end..body.start]);
            }
            Some(_) | None => woven.text.push_str(&text[done..body.start]),
        }
        woven.text.push_str("{ ");
        for form in forms {
            woven.text.push_str(&format!("if {switch}({}) ", form.number));
            let start = woven.text.len();
            woven.text.push_str(&form.text);
            woven.places.push((start..woven.text.len(), form.number));
            woven.text.push_str(" else ");
        }
        woven.text.push_str(&text[body.clone()]);
        woven.text.push_str(" }");
        done = body.end;
    }
    woven.text.push_str(&text[done..]);
    (woven, left)
}
