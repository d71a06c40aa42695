//! Which adapter was tried on what: the README's table, from the list in the code; and runtimes that are not built.

use std::time::Duration;

use awakener::manifest::Runtime;
use awakener::wake::{Means, Standing};
use awakener_kernel::values::DispatchOutcome;
use awakener_kernel::waker::Fate;
use awakener_tools::{enforces_process, workspace};

use super::suite::order;
use super::{chosen, private};
use crate::wake::rig::run;

#[test]
fn cap_3_the_readme_tells_of_each_adapter_what_it_was_tried_on() {
    let mut table = "| runtime | adapter | tried on |\n|---|---|---|\n".to_owned();
    for runtime in Runtime::ALL {
        let (standing, on) = Standing::of(runtime);
        table += &format!("| `{}` | {} | {on} |\n", runtime.name(), standing.word());
    }
    let readme = std::fs::read_to_string(workspace().join("README.md")).unwrap();
    assert!(readme.contains(&table), "the README lacks this table:\n{table}");
}

enforces_process! {
    [Cap3, Dsp3]
    fn cap_3_a_known_runtime_without_an_adapter_is_unavailable_and_no_error(_seen) {
        let folder = private();
        let lines = [
            (Runtime::Cmux, "surface = \"s\""),
            (Runtime::DesktopNotification, ""),
            (Runtime::TurnHook, "host = \"claude-code\""),
            (Runtime::External, "argv = [\"adapter\"]"),
            // It is built, and has no station in the configuration.
            (Runtime::LocalRunner, "argv = [\"agent\"]\nfolder = \"/srv\""),
        ];
        run(async {
            for (runtime, keys) in lines {
                assert!((Standing::of(runtime).0 == Standing::Planned) == (runtime != Runtime::LocalRunner));
                let lines = format!("runtime = \"{}\"\n{keys}", runtime.name());
                let adapter = chosen(folder.path(), &lines, &Means::default());
                let order = order(1, Duration::from_secs(5), false);
                assert_eq!(adapter.dispatch(&order).await, DispatchOutcome::Unavailable, "{runtime:?}");
                assert_eq!(adapter.probe(&order).await, Fate::CannotTell);
                let can = adapter.capabilities();
                assert!(!can.status && !can.verifies && !can.proves_gone);
                assert!(format!("{adapter:?}").contains(&format!("{runtime:?}")), "{adapter:?}");
            }
            // The control: one that is built.
            let fake = chosen(folder.path(), "runtime = \"fake\"\noutcome = \"notified_verified\"", &Means::default());
            assert_eq!(fake.dispatch(&order(1, Duration::from_secs(5), false)).await, DispatchOutcome::NotifiedVerified);
        });
    }
}
