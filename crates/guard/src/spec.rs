//! What the gate needs to know of a tool. The tool itself lives in `tools`.

use base::{Principal, Scope};

/// A tool's name and rights, known at compile time.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// The canonical name.
    pub name: &'static str,
    /// A short human title.
    pub title: &'static str,
    /// What it does, for the agent that must choose.
    pub description: &'static str,
    /// The scope it takes.
    pub scope: Scope,
    /// What must be on in the project.
    pub needs: Capability,
    /// What it does to the world.
    pub effect: Effect,
    /// Whether the same call again changes nothing more.
    pub idempotent: bool,
}

impl Spec {
    /// The spelling without a dot, for clients that break on one. The same as the name where there is none.
    pub fn safe_name(&self) -> String {
        self.name.replace('.', "_")
    }
}

/// What a project, or the org, must have for a tool to exist in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// Nothing: it is always there.
    Always,
    /// Memory is on for the project.
    Memory,
    /// Memory is on, and the graph is on for the project or in the org's plan.
    Graph,
    /// The caller works in a project.
    Project,
}

impl Capability {
    /// Whether `principal` has it.
    pub fn held_by(self, principal: &Principal) -> bool {
        let project = principal.project.as_ref();
        let memory = project.is_some_and(|project| project.memory_enabled);
        match self {
            Capability::Always => true,
            Capability::Project => project.is_some(),
            Capability::Memory => memory,
            Capability::Graph => memory && (principal.plan_has_graph || project.is_some_and(|project| project.graph_enabled)),
        }
    }
}

/// What a tool does to the world, as its annotations say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It only reads.
    ReadOnly,
    /// It adds, and nothing that was there is lost.
    Additive,
    /// It may change or remove what was there.
    Destructive,
}
