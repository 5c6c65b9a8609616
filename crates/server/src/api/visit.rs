//! Audits management calls that were refused (403) or read what agents wrote. Changes are audited elsewhere. Routes note the caller
//! and the data read; the middleware writes the entry before the answer leaves.

use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::{MatchedPath, RawPathParams};
use axum::response::{IntoResponse, Response};
use base::RequestId;
use guard::{Access, Refusal, Requester};
use http::StatusCode;
use http::request::Parts;

use super::error::{ApiError, ForTheLog, Result};
use super::extract::ORG_PARAMETER;
use crate::refusals::without_quotes;
use crate::state::Shared;

/// The path parameter that names a project.
const PROJECT_PARAMETER: &str = "projectId";
/// The longest reason kept in an entry, in characters.
const REASON_CHARS_MAX: usize = 200;

/// What is known about one management call. Routes and the middleware share it.
#[derive(Clone, Default)]
pub(super) struct Visit(Arc<Mutex<Known>>);

#[derive(Default)]
struct Known {
    requester: Option<Requester>,
    /// The method and the route's path template.
    route: String,
    /// The ids in the path, except the org's.
    ids: Vec<(String, String)>,
    /// The kind of agents' data that the answer shows.
    reads: Option<&'static str>,
}

impl Visit {
    /// The visit of a request, created by the middleware.
    pub(super) async fn of(parts: &mut Parts, state: &Shared) -> Self {
        let visit = parts.extensions.get::<Self>().cloned().unwrap_or_default();
        let path = parts.extensions.get::<MatchedPath>().map(|path| path.as_str().to_owned()).unwrap_or_default();
        let mut ids = Vec::new();
        if let Ok(found) = <RawPathParams as axum::extract::FromRequestParts<Shared>>::from_request_parts(parts, state).await {
            let others = found.iter().filter(|(name, _)| *name != ORG_PARAMETER);
            ids.extend(others.map(|(name, id)| (name.to_owned(), id.to_owned())));
        }
        let mut known = visit.0.lock().unwrap_or_else(PoisonError::into_inner);
        (known.route, known.ids) = (format!("{} {path}", parts.method), ids);
        drop(known);
        visit
    }

    /// Notes the caller, whether or not access was granted.
    pub(super) fn by(&self, found: Result<Access, Refusal>) -> Result<Access> {
        let requester = match &found {
            Ok(access) => Some(access.requester()),
            Err(Refusal::ForbiddenTo(requester, _)) => Some(Requester::clone(requester)),
            Err(_) => None,
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).requester = requester;
        Ok(found?)
    }

    /// Notes that the answer shows data written by agents.
    pub(super) fn reads(&self, what: &'static str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).reads = Some(what);
    }

    /// Whether the answer shows data written by agents.
    pub(super) fn is_read(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).reads.is_some()
    }

    /// Writes the audit entry for `response`. If that fails, the answer is replaced by an error.
    pub(super) async fn record(&self, state: &Shared, request: RequestId, response: Response) -> Response {
        let known = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let Some(requester) = known.requester else {
            return response;
        };
        let written = match known.reads {
            _ if response.status() == StatusCode::FORBIDDEN => {
                let reason =
                    response.extensions().get::<ForTheLog>().map(|note| without_quotes(&note.message)).unwrap_or_default();
                let reason: String = reason.chars().take(REASON_CHARS_MAX).collect();
                state.guard.record_forbidden_call(&requester, request, &known.route, &reason).await
            }
            Some(what) if response.status().is_success() => {
                let (project, ids): (Vec<_>, Vec<_>) = known.ids.into_iter().partition(|(name, _)| name == PROJECT_PARAMETER);
                let project = project.into_iter().next().map(|(_, id)| id).unwrap_or_default();
                state.guard.record_read(&requester, request, what, &project, &known.route, ids).await
            }
            _ => Ok(()),
        };
        written.map_or_else(|error| ApiError::from(error).into_response(), |()| response)
    }
}
