//! `toolcrib costs`: what an org's calls came to.

use anyhow::{Result, bail};
use base::{Clock, Timestamp};
use clap::{Args, ValueEnum};
use serde_json::Value;

use crate::client::encode;
use crate::duration::parse_seconds;
use crate::output::{self, Column};
use crate::workplace::ClientArgs;

/// What an org's calls came to: how many, how many did not complete, and how long they took.
#[derive(Args, Debug)]
pub(crate) struct CostsArgs {
    #[command(flatten)]
    client: ClientArgs,
    /// What the sums are by
    #[arg(long, value_name = "GROUP", default_value = "verb")]
    by: Group,
    /// From when on: 12h or 7d ago, or a time in RFC 3339; whole hours
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Until when
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
    /// Its word in the query, and the column that shows it.
    fn spelled(self) -> (&'static str, Column) {
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
    let (word, column) = args.by.spelled();
    let mut path = place.path(&format!("/costs?groupBy={word}"));
    for (name, time) in [("since", &args.since), ("until", &args.until)] {
        if let Some(time) = time {
            path.push_str(&format!("&{name}={}", encode(&moment(time)?.rfc3339())));
        }
    }
    let answer = place.api.get(&path).await?;
    place.print_as(&answer, || {
        let mut rows = answer.get("costs").and_then(Value::as_array).cloned().unwrap_or_default();
        let nothing = rows.is_empty();
        // The total is about none of the groups, so it has a name of its own in their column.
        if let Some(Value::Object(mut total)) = answer.get("total").cloned() {
            total.insert(column.1.trim_start_matches('/').to_owned(), Value::from("total"));
            rows.push(Value::Object(total));
        }
        let columns = [column, ("CALLS", "/calls"), ("FAILED", "/failed"), ("MILLISECONDS", "/durationMs")];
        if nothing { "no calls".to_owned() } else { output::table(&rows, &columns, "") }
    })
}

/// A time that is over: a span before now, or the time itself.
fn moment(text: &str) -> Result<Timestamp> {
    if let Ok(seconds) = parse_seconds(text) {
        let ms = i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1_000);
        return Ok(Clock::system().now().plus_ms(-ms));
    }
    match Timestamp::parse_rfc3339(text) {
        Some(time) => Ok(time),
        None => bail!("`{text}` is no time: write 12h, 7d, or 2027-01-31T12:00:00Z"),
    }
}
