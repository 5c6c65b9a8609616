//! The input schemas against the published ones: names, types, enums, defaults, ranges and what is required.

use serde_json::{Map, Value};

use crate::Catalogue;

/// The published input schemas without their descriptions.
const PUBLISHED: &str = include_str!("published.json");
/// What our schemas may have beyond them.
const OURS: [&str; 3] = ["expected_sha256", "limit", "cursor"];
/// Tools that are not built yet.
const LATER: [&str; 2] = ["create_session", "sync_document"];

/// Compares two schemas. Ours may add limits, which the published ones leave open.
fn compare(place: &str, published: &Value, ours: &Value) {
    for word in ["type", "enum", "default", "minimum", "maximum"] {
        if let Some(published) = published.get(word) {
            assert_eq!(Some(published), ours.get(word), "{place}: {word}");
        }
    }
    assert_eq!(published.get("default").is_some(), ours.get("default").is_some(), "{place}: default");
    if let Some(items) = published.get("items") {
        compare(&format!("{place}[]"), items, &ours["items"]);
    }
    let none = Map::new();
    let members = |schema: &Value| schema.get("properties").and_then(Value::as_object).unwrap_or(&none).clone();
    let (published_members, our_members) = (members(published), members(ours));
    for (name, member) in &published_members {
        compare(&format!("{place}.{name}"), member, our_members.get(name).unwrap_or_else(|| panic!("{place} has no `{name}`")));
    }
    for name in our_members.keys() {
        assert!(published_members.contains_key(name) || OURS.contains(&name.as_str()), "{place} has `{name}`");
    }
    let required = |schema: &Value| {
        let mut names: Vec<String> =
            schema["required"].as_array().into_iter().flatten().map(|name| name.as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(required(published), required(ours), "{place}: required");
}

#[test]
fn input_schemas_are_the_published_ones() {
    let (catalogue, published) = (Catalogue::builtin().unwrap(), serde_json::from_str::<Map<String, Value>>(PUBLISHED).unwrap());
    assert_eq!(published.len(), 12);
    for (name, schema) in published.iter().filter(|(name, _)| !LATER.contains(&name.as_str())) {
        compare(name, schema, catalogue.find(name).unwrap().input_schema());
    }
}
