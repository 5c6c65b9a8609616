//! One org's handle reaches only that org's rows, and values are read back unchanged.
#![cfg(test)]

use base::Kind;
use store::params;
use testkit::{Engine, both_engines};

use crate::cases::{ids, insert, notes};

/// Statements that forget their tenant: without parameters, and with only the caller's own.
const UNSCOPED: [(&str, bool); 4] = [
    ("SELECT id FROM notes", false),
    ("SELECT id FROM notes WHERE id = ?2", true),
    ("DELETE FROM notes", false),
    ("DELETE FROM notes WHERE id = ?2", true),
];

both_engines! {
    async fn a_statement_that_forgets_its_org_fails(engine: Engine) {
        let (test, org) = notes(engine).await;
        let other = test.new_org();
        other.write(|tx| insert(tx, "theirs")).await.unwrap();
        for (statement, takes_id) in UNSCOPED {
            let params = if takes_id { &params!["theirs"][..] } else { &[] };
            // A reader cannot delete anyway. A writer must refuse because of the missing org alone.
            let alone = org.query(statement, params, |_| Ok(())).await.map(drop);
            let queried = org.write(move |tx| {
                let params = if takes_id { &params!["theirs"][..] } else { &[] };
                tx.query(statement, params, |_| Ok(())).map(drop)
            });
            let executed = org.write(move |tx| {
                let params = if takes_id { &params!["theirs"][..] } else { &[] };
                tx.execute(statement, params).map(drop)
            });
            for outcome in [alone, queried.await, executed.await] {
                assert_eq!(outcome.unwrap_err().kind(), Kind::Internal, "{statement}");
            }
        }
        assert_eq!(ids(&other).await, ["theirs"]);
    }

    async fn orgs_do_not_see_each_other(engine: Engine) {
        let (test, org) = notes(engine).await;
        let other = test.new_org();
        org.write(|tx| insert(tx, "same")).await.unwrap();
        other.write(|tx| insert(tx, "same")).await.unwrap();
        other.write(|tx| insert(tx, "only theirs")).await.unwrap();
        assert_eq!(ids(&org).await, ["same"]);
        assert_eq!(ids(&other).await, ["only theirs", "same"]);
    }

    async fn text_is_read_back_unchanged(engine: Engine) {
        let (_test, org) = notes(engine).await;
        let texts = [
            "",
            " ",
            "it's",
            "\"quoted\"",
            "?1 $2 :name @p",
            "back\\slash %s",
            "line\r\nline\t",
            "Größe, 漢字, 👩‍👩‍👧, \u{202e}",
            "'; DROP TABLE notes; --",
        ];
        for text in texts {
            org.write(move |tx| insert(tx, text)).await.unwrap();
        }
        let mut expected = texts.map(str::to_owned);
        expected.sort_unstable();
        assert_eq!(ids(&org).await, expected);
    }

    async fn text_with_a_nul_is_the_callers_fault_on_both_engines(engine: Engine) {
        let (_test, org) = notes(engine).await;
        let written = org.write(|tx| insert(tx, "a\0b")).await;
        assert_eq!(written.unwrap_err().kind(), Kind::InvalidParams);
        let read = org.query("SELECT id FROM notes WHERE org_id = ?1 AND id = ?2", &params!["\0"], |_| Ok(())).await;
        assert_eq!(read.unwrap_err().kind(), Kind::InvalidParams);
        assert!(ids(&org).await.is_empty());
    }

    async fn numbers_are_read_back_unchanged(engine: Engine) {
        let (_test, org) = notes(engine).await;
        for number in [i64::MIN, -1, 0, 1, i64::MAX] {
            org.write(|tx| insert(tx, "n")).await.ok();
            let update = "UPDATE notes SET count = ?2 WHERE org_id = ?1";
            assert_eq!(org.write(move |tx| tx.execute(update, &params![number])).await.unwrap(), 1);
            assert_eq!(crate::cases::count(&org, "n").await, Some(number));
        }
    }
}
