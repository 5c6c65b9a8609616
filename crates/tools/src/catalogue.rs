//! A list of tools, lookup of a tool by any of its names, and the trait for sources of more tools.

use std::collections::{HashMap, HashSet};
use std::pin::Pin;
use std::sync::Arc;

use base::{Error, Kind, OrgId, Result};

use crate::shelf::{EmptyShelf, Shelf};
use crate::tool::Registered;
use crate::{bricks, code, conformance, graph, kits, memory};

/// The tools of the server or of one org, in listing order, with the resources and prompts on the shelf. A catalogue is
/// immutable: when an org's tools change, it gets a new one.
pub struct Catalogue {
    tools: Vec<Arc<Registered>>,
    by_name: HashMap<Box<str>, usize>,
    shelf: Arc<dyn Shelf>,
}

impl Catalogue {
    /// The built-in tools.
    pub fn builtin() -> Result<Self> {
        Self::of(Self::menu()?, Arc::new(EmptyShelf))
    }

    /// The built-in tools, followed by the fixtures of the official conformance suite.
    pub fn with_conformance() -> Result<Self> {
        let mut tools = Self::menu()?;
        tools.extend(conformance::tools()?);
        Self::of(tools, Arc::new(conformance::Fixtures))
    }

    fn menu() -> Result<Vec<Registered>> {
        Ok(vec![
            Registered::typed(bricks::CreateDraft)?,
            Registered::typed(bricks::List)?,
            Registered::typed(kits::CreateDraft)?,
            Registered::typed(kits::List)?,
            Registered::typed(kits::Get)?,
            Registered::typed(memory::Remember)?,
            Registered::typed(memory::Recall)?,
            Registered::typed(graph::Query)?,
            Registered::typed(graph::Neighbors)?,
            Registered::typed(graph::Path)?,
            Registered::typed(graph::Ingest)?,
            Registered::typed(graph::Improve)?,
            Registered::typed(code::RecordDecision)?,
            Registered::typed(code::GetPerformanceMetrics)?,
        ])
    }

    fn of(tools: Vec<Registered>, shelf: Arc<dyn Shelf>) -> Result<Self> {
        let count = tools.len();
        let catalogue = Self { tools: Vec::new(), by_name: HashMap::new(), shelf }.with(tools.into_iter().map(Arc::new));
        let spellings: usize = catalogue.tools.iter().map(|tool| tool.spec().spellings().collect::<HashSet<_>>().len()).sum();
        if catalogue.tools.len() != count || catalogue.by_name.len() != spellings {
            return Err(Error::internal("two built-in tools have the same name"));
        }
        Ok(catalogue)
    }

    /// These tools, followed by the tools that an org has registered. A registered tool is left out if its name is taken:
    /// built-in names win, then the earlier registration. If only an alias is taken, that alias keeps finding the first tool.
    pub fn with(&self, registered: impl IntoIterator<Item = Arc<Registered>>) -> Self {
        let (mut tools, mut by_name) = (self.tools.clone(), self.by_name.clone());
        for tool in registered {
            if by_name.contains_key(&*tool.spec().name) {
                continue;
            }
            for spelling in tool.spec().spellings() {
                by_name.entry(spelling.into()).or_insert(tools.len());
            }
            tools.push(tool);
        }
        Self { tools, by_name, shelf: Arc::clone(&self.shelf) }
    }

    /// All tools, in stable order.
    pub fn tools(&self) -> &[Arc<Registered>] {
        &self.tools
    }

    /// Resources, prompts and completions. The caller must check the shelf's scope first.
    pub fn shelf(&self) -> &dyn Shelf {
        &*self.shelf
    }

    /// Finds a tool by its name or an alias.
    pub fn find(&self, name: &str) -> Result<&Arc<Registered>> {
        self.by_name
            .get(name)
            .and_then(|index| self.tools.get(*index))
            .ok_or_else(|| Error::new(Kind::ToolNotFound, "unknown tool; call tools/list to see your tools").with("tool", name))
    }

    /// The canonical name of the tool with this name or alias.
    pub fn canonical(&self, name: &str) -> Option<&str> {
        self.find(name).ok().map(|tool| &*tool.spec().name)
    }
}

/// A kind of registration that provides tools to an org.
pub trait Source: Send + Sync {
    /// The tools that `org` gets from this source. `seen` is the version of an earlier offer, and `None` as the answer means
    /// that the offer has not changed. The server asks again only after the org's change number has moved, so every change to
    /// an offer must move that number.
    fn offer<'a>(&'a self, org: &'a OrgId, seen: Option<u64>) -> Offering<'a>;
}

/// The future of an offer.
pub type Offering<'a> = Pin<Box<dyn Future<Output = Result<Option<Offer>>> + Send + 'a>>;

/// The tools of one source.
#[derive(Clone, Debug, Default)]
pub struct Offer {
    /// A version that changes whenever the tools change.
    pub version: u64,
    /// The tools, in the order they were registered.
    pub tools: Vec<Arc<Registered>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_found_by_both_spellings() {
        let catalogue = Catalogue::builtin().unwrap();
        for tool in catalogue.tools() {
            let name = &*tool.spec().name;
            assert_eq!(catalogue.canonical(name), Some(name));
            let safe = tool.spec().safe_name();
            assert_eq!(catalogue.canonical(&safe), Some(name));
            assert!(safe.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-') && safe.len() <= 64);
        }
        assert_eq!(catalogue.find("bricks.publish").unwrap_err().kind(), Kind::ToolNotFound);
    }

    #[test]
    fn builtin_inputs_refuse_unknown_members() {
        for tool in Catalogue::builtin().unwrap().tools() {
            assert_eq!(tool.input_schema()["type"], "object", "{tool:?}");
            assert_eq!(tool.input_schema()["additionalProperties"], false, "{tool:?}");
        }
    }
}
