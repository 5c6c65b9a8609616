//! Changes to bricks. Agents may only create drafts; the callers enforce that the rest is for people.

use base::{BrickId, BrickVersionId};
use store::{Change, OrgTx, params};

use crate::brick::word;
use crate::input::brick_id;
use crate::readiness::Finding;
use crate::{Blocker, Error, NewBrick, NewBrickVersion, Result, Status, VersionStatus, Workshop, sql};

/// The key of a name without any ASCII letter or digit.
const NAMELESS: &str = "brick";

/// A brick's status and its newest version, read inside the transaction that acts on them.
struct Head {
    status: Status,
    version_id: BrickVersionId,
    version: i64,
    version_status: VersionStatus,
    rule_is_empty: bool,
}

impl Workshop<Change> {
    /// Creates a draft brick with a unique key.
    pub async fn create_draft_brick(&self, mut brick: NewBrick, created_by: &str) -> Result<(BrickId, BrickVersionId)> {
        brick.check()?;
        let (clock, created_by) = (self.clock.clone(), created_by.to_owned());
        let write = self.change(move |tx| {
            // The time and the ids are taken inside the write, so their order is the order of the org's writes and of lists.
            let now = clock.now();
            let (id, version_id) = (BrickId::new(now), BrickVersionId::new(now));
            let brick_key = first_free(&snake_case(&brick.name), |key| {
                Ok(tx.first(sql::BRICK_OF_KEY, &params![key], |_| Ok(()))?.is_some())
            })?;
            let NewBrick { name, description, brick_type, evaluation_prompt } = &brick;
            tx.execute(
                sql::INSERT_BRICK,
                &params![id, brick_key, name, description, brick_type.word(), version_id, created_by, now],
            )?;
            tx.execute(sql::INSERT_BRICK_VERSION, &params![version_id, id, 1_i64, evaluation_prompt, created_by, now])?;
            Ok((id, version_id))
        });
        write.await
    }

    /// Adds a draft version to a brick.
    pub async fn new_brick_version(&self, id: &str, mut version: NewBrickVersion, created_by: &str) -> Result<BrickVersionId> {
        let id = brick_id(id)?;
        version.check()?;
        let (clock, created_by) = (self.clock.clone(), created_by.to_owned());
        let write = self.change(move |tx| {
            let head = living_head(tx, &id)?;
            let now = clock.now();
            let version_id = BrickVersionId::new(now);
            let NewBrickVersion { evaluation_prompt, description } = &version;
            let number = head.version + 1;
            tx.execute(sql::INSERT_BRICK_VERSION, &params![version_id, id, number, evaluation_prompt, created_by, now])?;
            tx.execute(sql::BRICK_HAS_NEW_VERSION, &params![id, version_id, description, now])?;
            Ok(version_id)
        });
        write.await
    }

    /// Publishes a brick's newest version and returns its id.
    pub async fn publish_brick(&self, id: &str) -> Result<BrickVersionId> {
        let id = brick_id(id)?;
        let clock = self.clock.clone();
        let write = self.change(move |tx| {
            let head = living_head(tx, &id)?;
            if head.version_status == VersionStatus::Published {
                return Err(Error::BrickPublished);
            }
            if head.rule_is_empty {
                return Err(Error::BrickRuleEmpty(Finding::about(Blocker::BrickRuleEmpty, &id, &head.version_id)));
            }
            let now = clock.now();
            tx.execute(sql::PUBLISH_BRICK_VERSION, &params![head.version_id, now])?;
            tx.execute(sql::PUBLISH_BRICK, &params![id, head.version_id, now])?;
            Ok(head.version_id)
        });
        write.await
    }

    /// Deprecates a brick, which is final. Returns whether this call did it.
    pub async fn deprecate_brick(&self, id: &str) -> Result<bool> {
        let id = brick_id(id)?;
        let clock = self.clock.clone();
        let write = self.change(move |tx| {
            let touched = tx.execute(sql::DEPRECATE_BRICK, &params![id, clock.now()])?;
            if touched == 0 && tx.first(sql::BRICK_EXISTS, &params![id], |_| Ok(()))?.is_none() {
                return Err(Error::UnknownBrick);
            }
            Ok(touched > 0)
        });
        write.await
    }
}

