//! Evidence: a test that claims a rule must have met the code that decides it.
//!
//! [`enforces!`](crate::enforces) and [`enforces_process!`](crate::enforces_process) make a test that runs under a
//! [`Capture`] and then fails, naming every claimed rule that was not seen. Seen is a mark (`awakener_spec::rule!`),
//! or a typed refusal, class or problem that the test hands to its capture. Not here: whether every rule is claimed
//! (`spec/tests/it`), and whether a test asserts enough (mutations, CNF-3).
//!
//! A mark goes to the capture of the thread that makes it; a thread without one gives its marks to the process-wide
//! capture, if there is one. Process-wide captures take turns. What other tests do on threads of their own, without
//! a capture, would count for them as well: keep such tests out of a binary that uses `enforces_process!`.
//!
//! Rules: CNF-3.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use awakener_spec::{Class, Reason, set_mark_hook};
use serde_json::Value;

#[doc(no_inline)]
pub use awakener_spec::Rule;

/// The rules that one running test has seen.
#[derive(Debug, Clone, Default)]
pub struct Capture {
    rules: Arc<Mutex<BTreeSet<Rule>>>,
}

thread_local! {
    /// The captures of this thread, the innermost last.
    static OF_THREAD: RefCell<Vec<Capture>> = const { RefCell::new(Vec::new()) };
}

/// The capture of all threads that have none.
static OF_PROCESS: Mutex<Option<Capture>> = Mutex::new(None);

/// Held for as long as a process-wide capture lasts.
static TURN: Mutex<()> = Mutex::new(());

impl Capture {
    /// Counts the rule of a typed refusal.
    pub fn refusal(&self, reason: Reason) {
        self.add(reason.rule());
    }

    /// Counts the rule of the class in which a hint was put.
    pub fn class(&self, class: Class) {
        self.add(class.rule());
    }

    /// Counts the rules that an HTTP problem or a command's error object names in `rule` and `reason`.
    ///
    /// # Panics
    ///
    /// If it names neither, or names one that does not exist: no surface may make up rules or reasons.
    pub fn problem(&self, problem: &Value) {
        let rule = member(problem, "rule").map(|text| known(Rule::from_id(text), "rule", text));
        let reason = member(problem, "reason").map(|text| {
            let class = || Class::from_name(text).map(Class::rule);
            known(Reason::from_name(text).map(Reason::rule).or_else(class), "reason", text)
        });
        assert!(rule.is_some() || reason.is_some(), "neither `rule` nor `reason` in {problem}");
        rule.into_iter().chain(reason).for_each(|rule| self.add(rule));
    }

    /// Whether the rule was seen so far.
    #[must_use]
    pub fn saw(&self, rule: Rule) -> bool {
        lock(&self.rules).contains(&rule)
    }

    fn add(&self, rule: Rule) {
        lock(&self.rules).insert(rule);
    }

    fn require(&self, test: &str, claims: &[Rule]) {
        let seen = lock(&self.rules).clone();
        let unseen: BTreeSet<Rule> = claims.iter().copied().filter(|rule| !seen.contains(rule)).collect();
        let titled = unseen.iter().map(|rule| format!("{rule} ({})", rule.title()));
        assert!(
            unseen.is_empty(),
            "{test} claims rules of which it saw no evidence: {}; it saw: {}",
            joined(titled),
            joined(seen.iter()),
        );
    }
}

/// What the body of a test may return.
pub trait Verdict {
    /// Whether the body has failed by itself, so that its own error is the one to show.
    fn failed(&self) -> bool;
}

impl Verdict for () {
    fn failed(&self) -> bool {
        false
    }
}

impl<E> Verdict for Result<(), E> {
    fn failed(&self) -> bool {
        self.is_err()
    }
}

