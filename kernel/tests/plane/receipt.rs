//! RCP-1, RCP-2, DSP-4: which receipts a record amounts to, and which are legal.

use awakener_kernel::ids::{
    ContentHash, Fence, MessageId, Nonce, Principal, SchemaRef, Seq, Tier, Token, TurnId, WakeId,
};
use awakener_kernel::mailbox::entry::{Closed, Entry, Finished};
use awakener_kernel::mailbox::record::Record;
use awakener_kernel::receipt::{Detail, Key, Receipt, allowed, cognition, dispatch, of};
use awakener_kernel::time::Wall;
use awakener_kernel::values::{DispatchOutcome, Finish, FlightEnd, FlightReport, Response};
use awakener_spec::{Reason, ReceiptKind, Terminal};
use awakener_tools::enforces;
use proptest::prelude::*;

const AT: Wall = Wall(1_000);

fn message() -> MessageId {
    MessageId::from_u128(1)
}

fn wake() -> WakeId {
    WakeId::from_u128(2)
}

fn turn() -> TurnId {
    TurnId::from_u128(3)
}

fn report(report: FlightReport) -> Record {
    Record::FlightReported { wake: wake(), fence: Fence(4), message: message(), report, at: AT }
}

/// The life of one alert as records.
fn life() -> Vec<Record> {
    let (seq, message) = (Seq::FIRST, message());
    let entry = Entry {
        id: message,
        principal: Principal::parse("luna").unwrap(),
        content: ContentHash([0; 32]),
        tier: Tier::Zero,
        schema: SchemaRef::parse("interrupt-alert/1").unwrap(),
        admitted: AT,
        cause: None,
        depth: 0,
        read: false,
        turn: None,
        ended: Vec::new(),
        response: None,
        closed: None,
        finished: None,
        quarantined: false,
        released: 0,
    };
    let token = Token::new(1, 1).unwrap();
    vec![
        Record::Admitted { seq, entry },
        Record::EpochStarted { epoch: 1 },
        Record::Minted { seq, message, wake: wake(), nonce: Nonce([0; 16]), token, at: AT, scheduled: true },
        Record::Published { wake: wake(), handed_over: true },
        report(FlightReport::Attempted),
        report(FlightReport::Outcome(DispatchOutcome::NotifiedVerified)),
        Record::Read { seq, message },
        Record::TurnFinished { seq, message, turn: turn(), finish: Finish::Complete },
        Record::Responded { seq, message, turn: turn(), response: Response::Silence },
        report(FlightReport::Ended(FlightEnd::WorkFinished)),
        Record::WitnessClosed { seq, message, closed: Closed::OperatorResolved },
        Record::Finished {
            seq,
            message,
            principal: Principal::parse("luna").unwrap(),
            how: Finished::WitnessClosed,
        },
        Record::CursorAdvanced { to: seq },
    ]
}

enforces! {
    [Rcp1]
    fn rcp_1_the_life_of_an_alert_in_receipts(_seen) {
        let told: Vec<_> = life().iter().flat_map(of).map(|receipt| (receipt.kind.name(), receipt.key)).collect();
        let (message, wake, turn) = (Key::Message(message()), Key::Wake(wake()), Key::Turn(turn()));
        let attempt = Key::Attempt(self::wake(), Fence(4));
        let expected = [
            ("persisted", message),
            ("admitted", message),
            ("wake_minted", wake),
            ("wake_emitted", wake),
            ("wake_accepted", wake),
            ("dispatch_attempted", attempt),
            ("runtime_notified", attempt),
            ("inbox_read", message),
            ("cognition_complete", turn),
            ("silence_recorded", message),
            ("operator_resolved", message),
            ("cursor_advanced", Key::Place(Seq::FIRST)),
        ];
        assert_eq!(told, expected);
    }
}

enforces! {
    [Rcp2]
    fn rcp_2_the_life_of_an_alert_is_legal_in_its_order_and_not_backwards(_seen) {
        let all: Vec<Receipt> = life().iter().flat_map(of).collect();
        let judge = |order: &mut dyn Iterator<Item = &Receipt>| -> Vec<Result<(), Reason>> {
            let mut known: Vec<&Receipt> = Vec::new();
            let mut verdicts = Vec::new();
            for new in order {
                let kinds = |own: bool| -> Vec<ReceiptKind> {
                    known.iter().filter(|old| (old.key == new.key) == own).map(|old| old.kind).collect()
                };
                verdicts.push(allowed(&kinds(true), &kinds(false), new.kind));
                known.push(new);
            }
            verdicts
        };
        assert!(judge(&mut all.iter()).iter().all(Result::is_ok));
        let backwards = judge(&mut all.iter().rev());
        assert_eq!(backwards[0], Err(Reason::ReceiptPrerequisite));
    }
}

