//! Arguments that are also sent as headers (`x-mcp-header` in a tool's schema, `Mcp-Param-*` on the wire).
//!
//! The annotations are compiled once per tool and checked on every modern call over HTTP. Clients drop a tool with invalid
//! annotations, so [`ToolHeaders::of`] refuses it before it is listed.

use http::HeaderName;
use serde_json::{Map, Value};

use super::{Transport, headers};
use crate::fault::Fault;

const ANNOTATION: &str = "x-mcp-header";

/// The annotated properties of one input schema. Most tools have none.
#[derive(Clone, Debug, Default)]
pub struct ToolHeaders(Vec<Binding>);

#[derive(Clone, Debug)]
struct Binding {
    header: HeaderName,
    shown: String,
    path: Vec<String>,
}

impl Binding {
    /// The argument of this header. `null` counts as absent.
    fn value<'a>(&self, arguments: Option<&'a Value>) -> Option<&'a Value> {
        let found = arguments.and_then(|arguments| self.path.iter().try_fold(arguments, |value, name| value.get(name)));
        found.filter(|value| !value.is_null())
    }
}

impl ToolHeaders {
    /// Collects the annotations of an input schema.
    ///
    /// # Errors
    /// Names the invalid annotation and the rule. Only properties reached through `properties` alone are allowed, of type
    /// string, integer or boolean, under names that are header tokens and differ in more than case.
    pub fn of(input_schema: &Value) -> Result<Self, String> {
        let mut bindings: Vec<Binding> = Vec::new();
        // A schema may be nested as deeply as JSON allows, so the walk uses its own stack.
        let mut open = vec![(input_schema, Some(Vec::new()))];
        while let Some((schema, path)) = open.pop() {
            match (schema, path) {
                (Value::Object(members), Some(path)) => {
                    if let Some(annotation) = members.get(ANNOTATION) {
                        let binding = bind(annotation, members, &path)?;
                        if bindings.iter().any(|other| other.header == binding.header) {
                            return Err(format!("`{}` is used for two properties", binding.shown));
                        }
                        bindings.push(binding);
                    }
                    open.extend(inner(members, &path));
                }
                (Value::Object(members), None) => {
                    if members.get(ANNOTATION).is_some_and(Value::is_string) {
                        return Err(format!("`{ANNOTATION}` is in a place where no client looks for it"));
                    }
                    open.extend(members.iter().filter(|(key, _)| !is_data(key)).map(|(_, value)| (value, None)));
                }
                (Value::Array(items), _) => open.extend(items.iter().map(|item| (item, None))),
                _ => {}
            }
        }
        Ok(Self(bindings))
    }

    /// Whether there is nothing to check.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The headers for a call with these arguments, each with its value as text before encoding.
    pub fn of_arguments(&self, arguments: Option<&Value>) -> Vec<(HeaderName, String)> {
        let said = |binding: &Binding| {
            let value = binding.value(arguments)?;
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            Some((binding.header.clone(), text))
        };
        self.0.iter().filter_map(said).collect()
    }

    /// Checks a call's headers against its arguments.
    ///
    /// # Errors
    /// A header is missing although its argument is present, is malformed, or does not match.
    pub fn check(&self, transport: Transport<'_>, arguments: Option<&Value>) -> Result<(), Fault> {
        for binding @ Binding { header, shown, .. } in &self.0 {
            let value = binding.value(arguments);
            let said = headers::single(transport.0, header.as_str())?;
            match (value, said) {
                (None, None) => {}
                (Some(_), None) => return Err(Fault::header(shown, "is missing")),
                (None, Some(_)) => return Err(headers::mismatch(shown)),
                (Some(value), Some(said)) => {
                    if !is_same(value, &headers::decoded(shown, said)?) {
                        return Err(headers::mismatch(shown));
                    }
                }
            }
        }
        Ok(())
    }
}

/// The schemas inside `members`: only the ones under `properties` stay on the path.
fn inner<'s>(members: &'s Map<String, Value>, path: &[String]) -> Vec<(&'s Value, Option<Vec<String>>)> {
    let mut found = Vec::new();
    for (key, value) in members {
        match value {
            Value::Object(properties) if key == "properties" => {
                found.extend(properties.iter().map(|(name, schema)| (schema, Some([path, std::slice::from_ref(name)].concat()))));
            }
            _ if is_data(key) || key == ANNOTATION => {}
            _ => found.push((value, None)),
        }
    }
    found
}

/// Keywords whose values are data, not schemas.
fn is_data(key: &str) -> bool {
    matches!(key, "default" | "const" | "enum" | "examples")
}

