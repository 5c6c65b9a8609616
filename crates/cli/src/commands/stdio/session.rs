//! The session behind the bridge. When its time is over, another takes its place, out of the client's sight.

use std::sync::{Arc, Mutex as Lock, PoisonError};

use anyhow::Result;
use base::{Clock, Timestamp};
use serde_json::Value;
use tokio::sync::Mutex;

use super::upstream::Upstream;
use crate::client::{Api, ApiError, encode};
use crate::opening::{Opened, SessionArgs};
use crate::workplace::{Project, ProjectArg, Workplace};

/// A session that can be opened again.
pub(super) struct Session {
    upstream: Arc<Upstream>,
    org: Option<String>,
    project: Project,
    how: SessionArgs,
    now: Lock<(u64, Arc<Opened>)>,
    opening: Mutex<()>,
}

impl Session {
    /// Opens the first.
    pub(super) async fn open(
        upstream: Arc<Upstream>,
        org: Option<String>,
        project: &ProjectArg,
        how: SessionArgs,
    ) -> Result<Arc<Self>> {
        let place = workplace(&upstream, org.as_deref()).await?;
        let project = place.project(project).await?;
        let opened = place.open_session(&project.id, &how).await?;
        tracing::info!(session = opened.id, project = project.name, url = place.api.found().url, "session opened");
        let now = Lock::new((0, Arc::new(opened)));
        Ok(Arc::new(Self { upstream, org, project, how, now, opening: Mutex::default() }))
    }

    /// The session as it is now, and the how manieth that is.
    pub(super) fn current(&self) -> (u64, Arc<Opened>) {
        self.now.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Puts another in the place of the `seen`th, if that one's time is over; whether there is another now. One that somebody
    /// has ended stays ended.
    pub(super) async fn renew(&self, seen: u64) -> bool {
        let _turn = self.opening.lock().await;
        let (number, old) = self.current();
        if number != seen {
            return true;
        }
        let opened = async {
            let place = workplace(&self.upstream, self.org.as_deref()).await?;
            if !has_expired(&place, &old).await? {
                return Ok(None);
            }
            place.open_session(&self.project.id, &self.how).await.map(Some)
        };
        match opened.await {
            Ok(Some(opened)) => {
                tracing::info!(session = opened.id, expired = old.id, "the session had expired; this one takes its place");
                *self.now.lock().unwrap_or_else(PoisonError::into_inner) = (seen + 1, Arc::new(opened));
                true
            }
            Ok(None) => false,
            Err(error) => {
                tracing::warn!("{:#}", error.context("the session has expired and no other can be opened"));
                false
            }
        }
    }

    /// Ends it, wherever the server is by now. A failure is told, not returned: all answers were given.
    pub(super) async fn end(&self) {
        let (session, org) = (self.current().1, self.org.as_deref());
        let ended = async {
            let seen = self.upstream.current().0;
            let place = workplace(&self.upstream, org).await?;
            match place.end_session(&session.id, None).await {
                Err(_) if self.upstream.renew(seen).await.is_ok() => {
                    workplace(&self.upstream, org).await?.end_session(&session.id, None).await
                }
                ended => ended,
            }
        };
        if let Err(error) = ended.await {
            tracing::warn!("{error:#}");
        }
    }
}

async fn workplace(upstream: &Upstream, org: Option<&str>) -> Result<Workplace> {
    Workplace::at(Api::new(upstream.current().1)?, org, false).await
}

/// Whether a session's time is over. The server knows; a key that may not ask must trust its own clock.
async fn has_expired(place: &Workplace, session: &Opened) -> Result<bool> {
    match place.api.get(&place.path(&format!("/sessions/{}", encode(&session.id)))).await {
        Ok(answer) => Ok(answer.pointer("/session/state").and_then(Value::as_str) == Some("expired")),
        Err(error) if error.downcast_ref::<ApiError>().is_some_and(|refusal| refusal.status.as_u16() == 403) => {
            let expires_at = Timestamp::parse_rfc3339(&session.expires_at);
            Ok(expires_at.is_some_and(|expires_at| expires_at <= Clock::system().now()))
        }
        Err(error) => Err(error),
    }
}
