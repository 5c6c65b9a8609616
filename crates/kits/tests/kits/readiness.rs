//! Every readiness code, where it applies and only there.
#![cfg(test)]

use base::{BrickId, KitId};
use expect_test::{Expect, expect};
use kits::{Finding, NewBrick, Readiness};
use testkit::{Engine, both_engines};

use crate::cases::{Case, new_brick};

/// Formats a kit's readiness with the bricks' positions in `bricks` instead of their ids, and compares it.
async fn check(case: &Case, kit: &KitId, bricks: &[&BrickId], expected: Expect) {
    let inspection = case.workshop.kit_summary(kit.as_str(), true, true).await.unwrap();
    let readiness = inspection.publish_readiness.unwrap();
    let full = case.workshop.kit(kit.as_str()).await.unwrap().unwrap();
    assert_eq!(full.publish_readiness, readiness);
    let mut shown = show(&readiness, bricks);
    for brick in inspection.bricks.unwrap() {
        shown += &format!(
            "{}@{} {} promote={} update={}\n",
            brick.brick_key,
            brick.brick_version,
            brick.brick_version_status.word(),
            brick.will_promote_on_publish,
            brick.update_available
        );
    }
    expected.assert_eq(&shown);
}

fn show(readiness: &Readiness, bricks: &[&BrickId]) -> String {
    fn place<C>(finding: &Finding<C>, bricks: &[&BrickId]) -> String {
        assert_eq!(finding.brick_id.is_some(), finding.brick_version_id.is_some());
        let place = |id: &BrickId| bricks.iter().position(|brick| *brick == id).unwrap().to_string();
        finding.brick_id.as_ref().map_or("-".into(), place)
    }
    let blockers = readiness.blockers.iter().map(|found| format!("blocker {} {}\n", found.code.word(), place(found, bricks)));
    let warnings = readiness.warnings.iter().map(|found| format!("warning {} {}\n", found.code.word(), place(found, bricks)));
    format!(
        "{} publishable={} included={} drafts={} published={}\n{}",
        readiness.status_badge().word(),
        readiness.publishable(),
        readiness.included_bricks_count,
        readiness.draft_bricks_to_promote,
        readiness.published_bricks_included,
        blockers.chain(warnings).collect::<String>(),
    )
}

