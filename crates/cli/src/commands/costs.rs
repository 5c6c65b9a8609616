//! `toolcrib costs`: shows call counts and durations of an org.

use anyhow::{Result, bail};
use base::{Clock, Timestamp};
use clap::{Args, ValueEnum};
use serde_json::Value;

use crate::client::encode;
use crate::duration::parse_seconds;
use crate::output::{self, Column};
use crate::workplace::ClientArgs;

/// Shows how many calls an org made, how many failed, and how long they took.
#[derive(Args, Debug)]
pub(crate) struct CostsArgs {
    #[command(flatten)]
    client: ClientArgs,
    /// Group by
    #[arg(long, value_name = "GROUP", default_value = "verb")]
    by: Group,
    /// Start: 12h or 7d ago, or an RFC 3339 time; rounded to whole hours
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// End, in the same format
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Group {
    /// Tools
    Verb,
    /// Registered agents
    Agent,
    /// Projects
    Project,
    /// Hours, newest first
    Hour,
}

impl Group {
    /// Its name in the query, and its column.
    fn name_and_column(self) -> (&'static str, Column) {
        match self {
            Group::Verb => ("verb", ("TOOL", "/verb")),
            Group::Agent => ("agent", ("AGENT", "/agentId")),
            Group::Project => ("project", ("PROJECT", "/projectId")),
            Group::Hour => ("hour", ("HOUR", "/hour")),
        }
    }
}

pub(crate) async fn run(args: CostsArgs) -> Result<()> {
    let place = args.client.workplace().await?;
    let (word, column) = args.by.name_and_column();
    let mut path = place.path(&format!("/costs?groupBy={word}"));
    for (name, time) in [("since", &args.since), ("until", &args.until)] {
        if let Some(time) = time {
            path.push_str(&format!("&{name}={}", encode(&parse_past(time)?.rfc3339())));
        }
    }
    let answer = place.api.get(&path).await?;
    place.print_as(&answer, || {
        let mut rows = answer.get("costs").and_then(Value::as_array).cloned().unwrap_or_default();
        let is_empty = rows.is_empty();
        // The total row has no group, so its group column says `total`.
        if let Some(Value::Object(mut total)) = answer.get("total").cloned() {
            total.insert(column.1.trim_start_matches('/').to_owned(), Value::from("total"));
            rows.push(Value::Object(total));
        }
        let columns = [column, ("CALLS", "/calls"), ("FAILED", "/failed"), ("MILLISECONDS", "/durationMs")];
        if is_empty { "no calls".to_owned() } else { output::table(&rows, &columns, "") }
    })
}

/// Parses a past time: a duration before now, or an RFC 3339 time.
fn parse_past(text: &str) -> Result<Timestamp> {
    if let Ok(seconds) = parse_seconds(text) {
        let ms = i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1_000);
        return Ok(Clock::system().now().plus_ms(-ms));
    }
    match Timestamp::parse_rfc3339(text) {
        Some(time) => Ok(time),
        None => bail!("`{text}` is not a time; write 12h, 7d, or 2027-01-31T12:00:00Z"),
    }
}
