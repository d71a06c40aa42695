//! What a waker world leaves out, said honestly.

use crate::world::Gap;

/// What was simplified.
pub const ABSTRACTIONS: &[&str] = &[
    "One target and one alert: hints differ in wake, nonce, token and times only.",
    "Signatures are symbols: who lacks the key cannot make a claim whose signature holds.",
    "Minted tokens lie ten apart; a thief of the key uses those below, between and far above.",
    "The plane answers what it likes, except that it never permits a wake that it did not mint.",
    "Reports and warnings are checked when they leave the process and are not carried further; an adapter knows at once \
     whether its permit is still the last one.",
    "One queue of effects and one of completions; in scopes with `unordered` one queue of effects for each port, and \
     completions are a set.",
    "Completions outlive the process that asked, also where they could not: the adversary is stronger than any real one.",
    "The monotonic clock begins at zero with each process; after a failed commit process, clock and queues go on.",
    "After a boot the manifest is told in the same transaction, except in scopes with `switches`.",
    "Instants are single milliseconds: hint 2, skew 1, cooldown 2, flight 3, permit 2, back-off 3, then 4. Regular sweeps \
     lie far beyond the clock, so that none of them hides a forgotten wake.",
    "A daemon that is restarted after its wall clock was set ahead cannot know that less time has passed; cooldown, \
     back-off and the bound of a flight are not judged across such a restart.",
    "After a restart the back-off is judged from the last start: nothing durable says when it failed.",
];

/// What is not modelled.
pub const GAPS: &[Gap] = &[
    Gap {
        what: "bytes, canonical form and real signatures of hints",
        covered_by: "kernel/tests/wire/screen.rs::ver_1_the_order_holds_for_bytes",
    },
    Gap {
        what: "router keys that are added, end or are revoked while the daemon runs",
        covered_by: "kernel/tests/wire/screen.rs::ver_1_a_router_key_holds_within_its_window_by_our_clock",
    },
    Gap {
        what: "folding and auditing of refusals (VER-4)",
        covered_by: "shell/tests/it/wake/verify.rs::ver_4_ten_thousand_bad_hints_are_two_entries",
    },
    Gap {
        what: "a history of the real size",
        covered_by: "kernel/tests/waker/verify.rs::ver_3_1024_are_kept_exactly_and_freshness_bars_those_that_are_gone",
    },
    Gap {
        what: "a history that was configured smaller before a restart",
        covered_by: "kernel/tests/waker/restart.rs::ver_3_a_smaller_history_gives_up_expired_nonces_at_boot_or_does_not_boot",
    },
    Gap {
        what: "two daemons for one target; here the other one is the plane's word `permit_held`",
        covered_by: "kernel/tests/mailbox/wake_stories.rs::dsp_7_a_second_daemon_waits_for_the_permit_or_the_flight_to_be_over",
    },
    Gap {
        what: "regular sweeps, one after the other",
        covered_by: "kernel/tests/waker/restart.rs::dsp_11_sweeps_never_stop",
    },
    Gap {
        what: "that everything comes to an end once the outside works again, beyond the bound of the laws here",
        covered_by: "kernel/tests/waker/laws.rs::dsp_11_an_outstanding_alert_is_started_once_the_outside_works_again",
    },
    Gap {
        what: "the cap of the back-off",
        covered_by: "kernel/tests/waker/dispatch.rs::dsp_3_definite_failures_back_off_up_to_the_cap_and_recovery_is_seen",
    },
    Gap {
        what: "a pause between the decision to start and the dispatch, and pauses while the daemon is dead",
        covered_by: "shell/tests/it/wake/dispatch.rs::dsp_10_a_pause_file_holds_starts_until_it_is_gone",
    },
    Gap {
        what: "the text that a runtime is told (DSP-6)",
        covered_by: "shell/src/wake/adapter.rs::dsp_6_the_text_is_short_for_every_target_and_attempt",
    },
    Gap {
        what: "how manifests are read and which capability follows",
        covered_by: "kernel/tests/waker/dispatch.rs::dsp_8_only_a_declared_runtime_is_woken_and_receipts_know_a_human",
    },
    Gap {
        what: "what receipts say of outcomes",
        covered_by: "kernel/tests/plane/receipt.rs::dsp_4_no_outcome_of_an_adapter_says_more_than_it_knows",
    },
];
