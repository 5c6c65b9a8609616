//! Lists: newest first, filtered, limited, and the same rows page by page.
#![cfg(test)]

use base::{Cursor, PageRequest};
use kits::{Status, Workshop};
use store::Change;
use testkit::{Engine, both_engines};

use crate::cases::{Case, brick_in};

/// Reads all pages of `rows` rows and returns the names, with `|` where a page ends.
async fn brick_pages(workshop: &Workshop<Change>, status: Option<Status>, rows: u32) -> String {
    let (mut names, mut after) = (Vec::new(), None);
    loop {
        let page = workshop.bricks_page(status, &PageRequest { rows, after }).await.unwrap();
        names.push(page.items.iter().map(|brick| brick.brick_name.as_str()).collect::<Vec<_>>().join(" "));
        match page.next {
            // As a client sends it.
            Some(cursor) => after = Cursor::decode(&cursor.encode()),
            None => return names.join(" | "),
        }
    }
}

async fn kit_pages(workshop: &Workshop<Change>, status: Option<Status>, rows: u32) -> String {
    let (mut names, mut after) = (Vec::new(), None);
    loop {
        let page = workshop.kits_page(status, &PageRequest { rows, after }).await.unwrap();
        names.push(page.items.iter().map(|kit| format!("{}:{}", kit.name, kit.brick_count)).collect::<Vec<_>>().join(" "));
        match page.next {
            Some(cursor) => after = Cursor::decode(&cursor.encode()),
            None => return names.join(" | "),
        }
    }
}

both_engines! {
    async fn bricks_come_newest_first(engine: Engine) {
        let case = Case::new(engine).await;
        let mut bricks = Vec::new();
        for name in ["a", "b", "c", "d", "e"] {
            bricks.push(case.brick(name).await);
            case.later();
        }
        brick_in(&case.neighbour(), "theirs").await;
        case.workshop.publish_brick(bricks[1].as_str()).await.unwrap();
        case.workshop.publish_brick(bricks[3].as_str()).await.unwrap();
        case.workshop.deprecate_brick(bricks[4].as_str()).await.unwrap();

        let list = async |status, limit| {
            let bricks = case.workshop.list_bricks(status, limit).await.unwrap();
            bricks.iter().map(|brick| brick.brick_name.as_str()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(list(None, 20).await, "e d c b a");
        assert_eq!(list(None, 2).await, "e d");
        assert_eq!(list(Some(Status::Draft), 20).await, "c a");
        assert_eq!(list(Some(Status::Published), 20).await, "d b");
        assert_eq!(list(Some(Status::Published), 1).await, "d");
        assert_eq!(list(Some(Status::Deprecated), 20).await, "e");
        assert_eq!(brick_pages(&case.workshop, None, 2).await, "e d | c b | a");
        assert_eq!(brick_pages(&case.workshop, None, 5).await, "e d c b a");
        assert_eq!(brick_pages(&case.workshop, Some(Status::Draft), 1).await, "c | a");
        assert_eq!(brick_pages(&case.neighbour(), None, 2).await, "");
    }

    async fn kits_come_newest_first_with_their_count(engine: Engine) {
        let case = Case::new(engine).await;
        let (one, two) = (case.published_brick("One").await, case.published_brick("Two").await);
        let mut kits = Vec::new();
        for bricks in [&[&one, &two][..], &[&one], &[&two]] {
            kits.push(case.kit(bricks).await.kit_id);
            case.later();
        }
        case.workshop.publish_kit(kits[0].as_str()).await.unwrap();
        case.workshop.deprecate_kit(kits[1].as_str()).await.unwrap();
        assert_eq!(kit_pages(&case.workshop, None, 2).await, "Kit:1 Kit:1 | Kit:2");
        for (status, kit) in [(Status::Published, 0), (Status::Deprecated, 1), (Status::Draft, 2)] {
            let listed = case.workshop.list_kits(Some(status), 20).await.unwrap();
            assert_eq!(listed.iter().map(|each| &each.kit_id).collect::<Vec<_>>(), [&kits[kit]]);
        }
        assert_eq!(case.workshop.list_kits(None, 1).await.unwrap()[0].kit_id, kits[2]);
        assert_eq!(kit_pages(&case.neighbour(), None, 2).await, "");
    }
}
