//! `toolcrib graph export` and `import`: facts as JSONL.

use std::io::Read;

use anyhow::{Context, Result, bail};
use base::limits::TRIPLETS_PER_CALL_MAX;
use base::{Clock, Timestamp};
use serde_json::{Map, Value, json};

use crate::door::{Door, RpcError};
use crate::opening::SessionArgs;
use crate::output;
use crate::workplace::{ProjectArg, Workplace};

/// The agent label of imported facts. `toolcrib graph rollback --agent label:import` retracts them.
const LABEL: &str = "import";
const TOOL: &str = "graph_ingest";
/// The counts in the tool's result.
const COUNTS: [&str; 4] = ["entitiesCreated", "tripletsCreated", "tripletsExisting", "superseded"];

/// Writes current facts, oldest first, so that an import states them in the original order.
pub(super) async fn export(place: &Workplace, path: &str) -> Result<()> {
    let answer = place.api.list(path, "triplets", u64::MAX).await?;
    let triplets = answer.get("triplets").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let now = Clock::system().now();
    for triplet in triplets.iter().rev().filter(|triplet| is_current(triplet, now)) {
        output::print_untrusted(&triplet.to_string())?;
    }
    Ok(())
}

/// Whether a fact is not superseded. A fact whose validity has ended is still current.
fn is_current(triplet: &Value, now: Timestamp) -> bool {
    let superseded_at = triplet.get("supersededAt").and_then(Value::as_str).and_then(Timestamp::parse_rfc3339);
    superseded_at.is_none_or(|time| time > now)
}

/// A fact and its line number.
type Line = (usize, Value);

/// States the facts of a file with the same tool that agents use. Importing a file again changes nothing.
pub(super) async fn import(place: &Workplace, project: &ProjectArg, file: &str) -> Result<()> {
    let text = match file {
        "-" => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).context("cannot read the facts from stdin")?;
            text
        }
        file => std::fs::read_to_string(file).with_context(|| format!("cannot read `{file}`"))?,
    };
    let facts = facts(&text)?;
    let how = SessionArgs { agent_label: Some(LABEL.to_owned()), tools: vec![TOOL.to_owned()], ..SessionArgs::default() };
    let state = async |door: &Door<'_>| state(door, &facts).await;
    let counts = Door::with(place, project, &how, state).await?;
    place.print_as(&counts, || {
        let count = |name: &str| counts.get(name).and_then(Value::as_u64).unwrap_or(0);
        let [entities, created, existing, superseded] = COUNTS.map(count);
        format!("{created} new fact(s), {existing} already known, {superseded} superseded; {entities} new entities")
    })
}

/// Parses all lines, so that nothing is stated if one is invalid.
fn facts(text: &str) -> Result<Vec<Line>> {
    let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    let fact = |(line, number): (&str, usize)| match serde_json::from_str(line) {
        Ok(Value::Object(members)) => Ok((number, stated(members))),
        Ok(_) => bail!("line {number} is not a JSON object"),
        Err(error) => Err(error).with_context(|| format!("line {number} is not valid JSON")),
    };
    lines.map(fact).collect()
}

/// Converts an exported fact to the tool's format. It drops members that the server sets itself, such as weights and times.
fn stated(members: Map<String, Value>) -> Value {
    if !members.contains_key("sourceEntity") {
        return Value::Object(members);
    }
    let is_set = |value: &&Value| !value.is_null() && value.as_str() != Some("");
    let entity = |name: &str, kind: &str| {
        let named = [("name", name), ("type", kind)];
        let set = named.into_iter().filter_map(|(as_stated, member)| Some((as_stated, members.get(member).filter(is_set)?)));
        Value::Object(set.map(|(member, value)| (member.to_owned(), value.clone())).collect())
    };
    let same = ["relationship", "description", "functional", "validFrom", "validTo"];
    let same = same.into_iter().filter_map(|member| Some((member.to_owned(), members.get(member).filter(is_set)?.clone())));
    let ends = [("source", entity("sourceEntity", "sourceType")), ("target", entity("targetEntity", "targetType"))];
    let ends = ends.map(|(member, entity)| (member.to_owned(), entity));
    Value::Object(same.chain(ends).collect())
}

