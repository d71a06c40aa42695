//! What a system world leaves out, said aloud.

use crate::world::Gap;

/// What was simplified.
pub const ABSTRACTIONS: &[&str] = &[
    "Every scope begins with all processes up, the station armed, and each of them having looked once at an empty inbox.",
    "A step and its commit are one action, but in the scopes that say `parted`; a transaction holds one input.",
    "A hint that is not accepted stays where it is, as if it had not come yet; one that never comes is lost.",
    "A call to the plane is judged and answered in one action; a lost one may arrive any time later, its answer never.",
    "The broker client takes every publication, and its word on that (`Published`) is not told to the plane.",
    "The wall clock is one for all and only moves forward; each process counts its own time from its boot.",
    "The station hosts; its turn ends with the station, and what the turn says follows from the message.",
    "The agent works beside the station by its own calls: claim, read, turn, result, ACK.",
    "The runtime of every daemon is this station: a notice is a hint to it, a probe sees whether it is at work.",
    "A trip's audit record and its latch file are always written; the latch is never cleared.",
    "One fair way on is followed from the end of each path, not all of them.",
];

/// What is not modelled.
pub const GAPS: &[Gap] = &[
    Gap {
        what: "several inputs in one transaction",
        covered_by: "shell/tests/it/host.rs::inb_7_in_one_batch_nobody_gets_the_lease_of_another",
    },
    Gap {
        what: "bytes and signatures of hints; a forged one here has a stolen key",
        covered_by: "kernel/tests/wire/hint.rs::sig_3_no_changed_byte_goes_unnoticed",
    },
    Gap {
        what: "a publication that fails",
        covered_by: "kernel/tests/mailbox/hint_stories.rs::emt_4_a_failed_publication_is_noted_and_changes_nothing_else",
    },
    Gap {
        what: "an epoch floor outside of the store, and restored backups",
        covered_by: "kernel/tests/mailbox/hint_stories.rs::emt_2_each_start_takes_an_epoch_above_everything_known",
    },
    Gap {
        what: "a wall clock that steps back",
        covered_by: "kernel/tests/plane/acts.rs::emt_6_a_clock_that_stepped_back_closes_tier_0_until_it_caught_up_or_was_accepted",
    },
    Gap {
        what: "rosters and grants that end by themselves",
        covered_by: "kernel/tests/plane/gate.rs::adm_5_stn_2_rosters_and_grants_end_within_their_bounds",
    },
    Gap {
        what: "a station that an agent keeps (attached)",
        covered_by: "kernel/tests/station/evidence.rs::obs_1_an_attached_agent_does_not_report",
    },
    Gap {
        what: "a latch that cannot be written, and its clearing",
        covered_by: "kernel/tests/station/latch.rs::fus_7_a_clear_that_is_half_done_leaves_it_latched_and_can_be_repeated",
    },
    Gap {
        what: "pauses, and runtimes that may not be woken",
        covered_by: "kernel/tests/waker/restart.rs::dsp_10_a_pause_holds_the_start_and_a_resume_looks",
    },
    Gap {
        what: "replies that become messages of their own",
        covered_by: "kernel/tests/station/fuse.rs::fus_1_a_triangle_of_echo_stations_trips_where_it_closes",
    },
    Gap { what: "two emitters for one target", covered_by: "nothing yet: emitters are not replicated" },
];
