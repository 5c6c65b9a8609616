//! Console users of an org.

use axum::Json;
use axum::extract::State;
use guard::{Descendants, User};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::body::Body;
use super::document::Conflict;
use super::error::Result;
use super::extract::{Admitted, Nothing, Query};
use super::keys::{Cascade, KeyView, descendants_view};
use super::page::{Page, shown};
use super::path::{Id, OrgPath, no_such};
use super::rights::{OrgRead, UsersWrite};
use super::text::{Email, NewPassword};
use super::wire::{OrgId, Time, UserId, given};
use super::words::UserRole;
use crate::state::Shared;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::default().routes(routes!(create, list)).routes(routes!(show, change, delete))
}

/// A user with a console login.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = User)]
struct UserView {
    id: UserId,
    org_id: OrgId,
    /// In lower case, unique on the whole server.
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
struct UserAndKeysAnswer {
    user: UserView,
    /// The number of keys that the user created, directly or through other keys, and that were revoked now. 0 without `cascade`.
    minted_revoked: u64,
    /// Keys that a removed or disabled user created, directly or through other keys, and that are still valid: at most 200, oldest
    /// first. Empty with `cascade`, and for a user who is not disabled.
    minted: Vec<KeyView>,
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

/// Adds a user.
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

/// Lists the org's users.
#[utoipa::path(
    get, path = "/api/org/{orgId}/users", operation_id = "listUsers", tag = "users", params(OrgPath, Page),
    responses((status = 200, description = "A page of users.", body = UsersAnswer), Admitted<OrgRead>)
)]
async fn list(State(state): State<Shared>, access: Admitted<OrgRead>, Query(page): Query<Page>) -> Result<Json<UsersAnswer>> {
    let page = state.guard.users(&access).list(&page.request()).await?;
    let (users, next_cursor) = shown(page);
    Ok(Json(UsersAnswer { users, next_cursor }))
}

/// Shows one user.
#[utoipa::path(
    get, path = "/api/org/{orgId}/users/{userId}", operation_id = "getUser", tag = "users",
    params(OrgPath, Id<base::UserId>),
    responses((status = 200, description = "The user.", body = UserAnswer), Admitted<OrgRead>)
)]
async fn show(
    State(state): State<Shared>,
    access: Admitted<OrgRead>,
    Id(id): Id<base::UserId>,
    _: Query<Nothing>,
) -> Result<Json<UserAnswer>> {
    answer(state.guard.users(&access).get(&id).await?)
}

/// Changes a user. Their logins and the sessions they opened end, so that the change applies immediately. The keys that a disabled user
/// created stay valid and are listed, unless `cascade` revokes them. `cascade` needs `disabled: true`, and the scope `keys:write`. The
/// org's last owner cannot be demoted or disabled.
#[utoipa::path(
    patch, path = "/api/org/{orgId}/users/{userId}", operation_id = "changeUser", tag = "users",
    params(OrgPath, Id<base::UserId>, Cascade), request_body = UserChange,
    responses(
        (status = 200, description = "The changed user.", body = UserAndKeysAnswer),
        Admitted<UsersWrite>, Body<UserChange>, Conflict
    )
)]
async fn change(
    State(state): State<Shared>,
    access: Admitted<UsersWrite>,
    Id(id): Id<base::UserId>,
    Query(how): Query<Cascade>,
    Body(change): Body<UserChange>,
) -> Result<Json<UserAndKeysAnswer>> {
    let change = guard::UserChange {
        role: change.role.map(|role| role.0),
        disabled: change.disabled,
        password: change.password.map(|password| password.0),
    };
    with_keys(state.guard.users(&access).change(&id, change, how.is_on()).await?)
}

/// Removes a user and their logins, and ends the sessions they opened. The keys that they created stay valid and are listed, unless
/// `cascade` revokes them, which needs the scope `keys:write`. The org's last owner cannot be removed.
#[utoipa::path(
    delete, path = "/api/org/{orgId}/users/{userId}", operation_id = "deleteUser", tag = "users",
    params(OrgPath, Id<base::UserId>, Cascade),
    responses((status = 200, description = "Removed.", body = UserAndKeysAnswer), Admitted<UsersWrite>, Conflict)
)]
async fn delete(
    State(state): State<Shared>,
    access: Admitted<UsersWrite>,
    Id(id): Id<base::UserId>,
    Query(how): Query<Cascade>,
) -> Result<Json<UserAndKeysAnswer>> {
    with_keys(state.guard.users(&access).delete(&id, how.is_on()).await?)
}

fn with_keys(found: Option<(User, Descendants)>) -> Result<Json<UserAndKeysAnswer>> {
    let (user, descendants) = found.ok_or_else(no_such::<base::UserId>)?;
    let (minted_revoked, minted) = descendants_view(descendants);
    Ok(Json(UserAndKeysAnswer { user: user.into(), minted_revoked, minted }))
}

fn answer(user: Option<User>) -> Result<Json<UserAnswer>> {
    let user = user.ok_or_else(no_such::<base::UserId>)?;
    Ok(Json(UserAnswer { user: user.into() }))
}
