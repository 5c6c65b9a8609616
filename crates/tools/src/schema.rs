//! Makes schemas from types and checks arguments against them, so that the listed schema is the enforced one.

use base::limits::VIOLATIONS_MAX;
use base::{Error, Result};
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// Reads `params.arguments` of one call, before its tool's schema checks them. Absent means none. Anything but an object is
/// refused.
pub(crate) fn arguments(raw: Option<&RawValue>) -> Result<Map<String, Value>> {
    let Some(raw) = raw else {
        return Ok(Map::default());
    };
    match serde_json::from_str(raw.get()) {
        Ok(Value::Object(mut members)) => {
            members.values_mut().for_each(whole_numbers);
            Ok(members)
        }
        Ok(_) => Err(Error::invalid("arguments", "`arguments` must be an object")),
        Err(error) => Err(Error::invalid("arguments", "`arguments` is not valid JSON").logged(error)),
    }
}

/// To JSON Schema, `10.0` and `1e1` are the integer 10. This makes them integers for everything after it too.
fn whole_numbers(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            if let Some(whole) = number.as_f64().and_then(base::number::whole) {
                *value = Value::from(whole);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(whole_numbers),
        Value::Object(members) => members.values_mut().for_each(whole_numbers),
        _ => {}
    }
}

/// The JSON Schema of a tool's input: no unknown members, no references, and no formats that only Rust knows.
pub(crate) fn input_schema<T: JsonSchema>() -> Value {
    let mut schema = generate::<T>(SchemaSettings::draft2020_12().for_deserialize());
    without_null(&mut schema);
    schema
}

/// The JSON Schema of a tool's `structuredContent` in all its forms: the payload; `error` if `isError` is true, because some
/// clients check that against the schema too; and `disabled` if the tool is off in the project.
pub(crate) fn output_schema<T: JsonSchema>(may_be_off: bool) -> Value {
    let mut schema = generate::<T>(SchemaSettings::draft2020_12().for_serialize());
    single_types(&mut schema);
    let required = schema.get_mut("required").map_or(json!([]), Value::take);
    let mut variants = vec![json!({ "required": required })];
    let mut also = |name: &str, property: Value| {
        variants.push(json!({ "required": [name] }));
        if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
            properties.insert(name.to_owned(), property);
        }
    };
    also(
        "error",
        json!({"type": "object", "description": "What is wrong, if isError is true: kind, message, details, parameter."}),
    );
    if may_be_off {
        also("disabled", json!({"type": "boolean", "const": true, "description": "The tool is off in this project."}));
    }
    if let Some(members) = schema.as_object_mut() {
        members.remove("required");
        members.insert("anyOf".to_owned(), variants.into());
    }
    schema
}

fn generate<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let generator = settings.with(|settings| settings.inline_subschemas = true).into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    if let Some(members) = schema.as_object_mut() {
        members.remove("$schema");
        members.remove("title");
    }
    without_rust_formats(&mut schema);
    schema
}

/// `"format": "uint32"` means nothing to a client, and the range next to it says the same.
fn without_rust_formats(schema: &mut Value) {
    if let Some(members) = schema.as_object_mut() {
        if members
            .get("format")
            .and_then(Value::as_str)
            .is_some_and(|format| format.starts_with("uint") || format.starts_with("int"))
        {
            members.remove("format");
        }
        members.values_mut().for_each(without_rust_formats);
    } else if let Some(items) = schema.as_array_mut() {
        items.iter_mut().for_each(without_rust_formats);
    }
}

/// A client leaves an optional argument out; it does not send null.
fn without_null(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::Array(types)) = members.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    members.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(variants)) = members.get_mut("enum") {
                variants.retain(|variant| !variant.is_null());
            }
            members.values_mut().for_each(without_null);
        }
        Value::Array(items) => items.iter_mut().for_each(without_null),
        _ => {}
    }
}

/// Several types in one `type` are legal, but some clients support only one, so each becomes a branch of an `anyOf`.
fn single_types(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::Array(types)) = members.get("type") {
                let branches: Vec<Value> = types.iter().map(|name| json!({ "type": name })).collect();
                members.remove("type");
                members.insert("anyOf".to_owned(), branches.into());
            }
            members.values_mut().for_each(single_types);
        }
        Value::Array(items) => items.iter_mut().for_each(single_types),
        _ => {}
    }
}

/// Compiles a schema. Tests compile all of ours, so an error here is a bug.
pub(crate) fn compile(schema: &Value) -> Result<Validator> {
    jsonschema::draft202012::new(schema).map_err(Error::internal)
}

/// Checks arguments. The first violation is the error's message, and `violations` lists all of them.
pub(crate) fn check(validator: &Validator, arguments: &Value) -> Result<()> {
    if let Some(parameter) = find_nul(arguments, String::new()) {
        let parameter = short(if parameter.is_empty() { "arguments" } else { &parameter });
        let message = format!("`{parameter}` contains a NUL character");
        return Err(Error::invalid(&parameter, message));
    }
    if validator.is_valid(arguments) {
        return Ok(());
    }
    let violations = validator.iter_errors(arguments).flat_map(|error| violations_of(&error));
    let violations: Vec<(String, String)> = violations.take(VIOLATIONS_MAX).collect();
    let Some((parameter, message)) = violations.first() else {
        return Err(Error::internal("arguments are invalid but no reason was given"));
    };
    let listed: Vec<Value> =
        violations.iter().map(|(parameter, message)| json!({"parameter": parameter, "message": message})).collect();
    Err(Error::invalid(parameter, message.clone()).with("violations", listed))
}

/// The maximum number of characters of a parameter's path to show. A caller can send a path of any length.
const PARAMETER_CHARS_MAX: usize = 200;

