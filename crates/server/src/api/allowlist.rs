//! Lists of tools, in any of their spellings.

use std::borrow::Cow;

use base::limits::ALLOWLIST_ENTRIES_MAX;
use base::near::nearest;
use serde::{Deserialize, Deserializer};
use tools::Catalogue;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::error::{ApiError, Result};
use super::wire::bounded;

/// Tool names that have not been checked yet.
pub(super) struct ToolList(Vec<String>);

impl ToolList {
    /// Returns the canonical names. Fails on the first unknown name.
    pub(super) fn canonical(self, catalogue: &Catalogue) -> Result<Vec<String>> {
        let canonical = |name: String| match catalogue.canonical(&name) {
            Some(canonical) => Ok(canonical.to_owned()),
            None => Err(ApiError::invalid(no_such_tool(catalogue, &name))),
        };
        self.0.into_iter().map(canonical).collect()
    }
}

/// Says that a tool does not exist, and suggests a similar one.
pub(super) fn no_such_tool(catalogue: &Catalogue, name: &str) -> String {
    let known = catalogue.tools().iter().map(|tool| &*tool.spec().name);
    match nearest(name, known) {
        Some(near) => format!("there is no tool `{name}`; did you mean `{near}`?"),
        None => format!("there is no tool `{name}`; `toolcrib tools` lists all tools"),
    }
}

impl<'de> Deserialize<'de> for ToolList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        bounded(Vec::deserialize(deserializer)?).map(Self)
    }
}

impl PartialSchema for ToolList {
    fn schema() -> RefOr<Schema> {
        // The server does not start if the catalogue cannot be built, so this fallback never reaches the document.
        let catalogue = Catalogue::builtin();
        let specs = catalogue.iter().flat_map(Catalogue::tools).map(|tool| tool.spec());
        let names = specs.flat_map(|spec| [Some(spec.name.clone()), Some(spec.safe_name()).filter(|safe| *safe != spec.name)]);
        let names = names.flatten().map(Cow::into_owned);
        let name = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names));
        ArrayBuilder::new().items(name).max_items(Some(ALLOWLIST_ENTRIES_MAX)).into()
    }
}

impl ToSchema for ToolList {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_tools_are_suggested() {
        let catalogue = Catalogue::builtin().unwrap();
        assert_eq!(no_such_tool(&catalogue, "bricks.lst"), "there is no tool `bricks.lst`; did you mean `bricks.list`?");
        assert_eq!(no_such_tool(&catalogue, "nosuch"), "there is no tool `nosuch`; `toolcrib tools` lists all tools");
    }

    #[test]
    fn entries_are_canonical_and_unknown_names_are_refused() {
        let catalogue = Catalogue::builtin().unwrap();
        let list = |names: &[&str]| ToolList(names.iter().map(|name| (*name).to_owned()).collect()).canonical(&catalogue).ok();
        assert_eq!(list(&["bricks_list", "kits.get"]), Some(vec!["bricks.list".to_owned(), "kits.get".to_owned()]));
        for bad in ["", "bricks", "Bricks.list", ".x", "x.", "a2a_", "x.\n", "vercel_ops.deploy", "a2a_vercel_ops_deploy"] {
            assert_eq!(list(&[bad]), None, "{bad:?}");
        }
    }
}
