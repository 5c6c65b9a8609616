//! Every statement on bricks and kits. The org is `?1`.

pub(crate) const BRICK_OF_KEY: &str = "SELECT id FROM bricks WHERE org_id = ?1 AND brick_key = ?2";

pub(crate) const INSERT_BRICK: &str = "INSERT INTO bricks
    (org_id, id, brick_key, name, description, type, status, current_version_id, created_by, created_at, updated_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'draft', ?7, ?8, ?9, ?9)";

pub(crate) const INSERT_BRICK_VERSION: &str = "INSERT INTO brick_versions
    (org_id, id, brick_id, version, status, evaluation_prompt, created_by, created_at)
    VALUES (?1, ?2, ?3, ?4, 'draft', ?5, ?6, ?7)";

/// Newest first, after the row made at `?2` with the id `?3`.
pub(crate) const BRICKS: &str = "SELECT id, brick_key, name, status, current_version_id, created_at, updated_at
    FROM bricks WHERE org_id = ?1 AND (created_at, id) < (?2, ?3)
    ORDER BY created_at DESC, id DESC LIMIT ?4";

pub(crate) const BRICKS_OF_STATUS: &str = "SELECT id, brick_key, name, status, current_version_id, created_at, updated_at
    FROM bricks WHERE org_id = ?1 AND status = ?5 AND (created_at, id) < (?2, ?3)
    ORDER BY created_at DESC, id DESC LIMIT ?4";

/// The columns of [`BRICKS`], then the ones that only the full view shows.
pub(crate) const BRICK: &str = "SELECT id, brick_key, name, status, current_version_id, created_at, updated_at,
        description, type, created_by
    FROM bricks WHERE org_id = ?1 AND id = ?2";

pub(crate) const BRICK_VERSIONS: &str = "SELECT id, version, status, evaluation_prompt, created_by, created_at, published_at
    FROM brick_versions WHERE org_id = ?1 AND brick_id = ?2 ORDER BY version DESC LIMIT ?3";

/// A brick's status and its newest version.
pub(crate) const BRICK_HEAD: &str = "SELECT b.status, v.id AS version_id, v.version, v.status AS version_status,
        CAST(CASE WHEN v.evaluation_prompt = '' THEN 1 ELSE 0 END AS BIGINT) AS rule_is_empty
    FROM bricks b JOIN brick_versions v ON v.org_id = b.org_id AND v.brick_id = b.id
    WHERE b.org_id = ?1 AND b.id = ?2 ORDER BY v.version DESC LIMIT 1";

/// A new version is current only while nothing is published.
pub(crate) const BRICK_HAS_NEW_VERSION: &str = "UPDATE bricks SET
        current_version_id = CASE WHEN status = 'draft' THEN ?3 ELSE current_version_id END,
        description = coalesce(?4, description),
        updated_at = ?5
    WHERE org_id = ?1 AND id = ?2";

pub(crate) const PUBLISH_BRICK_VERSION: &str =
    "UPDATE brick_versions SET status = 'published', published_at = ?3 WHERE org_id = ?1 AND id = ?2";

pub(crate) const PUBLISH_BRICK: &str = "UPDATE bricks SET status = 'published', current_version_id = ?3, updated_at = ?4
    WHERE org_id = ?1 AND id = ?2";

pub(crate) const DEPRECATE_BRICK: &str =
    "UPDATE bricks SET status = 'deprecated', updated_at = ?3 WHERE org_id = ?1 AND id = ?2 AND status <> 'deprecated'";

pub(crate) const BRICK_EXISTS: &str = "SELECT id FROM bricks WHERE org_id = ?1 AND id = ?2";

pub(crate) const KIT_OF_CODE: &str = "SELECT id FROM kits WHERE org_id = ?1 AND kit_code = ?2";

pub(crate) const INSERT_KIT: &str = "INSERT INTO kits
    (org_id, id, kit_code, name, description, status, current_version_id, created_by, created_at, updated_at)
    VALUES (?1, ?2, ?3, ?4, ?5, 'draft', ?6, ?7, ?8, ?8)";

pub(crate) const INSERT_KIT_VERSION: &str = "INSERT INTO kit_versions
    (org_id, id, kit_id, version, status, notes, created_by, created_at)
    VALUES (?1, ?2, ?3, ?4, 'draft', ?5, ?6, ?7)";

