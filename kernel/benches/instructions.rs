//! How many instructions the hot paths of the kernel take, held against committed numbers: a gate that needs no quiet
//! machine.
//!
//! `cargo bench -p awakener-kernel --bench instructions` runs each path under valgrind's callgrind, which counts between
//! the entry of one function and its return, and fails when a path takes more than `instructions.toml` allows. Each is
//! counted twice over as well, and that must not pass: a gate that lets twice the work through is none. After a change
//! that is worth it, `BLESS=1` writes the numbers anew. Without `--bench`, as in the tests, each path runs once and
//! nothing is counted. Not here: signature mathematics (`hint.rs`), whose instructions depend on the processor.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use awakener_kernel::admission::{self, AdmitFacts, RosterVerdict, Submitted};
use awakener_kernel::audit::{self, AuditEntry, Head, Identities};
use awakener_kernel::config::Config;
use awakener_kernel::ids::{ContentHash, MessageId, Nonce, Seq, Target, Tier, Token, WakeId};
use awakener_kernel::json;
use awakener_kernel::machine::Machine;
use awakener_kernel::mailbox::Mailbox;
use awakener_kernel::mailbox::entry::Entry as Row;
use awakener_kernel::mailbox::input::{self as mailbox, AckFacts, AckKey, Candidate, Facts};
use awakener_kernel::mailbox::record::Record;
use awakener_kernel::open::{CommitError, Entry, Open, Store, Txn, TxnId, Write};
use awakener_kernel::time::{Millis, Mono, Now, Wall};
use awakener_kernel::values::{Ack, AckOutcome, By};
use awakener_kernel::waker::{self, Capability, Waker};
use awakener_kernel::wire::{
    Claim, Hint, KeyWindow, ParsedHint, Presented, SigningKey, UnsignedHint, public_key, screen,
};
use serde_json::{Value, json};

/// How much more than its number a path may take, in hundredths.
const TOLERANCE: u64 = 5;
const NOW: Now = Now { wall: Wall(1_786_968_000_000), mono: Mono(1_000) };

/// Work to be counted.
type Prepare = fn() -> Box<dyn FnMut()>;

const PATHS: [(&str, Prepare); 8] = [
    ("hint_parse", hint_parse),
    ("hint_screen", hint_screen),
    ("admission_judge", admission_judge),
    ("mailbox_admit", mailbox_admit),
    ("mailbox_ack", mailbox_ack),
    ("waker_hint", waker_hint),
    ("audit_entry", audit_entry),
    ("canonical_form", canonical_form),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "--counted") {
        let times = arguments[at + 2].parse().expect("a number");
        let (_, path) = PATHS.iter().find(|(name, _)| *name == arguments[at + 1]).expect("a path");
        let mut works: Vec<_> = (0..times).map(|_| path()).collect();
        for work in &mut works {
            counted_section(work);
        }
        return ExitCode::SUCCESS;
    }
    if !arguments.iter().any(|argument| argument == "--bench") {
        PATHS.iter().for_each(|(_, path)| counted_section(&mut path()));
        return ExitCode::SUCCESS;
    }
    gate()
}

/// The function whose instructions are counted, with everything that it calls.
#[inline(never)]
fn counted_section(work: &mut Box<dyn FnMut()>) {
    black_box(work)();
}

fn gate() -> ExitCode {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/instructions.toml");
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let limits: BTreeMap<String, u64> = toml::from_str(&text).expect("names and numbers");
    let bless = std::env::var_os("BLESS").is_some();
    let mut counts =
        String::from("# Instructions of each path, by callgrind, on x86-64. Written by the benchmark.\n");
    let mut wrong = 0;
    for (name, _) in PATHS {
        let (once, twice) = (count(name, 1), count(name, 2));
        counts += &format!("{name} = {once}\n");
        let limit = limits.get(name).copied().unwrap_or_default();
        let most = limit + limit * TOLERANCE / 100;
        let verdict = match (once <= most, twice > most) {
            (true, true) => "ok",
            (true, false) => "NO GATE: twice as much would pass",
            (false, _) => "TOO MANY",
        };
        wrong += usize::from(verdict != "ok");
        println!("{name:16} {once:>8}, committed {limit:>8}, at most {most:>8}; twice {twice:>8}: {verdict}");
    }
    if bless {
        std::fs::write(&file, counts).expect("the numbers can be written");
        return ExitCode::SUCCESS;
    }
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Instructions of so many runs of a path.
fn count(name: &str, times: u32) -> u64 {
    let own = std::env::current_exe().expect("a program has a file");
    let done = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"])
        .arg("--toggle-collect=*counted_section*")
        .arg(own)
        .args(["--counted", name, &times.to_string()])
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("valgrind is needed (apt-get install valgrind): {error}"));
    let said = String::from_utf8_lossy(&done.stderr);
    let collected = said.lines().find_map(|line| line.split_once("Collected : ")).map(|(_, number)| number);
    match collected.and_then(|number| number.trim().parse().ok()) {
        Some(number) if done.status.success() && number > 0 => number,
        Some(_) | None => panic!("{name}: nothing was counted\n{said}"),
    }
}