/// The parameters that an error is about, with a message for each. A message quotes only the parameter's name, never its value.
fn violations_of(error: &ValidationError<'_>) -> Vec<(String, String)> {
    let place = parameter_path(error.instance_path().as_str());
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let parameter = short(&joined(&place, property.as_str().unwrap_or_default()));
            let message = format!("`{parameter}` is required");
            vec![(parameter, message)]
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let violation = |member: &String| {
                let parameter = short(&joined(&place, member));
                let message = format!("`{parameter}` is not a parameter of this tool");
                (parameter, message)
            };
            unexpected.iter().take(VIOLATIONS_MAX).map(violation).collect()
        }
        _ => {
            let place = short(if place.is_empty() { "arguments" } else { &place });
            let message = format!("`{place}`: {}", error.masked_with("the value"));
            vec![(place, message)]
        }
    }
}

/// A path, cut off if it is too long to show.
fn short(parameter: &str) -> String {
    match parameter.char_indices().nth(PARAMETER_CHARS_MAX) {
        Some((end, _)) => format!("{}…", parameter.get(..end).unwrap_or(parameter)),
        None => parameter.to_owned(),
    }
}

fn joined(place: &str, member: &str) -> String {
    if place.is_empty() { member.to_owned() } else { format!("{place}.{member}") }
}

/// `/operations/0/position` as people write it: `operations[0].position`.
fn parameter_path(pointer: &str) -> String {
    let mut path = String::new();
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        if !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()) {
            path.push_str(&format!("[{part}]"));
        } else {
            path = joined(&path, &part);
        }
    }
    path
}

/// The first string that contains NUL, which no text column can hold.
fn find_nul(value: &Value, path: String) -> Option<String> {
    match value {
        Value::String(text) => text.contains('\0').then_some(path),
        Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| find_nul(item, format!("{path}[{index}]"))),
        Value::Object(members) => {
            members.iter().find_map(
                |(name, member)| {
                    if name.contains('\0') { Some(path.clone()) } else { find_nul(member, joined(&path, name)) }
                },
            )
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_become_readable_paths() {
        for (pointer, path) in
            [("", ""), ("/path", "path"), ("/operations/0/position", "operations[0].position"), ("/a~1b", "a/b")]
        {
            assert_eq!(parameter_path(pointer), path);
        }
    }

    #[test]
    fn whole_numbers_become_integers() {
        let read = |text: &str| arguments(Some(&RawValue::from_string(text.to_owned()).unwrap())).map(Value::Object).unwrap();
        assert_eq!(read(r#"{"a": 10.0, "b": [1e1, {"c": -0.0}]}"#), json!({"a": 10, "b": [10, {"c": 0}]}));
        for kept in [r#"{"a":0.5}"#, r#"{"a":1e300}"#, r#"{"a":18446744073709551615}"#, r#"{"a":"1.0"}"#] {
            assert_eq!(read(kept), serde_json::from_str::<Value>(kept).unwrap());
        }
    }

    #[test]
    fn violations_name_the_parameter_and_never_the_value() {
        let schema = json!({"type": "object", "additionalProperties": false, "required": ["name"],
            "properties": {"name": {"type": "string", "maxLength": 3}, "n": {"type": "integer", "minimum": 1}}});
        let validator = compile(&schema).unwrap();
        for (arguments, parameter) in [
            (json!({}), "name"),
            (json!({"name": "abc", "status": "x"}), "status"),
            (json!({"name": "secret"}), "name"),
            (json!({"name": 5}), "name"),
            (json!({"name": "abc", "n": 0}), "n"),
            (json!({"name": "a\0"}), "name"),
        ] {
            let error = check(&validator, &arguments).unwrap_err();
            assert_eq!(error.data()["parameter"], parameter, "{arguments}");
            assert!(!error.message().contains("secret"), "{}", error.message());
        }
        assert!(check(&validator, &json!({"name": "äöü"})).is_ok(), "lengths count characters");
    }

    #[test]
    fn every_violation_is_listed_and_messages_are_short() {
        let schema = json!({"type": "object", "additionalProperties": false, "required": ["a", "b"],
            "properties": {"a": {"type": "string"}, "b": {"type": "string"}, "n": {"type": "integer", "minimum": 1}}});
        let validator = compile(&schema).unwrap();
        let error = check(&validator, &json!({"n": 0, "x": 1, "y": 1})).unwrap_err();
        let mut parameters: Vec<_> =
            error.data()["violations"].as_array().unwrap().iter().map(|one| one["parameter"].as_str().unwrap()).collect();
        parameters.sort_unstable();
        assert_eq!(parameters, ["a", "b", "n", "x", "y"]);
        assert_eq!(error.data()["violations"][0]["message"], error.message());

        let many: Map<String, Value> = (0..10_000).map(|number| (format!("{number}{}", "ä".repeat(1_000)), json!(1))).collect();
        let error = check(&validator, &Value::Object(many)).unwrap_err();
        assert_eq!(error.data()["violations"].as_array().unwrap().len(), VIOLATIONS_MAX);
        assert!(Value::Object(error.data().clone()).to_string().len() < 50_000);
    }

    #[test]
    fn no_schema_lists_several_types_in_one_type() {
        fn check(tool: &str, schema: &Value) {
            match schema {
                Value::Object(members) => {
                    assert!(!members.get("type").is_some_and(Value::is_array), "{tool}: {schema}");
                    members.values().for_each(|member| check(tool, member));
                }
                Value::Array(items) => items.iter().for_each(|item| check(tool, item)),
                _ => {}
            }
        }
        for tool in crate::Catalogue::builtin().unwrap().tools() {
            check(&tool.spec().name, tool.input_schema());
            check(&tool.spec().name, tool.output_schema().unwrap());
        }
    }
}
