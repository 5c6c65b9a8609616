//! Orgs.

use std::sync::Arc;

use base::limits::NAME_CHARS_MAX;
use base::{Cursor, Error, EventKind, Kind, OrgId, Page, PageRequest, RequestId, Result, Timestamp};
use store::{OrgTx, Row, params};

use super::{sql, start_of};
use crate::access::Manager;
use crate::audit::{By, Event};
use crate::guard::Guard;
use crate::keys::MintedKey;
use crate::policies;

/// A tenant.
#[derive(Clone, Debug)]
pub struct Org {
    /// Its id, which is also the workspace id.
    pub id: OrgId,
    /// Its name.
    pub name: String,
    /// Its name in lower case with dashes, unique on the instance.
    pub slug: String,
    /// Whether its plan has the knowledge graph.
    pub plan_has_graph: bool,
    /// When it was created.
    pub created_at: Timestamp,
}

impl Org {
    /// The audit event with the org's new state.
    fn event(&self, kind: EventKind) -> Event {
        Event::new(kind, "org", self.id).with("name", self.name.as_str()).with("planHasGraph", self.plan_has_graph)
    }

    fn from_row(row: &Row<'_>) -> Result<Self> {
        Ok(Self {
            id: OrgId::from_row(row.text("org_id")?),
            name: row.get("name")?,
            slug: row.get("slug")?,
            plan_has_graph: row.get("plan_has_graph")?,
            created_at: row.get("created_at")?,
        })
    }
}

/// The orgs of the instance, for its admin and for callers that read their own org.
pub struct Orgs<'g>(&'g Guard);

impl Guard {
    /// The orgs of the instance.
    pub fn orgs(&self) -> Orgs<'_> {
        Orgs(self)
    }
}

impl Orgs<'_> {
    /// Creates an org and its first key, which has all rights in it.
    pub async fn create_with_key(&self, name: &str, plan_has_graph: bool, request: RequestId) -> Result<(Org, MintedKey)> {
        let org = self.new_org(name, plan_has_graph)?;
        let first = MintedKey::first_of(&org.id, org.created_at);
        self.insert(org.clone(), Some(first.clone()), Some(request)).await?;
        Ok((org, first))
    }

    /// Creates an org without a key, which only the instance admin can use.
    pub async fn create(&self, name: &str, plan_has_graph: bool) -> Result<Org> {
        let org = self.new_org(name, plan_has_graph)?;
        self.insert(org.clone(), None, None).await?;
        Ok(org)
    }

    fn new_org(&self, name: &str, plan_has_graph: bool) -> Result<Org> {
        let name = checked_name(name)?;
        let now = self.0.clock.now();
        let slug = org_slug(&name);
        if slug.is_empty() {
            return Err(Error::new(Kind::InvalidParams, "an org's name must have an ASCII letter or digit"));
        }
        Ok(Org { id: OrgId::new(now), name, slug, plan_has_graph, created_at: now })
    }

    /// Stores an org. Two orgs must not have the same slug.
    async fn insert(&self, org: Org, first_key: Option<MintedKey>, request: Option<RequestId>) -> Result<()> {
        let (slug, ledger) = (org.slug.clone(), Arc::clone(&self.0.ledger));
        let made = self
            .0
            .store
            .write_instance(move |tx| {
                let params = params![org.id, org.name, org.slug, org.plan_has_graph, org.created_at];
                let made = tx.execute(sql::INSERT_ORG, &params)?;
                if made > 0 {
                    // Nobody knows the org yet, so there are no concurrent writes.
                    let (mut tx, by) = (OrgTx::of(tx, &org.id), By::manager(&Manager::InstanceAdmin, request));
                    ledger.write(&mut tx, &by, org.event(EventKind::OrgCreated))?;
                    policies::write_starter(&mut tx, &ledger, &by, org.created_at)?;
                    if let Some(first) = &first_key {
                        let event = first.keep(&mut tx)?;
                        ledger.write(&mut tx, &by, event)?;
                    }
                }
                Ok(made)
            })
            .await?;
        if made == 0 {
            return Err(Error::new(Kind::Conflict, format!("an org named `{slug}` already exists")));
        }
        Ok(())
    }

    /// One org.
    pub async fn get(&self, id: &OrgId) -> Result<Option<Org>> {
        self.0.store.first(sql::ORG, &params![id], Org::from_row).await
    }

    /// All of them, newest first.
    pub async fn list(&self, page: &PageRequest) -> Result<Page<Org>> {
        let start = start_of(page);
        let rows = self.0.store.query(sql::LIST_ORGS, &params![start.created_at, start.id, start.rows], Org::from_row).await?;
        Ok(Page::from_rows(rows, page.rows, |org| Cursor { created_at: org.created_at, id: org.id.to_string() }))
    }

    /// Changes an org's name or plan. The slug stays the same.
    pub async fn change(
        &self,
        id: &OrgId,
        name: Option<&str>,
        plan_has_graph: Option<bool>,
        request: Option<RequestId>,
    ) -> Result<Option<Org>> {
        let (name, ledger) = (name.map(checked_name).transpose()?, Arc::clone(&self.0.ledger));
        self.0
            .own_change(id)
            .write(move |tx| {
                let Some(mut org) = tx.first(sql::ORG, &[], Org::from_row)? else {
                    return Ok(None);
                };
                if let Some(name) = &name {
                    org.name.clone_from(name);
                }
                org.plan_has_graph = plan_has_graph.unwrap_or(org.plan_has_graph);
                tx.execute(sql::UPDATE_ORG, &params![org.name, org.plan_has_graph])?;
                tx.bump()?;
                ledger.write(tx, &By::manager(&Manager::InstanceAdmin, request), org.event(EventKind::OrgChanged))?;
                Ok(Some(org))
            })
            .await
    }
}

/// The name in lower case, with one dash for every run of characters other than ASCII letters and digits.
fn org_slug(name: &str) -> String {
    let mut slug = String::new();
    for word in name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        if !slug.is_empty() {
            slug.push('-');
        }
        slug.extend(word.chars().map(|c| c.to_ascii_lowercase()));
    }
    slug
}

/// Checks and trims a name: not empty, not too long, no control characters.
pub(crate) fn checked_name(name: &str) -> Result<String> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > NAME_CHARS_MAX {
        return Err(Error::new(Kind::InvalidParams, format!("a name must have 1 to {NAME_CHARS_MAX} characters")));
    }
    if name.chars().any(char::is_control) {
        return Err(Error::new(Kind::InvalidParams, "a name must not have control characters"));
    }
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slug_has_lower_case_letters_digits_and_dashes() {
        for (name, slug) in [("Acme", "acme"), ("Acme  Inc. (prod)", "acme-inc-prod"), ("--", ""), ("Ünï 1", "n-1")] {
            assert_eq!(org_slug(name), slug, "{name}");
        }
    }
}
