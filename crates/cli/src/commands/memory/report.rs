//! `toolcrib memory report`: summarizes what is in memory.

use anyhow::Result;
use serde_json::Value;

use crate::output::{self, Column};
use crate::workplace::Workplace;

/// A section of the report: its heading, and the JSON pointers of its rows, its total count and its columns.
struct Section {
    heading: &'static str,
    rows: &'static str,
    count: Option<&'static str>,
    columns: &'static [Column],
}

const BRIEF: [Column; 5] =
    [("ID", "/id"), ("AGENT", "/agentId"), ("CREATED", "/createdAt"), ("WEIGHT", "/weight"), ("CONTENT", "/excerpt")];
const TALLY: [Column; 4] = [
    ("TIMES", "/count"),
    ("FIRST", "/observation/id"),
    ("CREATED", "/observation/createdAt"),
    ("CONTENT", "/observation/excerpt"),
];

const SECTIONS: [Section; 7] = [
    Section { heading: "types", rows: "/types", count: None, columns: &[("TYPE", "/type"), ("COUNT", "/count")] },
    Section { heading: "agents", rows: "/agents", count: None, columns: &[("AGENT", "/agentId"), ("COUNT", "/count")] },
    Section { heading: "stated by several agents", rows: "/duplicates/texts", count: Some("/duplicates/count"), columns: &TALLY },
    Section { heading: "near duplicates", rows: "/nearDuplicates", count: None, columns: &TALLY },
    Section {
        heading: "never recalled (oldest first)",
        rows: "/neverRecalled/observations",
        count: Some("/neverRecalled/count"),
        columns: &BRIEF,
    },
    Section {
        heading: "misleading, weight below 0.5 (worst first)",
        rows: "/misleading/observations",
        count: Some("/misleading/count"),
        columns: &BRIEF,
    },
    Section {
        heading: "largest",
        rows: "/largest",
        count: None,
        columns: &[("CHARACTERS", "/characters"), ("ID", "/id"), ("AGENT", "/agentId"), ("CONTENT", "/excerpt")],
    },
];

/// Maximum length of a text in the table, in characters.
const SHOWN_CHARS: usize = 60;

pub(super) async fn run(place: &Workplace, path: &str) -> Result<()> {
    let report = place.api.get(&place.path(path)).await?;
    place.print_as(&report, || report_text(&report))
}

fn report_text(report: &Value) -> String {
    let number = |pointer: &str| report.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
    let mut text = format!(
        "{} observations, {} embedded, {} waiting to be embedded; {} forgotten",
        number("/total"),
        number("/embedded"),
        number("/waiting"),
        number("/forgotten")
    );
    if number("/examined") < number("/total") {
        text.push_str(&format!("\nthe rest covers the newest {}", number("/examined")));
    }
    for section in &SECTIONS {
        let mut rows = report.pointer(section.rows).and_then(Value::as_array).cloned().unwrap_or_default();
        if rows.is_empty() {
            continue;
        }
        rows.iter_mut().for_each(shorten);
        let count = section.count.map(|count| format!(": {}", number(count))).unwrap_or_default();
        text.push_str(&format!("\n\n{}{count}\n{}", section.heading, output::table(&rows, section.columns, "")));
    }
    text
}

/// Shortens the excerpt of a row to one short line.
fn shorten(row: &mut Value) {
    for pointer in ["/excerpt", "/observation/excerpt"] {
        if let Some(Value::String(text)) = row.pointer_mut(pointer) {
            let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let short: String = line.chars().take(SHOWN_CHARS).collect();
            *text = if short.len() < line.len() { format!("{short}…") } else { line };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn empty_sections_are_left_out() {
        let empty = json!({"total": 0, "embedded": 0, "waiting": 0, "forgotten": 2, "examined": 0});
        assert_eq!(report_text(&empty), "0 observations, 0 embedded, 0 waiting to be embedded; 2 forgotten");
        let brief = |text: &str| json!({"id": "obs_1", "agentId": "a", "createdAt": "t", "weight": 0.25, "excerpt": text});
        let full = json!({"total": 200_000, "embedded": 199_999, "waiting": 1, "forgotten": 0, "examined": 100_000,
            "types": [{"type": "note", "count": 100_000}],
            "duplicates": {"count": 12, "texts": [{"count": 3, "observation": brief("two\nlines")}]},
            "misleading": {"count": 1, "observations": [brief(&"é".repeat(100))]}});
        let text = report_text(&full);
        assert!(text.contains("waiting to be embedded; 0 forgotten\nthe rest covers the newest 100000\n\ntypes\nTYPE  COUNT\n"));
        assert!(
            text.contains("\n\nstated by several agents: 12\nTIMES  FIRST  CREATED  CONTENT\n3      obs_1  t        two lines\n")
        );
        assert!(text.ends_with(&format!("0.25    {}…", "é".repeat(60))), "{text}");
    }
}
