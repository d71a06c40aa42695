//! What was simplified, and what is not modelled at all.

use crate::world::Gap;

/// What was simplified.
pub const ABSTRACTIONS: &[&str] = &[
    "One target, one sender, at most three messages; a message has one content, one honest schema and no body.",
    "Time is counted in single milliseconds; a lease, a permit and a flight live for one of them.",
    "The first start of the emitter shares the transaction in which its machine recovers, where a scope does not say `late_start`.",
    "What somebody heard once can be said again in every later state and in any order, so duplicates and reorderings of calls are no actions of their own, and hearing an answer twice is hearing it once.",
    "Where a scope does not say `late`, answers and hints arrive in the moment of their commit.",
    "The registry and the store share one thread: rights change, operators act on the clock, and backups are made between transactions only.",
    "The thread of the store tells the fate of a hint once, as the shell does; contradictory fates do not come from outside.",
    "A lost store is replaced by a copy with the floor of epochs still in its file; what was promised after the copy was made is forgotten by the laws together with the store.",
    "Chance never repeats itself: wakes and nonces are numbered.",
    "In an open transaction only the image is compared; the invariants are looked at once its commit is durable.",
];

const fn gap(what: &'static str, covered_by: &'static str) -> Gap {
    Gap { what, covered_by }
}

/// What is not modelled.
pub const GAPS: &[Gap] = &[
    gap(
        "the head of admission: size, credential, rate, form, schema, target (ADM-2)",
        "kernel/tests/plane/admission.rs::adm_2_the_head_refuses_in_the_order_of_the_contract",
    ),
    gap(
        "the order in which reasons apply (ADM-2)",
        "kernel/tests/plane/admission.rs::adm_2_the_rest_refuses_in_the_order_of_the_contract",
    ),
    gap(
        "ids out of their time (ADM-8)",
        "kernel/tests/plane/admission.rs::adm_8_an_id_may_lie_within_the_bounds_and_not_beyond",
    ),
    gap(
        "cause and depth of a message sent at work (ADM-12)",
        "kernel/tests/mailbox/admit_stories.rs::adm_12_the_cause_is_the_deepest_claimed_message_then_the_first",
    ),
    gap(
        "how the roster comes to say what it says (ADM-4, ADM-5)",
        "kernel/tests/plane/registry.rs::adm_4_a_roster_with_any_fault_admits_nobody",
    ),
    gap(
        "the turn of a starving lower tier (RTE-3)",
        "kernel/tests/plane/page.rs::rte_3_one_read_in_so_many_serves_a_lower_tier_that_would_get_nothing",
    ),
    gap(
        "positions of readers and pages (INB-5, INB-6)",
        "kernel/tests/plane/page.rs::inb_5_every_message_is_handed_over_exactly_once_and_in_order",
    ),
    gap(
        "signatures themselves; here their verdict is a fact (IDN-5)",
        "kernel/tests/wire/crypto.rs::idn_5_verification_passes_wycheproof",
    ),
    gap(
        "a floor of epochs that cannot be read (EMT-2)",
        "shell/tests/it/faults.rs::emt_2_a_floor_that_cannot_be_read_is_not_zero",
    ),
    gap(
        "a driver that hands over facts of another kind or another message (AUD-2)",
        "kernel/tests/mailbox/facts_stories.rs::aud_2_facts_of_another_kind_are_missing_facts",
    ),
    gap(
        "the audit chain and its records (AUD-1, AUD-2)",
        "kernel/tests/plane/audit.rs::aud_1_a_record_is_hashed_under_its_domain_with_the_hash_before_it_inside",
    ),
    gap(
        "a disk that tears single bytes or loses a file (AUD-5, INB-10)",
        "shell/tests/it/faults.rs::aud_5_a_byte_on_the_disk_itself_is_found",
    ),
    gap("what a daemon makes of a hint (VER-1)", "the world `waker` of this crate"),
    gap(
        "fences of leases and permits after a restore: they go on from the copy, so that whoever held one of the lost store can pass for a new holder",
        "nothing: the contract speaks of tokens only (EMT-2); laws about fences hold for a store that was never replaced",
    ),
    gap(
        "an effect that is lost between its commit and its performance, where it tells the operator",
        "nothing: `escalated` and `quarantined` stand in the ledger (RCP-1), and the effect is a line of the log",
    ),
    gap(
        "two contradicting fates of one hint, which the mailbox would both record",
        "nothing: the thread of the store and the publisher each tell one fate of one hint (EMT-4)",
    ),
    gap(
        "a wall clock that jumps forward",
        "nothing: a wait that is resumed after a restart may then end early; the fence, and not the time, keeps a second holder out (INB-7)",
    ),
    gap("two emitters of one target (EMT-5)", "nothing yet: high availability is outside this release (HAF)"),
];
