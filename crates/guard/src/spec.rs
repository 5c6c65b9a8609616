//! What the gate needs to know about a tool. The tools themselves are in `tools`.

use std::borrow::Cow;

use base::{Principal, Scope};

/// A tool's names and rights. Those of built-in tools are known at compile time.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The canonical name.
    pub name: Cow<'static, str>,
    /// Other spellings. The first one has no dot; without one, it is derived from the name.
    pub aliases: Vec<String>,
    /// A short title for people.
    pub title: Cow<'static, str>,
    /// A description for agents that choose a tool.
    pub description: Cow<'static, str>,
    /// The scope it needs.
    pub scope: Scope,
    /// What must be enabled in the project.
    pub needs: Capability,
    /// Its effect on data.
    pub effect: Effect,
    /// Whether repeating a call changes nothing more.
    pub idempotent: bool,
}

impl Spec {
    /// The spelling without a dot, for clients that reject dots. Equal to the name if that has none.
    pub fn safe_name(&self) -> Cow<'_, str> {
        match self.aliases.first() {
            Some(alias) => Cow::Borrowed(alias),
            None if self.name.contains('.') => Cow::Owned(self.name.replace('.', "_")),
            None => Cow::Borrowed(&self.name),
        }
    }

    /// Every spelling, the name first.
    pub fn spellings(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let further = self.aliases.iter().skip(1).map(|alias| Cow::Borrowed(alias.as_str()));
        [Cow::Borrowed(&*self.name), self.safe_name()].into_iter().chain(further)
    }
}

/// What must be enabled in a project or org for a tool to exist there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// Nothing: it always exists.
    Always,
    /// The caller has a project.
    Project,
    /// The project has code: a root, or files that were written through the tools.
    Code,
    /// Memory is on for the project.
    Memory,
    /// Memory is on, and the graph is on for the project or in the org's plan.
    Graph,
}

impl Capability {
    /// Whether it is enabled for `principal`.
    pub fn held_by(self, principal: &Principal) -> bool {
        let project = principal.project.as_ref();
        let memory = project.is_some_and(|project| project.memory_enabled);
        match self {
            Capability::Always => true,
            Capability::Project => project.is_some(),
            Capability::Code => project.is_some_and(|project| project.has_code),
            Capability::Memory => memory,
            Capability::Graph => memory && (principal.plan_has_graph || project.is_some_and(|project| project.graph_enabled)),
        }
    }
}

/// A tool's effect on data, as in its annotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It only reads.
    ReadOnly,
    /// It only adds data.
    Additive,
    /// It may change or remove data.
    Destructive,
}
