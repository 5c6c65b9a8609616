//! Malformed, unknown and another org's ids get the same error.
#![cfg(test)]

use base::{BrickId, KitId};
use kits::{NewBrickVersion, NewKitVersion};
use testkit::{Engine, both_engines};

use crate::cases::{Case, brick_in, is_unknown_id, new_kit, said, texts};

both_engines! {
    async fn every_unknown_brick_gets_the_same_error(engine: Engine) {
        let case = Case::new(engine).await;
        let neighbour = case.neighbour();
        let theirs = brick_in(&neighbour, "Theirs").await;
        let absent = BrickId::new(case.test.clock.now());
        let before = neighbour.brick(theirs.as_str()).await.unwrap();
        for id in ["", "brk_", "not an id", "brk_\0", absent.as_str(), theirs.as_str()] {
            let version = NewBrickVersion { evaluation_prompt: "?".into(), description: None };
            let refusals = [
                case.workshop.new_brick_version(id, version, "usr_1").await.unwrap_err(),
                case.workshop.publish_brick(id).await.unwrap_err(),
                case.workshop.deprecate_brick(id).await.unwrap_err(),
            ];
            for refusal in refusals {
                assert_eq!(said(&refusal), "invalid_params brick_id: there is no such brick in this workspace", "{id}");
                assert!(is_unknown_id(&refusal));
            }
            assert_eq!(case.workshop.brick(id).await.unwrap(), None);
        }
        assert_eq!(neighbour.brick(theirs.as_str()).await.unwrap(), before);
    }

    async fn every_unknown_kit_gets_the_same_error(engine: Engine) {
        let case = Case::new(engine).await;
        let ours = case.brick("Ours").await;
        let neighbour = case.neighbour();
        let their_bricks = texts(&[&brick_in(&neighbour, "Theirs").await]);
        let theirs = neighbour.create_draft_kit(new_kit("Theirs", &their_bricks), "agt_1").await.unwrap().kit_id;
        let absent = KitId::new(case.test.clock.now());
        let before = neighbour.kit(theirs.as_str()).await.unwrap();
        for id in ["", "kit_", "not an id", absent.as_str(), theirs.as_str()] {
            let version = NewKitVersion { brick_ids: texts(&[&ours]), notes: None };
            let refusals = [
                case.workshop.kit_summary(id, true, true).await.unwrap_err(),
                case.workshop.new_kit_version(id, version, "usr_1").await.unwrap_err(),
                case.workshop.publish_kit(id).await.unwrap_err(),
                case.workshop.deprecate_kit(id).await.unwrap_err(),
            ];
            for refusal in refusals {
                assert_eq!(said(&refusal), "invalid_params kit_id: there is no such kit in this workspace", "{id}");
                assert!(is_unknown_id(&refusal));
            }
            assert_eq!(case.workshop.kit(id).await.unwrap(), None);
        }
        assert_eq!(neighbour.kit(theirs.as_str()).await.unwrap(), before);
    }
}
