//! Figures of this server, as Prometheus reads them.

use std::fmt::Write;
use std::sync::atomic::AtomicU64;

use guard::{CallRecord, Outcome};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct CallLabels {
    tool: String,
    door: &'static str,
    outcome: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RefusalLabels {
    door: &'static str,
    status: u16,
}

/// The counters of one server.
pub(crate) struct Metrics {
    registry: Registry,
    calls: Family<CallLabels, Counter>,
    call_seconds: Histogram,
    refusals: Family<RefusalLabels, Counter>,
    connections: Gauge<i64, std::sync::atomic::AtomicI64>,
    requests: Counter<u64, AtomicU64>,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("toolcrib");
        let calls = Family::<CallLabels, Counter>::default();
        let call_seconds = Histogram::new(exponential_buckets(0.000_05, 2.0, 18));
        let refusals = Family::<RefusalLabels, Counter>::default();
        let connections = Gauge::default();
        let requests = Counter::default();
        registry.register("calls", "Tool calls, by how they ended", calls.clone());
        registry.register("call_seconds", "How long tool calls took", call_seconds.clone());
        registry.register("door_refusals", "Requests refused before they became calls", refusals.clone());
        registry.register("connections", "Open connections", connections.clone());
        registry.register("requests", "HTTP requests", requests.clone());
        Self { registry, calls, call_seconds, refusals, connections, requests }
    }

    /// Counts a call.
    pub(crate) fn called(&self, call: &CallRecord) {
        // A name that no tool has is the caller's own text: it must not become a label.
        let unknown = call.outcome == Outcome::Refused(base::Kind::ToolNotFound);
        let tool = if unknown { "unknown".to_owned() } else { call.tool.to_string() };
        let labels = CallLabels { tool, door: call.door.word(), outcome: call.outcome.word() };
        self.calls.get_or_create(&labels).inc();
        self.call_seconds.observe(call.duration_us as f64 / 1e6);
    }

    /// Counts a refusal at a door or at the management API.
    pub(crate) fn refused(&self, door: &'static str, status: u16) {
        self.refusals.get_or_create(&RefusalLabels { door, status }).inc();
    }

    /// Counts a request.
    pub(crate) fn requested(&self) {
        self.requests.inc();
    }

    /// Counts a connection for as long as the answer is held.
    pub(crate) fn connected(&self) -> impl Drop + Send + use<> {
        self.connections.inc();
        Connected(self.connections.clone())
    }

    /// The figures as Prometheus reads them.
    pub(crate) fn text(&self) -> Result<String, std::fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        if let Some(bytes) = resident_bytes() {
            // Before the encoder's end mark, which closes the text.
            let end = text.rfind("# EOF").unwrap_or(text.len());
            text.truncate(end);
            writeln!(text, "# HELP toolcrib_resident_bytes Memory in use.\n# TYPE toolcrib_resident_bytes gauge")?;
            writeln!(text, "toolcrib_resident_bytes {bytes}\n# EOF")?;
        }
        Ok(text)
    }
}

struct Connected(Gauge<i64, std::sync::atomic::AtomicI64>);

impl Drop for Connected {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// This process's resident memory, where the machine tells.
fn resident_bytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split(' ').nth(1)?.parse().ok()?;
    Some(pages * 4096)
}
