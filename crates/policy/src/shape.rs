//! What policies see of a tool's arguments: Cedar types from the tool's JSON Schema, and Cedar values from a call.
//!
//! Cedar has no unions and no open records. A member without a single type is left out, and the schema text says so.

use base::limits::{POLICY_ARGUMENTS_DEPTH_MAX, POLICY_ARGUMENTS_MEMBERS_MAX};
use cedar_policy::RestrictedExpression;
use serde_json::{Map, Number, Value};

use crate::reads::InputReads;

/// The type of one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    String,
    Long,
    Bool,
    Decimal,
    Set(Box<Shape>),
    Record(RecordShape),
}

/// The type of an object: the members that have a type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RecordShape {
    pub(crate) members: Vec<Member>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) optional: bool,
    pub(crate) shape: Shape,
}

/// A member that policies do not see, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LeftOut {
    pub(crate) path: String,
    pub(crate) reason: &'static str,
}

/// The shape of a tool's input, and the members that were left out.
pub(crate) fn of_input(schema: &Value) -> (RecordShape, Vec<LeftOut>) {
    let mut left_out = Vec::new();
    let record = match schema.get("properties") {
        Some(Value::Object(properties)) => record(schema, properties, "", 0, &mut left_out),
        _ => Ok(RecordShape::default()),
    };
    let record = record.unwrap_or_else(|reason| {
        left_out.push(LeftOut { path: String::new(), reason });
        RecordShape::default()
    });
    (record, left_out)
}

fn record(
    schema: &Value,
    properties: &Map<String, Value>,
    path: &str,
    depth: usize,
    left_out: &mut Vec<LeftOut>,
) -> Result<RecordShape, &'static str> {
    if depth >= POLICY_ARGUMENTS_DEPTH_MAX {
        return Err("it nests too deeply");
    }
    if properties.len() > POLICY_ARGUMENTS_MEMBERS_MAX {
        return Err("it has too many members");
    }
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    // Sorted by name, because the order of a JSON map depends on build settings and must not affect the schema.
    let mut properties: Vec<(&String, &Value)> = properties.iter().collect();
    properties.sort_by_key(|(name, _)| *name);
    let mut members = Vec::with_capacity(properties.len());
    for (name, property) in properties {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match shape(property, &path, depth + 1, left_out) {
            Ok((shape, nullable)) => {
                let optional = nullable || !required.contains(&name.as_str());
                members.push(Member { name: name.clone(), optional, shape });
            }
            Err(reason) => left_out.push(LeftOut { path, reason }),
        }
    }
    Ok(RecordShape { members })
}

/// The shape of one value and whether it can be null, or why it has none.
fn shape(schema: &Value, path: &str, depth: usize, left_out: &mut Vec<LeftOut>) -> Result<(Shape, bool), &'static str> {
    if depth > POLICY_ARGUMENTS_DEPTH_MAX {
        return Err("it nests too deeply");
    }
    let (kind, nullable) = match schema.get("type") {
        Some(Value::String(kind)) => (kind.as_str(), false),
        Some(Value::Array(kinds)) => only_kind(kinds)?,
        _ => return untyped(schema, path, depth, left_out),
    };
    let shape = match kind {
        "string" => Shape::String,
        "integer" => Shape::Long,
        "number" => Shape::Decimal,
        "boolean" => Shape::Bool,
        "array" => {
            let items = schema.get("items").filter(|items| items.is_object()).ok_or("its items have no type")?;
            let (items, null_items) = shape(items, &format!("{path}[]"), depth + 1, left_out)?;
            if null_items {
                return Err("its items may be null");
            }
            Shape::Set(Box::new(items))
        }
        "object" => match schema.get("properties") {
            Some(Value::Object(properties)) => Shape::Record(record(schema, properties, path, depth, left_out)?),
            _ => return Err("it is an object with arbitrary members"),
        },
        _ => return Err("policies do not support its type"),
    };
    Ok((shape, nullable))
}

/// The only type of a list of types, apart from null.
fn only_kind(kinds: &[Value]) -> Result<(&str, bool), &'static str> {
    let nullable = kinds.iter().any(|kind| kind == "null");
    let mut others = kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null");
    match (others.next(), others.next()) {
        (Some(kind), None) => Ok((kind, nullable)),
        _ => Err(UNION),
    }
}

const UNION: &str = "it can have several types";

/// A schema without `type`: an enumeration, or one alternative besides null.
fn untyped(schema: &Value, path: &str, depth: usize, left_out: &mut Vec<LeftOut>) -> Result<(Shape, bool), &'static str> {
    if let Some(Value::Array(values)) = schema.get("enum") {
        return of_values(values);
    }
    if let Some(value) = schema.get("const") {
        return of_values(std::slice::from_ref(value));
    }
    if let Some(Value::Array(alternatives)) = schema.get("anyOf").or_else(|| schema.get("oneOf")) {
        let is_null = |schema: &&Value| schema.get("type").is_some_and(|kind| kind == "null");
        let mut others = alternatives.iter().filter(|schema| !is_null(schema));
        return match (others.next(), others.next()) {
            (Some(alternative), None) => {
                let (shape, _) = shape(alternative, path, depth + 1, left_out)?;
                Ok((shape, true))
            }
            _ => Err(UNION),
        };
    }
    if schema.get("$ref").is_some() {
        return Err("its schema is a reference");
    }
    Err("it has no type")
}