fn bind(annotation: &Value, schema: &Map<String, Value>, path: &[String]) -> Result<Binding, String> {
    let Some(name) = annotation.as_str().filter(|name| !name.is_empty()) else {
        return Err(format!("`{ANNOTATION}` must be a header name"));
    };
    if path.is_empty() {
        return Err(format!("`{ANNOTATION}` belongs on a property, not on the schema"));
    }
    if !matches!(schema.get("type").and_then(Value::as_str), Some("string" | "integer" | "boolean")) {
        return Err(format!("`{name}`: only a string, an integer or a boolean can be sent as a header"));
    }
    let shown = format!("Mcp-Param-{name}");
    let header = HeaderName::from_bytes(shown.as_bytes()).map_err(|_| format!("`{name}` is not a header name"))?;
    Ok(Binding { header, shown, path: path.to_vec() })
}

/// Numbers are compared by value: `42.0` equals `42`.
fn is_same(value: &Value, said: &str) -> bool {
    match value {
        Value::String(text) => text == said,
        Value::Bool(flag) => said == if *flag { "true" } else { "false" },
        Value::Number(number) => {
            number.to_string() == said || said.parse::<f64>().is_ok_and(|said| number.as_f64() == Some(said))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{HeaderMap, HeaderValue};
    use serde_json::json;

    fn check(headers: &[(&'static str, &'static str)], arguments: Value) -> Option<String> {
        let schema = json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "deep": {"type": "object", "properties": {"count": {"type": "integer", "x-mcp-header": "Count"}}},
            "dry": {"type": "boolean", "x-mcp-header": "Dry"},
        }});
        let map: HeaderMap =
            headers.iter().map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value))).collect();
        let compiled = ToolHeaders::of(&schema).unwrap();
        let own: HeaderMap = compiled
            .of_arguments(Some(&arguments))
            .into_iter()
            .map(|(name, value)| (name, HeaderValue::from_bytes(value.as_bytes()).unwrap()))
            .collect();
        let plain = own.values().all(|value| value.to_str().is_ok());
        assert!(!plain || compiled.check(Transport(&own), Some(&arguments)).is_ok(), "what it says of itself passes");
        compiled.check(Transport(&map), Some(&arguments)).err().map(|fault| fault.error().message().to_owned())
    }

    #[test]
    fn headers_must_match_the_arguments() {
        assert_eq!(check(&[], json!({})), None);
        assert_eq!(check(&[], json!({"region": null})), None);
        assert_eq!(check(&[("mcp-param-region", " eu ")], json!({"region": "eu"})), None);
        assert_eq!(check(&[("mcp-param-region", "=?base64?ZcO8?=")], json!({"region": "eü"})), None);
        assert_eq!(check(&[("mcp-param-count", "42.0")], json!({"deep": {"count": 42}})), None);
        assert_eq!(check(&[("mcp-param-dry", "true")], json!({"dry": true})), None);
        let said = |what: &str| Some(format!("the header `Mcp-Param-{what}"));
        assert_eq!(check(&[], json!({"region": "eu"})), said("Region` is missing"));
        assert_eq!(check(&[("mcp-param-region", "us")], json!({"region": "eu"})), said("Region` does not match the body"));
        assert_eq!(check(&[("mcp-param-region", "us")], json!({})), said("Region` does not match the body"));
        assert_eq!(
            check(&[("mcp-param-region", "=?base64?ZQ?=")], json!({"region": "e"})),
            said("Region` has an invalid encoding")
        );
        assert_eq!(check(&[("mcp-param-count", "43")], json!({"deep": {"count": 42}})), said("Count` does not match the body"));
        assert_eq!(check(&[("mcp-param-dry", "True")], json!({"dry": true})), said("Dry` does not match the body"));
    }

    #[test]
    fn bad_annotations_are_refused() {
        let refused = |schema: Value| ToolHeaders::of(&schema).unwrap_err();
        let property = |schema: Value| json!({"type": "object", "properties": {"p": schema}});
        assert!(refused(json!({"x-mcp-header": "A"})).contains("belongs on a property"));
        assert!(refused(property(json!({"type": "string", "x-mcp-header": ""}))).contains("must be a header name"));
        assert!(refused(property(json!({"type": "string", "x-mcp-header": 1}))).contains("must be a header name"));
        assert!(refused(property(json!({"type": "string", "x-mcp-header": "a b"}))).contains("not a header name"));
        assert!(refused(property(json!({"type": "number", "x-mcp-header": "A"}))).contains("only a string"));
        assert!(
            refused(property(json!({"type": "array", "items": {"type": "string", "x-mcp-header": "A"}}))).contains("no client")
        );
        let twice =
            json!({"properties": {"a": {"type": "string", "x-mcp-header": "X"}, "b": {"type": "string", "x-mcp-header": "x"}}});
        assert!(refused(twice).contains("is used for two properties"));
    }

    #[test]
    fn data_and_similar_names_are_not_annotations() {
        let schema = json!({"default": {"x-mcp-header": "A"}, "properties": {"x-mcp-header": {"type": "string"}}, "$defs": {"x-mcp-header": {}}});
        assert!(ToolHeaders::of(&schema).unwrap().is_empty());
        assert!(ToolHeaders::of(&json!(true)).unwrap().is_empty());
    }
}
