//! Marks: the code that decides a rule says so, and a test can listen.
//!
//! A mark influences nothing: it returns nothing, and the decision is taken before it. While no hook is set it
//! costs one atomic load. It is not logging and not audit; only tests set a hook. No rules of its own.

use spin::Once;

use crate::Rule;

static HOOK: Once<fn(Rule)> = Once::new();

/// Says that the code which keeps `rule` has just decided by it.
pub fn mark(rule: Rule) {
    if let Some(hook) = HOOK.get() {
        hook(rule);
    }
}

/// Sets what is called at each mark, once per process; the first hook stays.
///
/// Returns whether this call set it. The hook must not itself decide by rules, and must return at once.
pub fn set_mark_hook(hook: fn(Rule)) -> bool {
    let mut first = false;
    HOOK.call_once(|| {
        first = true;
        hook
    });
    first
}

/// Marks a rule by its variant: `rule!(Ack2)`.
#[macro_export]
macro_rules! rule {
    ($rule:ident) => {
        $crate::mark($crate::Rule::$rule)
    };
}
