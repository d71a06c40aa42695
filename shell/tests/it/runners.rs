//! The local runner, with programs that replay what runtimes write: what counts as complete, and all that does not.
//!
//! The outputs stand in `fixtures/runners`, whose README says what they were written after. Rules: STN-8, OBS-1 to
//! OBS-3, COL-1, DSP-6, SPW-3.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use awakener::spawn::{self, Bounds, Secrets, Streams};
use awakener::station::local::{Local, Preset, Settings};
use awakener::station::runner::{Finished, Runner, Task};
use awakener_kernel::ids::{MessageId, TurnId};
use awakener_kernel::station::conclude;
use awakener_kernel::values::{AckOutcome, Finish, Response, TurnRef};
use awakener_tools::enforces_process;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::spawn::{lives, number, runtime, shell};

/// A folder of an agent, with a program that stands in for its runtime.
pub struct Desk {
    dir: TempDir,
    pub settings: Settings,
}

impl Desk {
    /// The program notes its arguments and its input, and then does what the script says.
    pub fn new(preset: Preset, script: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("runtime");
        let text = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" >arguments\ncat >input\n{script}\n");
        fs::write(&program, text).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
        let state = dir.path().join("state");
        fs::create_dir(&state).unwrap();
        let settings = Settings {
            preset,
            argv: vec![program.to_str().unwrap().to_owned()],
            folder: dir.path().to_owned(),
            env: Vec::new(),
            target: "lotse".parse().unwrap(),
            model: "some-model".to_owned(),
            budget: 100_000,
            longest: 4_096,
            bounds: Bounds {
                time: Duration::from_secs(20),
                grace: Duration::from_millis(300),
                output: 100_000,
                errors: 1_000,
            },
            state,
            secrets: Arc::new(Secrets::default()),
        };
        Self { dir, settings }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Plays a turn.
    pub fn play(&self) -> Finished {
        let runner = Local::new(self.settings.clone());
        let finished = runtime().block_on(runner.run(&task()));
        let left: Vec<_> =
            fs::read_dir(&self.settings.state).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert!(left.is_empty(), "notes are left: {left:?}");
        finished
    }

    pub fn finish(&self) -> Finish {
        conclude(&self.play().evidence)
    }
}

fn task() -> Task {
    let turn = TurnRef { turn: TurnId::from_parts(1, [1; 10]), message: MessageId::from_parts(2, [2; 10]) };
    Task {
        turn,
        intent: "test".to_owned(),
        directive: "say something\n{\"body\":\"the harbour\"}\n".to_owned(),
    }
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/runners").join(name)
}

/// How a turn ends whose runtime writes this and exits so.
fn replayed(preset: Preset, name: &str, code: i32) -> Finished {
    Desk::new(preset, &format!("cat '{}'\nexit {code}", fixture(name).display())).play()
}

fn judged(preset: Preset, table: &[(&str, i32, Finish)]) {
    for (name, code, expected) in table {
        let finished = replayed(preset, name, *code);
        assert_eq!(conclude(&finished.evidence), *expected, "{name}, exit {code}: {:?}", finished.evidence);
    }
    // Every recording of the folder stands in the table.
    let folder = fixture(table[0].0);
    for entry in fs::read_dir(folder.parent().unwrap()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(
            table.iter().any(|(known, ..)| known.ends_with(&format!("/{name}"))),
            "{name} is judged nowhere"
        );
    }
}

fn succeeds(preset: Preset, name: &str) {
    let finished = replayed(preset, name, 0);
    let (answer, text) = finished.answer.unwrap();
    assert_eq!(conclude(&finished.evidence), Finish::Complete, "{name}: {:?}", finished.evidence);
    assert_eq!(
        (text.as_str(), answer.outcome),
        ("High water is at 06:12; the tug is ordered.", AckOutcome::Handled)
    );
}

