//! A report as text: one line per scope and claim, runs where something falls or where a condition earns its place.

use std::fmt;

use super::all::{Claim, Report, Verdict, Way};

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Holds => "holds",
            Self::Lasso => "LASSO",
            Self::Idle => "idle here",
            Self::Defect => "DEFECT",
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { world, scope, states, edges, seconds, .. } = self;
        writeln!(f, "{world} {scope}: {states} states, {edges} edges, {seconds:.1} s")?;
        match self.second {
            Some(second) if second == *states => writeln!(f, "  the second count agrees")?,
            Some(second) => writeln!(f, "  THE SECOND COUNT SAYS {second}")?,
            None => {}
        }
        match &self.form {
            Ok(met) => writeln!(
                f,
                "  the form holds on {} concrete states of {} forms, {} compared",
                met.concrete, met.forms, met.compared
            )?,
            Err(difference) => writeln!(f, "  THE FORM FOLDS TOO MUCH: {difference}")?,
        }
        for broken in &self.broken {
            writeln!(f, "  BROKEN {}", broken.law)?;
            steps(f, "    ", &broken.way)?;
        }
        self.claims.iter().try_for_each(|claim| write!(f, "{claim}"))
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  {:9} {}", self.verdict, self.name)?;
        for defect in &self.defects {
            writeln!(f, "    {defect}")?;
        }
        for idle in &self.idle {
            writeln!(f, "    never met: {idle}")?;
        }
        if let Some(lasso) = &self.lasso {
            write!(f, "{lasso}")?;
        }
        for condition in &self.fairness {
            let strength = format!("{:?}", condition.strength).to_lowercase();
            match &condition.without {
                None => writeln!(f, "    {strength} \"{}\": not needed here", condition.name)?,
                Some(way) => {
                    let (stem, cycle) = (way.stem.len(), way.cycle.len());
                    writeln!(
                        f,
                        "    {strength} \"{}\": without it {stem} steps, then {cycle} without end",
                        condition.name
                    )?;
                }
            }
        }
        Ok(())
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        steps(f, "    ", &self.stem)?;
        if self.cycle.is_empty() {
            return writeln!(f, "    and rests");
        }
        writeln!(f, "    and without end:")?;
        steps(f, "      ", &self.cycle)
    }
}

fn steps(f: &mut fmt::Formatter<'_>, indent: &str, way: &[serde_json::Value]) -> fmt::Result {
    way.iter().enumerate().try_for_each(|(i, step)| writeln!(f, "{indent}{:3}. {step}", i + 1))
}
