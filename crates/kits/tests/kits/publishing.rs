//! Publishing a kit publishes its drafts, all or nothing, once.
#![cfg(test)]

use base::{BrickId, Kind, KitId};
use kits::{NewKitVersion, Status, VersionStatus};
use testkit::{Engine, both_engines};
use tokio::task::JoinSet;

use crate::cases::{Case, blockers, said, texts};

/// The state of the bricks: `name status current-version-number`.
async fn standing(case: &Case, bricks: &[&BrickId]) -> String {
    let mut lines = Vec::new();
    for brick in bricks {
        let found = case.workshop.brick(brick.as_str()).await.unwrap().unwrap();
        let current = found.versions.iter().find(|each| each.brick_version_id == found.summary.current_version_id).unwrap();
        let summary = &found.summary;
        lines.push(format!("{} {} {} {}", summary.brick_name, summary.status.word(), current.version, current.status.word()));
    }
    lines.join("; ")
}

async fn updated_at(case: &Case, brick: &BrickId) -> base::Timestamp {
    case.workshop.brick(brick.as_str()).await.unwrap().unwrap().summary.updated_at
}

both_engines! {
    async fn publishing_a_kit_publishes_its_drafts(engine: Engine) {
        let case = Case::new(engine).await;
        let (draft, ready) = (case.brick("draft").await, case.published_brick("ready").await);
        let outside = case.brick("outside").await;
        let start = case.test.clock.now();
        let created = case.kit(&[&draft, &ready]).await;
        case.later();
        let published = case.workshop.publish_kit(created.kit_id.as_str()).await.unwrap();
        assert_eq!(published.kit_version_id, created.kit_version_id);
        assert_eq!(published.promoted.iter().map(|(brick, _)| brick).collect::<Vec<_>>(), [&draft]);
        let all = [&draft, &ready, &outside];
        let after = "draft published 1 published; ready published 1 published; outside draft 1 draft";
        assert_eq!(standing(&case, &all).await, after);

        let kit = case.workshop.kit(created.kit_id.as_str()).await.unwrap().unwrap();
        let now = case.test.clock.now();
        assert_eq!((kit.summary.status, kit.summary.updated_at), (Status::Published, now));
        assert_eq!((kit.versions[0].status, kit.versions[0].published_at), (VersionStatus::Published, Some(now)));
        assert!(kit.versions[0].bricks.iter().all(|brick| !brick.will_promote_on_publish));
        let promoted = case.workshop.brick(draft.as_str()).await.unwrap().unwrap();
        assert_eq!(promoted.versions[0].published_at, Some(now));
        assert_eq!((promoted.summary.updated_at, updated_at(&case, &ready).await), (now, start));
    }

    async fn promoting_never_moves_a_brick_backwards(engine: Engine) {
        let case = Case::new(engine).await;
        let (overtaken, reopened) = (case.brick("overtaken").await, case.brick("reopened").await);
        let kit = case.kit(&[&overtaken, &reopened]).await.kit_id;
        for brick in [&overtaken, &reopened] {
            case.new_version(brick).await;
        }
        case.workshop.publish_brick(overtaken.as_str()).await.unwrap();
        case.workshop.publish_kit(kit.as_str()).await.unwrap();
        // One keeps its newer published version. For the other, the promoted version is the newest published one.
        let all = [&overtaken, &reopened];
        assert_eq!(standing(&case, &all).await, "overtaken published 2 published; reopened published 1 published");
        case.workshop.publish_brick(reopened.as_str()).await.unwrap();
        assert_eq!(standing(&case, &[&reopened]).await, "reopened published 2 published");
    }

    async fn a_blocked_kit_is_refused_whole(engine: Engine) {
        let case = Case::new(engine).await;
        let (draft, retired) = (case.brick("draft").await, case.brick("retired").await);
        let kit = case.kit(&[&draft, &retired]).await.kit_id;
        case.workshop.deprecate_brick(retired.as_str()).await.unwrap();
        let before = (case.workshop.kit(kit.as_str()).await.unwrap(), standing(&case, &[&draft, &retired]).await);
        case.later();
        let refused = case.workshop.publish_kit(kit.as_str()).await.unwrap_err();
        assert_eq!(said(&refused), "conflict -: this kit cannot be published: see its blockers");
        let version = &before.0.as_ref().unwrap().versions[0].bricks[1].brick_version_id;
        let expected = serde_json::json!([{"code": "brick_deprecated", "brick_id": retired, "brick_version_id": version}]);
        assert_eq!(blockers(&refused), expected);
        assert_eq!((case.workshop.kit(kit.as_str()).await.unwrap(), standing(&case, &[&draft, &retired]).await), before);
    }

    async fn publishing_takes_the_newest_version_and_freezes_it(engine: Engine) {
        let case = Case::new(engine).await;
        let (one, two) = (case.brick("one").await, case.brick("two").await);
        let kit = case.kit(&[&one]).await.kit_id;
        let second = case.new_kit_version(&kit, &[&two]).await.unwrap();
        assert_eq!(case.workshop.publish_kit(kit.as_str()).await.unwrap().kit_version_id, second);
        assert_eq!(standing(&case, &[&one, &two]).await, "one draft 1 draft; two published 1 published");
        let again = case.workshop.publish_kit(kit.as_str()).await.unwrap_err();
        assert_eq!(said(&again), "conflict -: the newest version of this kit is published already");

        let frozen = |kit: Option<kits::Kit>| kit.unwrap().versions.into_iter().find(|each| each.kit_version_id == second);
        let before = frozen(case.workshop.kit(kit.as_str()).await.unwrap());
        let third = case.new_kit_version(&kit, &[&one, &two]).await.unwrap();
        assert_eq!(frozen(case.workshop.kit(kit.as_str()).await.unwrap()), before);
        assert_eq!(case.workshop.publish_kit(kit.as_str()).await.unwrap().kit_version_id, third);
        assert_eq!(frozen(case.workshop.kit(kit.as_str()).await.unwrap()), before);
    }

    async fn a_deprecated_kit_cannot_change(engine: Engine) {
        let case = Case::new(engine).await;
        let brick = case.brick("one").await;
        let kit = case.kit(&[&brick]).await.kit_id;
        assert!(case.workshop.deprecate_kit(kit.as_str()).await.unwrap());
        let before = case.workshop.kit(kit.as_str()).await.unwrap();
        assert_eq!(before.as_ref().unwrap().summary.status, Status::Deprecated);
        case.later();
        assert!(!case.workshop.deprecate_kit(kit.as_str()).await.unwrap());
        let version = NewKitVersion { brick_ids: texts(&[&brick]), notes: None };
        let versioned = case.workshop.new_kit_version(kit.as_str(), version, "usr_1").await.unwrap_err();
        let published = case.workshop.publish_kit(kit.as_str()).await.unwrap_err();
        assert_eq!((versioned.kind(), published.kind()), (Kind::Conflict, Kind::Conflict));
        assert_eq!(case.workshop.kit(kit.as_str()).await.unwrap(), before);
        assert_eq!(standing(&case, &[&brick]).await, "one draft 1 draft");
    }

    async fn of_concurrent_publishes_and_deprecations_each_succeeds_once(engine: Engine) {
        let case = Case::new(engine).await;
        let brick = case.brick("one").await;
        let kit: KitId = case.kit(&[&brick]).await.kit_id;
        let mut publishing = JoinSet::new();
        for _ in 0..8 {
            let (workshop, kit) = (case.workshop.clone(), kit);
            publishing.spawn(async move { workshop.publish_kit(kit.as_str()).await });
        }
        let published = publishing.join_all().await;
        assert_eq!(published.iter().filter(|outcome| outcome.is_ok()).count(), 1);
        assert!(published.iter().flat_map(|outcome| outcome.as_ref().err()).all(|error| error.kind() == Kind::Conflict));
        let mut deprecating = JoinSet::new();
        for _ in 0..8 {
            let (workshop, kit) = (case.workshop.clone(), kit);
            deprecating.spawn(async move { workshop.deprecate_kit(kit.as_str()).await.unwrap() });
        }
        assert_eq!(deprecating.join_all().await.into_iter().filter(|changed| *changed).count(), 1);
    }

    async fn concurrent_versions_are_all_kept_and_numbered_in_order(engine: Engine) {
        let case = Case::new(engine).await;
        let brick = case.brick("one").await;
        let kit = case.kit(&[&brick]).await.kit_id;
        let mut drafting = JoinSet::new();
        for _ in 0..8 {
            let (workshop, kit, brick_ids) = (case.workshop.clone(), kit, texts(&[&brick]));
            let version = NewKitVersion { brick_ids, notes: None };
            drafting.spawn(async move { workshop.new_kit_version(kit.as_str(), version, "usr_1").await.unwrap() });
        }
        drafting.join_all().await;
        let found = case.workshop.kit(kit.as_str()).await.unwrap().unwrap();
        let numbers: Vec<_> = found.versions.iter().map(|version| version.version).collect();
        assert_eq!(numbers, (1..=9).rev().collect::<Vec<_>>());
        assert_eq!(found.summary.current_version_id, found.versions[0].kit_version_id);
    }
}
