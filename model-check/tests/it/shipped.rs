//! FML-1: what is searched here is the kernel that ships, not a copy of it and not a variant.
//!
//! One half is seen while worlds run: every step goes through the kernel's own seal, and the kernel's own code decides
//! by its rules. The other half is how things are built: one package, without features, that has no code of its own
//! for whoever checks it.

use std::any::TypeId;
use std::fs;
use std::path::{Path, PathBuf};

use awakener_kernel::machine::Machine;
use awakener_model_check::engine::{Options, explore};
use awakener_model_check::process::Process;
use awakener_model_check::world::World;
use awakener_model_check::{mailbox, station, waker};
use awakener_tools::enforces;
use awakener_tools::evidence::{Capture, Rule};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a package of the workspace").to_owned()
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files of a crate's sources, in no order.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { all.extend(sources(&path)) } else { all.push(path) }
    }
    all
}

/// The machine of a process.
trait Runs {
    type Of: Machine + 'static;
}

impl<M: Machine + 'static, R, C> Runs for Process<M, R, C> {
    type Of = M;
}

/// Searches one scope on this thread and hears which rules the kernel decides by.
fn searched<W: World>(scope: &str, seen: &Capture, decided: &[Rule]) {
    let scope = W::scopes().into_iter().find(|known| known.name == scope).expect("the scope has this name");
    assert!(explore(&scope.world, &Options { threads: 1, ..Options::default() }).complete());
    for rule in decided {
        assert!(seen.saw(*rule), "{}: {rule} was never decided by the kernel", W::NAME);
    }
}

enforces! {
    [Fml1]
    fn fml_1_what_is_searched_is_what_ships(seen) {
        assert!(!seen.saw(Rule::Fml1), "nothing has stepped so far");
        let mailbox = mailbox::World::scopes().into_iter().find(|scope| scope.name == "ack").expect("the scope");
        awakener_model_check::engine::explore(&mailbox.world, &awakener_model_check::engine::Options::default());
        for rule in [Rule::Ack1, Rule::Ack3, Rule::Ack5, Rule::Inb2, Rule::Inb4, Rule::Fml1] {
            assert!(seen.saw(rule), "{rule}");
        }
        searched::<waker::World>("replay", seen, &[Rule::Ver1, Rule::Ver2, Rule::Dsp2, Rule::Dsp7]);
        searched::<station::World>("crash", seen, &[Rule::Stn2, Rule::Stn3, Rule::Stn5, Rule::Fus2]);
        let machines = [
            TypeId::of::<<mailbox::Process as Runs>::Of>(),
            TypeId::of::<<waker::Process as Runs>::Of>(),
            TypeId::of::<<station::Process as Runs>::Of>(),
        ];
        let kernel = [
            TypeId::of::<awakener_kernel::mailbox::Mailbox>(),
            TypeId::of::<awakener_kernel::waker::Waker>(),
            TypeId::of::<awakener_kernel::station::Station>(),
        ];
        assert_eq!(machines, kernel);

        // Model and shell are built from one kernel, which cannot tell who builds it.
        for user in ["model-check", "shell"] {
            let manifest = text(&root().join(user).join("Cargo.toml"));
            let line = manifest.lines().find(|line| line.starts_with("awakener-kernel"));
            assert_eq!(line, Some("awakener-kernel = { workspace = true }"), "{user}");
        }
        let workspace = text(&root().join("Cargo.toml"));
        assert!(workspace.contains("\nawakener-kernel = { path = \"kernel\", version = "), "one kernel");
        assert!(!text(&root().join("kernel/Cargo.toml")).contains("[features]"), "the kernel has no variants");
        let files = sources(&root().join("kernel/src"));
        assert!(files.len() > 30, "the sources were found");
        for path in files {
            for line in text(&path).lines().filter(|line| line.contains("cfg(") || line.contains("cfg!(")) {
                let harmless = ["#[cfg(test)]", "#[cfg(doc)]"].contains(&line.trim());
                assert!(harmless, "{}: {line}", path.display());
            }
        }
    }
}
