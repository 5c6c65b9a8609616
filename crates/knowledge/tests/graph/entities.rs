//! Which names refer to the same entity.

use base::Kind;
use knowledge::{Asked, EntityPart, Error, Flaw, NewEntity, NewTriplet, Part};
use testkit::{Engine, both_engines};

use super::place::{Place, entity, fact, neighbours_of, said};

both_engines! {
    async fn spellings_of_a_name_find_one_entity(engine: Engine) {
        let place = Place::open(engine).await;
        let first = place.say("a", "PaymentService | depends on | PostgreSQL").await;
        assert_eq!((first.entities_created, first.triplets_created, first.triplets_existing), (2, 1, 0));
        let again = place.say("b", "payment-service | dependsOn | postgresql\npayment_service | DEPENDS-ON | `PostgreSQL`").await;
        assert_eq!((again.entities_created, again.triplets_created, again.triplets_existing), (0, 0, 2));
        assert_eq!(again.ids, [first.ids[0], first.ids[0]]);
        assert_eq!(place.around("Payment Service").await, ["PaymentService depends on PostgreSQL"]);
        let story = place.graph.triplet(&place.indexes, &first.ids[0]).await.unwrap();
        assert_eq!(story.triplet.provenance.agent, "a", "who said it first");
        let mentioned: Vec<&str> = story.mentions.iter().map(|mention| mention.agent.as_str()).collect();
        assert_eq!(mentioned, ["a", "b"]);
    }

    async fn entities_of_different_types_are_different(engine: Engine) {
        let place = Place::open(engine).await;
        let said_of_both = place.say("a", "mercury (planet) | orbits | sun\nmercury (element) | is in | thermometer").await;
        assert_eq!(said_of_both.entities_created, 4);
        let typed = place.say("a", "mercury (planet) | has | craters").await;
        assert_eq!(typed.entities_created, 1);
        // A query without a type covers all entities with the name.
        assert_eq!(place.around("mercury").await.len(), 3);
        // A first type is added to the entity and does not create another one.
        place.say("a", "venus | orbits | sun").await;
        assert_eq!(place.say("a", "venus (planet) | has | clouds").await.entities_created, 1);
        assert_eq!(place.around("venus").await.len(), 2);
        assert_eq!(place.say("a", "venus | has | no moon").await.entities_created, 1, "only one is called so");
    }

    async fn an_alias_finds_the_entity_and_merges_its_namesake(engine: Engine) {
        let place = Place::open(engine).await;
        place.say("a", "pg | runs on | db-1\nshop | uses | PostgreSQL").await;
        assert!(place.path("shop", "db-1", |_| ()).await.is_none());
        let aliases = vec!["pg".to_owned(), "the database".to_owned()];
        let source = NewEntity { aliases, ..entity("PostgreSQL") };
        let known = NewTriplet { source, ..fact("PostgreSQL | has version | 17") };
        place.try_say("b", vec![known]).await.unwrap();
        assert_eq!(place.around("The Database").await.len(), 3);
        assert_eq!(place.path("shop", "db-1", |_| ()).await.unwrap(), ["shop uses PostgreSQL", "PostgreSQL runs on db-1"]);
        // A fact stated with either name is the same fact.
        assert_eq!(place.say("b", "shop | uses | pg").await.triplets_existing, 1);

        // A merge can be undone, and made again manually.
        let pages = base::PageRequest { rows: 100, after: None };
        let entities = place.graph.list_entities(&pages).await.unwrap().items;
        assert!(entities.is_sorted_by(|newer, older| newer.entity.number > older.entity.number));
        let merged = entities.iter().find(|listed| listed.merged_into.is_some()).unwrap();
        assert_eq!(place.graph.entity(&merged.entity.id).await.unwrap().merged_into, merged.merged_into);
        let into = &entities.iter().find(|listed| Some(listed.entity.id) == merged.merged_into).unwrap().entity;
        let merged = &merged.entity;
        assert_eq!((merged.name.as_str(), into.name.as_str()), ("pg", "PostgreSQL"));
        place.graph.split(&merged.id, "owner").await.unwrap();
        assert!(place.path("shop", "db-1", |_| ()).await.is_none());
        assert_eq!(place.around("pg").await, ["pg runs on db-1"]);
        assert_eq!(place.graph.split(&merged.id, "owner").await.unwrap_err().kind(), Kind::Conflict);
        let would = place.graph.try_merge(&merged.id, &into.id).await.unwrap();
        assert_eq!(would.into.name, "PostgreSQL");
        assert!(place.path("shop", "db-1", |_| ()).await.is_none(), "a dry run changes nothing");
        place.graph.merge(&merged.id, &into.id, "owner").await.unwrap();
        assert_eq!(place.path("shop", "db-1", |_| ()).await.unwrap().len(), 2);
        assert_eq!(place.graph.merge(&into.id, &merged.id, "owner").await.unwrap_err().kind(), Kind::Conflict);
        // A new load of the rows gives the same result.
        let fresh = Place { indexes: knowledge::Indexes::new(knowledge::IndexesConfig::new(
            std::sync::Arc::new(search::embed::MiniLm::bundled().unwrap()), place.store.clock.clone())), ..place };
        assert_eq!(fresh.path("shop", "db-1", |_| ()).await.unwrap().len(), 2);
    }

    async fn an_unknown_entity_gets_suggestions(engine: Engine) {
        let place = Place::open(engine).await;
        let error = place.graph.neighbours(&place.indexes, neighbours_of("redis")).await.unwrap_err();
        assert_eq!(error.kind(), Kind::InvalidParams);
        assert!(matches!(&error, Error::NoEntityCalled { asked: Asked::Centre, .. }), "{error:?}");
        place.say("a", "checkout-service | uses | redis").await;
        let error = place.graph.neighbours(&place.indexes, neighbours_of("checkout")).await.unwrap_err();
        let message = error.to_string();
        assert!(message.contains("`checkout`") && message.contains("`checkout-service`"), "{message}");
    }

    async fn a_call_is_all_or_nothing(engine: Engine) {
        let place = Place::open(engine).await;
        for (wrong, expected) in [
            ("a | -> | b", (Part::Relationship, Flaw::NoLetters)),
            ("`` | uses | b", (Part::Source(EntityPart::Name), Flaw::NotAName)),
            ("a | uses |  ", (Part::Target(EntityPart::Name), Flaw::NotAName)),
        ] {
            let error = place.try_say("a", vec![fact("x | uses | y"), fact(wrong)]).await.unwrap_err();
            assert_eq!(error.kind(), Kind::InvalidParams);
            let Error::BadTriplet { position: 1, part, flaw } = error else { panic!("{wrong}: {error:?}") };
            assert_eq!((part, flaw), expected, "{wrong}");
        }
        let too_many = (0..101).map(|n| fact(&format!("x | uses | y{n}"))).collect();
        assert_eq!(place.try_say("a", too_many).await.unwrap_err().kind(), Kind::InvalidParams);
        assert_eq!(place.try_say("a", Vec::new()).await.unwrap_err().kind(), Kind::InvalidParams);
        let stats = place.graph.stats(&place.indexes).await.unwrap();
        assert_eq!((stats.entities, stats.triplets), (0, 0));
    }

    async fn projects_and_orgs_share_nothing(engine: Engine) {
        let place = Place::open(engine).await;
        let ids = place.say("a", "secret-service | depends on | hidden-db").await.ids;
        let other_project = base::ProjectId::new(place.now());
        let other_rows = place.store.new_org();
        for (rows, project) in [(place.rows.clone(), other_project), (other_rows, place.project)] {
            let graph = knowledge::KnowledgeGraph::new(rows, project, place.store.clock.clone());
            assert!(graph.neighbours(&place.indexes, neighbours_of("secret-service")).await.is_err());
            assert!(graph.triplet(&place.indexes, &ids[0]).await.is_err());
            let query = knowledge::GraphQuery { query: "secret-service hidden-db".to_owned(), top_k: 10, depth: 4, as_of: None,
                ranking: knowledge::GraphRanking::default() };
            assert!(graph.query(&place.indexes, query).await.unwrap().hits.is_empty());
            let judged = graph.improve(&crate::place::author("b"), vec![knowledge::TripletRef::Id(ids[0])],
                knowledge::Judgement::Score(0.0)).await;
            assert_eq!(judged.unwrap_err().kind(), Kind::InvalidParams);
        }
        let around = place.graph.neighbours(&place.indexes, neighbours_of("secret-service")).await.unwrap();
        assert_eq!((said(&around).len(), around.triplets[0].weight), (1, 0.5));
    }

    async fn unknown_names_are_answered_with_the_nearest(engine: Engine) {
        let place = Place::open(engine).await;
        // Many names that start alike, so that the right one is not next in the order.
        for part in 0..4 {
            let many: Vec<String> = (0..100).map(|n| format!("payment part {n} of {part} | belongs to | shop")).collect();
            place.say("a", &many.join("\n")).await;
        }
        place.say("a", "PaymentService | uses | redis\nledger | uses | postgres").await;
        for (asked, expected) in [
            ("paymentsrevice", "PaymentService"), ("Payment-Servce", "PaymentService"), ("xayment service", "PaymentService"),
            ("rediss", "redis"), ("edis", "redis"), ("lodger", "ledger"), ("psotgres", "postgres"),
        ] {
            let error = place.graph.neighbours(&place.indexes, neighbours_of(asked)).await.unwrap_err();
            assert_eq!(error.kind(), Kind::InvalidParams);
            let Error::NoEntityCalled { near, .. } = &error else { panic!("{error:?}") };
            assert_eq!(near[0], expected, "{asked}: {error}");
            assert!(error.to_string().contains(&format!("did you mean `{expected}`")), "{error}");
        }
        // Without a similar spelling, shared words decide.
        let error = place.graph.neighbours(&place.indexes, neighbours_of("the old ledger database")).await.unwrap_err();
        let Error::NoEntityCalled { near, .. } = &error else { panic!("{error:?}") };
        assert_eq!(near[0], "ledger", "{error}");
    }

    async fn facts_of_one_call_know_each_other(engine: Engine) {
        let place = Place::open(engine).await;
        // New entities, stated again in the same call in other spellings, with a type that comes later.
        let first = place.say("a", "web-shop | uses | Redis\nWebShop | uses | redis\nweb shop (service) | calls | ledger\nweb_shop | calls | Ledger").await;
        assert_eq!((first.entities_created, first.triplets_created, first.triplets_existing), (3, 2, 2));
        assert_eq!((first.ids[0], first.ids[2]), (first.ids[1], first.ids[3]));
        // An alias in the middle of a call merges what the call found before.
        let aliased = NewTriplet {
            source: NewEntity { name: "cart".to_owned(), aliases: vec!["basket".to_owned()], ..NewEntity::default() },
            ..fact("cart | uses | redis")
        };
        place.say("a", "basket | uses | redis").await;
        let facts = vec![fact("basket | calls | ledger"), aliased, fact("basket | calls | ledger"), fact("cart | calls | ledger")];
        let merged = place.try_say("a", facts).await.unwrap();
        assert_eq!((merged.entities_created, merged.triplets_created, merged.triplets_existing), (1, 1, 3));
        assert_eq!(place.around("cart").await, ["cart calls ledger", "cart uses Redis"]);
        // Functional facts of one call supersede each other.
        let moved = place.say("a", "cart | !owned by | red\ncart | !owned by | blue\ncart | !owned by | red").await;
        assert_eq!((moved.triplets_created, moved.superseded), (3, 2));
        assert_eq!(place.around("cart").await.len(), 3);
    }
}
