//! Neighbours and paths over rows.

use knowledge::{NeighboursQuery, Towards};
use testkit::{Engine, both_engines};

use super::place::{Place, neighbours_of};

const CHAIN: &str = "a | feeds | b\nb | feeds | c\nc | feeds | d\nd | watches | a\nx | feeds | y";

both_engines! {
    async fn neighbours_are_within_the_given_hops(engine: Engine) {
        let place = Place::open(engine).await;
        place.say("a", CHAIN).await;
        let names = async |change: fn(&mut NeighboursQuery)| {
            let mut asked = neighbours_of("a");
            change(&mut asked);
            let found = place.graph.neighbours(&place.indexes, asked).await.unwrap();
            let names: Vec<String> = found.entities.iter().map(|(entity, hops)| format!("{}{hops}", entity.name)).collect();
            (names.join(" "), found.triplets.len(), found.truncated)
        };
        assert_eq!(names(|_| ()).await, ("b1 d1".to_owned(), 2, false));
        assert_eq!(names(|asked| asked.depth = 2).await, ("b1 d1 c2".to_owned(), 4, false));
        assert_eq!(names(|asked| asked.towards = Towards::Out).await, ("b1".to_owned(), 1, false));
        assert_eq!(names(|asked| asked.towards = Towards::In).await, ("d1".to_owned(), 1, false));
        assert_eq!(names(|asked| { asked.depth = 5; asked.towards = Towards::Out }).await.0, "b1 c2 d3");
        assert_eq!(names(|asked| { asked.depth = 5; asked.relationship = Some("Feeds".to_owned()) }).await.0, "b1 c2 d3");
        assert_eq!(names(|asked| asked.relationship = Some("eats".to_owned())).await, (String::new(), 0, false));
        let (only, _, truncated) = names(|asked| asked.limit = 1).await;
        assert_eq!((only.len(), truncated), (2, true));
    }

    async fn a_path_is_shortest(engine: Engine) {
        let place = Place::open(engine).await;
        place.say("a", CHAIN).await;
        assert_eq!(place.path("a", "d", |_| ()).await.unwrap(), ["d watches a"]);
        assert_eq!(place.path("a", "d", |asked| asked.directed = true).await.unwrap(), ["a feeds b", "b feeds c", "c feeds d"]);
        assert!(place.path("a", "d", |asked| { asked.directed = true; asked.depth = 2 }).await.is_none());
        assert!(place.path("a", "x", |_| ()).await.is_none());
        assert_eq!(place.path("a", "A", |_| ()).await.unwrap(), Vec::<String>::new());
    }

    async fn new_facts_and_thousands_of_facts_are_walked(engine: Engine) {
        let place = Place::open(engine).await;
        for hundred in 0..12 {
            let lines: Vec<String> = (0..100).map(|n| format!("hub | links | n{}", hundred * 100 + n)).collect();
            assert_eq!(place.say("a", &lines.join("\n")).await.triplets_created, 100);
            assert!(place.path("hub", &format!("n{}", hundred * 100 + 99), |_| ()).await.is_some());
        }
        let all = NeighboursQuery { limit: 1_000, ..neighbours_of("hub") };
        let around = place.graph.neighbours(&place.indexes, all).await.unwrap();
        assert_eq!((around.entities.len(), around.triplets.len(), around.truncated), (1_000, 1_000, true));
        assert!(around.triplets.iter().all(|triplet| triplet.conflicts_with.len() <= 10));
    }
}