/// The shape that all the listed values share.
fn of_values(values: &[Value]) -> Result<(Shape, bool), &'static str> {
    let mut found = None;
    for value in values.iter().filter(|value| !value.is_null()) {
        let shape = match value {
            Value::String(_) => Shape::String,
            Value::Bool(_) => Shape::Bool,
            Value::Number(number) if number.is_i64() => Shape::Long,
            _ => return Err(UNION),
        };
        if *found.get_or_insert_with(|| shape.clone()) != shape {
            return Err(UNION);
        }
    }
    let nullable = values.iter().any(Value::is_null);
    found.map(|shape| (shape, nullable)).ok_or("it can only be null")
}

/// A value that does not fit its shape. It names the position but not the value, which may be secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Misfit(String);

impl std::fmt::Display for Misfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl RecordShape {
    /// The part of a call's arguments that policies read, as a Cedar value.
    pub(crate) fn input(&self, arguments: &Value, reads: &InputReads) -> Result<RestrictedExpression, Misfit> {
        let Value::Object(arguments) = arguments else {
            return Err(Misfit("`context.input` is not an object".to_owned()));
        };
        let read = self.members.iter().filter(|member| reads.covers(&member.name));
        values(read, arguments, &Path { outer: None, name: "context.input" })
    }
}

fn values<'a>(
    members: impl Iterator<Item = &'a Member>,
    arguments: &Map<String, Value>,
    path: &Path<'_>,
) -> Result<RestrictedExpression, Misfit> {
    let mut fields = Vec::new();
    for member in members {
        let path = Path { outer: Some(path), name: &member.name };
        match arguments.get(&member.name) {
            None => {}
            Some(Value::Null) if member.optional => {}
            Some(argument) => fields.push((member.name.clone(), member.shape.value(argument, &path)?)),
        }
    }
    RestrictedExpression::new_record(fields).map_err(|error| path.misfit(&error.to_string()))
}

impl Shape {
    fn value(&self, argument: &Value, path: &Path<'_>) -> Result<RestrictedExpression, Misfit> {
        match (self, argument) {
            (Shape::String, Value::String(text)) => Ok(RestrictedExpression::new_string(text.clone())),
            (Shape::Bool, Value::Bool(flag)) => Ok(RestrictedExpression::new_bool(*flag)),
            (Shape::Long, Value::Number(number)) => {
                let long = long(number).ok_or_else(|| path.misfit("is not a whole number that policies support"))?;
                Ok(RestrictedExpression::new_long(long))
            }
            (Shape::Decimal, Value::Number(number)) => {
                let decimal = decimal(number).ok_or_else(|| path.misfit("is too large for policies"))?;
                Ok(RestrictedExpression::new_decimal(decimal))
            }
            (Shape::Set(items), Value::Array(arguments)) => {
                let values: Result<Vec<_>, _> = arguments.iter().map(|argument| items.value(argument, path)).collect();
                Ok(RestrictedExpression::new_set(values?))
            }
            (Shape::Record(record), Value::Object(arguments)) => values(record.members.iter(), arguments, path),
            _ => Err(path.misfit("does not have the type that the tool declares")),
        }
    }
}

/// The position of a value in the arguments. It becomes text only for an error.
struct Path<'a> {
    outer: Option<&'a Path<'a>>,
    name: &'a str,
}

impl Path<'_> {
    fn misfit(&self, what: &str) -> Misfit {
        Misfit(format!("`{}` {what}", self.spelled()))
    }

    fn spelled(&self) -> String {
        match self.outer {
            Some(outer) => format!("{}.{}", outer.spelled(), self.name.escape_debug()),
            None => self.name.to_owned(),
        }
    }
}

/// In JSON Schema, `3.0` is also an integer.
fn long(number: &Number) -> Option<i64> {
    number.as_i64().or_else(|| base::number::whole(number.as_f64().filter(|_| number.is_f64())?))
}

/// A number with Cedar's four decimals, if Cedar can represent it.
fn decimal(number: &Number) -> Option<String> {
    // ±(2^63 - 1) / 10,000, slightly reduced so that rounding cannot exceed it.
    const LARGEST: f64 = 922_337_203_685_477.0;
    if let Some(whole) = number.as_i64() {
        return (whole.unsigned_abs() <= 922_337_203_685_477).then(|| format!("{whole}.0"));
    }
    let double = number.as_f64()?;
    (double.abs() <= LARGEST).then(|| format!("{double:.4}"))
}