fn target() -> Target {
    Target::parse("mataya-dyad").expect("a target")
}

fn message(number: u8) -> MessageId {
    MessageId::from_parts(NOW.wall.0, [number; 10])
}

fn hint() -> Hint {
    Hint {
        id: WakeId::from_parts(NOW.wall.0, [1; 10]),
        message_id: message(2),
        target: target(),
        nonce: Nonce([0xfb; 16]),
        freshness_token: Token::from_u64(42).expect("a token"),
        time: NOW.wall,
        expires_at: NOW.wall + Millis::seconds(30),
        router_key_id: public_key(&SigningKey::from_bytes(&[7; 32])).key_id(),
    }
}

fn hint_parse() -> Box<dyn FnMut()> {
    let bytes = UnsignedHint::new(hint()).expect("a hint").sign(&SigningKey::from_bytes(&[7; 32]));
    Box::new(move || assert!(ParsedHint::parse(black_box(&bytes)).is_ok()))
}

fn hint_screen() -> Box<dyn FnMut()> {
    let claim = Claim {
        hint: hint(),
        router: Some(KeyWindow { valid_from: Wall(0), valid_until: Wall::LAST }),
        source_agrees: true,
        signature_valid: true,
        subject_agrees: true,
        served: true,
    };
    let presented = Presented::Hint(Box::new(claim));
    Box::new(move || assert!(screen(NOW.wall, Millis(2_000), black_box(&presented)).is_ok()))
}

fn submitted(number: u8) -> Submitted {
    Submitted {
        id: message(number),
        principal: "alice".parse().expect("a principal"),
        content: ContentHash([number; 32]),
        schema: "interrupt-alert/1".parse().expect("a schema"),
        fence: None,
    }
}

fn admit_facts() -> AdmitFacts {
    AdmitFacts {
        prior: None,
        id_taken: false,
        tier: Tier::Zero,
        acts_for_target: false,
        can_ack: true,
        roster: RosterVerdict::Listed,
        tier0_open: true,
        cause: None,
        lost_lease: false,
        repeats: 0,
        overloaded: false,
    }
}

fn admission_judge() -> Box<dyn FnMut()> {
    let (submitted, facts, config) = (submitted(1), admit_facts(), Config::default());
    Box::new(move || {
        let verdict = admission::judge(black_box(&submitted), &facts, 3, &config, NOW);
        assert!(matches!(verdict, admission::Verdict::Admit { .. }));
    })
}

/// A store that keeps the last row.
#[derive(Default)]
struct Nowhere {
    row: Option<(Seq, Row)>,
}

impl Store for Nowhere {
    type Error = ();

    fn begin(&mut self) -> Result<TxnId, ()> {
        Ok(TxnId(1))
    }

    fn commit(&mut self, _: TxnId) -> Result<(), CommitError<()>> {
        Ok(())
    }
}

impl Write<Mailbox> for Nowhere {
    fn write(&mut self, entry: Entry<'_, Mailbox>) -> Result<(), ()> {
        for record in entry.records {
            if let Record::Admitted { seq, entry } = record {
                self.row = Some((*seq, entry.clone()));
            } else if let Some((_, row)) = &mut self.row {
                row.apply(record);
            }
        }
        Ok(())
    }
}

impl Write<Waker> for Nowhere {
    fn write(&mut self, _: Entry<'_, Waker>) -> Result<(), ()> {
        Ok(())
    }
}

/// A machine within a transaction.
struct Driven<M: Machine<Config = Config>> {
    store: Nowhere,
    config: Config,
    open: Option<Open<M>>,
}

