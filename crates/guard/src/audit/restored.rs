//! A restore takes back what happened after the backup. Each org's trail says so.

use std::sync::Arc;

use base::{OrgId, PageRequest, Result, limits};
use store::params;

use super::event::{By, Event};
use super::sql;
use crate::guard::Guard;

/// The event.
const RESTORED: &str = "audit.restored";

impl Guard {
    /// Puts the restore that the rows came from on the record of every org, once.
    pub(crate) async fn tell_of_restore(&self) -> Result<()> {
        let Some(restore) = self.store.last_restore().await? else { return Ok(()) };
        let told = self.store.first(sql::RESTORE_TOLD, &[], |row| row.get::<String>(0)).await?;
        if told.as_ref() == Some(&restore) {
            return Ok(());
        }
        let mut page = PageRequest { rows: limits::PAGE_ROWS_MAX, after: None };
        loop {
            let orgs = self.orgs().list(&page).await?;
            for org in &orgs.items {
                self.tell_org_of_restore(org.id, restore.clone()).await?;
            }
            match orgs.next {
                Some(next) => page.after = Some(next),
                None => break,
            }
        }
        self.store.write_instance(move |tx| tx.execute(sql::REMEMBER_RESTORE_TOLD, &params![restore])).await.map(drop)
    }

    async fn tell_org_of_restore(&self, org: OrgId, restore: String) -> Result<()> {
        let (ledger, rows) = (Arc::clone(&self.ledger), self.rows_of(&org));
        let write = rows.write(move |tx| {
            let (name, made_at) = restore.split_once(' ').unwrap_or((&restore, ""));
            let newest = tx.first(sql::NEWEST_PAYLOAD_OF, &params![RESTORED], |row| row.get::<String>(0))?;
            // Another node, or a start that was cut short, has told of it already.
            if newest.is_some_and(|payload| payload.contains(name)) {
                return Ok(());
            }
            let event = Event::new(RESTORED, "audit", org).with("restore", name).with("backupMadeAt", made_at);
            ledger.write(tx, &By::system(), event)
        });
        write.await
    }
}
