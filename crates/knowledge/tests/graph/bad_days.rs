//! Difficult orders of events: scheduled facts, ended facts, chains of merges, and repeated overwrites.

use base::Kind;
use knowledge::{Error, Flaw, NewEntity, NewTriplet, Part, RetractFilter};
use testkit::{Engine, both_engines};

use super::place::{DAY_MS, Place, author, entity, fact};

fn of(agent: &str) -> RetractFilter {
    RetractFilter { agent: Some(agent.to_owned()), ..RetractFilter::default() }
}

impl Place {
    /// States a fact that is valid from and until these days from now; zero means no limit.
    async fn say_valid(&self, line: &str, from: i64, to: i64) {
        let day = |days: i64| (days != 0).then(|| self.now().plus_ms(days * DAY_MS));
        self.try_say("a", vec![NewTriplet { valid_from: day(from), valid_to: day(to), ..fact(line) }]).await.unwrap();
    }

    async fn owners_in(&self, days: i64) -> Vec<String> {
        self.around_at("shop", Some(self.now().plus_ms(days * DAY_MS))).await
    }
}

both_engines! {
    async fn scheduled_facts_follow_each_other(engine: Engine) {
        let place = Place::open(engine).await;
        place.say_valid("shop | !owned by | ada", 0, 0).await;
        place.say_valid("shop | !owned by | ben", 10, 0).await;
        place.say_valid("shop | !owned by | cy", 20, 0).await;
        assert_eq!(place.owners_in(5).await, ["shop owned by ada"]);
        assert_eq!(place.owners_in(15).await, ["shop owned by ben"]);
        assert_eq!(place.owners_in(25).await, ["shop owned by cy"]);
        // Out of order, with an end.
        let place = Place::open(engine).await;
        place.say_valid("shop | !owned by | ben", 10, 20).await;
        place.say_valid("shop | !owned by | ada", 5, 10).await;
        assert_eq!(place.owners_in(7).await, ["shop owned by ada"]);
        assert_eq!(place.owners_in(15).await, ["shop owned by ben"]);
    }

    async fn stating_a_fact_again_cancels_its_scheduled_end(engine: Engine) {
        let place = Place::open(engine).await;
        place.say_valid("shop | !owned by | ada", 0, 0).await;
        place.say_valid("shop | !owned by | ben", 10, 0).await;
        place.say_valid("shop | !owned by | ada", 0, 0).await;
        assert_eq!(place.owners_in(5).await, ["shop owned by ada"]);
        assert_eq!(place.owners_in(15).await, ["shop owned by ada"]);
        // A scheduled fact stays scheduled if it is stated again.
        let place = Place::open(engine).await;
        place.say_valid("shop | !owned by | ada", 0, 0).await;
        place.say_valid("shop | !owned by | ben", 10, 0).await;
        place.say_valid("shop | !owned by | ben", 0, 0).await;
        assert_eq!(place.owners_in(5).await, ["shop owned by ada"]);
        assert_eq!(place.owners_in(15).await, ["shop owned by ben"]);
    }

    async fn an_ended_fact_can_start_again(engine: Engine) {
        let place = Place::open(engine).await;
        place.say_valid("shop | owned by | noor", 0, -1).await;
        place.say_valid("shop | !owned by | sam", 0, 0).await;
        assert_eq!(place.owners_in(0).await, ["shop owned by sam"]);
        place.say_valid("shop | !owned by | noor", 0, 0).await;
        assert_eq!(place.owners_in(0).await, ["shop owned by noor"]);
    }

    async fn an_absent_time_does_not_change(engine: Engine) {
        let place = Place::open(engine).await;
        let described = NewTriplet { description: Some("by contract".to_owned()), ..fact("shop | owned by | blue") };
        let from = Some(place.now().plus_ms(10 * DAY_MS));
        place.try_say("a", vec![NewTriplet { valid_from: from, ..described }]).await.unwrap();
        place.say_valid("shop | owned by | blue", 0, 20).await;
        assert_eq!(place.owners_in(5).await, Vec::<String>::new());
        assert_eq!(place.owners_in(15).await, ["shop owned by blue. by contract"]);
        assert_eq!(place.owners_in(21).await, Vec::<String>::new());
        let too_early = NewTriplet { valid_to: Some(place.now().plus_ms(DAY_MS)), ..fact("shop | owned by | blue") };
        let error = place.try_say("a", vec![too_early]).await.unwrap_err();
        let is_end = matches!(&error, Error::BadTriplet { position: 0, part: Part::ValidTo, flaw: Flaw::BeforeStart });
        assert!(is_end, "{error:?}");
    }

    async fn two_overwrites_by_one_agent_are_undone(engine: Engine) {
        let place = Place::open(engine).await;
        place.say("good", "shop | !owned by | team").await;
        for owner in ["one", "two"] {
            place.store.clock.advance_ms(1_000);
            place.say("bad", &format!("shop | !owned by | {owner}")).await;
        }
        place.store.clock.advance_ms(1_000);
        let gone = place.graph.retract(&of("bad"), "owner").await.unwrap();
        assert_eq!((gone.triplets, gone.restored), (1, 1));
        assert_eq!(place.around("shop").await, ["shop owned by team"]);
        // The scheduled fact is retracted, and no fact is current twice.
        place.say_valid("shop | !owned by | later", 10, 0).await;
        place.graph.retract(&of("a"), "owner").await.unwrap();
        assert_eq!(place.owners_in(0).await, ["shop owned by team"]);
        assert_eq!(place.owners_in(15).await, ["shop owned by team"]);
    }

    async fn a_retracted_fact_does_not_return(engine: Engine) {
        let place = Place::open(engine).await;
        place.say("bad", "shop | !owned by | intruder").await;
        place.store.clock.advance_ms(1_000);
        place.say("other", "shop | !owned by | team").await;
        place.graph.retract(&of("bad"), "owner").await.unwrap();
        place.store.clock.advance_ms(1_000);
        place.graph.retract(&of("other"), "owner").await.unwrap();
        assert_eq!(place.around("shop").await, Vec::<String>::new());
    }

    async fn merges_can_be_retracted_and_chains_are_limited(engine: Engine) {
        let place = Place::open(engine).await;
        place.say("good", "PostgreSQL | runs on | db-1").await;
        let renamed = |name: &str, alias: &str| NewTriplet {
            source: NewEntity { aliases: vec![alias.to_owned()], ..entity(name) },
            ..fact("x | is | y")
        };
        place.try_say("bad", vec![renamed("evil", "PostgreSQL")]).await.unwrap();
        assert!(place.around("PostgreSQL").await.contains(&"evil runs on db-1".to_owned()));
        let gone = place.graph.retract(&of("bad"), "owner").await.unwrap();
        assert_eq!((gone.triplets, gone.split), (1, 1));
        assert_eq!(place.around("PostgreSQL").await, ["PostgreSQL runs on db-1"]);

        // An entity that a person split stays separate.
        place.try_say("a", vec![renamed("pg", "PostgreSQL")]).await.unwrap();
        let entities = place.graph.list_entities(&base::PageRequest { rows: 100, after: None }).await.unwrap().items;
        let merged = entities.iter().find(|listed| listed.merged_into.is_some()).unwrap();
        place.graph.split(&merged.entity.id, "owner").await.unwrap();
        place.try_say("a", vec![renamed("pg", "PostgreSQL")]).await.unwrap();
        assert_eq!(place.around("PostgreSQL").await, ["PostgreSQL runs on db-1"]);

        // A chain of merges ends before it is too long to follow.
        let mut outcome = Ok(());
        for number in 1..40 {
            let link = renamed(&format!("e{number}"), &format!("e{}", number - 1));
            outcome = place.graph.ingest(&author("a"), vec![link]).await.map(drop);
            if outcome.is_err() {
                break;
            }
        }
        assert_eq!(outcome.unwrap_err().kind(), Kind::InvalidParams);
        assert!(!place.around("e0").await.is_empty());
    }

    async fn a_loaded_graph_follows_a_split_and_the_reverse_merge(engine: Engine) {
        let place = Place::open(engine).await;
        place.say("a", "left | has | l\nright | has | r").await;
        let aliased = |name: &str, alias: &str| NewTriplet {
            source: NewEntity { aliases: vec![alias.to_owned()], ..entity(name) },
            ..fact("x | is | here")
        };
        place.try_say("a", vec![aliased("right", "left")]).await.unwrap();
        assert_eq!(place.around("left").await.len(), 3);
        // Both happen before the next update: the row of the second comes before the row of the first.
        let entities = place.graph.list_entities(&base::PageRequest { rows: 100, after: None }).await.unwrap().items;
        let left = entities.iter().find(|listed| listed.entity.name == "left").unwrap().entity.id;
        let right = entities.iter().find(|listed| listed.entity.name == "right").unwrap().entity.id;
        place.graph.split(&left, "owner").await.unwrap();
        place.graph.merge(&right, &left, "owner").await.unwrap();
        place.say("a", "left | has | more").await;
        assert_eq!(place.around("right").await.len(), 4);
        assert_eq!(place.around("left").await, place.around("right").await);
    }
}
