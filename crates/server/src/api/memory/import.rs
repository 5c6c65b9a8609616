//! Imports observations into a project's memory: the lines of an export, or other notes.

use axum::Json;
use axum::extract::State;
use base::limits::IMPORT_LINES_MAX;
use base::{EventKind, Timestamp};
use guard::Event;
use knowledge::{Import, NewObservation};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::value::RawValue;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::body::{Body, Object, reason};
use crate::api::error::{ApiError, Result};
use crate::api::extract::{Nothing, Query};
use crate::api::in_project::InProject;
use crate::api::rights::MemoryWrite;
use crate::api::wire::{LineNumber, ObservationId, Time};
use crate::state::Shared;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(import))
}

/// Observations to import.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = MemoryImport)]
struct ImportRequest {
    /// The observations in chronological order. All of them are imported, or none.
    #[schema(value_type = Vec<Line>, max_items = 1000)]
    observations: Lines,
}

/// One line of `toolcrib memory export`. Only `content` is required.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schema(as = ImportedObservation)]
struct Line {
    #[schema(min_length = 1, max_length = 100_000)]
    content: String,
    /// Default: `note`.
    #[schema(max_length = 64)]
    r#type: Option<String>,
    #[schema(minimum = 0, maximum = 1)]
    confidence: Option<f64>,
    /// How useful it was. Default: 1.
    #[schema(minimum = 0, maximum = 1)]
    weight: Option<f64>,
    /// The original author. Stored with the prefix `import:`.
    #[schema(max_length = 200)]
    agent_id: Option<String>,
    /// The original session. Stored with the prefix `import:`.
    #[schema(max_length = 200)]
    session_id: Option<String>,
    /// When it was noted. Default: now.
    #[serde(default, deserialize_with = "created_at")]
    created_at: Option<Time>,
    /// Its line in a file, for error messages. Default: its position in the list.
    #[serde(rename = "line")]
    _line: Option<LineNumber>,
    /// Ignored. The observation gets a new id.
    #[serde(rename = "id")]
    _id: Option<ObservationId>,
    /// Ignored. Corroborations are counted again.
    #[serde(rename = "corroborations")]
    _corroborations: Option<i64>,
    /// Ignored. Forgotten observations are not exported.
    #[serde(rename = "forgottenAt")]
    _forgotten_at: Option<Time>,
}

/// Names the member in the error, because a line has many.
fn created_at<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Time>, D::Error> {
    let invalid = |text| de::Error::custom(format_args!("`createdAt` must be an RFC 3339 time, not `{text}`"));
    let read = |text: String| Timestamp::parse_rfc3339(&text).map(Time).ok_or_else(|| invalid(text));
    Option::<String>::deserialize(deserializer)?.map(read).transpose()
}

/// Lines that are parsed one by one, so that an error can name its line. Reading stops at the limit.
struct Lines(Vec<Box<RawValue>>);

impl<'de> Deserialize<'de> for Lines {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bounded;

        impl<'de> Visitor<'de> for Bounded {
            type Value = Lines;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a list of observations")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut given: A) -> Result<Lines, A::Error> {
                let mut lines = Vec::new();
                while let Some(line) = given.next_element()? {
                    if lines.len() == IMPORT_LINES_MAX {
                        let message = format_args!(
                            "an import may have at most {IMPORT_LINES_MAX} observations; send the rest in another one"
                        );
                        return Err(de::Error::custom(message));
                    }
                    lines.push(line);
                }
                Ok(Lines(lines))
            }
        }

        deserializer.deserialize_seq(Bounded)
    }
}

