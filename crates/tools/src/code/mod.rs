//! The code family. The text of an answer is its payload as JSON.

mod get_performance_metrics;
mod record_decision;
mod window;

pub(crate) use get_performance_metrics::GetPerformanceMetrics;
pub(crate) use record_decision::RecordDecision;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema;
    use crate::tool::Tool;
    use serde_json::{Value, json};

    /// The schema of a tool's arguments without descriptions, which are ours.
    fn schema_of<T: Tool>() -> Value {
        let mut schema = schema::input_schema::<T::Input>();
        for property in schema["properties"].as_object_mut().unwrap().values_mut() {
            property.as_object_mut().unwrap().shift_remove("description");
        }
        schema
    }

    #[test]
    fn inputs_are_those_of_the_reference() {
        let decision = schema_of::<RecordDecision>();
        assert_eq!(decision["required"], json!(["decision", "reasoning"]));
        assert_eq!(
            decision["properties"],
            json!({
                "decision": {"type": "string"},
                "reasoning": {"type": "string"},
                "context": {"type": "object", "additionalProperties": true},
                "confidence": {"type": "number", "format": "double", "minimum": 0.0, "maximum": 1.0},
                "alternatives": {"type": "array", "items": {"type": "string"}},
                "impact": {"type": "string", "enum": ["low", "medium", "high", "critical"]},
            })
        );
        let metrics = schema_of::<GetPerformanceMetrics>();
        assert_eq!(metrics.get("required"), None);
        let types = json!(["latency", "throughput", "memory", "errors", "health"]);
        assert_eq!(
            metrics["properties"],
            json!({
                "metric_types": {
                    "type": "array",
                    "items": {"type": "string", "enum": types},
                    "default": ["latency", "throughput", "health"],
                },
                "time_window": {"type": "string", "default": "1h"},
                "include_percentiles": {"type": "boolean", "default": true},
            })
        );
    }
}
