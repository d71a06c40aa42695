//! Every tiny scope of every world: everything holds in every state, every law had something to forbid, stateright
//! counts the same states, and the adversary uses each of its powers.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use awakener_model_check::engine::{Options, explore, kind};
use awakener_model_check::world::{Group, Verdict, World};
use awakener_model_check::{mailbox, second, station, system, waker};
use awakener_tools::enforces;
use awakener_tools::evidence::Rule;

/// What the searches of one world found out.
struct Searched {
    /// What is wrong, as text.
    wrong: Vec<String>,
    /// Kinds of actions that moved something, and kinds that were refused.
    moved: BTreeSet<String>,
    refused: BTreeSet<String>,
}

fn search<W: World>() -> Searched {
    let (mut wrong, mut moved, mut refused) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    let mut idle: BTreeSet<&str> = W::LAWS.iter().map(|law| law.twin).collect();
    for scope in W::scopes().into_iter().filter(|scope| scope.group == Group::Tiny) {
        let at = format!("{} {}", W::NAME, scope.name);
        let found = explore(&scope.world, &Options::default());
        if let Some(cut) = found.cut {
            wrong.push(format!("{at}: cut short: {cut:?}"));
        }
        for broken in &found.broken {
            wrong.push(format!("{at}: {} falls after {:#?}", W::LAWS[broken.law].name, broken.way));
        }
        let met = W::LAWS.iter().zip(&found.reached).filter(|(_, reached)| **reached);
        met.for_each(|(law, _)| {
            idle.remove(law.twin);
        });
        let counted = second::count(scope.world);
        if (counted.states, counted.broken.len()) != (found.states, found.broken.len()) {
            wrong.push(format!("{at}: {} states here, {counted:?} by stateright", found.states));
        }
        let graph = found.graph.expect("the graph is kept");
        let out: BTreeSet<u32> = graph.out.iter().map(|out| out.label).collect();
        moved.extend(out.iter().map(|label| kind::of(&graph.labels[*label as usize].0)));
        let stays = graph.refusals.iter().flatten().map(|label| &graph.labels[*label as usize]);
        let stays = stays.filter(|(_, label)| label.verdict == Verdict::Refused);
        refused.extend(stays.map(|(action, _)| kind::of(action)));
    }
    wrong.extend(idle.into_iter().map(|twin| format!("{}: never reached: {twin}", W::NAME)));
    Searched { wrong, moved, refused }
}

/// Each world is searched once, whoever asks first.
fn once<W: World>(of: &'static OnceLock<Searched>) -> &'static Searched {
    of.get_or_init(search::<W>)
}

static MAILBOX: OnceLock<Searched> = OnceLock::new();
static WAKER: OnceLock<Searched> = OnceLock::new();
static STATION: OnceLock<Searched> = OnceLock::new();
static SYSTEM: OnceLock<Searched> = OnceLock::new();

fn clean(searched: &Searched) {
    assert!(searched.wrong.is_empty(), "\n{}\n", searched.wrong.join("\n"));
}

#[test]
fn fml_1_the_mailbox_keeps_its_laws_in_every_state() {
    clean(once::<mailbox::World>(&MAILBOX));
}

#[test]
fn fml_1_the_waker_keeps_its_laws_in_every_state() {
    clean(once::<waker::World>(&WAKER));
}

#[test]
fn fml_1_the_station_keeps_its_laws_in_every_state() {
    clean(once::<station::World>(&STATION));
}

#[test]
fn fml_1_the_system_keeps_its_laws_in_every_state() {
    clean(once::<system::World>(&SYSTEM));
}

/// A power of the adversary (FML-2): in words, and the kinds of actions of one world that are it.
type Power = (&'static str, &'static str, &'static [&'static str]);

/// Powers that move something.
const MOVES: &[Power] = &[
    ("loses", "mailbox", &["lose.hint", "lose.lease", "lose.permit", "lose.swept"]),
    ("loses", "waker", &["lose", "adapter.silent"]),
    ("loses", "station", &["lose"]),
    ("loses", "system", &["lose_hint"]),
    ("duplicates", "mailbox", &["call.submit", "call.ack"]),
    ("duplicates", "waker", &["complete_twice"]),
    ("duplicates", "station", &["take_twice"]),
    ("duplicates", "system", &["hear_twice.first", "hear_twice.station"]),
    ("reorders and delays", "mailbox", &["arrive.hint", "arrive.lease", "arrive.permit", "arrive.swept"]),
    ("reorders and delays", "waker", &["present.minted", "complete"]),
    ("forges with a stolen key", "waker", &["present.stolen.next", "present.stolen.far"]),
    ("crashes", "mailbox", &["crash", "commit_fails.not_durable", "commit_fails.unknown"]),
    ("crashes", "waker", &["crash", "commit_fails.not_durable", "commit_fails.unknown"]),
    ("crashes", "station", &["crash", "commit_fails.not_durable", "commit_fails.unknown"]),
    ("crashes", "system", &["crash.plane", "crash.first", "crash.station", "commit_fails"]),
    ("restores backups", "mailbox", &["backup", "restore"]),
    ("steps clocks", "mailbox", &["step_back"]),
    ("steps clocks", "waker", &["clock_back", "clock_ahead"]),
    ("steps clocks", "station", &["set.back", "set.forward"]),
    ("runs two daemons", "system", &["hear.first", "hear.second", "fire.second"]),
];