async fn state(door: &Door<'_>, facts: &[Line]) -> Result<Value> {
    let mut counts = COUNTS.map(|_| 0);
    for chunk in facts.chunks(TRIPLETS_PER_CALL_MAX) {
        let triplets: Vec<&Value> = chunk.iter().map(|(_, fact)| fact).collect();
        let call = json!({"name": TOOL, "arguments": {"triplets": triplets}});
        let answer = door.request("tools/call", call).await.map_err(|error| with_line(error, chunk))?;
        // If the graph is off, its tools report that and do nothing.
        if answer.pointer("/structuredContent/disabled") == Some(&Value::Bool(true)) {
            bail!("the project's knowledge graph is off; turn it on with `toolcrib project set --memory on --graph on`");
        }
        for (count, name) in counts.iter_mut().zip(COUNTS) {
            *count += answer.pointer(&format!("/structuredContent/{name}")).and_then(Value::as_u64).unwrap_or(0);
        }
    }
    Ok(Value::Object(COUNTS.map(str::to_owned).into_iter().zip(counts.map(Value::from)).collect()))
}

/// Adds the line number to an error. A call is all or nothing, so no line of the chunk was stated.
fn with_line(error: anyhow::Error, chunk: &[Line]) -> anyhow::Error {
    let parameter = error.downcast_ref::<RpcError>().and_then(|error| error.0.pointer("/data/parameter")?.as_str());
    let place = parameter.and_then(|parameter| parameter.strip_prefix("triplets[")?.split(']').next()?.parse::<usize>().ok());
    let number = place.and_then(|place| chunk.get(place)).map(|(number, _)| *number);
    let first = chunk.first().map_or(1, |(number, _)| *number);
    match number {
        Some(number) => error.context(format!("line {number} was refused; lines before {first} are imported")),
        None => error.context(format!("lines before {first} are imported")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exported_facts_convert_to_the_tool_format() {
        let exported = json!({
            "id": "tri_1", "sourceEntity": "shop", "sourceId": "ent_1", "sourceType": "service", "relationship": "owned_by",
            "targetEntity": "red", "targetId": "ent_2", "targetType": "", "description": "", "functional": true, "weight": 0.7,
            "provenance": {}, "validFrom": "2026-01-01T00:00:00.000Z", "validTo": null, "supersededAt": null, "conflictsWith": [],
        });
        let expected = json!({
            "source": {"name": "shop", "type": "service"}, "relationship": "owned_by", "target": {"name": "red"},
            "functional": true, "validFrom": "2026-01-01T00:00:00.000Z",
        });
        let lines = format!("\n{exported}\n{expected}\n\n");
        assert_eq!(facts(&lines).unwrap(), [(2, expected.clone()), (3, expected)]);
    }

    #[test]
    fn invalid_line_is_reported_by_number() {
        let complaint = |text: &str| facts(text).unwrap_err().to_string();
        assert_eq!(complaint("{}\n\n[1]"), "line 3 is not a JSON object");
        assert_eq!(complaint("{}\n{"), "line 2 is not valid JSON");
    }

    #[test]
    fn refused_fact_is_reported_by_line_number() {
        let chunk = [(101, json!({})), (103, json!({}))];
        let refused = |parameter: &str| {
            let error = RpcError(json!({"code": -32602, "message": "no", "data": {"parameter": parameter}}));
            with_line(error.into(), &chunk).to_string()
        };
        assert_eq!(refused("triplets[1].relationship"), "line 103 was refused; lines before 101 are imported");
        assert_eq!(refused("triplets"), "lines before 101 are imported");
    }

    #[test]
    fn fact_is_current_until_it_is_superseded() {
        let now = Timestamp::from_ms(1_000);
        for (superseded_at, expected) in [(json!(null), true), (json!(now), false), (json!(now.plus_ms(1)), true)] {
            assert_eq!(is_current(&json!({"supersededAt": superseded_at}), now), expected);
        }
    }
}
