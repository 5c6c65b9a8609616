//! A 403 at the session door is on the record of the session's org: someone tried its handle. The holder of a key must not be able
//! to fill another org's trail that way, so each is charged to the key's rate, and only some a minute are recorded; the others are
//! counted.

use base::{OrgId, RequestId, SessionId};

use super::Presented;
use crate::audit::{By, Event};
use crate::guard::Guard;
use crate::refusal::Refusal;

/// A request with a good key at a session's door.
pub(super) struct Knock {
    by: By,
    /// The key's org, and the name of the bucket that it draws on.
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
    /// Refuses a knock, and puts that on the record or counts it. It is charged to the key's rate; a rate that is spent changes nothing.
    pub(super) async fn record_forbidden(&self, knock: &Knock, why: &'static str) -> Refusal {
        let (org, bucket) = &knock.charged;
        if let Err(Refusal::Failed(error)) = self.rates.allowance(org, bucket, self.key_rate()).take(1).await {
            return Refusal::Failed(error);
        }
        let event = Event::new("door.forbidden", "session", knock.session).with("reason", why);
        let noted = self.note_forbidden(&self.rows_of(&knock.org), &knock.by, event).await;
        noted.map_or_else(Refusal::Failed, |()| Refusal::Forbidden)
    }
}
