//! The corpus of the fuzzer at the doors of the shell: each file goes through its target.

mod judge;

use std::fs;

use awakener_kernel::audit;
use awakener_kernel::ids::ContentHash;
use awakener_kernel::json::canonical;
use serde_json::json;

const CONFIG: &str = "version = 1\nmode = \"trial\"\nplane = \"main\"\n\n[limits]\ncooldown = \"5s\"\n\n\
    [models.fake]\nwindow = 20000\nbudget = 1000\n\n[stations.lotse]\nlisten = \"127.0.0.1:9403\"\n\
    script = [\"complete\", \"silence\"]\n";

const MANIFEST: &str = "version = 1\n[agents.builder]\nruntime = \"tmux\"\nsession = \"builder\"\ncommand = \"agent\"\n\
    prompt = \"> \"\nbusy = [\"esc to interrupt\"]\nheadless = true\ntier0_ack = true\n\n[agents.remote]\n\
    runtime = \"webhook\"\nurl = \"https://agents.example/wake\"\nsecret_env = \"REMOTE_SECRET\"\n";

fn chain() -> String {
    let mut prev = ContentHash([0; 32]);
    let mut lines = String::new();
    for position in 1..=3 {
        let entry = json!({"v": 1, "position": position, "prev": prev, "machine": "mailbox", "records": []});
        prev = audit::hash(&canonical(&entry));
        lines += &format!("{}\n", json!({"position": position, "hash": prev, "entry": entry}));
    }
    lines
}

/// A target, the name of its seed, a good document for it, and whether bytes are taken there.
type Seed = (&'static str, &'static str, String, fn(&[u8]) -> bool);

/// One seed of each kind, and whatever a fuzzer found. `WRITE_CORPUS=1` writes the seeds anew.
#[test]
fn con_1_the_corpus_of_the_fuzzer_passes_at_the_doors_of_the_shell() {
    let turn = json!({"v": 1, "fence": 7, "message": "01890a5d-ac96-774b-bcce-b302099a8057",
        "turn": "01890a5d-ac96-774b-bcce-b302099a8057", "finish": "complete"});
    let seeds: [Seed; 4] = [
        ("manifest", "seed.toml", MANIFEST.to_owned(), judge::manifest),
        ("config", "seed.toml", CONFIG.to_owned(), judge::config),
        ("export", "seed.jsonl", chain(), judge::export),
        ("body", "seed.json", turn.to_string(), judge::body),
    ];
    for (target, name, seed, taken) in seeds {
        let directory = awakener_tools::workspace().join("fuzz/corpus").join(target);
        if std::env::var_os("WRITE_CORPUS").is_some() {
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join(name), &seed).unwrap();
        }
        // The seeds are good ones, so that the fuzzer starts behind the door; the others need only not panic.
        assert!(taken(&fs::read(directory.join(name)).unwrap()), "{target}");
        for file in fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()) {
            taken(&fs::read(file).unwrap());
        }
        // A door that takes everything would pass as well.
        let spoiled = seed.replacen(['1', 'v'], "~", 1);
        assert!(seed != spoiled && !taken(spoiled.as_bytes()), "{target}: {spoiled}");
    }
}
