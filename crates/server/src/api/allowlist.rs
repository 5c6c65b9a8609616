//! Lists of tools, in any of their spellings.

use base::limits::ALLOWLIST_ENTRIES_MAX;
use serde::{Deserialize, Deserializer};
use tools::Catalogue;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::error::{ApiError, Result};
use super::wire::bounded;

/// Names of tools, not yet known to exist.
pub(super) struct ToolList(Vec<String>);

impl ToolList {
    /// The canonical names. The first name that no tool has is refused.
    pub(super) fn canonical(self, catalogue: &Catalogue) -> Result<Vec<String>> {
        let canonical = |name: String| match catalogue.canonical(&name) {
            Some(canonical) => Ok(canonical.to_owned()),
            None => Err(ApiError::invalid(format!("there is no tool `{name}`: `toolcrib tools` lists those there are"))),
        };
        self.0.into_iter().map(canonical).collect()
    }
}

impl<'de> Deserialize<'de> for ToolList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        bounded(Vec::deserialize(deserializer)?).map(Self)
    }
}

impl PartialSchema for ToolList {
    fn schema() -> RefOr<Schema> {
        // A catalogue that cannot be built keeps the server from starting: there is no document of it to be wrong.
        let catalogue = Catalogue::builtin();
        let specs = catalogue.iter().flat_map(Catalogue::tools).map(|tool| tool.spec());
        let names = specs.flat_map(|spec| [Some(spec.name.to_owned()), Some(spec.safe_name()).filter(|safe| safe != spec.name)]);
        let name = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names.flatten()));
        ArrayBuilder::new().items(name).max_items(Some(ALLOWLIST_ENTRIES_MAX)).into()
    }
}

impl ToSchema for ToolList {}

#[cfg(test)]
mod tests {
    use super::*;

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
