//! The history of observations, triplets, entities, decisions and sessions.

use base::Timestamp;
use knowledge::{
    ChangeType, HistoryFilter, Judgement, KnowledgeHistory, NewEntity, NewObservation, NewTriplet, RetractFilter, TripletRef,
    WorkOutcome,
};
use testkit::{Engine, both_engines};

use super::place::{Place, author, page, told};

fn entity(name: &str) -> NewEntity {
    NewEntity { name: name.to_owned(), ..NewEntity::default() }
}

fn fact(source: &str, relationship: &str, target: &str) -> NewTriplet {
    let relationship = relationship.to_owned();
    NewTriplet { source: entity(source), relationship, target: entity(target), functional: true, ..NewTriplet::default() }
}

fn all() -> HistoryFilter {
    HistoryFilter::default()
}

impl Place {
    async fn note(&self, who: &str, content: &str) -> String {
        self.store.clock.advance_ms(1_000);
        let new = NewObservation { content: content.to_owned(), ..NewObservation::default() };
        self.memory.remember(&author(who), new).await.unwrap().id.to_string()
    }

    async fn end(&self, who: &str, outcome: WorkOutcome) {
        self.store.clock.advance_ms(1_000);
        let (session, now) = (author(who).session, self.store.clock.now());
        self.rows.write(move |tx| outcome.move_recalled(tx, &session, now)).await.unwrap();
    }

    async fn say(&self, who: &str, said: NewTriplet) -> String {
        self.store.clock.advance_ms(1_000);
        self.graph.ingest(&author(who), vec![said]).await.unwrap().ids[0].to_string()
    }
}

