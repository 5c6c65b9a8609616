//! What the bus carries: each call, before it runs, after it has run, and where it went wrong.

use base::{OrgId, SessionId, Timestamp};
use guard::CallRecord;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// A moment in the life of a call.
#[derive(Clone, Debug)]
pub struct VerbEvent<'c> {
    /// Which moment.
    pub phase: Phase,
    /// The tool's canonical name, or what was asked for when there is no such tool.
    pub verb: &'c str,
    /// The name that was asked for, where that is another.
    pub legacy_alias: Option<&'c str>,
    /// The tenant.
    pub org_id: OrgId,
    /// The peer agent that is called, if one is.
    pub agent_card_id: Option<&'c str>,
    /// Where that peer is.
    pub agent_url: Option<&'c str>,
    /// Which of its skills.
    pub skill_id: Option<&'c str>,
    /// The session, on the session door.
    pub session_id: Option<SessionId>,
    /// The arguments as they were sent. In the clear: they must not be written down.
    pub args: Option<&'c RawValue>,
    /// When this event was sent.
    pub emitted_at: Timestamp,
    /// What is known of the call so far.
    pub call: &'c CallRecord,
}

/// Which moment an event tells of.
#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    /// The gate has decided.
    PreVerb {
        /// It said no: nothing will be done.
        denied: bool,
    },
    /// What was let in has run.
    PostVerb {
        /// How it went.
        outcome: EventOutcome,
        /// How long it took.
        duration_ms: f64,
    },
    /// It was refused, failed, or was cancelled.
    VerbError(VerbError),
}

/// How a call that was let in went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventOutcome {
    /// It answered.
    Completed,
    /// It did not, or answered that it failed.
    Failed,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VerbError {
    /// The JSON-RPC code of the answer, where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<i64>,
    /// What the caller was told.
    pub message: String,
}

impl Phase {
    /// The phase's name.
    pub const fn word(&self) -> &'static str {
        match self {
            Phase::PreVerb { .. } => "pre-verb",
            Phase::PostVerb { .. } => "post-verb",
            Phase::VerbError(_) => "verb-error",
        }
    }
}

impl EventOutcome {
    /// The word in events.
    pub const fn word(self) -> &'static str {
        match self {
            EventOutcome::Completed => "completed",
            EventOutcome::Failed => "failed",
        }
    }
}

/// The members of the contract; what does not apply is left out.
impl Serialize for VerbEvent<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("phase", self.phase.word())?;
        map.serialize_entry("verb", self.verb)?;
        map.serialize_entry("orgId", &self.org_id)?;
        let texts = [
            ("legacyAlias", self.legacy_alias),
            ("agentCardId", self.agent_card_id),
            ("agentUrl", self.agent_url),
            ("skillId", self.skill_id),
            ("sessionId", self.session_id.as_ref().map(SessionId::as_str)),
        ];
        for (name, value) in texts {
            if let Some(value) = value {
                map.serialize_entry(name, value)?;
            }
        }
        if let Some(args) = self.args {
            map.serialize_entry("args", args)?;
        }
        map.serialize_entry("emittedAt", &self.emitted_at)?;
        match &self.phase {
            Phase::PreVerb { denied: false } => {}
            Phase::PreVerb { denied: true } => map.serialize_entry("denied", &true)?,
            Phase::PostVerb { outcome, duration_ms } => {
                map.serialize_entry("outcome", outcome.word())?;
                map.serialize_entry("durationMs", duration_ms)?;
            }
            Phase::VerbError(error) => map.serialize_entry("error", error)?,
        }
        map.end()
    }
}
