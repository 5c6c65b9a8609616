//! `toolcrib bench governance`: measures how much access checks, policies and the audit trail add to a call, and how fast a trail is
//! verified.
//!
//! The baseline is a no-op tool with the same access checks and audit entry as any other: the first fixture of the conformance
//! suite, which a server serves only with `--conformance`.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, ensure};
use audit::{Draft, EntryHash, Jwk, Jwks, SigningKey, Verifier};
use base::Timestamp;
use serde_json::json;
use tempfile::TempDir;

use crate::connection::{Connection, put};
use crate::doors::{Bench, no_op, ping};
use crate::report::{Aim, Report};
use crate::turns::Turns;

/// Options of a run.
#[derive(Clone, Debug)]
pub struct GovernanceOptions {
    /// The `toolcrib` binary to measure.
    pub binary: PathBuf,
    /// Rounds; in each, the variants take turns, and the median counts.
    pub rounds: u32,
    /// Entries in the audit trail to verify.
    pub entries: u64,
}

/// Runs every measurement.
pub async fn governance(options: &GovernanceOptions) -> Result<Report> {
    let folder = TempDir::with_prefix("toolcrib-bench-")?;
    let mut report = Report::default();
    let bench = Bench::start_with(&options.binary, folder.path(), &[("TOOLCRIB_CONFORMANCE", "1")]).await?;
    let bricks = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "bricks.list", "arguments": {"limit": 20}}});
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});

    let turns = Turns::take(options.rounds, &[bench.asked(&ping()), bench.asked(&no_op())]).await?;
    let [ping_us, recorded_us] = turns.medians();
    let details = format!("{recorded_us:.1} µs for a no-op with access checks and audit entry, {ping_us:.1} µs for a ping");
    let added = turns.median(|[ping, recorded]| recorded - ping);
    report.add("access checks and audit per call", added, "µs", details, Aim::AtMost(80.0, "≤ 80 µs"));

    // The policies apply only to the other tool, so the no-op costs the same before and after.
    let over_no_op = async || {
        let turns = Turns::take(options.rounds, &[bench.asked(&no_op()), bench.asked(&bricks)]).await?;
        anyhow::Ok(turns.median(|[no_op, bricks]| bricks - no_op))
    };
    let few = over_no_op().await?;
    for (count, aim) in [(20, Aim::AtMost(60.0, "≤ 60 µs")), (200, Aim::AtMost(200.0, "≤ 200 µs"))] {
        bench.put_policies(count).await?;
        let many = over_no_op().await?;
        let details = format!("{many:.1} µs more than a no-op, compared with {few:.1} µs with only the starter policy");
        let name = if count == 20 { "20 policies on the arguments" } else { "200 policies on the arguments" };
        report.add(name, many - few, "µs", details, aim);
    }
    bench.put_policies(50).await?;
    let turns = Turns::take(options.rounds, &[bench.asked(&ping()), bench.asked(&list)]).await?;
    let [ping_us, list_us] = turns.medians();
    let details = format!("{list_us:.1} µs for tools/list under 50 policies, {ping_us:.1} µs for a ping");
    let ratio = turns.median(|[ping, list]| list / ping);
    report.add("tools/list with 50 policies", ratio, "×", details, Aim::AtMost(3.0, "≤ 3 ×"));
    verification(options.entries, &mut report)?;
    Ok(report)
}

impl Bench {
    /// Saves `count` statements that all check the arguments of `bricks.list`.
    async fn put_policies(&self, count: usize) -> Result<()> {
        let statement = |number: usize| {
            format!(
                "forbid (principal, action == Action::\"bricks.list\", resource)\nwhen {{ context.input has limit && context.input.limit == {} }};\n",
                1_000 + number
            )
        };
        let cedar: String = (0..count).map(statement).collect();
        let path = format!("/api/org/{}/policies/bench", self.org);
        let request = put(&path, &self.key, &json!({ "cedar": cedar }).to_string());
        Connection::open(self.address).await?.json(&request, 200).await?;
        Ok(())
    }
}

/// Verifies a trail as an auditor would, and compares with checking signatures one by one on one thread.
fn verification(entries: u64, report: &mut Report) -> Result<()> {
    let key = SigningKey::generate();
    let (mut lines, mut previous, mut signed) = (Vec::new(), EntryHash::GENESIS, Vec::new());
    for sequence in 1..=entries {
        let prepared = draft(sequence).prepare()?;
        let sealed = prepared.seal(sequence, &previous, &key);
        prepared.entry(sequence, &previous, &sealed, &key).write_line(&mut lines);
        if sequence <= entries / 10 {
            signed.push((sealed.entry_hash, sealed.signature));
        }
        previous = sealed.entry_hash;
    }
    let jwks = Jwks { keys: vec![Jwk::new(key.verifying_key().clone(), Timestamp::from_ms(0))] };
    let began = Instant::now();
    let mut verifier = Verifier::new(&jwks, None, None);
    verifier.push_lines(lines.as_slice())?;
    let verdict = verifier.finish();
    let rate = entries as f64 / began.elapsed().as_secs_f64();
    ensure!(verdict.is_valid(), "the generated trail is broken: {verdict:?}");
    let began = Instant::now();
    let good = signed.iter().filter(|(hash, signature)| key.verifying_key().verifies(hash.as_bytes(), signature)).count();
    ensure!(good == signed.len(), "a generated signature is invalid");
    let one_by_one = signed.len() as f64 / began.elapsed().as_secs_f64();
    let details = format!(
        "{} bytes per entry; {one_by_one:.0} bare signatures per second on one thread",
        lines.len() as u64 / entries.max(1)
    );
    report.add("entries verified per second", rate, "/s", details, Aim::AtLeast(8_000.0, "≥ 8,000/s"));
    Ok(())
}

fn draft(number: u64) -> Draft {
    let id = format!("{number:026}");
    Draft {
        id: format!("evt_{id}").into(),
        workspace: "org_00000000000000000000000000".into(),
        occurred_at: Timestamp::from_ms(1_800_000_000_000),
        event_type: "call.completed".into(),
        actor_type: "session".into(),
        actor_id: Some("ses_00000000000000000000000000".into()),
        entity_type: Some("tool".into()),
        entity_id: Some("bricks.list".into()),
        request_id: Some(format!("req_{id}").into()),
        payload: json!({
            "outcome": "completed", "door": "session", "durationMs": 0.241, "startedAt": "2026-11-16T00:00:00.000Z",
            "argumentsDigest": format!("hmac-sha256:{number:064x}"),
            "decision": {"allowed": true, "policies": ["starter#own-tools"], "policySet": "0".repeat(64)},
        }),
    }
}
