//! `tools/list`, serialized once per class of principals and cached until the org changes.

use std::borrow::Cow;
use std::sync::Arc;

use base::{Actor, AgentId, Allowlist, Error, OrgId, Principal, ProjectId, Result, ScopeSet, SessionId, ToolNames, limits};
use guard::Caller;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use crate::state::State;

/// Principals of the same class see the same tools with the same names, so they share one listing.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Class {
    org: OrgId,
    change_number: u64,
    project: Option<ProjectId>,
    /// The principal itself, if a policy depends on it.
    actor: Option<ActorClass>,
    scopes: ScopeSet,
    allowlist: Option<Vec<String>>,
    tool_names: ToolNames,
}

/// The properties of a principal that a policy may use, beyond its project and org.
#[derive(Clone, PartialEq, Eq, Hash)]
enum ActorClass {
    Session { id: SessionId, agent: Option<AgentId>, label: Option<Arc<str>>, work_type: Option<Arc<str>> },
    Agent(AgentId),
}

/// The cached listings.
pub(crate) struct Listings(Cache<Class, Arc<Pages>, ByBytes>);

/// A cached listing uses memory in proportion to its size.
#[derive(Clone)]
pub(crate) struct ByBytes;

/// How many listings of the built-in tools fit.
const LISTINGS_ESTIMATED: usize = 2_000;
/// The cost of an empty listing and its key.
const LISTING_WEIGHT: u64 = 500;

impl Weighter<Class, Arc<Pages>> for ByBytes {
    fn weight(&self, _: &Class, pages: &Arc<Pages>) -> u64 {
        LISTING_WEIGHT + pages.0.iter().map(|page| page.body.get().len() as u64).sum::<u64>()
    }
}

/// A whole listing, split into pages.
struct Pages(Vec<Page>);

struct Page {
    /// The cursor of this page. The first page has none.
    cursor: Option<String>,
    body: Box<RawValue>,
}

/// The result of `tools/list`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListResult<'a> {
    tools: &'a [Listed<'a>],
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<&'a str>,
}

impl Listings {
    pub(crate) fn new() -> Self {
        let most = limits::LISTING_CACHE_BYTES_MAX;
        Self(Cache::with_weighter(LISTINGS_ESTIMATED, most, ByBytes))
    }
}

impl State {
    /// Passes one page of the tools that `caller` sees to `write`, in stable order.
    pub(crate) async fn listing<T>(
        &self,
        caller: &Caller,
        cursor: Option<&str>,
        write: impl FnOnce(&RawValue) -> Result<T>,
    ) -> Result<T> {
        let pages = self.pages(caller).await?;
        let page = pages.0.iter().find(|page| page.cursor.as_deref() == cursor);
        let page = page.ok_or_else(|| Error::invalid("cursor", "invalid cursor; restart without one"))?;
        write(&page.body)
    }

    async fn pages(&self, caller: &Caller) -> Result<Arc<Pages>> {
        let principal = caller.principal();
        let varies = caller.policies().listing_varies();
        if varies.by_time {
            // A listing that depends on the time of day must not be cached.
            return self.fresh_pages(caller).await;
        }
        let class = class_of(principal, caller.change_number(), varies.by_principal);
        if let Some(pages) = self.listings.0.get(&class) {
            return Ok(pages);
        }
        let pages = self.fresh_pages(caller).await?;
        self.listings.0.insert(class, Arc::clone(&pages));
        Ok(pages)
    }

    async fn fresh_pages(&self, caller: &Caller) -> Result<Arc<Pages>> {
        let menu = self.catalogues.of(&caller.principal().org, caller.change_number()).await?;
        let visible = menu.tools().iter().filter(|tool| self.guard.visible(caller, tool.spec()).is_ok());
        let names = caller.principal().tool_names;
        let listed = visible.map(|tool| {
            let name = match names {
                ToolNames::Canonical => Cow::Borrowed(&*tool.spec().name),
                ToolNames::Safe => tool.spec().safe_name(),
            };
            Ok(Listed { name, definition: tool.definition(names)? })
        });
        Ok(Arc::new(cut(&listed.collect::<Result<Vec<_>>>()?)?))
    }
}

/// A tool, and how it is listed.
struct Listed<'a> {
    name: Cow<'a, str>,
    definition: Arc<RawValue>,
}

impl Serialize for Listed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.definition.serialize(serializer)
    }
}

/// Splits a listing into pages. A page's cursor is the name of the last tool before it.
fn cut(tools: &[Listed<'_>]) -> Result<Pages> {
    let mut chunks: Vec<&[Listed<'_>]> = tools.chunks(limits::TOOLS_PER_PAGE).collect();
    if chunks.is_empty() {
        chunks.push(&[]);
    }
    let mut cursor = None;
    let mut pages = Vec::with_capacity(chunks.len());
    for (index, chunk) in chunks.iter().enumerate() {
        let is_last = index + 1 == chunks.len();
        let next_cursor = chunk.last().filter(|_| !is_last).map(|tool| tool.name.to_string());
        let result = ListResult { tools: chunk, next_cursor: next_cursor.as_deref() };
        let body = to_raw_value(&result).map_err(Error::internal)?;
        pages.push(Page { cursor: std::mem::replace(&mut cursor, next_cursor), body });
    }
    Ok(Pages(pages))
}

fn class_of(principal: &Principal, change_number: u64, by_principal: bool) -> Class {
    let allowlist = match &principal.allowlist {
        Allowlist::All => None,
        Allowlist::Only(names) => Some(names.iter().cloned().collect()),
    };
    Class {
        org: principal.org,
        change_number,
        project: principal.project.as_ref().map(|project| project.id),
        actor: by_principal.then(|| actor_of(principal)),
        scopes: principal.scopes,
        allowlist,
        tool_names: principal.tool_names,
    }
}

fn actor_of(principal: &Principal) -> ActorClass {
    match &principal.actor {
        Actor::Session { id, agent, label, work_type, .. } => {
            ActorClass::Session { id: *id, agent: *agent, label: label.clone(), work_type: work_type.clone() }
        }
        Actor::Agent { id, .. } => ActorClass::Agent(*id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(count: usize) -> Vec<Listed<'static>> {
        let tool = |index| {
            let name = format!("tool_{index}");
            let definition = Arc::from(to_raw_value(&serde_json::json!({ "name": name })).unwrap());
            Listed { name: name.into(), definition }
        };
        (0..count).map(tool).collect()
    }

    #[test]
    fn following_cursors_lists_every_tool_once() {
        for count in [0, 1, 200, 201, 401] {
            let pages = cut(&tools(count)).unwrap();
            let mut cursor: Option<String> = None;
            let mut seen = 0;
            loop {
                let page = pages.0.iter().find(|page| page.cursor == cursor).unwrap();
                let body: serde_json::Value = serde_json::from_str(page.body.get()).unwrap();
                seen += body["tools"].as_array().unwrap().len();
                match body.get("nextCursor") {
                    Some(next) => cursor = Some(next.as_str().unwrap().to_owned()),
                    None => break,
                }
            }
            assert_eq!(seen, count);
        }
    }
}
