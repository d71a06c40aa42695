//! Programs that do not end, do not listen, do not stop talking, or leave something behind.

use std::time::{Duration, Instant};

use awakener::spawn::{self, Bounds, Identity, Input, Life, Stopped};
use awakener_kernel::station::Exit;
use awakener_tools::enforces_process;

use super::{bounds, finish, lives, number, runtime, shell, start, text, until};

enforces_process! {
    [Spw1, Spw3] fn spw_3_a_program_runs_in_its_directory_and_group_without_a_shell_of_ours(seen) {
        let dir = tempfile::tempdir().unwrap();
        let ended = finish(&shell(dir.path(), "pwd; echo to-err >&2; cut -d' ' -f5 /proc/$$/stat; echo $$; exit 3"), bounds());
        assert_eq!((ended.exit, ended.stopped, ended.left), (Some(Exit::Code(3)), None, 0));
        let out = text(&ended.out.bytes);
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines[0], dir.path().canonicalize().unwrap().to_str().unwrap());
        assert_eq!(lines[1], lines[2], "its group is its own");
        assert_eq!(text(&ended.err.bytes), "to-err\n");
        assert!(ended.out.closed && !ended.out.cut && ended.err.closed);
        let _ = seen;
    }

    [Spw3] fn spw_3_a_program_that_reads_to_the_end_finds_one(seen) {
        let dir = tempfile::tempdir().unwrap();
        let mut cat = shell(dir.path(), "cat");
        let ended = finish(&cat, bounds());
        assert_eq!((ended.exit, ended.stopped, ended.out.bytes.len()), (Some(Exit::Code(0)), None, 0));
        let bytes: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
        cat.input = Input::Bytes(bytes.clone());
        let ended = finish(&cat, bounds());
        assert!(ended.out.bytes == bytes && ended.out.closed);
        // One that reads nothing of it ends all the same.
        let deaf = spawn::Program { input: Input::Bytes(bytes), ..shell(dir.path(), "exit 0") };
        assert_eq!(finish(&deaf, bounds()).exit, Some(Exit::Code(0)));
        let _ = seen;
    }

    [Spw3] fn spw_3_a_program_that_never_ends_is_ended_first_politely_and_then_not(seen) {
        let dir = tempfile::tempdir().unwrap();
        let short = Bounds { time: Duration::from_millis(300), ..bounds() };
        let polite = finish(&shell(dir.path(), "trap 'echo bye; exit 5' TERM; while :; do sleep 0.02; done"), short);
        assert_eq!((polite.exit, polite.stopped), (Some(Exit::Code(5)), Some(Stopped::Time)));
        assert_eq!(text(&polite.out.bytes), "bye\n");
        let deaf = finish(&shell(dir.path(), "trap '' TERM; while :; do sleep 0.02; done"), short);
        assert_eq!((deaf.exit, deaf.stopped), (Some(Exit::Signal), Some(Stopped::Time)));
        assert!(deaf.took >= short.time + short.grace && !deaf.survived);
        // The control: the same bounds leave alone what ends in time.
        assert_eq!(finish(&shell(dir.path(), "true"), short).stopped, None);
        let _ = seen;
    }

    [Spw3] fn spw_3_a_flood_is_cut_and_stopped(seen) {
        let dir = tempfile::tempdir().unwrap();
        let small = Bounds { output: 10_000, errors: 100, ..bounds() };
        let flood = finish(&shell(dir.path(), "exec yes"), small);
        assert_eq!((flood.stopped, flood.out.cut, flood.out.bytes.len()), (Some(Stopped::Output), true, 10_000));
        // Complaints are kept in part, and end nothing.
        let loud = finish(&shell(dir.path(), "head -c 1000000 /dev/zero >&2; echo done"), small);
        assert_eq!((loud.stopped, loud.exit, loud.err.cut, loud.err.bytes.len()), (None, Some(Exit::Code(0)), true, 100));
        let exact = finish(&shell(dir.path(), "head -c 10000 /dev/zero"), small);
        assert_eq!((exact.stopped, exact.out.cut, exact.out.bytes.len()), (None, false, 10_000));
        let _ = seen;
    }

    [Spw3] fn spw_3_what_a_program_leaves_behind_is_counted_and_ended(seen) {
        let dir = tempfile::tempdir().unwrap();
        let pid = dir.path().join("pid");
        for (how, script) in [
            ("in its group", "sleep 300 & echo $! >pid"),
            ("in a session of its own", "setsid sh -c 'echo $$ >pid; exec sleep 300' & while ! test -s pid; do :; done"),
            (
                "without any parent",
                "(setsid sh -c 'echo $$ >pid; exec sleep 300' &) ; while ! test -s pid; do :; done",
            ),
        ] {
            let _ = std::fs::remove_file(&pid);
            let ended = finish(&shell(dir.path(), script), bounds());
            assert_eq!((ended.exit, ended.left, ended.survived), (Some(Exit::Code(0)), 1, false), "{how}");
            let pid = number(&pid);
            assert!(!lives(pid), "{how}");
        }
        let _ = seen;
    }

    [Spw3] fn spw_3_who_is_no_longer_wanted_is_ended_by_word_or_by_being_dropped(seen) {
        let dir = tempfile::tempdir().unwrap();
        let pid = dir.path().join("pid");
        let script = "setsid sh -c 'echo $$ >pid; exec sleep 300' & sleep 300";
        let (say, said) = tokio::sync::oneshot::channel::<()>();
        let running = start(&shell(dir.path(), script));
        let child = number(&pid);
        say.send(()).unwrap();
        let ended = runtime().block_on(running.finish(bounds(), async { drop(said.await) }));
        assert_eq!((ended.stopped, ended.survived), (Some(Stopped::Cancelled), false));
        assert!(!lives(child));

        std::fs::remove_file(&pid).unwrap();
        let running = start(&shell(dir.path(), script));
        let (leader, child) = (running.id(), number(&pid));
        assert!(lives(leader) && lives(child));
        drop(running);
        until("both are gone", || !lives(leader) && !lives(child));

        // A future that is dropped in the middle.
        std::fs::remove_file(&pid).unwrap();
        let running = start(&shell(dir.path(), script));
        let (leader, child) = (running.id(), number(&pid));
        let runtime = runtime();
        let task = runtime.spawn(running.finish(bounds(), std::future::pending()));
        task.abort();
        until("both are gone", || !lives(leader) && !lives(child));
        let _ = seen;
    }

    [Spw3] fn spw_3_what_an_earlier_boot_has_left_is_found_by_number_start_and_mark(seen) {
        let dir = tempfile::tempdir().unwrap();
        let pid = dir.path().join("pid");
        let running = start(&shell(dir.path(), "setsid sh -c 'echo $$ >pid; trap \"\" TERM; while :; do sleep 0.02; done' & exec sleep 300"));
        let child = number(&pid);
        // What is on the disk is all that the next boot knows.
        let noted = serde_json::to_string(running.identity()).unwrap();
        let leader = running.leave();
        let known: Identity = serde_json::from_str(&noted).unwrap();
        assert_eq!(known.life(), Life::Alive);
        let within = Duration::from_millis(600);
        // Another process with the same number is not touched.
        let other = Identity { start: known.start.map(|start| start + 1), ..known.clone() };
        assert_eq!(other.life(), Life::Gone);
        assert!(spawn::end_leftover(Some(&other), &spawn::Mark::new(), within));
        assert!(lives(leader) && lives(child));

        assert!(spawn::end_leftover(Some(&known), &known.mark, within));
        assert_eq!(known.life(), Life::Gone);
        assert!(!lives(leader) && !lives(child));
        let _ = seen;
    }
}

#[test]
fn spw_3_a_flood_of_processes_is_ended_too() {
    let dir = tempfile::tempdir().unwrap();
    let begun = Instant::now();
    let script = "i=0; while test $i -lt 40; do setsid sleep 300 & i=$((i+1)); done; wait";
    let short = Bounds { time: Duration::from_millis(700), ..bounds() };
    let ended = finish(&shell(dir.path(), script), short);
    assert_eq!((ended.stopped, ended.survived), (Some(Stopped::Time), false));
    assert!(begun.elapsed() < Duration::from_secs(15));
}
