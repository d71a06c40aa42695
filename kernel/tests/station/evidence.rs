//! OBS-1: what looks like success and is none.

use awakener_kernel::station::*;
use awakener_kernel::values::Finish;

use crate::rig::well;

fn table() -> Vec<(&'static str, Run, Finish)> {
    let tokens = |output, limit| Tokens { input: Some(9), output: Some(output), output_limit: Some(limit) };
    let cut = Run { tokens: tokens(4_096, 4_096), ..well() };
    vec![
        ("control: everything agrees", well(), Finish::Complete),
        ("control: a runtime that counts no turns", Run { turns: None, ..well() }, Finish::Complete),
        ("control: a runtime that is no process", Run { exit: Exit::Elsewhere, ..well() }, Finish::Complete),
        ("B-60 stop_reason max_tokens", Run { stop: Stop::Length, ..well() }, Finish::Truncated),
        ("B-60 tool_calls hide the length", Run { stop: Stop::ToolCalls, ..cut }, Finish::Truncated),
        ("B-60 end_turn at the very limit", cut, Finish::Truncated),
        ("B-61 API error, success, exit 0", Run { model_failed: true, ..well() }, Finish::ModelError),
        ("B-62 denied, success, exit 0", Run { denials: 1, ..well() }, Finish::Denied),
        ("B-63 no turn, success, exit 0", Run { turns: Some(0), ..well() }, Finish::NoTurn),
        ("B-66 exit 0, empty output", Run { output: Output::Empty, ..well() }, Finish::Unknown),
        ("B-66 a line cut in the middle", Run { output: Output::Cut, ..well() }, Finish::Truncated),
        ("B-66 the final event is missing", Run { final_event: false, ..well() }, Finish::Unknown),
        ("success text, failing exit", Run { exit: Exit::Code(1), ..well() }, Finish::Unknown),
        ("success text, killed", Run { exit: Exit::Signal, ..well() }, Finish::Unknown),
        ("not started (B-70)", Run { exit: Exit::NotStarted, ..well() }, Finish::NoTurn),
        ("asked for a tool and went", Run { stop: Stop::ToolCalls, ..well() }, Finish::Unknown),
        ("an unknown stop reason", Run { stop: Stop::Other, ..well() }, Finish::Unknown),
        ("no stop reason", Run { stop: Stop::Unsaid, ..well() }, Finish::Unknown),
        ("ended on a failed tool", Run { tool_failed: true, ..well() }, Finish::ToolError),
        ("says that it failed, exit 0", Run { claim: Claim::Failure, ..well() }, Finish::ModelError),
        ("its time was up", Run { stopped: Some(Stopped::Time), ..well() }, Finish::Timeout),
        ("its budget was used up", Run { stopped: Some(Stopped::Budget), ..well() }, Finish::BudgetExceeded),
        ("it was stopped", Run { stopped: Some(Stopped::Cancelled), ..well() }, Finish::Cancelled),
    ]
}

#[test]
fn obs_1_a_false_success_is_never_complete() {
    for (name, run, finish) in table() {
        assert_eq!(conclude(&Evidence::Ran(run)), finish, "{name}");
    }
}

#[test]
fn obs_1_an_attached_agent_does_not_report() {
    assert_eq!(conclude(&Evidence::Unreported), Finish::Unreported);
    assert_eq!(conclude(&Evidence::Stopped(Stopped::Time)), Finish::Timeout);
}

/// Over every combination of the facts: complete exactly where all of them agree.
#[test]
fn obs_1_complete_means_that_all_facts_agree() {
    let mut complete = 0;
    for exit in [Exit::Code(0), Exit::Code(1), Exit::Signal, Exit::NotStarted, Exit::Elsewhere] {
        for stop in [Stop::EndOfTurn, Stop::Length, Stop::ToolCalls, Stop::Other, Stop::Unsaid] {
            for output in [Output::Whole, Output::Cut, Output::Empty] {
                for claim in [Claim::Success, Claim::Failure, Claim::Unsaid] {
                    for turns in [None, Some(0), Some(3)] {
                        for bits in 0..16_u32 {
                            let bit = |n: u32| bits >> n & 1 == 1;
                            let (final_event, model_failed, tool_failed) = (bit(0), bit(1), bit(2));
                            let denials = u32::from(bit(3));
                            let run = Run {
                                exit,
                                stop,
                                output,
                                claim,
                                turns,
                                final_event,
                                model_failed,
                                tool_failed,
                                denials,
                                ..well()
                            };
                            let agree = matches!(exit, Exit::Code(0) | Exit::Elsewhere)
                                && (stop, output) == (Stop::EndOfTurn, Output::Whole)
                                && claim != Claim::Failure
                                && turns != Some(0)
                                && bits == 1;
                            let finish = conclude(&Evidence::Ran(run));
                            assert_eq!(finish == Finish::Complete, agree, "{run:?}");
                            complete += u32::from(agree);
                        }
                    }
                }
            }
        }
    }
    assert_eq!(complete, 8, "the positive side was met");
}
