//! The registry of controls fits the sources, the rules and the worlds, without building anything.
//!
//! Whether the controls fall is what `awakener-check controls` finds out. Here: that each still applies, names what is
//! there, and that no rule, no law and no state variable is without one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use awakener_model_check::controls::registry::{Mutation, Registry, Search};
use awakener_model_check::controls::{Ending, Fallen, Place, Said, judge, look};
use awakener_model_check::worlds::{self, Listed};
use awakener_tools::enforces;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a package of the workspace").to_owned()
}

/// What a world has: its name, its laws, its scopes.
type Known = (&'static str, Vec<&'static str>, BTreeSet<&'static str>);

fn known() -> Vec<Known> {
    let known = |world: Box<dyn Listed>| {
        let laws = world.laws().iter().map(|law| law.name).collect();
        (world.name(), laws, world.scopes().iter().map(|scope| scope.name).collect())
    };
    worlds::all().into_iter().map(known).collect()
}

fn nothing(wrong: Vec<String>) {
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn cnf_3_every_control_still_applies() {
    nothing(look(&root()).expect("the registry can be read"));
}

#[test]
fn fml_5_every_control_names_laws_and_scopes_that_exist() {
    let registry = Registry::read(&root()).expect("the registry can be read");
    let worlds = known();
    let mut wrong = Vec::new();
    let world = |name: &str| worlds.iter().find(|(known, ..)| *known == name);
    for mutation in registry.mutation.iter().filter(|mutation| mutation.search == Search::Check) {
        let Some((_, laws, scopes)) = world(&mutation.world) else {
            wrong.push(format!("{}: there is no world {}", mutation.name, mutation.world));
            continue;
        };
        if !scopes.contains(mutation.scope.as_str()) {
            wrong.push(format!("{}: {} has no scope {}", mutation.name, mutation.world, mutation.scope));
        }
        for law in [&mutation.killer].into_iter().chain(&mutation.also) {
            if !laws.contains(&law.as_str()) {
                wrong.push(format!("{}: {} has no law `{law}`", mutation.name, mutation.world));
            }
        }
    }
    for frozen in &registry.frozen {
        for text in frozen.tries.iter().chain(frozen.first.values()) {
            let there = Place::of(text).filter(|place| {
                place.search == Search::Liveness
                    || world(&place.world).is_some_and(|(_, _, scopes)| scopes.contains(place.scope.as_str()))
            });
            if there.is_none() {
                wrong.push(format!("{}: there is no {text}", frozen.name));
            }
        }
        for (field, why) in &frozen.excused {
            if why.len() < 20 {
                wrong.push(format!("{}.{field}: an excuse says why", frozen.name));
            }
        }
    }
    nothing(wrong);
}

enforces! {
    [Fml5]
    fn fml_5_a_control_is_good_if_its_own_law_falls_for_its_own_reason(_seen) {
        let registry = Registry::read(&root()).expect("the registry can be read");
        let known = registry.mutation.iter().find(|m| !m.message.is_empty() && m.also.is_empty());
        let control = known.expect("a control that names one law and its reason");
        let fell = |law: &str, way: &str| Fallen { law: law.to_owned(), way: vec![way.to_owned()] };
        let own = fell(&control.killer, &control.message);
        let good = judge(control, &Said::Complete(vec![own.clone()]));
        assert_eq!(good, Ending::Fell(control.killer.clone(), 1, Vec::new()));
        for (said, why) in [
            (Said::Complete(Vec::new()), "SURVIVED"),
            (Said::Complete(vec![fell("another law", &control.message)]), "unnamed"),
            (Said::Complete(vec![own, fell("another law", "")]), "fell as well"),
            (Said::Complete(vec![fell(&control.killer, "another way")]), "but not by"),
            (Said::Incomplete("cut by states".to_owned()), "INCOMPLETE"),
            (Said::Broke("a panic".to_owned()), "broke down"),
        ] {
            let Ending::Failed(told) = judge(control, &said) else { panic!("{said:?} passes") };
            assert!(told.contains(why), "{told}");
        }
    }
}

#[test]
fn fml_5_every_law_falls_to_some_control() {
    let registry = Registry::read(&root()).expect("the registry can be read");
    let mut wrong = Vec::new();
    // The laws of cyclic worlds are those of the wide ones again; their claims are shown not to be empty by `liveness`.
    for (world, laws, _) in known().into_iter().filter(|(world, ..)| !world.starts_with("cyclic-")) {
        let named = |law: &str| {
            let of = |mutation: &&Mutation| mutation.world == world;
            registry.mutation.iter().filter(of).any(|m| m.killer == law || m.also.iter().any(|a| a == law))
        };
        wrong.extend(
            laws.into_iter().filter(|law| !named(law)).map(|law| format!("{world}: nothing kills `{law}`")),
        );
    }
    nothing(wrong);
}
