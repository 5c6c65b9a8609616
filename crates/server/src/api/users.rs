//! Console users of an org.

use axum::Json;
use axum::extract::State;
use guard::User;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::Body;
use super::document::Conflict;
use super::error::Result;
use super::extract::{Admitted, Nothing, Query};
use super::page::{Page, next_cursor};
use super::path::{Id, OrgPath, no_such};
use super::rights::{OrgRead, UsersWrite};
use super::text::{Email, NewPassword};
use super::wire::{OrgId, Time, UserId, given};
use super::words::UserRole;
use crate::state::Shared;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(create, list)).routes(routes!(show, change, delete))
}

/// A person with a console login.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = User)]
struct UserView {
    id: UserId,
    org_id: OrgId,
    /// In lower case; one address is one person on the whole server.
    email: String,
    role: UserRole,
    disabled: bool,
    created_at: Time,
}

impl From<User> for UserView {
    fn from(user: User) -> Self {
        Self {
            id: user.id.into(),
            org_id: user.org.into(),
            email: user.email,
            role: user.role.into(),
            disabled: user.disabled,
            created_at: user.created_at.into(),
        }
    }
}

#[derive(Serialize, ToSchema)]
struct UserAnswer {
    user: UserView,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct UsersAnswer {
    users: Vec<UserView>,
    #[schema(required)]
    next_cursor: Option<String>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewUser {
    email: Email,
    role: UserRole,
    password: NewPassword,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct UserChange {
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false)]
    role: Option<UserRole>,
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false)]
    disabled: Option<bool>,
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false)]
    password: Option<NewPassword>,
}

/// Adds a person.
#[utoipa::path(
    post, path = "/api/org/{orgId}/users", operation_id = "createUser", tag = "users", params(OrgPath),
    request_body = NewUser,
    responses((status = 201, description = "Added.", body = UserAnswer), Admitted<UsersWrite>, Body<NewUser>, Conflict)
)]
async fn create(
    State(state): State<Shared>,
    access: Admitted<UsersWrite>,
    _: Query<Nothing>,
    Body(new): Body<NewUser>,
) -> Result<(StatusCode, Json<UserAnswer>)> {
    let user = guard::NewUser { email: new.email.0, role: new.role.0, password: new.password.0 };
    let user = state.guard.users(&access).create(user).await?;
    Ok((StatusCode::CREATED, Json(UserAnswer { user: user.into() })))
}

/// Lists the org's people.
#[utoipa::path(
    get, path = "/api/org/{orgId}/users", operation_id = "listUsers", tag = "users", params(OrgPath, Page),
    responses((status = 200, description = "A page of people.", body = UsersAnswer), Admitted<OrgRead>)
)]
async fn list(State(state): State<Shared>, access: Admitted<OrgRead>, Query(page): Query<Page>) -> Result<Json<UsersAnswer>> {
    let page = state.guard.users(&access).list(&page.request()).await?;
    let users = page.items.into_iter().map(UserView::from).collect();
    Ok(Json(UsersAnswer { users, next_cursor: next_cursor(page.next.as_ref()) }))
}

/// Shows one person.
#[utoipa::path(
    get, path = "/api/org/{orgId}/users/{userId}", operation_id = "getUser", tag = "users",
    params(OrgPath, Id<base::UserId>),
    responses((status = 200, description = "The person.", body = UserAnswer), Admitted<OrgRead>)
)]
async fn show(
    State(state): State<Shared>,
    access: Admitted<OrgRead>,
    Id(id): Id<base::UserId>,
    _: Query<Nothing>,
) -> Result<Json<UserAnswer>> {
    answer(state.guard.users(&access).get(&id).await?)
}

/// Changes a person. Their logins end, so that the change holds at once. An org keeps its last owner: that one is neither
/// demoted nor locked out.
#[utoipa::path(
    patch, path = "/api/org/{orgId}/users/{userId}", operation_id = "changeUser", tag = "users",
    params(OrgPath, Id<base::UserId>), request_body = UserChange,
    responses(
        (status = 200, description = "The person as they are now.", body = UserAnswer),
        Admitted<UsersWrite>, Body<UserChange>, Conflict
    )
)]
async fn change(
    State(state): State<Shared>,
    access: Admitted<UsersWrite>,
    Id(id): Id<base::UserId>,
    _: Query<Nothing>,
    Body(change): Body<UserChange>,
) -> Result<Json<UserAnswer>> {
    let change = guard::UserChange {
        role: change.role.map(|role| role.0),
        disabled: change.disabled,
        password: change.password.map(|password| password.0),
    };
    answer(state.guard.users(&access).change(&id, change).await?)
}

/// Removes a person and their logins, but not the org's last owner.
#[utoipa::path(
    delete, path = "/api/org/{orgId}/users/{userId}", operation_id = "deleteUser", tag = "users",
    params(OrgPath, Id<base::UserId>),
    responses((status = 204, description = "Removed."), Admitted<UsersWrite>, Conflict)
)]
async fn delete(
    State(state): State<Shared>,
    access: Admitted<UsersWrite>,
    Id(id): Id<base::UserId>,
    _: Query<Nothing>,
) -> Result<StatusCode> {
    let deleted = state.guard.users(&access).delete(&id).await?;
    if deleted { Ok(StatusCode::NO_CONTENT) } else { Err(no_such::<base::UserId>()) }
}

fn answer(user: Option<User>) -> Result<Json<UserAnswer>> {
    let user = user.ok_or_else(no_such::<base::UserId>)?;
    Ok(Json(UserAnswer { user: user.into() }))
}
