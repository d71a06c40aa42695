//! What was simplified, and what is not in the model.

use crate::world::Gap;

/// What was simplified, one sentence each.
pub const ABSTRACTIONS: &[&str] = &[
    "One input per transaction, as the driver of a station does it; while the transaction is open nothing else happens.",
    "The mailbox is an honest one of at most two messages: it gives out what is open, and counts no attempts itself.",
    "A lease is lost at any moment instead of by its own clock.",
    "Work is found where a poll is out and something is open; beyond that the adversary may invent a find.",
    "A completion with the ticket that the station waits for is always the truth about its effect, however late.",
    "A completion that nobody produced is tried in each state, of each kind and with each sort of ticket that is not waited for.",
    "Alarms are heard as soon as everything before them in the queue was carried out.",
    "A station starts over a latch path that is not empty as it does for a clear: it takes in what lies there. \
     The shell refuses every other start.",
    "The operator's standing grant may be told again at any time until it is taken away or a latch is cleared.",
    "What forbids work is told again after each grant; DARK keeps no causes.",
    "A tick is two seconds, as long as a trip waits for its audit record; both clocks move together but where the wall \
     clock is set.",
    "Turns end in one of a few ways: whole, whole without an answer, cut, contradicting itself, unreported, unseen.",
    "A cleanup always reports that the cursor moved; the station does the same if it is pinned.",
    "What a machine said in vain is remembered per thread, by a 64-bit fingerprint of machine and time.",
];

/// What is not modelled.
pub const GAPS: &[Gap] = &[
    Gap {
        what: "a backup of the station's own store that is restored; of it only that the mailbox knows more",
        covered_by: "kernel/tests/station/stories.rs::stn_6_what_the_mailbox_recorded_is_enough_to_go_on",
    },
    Gap {
        what: "all finish reasons and all contradictions of the evidence",
        covered_by: "kernel/tests/station/evidence.rs::obs_1_a_false_success_is_never_complete",
    },
    Gap {
        what: "what is kept of a turn: directive, model, window, budget, tokens",
        covered_by: "kernel/tests/station/stories.rs::obs_2_a_turn_records_what_it_was_told_and_what_it_used",
    },
    Gap {
        what: "turns that a clock which was set back by more than a tick could hide from the fuse",
        covered_by: "kernel/tests/station/fuse.rs::fus_1_a_clock_that_was_set_back_hides_no_turn",
    },
    Gap {
        what: "circles of more than one message, and depths beyond two",
        covered_by: "kernel/tests/station/fuse.rs::fus_1_a_triangle_of_echo_stations_trips_where_it_closes",
    },
    Gap {
        what: "the normal form by which an echo is told",
        covered_by: "kernel/tests/station/fuse.rs::fus_1_normal_forms",
    },
    Gap {
        what: "ceilings that are compiled in",
        covered_by: "kernel/src/config.rs::fus_3_defaults_pass_and_each_bound_refuses_one_step_beyond",
    },
    Gap {
        what: "counters and progress at the bound of their memory",
        covered_by: "kernel/tests/station/stories.rs::stn_9_the_memory_of_unfinished_work_is_bounded",
    },
    Gap {
        what: "the file system under the latch: reserve, rename, fsync",
        covered_by: "shell/src/station/latch.rs::fus_4_the_latch_is_its_reserve_renamed",
    },
    Gap {
        what: "everything that can lie at the latch path instead of a latch",
        covered_by: "shell/src/station/latch.rs::fus_6_whatever_lies_at_the_path_is_a_latch",
    },
    Gap {
        what: "two stations for one target, but that another one may record a result while this one holds no lease",
        covered_by: "the lease of the mailbox decides between them; the world `mailbox` has two holders",
    },
    Gap {
        what: "that a station ever finishes its work",
        covered_by: "liveness is checked in cyclic worlds of its own",
    },
    Gap {
        what: "real model processes and what they leave behind",
        covered_by: "nothing yet: the only runner of this repository is `fake`",
    },
];