both_engines! {
    async fn published_bricks_make_a_kit_ready(engine: Engine) {
        let case = Case::new(engine).await;
        let brick = case.published_brick("One").await;
        let kit = case.kit(&[&brick]).await.kit_id;
        check(&case, &kit, &[&brick], expect![[r#"
            Ready publishable=true included=1 drafts=0 published=1
            one@1 published promote=false update=false
        "#]]).await;
    }

    async fn drafts_will_be_promoted(engine: Engine) {
        let case = Case::new(engine).await;
        let (draft, published) = (case.brick("Draft").await, case.published_brick("Published").await);
        let kit = case.kit(&[&draft, &published]).await.kit_id;
        check(&case, &kit, &[&draft, &published], expect![[r#"
            Ready with warnings publishable=true included=2 drafts=1 published=1
            warning brick_draft_will_promote 0
            draft@1 draft promote=true update=false
            published@1 published promote=false update=false
        "#]]).await;
    }

    async fn only_a_newer_published_version_is_an_update(engine: Engine) {
        let case = Case::new(engine).await;
        let (published, draft) = (case.published_brick("Published").await, case.brick("Draft").await);
        let kit = case.kit(&[&published, &draft]).await.kit_id;
        for brick in [&published, &draft] {
            case.new_version(brick).await;
        }
        check(&case, &kit, &[&published, &draft], expect![[r#"
            Ready with warnings publishable=true included=2 drafts=1 published=1
            warning brick_draft_will_promote 1
            published@1 published promote=false update=false
            draft@1 draft promote=true update=false
        "#]]).await;
        for brick in [&published, &draft] {
            case.workshop.publish_brick(brick.as_str()).await.unwrap();
        }
        check(&case, &kit, &[&published, &draft], expect![[r#"
            Ready with warnings publishable=true included=2 drafts=1 published=1
            warning brick_update_available 0
            warning brick_draft_will_promote 1
            warning brick_update_available 1
            published@1 published promote=false update=true
            draft@1 draft promote=true update=true
        "#]]).await;
    }

    async fn a_deprecated_brick_blocks(engine: Engine) {
        let case = Case::new(engine).await;
        let (before, after) = (case.published_brick("Before").await, case.published_brick("After").await);
        case.workshop.deprecate_brick(before.as_str()).await.unwrap();
        let kit = case.kit(&[&before, &after]).await.kit_id;
        case.workshop.deprecate_brick(after.as_str()).await.unwrap();
        check(&case, &kit, &[&before, &after], expect![[r#"
            Blocked publishable=false included=2 drafts=0 published=2
            blocker brick_deprecated 0
            blocker brick_deprecated 1
            before@1 published promote=false update=false
            after@1 published promote=false update=false
        "#]]).await;
    }

    async fn an_empty_rule_blocks(engine: Engine) {
        let case = Case::new(engine).await;
        let blank = NewBrick { evaluation_prompt: "\t \n".into(), ..new_brick("Blank") };
        let blank = case.workshop.create_draft_brick(blank, "an agent").await.unwrap().0;
        let kit = case.kit(&[&blank]).await.kit_id;
        check(&case, &kit, &[&blank], expect![[r#"
            Blocked publishable=false included=1 drafts=1 published=0
            blocker brick_rule_empty 0
            warning brick_draft_will_promote 0
            blank@1 draft promote=true update=false
        "#]]).await;
    }

    async fn a_missing_brick_or_version_blocks(engine: Engine) {
        let case = Case::new(engine).await;
        let (gone, torn, whole) = (case.brick("Gone").await, case.brick("Torn").await, case.published_brick("Whole").await);
        let kit = case.kit(&[&gone, &torn, &whole]).await.kit_id;
        case.damage("DELETE FROM bricks WHERE org_id = ?1 AND id = ?2", gone.as_str()).await;
        case.damage("DELETE FROM brick_versions WHERE org_id = ?1 AND brick_id = ?2", torn.as_str()).await;
        check(&case, &kit, &[&gone, &torn, &whole], expect![[r#"
            Blocked publishable=false included=3 drafts=0 published=1
            blocker brick_missing 0
            blocker brick_missing 1
            whole@1 published promote=false update=false
        "#]]).await;
    }

    async fn an_empty_kit_blocks(engine: Engine) {
        let case = Case::new(engine).await;
        let brick = case.brick("One").await;
        let kit = case.kit(&[&brick]).await;
        let unpin = "DELETE FROM kit_version_bricks WHERE org_id = ?1 AND kit_version_id = ?2";
        case.damage(unpin, kit.kit_version_id.as_str()).await;
        check(&case, &kit.kit_id, &[], expect![[r#"
            Blocked publishable=false included=0 drafts=0 published=0
            blocker kit_empty -
        "#]]).await;
    }

    async fn two_bricks_of_one_key_block(engine: Engine) {
        let case = Case::new(engine).await;
        let (one, two) = (case.published_brick("One").await, case.published_brick("Two").await);
        let kit = case.kit(&[&one, &two]).await.kit_id;
        // The store refuses this, so its index has to go first.
        case.test.store.write_instance(|tx| tx.execute("DROP INDEX bricks_by_key", &[])).await.unwrap();
        case.damage("UPDATE bricks SET brick_key = 'one' WHERE org_id = ?1 AND id = ?2", two.as_str()).await;
        check(&case, &kit, &[&one, &two], expect![[r#"
            Blocked publishable=false included=2 drafts=0 published=2
            blocker brick_key_conflict 1
            one@1 published promote=false update=false
            one@1 published promote=false update=false
        "#]]).await;
    }

    async fn readiness_covers_the_version_that_publishing_would_take(engine: Engine) {
        let case = Case::new(engine).await;
        let (one, two) = (case.published_brick("One").await, case.brick("Two").await);
        let kit = case.kit(&[&one]).await;
        case.workshop.publish_kit(kit.kit_id.as_str()).await.unwrap();
        let second = case.new_kit_version(&kit.kit_id, &[&one, &two]).await.unwrap();
        // The bricks shown are those of the current version, which is the published one.
        check(&case, &kit.kit_id, &[&one, &two], expect![[r#"
            Ready with warnings publishable=true included=2 drafts=1 published=1
            warning brick_draft_will_promote 1
            one@1 published promote=false update=false
        "#]]).await;
        let readiness = case.workshop.kit_summary(kit.kit_id.as_str(), false, true).await.unwrap().publish_readiness;
        assert_eq!(readiness.unwrap().kit_version_id, second);
    }
}
