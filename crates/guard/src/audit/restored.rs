//! Audits a restore in each org's trail, because it removes everything that happened after the backup.

use std::sync::Arc;

use base::{EventKind, OrgId, PageRequest, Result, limits};
use store::params;

use super::event::{By, Event};
use super::sql;
use crate::guard::Guard;

impl Guard {
    /// Records the restore that the rows came from in every org's trail, once.
    pub(crate) async fn record_restore(&self) -> Result<()> {
        let Some(restore) = self.store.last_restore().await? else { return Ok(()) };
        let told = self.store.first(sql::RESTORE_TOLD, &[], |row| row.get::<String>("value")).await?;
        if told.as_ref() == Some(&restore) {
            return Ok(());
        }
        let mut page = PageRequest { rows: limits::PAGE_ROWS_MAX, after: None };
        loop {
            let orgs = self.orgs().list(&page).await?;
            for org in &orgs.items {
                self.record_restore_in(org.id, restore.clone()).await?;
            }
            match orgs.next {
                Some(next) => page.after = Some(next),
                None => break,
            }
        }
        self.store.write_instance(move |tx| tx.execute(sql::REMEMBER_RESTORE_TOLD, &params![restore])).await.map(drop)
    }

    async fn record_restore_in(&self, org: OrgId, restore: String) -> Result<()> {
        let ledger = Arc::clone(&self.ledger);
        let change = self.own_change(&org);
        let write = change.write(move |tx| {
            let (name, made_at) = restore.split_once(' ').unwrap_or((&restore, ""));
            let newest =
                tx.first(sql::NEWEST_PAYLOAD_OF, &params![EventKind::AuditRestored.word()], |row| row.get::<String>("payload"))?;
            // Another node, or an interrupted start, has already recorded it.
            if newest.is_some_and(|payload| payload.contains(name)) {
                return Ok(());
            }
            let event = Event::new(EventKind::AuditRestored, "audit", org).with("restore", name).with("backupMadeAt", made_at);
            ledger.write(tx, &By::system(), event)
        });
        write.await
    }
}
