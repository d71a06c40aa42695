//! Pages, positions and the long poll (INB-5, INB-6, RTE-3, LSN-1).

use std::time::{Duration, Instant};

use awakener::client::ReadFrom;
use awakener_tools::enforces_process;
use serde_json::json;

use super::super::support::*;

enforces_process! {
    [Inb5, Inb6, Rte3] fn inb_6_pages_are_ordered_before_they_are_cut_and_positions_are_exact(seen) {
        let rig = Rig::start();
        let story = rig.story();
        let read = |from: &ReadFrom, limit| rig.block(story.agent.inbox(&story.target, from, Some(limit), None));
        assert_eq!(read(&ReadFrom::Start, 5).unwrap().total, 0);
        for (at, schema) in ["observation/1", "message/1", "directive/1", "message/1", "interrupt-alert/1"]
            .into_iter()
            .enumerate()
        {
            rig.block(story.alice.submit(&submission("lotse", schema, json!(word(at as u64))), None)).unwrap();
        }
        let first = read(&ReadFrom::Start, 2).unwrap();
        let tiers = |page: &awakener::http::wire::answers::Page| -> Vec<(u64, u64)> {
            page.items.iter().map(|item| (item.tier.get(), item.seq)).collect()
        };
        assert_eq!(tiers(&first), [(0, 5), (1, 3)]);
        assert_eq!((first.total, first.more, first.outstanding), (5, true, 1));
        let second = read(&ReadFrom::Position(first.position.clone()), 2).unwrap();
        assert_eq!((tiers(&second), second.total), (vec![(2, 2), (2, 4)], 3));
        // A page that was lost is handed over again, the very same.
        assert_eq!(read(&ReadFrom::Position(first.position.clone()), 2).unwrap(), second);
        let third = read(&ReadFrom::Position(second.position.clone()), 2).unwrap();
        assert_eq!((tiers(&third), third.more), (vec![(3, 1)], false));
        // The outstanding alert neither comes again nor holds up what lands later.
        let end = ReadFrom::Position(third.position.clone());
        assert_eq!(read(&end, 2).unwrap().items, []);
        rig.block(story.alice.submit(&submission("lotse", "message/1", json!("late")), None)).unwrap();
        assert_eq!(tiers(&read(&end, 2).unwrap()), [(2, 6)]);
        // Everything that is not one of this inbox's positions is said to be unknown: never all, never nothing.
        rig.target("other");
        let other = rig.principal("other-agent", &["other"], Some("other"));
        let foreign = rig.block(other.inbox(&"other".parse().unwrap(), &ReadFrom::Start, None, None)).unwrap();
        let mut garbled = first.position.clone();
        garbled.replace_range(3..4, if garbled.as_bytes()[3] == b'A' { "B" } else { "A" });
        for text in [foreign.position, garbled, String::new(), "0".to_owned(), "x".repeat(2_000)] {
            let problem = problem(read(&ReadFrom::Position(text), 2));
            assert_eq!((&problem["reason"], &problem["status"]), (&json!("position_unknown"), &json!(409)));
            seen.problem(&problem);
        }
        // The explicit choice: begin at the end.
        let tail = read(&ReadFrom::Tail, 5).unwrap();
        assert_eq!((tail.total, tail.items.len()), (0, 0));
        rig.block(story.alice.submit(&submission("lotse", "directive/1", json!("new")), None)).unwrap();
        assert_eq!(tiers(&read(&ReadFrom::Position(tail.position), 5).unwrap()), [(1, 7)]);
    }

    [Adm9] fn adm_9_a_query_that_means_nothing_is_refused(seen) {
        let rig = Rig::start();
        rig.target("lotse");
        let token = rig.credential("agent", &["lotse"], None);
        let ask = |query: &str| {
            let request = http().get(format!("{}/v1/inbox/lotse?{query}", rig.base));
            rig.raw(request.bearer_auth(token.expose()))
        };
        for query in [
            "limit=0", "limit=-1", "limit=1e3", "limit=", "limit=1&limit=1", "Limit=1", "until=3", "from=latest",
            "from=start&position=x", "wait_ms=forever", "wait_ms=99999999999999999999",
        ] {
            let (status, _, problem) = ask(query);
            assert_eq!((status, &problem["reason"]), (400, &json!("malformed")), "{query}");
            seen.problem(&problem);
        }
        for query in ["", "limit=1", "limit=4294967295", "from=start", "from=tail", "wait_ms=0"] {
            assert_eq!(ask(query).0, 200, "{query}");
        }
    }

    [Inb5] fn inb_5_a_long_poll_ends_when_something_lands_and_misses_nothing(_seen) {
        let rig = Rig::start();
        let story = rig.story();
        let start = Instant::now();
        let mut from = ReadFrom::Tail;
        // With every round the arrival falls at another moment of the poll.
        for round in 0..40_u64 {
            let message = submission("lotse", "message/1", json!(word(round)));
            let (page, sent) = rig.block(async {
                tokio::join!(
                    story.agent.inbox(&story.target, &from, None, Some(Duration::from_secs(25))),
                    async {
                        if let ReadFrom::Position(_) = from {
                            // Yields a growing number of times; no clock is involved.
                            for _ in 0..round * 5 {
                                tokio::task::yield_now().await;
                            }
                        } else {
                            tokio::time::sleep(Duration::from_millis(300)).await;
                        }
                        story.alice.submit(&message, None).await
                    }
                )
            });
            sent.unwrap();
            let page = page.unwrap();
            assert_eq!(page.items.len(), 1, "round {round}");
            assert_eq!(page.items[0].id, message.id, "round {round}");
            from = ReadFrom::Position(page.position);
        }
        assert!(start.elapsed() < Duration::from_secs(25), "a poll ran into its limit: an arrival was missed");
        // Control: when nothing lands, the time is kept.
        let start = Instant::now();
        let page = rig.block(story.agent.inbox(&story.target, &from, None, Some(Duration::from_millis(400))));
        assert_eq!(page.unwrap().items, []);
        assert!(start.elapsed() >= Duration::from_millis(400));
        // What lands elsewhere ends no poll with something.
        rig.target("other");
        let elsewhere = submission("other", "message/1", json!(1));
        let (page, sent) = rig.block(async {
            tokio::join!(
                story.agent.inbox(&story.target, &from, None, Some(Duration::from_millis(500))),
                story.alice.submit(&elsewhere, None)
            )
        });
        assert_eq!((page.unwrap().items.len(), sent.unwrap().seq), (0, 1));
    }

    [Inb5] fn inb_5_a_stop_ends_polls_at_once(_seen) {
        let mut rig = Rig::start();
        let story = rig.story();
        let (agent, target) = (story.agent.clone(), story.target.clone());
        let poll = rig.runtime.spawn(async move {
            agent.inbox(&target, &ReadFrom::Tail, None, Some(Duration::from_secs(25))).await
        });
        rig.block(async { tokio::time::sleep(Duration::from_millis(500)).await });
        let start = Instant::now();
        rig.down();
        assert!(start.elapsed() < Duration::from_secs(9), "{:?}", start.elapsed());
        assert_eq!(rig.block(poll).unwrap().unwrap().items, []);
    }
}