both_engines! {
    async fn an_observation_tells_what_happened_to_it(engine: Engine) {
        let place = Place::open(engine).await;
        let id = place.note("a", "the build needs two cores").await;
        for who in ["b", "c", "d"] {
            place.recall(who, "build cores").await;
        }
        place.end("b", WorkOutcome::Accepted).await;
        place.end("c", WorkOutcome::Rejected).await;
        let other = place.note("e", "the build needs two cores").await;
        let changes = place.changes(&id, &all()).await.unwrap();
        let words = [("update", "corroborated"), ("update", "moved"), ("update", "moved"), ("create", "stored")];
        assert_eq!(told(&changes), words.map(|(kind, word)| (kind, word.to_owned())));
        assert_eq!(changes[0].reason.as_deref(), Some(format!("corroborated by {other}").as_str()));
        assert_eq!((changes[1].reason.as_deref(), changes[1].detail.as_deref()), (Some("rejected"), Some("weight 1 → 0.85")));
        assert_eq!((changes[1].session_id.as_deref(), changes[1].agent_id.as_deref()), (Some("ses_c"), None));
        assert_eq!((changes[3].agent_id.as_deref(), changes[3].detail.as_deref()), (Some("a"), Some("the build needs two cores")));
        assert!(changes.iter().all(|change| change.entity_id == id) && changes.is_sorted_by(|newer, older| newer.time >= older.time));

        place.store.clock.advance_ms(1_000);
        place.memory.forget(&base::ObservationId::parse(&id).unwrap(), "owner").await.unwrap();
        let changes = place.changes(&id, &all()).await.unwrap();
        assert_eq!((changes[0].change_type, changes[0].agent_id.as_deref()), (ChangeType::Delete, Some("owner")));
        assert!(changes.iter().all(|change| change.detail.as_ref().is_none_or(|detail| !detail.contains("cores"))), "{changes:?}");
    }

    async fn a_page_never_skips_changes_of_the_same_moment(engine: Engine) {
        let place = Place::open(engine).await;
        let id = place.note("a", "the build needs two cores").await;
        let sessions = ["b", "c", "d", "e", "f"];
        for who in sessions {
            place.recall(who, "build cores").await;
        }
        let now = place.store.clock.now();
        for who in sessions {
            let session = author(who).session;
            place.rows.write(move |tx| WorkOutcome::Rework.move_recalled(tx, &session, now)).await.unwrap();
        }
        let new = NewObservation { content: "the build needs two cores".to_owned(), ..NewObservation::default() };
        place.memory.remember(&author("z"), new).await.unwrap();
        let changes = place.changes(&id, &all()).await.unwrap();
        let mut ids: Vec<&str> = changes.iter().map(|change| change.id.as_str()).collect();
        assert_eq!((ids.len(), changes[0].session_id.as_deref()), (7, Some("ses_f")));
        assert_eq!(told(&changes)[6].1, "stored");
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 7, "{changes:?}");
    }

    async fn filters_choose_types_and_times(engine: Engine) {
        let place = Place::open(engine).await;
        let id = place.note("a", "the build needs two cores").await;
        let stored_at = place.store.clock.now();
        place.recall("b", "build cores").await;
        place.end("b", WorkOutcome::Accepted).await;
        let moved_at = place.store.clock.now();
        let filtered = |change: fn(&mut HistoryFilter, Timestamp, Timestamp)| {
            let mut filter = all();
            change(&mut filter, stored_at, moved_at);
            let (place, id) = (&place, &id);
            async move { told(&place.changes(id, &filter).await.unwrap()).into_iter().map(|(kind, _)| kind).collect::<Vec<_>>() }
        };
        assert_eq!(filtered(|_, _, _| ()).await, ["update", "create"]);
        assert_eq!(filtered(|filter, _, _| filter.types = vec![ChangeType::Create]).await, ["create"]);
        assert_eq!(filtered(|filter, _, _| filter.types = vec![ChangeType::Delete, ChangeType::Update]).await, ["update"]);
        assert_eq!(filtered(|filter, _, moved| filter.since = Some(moved)).await, ["update"]);
        assert_eq!(filtered(|filter, _, moved| filter.until = Some(moved)).await, ["create"]);
        assert!(filtered(|filter, stored, _| filter.until = Some(stored)).await.is_empty());
    }

    async fn a_triplet_tells_what_happened_to_it(engine: Engine) {
        let place = Place::open(engine).await;
        let old = place.say("a", fact("shop", "owned by", "blue")).await;
        place.say("b", fact("shop", "owned by", "blue")).await;
        place.store.clock.advance_ms(1_000);
        let rated = TripletRef::Id(base::TripletId::parse(&old).unwrap());
        place.graph.improve(&author("c"), vec![rated], Judgement::Outcome(WorkOutcome::Accepted)).await.unwrap();
        let new = place.say("d", fact("shop", "owned by", "red")).await;
        let changes = place.changes(&old, &all()).await.unwrap();
        let words = [("update", "superseded"), ("update", "moved"), ("update", "stated"), ("create", "learned")];
        assert_eq!(told(&changes), words.map(|(kind, word)| (kind, word.to_owned())));
        assert_eq!(changes[0].reason.as_deref(), Some(format!("superseded by {new}").as_str()));
        assert_eq!(changes[1].detail.as_deref(), Some("weight 0.5 → 0.55"));
        assert_eq!((changes[2].agent_id.as_deref(), changes[3].detail.as_deref()), (Some("b"), Some("shop owned by blue")));

        place.store.clock.advance_ms(1_000);
        let of_d = RetractFilter { agent: Some("d".to_owned()), ..RetractFilter::default() };
        place.graph.retract(&of_d, "owner").await.unwrap();
        let changes = place.changes(&new, &all()).await.unwrap();
        assert_eq!(told(&changes)[0], ("delete", "retracted".to_owned()));
        assert_eq!(changes[0].agent_id.as_deref(), Some("owner"));
    }

    async fn an_entity_tells_merges_and_splits(engine: Engine) {
        let place = Place::open(engine).await;
        place.say("a", fact("cart", "uses", "redis")).await;
        place.say("a", fact("basket", "calls", "ledger")).await;
        let listed = place.graph.list_entities(&page(10)).await.unwrap().items;
        let id_of = |name: &str| listed.iter().find(|listed| listed.entity.name == name).unwrap().entity.id;
        let (cart, basket) = (id_of("cart"), id_of("basket"));
        for step in 0..3 {
            place.store.clock.advance_ms(1_000);
            match step {
                1 => place.graph.split(&basket, "owner").await.unwrap(),
                _ => place.graph.merge(&basket, &cart, "owner").await.unwrap(),
            };
        }
        let changes = place.changes(basket.as_str(), &all()).await.unwrap();
        let words: Vec<String> = told(&changes).into_iter().map(|(_, word)| word).collect();
        assert_eq!(words, ["merged", "split", "merged", "created"]);
        assert_eq!(changes[0].detail.as_deref(), Some(format!("merged into {cart} `cart`").as_str()));
        assert_eq!(changes[1].agent_id.as_deref(), Some("owner"));
        let changes = place.changes(cart.as_str(), &all()).await.unwrap();
        assert_eq!((changes.len(), changes[1].detail.as_deref()), (4, Some(format!("{basket} `basket` was split from it").as_str())));
    }

    async fn a_decision_and_a_session_tell_what_was_written(engine: Engine) {
        let place = Place::open(engine).await;
        let decided = place.decide("a", "use tabs").await;
        let triplet = place.say("a", fact("shop", "owned by", "blue")).await;
        let noted = place.note("a", "the build needs two cores").await;
        place.note("b", "not of this session").await;
        let changes = place.changes("ses_a", &all()).await.unwrap();
        let ids: Vec<&str> = changes.iter().map(|change| change.entity_id.as_str()).collect();
        assert_eq!(ids, [noted.as_str(), &triplet, decided.id.as_str(), decided.observation.as_str()]);
        assert_eq!(changes[2].detail.as_deref(), Some("use tabs"));
        let deleted = HistoryFilter { types: vec![ChangeType::Delete], ..all() };
        assert_eq!(place.changes("ses_a", &deleted).await, Some(Vec::new()));
        assert_eq!(place.history().history_of_project(&all(), &page(10)).await.unwrap().items.len(), 5);

        let changes = place.changes(decided.id.as_str(), &all()).await.unwrap();
        assert_eq!((changes.len(), changes[0].reason.as_deref()), (1, Some("it is simple")));
        place.store.clock.advance_ms(1_000);
        place.memory.forget(&decided.observation, "owner").await.unwrap();
        let changes = place.changes(decided.id.as_str(), &all()).await.unwrap();
        assert_eq!(told(&changes)[0], ("delete", "forgotten".to_owned()));
        assert_eq!((changes[1].reason.as_ref(), changes[1].detail.as_ref()), (None, None));
    }

    async fn nothing_is_told_to_another_project_or_org(engine: Engine) {
        let place = Place::open(engine).await;
        let decided = place.decide("a", "`checkout` uses `redis`").await;
        let triplet = place.say("a", fact("shop", "owned by", "blue")).await;
        let entity = place.graph.list_entities(&page(1)).await.unwrap().items[0].entity.id;
        let ids = [decided.id.to_string(), decided.observation.to_string(), triplet, entity.to_string(), "ses_a".to_owned()];
        let other_project = base::ProjectId::new(place.store.clock.now());
        for (rows, project) in [(place.rows.clone(), other_project), (place.store.new_org(), place.project)] {
            let others = KnowledgeHistory::new(rows, project, place.store.clock.clone());
            for id in &ids {
                assert!(others.history_of(id, &all(), &page(10)).await.unwrap().is_none(), "{id}");
            }
            assert!(others.history_of_project(&all(), &page(10)).await.unwrap().items.is_empty());
        }
        for id in &ids {
            assert!(place.changes(id, &all()).await.is_some(), "{id}");
        }
        for id in ["", "obs_nonsense", "ses_unknown", "src/main.rs", "ses_\0", "x'; DROP TABLE decisions"] {
            assert!(place.changes(id, &all()).await.is_none(), "{id}");
        }
    }
}