/// Parses one line. The error names its number.
fn read(place: usize, line: &RawValue) -> Result<Import> {
    #[derive(Deserialize)]
    struct Numbered {
        line: Option<u64>,
    }

    // The number is read separately, because an error needs it even if the rest of the line is invalid.
    let number = serde_json::from_str::<Numbered>(line.get()).ok().and_then(|numbered| numbered.line);
    let number = number.unwrap_or(place as u64 + 1);
    let read = serde_json::from_str::<Object<Line>>(line.get())
        .map_err(|error| ApiError::invalid(format!("line {number}: {}", reason(&error))))?;
    let Line { content, r#type, confidence, weight, agent_id, session_id, created_at, .. } = read.0;
    Ok(Import {
        new: NewObservation { content, kind: r#type, confidence },
        weight,
        agent: agent_id,
        session: session_id,
        created_at: created_at.map(|time| time.0),
        line: number,
    })
}

#[derive(Serialize, ToSchema)]
struct ImportedAnswer {
    /// The number of new observations.
    imported: u64,
    /// Observations that already existed, or appeared twice.
    duplicates: u64,
}

/// Imports notes, such as the lines of an export: at most 1000 at once, all or none. The original author is kept with the prefix
/// `import:`. Existing observations are skipped and counted, so that repeating an import changes nothing.
#[utoipa::path(
    post, path = "/api/org/{orgId}/projects/{projectId}/memory/import", operation_id = "importMemory", tag = "memory",
    params(InProject<MemoryWrite>), request_body = ImportRequest,
    responses(
        (status = 200, description = "The counts.", body = ImportedAnswer),
        InProject<MemoryWrite>, Body<ImportRequest>
    )
)]
async fn import(
    State(state): State<Shared>,
    access: InProject<MemoryWrite>,
    _: Query<Nothing>,
    Body(asked): Body<ImportRequest>,
) -> Result<Json<ImportedAnswer>> {
    let given = asked.observations.0;
    let event = Event::new(EventKind::MemoryImported, "project", access.project()).with("lines", given.len());
    let memory = access.changing_memory(event);
    let lines = given.iter().enumerate().map(|(place, line)| read(place, line)).collect::<Result<Vec<_>>>()?;
    let done = memory.import(lines).await?;
    if done.imported > 0 {
        state.services.indexes.pending.tell(*access.org(), *access.project());
    }
    Ok(Json(ImportedAnswer { imported: done.imported, duplicates: done.duplicates }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(text: &str) -> Result<usize, String> {
        serde_json::from_str::<Object<ImportRequest>>(text)
            .map(|body| body.0.observations.0.len())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn list_over_the_limit_is_refused() {
        assert_eq!(body(r#"{"observations": []}"#), Ok(0));
        assert_eq!(body(&format!(r#"{{"observations": [{}0]}}"#, "0,".repeat(999))), Ok(1_000));
        assert!(body(&format!(r#"{{"observations": [{}0]}}"#, "0,".repeat(1_000))).unwrap_err().contains("at most 1000"));
        assert!(body(r#"{"observations": {}}"#).is_err() && body(r#"{"observations": null}"#).is_err());
    }

    #[test]
    fn exactly_the_members_of_an_export_are_accepted() {
        let line = |text: &str| read(0, &RawValue::from_string(text.to_owned()).unwrap());
        let whole = r#"{"agentId": "a", "confidence": null, "content": "c", "corroborations": 1, "createdAt": "2025-11-15T21:21:39.0079+01:00",
            "forgottenAt": null, "id": "obs_01m7gkhf3m000b74c6jz07bn7j", "sessionId": "s", "type": "note", "weight": 0.85}"#;
        let read = line(whole).ok().unwrap();
        assert_eq!((read.weight, read.agent.as_deref(), read.line), (Some(0.85), Some("a"), 1));
        assert_eq!(read.created_at.unwrap().rfc3339(), "2025-11-15T20:21:39.007Z");
        assert!(line(r#"{"content": "c"}"#).is_ok());
        for bad in ["{}", "[]", "0", r#"{"content": "c", "metadata": {}}"#, r#"{"content": "c", "createdAt": "yesterday"}"#] {
            assert!(line(bad).is_err(), "{bad}");
        }
    }
}