impl<M: Machine<Config = Config>> Driven<M>
where
    Nowhere: Write<M, Error = ()>,
{
    fn new() -> Self {
        let (mut store, config) = (Nowhere::default(), Config::default());
        let txn = Txn::begin(&mut store).expect("a transaction");
        let open = Open::recover(&mut store, &txn, &config, NOW, M::Image::default());
        let open = open.unwrap_or_else(|_| unreachable!("an empty image breaks nothing"));
        Self { store, config, open: Some(open) }
    }

    /// One step, which must advance.
    fn step(&mut self, input: M::Input, facts: M::Facts) {
        let open = self.open.take().expect("a machine");
        let open = open.step(&mut self.store, &self.config, NOW, input, facts).expect("a store");
        assert!(open.last_advanced(), "the step does not advance");
        self.open = Some(open);
    }
}

fn admitted() -> Driven<Mailbox> {
    let mut driven = Driven::<Mailbox>::new();
    driven.step(mailbox::Input::Start { floor: 0 }, Facts::None);
    driven.step(mailbox::Input::Admit(submitted(1)), Facts::Admit(admit_facts()));
    driven
}

fn mailbox_admit() -> Box<dyn FnMut()> {
    let mut driven = admitted();
    let mut given = Some((mailbox::Input::Admit(submitted(2)), Facts::Admit(admit_facts())));
    Box::new(move || {
        if let Some((input, facts)) = given.take() {
            driven.step(input, facts);
        }
    })
}

fn mailbox_ack() -> Box<dyn FnMut()> {
    let mut driven = admitted();
    let (seq, row) = driven.store.row.clone().expect("a row");
    let candidate = Candidate { seq, message: row.id, tier: row.tier, principal: row.principal, depth: 0 };
    let holder = "agent".parse().expect("a holder");
    driven.step(mailbox::Input::Claim { holder, max: 1 }, Facts::Candidates(vec![candidate]));
    let fence = awakener_kernel::ids::Fence(1);
    let row = driven.store.row.clone();
    driven.step(mailbox::Input::Read { fence, message: message(1) }, Facts::Row(row));
    let ack = Ack {
        message: message(1),
        content: ContentHash([1; 32]),
        outcome: AckOutcome::Handled,
        by: By::Agent,
        key: hint().router_key_id,
        time: NOW.wall,
    };
    let row = driven.store.row.clone();
    let facts = AckFacts { key: AckKey::Valid, signature_valid: true, this_target: true, row };
    let mut given = Some((mailbox::Input::Ack { ack, fence: Some(fence) }, Facts::Ack(facts)));
    Box::new(move || {
        if let Some((input, facts)) = given.take() {
            driven.step(input, facts);
        }
    })
}

fn waker_hint() -> Box<dyn FnMut()> {
    let mut driven = Driven::<Waker>::new();
    driven.step(waker::Input::Capability(Capability::Unattended), ());
    let mut given = Some(waker::Input::Hint((&hint()).into()));
    Box::new(move || {
        if let Some(input) = given.take() {
            driven.step(input, ());
        }
    })
}

/// Half a kilobyte, as the records of a step.
fn content() -> Value {
    json!({
        "id": message(1), "thread": message(2), "target": target(), "schema": "message/1", "priority": "normal",
        "intent": "a measurement", "response_expectation": "none", "seq": 41, "at": NOW.wall.0,
        "body": {"text": "of pressure and pumps ".repeat(8), "list": [1, 2, 3], "none": null},
    })
}

fn audit_entry() -> Box<dyn FnMut()> {
    let entry = AuditEntry {
        v: 0,
        position: 0,
        prev: ContentHash([0; 32]),
        machine: "mailbox".into(),
        identities: Identities { target: Some(target()), ..Identities::default() },
        now: NOW,
        config: ContentHash([7; 32]),
        input: Some(content()),
        facts: Some(json!({"prior": null, "tier": 2, "repeats": 0})),
        outcome: Some(json!({"advanced": {"admitted": {"seq": 41, "tier": 2}}})),
        records: vec![content()],
        correlation: audit::Correlation::default(),
        trace: None,
    };
    let mut entry = Some(entry);
    let head = Head { size: 41, hash: ContentHash([3; 32]) };
    Box::new(move || {
        if let Some(entry) = entry.take() {
            let stored = entry.behind(&head).stored().expect("a canonical form");
            black_box(audit::hash(&stored));
        }
    })
}

fn canonical_form() -> Box<dyn FnMut()> {
    let value = content();
    Box::new(move || {
        black_box(json::canonical(black_box(&value)));
    })
}
