//! The manifest as people meet it: one file, taken whole or not at all.
//!
//! Rules: CAP-1, CAP-2, CAP-3, COL-1, DSP-2, DSP-8, LSN-2.

use std::path::Path;

use awakener::config::{Mode, Origin, Problem};
use awakener::manifest::{Eligibility, Manifest, Runtime, StartOn};
use awakener_kernel::ids::Target;
use awakener_kernel::time::Millis;
use awakener_spec::Reason;
use awakener_tools::enforces;

/// The two agents of the founding document, as they stand there.
const EXAMPLE: &str = r#"
[agents.mataya-dyad]
runtime = "agentapi"
endpoint = "http://127.0.0.1:9403/message"
headless = true
tier0_ack = true
max_concurrent_wakes = 1
status_endpoint = "http://127.0.0.1:9503/status"

[agents.desktop-human]
runtime = "desktop-notification"
headless = false
tier0_ack = false
requires_human_submit = true
"#;

fn load_in(text: &str, mode: Mode) -> Manifest {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("agents.toml");
    std::fs::write(&path, text).unwrap();
    Manifest::load(&path, mode)
}

fn load(text: &str) -> Manifest {
    load_in(text, Mode::Production)
}

fn only(text: &str) -> Problem {
    let manifest = load(text);
    let problems = &manifest.refused().unwrap_or_else(|| panic!("{text} was accepted")).0;
    assert_eq!(problems.len(), 1, "{text}: {problems:?}");
    problems[0].clone()
}

fn target(name: &str) -> Target {
    Target::parse(name).unwrap()
}

