//! Bricks: drafts, keys, versions.
#![cfg(test)]

use std::collections::BTreeSet;

use base::{Kind, limits};
use kits::{BrickType, NewBrick, NewBrickVersion, Status, VersionStatus};
use testkit::{Engine, both_engines};
use tokio::task::JoinSet;

use crate::cases::{Case, blockers, brick_in, new_brick, said};

/// The current version's number and every version, newest first: `1 of 2 draft, 1 published`.
async fn versions(case: &Case, brick: &base::BrickId) -> String {
    let brick = case.workshop.brick(brick.as_str()).await.unwrap().unwrap();
    let current = brick.versions.iter().find(|version| version.brick_version_id == brick.summary.current_version_id);
    let all: Vec<_> = brick.versions.iter().map(|each| format!("{} {}", each.version, each.status.word())).collect();
    format!("{}: {} of {}", brick.summary.status.word(), current.unwrap().version, all.join(", "))
}

both_engines! {
    async fn a_new_brick_is_a_draft_with_one_version(engine: Engine) {
        let case = Case::new(engine).await;
        let new = NewBrick {
            name: "Mentions \"pricing\" 漢".into(),
            description: Some("It's about money".into()),
            brick_type: BrickType::Score,
            evaluation_prompt: "How much?\n".into(),
        };
        let (brick_id, version_id) = case.workshop.create_draft_brick(new.clone(), "agt_1").await.unwrap();
        let brick = case.workshop.brick(brick_id.as_str()).await.unwrap().unwrap();
        let now = case.test.clock.now();
        let summary = &brick.summary;
        assert_eq!((&summary.brick_id, &summary.current_version_id), (&brick_id, &version_id));
        assert_eq!((summary.brick_key.as_str(), &summary.brick_name), ("mentions_pricing", &new.name));
        assert_eq!((summary.status, summary.created_at, summary.updated_at), (Status::Draft, now, now));
        assert_eq!((&brick.description, brick.brick_type), (&new.description, BrickType::Score));
        assert_eq!(brick.created_by, "agt_1");
        let [version] = &brick.versions[..] else { panic!("{:?}", brick.versions) };
        assert_eq!((&version.brick_version_id, version.version, version.status), (&version_id, 1, VersionStatus::Draft));
        assert_eq!((&version.evaluation_prompt, version.published_at), (&new.evaluation_prompt, None));
        assert_eq!(&case.workshop.list_bricks(None, 20).await.unwrap()[..], std::slice::from_ref(summary));
    }

    async fn keys_are_unique_in_an_org_and_only_there(engine: Engine) {
        let case = Case::new(engine).await;
        for name in ["Same", "same!", "SAME 2", "Same", "漢"] {
            case.brick(name).await;
        }
        brick_in(&case.neighbour(), "Same").await;
        let keys: BTreeSet<_> =
            case.workshop.list_bricks(None, 20).await.unwrap().iter().map(|brick| brick.brick_key.clone()).collect();
        assert_eq!(keys, ["same", "same_2", "same_2_2", "same_3", "brick"].map(String::from).into());
    }

    async fn concurrent_bricks_of_one_name_get_different_keys(engine: Engine) {
        let case = Case::new(engine).await;
        let mut making = JoinSet::new();
        for _ in 0..32 {
            let workshop = case.workshop.clone();
            making.spawn(async move { brick_in(&workshop, "Same").await });
        }
        let ids: BTreeSet<_> = making.join_all().await.into_iter().collect();
        let bricks = case.workshop.list_bricks(None, 100).await.unwrap();
        let keys: BTreeSet<_> = bricks.iter().map(|brick| brick.brick_key.clone()).collect();
        assert_eq!((ids.len(), keys.len()), (32, 32));
        assert!(keys.contains("same_32"), "{keys:?}");
    }

    async fn invalid_bricks_are_refused(engine: Engine) {
        let case = Case::new(engine).await;
        let long = |chars: usize| "ü".repeat(chars);
        let name = |name: &str| NewBrick { name: name.into(), ..new_brick("") };
        let description = |text: String| NewBrick { description: Some(text), ..new_brick("n") };
        let rule = |text: String| NewBrick { evaluation_prompt: text, ..new_brick("n") };
        let cases = [
            (name(""), "name"),
            (name(" \n"), "name"),
            (name("a\0"), "name"),
            (name(&long(limits::NAME_CHARS_MAX + 1)), "name"),
            (description(long(limits::DESCRIPTION_CHARS_MAX + 1)), "description"),
            (rule(long(limits::EVALUATION_PROMPT_CHARS_MAX + 1)), "evaluation_prompt"),
        ];
        for (brick, parameter) in cases {
            let refused = case.workshop.create_draft_brick(brick, "agt_1").await.unwrap_err();
            assert!(said(&refused).starts_with(&format!("invalid_params {parameter}: ")), "{refused}");
        }
        assert!(case.workshop.list_bricks(None, 20).await.unwrap().is_empty());
        let longest = NewBrick {
            description: Some(long(limits::DESCRIPTION_CHARS_MAX)),
            evaluation_prompt: long(limits::EVALUATION_PROMPT_CHARS_MAX),
            ..name(&long(limits::NAME_CHARS_MAX))
        };
        case.workshop.create_draft_brick(longest, "agt_1").await.unwrap();
    }

    async fn the_current_version_is_the_newest_published_or_else_the_newest_draft(engine: Engine) {
        let case = Case::new(engine).await;
        let brick = case.brick("Brick").await;
        assert_eq!(versions(&case, &brick).await, "draft: 1 of 1 draft");
        case.new_version(&brick).await;
        assert_eq!(versions(&case, &brick).await, "draft: 2 of 2 draft, 1 draft");
        case.workshop.publish_brick(brick.as_str()).await.unwrap();
        assert_eq!(versions(&case, &brick).await, "published: 2 of 2 published, 1 draft");
        case.new_version(&brick).await;
        assert_eq!(versions(&case, &brick).await, "published: 2 of 3 draft, 2 published, 1 draft");
        case.workshop.publish_brick(brick.as_str()).await.unwrap();
        assert_eq!(versions(&case, &brick).await, "published: 3 of 3 published, 2 published, 1 draft");
        case.workshop.deprecate_brick(brick.as_str()).await.unwrap();
        assert_eq!(versions(&case, &brick).await, "deprecated: 3 of 3 published, 2 published, 1 draft");
    }

    async fn timestamps_follow_changes(engine: Engine) {
        let case = Case::new(engine).await;
        let created = case.test.clock.now();
        let brick = case.brick("Brick").await;
        case.later();
        case.new_version(&brick).await;
        case.later();
        case.workshop.publish_brick(brick.as_str()).await.unwrap();
        let now = case.test.clock.now();
        let found = case.workshop.brick(brick.as_str()).await.unwrap().unwrap();
        assert_eq!((found.summary.created_at, found.summary.updated_at), (created, now));
        assert_eq!(found.versions[0].created_at, created.plus_ms(1_000));
        assert_eq!((found.versions[0].published_at, found.versions[1].published_at), (Some(now), None));
    }

    async fn a_new_version_can_change_the_description(engine: Engine) {
        let case = Case::new(engine).await;
        let brick = case.brick("Brick").await;
        for (given, kept) in [(Some("first"), "first"), (None, "first"), (Some("second"), "second")] {
            let version = NewBrickVersion { evaluation_prompt: "?".into(), description: given.map(String::from) };
            case.workshop.new_brick_version(brick.as_str(), version, "usr_1").await.unwrap();
            let found = case.workshop.brick(brick.as_str()).await.unwrap().unwrap();
            assert_eq!(found.description.as_deref(), Some(kept));
        }
    }

    async fn nothing_is_published_twice_or_without_a_rule(engine: Engine) {
        let case = Case::new(engine).await;
        let brick = case.published_brick("Brick").await;
        let again = case.workshop.publish_brick(brick.as_str()).await.unwrap_err();
        assert_eq!(said(&again), "conflict -: the newest version of this brick is published already");

        let blank = NewBrickVersion { evaluation_prompt: " \n\u{3000}".into(), description: None };
        let version = case.workshop.new_brick_version(brick.as_str(), blank, "usr_1").await.unwrap();
        let blocked = case.workshop.publish_brick(brick.as_str()).await.unwrap_err();
        assert_eq!(said(&blocked), "conflict -: the newest version of this brick has no rule");
        let expected = serde_json::json!([{"code": "brick_rule_empty", "brick_id": brick, "brick_version_id": version}]);
        assert_eq!(blockers(&blocked), expected);
        assert_eq!(versions(&case, &brick).await, "published: 1 of 2 draft, 1 published");
    }

    async fn a_deprecated_brick_cannot_change(engine: Engine) {
        let case = Case::new(engine).await;
        let brick = case.brick("Brick").await;
        assert!(case.workshop.deprecate_brick(brick.as_str()).await.unwrap());
        let before = case.workshop.brick(brick.as_str()).await.unwrap();
        case.later();
        assert!(!case.workshop.deprecate_brick(brick.as_str()).await.unwrap());
        let version = NewBrickVersion { evaluation_prompt: "?".into(), description: Some("new".into()) };
        let versioned = case.workshop.new_brick_version(brick.as_str(), version, "usr_1").await.unwrap_err();
        let published = case.workshop.publish_brick(brick.as_str()).await.unwrap_err();
        assert_eq!((versioned.kind(), published.kind()), (Kind::Conflict, Kind::Conflict));
        assert_eq!(case.workshop.brick(brick.as_str()).await.unwrap(), before);
    }

    async fn of_concurrent_publishes_one_succeeds(engine: Engine) {
        let case = Case::new(engine).await;
        let brick = case.brick("Brick").await;
        let mut publishing = JoinSet::new();
        for _ in 0..8 {
            let (workshop, brick) = (case.workshop.clone(), brick);
            publishing.spawn(async move { workshop.publish_brick(brick.as_str()).await });
        }
        let outcomes = publishing.join_all().await;
        assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
        assert!(outcomes.iter().flat_map(|outcome| outcome.as_ref().err()).all(|error| error.kind() == Kind::Conflict));
    }
}
