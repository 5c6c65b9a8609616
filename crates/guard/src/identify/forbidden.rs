//! Audits a 403 at the session door in the trail of the session's org, because somebody tried its session id. The holder of a key must
//! not be able to fill another org's trail. So each refusal is charged to the key's rate limit, and only some per minute are audited.
//! The others are counted.

use base::{EventKind, OrgId, RequestId, SessionId};

use super::Presented;
use crate::audit::{By, Event};
use crate::guard::Guard;
use crate::refusal::Refusal;

/// A request with a valid key at a session's door.
pub(super) struct Knock {
    by: By,
    /// The key's org, and the name of its rate bucket.
    charged: (OrgId, String),
    /// The session's org.
    org: OrgId,
    session: SessionId,
}

impl Knock {
    pub(super) fn new(presented: &Presented, org: &OrgId, session: &SessionId, request: RequestId) -> Self {
        let charged = match presented {
            Presented::InstanceAdmin(_) => (*org, super::INSTANCE_BUCKET.to_owned()),
            Presented::Key(key) => (key.org, key.bucket_name()),
        };
        Self { by: By::presented(presented, request), charged, org: *org, session: *session }
    }
}

impl Guard {
    /// Refuses a request and audits or counts the refusal. It is charged to the key's rate limit; an exhausted limit changes nothing.
    pub(super) async fn record_forbidden(&self, knock: &Knock, why: &'static str) -> Refusal {
        let (org, bucket) = &knock.charged;
        if let Err(Refusal::Failed(error)) = self.rates.allowance(org, bucket, self.key_rate()).take(1).await {
            return Refusal::Failed(error);
        }
        let event = Event::new(EventKind::DoorForbidden, "session", knock.session).with("reason", why);
        let noted = self.note_forbidden(&self.rows_of(&knock.org), &knock.by, event).await;
        noted.map_or_else(Refusal::Failed, |()| Refusal::Forbidden)
    }
}
