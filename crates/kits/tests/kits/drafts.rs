//! Draft kits: their codes and pins. A bad one leaves no rows.
#![cfg(test)]

use base::{BrickId, limits};
use kits::{KitBrick, NewKit, NewKitVersion, Status, VersionStatus};
use testkit::{Engine, both_engines};

use crate::cases::{Case, brick_in, is_unknown_id, new_kit, said, texts};

fn is_code(code: &str) -> bool {
    code.len() == 8 && code.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F'))
}

/// The pins of a kit: `key@version` in order.
async fn pinned(case: &Case, kit: &base::KitId) -> String {
    let bricks = case.workshop.kit_summary(kit.as_str(), true, false).await.unwrap().bricks.unwrap();
    let pins = bricks.iter().map(|KitBrick { brick_key, brick_version, .. }| format!("{brick_key}@{brick_version}"));
    pins.collect::<Vec<_>>().join(" ")
}

both_engines! {
    async fn a_new_kit_is_a_draft_with_one_version(engine: Engine) {
        let case = Case::new(engine).await;
        let (one, two) = (case.brick("One").await, case.brick("Two").await);
        let new = NewKit {
            name: "Kit 'n' caboodle".into(),
            description: Some("All of it".into()),
            notes: Some("First".into()),
            brick_ids: texts(&[&two, &one]),
        };
        let created = case.workshop.create_draft_kit(new.clone(), "agt_1").await.unwrap();
        assert_eq!(created.brick_count, 2);
        let kit = case.workshop.kit(created.kit_id.as_str()).await.unwrap().unwrap();
        let summary = &kit.summary;
        assert_eq!((&summary.kit_id, &summary.current_version_id), (&created.kit_id, &created.kit_version_id));
        assert!(is_code(&summary.kit_code), "{}", summary.kit_code);
        assert_eq!((&summary.name, summary.status, summary.brick_count), (&new.name, Status::Draft, 2));
        assert_eq!((&kit.description, kit.created_by.as_str(), kit.current_version), (&new.description, "agt_1", 1));
        let [version] = &kit.versions[..] else { panic!("{:?}", kit.versions) };
        assert_eq!((version.version, version.status, &version.notes), (1, VersionStatus::Draft, &new.notes));
        assert_eq!(version.bricks.iter().map(|brick| &brick.brick_id).collect::<Vec<_>>(), [&two, &one]);

        let bare = case.workshop.kit_summary(created.kit_id.as_str(), false, false).await.unwrap();
        assert_eq!((bare.summary, bare.current_version), (summary.clone(), 1));
        assert_eq!((bare.bricks, bare.publish_readiness), (None, None));
    }

    async fn a_kit_pins_what_is_current_when_it_is_made(engine: Engine) {
        let case = Case::new(engine).await;
        let draft = case.brick("draft").await;
        let redrafted = case.brick("redrafted").await;
        case.new_version(&redrafted).await;
        let published = case.published_brick("published").await;
        let ahead = case.published_brick("ahead").await;
        case.new_version(&ahead).await;
        let all = [&draft, &redrafted, &published, &ahead];
        let kit = case.kit(&all).await.kit_id;
        let before = "draft@1 redrafted@2 published@1 ahead@1";
        assert_eq!(pinned(&case, &kit).await, before);
        for brick in all {
            case.new_version(brick).await;
            case.workshop.publish_brick(brick.as_str()).await.unwrap();
        }
        assert_eq!(pinned(&case, &kit).await, before);
        case.new_kit_version(&kit, &all).await.unwrap();
        assert_eq!(pinned(&case, &kit).await, "draft@2 redrafted@3 published@2 ahead@3");
    }

    async fn one_bad_brick_among_good_ones_changes_nothing(engine: Engine) {
        let case = Case::new(engine).await;
        let good: Vec<BrickId> = [case.brick("One").await, case.brick("Two").await].into();
        let theirs = brick_in(&case.neighbour(), "Theirs").await;
        let kit = case.kit(&[&good[0]]).await.kit_id;
        let before = (case.kit_rows().await, case.workshop.kit(kit.as_str()).await.unwrap());

        let absent = BrickId::new(case.test.clock.now());
        let with = |bad: &str| vec![good[0].to_string(), good[1].to_string(), bad.to_owned()];
        let unknown = "invalid_params brick_ids[2]: there is no such brick in this workspace";
        let cases = [
            (vec![], "invalid_params brick_ids: a kit needs at least one brick"),
            (with(""), unknown),
            (with("One"), unknown),
            (with(kit.as_str()), unknown),
            (with(&good[0].as_str().to_uppercase()), unknown),
            (with(absent.as_str()), unknown),
            (with(theirs.as_str()), unknown),
            (with(good[0].as_str()), "invalid_params brick_ids[2]: each brick may be named only once"),
            (vec![good[0].to_string(); limits::KIT_BRICKS_MAX + 1], "invalid_params brick_ids: a kit holds at most 500 bricks"),
        ];
        for (brick_ids, words) in cases {
            case.later();
            let created = case.workshop.create_draft_kit(new_kit("Bad", &brick_ids), "agt_1").await.unwrap_err();
            let version = NewKitVersion { brick_ids, notes: None };
            let versioned = case.workshop.new_kit_version(kit.as_str(), version, "usr_1").await.unwrap_err();
            assert_eq!([said(&created), said(&versioned)], [words, words]);
            assert!(!is_unknown_id(&versioned), "{versioned}");
            assert_eq!((case.kit_rows().await, case.workshop.kit(kit.as_str()).await.unwrap()), before);
        }
    }

    async fn invalid_kits_are_refused(engine: Engine) {
        let case = Case::new(engine).await;
        let ids = texts(&[&case.brick("One").await]);
        let long = "x".repeat(limits::DESCRIPTION_CHARS_MAX + 1);
        let cases = [
            (new_kit(" ", &ids), "name"),
            (new_kit(&long, &ids), "name"),
            (NewKit { description: Some(long.clone()), ..new_kit("n", &ids) }, "description"),
            (NewKit { notes: Some(long.clone()), ..new_kit("n", &ids) }, "notes"),
            (NewKit { notes: Some("\0".into()), ..new_kit("n", &ids) }, "notes"),
        ];
        for (kit, parameter) in cases {
            let refused = case.workshop.create_draft_kit(kit, "agt_1").await.unwrap_err();
            assert!(said(&refused).starts_with(&format!("invalid_params {parameter}: ")), "{refused}");
        }
        assert_eq!(case.kit_rows().await, [0; 3]);
    }

    async fn the_largest_kit_can_be_made_and_published(engine: Engine) {
        let case = Case::new(engine).await;
        let mut bricks = Vec::new();
        for _ in 0..limits::KIT_BRICKS_MAX {
            bricks.push(case.brick("Same").await);
        }
        let kit = case.kit(&bricks.iter().collect::<Vec<_>>()).await;
        assert_eq!(kit.brick_count, limits::KIT_BRICKS_MAX);
        let published = case.workshop.publish_kit(kit.kit_id.as_str()).await.unwrap();
        assert_eq!(published.promoted.len(), limits::KIT_BRICKS_MAX);
        assert_eq!(case.workshop.list_kits(None, 1).await.unwrap()[0].brick_count, limits::KIT_BRICKS_MAX);
    }

    async fn the_code_never_changes_and_the_current_version_moves_until_published(engine: Engine) {
        let case = Case::new(engine).await;
        let (one, two) = (case.published_brick("One").await, case.published_brick("Two").await);
        let kit = case.kit(&[&one]).await;
        let code = case.workshop.list_kits(None, 1).await.unwrap()[0].kit_code.clone();
        let second = case.new_kit_version(&kit.kit_id, &[&one, &two]).await.unwrap();
        let drafted = case.workshop.list_kits(None, 1).await.unwrap()[0].clone();
        assert_eq!((&drafted.current_version_id, drafted.brick_count), (&second, 2));
        case.workshop.publish_kit(kit.kit_id.as_str()).await.unwrap();
        let third = case.new_kit_version(&kit.kit_id, &[&two]).await.unwrap();
        let published = case.workshop.list_kits(None, 1).await.unwrap()[0].clone();
        assert_eq!((&published.current_version_id, published.brick_count), (&second, 2));
        assert_eq!((published.status, published.kit_code), (Status::Published, code));
        let full = case.workshop.kit(kit.kit_id.as_str()).await.unwrap().unwrap();
        assert_eq!(full.versions.iter().map(|version| version.version).collect::<Vec<_>>(), [3, 2, 1]);
        assert_eq!(full.versions[0].kit_version_id, third);
    }
}
