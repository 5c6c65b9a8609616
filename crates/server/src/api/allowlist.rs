//! Lists of tools: ours in any spelling, and what could be a peer agent's.

use base::limits::ALLOWLIST_ENTRIES_MAX;
use serde::{Deserialize, Deserializer};
use tools::Catalogue;
use utoipa::openapi::schema::{AnyOfBuilder, ArrayBuilder, ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::error::{ApiError, Result};
use super::wire::bounded;

/// A peer's tool is `<slug>.<skill>`, its alias `a2a_<slug>_<skill>`. The peer may be registered later.
const PEER_TOOL: &str = r"^[a-z0-9][a-z0-9_-]*\.[^\u0000-\u001f\u007f-\u009f]+$";
const PEER_ALIAS: &str = "^a2a_[A-Za-z0-9_]+$";
const NAME_CHARS_MAX: usize = 300;

/// Names of tools, not yet known to exist.
pub(super) struct ToolList(Vec<String>);

impl ToolList {
    /// The canonical names. The first name that no tool can have is refused.
    pub(super) fn canonical(self, catalogue: &Catalogue) -> Result<Vec<String>> {
        let canonical = |name: String| match catalogue.canonical(&name) {
            Some(canonical) => Ok(canonical.to_owned()),
            None if is_peers(&name) => Ok(name),
            None => Err(ApiError::invalid(format!("there is no tool `{name}`"))),
        };
        self.0.into_iter().map(canonical).collect()
    }
}

fn is_peers(name: &str) -> bool {
    let slug_byte = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_' || byte == b'-';
    let is_tool = |(slug, skill): (&str, &str)| {
        let starts_well = slug.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        starts_well && slug.bytes().all(slug_byte) && !skill.is_empty() && !skill.chars().any(char::is_control)
    };
    let is_alias = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let short_enough = name.chars().count() <= NAME_CHARS_MAX;
    short_enough && (name.split_once('.').is_some_and(is_tool) || name.strip_prefix("a2a_").is_some_and(is_alias))
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
        let text = || ObjectBuilder::new().schema_type(Type::String);
        let peers = |pattern| text().pattern(Some(pattern)).max_length(Some(NAME_CHARS_MAX));
        let name = AnyOfBuilder::new()
            .item(text().enum_values(Some(names.flatten())))
            .item(peers(PEER_TOOL).description(Some("a peer agent's tool, `<slug>.<skill>`")))
            .item(peers(PEER_ALIAS).description(Some("the alias of a peer agent's tool")));
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
        for peers in ["vercel_ops.deploy", "code-review-agent.review", "a2a_vercel_ops_deploy", "x.Skill Nr. 1"] {
            assert_eq!(list(&[peers]), Some(vec![peers.to_owned()]));
        }
        for bad in ["", "bricks", "Bricks.list", ".x", "x.", "a2a_", "a2a_x-y", "x.\n", "-x.y"] {
            assert_eq!(list(&[bad]), None, "{bad:?}");
        }
    }
}