/// Powers that come to nothing: what they are tried for is refused.
const REFUSED: &[Power] = &[
    ("replays", "waker", &["present.minted", "present.stolen.again"]),
    ("forges with a foreign key", "waker", &["present.foreign"]),
    ("forges with a foreign key", "mailbox", &["call.forge.ack_foreign_key.agent"]),
    ("tampers", "waker", &["present.tampered", "present.garbage"]),
    ("tampers", "mailbox", &["call.forge.ack_bad_signature", "call.forge.ack_other_content"]),
];

enforces! {
    [Fml2]
    fn fml_2_the_adversary_uses_each_of_its_powers(seen) {
        // On this thread, so that its crashes are seen.
        let tiny = waker::World::scopes().into_iter().find(|scope| scope.name == "replay").expect("a scope");
        assert!(!seen.saw(Rule::Fml2), "nothing has crashed so far");
        assert!(explore(&tiny.world, &Options { threads: 1, ..Options::default() }).complete());

        let of = |world| match world {
            "mailbox" => once::<mailbox::World>(&MAILBOX),
            "waker" => once::<waker::World>(&WAKER),
            "station" => once::<station::World>(&STATION),
            _ => once::<system::World>(&SYSTEM),
        };
        let mut missing = Vec::new();
        for (power, world, kinds) in MOVES {
            missing.extend(kinds.iter().filter(|kind| !of(world).moved.contains(**kind)).map(|kind| (power, world, kind)));
        }
        for (power, world, kinds) in REFUSED {
            missing.extend(kinds.iter().filter(|kind| !of(world).refused.contains(**kind)).map(|kind| (power, world, kind)));
        }
        assert_eq!(missing, [], "powers that no tiny scope shows");
        let words: BTreeSet<&str> = MOVES.iter().chain(REFUSED).map(|(power, ..)| *power).collect();
        // Two emitters are not modelled: there is one emitter per store until leadership exists (HAF-2).
        assert_eq!(words.len(), 11, "{words:?}");
    }

    [Fml3]
    fn fml_3_every_promise_is_named_by_its_rule(seen) {
        let mut safety = BTreeSet::new();
        for world in awakener_model_check::worlds::all() {
            for law in world.laws() {
                assert!(Rule::from_id(law.rule).is_some(), "{}: {} begins with no rule", world.name(), law.name);
                safety.insert(law.rule);
            }
        }
        // Rules of admission to audit that machines keep, at least those that the worlds were made for.
        let wanted = "ADM-3 ADM-7 INB-1 INB-2 INB-4 INB-7 INB-8 ACK-2 ACK-3 ACK-5 ACK-6 ACK-7 EMT-1 EMT-2 EMT-3 VER-1 VER-2 \
            VER-3 VER-5 DSP-1 DSP-2 DSP-7 DSP-11 DSP-12 STN-2 STN-3 STN-5 STN-6 STN-9 OBS-1 OBS-2 OBS-3 FUS-1 FUS-2 FUS-4 \
            FUS-5 FUS-6 FUS-7 RCP-2";
        let missing: Vec<&str> = wanted.split_whitespace().filter(|rule| !safety.contains(rule)).collect();
        assert_eq!(missing, [""; 0], "rules without a law; there are laws for {safety:?}");

        // Liveness, judged on a graph with cycles; what holds and what each condition is for is `liveness` to say.
        let table = awakener_model_check::liveness::all::table();
        let smallest = table.iter().find(|entry| entry.world == "cyclic-waker").expect("a cyclic world");
        let extent = awakener_model_check::liveness::all::Extent { threads: 1, ..Default::default() };
        let report = smallest.run(&extent);
        assert!(report.is_clean(), "\n{report}");
        for claim in &report.claims {
            let rule = claim.name.split(' ').next().unwrap_or_default();
            assert!(Rule::from_id(rule).is_some(), "{} begins with no rule", claim.name);
            assert!(!claim.fairness.is_empty(), "{} needs nothing of anybody?", claim.name);
        }
        assert!(seen.saw(Rule::Fml3));
    }
}
