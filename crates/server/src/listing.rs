//! `tools/list`, serialised once per class of principals and kept until the org changes.

use std::sync::Arc;

use base::{Actor, AgentId, Allowlist, Error, OrgId, Principal, ProjectId, Result, ScopeSet, SessionId, ToolNames, limits};
use guard::{Caller, Effect};
use mcp::model::{Tool, ToolAnnotations};
use quick_cache::sync::Cache;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use tools::Registered;

use crate::state::State;

/// Listings kept at once; each may be some hundred kilobytes when peers have many skills.
const KEPT: usize = 1_000;

/// Principals that see the same tools in the same spelling share one listing.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Class {
    org: OrgId,
    change_number: u64,
    project: Option<ProjectId>,
    /// Who it is, where some policy asks.
    actor: Option<Who>,
    scopes: ScopeSet,
    allowlist: Option<Vec<String>>,
    tool_names: ToolNames,
}

/// Everything that a policy may ask of a principal and that its project and org do not tell.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Who {
    Session { id: SessionId, agent: Option<AgentId>, label: Option<Arc<str>>, work_type: Option<Arc<str>> },
    Agent(AgentId),
}

/// The remembered listings.
pub(crate) struct Listings(Cache<Class, Arc<Pages>>);

/// A whole listing, cut into pages.
struct Pages(Vec<Page>);

struct Page {
    /// The cursor that leads here; the first page has none.
    cursor: Option<String>,
    body: Box<RawValue>,
}

/// The result of `tools/list`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListResult<'a> {
    tools: &'a [Tool],
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<&'a str>,
}

impl Listings {
    pub(crate) fn new() -> Self {
        Self(Cache::new(KEPT))
    }
}

impl State {
    /// One page of the tools that `caller` sees, in stable order, handed to `write` as the result's body.
    pub(crate) fn listing<T>(
        &self,
        caller: &Caller,
        cursor: Option<&str>,
        write: impl FnOnce(&RawValue) -> Result<T>,
    ) -> Result<T> {
        let pages = self.pages(caller)?;
        let page = pages.0.iter().find(|page| page.cursor.as_deref() == cursor);
        let page = page.ok_or_else(|| Error::invalid("cursor", "this cursor leads nowhere: start again without one"))?;
        write(&page.body)
    }

    fn pages(&self, caller: &Caller) -> Result<Arc<Pages>> {
        let principal = caller.principal();
        let varies = caller.policies().listing_varies();
        if varies.by_time {
            // What is permitted at this hour may not be at the next: such a listing is good once.
            return self.fresh_pages(caller);
        }
        let class = class_of(principal, caller.change_number(), varies.by_principal);
        if let Some(pages) = self.listings.0.get(&class) {
            return Ok(pages);
        }
        let pages = self.fresh_pages(caller)?;
        self.listings.0.insert(class, Arc::clone(&pages));
        Ok(pages)
    }

    fn fresh_pages(&self, caller: &Caller) -> Result<Arc<Pages>> {
        let visible = self.catalogue.tools().iter().filter(|tool| self.guard.visible(caller, tool.spec()).is_ok());
        let names = caller.principal().tool_names;
        let tools = visible.map(|tool| definition(tool, names)).collect::<Result<Vec<Tool>>>()?;
        Ok(Arc::new(cut(&tools)?))
    }
}

/// A page's cursor is the name of the last tool before it.
fn cut(tools: &[Tool]) -> Result<Pages> {
    let mut chunks: Vec<&[Tool]> = tools.chunks(limits::TOOLS_PER_PAGE).collect();
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

fn actor_of(principal: &Principal) -> Who {
    match &principal.actor {
        Actor::Session { id, agent, label, work_type, .. } => {
            Who::Session { id: *id, agent: *agent, label: label.clone(), work_type: work_type.clone() }
        }
        Actor::Agent { id, .. } => Who::Agent(*id),
    }
}

fn definition(tool: &Registered, names: ToolNames) -> Result<Tool> {
    let spec = tool.spec();
    let raw = |schema: &serde_json::Value| to_raw_value(schema).map(Arc::from).map_err(Error::internal);
    Ok(Tool {
        name: tool.listed_name(names).into(),
        title: Some(spec.title.into()),
        description: spec.description.into(),
        input_schema: raw(tool.input_schema())?,
        output_schema: tool.output_schema().map(raw).transpose()?,
        annotations: Some(ToolAnnotations {
            read_only_hint: Some(spec.effect == Effect::ReadOnly),
            destructive_hint: Some(spec.effect == Effect::Destructive),
            idempotent_hint: Some(spec.idempotent),
            open_world_hint: Some(false),
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(count: usize) -> Vec<Tool> {
        let schema: Arc<RawValue> = Arc::from(to_raw_value(&serde_json::json!({"type": "object"})).unwrap());
        let tool = |index| Tool {
            name: format!("tool_{index}").into(),
            title: None,
            description: "".into(),
            input_schema: Arc::clone(&schema),
            output_schema: None,
            annotations: None,
        };
        (0..count).map(tool).collect()
    }

    #[test]
    fn pages_lead_to_one_another_and_hold_every_tool_once() {
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
