//! How ratings change weights and the order of answers.

use knowledge::{Error, Judgement, TripletRef, WorkOutcome};
use testkit::{Engine, both_engines};

use super::place::{Place, author};

fn by_words(source: &str, relationship: &str, target: &str) -> TripletRef {
    TripletRef::Fact { source: source.to_owned(), relationship: relationship.to_owned(), target: target.to_owned() }
}

both_engines! {
    async fn a_rating_moves_a_triplet_and_its_entities_once_per_session(engine: Engine) {
        let place = Place::open(engine).await;
        let ids = place.say("a", "shop | uses | redis\nshop | uses | kafka").await.ids;
        let judge = async |who: &str, meant: Vec<TripletRef>, judgement: Judgement| {
            place.graph.improve(&author(who), meant, judgement).await.unwrap()
        };
        let both = vec![TripletRef::Id(ids[0]), by_words("SHOP", "Uses", "Kafka")];
        let moved = judge("a", both, Judgement::Outcome(WorkOutcome::Accepted)).await;
        let weights: Vec<(f64, f64)> = moved.triplets.iter().map(|moved| (moved.before, moved.after)).collect();
        assert_eq!(weights, [(0.5, 0.55), (0.5, 0.55)]);
        let shop = &moved.entities[0];
        assert_eq!((shop.entity.name.as_str(), shop.before), ("shop", 0.5));
        assert!((shop.after - 0.595).abs() < 1e-12, "two of its triplets were judged");
        assert_eq!(moved.entities.len(), 3);

        let again = judge("a", vec![TripletRef::Id(ids[0])], Judgement::Score(0.0)).await;
        assert!(again.triplets[0].repeated && again.triplets[0].after == 0.55 && again.entities[0].before == again.entities[0].after);
        let other = judge("b", vec![TripletRef::Id(ids[0])], Judgement::Outcome(WorkOutcome::Rejected)).await;
        assert!((other.triplets[0].after - 0.495).abs() < 1e-12);

        // The history leads exactly to the weight.
        let story = place.graph.triplet(&place.indexes, &ids[0]).await.unwrap();
        let words: Vec<&str> = story.moves.iter().map(|moved| moved.outcome.as_str()).collect();
        assert_eq!(words, ["accepted", "rejected"]);
        let replayed = story.moves.iter().fold(0.5, |weight, moved| {
            assert_eq!(weight, moved.before);
            moved.after
        });
        assert_eq!(replayed, story.triplet.weight);
        let shop = place.graph.entity(&shop.entity.id).await.unwrap();
        assert_eq!(shop.moves.last().map(|moved| moved.after), Some(shop.entity.weight));

        // A missing triplet fails the whole call.
        let missing = vec![TripletRef::Id(ids[1]), by_words("shop", "hates", "redis")];
        let error = place.graph.improve(&author("c"), missing, Judgement::Score(1.0)).await.unwrap_err();
        assert!(matches!(&error, Error::UnknownFact { position: 1, .. }), "{error:?}");
        let story = place.graph.triplet(&place.indexes, &ids[1]).await.unwrap();
        assert_eq!(story.triplet.weight, 0.55);
    }

    async fn weights_affect_the_order_and_hide_nothing(engine: Engine) {
        let place = Place::open(engine).await;
        let ids = place.say("a", "mailer | retries with | plan one\nmailer | retries with | plan two").await.ids;
        place.embed().await;
        let order = async || {
            let hits = place.ask("mailer retries with plan", 10, 0).await.hits;
            hits.iter().map(|hit| (hit.triplet.id, hit.score)).collect::<Vec<_>>()
        };
        let before = order().await;
        let last = before[1].0;
        for session in 0..10 {
            let who = author(&format!("judge {session}"));
            place.graph.improve(&who, vec![TripletRef::Id(last)], Judgement::Score(1.0)).await.unwrap();
        }
        let after = order().await;
        assert_eq!((after[0].0, after.len()), (last, 2), "{before:?} {after:?}");
        assert!(after.iter().all(|(id, score)| ids.contains(id) && (0.0..=1.0).contains(score)));
        // A cheaper path can be longer.
        place.say("a", "a | goes | z\na | hops | m\nm | hops | z").await;
        assert_eq!(place.path("a", "z", |asked| asked.weighted = true).await.unwrap(), ["a goes z"]);
        for session in 0..20 {
            let who = author(&format!("judge {session}"));
            place.graph.improve(&who, vec![by_words("a", "goes", "z")], Judgement::Score(0.0)).await.unwrap();
        }
        assert_eq!(place.path("a", "z", |asked| asked.weighted = true).await.unwrap(), ["a hops m", "m hops z"]);
        assert_eq!(place.path("a", "z", |_| ()).await.unwrap(), ["a goes z"]);
    }

    async fn a_query_finds_entry_points_by_keywords_and_meaning_and_walks_on(engine: Engine) {
        let place = Place::open(engine).await;
        place.say("a", "checkout-service | stores carts in | redis cluster\nredis cluster | is operated by | platform team\n\
            platform team | is led by | Noor\ncafeteria | serves | soup").await;
        let said = |hits: &knowledge::GraphHits| hits.hits.iter().map(|hit| hit.triplet.sentence()).collect::<Vec<_>>();
        // By keywords at once, before anything is embedded.
        assert_eq!(said(&place.ask("checkout-service carts", 10, 0).await), ["checkout-service stores carts in redis cluster"]);
        place.embed().await;
        let found = said(&place.ask("who eats what for lunch", 1, 0).await);
        assert_eq!(found, ["cafeteria serves soup"]);
        let walked = said(&place.ask("checkout-service carts", 10, 2).await);
        assert!(walked.len() >= 3 && walked.contains(&"platform team is led by Noor".to_owned()), "{walked:?}");
        assert_eq!(walked[0], "checkout-service stores carts in redis cluster");
        let scores: Vec<f32> = place.ask("checkout-service carts", 10, 2).await.hits.iter().map(|hit| hit.score).collect();
        assert!(scores.windows(2).all(|pair| pair[0] >= pair[1]) && scores.iter().all(|score| (0.0..=1.0).contains(score)));
        assert_eq!(place.ask("checkout-service carts", 1, 2).await.hits.len(), 1);
    }
}