enforces_process! {
    [Stn8, Obs1] fn obs_1_codex_is_complete_only_when_its_events_say_so(seen) {
        succeeds(Preset::Codex, "codex/success.jsonl");
        judged(Preset::Codex, &[
            ("codex/success.jsonl", 0, Finish::Complete),
            ("codex/success.jsonl", 1, Finish::Unknown),
            ("codex/turn-failed.jsonl", 1, Finish::ModelError),
            ("codex/turn-failed.jsonl", 0, Finish::ModelError),
            ("codex/error-alone.jsonl", 0, Finish::ModelError),
            ("codex/error-then-completed.jsonl", 0, Finish::Unknown),
            ("codex/no-final-event.jsonl", 0, Finish::Unknown),
            ("codex/cut-mid-line.jsonl", 0, Finish::Truncated),
            ("codex/zero-turns.jsonl", 0, Finish::NoTurn),
            ("codex/declined.jsonl", 0, Finish::Denied),
            ("codex/asks-somebody.jsonl", 0, Finish::Denied),
            ("codex/empty-message.jsonl", 0, Finish::Unknown),
            ("codex/item-still-open.jsonl", 0, Finish::Unknown),
            ("codex/agent-still-running.jsonl", 0, Finish::Unknown),
            ("codex/ends-on-failed-tool.jsonl", 0, Finish::ToolError),
            ("codex/work-after-the-end.jsonl", 0, Finish::Unknown),
            ("codex/unknown-event.jsonl", 0, Finish::Unknown),
        ]);
        let _ = seen;
    }

    [Stn8, Obs1] fn obs_1_gemini_is_complete_only_with_a_whole_answer_and_no_error(seen) {
        succeeds(Preset::Gemini, "gemini/success.json");
        judged(Preset::Gemini, &[
            ("gemini/success.json", 0, Finish::Complete),
            ("gemini/success.json", 1, Finish::Unknown),
            ("gemini/success.json", 42, Finish::NoTurn),
            ("gemini/success.json", 53, Finish::Truncated),
            ("gemini/error.json", 1, Finish::ModelError),
            ("gemini/error.json", 0, Finish::ModelError),
            ("gemini/error-beside-response.json", 0, Finish::ModelError),
            ("gemini/empty-response.json", 0, Finish::Unknown),
            ("gemini/rejected-tool.json", 0, Finish::Denied),
            ("gemini/zero-requests.json", 0, Finish::NoTurn),
            ("gemini/every-request-failed.json", 0, Finish::ModelError),
            ("gemini/warnings.json", 0, Finish::Unknown),
            ("gemini/turn-limit.json", 53, Finish::Truncated),
            ("gemini/failed-tool.json", 54, Finish::ToolError),
            ("gemini/cut.json", 0, Finish::Truncated),
            ("gemini/text.txt", 0, Finish::Unknown),
        ]);
        let _ = seen;
    }

    [Stn8, Obs1] fn obs_1_openhands_is_complete_only_when_the_agent_finishes_last(seen) {
        succeeds(Preset::Openhands, "openhands/success.txt");
        succeeds(Preset::Openhands, "openhands/success-lines.jsonl");
        judged(Preset::Openhands, &[
            ("openhands/success.txt", 0, Finish::Complete),
            ("openhands/success.txt", 1, Finish::Unknown),
            ("openhands/success-lines.jsonl", 0, Finish::Complete),
            ("openhands/ends-with-a-question.txt", 0, Finish::Unknown),
            ("openhands/agent-error-last.txt", 0, Finish::ToolError),
            ("openhands/conversation-error.txt", 0, Finish::ModelError),
            ("openhands/error-after-finish.txt", 0, Finish::ModelError),
            ("openhands/max-iterations.txt", 0, Finish::Truncated),
            ("openhands/rejected.txt", 0, Finish::Denied),
            ("openhands/paused.txt", 0, Finish::Unknown),
            ("openhands/nothing-done.txt", 0, Finish::NoTurn),
            ("openhands/empty-finish.txt", 0, Finish::Unknown),
            ("openhands/act-after-finish.txt", 0, Finish::Unknown),
            ("openhands/cut.txt", 0, Finish::Truncated),
        ]);
        let _ = seen;
    }

    [Stn8, Obs1] fn obs_1_any_other_program_must_say_how_its_turn_went(seen) {
        let line = |rest: &str| format!("echo 'working'; echo '{{\"awakener\":1,\"stop\":\"end_turn\"{rest}}}'");
        let finish = |script: &str| Desk::new(Preset::Generic, script).finish();
        assert_eq!(finish(&line(",\"reply\":\"done\"")), Finish::Complete);
        for (script, expected) in [
            (line(",\"reply\":\"done\"") + "; exit 1", Finish::Unknown),
            (line(",\"reply\":\"done\"") + "; kill -9 $$", Finish::Unknown),
            (line(",\"reply\":\"done\"") + "; echo and more", Finish::Unknown),
            (line(",\"reply\":\"\""), Finish::Unknown),
            (line(",\"reply\":\"done\",\"sucess\":true"), Finish::Unknown),
            (line(",\"reply\":\"done\"").replace("\"awakener\":1", "\"awakener\":2"), Finish::Unknown),
            (line(",\"reply\":\"done\",\"turns\":0"), Finish::NoTurn),
            (line(",\"reply\":\"done\",\"denials\":1"), Finish::Denied),
            (line(",\"reply\":\"done\",\"error\":\"overloaded\""), Finish::ModelError),
            (line(",\"reply\":\"done\"").replace("end_turn", "length"), Finish::Truncated),
            (line(",\"reply\":\"done\"").replace("end_turn", "tool_calls"), Finish::Unknown),
            (line(",\"reply\":\"done\"").replace("}'", "'"), Finish::Truncated),
            ("printf '{\"awakener\":1,\"stop\":\"end_tu'".to_owned(), Finish::Truncated),
            ("echo all done".to_owned(), Finish::Unknown),
            ("true".to_owned(), Finish::Unknown),
            // More tokens than one turn may use; a reply that the plane would not take.
            (line(",\"reply\":\"done\",\"input_tokens\":100000,\"output_tokens\":1"), Finish::BudgetExceeded),
            (line(&format!(",\"reply\":\"{}\"", "x".repeat(5_000))), Finish::Truncated),
            // The work goes on behind the program's back, with or without its streams.
            (line(",\"reply\":\"done\"") + "; sleep 300 >/dev/null 2>&1 &", Finish::Unknown),
            (line(",\"reply\":\"done\"") + "; setsid sleep 300 &", Finish::Unknown),
            ("exec yes".to_owned(), Finish::Truncated),
        ] {
            assert_eq!(finish(&script), expected, "{script}");
        }
        let mut slow = Desk::new(Preset::Generic, "trap '' TERM; while :; do sleep 0.05; done");
        slow.settings.bounds.time = Duration::from_millis(300);
        assert_eq!(slow.finish(), Finish::Timeout);
        let mut missing = Desk::new(Preset::Generic, "true");
        missing.settings.argv = vec!["no-such-runtime".to_owned()];
        assert_eq!(missing.finish(), Finish::NoTurn);
        let _ = seen;
    }

    [Stn8] fn stn_8_a_last_message_is_a_reply_a_silence_or_a_failure(seen) {
        let said = |reply: &str| {
            let script = format!("echo '{{\"awakener\":1,\"stop\":\"end_turn\",\"reply\":\"{reply}\"}}'");
            let finished = Desk::new(Preset::Generic, &script).play();
            assert_eq!(conclude(&finished.evidence), Finish::Complete);
            let (answer, text) = finished.answer.unwrap();
            (matches!(answer.response, Response::Silence), answer.outcome, text)
        };
        assert_eq!(said("done"), (false, AckOutcome::Handled, "done".to_owned()));
        assert_eq!(said("SILENCE: known"), (true, AckOutcome::Silence, "known".to_owned()));
        assert_eq!(said("FAILED: no crane"), (false, AckOutcome::Failed, "FAILED: no crane".to_owned()));
        let _ = seen;
    }

    [Dsp6, Stn8] fn dsp_6_the_directive_goes_through_a_pipe_or_a_file_and_never_through_an_argument(seen) {
        let directive = task().directive;
        for preset in [Preset::Codex, Preset::Gemini, Preset::Openhands, Preset::Generic] {
            let desk = Desk::new(preset, "for word; do test -f \"$word\" && cp \"$word\" file; done; true");
            desk.play();
            let arguments = desk.read("arguments");
            assert!(!arguments.contains("harbour"), "{preset:?}: {arguments}");
            let (input, file) = (desk.read("input"), fs::read_to_string(desk.path("file")).unwrap_or_default());
            let expected = if preset == Preset::Openhands { ("", directive.as_str()) } else { (directive.as_str(), "") };
            assert_eq!((input.as_str(), file.as_str()), expected, "{preset:?}");
            let words: Vec<&str> = arguments.lines().collect();
            match preset {
                Preset::Codex => {
                    assert_eq!(words[..3], ["exec", "--json", "--sandbox"]);
                    assert_eq!(words[words.len() - 3..], ["--model", "some-model", "-"]);
                }
                Preset::Gemini => {
                    let prompt = words.last().unwrap();
                    assert_eq!(words[words.len() - 2], "--prompt");
                    assert!(prompt.contains("00000000-0002-7") && prompt.contains("lotse"), "{prompt}");
                    assert!(prompt.len() <= awakener::wake::TEXT_BYTES);
                }
                Preset::Openhands => assert_eq!(words[..3], ["--headless", "--json", "--file"]),
                Preset::Generic => assert_eq!(words, [""]),
            }
        }
        // A generic program takes it where it wants it; other placeholders are its agent and its folder.
        let mut desk = Desk::new(Preset::Generic, "cp \"$1\" file; stat -c %a \"$1\" >mode");
        desk.settings.argv.extend(["{directive}", "--agent={name}", "{folder}"].map(str::to_owned));
        desk.play();
        assert_eq!((desk.read("file"), desk.read("input"), desk.read("mode")), (directive, String::new(), "600\n".to_owned()));
        let arguments = desk.read("arguments");
        assert!(arguments.contains("--agent=lotse\n") && arguments.ends_with(&format!("{}\n", desk.path("").display().to_string().trim_end_matches('/'))), "{arguments}");
        let _ = seen;
    }

    [Spw3, Stn8] fn spw_3_what_a_killed_station_has_left_is_ended_before_another_program_starts(seen) {
        let desk = Desk::new(Preset::Generic, "true");
        let note = desk.settings.state.join("runner-lotse");
        // As it is after a kill -9: the program runs, and nothing of it is known but the note.
        let left = |whole: bool| {
            let pid = desk.path("pid");
            let _ = fs::remove_file(&pid);
            let running = spawn::start(&shell(desk.dir.path(), "echo $$ >pid; exec sleep 300"), Streams::Kept).unwrap();
            let identity = running.identity().clone();
            let known = if whole { json!(identity) } else { Value::Null };
            fs::write(&note, json!({"v": 1, "mark": identity.mark, "identity": known}).to_string()).unwrap();
            running.leave();
            number(&pid)
        };
        for whole in [true, false] {
            let pid = left(whole);
            assert!(lives(pid));
            Local::new(desk.settings.clone()).recover().unwrap();
            assert!(!lives(pid) && !note.exists(), "{whole}");
            // A turn does the same if nobody did it before: never two.
            let pid = left(whole);
            desk.play();
            assert!(!lives(pid), "{whole}");
        }
        // A note that cannot be read stops every start: nobody knows what runs.
        fs::write(&note, "{").unwrap();
        assert!(Local::new(desk.settings.clone()).recover().is_err());
        let _ = seen;
    }
}
