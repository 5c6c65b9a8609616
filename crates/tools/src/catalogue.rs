//! The list of all tools, and finding one by any of its spellings.

use std::collections::HashMap;

use base::{Error, Kind, Result, ToolNames};

use crate::shelf::{EmptyShelf, Shelf};
use crate::tool::Registered;
use crate::{bricks, conformance, graph, kits, memory};

/// Every tool this server has, in the order they are listed, and what else it offers.
pub struct Catalogue {
    tools: Vec<Registered>,
    by_name: HashMap<String, usize>,
    shelf: Box<dyn Shelf>,
}

impl Catalogue {
    /// The product's own tools: the menu.
    pub fn builtin() -> Result<Self> {
        Self::of(Self::menu()?, Box::new(EmptyShelf))
    }

    /// The menu, and after it what the official conformance suite expects to find on a server.
    pub fn with_conformance() -> Result<Self> {
        let mut tools = Self::menu()?;
        tools.extend(conformance::tools()?);
        Self::of(tools, Box::new(conformance::Fixtures))
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
        ])
    }

    fn of(tools: Vec<Registered>, shelf: Box<dyn Shelf>) -> Result<Self> {
        let mut by_name = HashMap::new();
        for (index, tool) in tools.iter().enumerate() {
            for name in [tool.spec().name.to_owned(), tool.spec().safe_name()] {
                if by_name.insert(name, index).is_some_and(|other| other != index) {
                    return Err(Error::internal(format_args!("two tools answer to {}", tool.spec().name)));
                }
            }
        }
        Ok(Self { tools, by_name, shelf })
    }

    /// All tools, in stable order.
    pub fn tools(&self) -> &[Registered] {
        &self.tools
    }

    /// What there is beside tools. Whoever asks for a client checks the shelf's scope first.
    pub fn shelf(&self) -> &dyn Shelf {
        &*self.shelf
    }

    /// The tool that answers to `name`.
    pub fn find(&self, name: &str) -> Result<&Registered> {
        self.by_name
            .get(name)
            .and_then(|index| self.tools.get(*index))
            .ok_or_else(|| Error::new(Kind::ToolNotFound, "there is no tool of that name").with("tool", name))
    }

    /// The canonical name of a tool, whichever of its spellings `name` is.
    pub fn canonical(&self, name: &str) -> Option<&'static str> {
        self.find(name).ok().map(|tool| tool.spec().name)
    }
}

impl Registered {
    /// The name under which this tool is listed.
    pub fn listed_name(&self, names: ToolNames) -> String {
        match names {
            ToolNames::Canonical => self.spec().name.to_owned(),
            ToolNames::Safe => self.spec().safe_name(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_answers_to_both_spellings() {
        let catalogue = Catalogue::builtin().unwrap();
        for tool in catalogue.tools() {
            let name = tool.spec().name;
            assert_eq!(catalogue.canonical(name), Some(name));
            let safe = tool.spec().safe_name();
            assert_eq!(catalogue.canonical(&safe), Some(name));
            assert!(safe.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-') && safe.len() <= 64);
        }
        assert_eq!(catalogue.find("bricks.publish").unwrap_err().kind(), Kind::ToolNotFound);
    }

    #[test]
    fn our_own_inputs_are_closed_objects() {
        for tool in Catalogue::builtin().unwrap().tools() {
            assert_eq!(tool.input_schema()["type"], "object", "{tool:?}");
            assert_eq!(tool.input_schema()["additionalProperties"], false, "{tool:?}");
        }
    }
}
