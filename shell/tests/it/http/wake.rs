//! What wake daemons ask, and what operators do about it (DSP-7, DSP-11, OPR-1).

use awakener_kernel::ids::{Token, WakeId};
use awakener_kernel::time::{Millis, Wall};
use awakener_kernel::values::{AckOutcome, Answer, By, DispatchOutcome, FlightEnd, FlightReport, Question};
use awakener_kernel::wire::{OperatorCommand, Signed};
use awakener_spec::Class;
use awakener_tools::enforces_process;
use serde_json::{Value, json};

use super::super::support::*;

fn question(bytes: &[u8]) -> Question {
    let hint: Value = serde_json::from_slice(bytes).unwrap();
    Question {
        wake: hint["id"].as_str().unwrap().parse().unwrap(),
        message: hint["data"]["message_id"].as_str().unwrap().parse().unwrap(),
        token: serde_json::from_value(hint["data"]["freshness_token"].clone()).unwrap(),
    }
}

enforces_process! {
    [Dsp7] fn dsp_7_a_flight_needs_the_planes_word(seen) {
        let mut rig = Rig::start();
        let story = rig.story();
        let (daemon, target) = (rig.daemon(), &story.target);
        let nothing = rig.block(daemon.sweep(&[target.clone(), "unknown".parse().unwrap()])).unwrap();
        assert_eq!((nothing.hints.len(), nothing.armed), (0, vec![target.clone()]));
        let alert = submission("lotse", "interrupt-alert/1", json!("pump"));
        rig.block(story.alice.submit(&alert, None)).unwrap();
        let mut hints = std::mem::replace(&mut rig.hints, tokio::sync::mpsc::channel(1).1);
        let published = rig.block(hints.recv()).unwrap();
        let asked = question(&published.bytes);
        assert_eq!((asked.message, asked.wake), (alert.id, published.wake));
        // What was never minted starts nothing.
        let mut forged = asked;
        forged.wake = WakeId::from_parts(now().0, [9; 10]);
        for wrong in [forged, Question { token: Token::from_u64(asked.token.get() + 1).unwrap(), ..asked }] {
            assert_eq!(rig.block(daemon.permit(target, &wrong)).unwrap(), Answer::Withheld(Class::Unminted));
            seen.class(Class::Unminted);
        }
        let Answer::Granted(permit) = rig.block(daemon.permit(target, &asked)).unwrap() else { panic!() };
        assert!(permit.life > Millis::ZERO);
        let report = |report| rig.block(daemon.report(target, permit.fence, asked.wake, report));
        assert!(!report(FlightReport::Attempted).unwrap());
        assert!(report(FlightReport::Attempted).unwrap());
        assert!(!report(FlightReport::Outcome(DispatchOutcome::NotifiedVerified)).unwrap());
        // During a flight nothing else starts, and a sweep is owed nothing.
        assert_eq!(rig.block(daemon.permit(target, &asked)).unwrap(), Answer::Withheld(Class::PermitHeld));
        assert_eq!(rig.block(daemon.sweep(std::slice::from_ref(target))).unwrap().hints.len(), 0);
        assert!(!report(FlightReport::Ended(FlightEnd::Idle)).unwrap());
        let owed = rig.block(daemon.sweep(std::slice::from_ref(target))).unwrap();
        assert_eq!(owed.hints.len(), 1);
        let fresh = question(&owed.hints[0]);
        assert!(fresh.message == alert.id && fresh.wake != asked.wake && fresh.token > asked.token);
        // Not armed, then not outstanding.
        rig.act("disarm", json!({"target": "lotse"}));
        assert_eq!(rig.block(daemon.permit(target, &fresh)).unwrap(), Answer::Withheld(Class::NotArmed));
        assert_eq!(rig.block(daemon.sweep(std::slice::from_ref(target))).unwrap().armed, []);
        rig.arm("lotse");
        let lease = rig.block(story.agent.claim(target, &"me".parse().unwrap(), 5)).unwrap();
        rig.block(story.agent.read(target, lease.fence, alert.id)).unwrap();
        let said = ack(&alert, AckOutcome::Handled, By::Human, &story.human);
        rig.block(story.agent.ack(&said, None)).unwrap();
        assert_eq!(rig.block(daemon.permit(target, &fresh)).unwrap(), Answer::Withheld(Class::NotOutstanding));
    }

    [Emt2] fn emt_2_what_a_verifier_has_accepted_lifts_the_epoch_before_the_next_hint(seen) {
        let rig = Rig::start();
        let story = rig.story();
        let (daemon, target) = (rig.daemon(), &story.target);
        let alert = submission("lotse", "interrupt-alert/1", json!("pump"));
        rig.block(story.alice.submit(&alert, None)).unwrap();
        let swept = |token: u64| {
            let seen = [(target.clone(), token)].into();
            let owed = rig.block(daemon.sweep_above(std::slice::from_ref(target), seen)).unwrap();
            question(&owed.hints[0]).token
        };
        // Whoever has seen no more than was minted here changes nothing.
        let first = swept(0);
        let second = swept(first.get());
        assert_eq!((second.epoch(), second.counter()), (first.epoch(), first.counter() + 1));
        // A backup was put back, and nothing here shows it: tokens of this epoch, then of later ones, were seen.
        let third = swept(second.get() + 7);
        assert!(third.epoch() > second.epoch());
        let later = Token::new(third.epoch() + 5, 3).unwrap();
        let fourth = swept(later.get());
        assert_eq!(fourth.epoch(), later.epoch() + 1);
        let floor = std::fs::read_to_string(rig.dir.path().join("epoch-floor")).unwrap();
        assert_eq!(floor.trim(), fourth.epoch().to_string());
        // No start of this plane had that one; followed, it would leave no epoch for the starts to come.
        let last = swept(Token::MAX);
        assert_eq!((last.epoch(), last.counter()), (fourth.epoch(), fourth.counter() + 1));
        let none = [(target.clone(), Token::MAX + 1)].into();
        let refused = problem(rig.block(daemon.sweep_above(std::slice::from_ref(target), none)));
        assert_eq!(refused["reason"], "malformed");
        let _ = seen;
    }

    [Opr1] fn opr_1_a_command_takes_effect_once_and_only_as_it_was_signed(seen) {
        let rig = Rig::start();
        let client = rig.client("");
        let refused = |signed: &Signed<OperatorCommand>, reason: &str| {
            let problem = problem(rig.block(client.operator(signed)));
            assert_eq!(problem["reason"], reason, "{problem}");
            seen.problem(&problem);
        };
        let changed = |change: fn(&mut OperatorCommand)| {
            let mut command = rig.command("register_target", json!({"target": "lotse"})).document().clone();
            change(&mut command);
            Signed::sign(command, rig.operator.signing())
        };
        let good = rig.command("register_target", json!({"target": "lotse"}));
        let mut forged = good.to_value();
        forged["command"]["subject"]["target"] = "loot".into();
        refused(&Signed::from_value(&forged).unwrap(), "operator_bad_signature");
        refused(&changed(|command| command.plane = "elsewhere".parse().unwrap()), "operator_wrong_plane");
        refused(&changed(|command| command.not_after = Wall(1)), "operator_expired");
        refused(&changed(|command| command.act = "become_king".into()), "operator_malformed");
        let stranger = awakener::keys::SecretKey::generate().unwrap();
        let mut command = good.document().clone();
        command.key_id = stranger.key_id();
        refused(&Signed::sign(command, stranger.signing()), "operator_unknown_key");
        let enacted = rig.block(client.operator(&good)).unwrap();
        assert_eq!(enacted.id, good.document().id);
        refused(&good, "operator_replayed");
        refused(&rig.command("register_target", json!({"target": "lotse"})), "operator_state_conflict");
        refused(&rig.command("arm", json!({"target": "nobody", "until": ahead(60_000)})), "operator_unknown_subject");
        let targets = rig.block(rig.observer().status()).unwrap().targets.unwrap();
        assert_eq!(targets.iter().map(|t| t.target.as_str()).collect::<Vec<_>>(), ["lotse"]);
        // A text without a signature leaves nothing but a refusal: none of its bytes are kept.
        let chain = json!(rig.audited()).to_string();
        assert!(!chain.contains("\"loot\\\""), "the text of a forged command was kept");
    }

    [Prt2] fn prt_2_commands_without_a_signature_are_few_and_small(seen) {
        let rig = Rig::start();
        let stranger = awakener::keys::SecretKey::generate().unwrap();
        let forged = |subject: Value| {
            let mut command = rig.command("register_target", json!({"target": "lotse"})).document().clone();
            (command.key_id, command.subject) = (stranger.key_id(), subject.as_object().unwrap().clone());
            Signed::sign(command, stranger.signing())
        };
        let before = rig.audited().len();
        let large = problem(rig.block(rig.client("").operator(&forged(json!({"target": "x".repeat(20_000)})))));
        assert_eq!(large["reason"], "operator_bad_signature");
        assert_eq!(rig.audited().len(), before);
        let small = forged(json!({"target": "lotse"}));
        let mut entries = 0;
        let limited = loop {
            let problem = problem(rig.block(rig.client("").operator(&small)));
            if problem["reason"] == "rate_limited" {
                break problem;
            }
            assert_eq!(problem["reason"], "operator_unknown_key");
            entries += 1;
        };
        seen.problem(&limited);
        assert!((60..80).contains(&entries), "{entries}");
        assert_eq!(rig.audited().len() - before, entries);
        // Who has a key is not held up by them.
        rig.target("lotse");
    }

    [Opr1] fn opr_1_what_is_no_command_is_counted_and_not_recorded(seen) {
        let rig = Rig::start();
        let before = rig.audited().len();
        for body in ["", "{}", "[]", "nonsense", "{\"command\":{},\"signature\":\"x\"}"] {
            let request = http()
                .post(format!("{}/v1/operator", rig.base))
                .header("content-type", "application/json")
                .body(body);
            let (status, _, problem) = rig.raw(request);
            assert_eq!((status, &problem["reason"]), (400, &json!("operator_malformed")), "{body}");
            seen.problem(&problem);
        }
        assert_eq!(rig.audited().len(), before);
        assert_eq!(rig.block(rig.observer().status()).unwrap().refused_unauthenticated, 5);
    }
}
