//! Columns are read by name, in any order, and a wrong name says which.
#![cfg(test)]

use base::{Kind, Timestamp};
use store::{OrgStore, Row, params};
use testkit::{Engine, both_engines};

use crate::cases::{insert, notes};

const NOTE: &str =
    "SELECT id, count, count + 1 AS more, CAST(NULL AS BIGINT) AS missing FROM notes WHERE org_id = ?1 AND id = ?2";

async fn read<T>(org: &OrgStore, map: impl FnMut(&Row<'_>) -> base::Result<T> + Send) -> base::Result<T> {
    Ok(org.first(NOTE, &params!["a"], map).await?.unwrap())
}

both_engines! {
    async fn columns_are_found_in_any_order(engine: Engine) {
        let (_test, org) = notes(engine).await;
        org.write(|tx| insert(tx, "a")).await.unwrap();
        let found = read(&org, |row| {
            let (more, id): (i64, String) = (row.get("more")?, row.get("id")?);
            let (missing, again): (Option<i64>, String) = (row.get("missing")?, row.text("id")?.to_owned());
            Ok((more - row.get::<i64>("count")?, id, missing, again))
        });
        assert_eq!(found.await.unwrap(), (1, "a".to_owned(), None, "a".to_owned()));
    }

    async fn a_column_that_cannot_be_read_is_named(engine: Engine) {
        let (_test, org) = notes(engine).await;
        org.write(|tx| insert(tx, "a")).await.unwrap();
        let refused = [
            (read(&org, |row| row.get::<i64>("cuont")).await.unwrap_err(), "`cuont`"),
            (read(&org, |row| row.text("Id").map(drop).map(|()| 0)).await.unwrap_err(), "`Id`"),
            (read(&org, |row| row.get::<Timestamp>("missing").map(Timestamp::ms)).await.unwrap_err(), "`missing`"),
            (read(&org, |row| row.get::<i64>("id")).await.unwrap_err(), "`id`"),
        ];
        for (error, name) in refused {
            assert_eq!(error.kind(), Kind::Internal);
            assert!(error.log().is_some_and(|log| log.contains(name)), "{error:?}");
        }
    }
}
