//! Superseded facts, conflicting facts, and reads as of a time.

use base::{Kind, PageRequest};
use knowledge::{Error, Flaw, NewObservation, NewTriplet, Part, RetractFilter, TripletFilter};
use testkit::{Engine, both_engines};

use super::place::{DAY_MS, Place, author, fact, neighbours_of};

both_engines! {
    async fn a_functional_fact_supersedes_the_older_one(engine: Engine) {
        let place = Place::open(engine).await;
        place.say("a", "shop | !owned by | team red").await;
        let before = place.now();
        place.store.clock.advance_ms(DAY_MS);
        let said = place.say("a", "shop | !owned by | team blue").await;
        assert_eq!((said.triplets_created, said.superseded), (1, 1));
        assert_eq!(place.around("shop").await, ["shop owned by team blue"]);
        assert_eq!(place.around_at("shop", Some(before)).await, ["shop owned by team red"]);
        assert_eq!(place.around_at("shop", Some(before.plus_ms(-DAY_MS))).await, Vec::<String>::new());
        // Stating it again changes nothing.
        assert_eq!(place.say("a", "shop | !owned by | team blue").await.superseded, 0);
        let stats = place.graph.stats(&place.indexes).await.unwrap();
        assert_eq!((stats.triplets, stats.standing), (2, 1), "nothing is deleted");
    }

    async fn other_facts_are_kept_and_name_their_conflicts(engine: Engine) {
        let place = Place::open(engine).await;
        let said = place.say("a", "shop | owned by | team red\nshop | owned by | team blue\nshop | uses | redis").await;
        assert_eq!((said.triplets_created, said.superseded), (3, 0));
        let around = place.graph.neighbours(&place.indexes, neighbours_of("shop")).await.unwrap();
        for triplet in &around.triplets {
            let expected: Vec<_> = match triplet.target.name.as_str() {
                "team red" => vec![said.ids[1]],
                "team blue" => vec![said.ids[0]],
                _ => vec![],
            };
            assert_eq!(triplet.conflicts_with, expected, "{}", triplet.sentence());
        }
        // A later functional fact resolves the conflict.
        let settled = place.say("b", "shop | !owned by | team blue").await;
        assert_eq!((settled.triplets_existing, settled.superseded), (1, 1));
        assert_eq!(place.around("shop").await, ["shop owned by team blue", "shop uses redis"]);
    }

    async fn a_fact_is_true_within_its_validity_times(engine: Engine) {
        let place = Place::open(engine).await;
        let (now, day) = (place.now(), |days: i64| place.now().plus_ms(days * DAY_MS));
        let valid = |line: &str, from: i64, to: i64| NewTriplet {
            valid_from: (from != 0).then(|| day(from)), valid_to: (to != 0).then(|| day(to)), ..fact(line)
        };
        place.say("a", "shop | !owned by | team red").await;
        // A fact that has already ended says nothing about today.
        let closed = place.try_say("a", vec![valid("shop | !owned by | founders", -400, -300)]).await.unwrap();
        assert_eq!((closed.triplets_created, closed.superseded), (1, 0));
        // A fact that starts later supersedes later.
        let later = place.try_say("a", vec![valid("shop | !owned by | team blue", 10, 0)]).await.unwrap();
        assert_eq!((later.triplets_created, later.superseded), (1, 1));
        assert_eq!(place.around("shop").await, ["shop owned by team red"]);
        assert_eq!(place.around_at("shop", Some(day(9))).await, ["shop owned by team red"]);
        assert_eq!(place.around_at("shop", Some(day(11))).await, ["shop owned by team blue"]);
        // The same fact with an end replaces the one without.
        let ended = place.try_say("a", vec![valid("shop | owned by | team blue", 0, 20)]).await.unwrap();
        assert_eq!((ended.triplets_created, ended.superseded), (1, 1));
        assert_eq!(place.around_at("shop", Some(day(21))).await, Vec::<String>::new());
        place.store.clock.advance_ms(15 * DAY_MS);
        assert_eq!(place.around("shop").await, ["shop owned by team blue"]);
        let wrong = NewTriplet { valid_from: Some(now), valid_to: Some(now.plus_ms(-1)), ..fact("a | b | c") };
        let error = place.try_say("a", vec![wrong]).await.unwrap_err();
        assert_eq!(error.kind(), Kind::InvalidParams);
        let is_start = matches!(&error, Error::BadTriplet { position: 0, part: Part::ValidFrom, flaw: Flaw::AfterEnd });
        assert!(is_start, "{error:?}");
    }

    async fn a_fact_of_the_past_is_read_as_of_its_time(engine: Engine) {
        let place = Place::open(engine).await;
        let day = |days: i64| place.now().plus_ms(days * DAY_MS);
        let valid = |line: &str, from: Option<i64>, to: i64| NewTriplet {
            valid_from: from.map(day), valid_to: Some(day(to)), ..fact(line)
        };
        let past = vec![valid("shop | run by | founders", Some(-400), -300), valid("shop | sold | bread", None, -350)];
        place.try_say("a", past.clone()).await.unwrap();
        let bread = ["shop sold bread"];
        for (at, expected) in [
            (-500, &bread[..]), (-400, &["shop run by founders", "shop sold bread"]), (-350, &["shop run by founders"]),
            (-301, &["shop run by founders"]), (-300, &[]), (-1, &[]), (0, &[]), (9, &[]),
        ] {
            assert_eq!(place.around_at("shop", Some(day(at))).await, expected, "day {at}");
        }
        assert_eq!(place.path("shop", "founders", |asked| asked.as_of = Some(day(-350))).await.unwrap().len(), 1);
        assert_eq!(place.path("shop", "founders", |_| ()).await, None);
        assert_eq!(place.try_say("b", past).await.unwrap().triplets_existing, 2, "the same is stored once");
        let listed = async |days: i64| {
            let filter = TripletFilter { as_of: Some(day(days)), ..TripletFilter::default() };
            let page = place.graph.list(&place.indexes, &filter, &PageRequest { rows: 10, after: None }).await.unwrap();
            page.items.iter().map(|triplet| triplet.sentence()).collect::<Vec<_>>()
        };
        assert_eq!((listed(-500).await, listed(-310).await), (vec!["shop sold bread".to_owned()], vec!["shop run by founders".to_owned()]));
        assert_eq!(listed(-1).await, Vec::<String>::new());
        // What was retracted was never known then.
        place.store.clock.advance_ms(1_000);
        for agent in ["a", "b"] {
            place.graph.retract(&RetractFilter { agent: Some(agent.to_owned()), ..RetractFilter::default() }, "owner").await.unwrap();
        }
        assert!(place.around_at("shop", Some(day(-350))).await.len() < 2);
    }

    async fn an_end_that_is_learned_later_does_not_double_the_fact(engine: Engine) {
        let place = Place::open(engine).await;
        place.say("a", "shop | owned by | team red").await;
        let (then, day) = (place.now(), |days: i64| place.now().plus_ms(days * DAY_MS));
        place.store.clock.advance_ms(10 * DAY_MS);
        let ended = NewTriplet { valid_from: Some(day(-30)), valid_to: Some(day(-5)), ..fact("shop | owned by | team red") };
        assert_eq!(place.try_say("a", vec![ended]).await.unwrap().superseded, 1);
        assert_eq!(place.around("shop").await, Vec::<String>::new());
        for at in [day(-20), then.plus_ms(DAY_MS)] {
            assert_eq!(place.around_at("shop", Some(at)).await, ["shop owned by team red"]);
        }
        assert_eq!(place.around_at("shop", Some(day(-31))).await, Vec::<String>::new());
    }

    async fn retracting_restores_superseded_facts(engine: Engine) {
        let place = Place::open(engine).await;
        place.say("good", "shop | !owned by | team red\nshop | uses | redis").await;
        place.store.clock.advance_ms(1_000);
        place.say("bad", "shop | !owned by | intruder\nshop | uses | redis\nshop | leaks to | intruder").await;
        let meanwhile = place.now();
        assert_eq!(place.around("shop").await, ["shop leaks to intruder", "shop owned by intruder", "shop uses redis"]);
        place.store.clock.advance_ms(1_000);
        let nobody = place.graph.retract(&RetractFilter::default(), "owner").await;
        assert_eq!(nobody.unwrap_err().kind(), Kind::InvalidParams);
        let bad = RetractFilter { agent: Some("bad".to_owned()), ..RetractFilter::default() };
        let gone = place.graph.retract(&bad, "owner").await.unwrap();
        assert_eq!((gone.triplets, gone.restored), (2, 1));
        assert_eq!(place.around("shop").await, ["shop owned by team red", "shop uses redis"]);
        assert_eq!(place.around_at("shop", Some(meanwhile)).await.len(), 3, "what was read then is still what was known then");
        assert_eq!(place.graph.retract(&bad, "owner").await.unwrap().triplets, 0);
    }

    async fn an_observation_adds_its_facts_and_forgetting_removes_them(engine: Engine) {
        let place = Place::open(engine).await;
        let content = "`checkout` depends on `redis`, and `checkout` is owned by `team red`.".to_owned();
        let note = NewObservation { content, ..NewObservation::default() };
        let kept = place.memory().remember(&author("a"), note).await.unwrap();
        assert_eq!(place.around("checkout").await, ["checkout depends on redis", "checkout owned by team red"]);
        let around = place.graph.neighbours(&place.indexes, neighbours_of("redis")).await.unwrap();
        assert_eq!(around.triplets[0].provenance.observation, Some(kept.id));
        place.say("b", "checkout | depends on | redis").await;
        place.memory().forget(&kept.id, "owner").await.unwrap();
        assert_eq!(place.around("checkout").await, ["checkout depends on redis"], "someone else said it, too");
    }
}
