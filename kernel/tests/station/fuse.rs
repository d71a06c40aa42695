//! FUS-1…3: what trips, and what does not.

use awakener_kernel::config::Config;
use awakener_kernel::fuse::*;
use awakener_kernel::ids::{ContentHash, MessageId};
use awakener_kernel::time::{Millis, Wall};
use awakener_spec::Reason;
use proptest::prelude::*;

use crate::rig::{HOUR, cause, hash, message};

const T0: Wall = Wall(1_000_000_000);

/// Judges and, if allowed, counts: what the station does.
fn run(config: &Config, counters: &mut Counters, at: Wall, work: &Work) -> Result<(), Trip> {
    judge(config, counters, at, work)?;
    counters.raise(at, work);
    Ok(())
}

fn small() -> Config {
    Config { turns_per_hour: 3, turns_per_day: 5, turns_per_boot: 4, ..Config::default() }
}

#[test]
fn fus_1_the_turns_of_an_hour_are_counted() {
    let (config, mut counters) = (small(), Counters::default());
    for n in 0..3 {
        assert_eq!(run(&config, &mut counters, T0, &cause(n)), Ok(()));
    }
    let trip = Trip::Hour { turns: 3, limit: 3 };
    assert_eq!(run(&config, &mut counters, T0 + HOUR + Millis(0), &cause(4)), Ok(()), "the hour is over");
    assert_eq!(
        judge(
            &config,
            &{
                let mut again = Counters::default();
                (0..3).for_each(|n| again.raise(T0, &cause(n)));
                again
            },
            Wall(T0.0 + HOUR.0 - 1),
            &cause(4)
        ),
        Err(trip),
        "one millisecond earlier it is not"
    );
}

#[test]
fn fus_1_a_boot_forgets_its_own_count_and_the_day_goes_on() {
    let (config, mut counters) = (small(), Counters::default());
    let hours = |n: u64| Wall(T0.0 + n * HOUR.0);
    for n in 0..4 {
        assert_eq!(run(&config, &mut counters, hours(n), &cause(1)), Ok(()));
    }
    assert_eq!(run(&config, &mut counters, hours(5), &cause(1)), Err(Trip::Boot { turns: 4, limit: 4 }));
    counters.booted();
    assert_eq!(run(&config, &mut counters, hours(5), &cause(1)), Ok(()));
    assert_eq!(run(&config, &mut counters, hours(7), &cause(1)), Err(Trip::Day { turns: 5, limit: 5 }));
    assert_eq!(run(&config, &mut counters, hours(24), &cause(1)), Ok(()), "the first turn left the day");
}

#[test]
fn fus_1_a_clock_that_was_set_back_hides_no_turn() {
    let (config, mut counters) = (small(), Counters::default());
    (0..3).for_each(|n| counters.raise(T0, &cause(n)));
    let back = Wall(T0.0 - 10 * HOUR.0);
    assert_eq!(judge(&config, &counters, back, &cause(4)).map_err(|t| t.reason()), Err(Reason::FuseCount));
}

#[test]
fn fus_2_the_memory_of_the_counters_is_bounded() {
    let mut counters = Counters::default();
    (0..5_000).for_each(|n| counters.raise(T0, &cause(n)));
    assert_eq!((counters.len(), counters.boot()), (MAX_TURNS, 5_000));
    counters.raise(Wall(T0.0 + DAY.0), &cause(1));
    assert_eq!(counters.len(), 1, "what left the day is forgotten");
}

/// The chain of a triangle: A's words go to B, C and come back. Hop n is in the inbox of A, B, C in turn.
fn hop(n: u32, content: impl Fn(u32) -> ContentHash) -> Work {
    let id = |n: u32| MessageId::from_u128(u128::from(n) + 1);
    let ancestry =
        (0..n).rev().map(|k| Ancestor { message: id(k), here: k % 3 == n % 3, normal: content(k) });
    let ancestry = ancestry.collect();
    Work { message: id(n), normal: content(n), depth: n, descends_from_own: n >= 3, ancestry }
}

#[test]
fn fus_1_a_triangle_of_echo_stations_trips_where_it_closes() {
    // B-54: one counter per station.
    let (config, mut counters) =
        (Config::default(), [const { None::<Counters> }; 3].map(|c| c.unwrap_or_default()));
    let mut tripped = None;
    for n in 0..398 {
        let station = &mut counters[usize::try_from(n % 3).unwrap()];
        if let Err(trip) = run(&config, station, T0, &hop(n, |_| hash(1))) {
            tripped = Some((n, trip));
            break;
        }
    }
    let cycle = [4, 3, 2, 1].map(message).to_vec();
    assert_eq!(tripped, Some((3, Trip::Loop { cycle })), "the third hop is where it started");
}