/// Pins the brick `?4` at its current version; touches no row when the org has no such brick.
pub(crate) const PIN_BRICK: &str = "INSERT INTO kit_version_bricks
    (org_id, kit_version_id, position, brick_id, brick_version_id)
    SELECT org_id, CAST(?2 AS TEXT), CAST(?3 AS BIGINT), id, current_version_id
    FROM bricks WHERE org_id = ?1 AND id = ?4";

/// Newest first, after the row made at `?2` with the id `?3`.
pub(crate) const KITS: &str = "SELECT k.id, k.kit_code, k.name, k.status, k.current_version_id, k.created_at, k.updated_at,
        (SELECT count(*) FROM kit_version_bricks p
         WHERE p.org_id = k.org_id AND p.kit_version_id = k.current_version_id) AS brick_count
    FROM kits k WHERE k.org_id = ?1 AND (k.created_at, k.id) < (?2, ?3)
    ORDER BY k.created_at DESC, k.id DESC LIMIT ?4";

pub(crate) const KITS_OF_STATUS: &str =
    "SELECT k.id, k.kit_code, k.name, k.status, k.current_version_id, k.created_at, k.updated_at,
        (SELECT count(*) FROM kit_version_bricks p
         WHERE p.org_id = k.org_id AND p.kit_version_id = k.current_version_id) AS brick_count
    FROM kits k WHERE k.org_id = ?1 AND k.status = ?5 AND (k.created_at, k.id) < (?2, ?3)
    ORDER BY k.created_at DESC, k.id DESC LIMIT ?4";

/// The columns of [`KITS`], then the current version's number and the columns that only the full view shows.
pub(crate) const KIT: &str = "SELECT k.id, k.kit_code, k.name, k.status, k.current_version_id, k.created_at, k.updated_at,
        (SELECT count(*) FROM kit_version_bricks p
         WHERE p.org_id = k.org_id AND p.kit_version_id = k.current_version_id) AS brick_count,
        v.version AS current_version, k.description, k.created_by
    FROM kits k JOIN kit_versions v ON v.org_id = k.org_id AND v.id = k.current_version_id
    WHERE k.org_id = ?1 AND k.id = ?2";

pub(crate) const KIT_VERSIONS: &str = "SELECT id, version, status, notes, created_by, created_at, published_at
    FROM kit_versions WHERE org_id = ?1 AND kit_id = ?2 ORDER BY version DESC LIMIT ?3";

/// A kit's status and its newest version.
pub(crate) const KIT_HEAD: &str = "SELECT k.status, v.id AS version_id, v.version, v.status AS version_status
    FROM kits k JOIN kit_versions v ON v.org_id = k.org_id AND v.kit_id = k.id
    WHERE k.org_id = ?1 AND k.id = ?2 ORDER BY v.version DESC LIMIT 1";

/// The pins of a kit version, with the current state of each brick. A missing brick or version leaves its columns null.
pub(crate) const PINS: &str = "SELECT p.brick_id, p.brick_version_id, b.brick_key, b.name, b.status,
        v.version, v.status AS version_status,
        CAST(CASE WHEN v.evaluation_prompt = '' THEN 1 ELSE 0 END AS BIGINT) AS rule_is_empty,
        c.version AS current_version, c.status AS current_version_status
    FROM kit_version_bricks p
    LEFT JOIN bricks b ON b.org_id = p.org_id AND b.id = p.brick_id
    LEFT JOIN brick_versions v ON v.org_id = p.org_id AND v.id = p.brick_version_id
    LEFT JOIN brick_versions c ON c.org_id = p.org_id AND c.id = b.current_version_id
    WHERE p.org_id = ?1 AND p.kit_version_id = ?2 ORDER BY p.position";

/// A new version is current only while nothing is published.
pub(crate) const KIT_HAS_NEW_VERSION: &str = "UPDATE kits SET
        current_version_id = CASE WHEN status = 'draft' THEN ?3 ELSE current_version_id END,
        updated_at = ?4
    WHERE org_id = ?1 AND id = ?2";

/// Marks the bricks whose drafts a kit version pins as updated. Run this before [`PROMOTE_VERSIONS`].
pub(crate) const TOUCH_PROMOTED_BRICKS: &str = "UPDATE bricks SET updated_at = ?3 WHERE org_id = ?1 AND id IN
    (SELECT v.brick_id FROM kit_version_bricks p
     JOIN brick_versions v ON v.org_id = p.org_id AND v.id = p.brick_version_id
     WHERE p.org_id = ?1 AND p.kit_version_id = ?2 AND v.status = 'draft')";

