//! The configuration as people meet it: what it refuses, how it says so, and who wins.
//!
//! Rules: CON-1, CAP-5, FUS-3, PRT-3, RTE-1.

use std::path::PathBuf;

use awakener::config::{Config, Mode, Origin, Problem, Problems, Sources};
use awakener_kernel::ids::{SchemaRef, Target, Tier};
use awakener_kernel::time::Millis;
use awakener_spec::Reason;
use awakener_tools::enforces;
use tempfile::TempDir;

/// A configuration file with this text, in a directory that lives as long as the result.
fn file(text: &str) -> (TempDir, Sources) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("awakener.toml");
    std::fs::write(&path, text).unwrap();
    (dir, Sources { file: Some(path), ..Sources::default() })
}

fn load(text: &str) -> Result<Config, Problems> {
    Config::load(&file(text).1)
}

fn only(text: &str) -> Problem {
    let problems = load(text).unwrap_err().0;
    assert_eq!(problems.len(), 1, "{text}: {problems:?}");
    problems.into_iter().next().unwrap()
}

fn line(problem: &Problem) -> usize {
    match &problem.origin {
        Origin::File { line, .. } => *line,
        other => panic!("{problem} comes from {other}"),
    }
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

enforces! {
    [Con1]
    fn con_1_an_unknown_key_or_value_is_refused_with_file_line_and_what_was_meant(seen) {
        let runner = |more: &str| {
            format!(
                "[models.m]\nwindow = 2\nbudget = 1\n[stations.mataya-dyad]\nrunner = \"local-runner\"\nfolder = \"/agents\"\n\
                 argv = [\"sh\", \"{{name}}\"]\n{more}model = \"m\"\n"
            )
        };
        assert!(load(&runner("")).is_ok(), "{}", load(&runner("")).unwrap_err());
        assert!(load(&runner("preset = \"gemini\"\nenv = [\"GEMINI_API_KEY\"]\ntimeout = \"5m\"\n")).is_ok());
        // Text, line, key, nearest.
        let table: &[(&str, usize, &str, Option<&str>)] = &[
            ("mod = \"trial\"\n", 1, "mod", Some("mode")),
            ("\n[htpp]\nlisten = \"127.0.0.1:1\"\n", 2, "htpp", Some("http")),
            ("[http]\n\nlisen = \"127.0.0.1:1\"\n", 3, "http.lisen", Some("http.listen")),
            ("[limits]\ncooldwn = \"5s\"\n", 2, "limits.cooldwn", Some("limits.cooldown")),
            ("mode = \"trial\"\n[models.fake]\nwindow = 2\nbudget = 1\n[stations.mataya-dyad]\nrunnr = \"fake\"\n", 6, "stations.mataya-dyad.runnr",
             Some("stations.mataya-dyad.runner")),
            ("[zzzzzz]\n", 1, "zzzzzz", None),
            ("mode = \"prodution\"\n", 1, "mode", Some("production")),
            ("[limits]\ncooldown = \"5 s\"\n", 2, "limits.cooldown", None),
            ("[limits]\ncooldown = -5\n", 2, "limits.cooldown", None),
            ("[limits]\ncooldown = 1.5\n", 2, "limits.cooldown", None),
            ("[http]\nlisten = \"localhost:7717\"\n", 2, "http.listen", None),
            ("http = 1\n", 1, "http", None),
            ("[mode]\n", 1, "mode", None),
            ("[stations.Mataya]\nturn = 1\n", 1, "stations.Mataya", None),
            ("[routes]\nreport = 2\n", 2, "routes.report", None),
            ("version = 2\n", 1, "version", None),
            ("[broker]\nkind = \"http\"\npush = []\n", 3, "broker.push", None),
            ("[models.big]\nwindow = 1\n", 2, "models.big.budget", None),
            ("mode = \"trial\"\n[models.big]\nwindow = 2\nbudget = 1\n[stations.mataya-dyad]\nmodel = \"bg\"\n", 6,
             "stations.mataya-dyad.model", Some("big")),
            (&runner("prset = \"codex\"\n"), 8, "stations.mataya-dyad.prset", Some("stations.mataya-dyad.preset")),
            (&runner("preset = \"codx\"\n"), 8, "stations.mataya-dyad.preset", Some("codex")),
            (&runner("argv = \"codex\"\n").replace("argv = [\"sh\", \"{name}\"]\n", ""), 7, "stations.mataya-dyad.argv", None),
            (&runner("").replace("argv = [\"sh\", \"{name}\"]\n", ""), 5, "stations.mataya-dyad.argv", None),
            (&runner("").replace("folder = \"/agents\"\n", ""), 5, "stations.mataya-dyad.folder", None),
            (&runner("").replace("{name}", "{nme}"), 7, "stations.mataya-dyad.argv", Some("name")),
            (&runner("preset = \"codex\"\n").replace("{name}", "{directive}"), 7, "stations.mataya-dyad.argv", None),
            (&runner("env = [\"api-key\"]\n"), 8, "stations.mataya-dyad.env", None),
            (&runner("timeout = \"5h\"\n"), 8, "stations.mataya-dyad.timeout", None),
            (&runner("script = [\"complete\"]\n"), 8, "stations.mataya-dyad.script", None),
            (&runner("").replace("local-runner", "local-runer"), 5, "stations.mataya-dyad.runner", Some("local-runner")),
        ];
        for &(text, at, key, nearest) in table {
            let problem = only(text);
            seen.refusal(problem.reason);
            assert_eq!(problem.reason, Reason::ConfigMalformed, "{text}");
            assert_eq!((line(&problem), problem.key.as_str()), (at, key), "{text}: {problem}");
            assert_eq!(problem.nearest.as_deref(), nearest, "{text}: {problem}");
            let said = problem.to_string();
            assert!(said.contains(&format!("awakener.toml:{at}: `{key}`")), "{said}");
        }
        // The positive control: the same keys, written right.
        let good = "mode = \"trial\"\n[http]\nlisten = \"127.0.0.1:1\"\n[limits]\ncooldown = \"5s\"\n\
                    [stations.mataya-dyad]\nrunner = \"fake\"\n[models.fake]\nwindow = 2\nbudget = 1\n[routes]\n\"report/1\" = 2\n\
                    [models.big]\nwindow = 1\nbudget = 1\n[broker]\nkind = \"http\"\n\
                    push = [\"http://127.0.0.1:7718/v1/hints\"]\n";
        let config = load(good).unwrap();
        assert_eq!(config.limits.cooldown, Millis::seconds(5));
        assert_eq!(config.routes[&SchemaRef::parse("report/1").unwrap()], Tier::Two);
        assert_eq!(config.stations[&Target::parse("mataya-dyad").unwrap()].script, [awakener::station::fake::Turn::Complete]);
    }

    [Con1]
    fn con_1_what_cannot_be_read_is_refused_and_everything_wrong_is_said_at_once(_seen) {
        assert_eq!(line(&only("mode = \n")), 1);
        assert_eq!(line(&only("mode = \"trial\"\nmode = \"trial\"\n")), 2);
        let absent = Sources { file: Some(PathBuf::from("/nonexistent/awakener.toml")), ..Sources::default() };
        assert_eq!(line(&Config::load(&absent).unwrap_err().0[0]), 0);
        let problems = load("a = 1\nb = 2\n[http]\nc = 3\n").unwrap_err();
        let keys: Vec<&str> = problems.0.iter().map(|problem| problem.key.as_str()).collect();
        assert_eq!(keys, ["a", "b", "http.c"]);
    }

    [Con1]
    fn con_1_flags_win_over_environment_over_file_over_built_in(_seen) {
        let (_dir, mut sources) = file("[limits]\ncooldown = \"4s\"\n");
        let value = |sources: &Sources| {
            let config = Config::load(sources).unwrap();
            let (_, effective) = config.origins().find(|(key, _)| key == "limits.cooldown").unwrap();
            (config.limits.cooldown.0, effective.origin.clone())
        };
        assert_eq!(value(&Sources::default()), (30_000, Origin::BuiltIn));
        let path = sources.file.clone().unwrap();
        assert_eq!(value(&sources), (4_000, Origin::File { path, line: 2 }));
        sources.env = pairs(&[("AWAKENER_LIMITS__COOLDOWN", "3s"), ("HOME", "/"), ("AWAKENER_STATE", "/x")]);
        assert_eq!(value(&sources), (3_000, Origin::Env("AWAKENER_LIMITS__COOLDOWN".into())));
        sources.flags = pairs(&[("limits.cooldown", "9s"), ("limits.cooldown", "2s")]);
        assert_eq!(value(&sources), (2_000, Origin::Flag));

        sources.env = pairs(&[("AWAKENER_LIMITS__COOLDWN", "3s")]);
        let problem = Config::load(&sources).unwrap_err().0.remove(0);
        assert_eq!(problem.origin, Origin::Env("AWAKENER_LIMITS__COOLDWN".into()));
        assert_eq!(problem.nearest.as_deref(), Some("AWAKENER_LIMITS__COOLDOWN"));
        sources.env.clear();
        sources.flags = pairs(&[("limits.cooldwn", "2s")]);
        let problem = Config::load(&sources).unwrap_err().0.remove(0);
        assert_eq!((problem.origin, problem.nearest.as_deref()), (Origin::Flag, Some("limits.cooldown")));
    }

    [Fus3]
    fn fus_3_every_limit_is_bounded_by_what_is_compiled_in_and_the_line_is_named(_seen) {
        for limit in awakener_kernel::config::Config::default().table() {
            for (value, fits) in
                [(limit.floor, true), (limit.ceiling, true), (limit.ceiling + 1, false), (limit.floor - 1, false)]
            {
                let text = format!("[limits]\n\n{} = {value}\n", limit.name);
                if fits {
                    let config = load(&text).unwrap();
                    let held = config.limits.table().into_iter().find(|l| l.name == limit.name).unwrap();
                    assert_eq!(held.value, value);
                } else {
                    let problem = only(&text);
                    assert_eq!((line(&problem), problem.key), (3, format!("limits.{}", limit.name)));
                }
            }
        }
        let problem = only("[limits]\ncooldown = \"2h\"\n");
        assert_eq!(problem.what, "2h is above its ceiling: floor 1ms, ceiling 1h, both compiled in");
        // Beyond 32 bits, and two at once.
        let problems = load("[limits]\nqueue = 99999999999\npage = 0\n").unwrap_err();
        assert!(problems.0.iter().any(|p| p.what.starts_with("99999999999 is above")), "{problems}");
        assert!(problems.0.iter().any(|p| p.what.starts_with("0 is below")), "{problems}");
    }

    [Cap5]
    fn cap_5_production_refuses_what_only_a_trial_may_have(seen) {
        for (text, at) in [
            ("mode = \"production\"\n[trial]\npause_at = [\"before_commit\"]\n", 3),
            ("[trial]\npause_at = [\"before_commit\"]\n", 2),
            ("[trial]\npause_at = []\n", 2),
            ("[stations.mataya-dyad]\nrunner = \"fake\"\n[models.fake]\nwindow = 2\nbudget = 1\n", 2),
        ] {
            let problem = only(text);
            seen.refusal(problem.reason);
            assert_eq!((problem.reason, line(&problem)), (Reason::PauseRefused, at), "{text}");
            let trial = text.replace("mode = \"production\"\n", "");
            let config = load(&format!("mode = \"trial\"\n{trial}")).unwrap();
            assert_eq!(config.mode, Mode::Trial);
        }
        assert_eq!(Config::built_in().unwrap().mode, Mode::Production);
    }

    [Prt3]
    fn prt_3_listeners_are_on_loopback_unless_a_proxy_is_named(seen) {
        let open = "[http]\nlisten = \"0.0.0.0:7717\"\n";
        let problem = only(open);
        seen.refusal(problem.reason);
        assert_eq!((problem.reason, line(&problem)), (Reason::NotLoopback, 2));
        assert!(load(&format!("{open}expose = \"behind-tls-proxy\"\n")).is_ok());
        assert!(load("[http]\nlisten = \"[::1]:7717\"\n").is_ok());
        assert_eq!(only("[wake]\nlisten = \"192.0.2.1:7718\"\n").reason, Reason::NotLoopback);
    }

    [Rte1]
    fn rte_1_configuration_gives_tiers_1_to_3_and_never_0(_seen) {
        for tier in [0, 4] {
            let problem = only(&format!("[routes]\n\"report/1\" = {tier}\n"));
            assert_eq!((line(&problem), problem.key.as_str()), (2, "routes.\"report/1\""));
        }
        for tier in 1..=3 {
            let config = load(&format!("[routes]\n\"report/1\" = {tier}\n")).unwrap();
            assert_eq!(config.routes[&SchemaRef::parse("report/1").unwrap()].get(), tier);
        }
    }
}

#[test]
fn con_1_the_hash_is_that_of_the_values_and_not_of_where_they_come_from() {
    let (_dir, from_file) = file("[limits]\ncooldown = \"4s\"\n");
    let from_env = Sources { env: pairs(&[("AWAKENER_LIMITS__COOLDOWN", "4000")]), ..Sources::default() };
    let other = Sources { env: pairs(&[("AWAKENER_LIMITS__COOLDOWN", "4001")]), ..Sources::default() };
    let hash = |sources: &Sources| Config::load(sources).unwrap().hash();
    assert_eq!(hash(&from_file), hash(&from_env));
    assert_ne!(hash(&from_env), hash(&other));
}

#[test]
fn con_1_the_manifest_stands_beside_the_configuration() {
    let (dir, sources) = file("manifest = \"mine.toml\"\n");
    assert_eq!(Config::load(&sources).unwrap().manifest, dir.path().join("mine.toml"));
}
