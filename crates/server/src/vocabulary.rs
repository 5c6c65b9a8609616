//! What policies may speak of: one typed action for each tool in the catalogue.

use base::Result;
use guard::Effect;
use policy::{ActionKind, ActionSpec, Model};
use tools::{Catalogue, Registered};

/// The model of a server that has these tools.
pub(crate) fn of(catalogue: &Catalogue) -> Result<Model> {
    Model::build(catalogue.tools().iter().map(action))
}

fn action(tool: &Registered) -> ActionSpec<'_> {
    let spec = tool.spec();
    let kind = ActionKind::Tool { read_only: spec.effect == Effect::ReadOnly, destructive: spec.effect == Effect::Destructive };
    ActionSpec { name: spec.name, kind, input_schema: tool.input_schema() }
}