/// Publishes every draft that a kit version pins.
pub(crate) const PROMOTE_VERSIONS: &str = "UPDATE brick_versions SET status = 'published', published_at = ?3
    WHERE org_id = ?1 AND status = 'draft' AND id IN
        (SELECT brick_version_id FROM kit_version_bricks WHERE org_id = ?1 AND kit_version_id = ?2)";

/// Updates the bricks of a kit version to match their versions. Run this after [`PROMOTE_VERSIONS`].
pub(crate) const SETTLE_PROMOTED_BRICKS: &str = "UPDATE bricks SET status = 'published', current_version_id =
        (SELECT v.id FROM brick_versions v
         WHERE v.org_id = bricks.org_id AND v.brick_id = bricks.id AND v.status = 'published'
         ORDER BY v.version DESC LIMIT 1)
    WHERE org_id = ?1 AND id IN (SELECT brick_id FROM kit_version_bricks WHERE org_id = ?1 AND kit_version_id = ?2)";

pub(crate) const PUBLISH_KIT_VERSION: &str =
    "UPDATE kit_versions SET status = 'published', published_at = ?3 WHERE org_id = ?1 AND id = ?2";

pub(crate) const PUBLISH_KIT: &str = "UPDATE kits SET status = 'published', current_version_id = ?3, updated_at = ?4
    WHERE org_id = ?1 AND id = ?2";

pub(crate) const DEPRECATE_KIT: &str =
    "UPDATE kits SET status = 'deprecated', updated_at = ?3 WHERE org_id = ?1 AND id = ?2 AND status <> 'deprecated'";

pub(crate) const KIT_EXISTS: &str = "SELECT id FROM kits WHERE org_id = ?1 AND id = ?2";

#[cfg(test)]
mod tests {
    use store::{Param, params};
    use testkit::{Engine, TestStore, both_engines};

    use super::*;
    use crate::{BrickType, NewBrick, NewKit, Workshop};

    /// A list must read its rows from an index, in order, without a table scan or a sort.
    #[tokio::test]
    async fn lists_are_read_from_an_index() {
        let test = TestStore::open(Engine::Sqlite).await;
        let plain = params![i64::MAX, "", 20_u32];
        let of_status = params![i64::MAX, "", 20_u32, "draft"];
        let lists: [(&str, &[Param<'_>], &str); 4] = [
            (BRICKS, &plain, "bricks_by_time"),
            (BRICKS_OF_STATUS, &of_status, "bricks_by_status"),
            (KITS, &plain, "kits_by_time"),
            (KITS_OF_STATUS, &of_status, "kits_by_status"),
        ];
        for (statement, params, index) in lists {
            let explain = Box::leak(format!("EXPLAIN QUERY PLAN {statement}").into_boxed_str());
            let plan = test.new_org().query(explain, params, |row| row.get::<String>("detail")).await.unwrap().join("\n");
            assert!(plan.contains(index) && !plan.contains("SCAN") && !plan.contains("TEMP B-TREE"), "{plan}");
        }
    }

    // The counter in an id restarts when any clock in the process changes. So this test is here, where no test moves a clock.
    both_engines! {
        async fn rows_of_one_millisecond_are_listed_newest_first(engine: Engine) {
            let test = TestStore::open(engine).await;
            let workshop = Workshop::new(test.new_org(), test.clock.clone());
            let (mut bricks, mut kits) = (Vec::new(), Vec::new());
            for number in 0..20 {
                let name = format!("Number {number}");
                let brick = NewBrick {
                    name: name.clone(),
                    description: None,
                    brick_type: BrickType::Score,
                    evaluation_prompt: "?".into(),
                };
                let brick = workshop.create_draft_brick(brick, "agt_1").await.unwrap().0;
                let kit = NewKit { name, description: None, notes: None, brick_ids: vec![brick.to_string()] };
                kits.insert(0, workshop.create_draft_kit(kit, "agt_1").await.unwrap().kit_id);
                bricks.insert(0, brick);
            }
            let listed = workshop.list_bricks(None, 100).await.unwrap();
            assert_eq!(listed.iter().map(|brick| brick.brick_id).collect::<Vec<_>>(), bricks);
            let listed = workshop.list_kits(None, 100).await.unwrap();
            assert_eq!(listed.iter().map(|kit| kit.kit_id).collect::<Vec<_>>(), kits);
        }
    }
}