/// The head of a brick that is not deprecated.
fn living_head(tx: &mut OrgTx<'_, '_>, id: &BrickId) -> Result<Head> {
    let head = tx.first(sql::BRICK_HEAD, &params![id], |row| {
        Ok(Head {
            status: word(row, "status", Status::parse)?,
            version_id: BrickVersionId::from_row(row.text("version_id")?),
            version: row.get("version")?,
            version_status: word(row, "version_status", VersionStatus::parse)?,
            rule_is_empty: row.get("rule_is_empty")?,
        })
    })?;
    let head = head.ok_or(Error::UnknownBrick)?;
    if head.status == Status::Deprecated {
        return Err(Error::BrickDeprecated);
    }
    Ok(head)
}

/// A name as a key: runs of ASCII letters and digits, in lower case and joined by `_`. Other letters and digits are dropped, and every other
/// character is a separator.
fn snake_case(name: &str) -> String {
    let mut key = String::with_capacity(name.len());
    let mut separated = false;
    for character in name.chars() {
        if character.is_ascii_alphanumeric() {
            if separated && !key.is_empty() {
                key.push('_');
            }
            separated = false;
            key.push(character.to_ascii_lowercase());
        } else if !character.is_alphanumeric() {
            separated = true;
        }
    }
    if key.is_empty() { NAMELESS.to_owned() } else { key }
}

/// The first free key of `key`, `key_2`, `key_3`, … with only a few lookups even if thousands are taken: it doubles the number
/// until one is free, then bisects. Bricks are never deleted, so the numbers have no gaps, unless a brick was itself named like
/// `key_7`. Then a later number may be chosen, which is also free.
fn first_free(key: &str, mut is_taken: impl FnMut(&str) -> base::Result<bool>) -> base::Result<String> {
    let numbered = |number: u64| format!("{key}_{number}");
    if !is_taken(key)? {
        return Ok(key.to_owned());
    }
    let (mut taken, mut free) = (1, 2);
    while is_taken(&numbered(free))? {
        (taken, free) = (free, free.saturating_mul(2));
    }
    while free - taken > 1 {
        let middle = taken + (free - taken) / 2;
        if is_taken(&numbered(middle))? {
            taken = middle;
        } else {
            free = middle;
        }
    }
    Ok(numbered(free))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_become_keys() {
        let cases = [
            ("Mentions pricing", "mentions_pricing"),
            ("  CTA: clear & early?  ", "cta_clear_early"),
            ("already_snake_case", "already_snake_case"),
            ("CamelCase 2", "camelcase_2"),
            ("Größe — naïve", "gre_nave"),
            ("__a--b__", "a_b"),
            ("漢字", "brick"),
            ("💥", "brick"),
            ("", "brick"),
            ("漢 a", "a"),
            ("a 漢", "a"),
        ];
        for (name, key) in cases {
            assert_eq!(snake_case(name), key, "{name}");
        }
    }

    #[test]
    fn ten_thousand_equal_names_need_few_lookups() {
        let mut taken: BTreeSet<String> = BTreeSet::from(["same".into()]);
        taken.extend((2..=10_000).map(|number| format!("same_{number}")));
        let mut asked = 0;
        let free = first_free("same", |key| {
            asked += 1;
            Ok(taken.contains(key))
        });
        assert_eq!(free.unwrap(), "same_10001");
        assert!(asked <= 30, "{asked}");
    }

    proptest! {
        #[test]
        fn keys_are_snake_case(name in "\\PC{0,130}") {
            let key = snake_case(&name);
            prop_assert!(!key.is_empty());
            prop_assert!(key.split('_').all(|word| !word.is_empty()), "{}", key);
            prop_assert!(key.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'));
            prop_assert_eq!(snake_case(&key), key);
        }

        #[test]
        fn keys_keep_every_ascii_letter_and_digit_in_order(name in "\\PC{0,130}") {
            let kept: String = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
            let key = snake_case(&name).replace('_', "");
            prop_assert_eq!(key, if kept.is_empty() { NAMELESS.to_owned() } else { kept });
        }

        #[test]
        fn the_chosen_key_is_always_free(numbers in proptest::collection::btree_set(1_u64..60, 0..60)) {
            let taken: BTreeSet<String> =
                numbers.iter().map(|number| if *number == 1 { "k".to_owned() } else { format!("k_{number}") }).collect();
            let free = first_free("k", |key| Ok(taken.contains(key))).unwrap();
            prop_assert!(!taken.contains(&free));
        }

        #[test]
        fn without_gaps_the_next_number_is_chosen(count in 1_u64..300) {
            let free = first_free("k", |key| {
                let number = key.strip_prefix("k_").map_or(1, |number| number.parse().unwrap());
                Ok(number <= count)
            });
            prop_assert_eq!(free.unwrap(), format!("k_{}", count + 1));
        }
    }
}