/// Runs `body` under a capture of this thread, then requires evidence of every claim.
///
/// # Panics
///
/// If the body does, or naming every claimed rule of which there was no evidence.
pub fn on_this_thread<V: Verdict>(test: &str, claims: &[Rule], body: impl FnOnce(&Capture) -> V) -> V {
    set_mark_hook(note);
    let capture = Capture::default();
    OF_THREAD.with_borrow_mut(|captures| captures.push(capture.clone()));
    let _end = OnDrop(|| {
        OF_THREAD.with_borrow_mut(Vec::pop);
    });
    judged(test, claims, &capture, body)
}

/// Runs `body` under the process-wide capture, then requires evidence of every claim.
///
/// Waits until no other process-wide capture is active.
///
/// # Panics
///
/// If the body does, or naming every claimed rule of which there was no evidence.
pub fn in_this_process<V: Verdict>(test: &str, claims: &[Rule], body: impl FnOnce(&Capture) -> V) -> V {
    set_mark_hook(note);
    let _turn = lock(&TURN);
    let capture = Capture::default();
    *lock(&OF_PROCESS) = Some(capture.clone());
    let _end = OnDrop(|| *lock(&OF_PROCESS) = None);
    judged(test, claims, &capture, body)
}

/// A test that claims rules and runs on one thread.
///
/// ```ignore
/// enforces! { [Ack2, Inb4] fn ack_2_cursor_never_reaches_a_witness(seen) { seen.refusal(reason); } }
/// ```
///
/// Attributes may stand in front, and `-> Result<(), E>` behind the brackets. Several tests may stand in one macro.
#[macro_export]
macro_rules! enforces {
    ($( $(#[$meta:meta])* [$($rule:ident),+ $(,)?] fn $test:ident($seen:ident) $(-> $verdict:ty)? $body:block )+) => {$(
        $(#[$meta])*
        #[test]
        fn $test() $(-> $verdict)? {
            let claims = [$($crate::evidence::Rule::$rule),+];
            $crate::evidence::on_this_thread(
                stringify!($test),
                &claims,
                |$seen: &$crate::evidence::Capture| $(-> $verdict)? { $body },
            )
        }
    )+};
}

/// A test that claims rules and whose marks come from several threads; see [`enforces!`](crate::enforces).
#[macro_export]
macro_rules! enforces_process {
    ($( $(#[$meta:meta])* [$($rule:ident),+ $(,)?] fn $test:ident($seen:ident) $(-> $verdict:ty)? $body:block )+) => {$(
        $(#[$meta])*
        #[test]
        fn $test() $(-> $verdict)? {
            let claims = [$($crate::evidence::Rule::$rule),+];
            $crate::evidence::in_this_process(
                stringify!($test),
                &claims,
                |$seen: &$crate::evidence::Capture| $(-> $verdict)? { $body },
            )
        }
    )+};
}

/// The mark hook.
fn note(rule: Rule) {
    let innermost = OF_THREAD.try_with(|captures| captures.borrow().last().cloned()).ok().flatten();
    if let Some(capture) = innermost.or_else(|| lock(&OF_PROCESS).clone()) {
        capture.add(rule);
    }
}

fn judged<V: Verdict>(test: &str, claims: &[Rule], seen: &Capture, body: impl FnOnce(&Capture) -> V) -> V {
    let verdict = body(seen);
    if !verdict.failed() {
        seen.require(test, claims);
    }
    verdict
}

fn member<'a>(problem: &'a Value, name: &str) -> Option<&'a str> {
    problem.get(name).map(|value| match value.as_str() {
        Some(text) => text,
        None => panic!("`{name}` is not a string in {problem}"),
    })
}

fn known(rule: Option<Rule>, what: &str, text: &str) -> Rule {
    match rule {
        Some(rule) => rule,
        None => panic!("there is no {what} `{text}`"),
    }
}

fn joined(items: impl Iterator<Item = impl Display>) -> String {
    let all: Vec<String> = items.map(|item| item.to_string()).collect();
    if all.is_empty() { "nothing".into() } else { all.join(", ") }
}

/// A test that failed under a lock leaves nothing half done here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends a capture also when the body panics.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}
