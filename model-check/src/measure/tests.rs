//! Reports of measurements in this process: what is counted is true, what is fast is not asked.

use super::*;
use job::How;

fn report(json: bool, measure: &mut dyn FnMut(&Job) -> Result<Measured, Failed>) -> (Report, String) {
    let settings = Settings { scope: Some("managers_5".to_owned()), repeat: 2, ..Settings::default() };
    let mut out = Vec::new();
    let report = run_with(&mut out, json, &[Subject::two_phase()], &settings, measure).unwrap();
    (report, String::from_utf8(out).unwrap())
}

fn here(job: &Job) -> Result<Measured, Failed> {
    Ok(child::perform(&[Subject::two_phase()], job).unwrap())
}

#[test]
fn everybody_counts_the_same_and_the_report_says_so() {
    let (report, text) = report(false, &mut here);
    assert!(report.agrees && text.ends_with("all counts agree\n"), "{text}");
    assert_eq!(report.figures.len(), 6);
    for line in &report.figures {
        let measured = line.measured;
        assert_eq!((measured.states, measured.transitions), (8_832, 58_145), "{:?}", line.job);
        assert_eq!((measured.broken, measured.reached), (0, 2));
        assert!(line.slowest_seconds >= measured.seconds);
    }
    assert!(report.figures[0].times_stateright.is_none() && report.figures[1].times_stateright.is_some());
}

#[test]
fn one_that_counts_otherwise_is_found() {
    let (report, text) = report(false, &mut |job| {
        let measured = here(job)?;
        let states = measured.states - u64::from(job.how == How::Deep);
        Ok(Measured { states, ..measured })
    });
    assert!(!report.agrees && text.ends_with("COUNTS DISAGREE\n"), "{text}");
}

#[test]
fn the_json_has_every_figure_with_its_units_in_its_name() {
    let (_, text) = report(true, &mut here);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let first = &json["figures"][0];
    for (key, value) in [("world", "two_phase"), ("scope", "managers_5"), ("how", "stateright_dfs")] {
        assert_eq!(first[key], value);
    }
    assert_eq!((&first["threads"], &first["states"]), (&1.into(), &8_832.into()));
    for key in ["seconds", "transitions_per_second", "states_per_second", "slowest_seconds"] {
        assert!(first[key].is_f64(), "{key}");
    }
    assert_eq!(json["published"][0]["transitions_per_second"], 378_000.0);
    assert_eq!(json["agrees"], true);
}

#[test]
fn what_does_not_exist_is_said_with_what_does() {
    let run = |settings: &Settings| {
        run_with(&mut Vec::new(), false, &[Subject::two_phase()], settings, &mut here)
            .unwrap_err()
            .to_string()
    };
    let world = run(&Settings { world: Some("none".to_owned()), ..Settings::default() });
    assert_eq!(world, "no such world; there are: two_phase");
    let scope = run(&Settings { scope: Some("none".to_owned()), ..Settings::default() });
    assert!(scope.starts_with("no such scope of two_phase; there are: managers_3, managers_5"), "{scope}");
}
