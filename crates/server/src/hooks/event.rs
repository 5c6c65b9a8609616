//! Events of the hook bus: each call before it runs, after it ran, and on errors.

use base::{OrgId, SessionId, Timestamp};
use guard::{CallRecord, HookPhase};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// A phase in the life of a call.
#[derive(Clone, Debug)]
pub struct VerbEvent<'c> {
    /// The phase.
    pub phase: Phase,
    /// The tool's canonical name, or the requested name if there is no such tool.
    pub verb: &'c str,
    /// The requested name, if it is another spelling.
    pub legacy_alias: Option<&'c str>,
    /// The tenant.
    pub org_id: OrgId,
    /// The called peer agent, if any.
    pub agent_card_id: Option<&'c str>,
    /// The peer's URL.
    pub agent_url: Option<&'c str>,
    /// The called skill.
    pub skill_id: Option<&'c str>,
    /// The session, on the session door.
    pub session_id: Option<SessionId>,
    /// The arguments as sent, in clear text. They must not be stored.
    pub args: Option<&'c RawValue>,
    /// When the event was sent.
    pub emitted_at: Timestamp,
    /// The call's record so far.
    pub call: &'c CallRecord,
}

/// The phase of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    /// The gate has decided.
    PreVerb {
        /// The gate denied the call, so it does not run.
        denied: bool,
    },
    /// The admitted call has run.
    PostVerb {
        /// Its outcome.
        outcome: EventOutcome,
        /// Its duration.
        duration_ms: f64,
    },
    /// The call was refused, failed or was cancelled.
    VerbError(VerbError),
}

/// The outcome of an admitted call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventOutcome {
    /// It succeeded.
    Completed,
    /// It failed, or the tool reported a failure.
    Failed,
}

/// An error of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VerbError {
    /// The JSON-RPC error code, if the answer had one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<i64>,
    /// The message for the caller.
    pub message: String,
}

impl Phase {
    /// The phase's name.
    pub const fn word(&self) -> &'static str {
        match self {
            Phase::PreVerb { .. } => HookPhase::PreVerb.word(),
            Phase::PostVerb { .. } => HookPhase::PostVerb.word(),
            Phase::VerbError(_) => HookPhase::VerbError.word(),
        }
    }
}

impl EventOutcome {
    /// The outcome's name in events.
    pub const fn word(self) -> &'static str {
        match self {
            EventOutcome::Completed => "completed",
            EventOutcome::Failed => "failed",
        }
    }
}

/// Serializes the members of the contract. Members that do not apply are omitted.
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