#[test]
fn fus_1_a_triangle_with_new_words_each_time_trips_on_its_depth() {
    let (config, mut counters) = (Config::default(), Counters::default());
    let content = |n: u32| ContentHash::of(&n.to_be_bytes());
    let trip = (0..398).find_map(|n| run(&config, &mut counters, T0, &hop(n, content)).err());
    assert_eq!(trip, Some(Trip::Depth { depth: 9, limit: 8 }));
}

#[test]
fn fus_1_a_question_and_its_answer_are_no_loop() {
    let (config, counters) = (Config::default(), Counters::default());
    let ancestry = vec![
        Ancestor { message: message(2), here: false, normal: hash(2) },
        Ancestor { message: message(1), here: true, normal: hash(1) },
    ];
    let work = Work { message: message(3), normal: hash(3), depth: 2, descends_from_own: true, ancestry };
    assert_eq!(judge(&config, &counters, T0, &work), Ok(()));
    let same = Work { normal: hash(1), ..work };
    assert_eq!(
        judge(&config, &counters, T0, &same).map_err(|t| t.reason()),
        Err(Reason::FuseLoop),
        "control"
    );
}

fn own(n: u128, text: &str) -> Work {
    Work { normal: normal_hash(text), descends_from_own: true, ..cause(n) }
}

#[test]
fn fus_1_an_echo_trips_whatever_its_digits_spaces_and_times() {
    // B-56.
    let (config, mut counters) = (Config::default(), Counters::default());
    let texts = [
        "Retry 1 at 2026-02-03T04:05:06Z: still failing",
        "retry  2 at 2026-02-03T04:15:06.120Z:\tstill failing",
        "RETRY 31 at 2026-02-03 04:25:06+02:00: still   failing ",
        "retry 1,044 at 04:25: still failing",
    ];
    let results = (1..).zip(texts).map(|(n, text)| run(&config, &mut counters, T0, &own(n, text)));
    let results: Vec<_> = results.collect();
    assert_eq!(results.iter().filter(|r| r.is_ok()).count(), 3, "{results:?}");
    assert_eq!(results[3].as_ref().map_err(Trip::reason), Err(Reason::FuseEcho));
}

#[test]
fn fus_1_something_new_ends_an_echo_and_a_retry_is_none() {
    let (config, mut counters) = (Config::default(), Counters::default());
    for n in 1..30 {
        let text = if n % 3 == 0 { "new" } else { "old" };
        assert_eq!(run(&config, &mut counters, T0, &own(n, text)), Ok(()));
    }
    let mut counters = Counters::default();
    for _ in 1..30 {
        assert_eq!(run(&config, &mut counters, T0, &own(7, "the same message again")), Ok(()));
    }
}

#[test]
fn fus_1_repeats_from_outside_trip_neither_echo_nor_depth_nor_loop() {
    let (config, mut counters) = (Config::default(), Counters::default());
    let ancestry = vec![Ancestor { message: message(1), here: true, normal: hash(1) }];
    for n in 2..30 {
        let work = Work { normal: hash(1), depth: 99, ancestry: ancestry.clone(), ..cause(n) };
        assert_eq!(run(&config, &mut counters, T0, &work), Ok(()));
    }
    let inside = Work { normal: hash(1), depth: 99, ancestry, descends_from_own: true, ..cause(77) };
    assert!(run(&config, &mut counters, T0, &inside).is_err(), "control");
}

#[test]
fn fus_1_normal_forms() {
    for (text, normal) in [
        ("", ""),
        ("  A\n\tb  ", "a b"),
        ("v1.2 of 3", "v of"),
        ("at 12:30Z, -4", "at ,"),
        ("2026-01-02T03:04:05.678+02:00 x", "x"),
        ("a-b 1-2 z", "a-b z"),
        ("٣ Ünïcode", "ünïcode"),
        ("10Zebra", "zebra"),
    ] {
        assert_eq!(normal_form(text), normal, "{text:?}");
    }
}

proptest! {
    #[test]
    fn fus_1_a_normal_form_is_its_own_normal_form(text in "\\PC*") {
        prop_assert_eq!(normal_form(&normal_form(&text)), normal_form(&text));
    }

    #[test]
    fn fus_1_digits_spaces_and_case_never_matter(words in proptest::collection::vec("[a-y]{1,6}", 1..6), n: u32, m: u32) {
        let one = words.iter().map(|w| format!("{w}  {n} ")).collect::<String>();
        let other = words.iter().map(|w| format!("\t{m}.{n} {} ", w.to_uppercase())).collect::<String>();
        prop_assert_eq!(normal_form(&one), normal_form(&other));
    }
}
