//! FML-2: `SCOPE.md` says what is searched now, names tests that exist, and every scope of it is pinned.

use std::path::Path;

use awakener_model_check::manifest::Manifest;
use awakener_model_check::scope_md::{markdown, names_a_test};
use awakener_model_check::world::Group;
use awakener_model_check::worlds;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

#[test]
fn fml_2_scope_md_is_as_the_worlds_are() {
    let path = Path::new(ROOT).join("model-check/SCOPE.md");
    let written = markdown(&worlds::all(), &Manifest::load(&Manifest::place()).unwrap());
    if std::env::var_os("AWAKENER_BLESS").is_some() {
        std::fs::write(&path, &written).unwrap();
    }
    let stands = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stands == written,
        "model-check/SCOPE.md is old; write it anew: cargo run --release -p awakener-model-check -- list --markdown > \
         model-check/SCOPE.md"
    );
}

#[test]
fn fml_3_what_a_submission_searches_is_pinned_and_nothing_is_that_is_not_there() {
    let manifest = Manifest::load(&Manifest::place()).unwrap();
    let (mut missing, mut known) = (Vec::new(), Vec::new());
    for world in worlds::all() {
        for scope in world.scopes() {
            known.push((world.name(), scope.name));
            if matches!(scope.group, Group::Tiny | Group::Ci)
                && manifest.pin(world.name(), scope.name).is_none()
            {
                missing.push(format!("{}/{} ({:?})", world.name(), scope.name, scope.group));
            }
        }
    }
    let lost: Vec<_> = manifest.names().filter(|name| !known.contains(name)).collect();
    assert!(missing.is_empty(), "not pinned (awakener-check check --scope GROUP --pin): {missing:?}");
    assert!(lost.is_empty(), "pinned, but nowhere: {lost:?}");
}

#[test]
fn fml_2_every_test_that_covers_a_gap_exists() {
    let mut named = 0;
    for world in worlds::all() {
        for gap in world.gaps().iter().filter(|gap| names_a_test(gap.covered_by)) {
            for test in gap.covered_by.split(", ") {
                named += 1;
                assert!(
                    exists(test),
                    "{}: nobody has the test `{test}` that covers: {}",
                    world.name(),
                    gap.what
                );
            }
        }
    }
    assert!(named > 0, "no world names a test");
    assert!(!exists("model-check/tests/it/command/scope_md.rs::no_such_test"));
    assert!(!exists("model-check/tests/it/no_such_file.rs::fml_2_every_test_that_covers_a_gap_exists"));
}

/// Whether `file::test` stands in the repository; modules between them are passed over.
fn exists(test: &str) -> bool {
    let (Some((file, _)), Some((_, name))) = (test.split_once("::"), test.rsplit_once("::")) else {
        return false;
    };
    let text = std::fs::read_to_string(Path::new(ROOT).join(file)).unwrap_or_default();
    text.contains(&format!("fn {name}(")) || text.contains(&format!("fn {name}<"))
}
