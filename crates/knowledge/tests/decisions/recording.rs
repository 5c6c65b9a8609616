//! Recording, listing and forgetting decisions.

use base::Kind;
use knowledge::{DecisionFilter, Decisions, Impact, NewDecision, ObservationFilter};
use serde_json::json;
use testkit::{Engine, both_engines};

use super::place::{Place, author, new, page};

both_engines! {
    async fn a_decision_is_stored_and_recalled(engine: Engine) {
        let place = Place::open(engine).await;
        let made = NewDecision {
            context: json!({"files": ["a.rs"]}).as_object().cloned(),
            confidence: Some(0.8),
            alternatives: vec!["PostgreSQL only".to_owned()],
            impact: Some(Impact::High),
            ..new("`checkout` uses `redis`")
        };
        let made = place.decisions.record(&author("a"), made).await.unwrap();
        assert_eq!(place.decisions.get(&made.id).await.unwrap(), made);
        assert_eq!((made.agent.as_str(), made.session.as_str(), made.impact), ("a", "ses_a", Some(Impact::High)));
        assert_eq!(made.context.as_ref().unwrap()["files"], json!(["a.rs"]));
        let recalled = place.recall("b", "why does checkout use redis").await;
        let found = &recalled.observations[0].observation;
        assert_eq!((found.id, found.kind.as_str(), found.confidence), (made.observation, "decision", Some(0.8)));
        let text = "Decision: `checkout` uses `redis`\nReasoning: it is simple\nAlternatives considered:\n- PostgreSQL only\nImpact: high";
        assert_eq!(found.content, text);
        // Facts in its text are read like those of any observation.
        assert_eq!(place.graph.stats(&place.indexes).await.unwrap().standing, 1);
    }

    async fn the_same_text_is_two_decisions_and_one_observation(engine: Engine) {
        let place = Place::open(engine).await;
        let (first, second, other) =
            (place.decide("a", "use tabs").await, place.decide("a", " use tabs ").await, place.decide("b", "use tabs").await);
        assert_ne!(first.id, second.id);
        assert_eq!(first.observation, second.observation);
        assert_ne!(first.observation, other.observation);
        assert_eq!(place.memory.get(&first.observation).await.unwrap().corroborations, 1);
        // A text that the session just got by recall corroborates nothing.
        place.recall("c", "use tabs").await;
        let echoed = place.decide("c", "use tabs").await;
        assert_eq!(echoed.observation, first.observation);
        assert_eq!(place.memory.get(&first.observation).await.unwrap().corroborations, 1);
    }

    async fn what_is_forgotten_is_gone_from_decisions_too(engine: Engine) {
        let place = Place::open(engine).await;
        let (first, second, other) =
            (place.decide("a", "use tabs").await, place.decide("a", "use tabs").await, place.decide("b", "use tabs").await);
        assert!(place.memory.forget(&first.observation, "owner").await.unwrap());
        for id in [first.id, second.id] {
            let gone = place.decisions.get(&id).await.unwrap();
            assert_eq!((gone.decision.as_str(), gone.reasoning.as_str(), gone.context, gone.alternatives.len()), ("", "", None, 0));
            assert!(gone.forgotten_at.is_some());
        }
        let left = place.decisions.list(&DecisionFilter::default(), &page(10)).await.unwrap();
        assert_eq!(left.items.iter().map(|decision| decision.id).collect::<Vec<_>>(), [other.id]);
        // The same text is a new observation now.
        assert_ne!(place.decide("a", "use tabs").await.observation, first.observation);
    }

    async fn rolling_back_an_author_reaches_decisions_with_anothers_text(engine: Engine) {
        let place = Place::open(engine).await;
        let own = place.decide("a", "use tabs").await;
        place.recall("b", "use tabs").await;
        let echoed = place.decide("b", "use tabs").await;
        assert_eq!(own.observation, echoed.observation);
        let of_b = ObservationFilter { agent: Some("b".to_owned()), ..ObservationFilter::default() };
        let gone = place.memory.roll_back(&of_b, None, "owner").await.unwrap();
        assert_eq!((gone.observations, gone.decisions), (0, 1));
        assert_eq!(place.decisions.get(&echoed.id).await.unwrap().decision, "");
        assert_eq!(place.decisions.get(&own.id).await.unwrap().decision, "use tabs");
        let of_a = ObservationFilter { session: Some("ses_a".to_owned()), ..ObservationFilter::default() };
        let gone = place.memory.roll_back(&of_a, None, "owner").await.unwrap();
        assert_eq!((gone.observations, gone.decisions), (1, 0));
        assert_eq!(place.decisions.get(&own.id).await.unwrap().decision, "");
    }

    async fn decisions_are_listed_newest_first_and_filtered(engine: Engine) {
        let place = Place::open(engine).await;
        let mut made = Vec::new();
        for number in 0..40 {
            made.push(place.decide(if number % 2 == 0 { "a" } else { "b" }, &format!("Option {number} for Grün")).await);
        }
        let listed = |filter: DecisionFilter| {
            let decisions = place.decisions.clone();
            async move { decisions.list(&filter, &page(100)).await.unwrap().items.iter().map(|found| found.number).collect::<Vec<_>>() }
        };
        let numbers = |wanted: &dyn Fn(usize) -> bool| {
            (0..40).rev().filter(|at| wanted(*at)).map(|at| made[at].number).collect::<Vec<_>>()
        };
        assert_eq!(listed(DecisionFilter::default()).await, numbers(&|_| true));
        let by_b = DecisionFilter { agent: Some("b".to_owned()), ..DecisionFilter::default() };
        assert_eq!(listed(by_b).await, numbers(&|at| at % 2 == 1));
        let in_a = DecisionFilter { session: Some("ses_a".to_owned()), ..DecisionFilter::default() };
        assert_eq!(listed(in_a).await, numbers(&|at| at % 2 == 0));
        let between = DecisionFilter { since: Some(made[3].created_at), until: Some(made[6].created_at), ..DecisionFilter::default() };
        assert_eq!(listed(between).await, numbers(&|at| (3..6).contains(&at)));
        let worded = DecisionFilter { text: Some(" oPTION 1".to_owned()), ..DecisionFilter::default() };
        assert_eq!(listed(worded).await, numbers(&|at| at == 1 || (10..20).contains(&at)));
        let accented = DecisionFilter { text: Some("GRÜN".to_owned()), ..DecisionFilter::default() };
        assert_eq!(listed(accented).await.len(), 40);
        let first = place.decisions.list(&DecisionFilter::default(), &page(30)).await.unwrap();
        let rest = place.decisions.list(&DecisionFilter::default(), &base::PageRequest { rows: 30, after: first.next }).await.unwrap();
        assert_eq!((first.items.len(), rest.items.len(), rest.next), (30, 10, None));
    }

    async fn bad_decisions_store_nothing(engine: Engine) {
        let place = Place::open(engine).await;
        let large = NewDecision { context: json!({"a": "b".repeat(70_000)}).as_object().cloned(), ..new("use tabs") };
        for wrong in [new("  "), large, NewDecision { confidence: Some(1.5), ..new("use tabs") }] {
            assert_eq!(place.decisions.record(&author("a"), wrong).await.unwrap_err().kind(), Kind::InvalidParams);
        }
        assert!(place.decisions.list(&DecisionFilter::default(), &page(10)).await.unwrap().items.is_empty());
        let kept = place.memory.list(&ObservationFilter::default(), &page(10), |_| Ok(())).await.unwrap();
        assert!(kept.items.is_empty());
    }

    async fn projects_and_orgs_share_no_decisions(engine: Engine) {
        let place = Place::open(engine).await;
        let made = place.decide("a", "use tabs").await;
        let other_project = base::ProjectId::new(place.store.clock.now());
        for (rows, project) in [(place.rows.clone(), other_project), (place.store.new_org(), place.project)] {
            let others = Decisions::new(rows, project, place.store.clock.clone());
            assert_eq!(others.get(&made.id).await.unwrap_err().kind(), Kind::NotFound);
            assert!(others.list(&DecisionFilter::default(), &page(10)).await.unwrap().items.is_empty());
        }
    }
}
