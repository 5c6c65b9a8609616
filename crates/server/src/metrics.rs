//! Prometheus metrics.

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::atomic::AtomicU64;

use guard::CallRecord;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use crate::hooks::{Phase, Subscriber, VerbEvent};

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct CallLabels {
    tool: &'static str,
    door: &'static str,
    outcome: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RefusalLabels {
    door: &'static str,
    status: u16,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct DenialLabels {
    reason: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct TrialLabels {
    would_be: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct DeliveryLabels {
    outcome: &'static str,
}

/// The size of the code that this node has loaded.
#[derive(Default)]
struct CodeGauges {
    projects: Gauge,
    files: Gauge,
    indexed: Gauge,
    passages: Gauge,
    waiting: Gauge,
}

/// The metrics of one server. It counts calls as a subscriber of the hook bus.
pub(crate) struct Metrics {
    registry: Registry,
    calls: Family<CallLabels, Counter>,
    calls_in_flight: Gauge<i64, std::sync::atomic::AtomicI64>,
    call_seconds: Histogram,
    denials: Family<DenialLabels, Counter>,
    trials: Family<TrialLabels, Counter>,
    deliveries: Family<DeliveryLabels, Counter>,
    hook_panics: Counter,
    embed_waiting: Gauge<i64, std::sync::atomic::AtomicI64>,
    embed_failures: Counter,
    code: CodeGauges,
    refusals: Family<RefusalLabels, Counter>,
    connections: Gauge<i64, std::sync::atomic::AtomicI64>,
    turned_away: Counter,
    requests: Counter<u64, AtomicU64>,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("toolcrib");
        let calls = Family::<CallLabels, Counter>::default();
        let call_seconds = Histogram::new(exponential_buckets(0.000_05, 2.0, 18));
        let calls_in_flight = Gauge::default();
        let denials = Family::<DenialLabels, Counter>::default();
        let trials = Family::<TrialLabels, Counter>::default();
        let deliveries = Family::<DeliveryLabels, Counter>::default();
        let hook_panics = Counter::default();
        let (embed_waiting, embed_failures) = (Gauge::default(), Counter::default());
        let refusals = Family::<RefusalLabels, Counter>::default();
        let connections = Gauge::default();
        let turned_away = Counter::default();
        let requests = Counter::default();
        registry.register("calls", "Tool calls, by outcome", calls.clone());
        registry.register("calls_in_flight", "Tool calls in progress", calls_in_flight.clone());
        registry.register("policy_denials", "Tool calls denied by policy, by reason", denials.clone());
        registry.register("policy_log_only", "Tool calls that log-only policies would have decided differently", trials.clone());
        registry.register("webhook_deliveries", "Webhook deliveries, by outcome", deliveries.clone());
        registry.register("hook_panics", "Panics of hook bus subscribers", hook_panics.clone());
        registry.register("embed_texts_waiting", "Texts waiting to be embedded by this node", embed_waiting.clone());
        registry.register("embed_failures", "Failures of the embedding endpoint", embed_failures.clone());
        let code = CodeGauges::default();
        registry.register("code_projects", "Projects whose code is loaded on this node", code.projects.clone());
        registry.register("code_files", "Files of loaded projects", code.files.clone());
        registry.register("code_files_indexed", "Files of loaded projects that are indexed", code.indexed.clone());
        registry.register("code_passages", "Passages of loaded projects that keywords find", code.passages.clone());
        registry.register("code_passages_waiting", "Passages of loaded projects waiting to be embedded", code.waiting.clone());
        registry.register("call_seconds", "Duration of tool calls", call_seconds.clone());
        registry.register("door_refusals", "Requests refused before they became calls", refusals.clone());
        registry.register("connections", "Open connections", connections.clone());
        let help = "Connections refused because their address had too many";
        registry.register("connections_turned_away", help, turned_away.clone());
        registry.register("requests", "HTTP requests", requests.clone());
        Self {
            registry,
            calls,
            calls_in_flight,
            call_seconds,
            denials,
            trials,
            deliveries,
            hook_panics,
            embed_waiting,
            embed_failures,
            code,
            refusals,
            connections,
            turned_away,
            requests,
        }
    }

    /// The counter for panics of hook bus subscribers.
    pub(crate) fn hook_panics(&self) -> Counter {
        self.hook_panics.clone()
    }

    /// The counter for failures of the embedding endpoint.
    pub(crate) fn embed_failures(&self) -> Counter {
        self.embed_failures.clone()
    }

    /// Sets the number of texts waiting to be embedded.
    pub(crate) fn embed_waiting(&self, texts: u64) {
        self.embed_waiting.set(i64::try_from(texts).unwrap_or(i64::MAX));
    }

    /// Sets the size of the loaded code.
    pub(crate) fn code(&self, figures: &code::CodeFigures) {
        let code::CodeFigures { projects, files, indexed, passages, waiting } = *figures;
        let set = |gauge: &Gauge, number: u64| gauge.set(i64::try_from(number).unwrap_or(i64::MAX));
        set(&self.code.projects, projects);
        set(&self.code.files, files);
        set(&self.code.indexed, indexed);
        set(&self.code.passages, passages);
        set(&self.code.waiting, waiting);
    }

    /// Counts a webhook delivery.
    pub(crate) fn delivered(&self, arrived: bool) {
        let outcome = if arrived { "arrived" } else { "failed" };
        self.deliveries.get_or_create(&DeliveryLabels { outcome }).inc();
    }

    /// Counts the policy decision of a call.
    fn decided(&self, call: &CallRecord) {
        let Some(decision) = &call.decision else {
            return;
        };
        if !decision.allowed {
            self.denials.get_or_create(&DenialLabels { reason: decision.reason.word() }).inc();
        }
        if let Some(trial) = decision.log_only.as_ref().filter(|trial| trial.allowed != decision.allowed) {
            let would_be = if trial.allowed { "allowed" } else { "denied" };
            self.trials.get_or_create(&TrialLabels { would_be }).inc();
        }
    }

    /// Counts a finished call.
    fn called(&self, call: &CallRecord) {
        // An unknown name is the caller's text, and registered names come and go. Neither may become a label.
        let tool = match &call.tool {
            Cow::Borrowed(tool) => *tool,
            Cow::Owned(_) if call.is_known => "registered",
            Cow::Owned(_) => "unknown",
        };
        let labels = CallLabels { tool, door: call.door.word(), outcome: call.outcome.word() };
        self.calls.get_or_create(&labels).inc();
        self.call_seconds.observe(call.duration_us as f64 / 1e6);
    }

    /// Counts a refusal by a door or by the management API.
    pub(crate) fn refused(&self, door: &'static str, status: u16) {
        self.refusals.get_or_create(&RefusalLabels { door, status }).inc();
    }

    /// Counts a request.
    pub(crate) fn requested(&self) {
        self.requests.inc();
    }

    /// Counts a connection until the returned value is dropped.
    pub(crate) fn connected(&self) -> impl Drop + Send + use<> {
        self.connections.inc();
        Connected(self.connections.clone())
    }

    /// Counts a connection over the limit of its address.
    pub(crate) fn turned_away(&self) {
        self.turned_away.inc();
    }

    /// The metrics in text format.
    pub(crate) fn text(&self) -> Result<String, std::fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        if let Some(bytes) = resident_bytes() {
            // Inserted before the encoder's end marker.
            let end = text.rfind("# EOF").unwrap_or(text.len());
            text.truncate(end);
            writeln!(text, "# HELP toolcrib_resident_bytes Resident memory.\n# TYPE toolcrib_resident_bytes gauge")?;
            writeln!(text, "toolcrib_resident_bytes {bytes}\n# EOF")?;
        }
        Ok(text)
    }
}

impl Subscriber for Metrics {
    fn on(&self, event: &VerbEvent<'_>) {
        match &event.phase {
            Phase::PreVerb { denied: true } => {
                self.decided(event.call);
                self.called(event.call);
            }
            Phase::PreVerb { denied: false } => {
                self.decided(event.call);
                self.calls_in_flight.inc();
            }
            Phase::PostVerb { .. } => {
                self.calls_in_flight.dec();
                self.called(event.call);
            }
            Phase::VerbError(_) => {}
        }
    }
}

struct Connected(Gauge<i64, std::sync::atomic::AtomicI64>);

impl Drop for Connected {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// This process's resident memory, if the system reports it.
fn resident_bytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split(' ').nth(1)?.parse().ok()?;
    Some(pages * 4096)
}