enforces! {
    [Cap1]
    fn cap_1_the_founding_example_loads_as_it_stands(_seen) {
        let manifest = load(EXAMPLE);
        assert_eq!(manifest.refused(), None);
        let dyad = manifest.agent(&target("mataya-dyad")).unwrap();
        assert_eq!((dyad.runtime, dyad.headless, dyad.tier0_ack), (Runtime::Agentapi, true, true));
        assert_eq!(dyad.text("endpoint"), Some("http://127.0.0.1:9403/message"));
        assert_eq!(dyad.text("status_endpoint"), Some("http://127.0.0.1:9503/status"));
        assert!(dyad.unattended());
        let human = manifest.agent(&target("desktop-human")).unwrap();
        assert_eq!(human.eligibility(), Eligibility::Attended);
        assert!(!human.unattended());
    }

    [Cap1]
    fn cap_1_what_is_left_out_has_its_default(_seen) {
        for head in ["", "version = 1\n"] {
            let manifest = load(&format!("{head}[agents.a]\nruntime = \"turn-hook\"\nhost = \"claude-code\"\n"));
            let agent = manifest.agent(&target("a")).unwrap();
            assert_eq!((agent.cooldown, agent.start_on), (Millis::seconds(30), StartOn::Hint));
            assert!(!agent.headless && !agent.tier0_ack && !agent.requires_human_submit);
        }
        assert_eq!(only("version = 2\n").key, "version");
    }

    [Cap2]
    fn cap_2_anything_unknown_refuses_the_file_with_line_key_and_what_was_meant(seen) {
        let agent = "[agents.a]\nruntime = \"agentapi\"\nendpoint = \"http://127.0.0.1:1/message\"\n";
        let table = [
            (format!("{agent}teir0_ack = true\n"), 4, "agents.a.teir0_ack", Some("tier0_ack")),
            (format!("{agent}max_concurent_wakes = 1\n"), 4, "agents.a.max_concurent_wakes", Some("max_concurrent_wakes")),
            (format!("{agent}zzz = 1\n"), 4, "agents.a.zzz", None),
            (format!("{agent}session = \"x\"\n"), 4, "agents.a.session", None),
            (format!("{agent}headless = \"yes\"\n"), 4, "agents.a.headless", None),
            (format!("{agent}cooldown = \"2h\"\n"), 4, "agents.a.cooldown", None),
            (format!("{agent}start_on = \"hnt\"\n"), 4, "agents.a.start_on", Some("hint")),
            (format!("{agent}start_on = \"mail\"\n"), 4, "agents.a.start_on", None),
            (format!("{agent}token_env = \"my secret\"\n"), 4, "agents.a.token_env", None),
            ("[agents.a]\nruntime = \"agentpi\"\n".into(), 2, "agents.a.runtime", Some("agentapi")),
            ("[agents.a]\nruntime = \"agentapi\"\n".into(), 1, "agents.a.endpoint", None),
            ("[agents.a]\nruntime = \"agentapi\"\nendpoint = \"http://u:p@h/\"\n".into(), 3, "agents.a.endpoint", None),
            ("[agents.a]\nruntime = \"agentapi\"\nendpoint = \"http://192.0.2.1:3284\"\n".into(), 3, "agents.a.endpoint", None),
            (format!("{agent}status_endpoint = \"https://127.0.0.1:1/status\"\n"), 4, "agents.a.status_endpoint", None),
            (format!("{agent}token_env = \"A\"\ntoken_file = \"a\"\n"), 5, "agents.a.token_file", None),
            ("[agents.a]\nruntime = \"webhook\"\nurl = \"https://example.invalid/\"\n".into(), 1, "agents.a.secret_env", None),
            ("[agents.a]\nruntime = \"webhook\"\nsecret_env = \"S\"\nurl = \"http://192.168.0.1/\"\n".into(), 4, "agents.a.url", None),
            ("[agents.a]\nheadless = true\n".into(), 1, "agents.a.runtime", None),
            ("[agents.a]\nrunime = \"tmux\"\n".into(), 2, "agents.a.runime", Some("runtime")),
            ("\n[agents.\"a.b\"]\nruntime = \"tmux\"\n".into(), 2, "agents.\"a.b\"", None),
            ("[agent.a]\n".into(), 1, "agent", Some("agents")),
            ("agents = 1\n".into(), 1, "agents", None),
            ("[agents]\na = 1\n".into(), 2, "agents.a", None),
            ("[agents.a\n".into(), 1, "", None),
            ("[agents.a]\nruntime = \"local-runner\"\nargv = [\"run\", \"{nmae}\"]\nfolder = \"/x\"\n".into(),
             3, "agents.a.argv", Some("name")),
        ];
        for (text, at, key, nearest) in table {
            let problem = only(&text);
            seen.refusal(problem.reason);
            let Origin::File { line, .. } = &problem.origin else { panic!("{problem}") };
            assert_eq!((problem.reason, *line, problem.key.as_str()), (Reason::ManifestRefused, at, key), "{text}");
            assert_eq!(problem.nearest.as_deref(), nearest, "{text}: {problem}");
        }
        assert!(load(agent).refused().is_none());
    }

    [Cap2]
    fn cap_2_a_refused_manifest_is_a_value_that_knows_nobody(_seen) {
        let good_and_bad = format!("{EXAMPLE}\n[agents.third]\nruntime = \"telepathy\"\n");
        let refused = load(&good_and_bad);
        assert!(refused.refused().is_some());
        assert_eq!(refused.agent(&target("mataya-dyad")), None);
        assert_eq!(refused.agents().count(), 0);
        assert!(Manifest::load(Path::new("/nonexistent/agents.toml"), Mode::Trial).refused().is_some());
        assert_eq!(load(EXAMPLE).agents().count(), 2);
    }

    [Cap2]
    fn cap_2_at_reload_a_refused_file_leaves_the_old_one(_seen) {
        let (kept, problems) = load(EXAMPLE).reloaded(load("zzz = 1\n"));
        assert_eq!((kept.agents().count(), problems.is_some()), (2, true));
        let (new, problems) = load(EXAMPLE).reloaded(load(""));
        assert_eq!((new.agents().count(), problems), (0, None));
        let (new, problems) = load("zzz = 1\n").reloaded(load(EXAMPLE));
        assert_eq!((new.agents().count(), problems), (2, None));
        let (still, problems) = load("zzz = 1\n").reloaded(load("yyy = 1\n"));
        assert!(still.refused().is_some() && problems.is_some());
    }

    [Dsp8]
    fn dsp_8_who_cannot_acknowledge_is_not_woken_unattended(_seen) {
        let agent = |more: &str| {
            let text = format!("[agents.a]\nruntime = \"agentapi\"\nendpoint = \"http://127.0.0.1:1/\"\n{more}");
            load(&text).agent(&target("a")).map(|agent| agent.eligibility())
        };
        assert_eq!(agent("tier0_ack = true\nheadless = true\n"), Some(Eligibility::Unattended));
        assert_eq!(agent("tier0_ack = false\nheadless = true\n"), Some(Eligibility::None));
        assert_eq!(agent("headless = true\n"), Some(Eligibility::None));
        assert_eq!(agent("requires_human_submit = true\n"), Some(Eligibility::Attended));
        assert_eq!(agent("tier0_ack = true\nrequires_human_submit = true\n"), Some(Eligibility::Attended));
        assert_eq!(agent("headless = true\nrequires_human_submit = true\n"), None);
    }

    [Dsp8, Cap2]
    fn dsp_8_headless_and_a_human_who_submits_contradict(seen) {
        let problem = only(&EXAMPLE.replace("headless = false", "headless = true"));
        seen.refusal(problem.reason);
        assert_eq!(problem.key, "agents.desktop-human.requires_human_submit");
        let Origin::File { line, .. } = problem.origin else { panic!() };
        assert_eq!(line, 14);
    }

    [Dsp9]
    fn dsp_9_two_agents_have_no_pane_in_common(_seen) {
        let agent = |name: &str, more: &str| {
            format!("[agents.{name}]\nruntime = \"tmux\"\nsession = \"s\"\nprompt = \">\"\n{more}\n")
        };
        let both = |one: &str, other: &str| agent("a", one) + &agent("b", other);
        for same in [("command = \"x\"", "command = \"x\""), ("command = \"x\"\npane = \"0.1\"", "command = \"x\""),
                     ("command = \"x\"\npane = \"0.1\"", "command = \"y\"\npane = \"0.1\"")] {
            assert_eq!(only(&both(same.0, same.1)).key, "agents.b.session", "{same:?}");
        }
        for apart in [("command = \"x\"", "command = \"y\""), ("command = \"x\"", "command = \"x\"\nsocket = \"/s\""),
                      ("command = \"x\"\npane = \"0.1\"", "command = \"x\"\npane = \"0.2\"")] {
            assert_eq!(load(&both(apart.0, apart.1)).refused(), None, "{apart:?}");
        }
    }

    [Dsp2]
    fn dsp_2_more_than_one_wake_at_a_time_is_refused(_seen) {
        for number in [0, 2] {
            let problem = only(&EXAMPLE.replace("wakes = 1", &format!("wakes = {number}")));
            assert_eq!(problem.key, "agents.mataya-dyad.max_concurrent_wakes");
        }
    }
}