enforces! {
    [Dsp4]
    fn dsp_4_no_outcome_of_an_adapter_says_more_than_it_knows(_seen) {
        let table = [
            (DispatchOutcome::NotAttempted, "skipped"),
            (DispatchOutcome::RefusedBusy, "skipped"),
            (DispatchOutcome::Unavailable, "runtime_unavailable"),
            (DispatchOutcome::OutcomeUnknown, "dispatch_unknown"),
            (DispatchOutcome::TypedUnverified, "dispatch_unknown"),
            (DispatchOutcome::NotifiedVerified, "runtime_notified"),
            (DispatchOutcome::NotifiedHuman, "human_notified"),
        ];
        assert_eq!(table.map(|(outcome, _)| outcome), DispatchOutcome::ALL);
        for (outcome, receipt) in table {
            assert_eq!(dispatch(outcome).name(), receipt);
            let [told] = of(&report(FlightReport::Outcome(outcome)))[..] else { panic!() };
            assert_eq!((told.kind.name(), told.detail), (receipt, Some(Detail::Dispatch(outcome))));
        }
    }
}

enforces! {
    [Obs1]
    fn obs_1_only_a_complete_turn_is_told_as_complete(_seen) {
        for finish in Finish::ALL {
            let kind = cognition(finish);
            assert_eq!(kind == ReceiptKind::CognitionComplete, finish.observed(), "{finish:?}");
            assert_eq!(kind.terminal(), Some(Terminal::Cognition));
        }
        assert_eq!(cognition(Finish::Unreported), ReceiptKind::CognitionUnobserved);
        assert_eq!(cognition(Finish::Timeout), ReceiptKind::CognitionFailed);
    }
}

enforces! {
    [Dsp2]
    fn dsp_2_a_flight_that_ran_out_is_told_as_that_alone(_seen) {
        let kinds = |end| of(&report(FlightReport::Ended(end))).iter().map(|r| r.kind).collect::<Vec<_>>();
        assert_eq!(kinds(FlightEnd::Expired), [ReceiptKind::FlightExpired]);
        for end in [FlightEnd::ProcessEnded, FlightEnd::WorkFinished, FlightEnd::Idle, FlightEnd::NeverStarted] {
            assert_eq!(kinds(end), []);
        }
    }
}

enforces! {
    [Rcp2]
    fn rcp_2_two_final_facts_contradict_each_other_only_under_one_key(_seen) {
        use ReceiptKind::{CognitionComplete, CognitionFailed, InboxRead};
        assert_eq!(
            allowed(&[CognitionFailed], &[InboxRead], CognitionComplete),
            Err(Reason::ReceiptContradiction)
        );
        assert_eq!(allowed(&[], &[InboxRead, CognitionFailed], CognitionComplete), Ok(()), "another turn");
        assert_eq!(allowed(&[CognitionComplete], &[InboxRead], CognitionComplete), Ok(()), "the same again");
        assert_eq!(allowed(&[], &[], CognitionComplete), Err(Reason::ReceiptPrerequisite));
    }
}

enforces! {
    [Rcp2]
    fn rcp_2_a_late_true_fact_is_taken(_seen) {
        use ReceiptKind::{DispatchAttempted, DispatchUnknown, FlightExpired, RuntimeNotified};
        let so_far = [DispatchAttempted, DispatchUnknown, FlightExpired];
        assert_eq!(allowed(&so_far, &[], RuntimeNotified), Ok(()));
    }
}

proptest! {
    #[test]
    fn rcp_2_the_table_is_what_decides(
        own in proptest::sample::subsequence(ReceiptKind::ALL.to_vec(), 0..6),
        linked in proptest::sample::subsequence(ReceiptKind::ALL.to_vec(), 0..6),
        new in proptest::sample::select(ReceiptKind::ALL.to_vec()),
    ) {
        let mut expected = Ok(());
        if !new.prerequisites().is_empty() {
            let any = new.prerequisites().iter().any(|first| own.contains(first) || linked.contains(first));
            if !any { expected = Err(Reason::ReceiptPrerequisite); }
        }
        for old in &own {
            if let (Some(one), Some(other)) = (old.terminal(), new.terminal())
                && one == other && *old != new
            {
                expected = Err(Reason::ReceiptContradiction);
            }
        }
        prop_assert_eq!(allowed(&own, &linked, new), expected);
    }
}
