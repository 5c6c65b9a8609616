//! `toolcrib graph export` and `import`: facts as lines of JSON, out of one graph and into another.

use std::io::Read;

use anyhow::{Context, Result, bail};
use base::limits::TRIPLETS_PER_CALL_MAX;
use base::{Clock, Timestamp};
use serde_json::{Map, Value, json};

use crate::door::{Door, RpcError};
use crate::opening::SessionArgs;
use crate::output;
use crate::workplace::{ProjectArg, Workplace};

/// Whose facts imported ones are: `toolcrib graph rollback --agent label:import` takes them back.
const LABEL: &str = "import";
const TOOL: &str = "graph_ingest";
/// What the tool counts.
const COUNTS: [&str; 4] = ["entitiesCreated", "tripletsCreated", "tripletsExisting", "superseded"];

/// Writes what stands. Lists are newest first; read back, what was learned first should be stated first.
pub(super) async fn export(place: &Workplace, path: &str) -> Result<()> {
    let answer = place.api.list(path, "triplets", u64::MAX).await?;
    let triplets = answer.get("triplets").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let now = Clock::system().now();
    for triplet in triplets.iter().rev().filter(|triplet| stands(triplet, now)) {
        output::print(&triplet.to_string())?;
    }
    Ok(())
}

/// Whether nothing has taken a fact's place. What was true once, and is not any more, is still known.
fn stands(triplet: &Value, now: Timestamp) -> bool {
    let superseded_at = triplet.get("supersededAt").and_then(Value::as_str).and_then(Timestamp::parse_rfc3339);
    superseded_at.is_none_or(|time| time > now)
}

/// A fact, and the line it stands on.
type Line = (usize, Value);

/// States the facts of a file, through the door and in the form that agents use. Stating them again changes nothing.
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
        format!("{created} new fact(s), {existing} known already, {superseded} superseded; {entities} new entities")
    })
}

/// The facts of all lines: none is stated before all can be read.
fn facts(text: &str) -> Result<Vec<Line>> {
    let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    let fact = |(line, number): (&str, usize)| match serde_json::from_str(line) {
        Ok(Value::Object(members)) => Ok((number, stated(members))),
        Ok(_) => bail!("line {number} is no JSON object"),
        Err(error) => Err(error).with_context(|| format!("line {number} is no JSON")),
    };
    lines.map(fact).collect()
}

/// A fact as the tool takes it. What `export` wrote has more members than can be stated: weights and times are the server's own.
fn stated(members: Map<String, Value>) -> Value {
    if !members.contains_key("sourceEntity") {
        return Value::Object(members);
    }
    let is_said = |value: &&Value| !value.is_null() && value.as_str() != Some("");
    let entity = |name: &str, kind: &str| {
        let named = [("name", name), ("type", kind)];
        let said = named.into_iter().filter_map(|(as_stated, member)| Some((as_stated, members.get(member).filter(is_said)?)));
        Value::Object(said.map(|(member, value)| (member.to_owned(), value.clone())).collect())
    };
    let same = ["relationship", "description", "functional", "validFrom", "validTo"];
    let same = same.into_iter().filter_map(|member| Some((member.to_owned(), members.get(member).filter(is_said)?.clone())));
    let ends = [("source", entity("sourceEntity", "sourceType")), ("target", entity("targetEntity", "targetType"))];
    let ends = ends.map(|(member, entity)| (member.to_owned(), entity));
    Value::Object(same.chain(ends).collect())
}

async fn state(door: &Door<'_>, facts: &[Line]) -> Result<Value> {
    let mut counts = COUNTS.map(|_| 0);
    for chunk in facts.chunks(TRIPLETS_PER_CALL_MAX) {
        let triplets: Vec<&Value> = chunk.iter().map(|(_, fact)| fact).collect();
        let call = json!({"name": TOOL, "arguments": {"triplets": triplets}});
        let answer = door.request("tools/call", call).await.map_err(|error| on_its_line(error, chunk))?;
        // Where the graph is off, its tools say so and do nothing.
        if answer.pointer("/structuredContent/disabled") == Some(&Value::Bool(true)) {
            bail!("the project has no knowledge graph: `toolcrib project set --memory on --graph on` turns it on");
        }
        for (count, name) in counts.iter_mut().zip(COUNTS) {
            *count += answer.pointer(&format!("/structuredContent/{name}")).and_then(Value::as_u64).unwrap_or(0);
        }
    }
    Ok(Value::Object(COUNTS.map(str::to_owned).into_iter().zip(counts.map(Value::from)).collect()))
}

/// A refusal, with the line that it is about. A call is taken whole or not at all.
fn on_its_line(error: anyhow::Error, chunk: &[Line]) -> anyhow::Error {
    let parameter = error.downcast_ref::<RpcError>().and_then(|error| error.0.pointer("/data/parameter")?.as_str());
    let place = parameter.and_then(|parameter| parameter.strip_prefix("triplets[")?.split(']').next()?.parse::<usize>().ok());
    let number = place.and_then(|place| chunk.get(place)).map(|(number, _)| *number);
    let first = chunk.first().map_or(1, |(number, _)| *number);
    match number {
        Some(number) => error.context(format!("line {number} is refused; lines before {first} are in the graph")),
        None => error.context(format!("lines before {first} are in the graph")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_exported_is_stated_as_it_was() {
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
    fn a_line_that_cannot_be_read_is_named() {
        let complaint = |text: &str| facts(text).unwrap_err().to_string();
        assert_eq!(complaint("{}\n\n[1]"), "line 3 is no JSON object");
        assert_eq!(complaint("{}\n{"), "line 2 is no JSON");
    }

    #[test]
    fn a_refusal_names_the_line_in_the_file() {
        let chunk = [(101, json!({})), (103, json!({}))];
        let refused = |parameter: &str| {
            let error = RpcError(json!({"code": -32602, "message": "no", "data": {"parameter": parameter}}));
            on_its_line(error.into(), &chunk).to_string()
        };
        assert_eq!(refused("triplets[1].relationship"), "line 103 is refused; lines before 101 are in the graph");
        assert_eq!(refused("triplets"), "lines before 101 are in the graph");
    }

    #[test]
    fn what_will_be_superseded_still_stands() {
        let now = Timestamp::from_ms(1_000);
        for (superseded_at, expected) in [(json!(null), true), (json!(now), false), (json!(now.plus_ms(1)), true)] {
            assert_eq!(stands(&json!({"supersededAt": superseded_at}), now), expected);
        }
    }
}