#[test]
fn cap_3_each_runtime_loads_with_its_required_keys_and_the_fake_only_in_a_trial() {
    let needs = [
        ("agentapi", "endpoint = \"http://127.0.0.1:1/\""),
        ("tmux", "session = \"s\"\ncommand = \"agent\"\nprompt = \"> \"\nbusy = [\"esc to interrupt\"]"),
        ("cmux", "surface = \"s\""),
        ("webhook", "url = \"https://example.invalid/hook\"\nsecret_env = \"HOOK_SECRET\""),
        ("desktop-notification", ""),
        ("local-runner", "argv = [\"codex\", \"exec\", \"{name}\"]\nfolder = \"/srv/a\"\nenv = [\"LANG\"]"),
        ("turn-hook", "host = \"claude-code\""),
        ("external", "argv = [\"adapter\"]"),
        ("fake", "outcome = \"refused_busy\"\ndelay = \"5ms\""),
    ];
    assert_eq!(needs.map(|(name, _)| name), Runtime::ALL.map(Runtime::name));
    for (name, keys) in needs {
        let text = format!("[agents.a]\nruntime = \"{name}\"\n{keys}\n");
        assert_eq!(load_in(&text, Mode::Trial).refused(), None, "{name}");
        assert_eq!(load(&text).refused().is_some(), name == "fake", "{name}");
        let bare = load_in(&format!("[agents.a]\nruntime = \"{name}\"\n"), Mode::Trial);
        assert_eq!(bare.refused().is_none(), name == "desktop-notification", "{name}");
    }
    let fake =
        load_in("[agents.a]\nruntime = \"fake\"\noutcome = \"refused_busy\"\ndelay = \"5ms\"\n", Mode::Trial);
    assert_eq!(fake.agent(&target("a")).unwrap().millis("delay"), Some(Millis(5)));
}
