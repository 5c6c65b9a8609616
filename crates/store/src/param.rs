//! Values for statements, the same for both engines.

use base::{
    AgentId, BrickId, BrickVersionId, DecisionId, EntityId, Error, FileVersionId, KeyId, Kind, KitId, KitVersionId,
    ObservationId, OrgId, ProjectId, Result, SessionId, Timestamp, TokenId, TripletId, UserId, WebhookId,
};
use bytes::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

/// One bound value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Param<'a> {
    /// SQL NULL.
    Null,
    /// BIGINT.
    Int(i64),
    /// DOUBLE PRECISION.
    Real(f64),
    /// TEXT.
    Text(&'a str),
    /// BLOB or BYTEA.
    Bytes(&'a [u8]),
}

/// A value that can be bound to a statement. [`params!`](crate::params) calls this for each value.
pub trait AsParam {
    /// The value as a parameter.
    fn as_param(&self) -> Param<'_>;
}

/// `params![a, b]`: the values as an array of [`Param`]s.
#[macro_export]
macro_rules! params {
    ($($value:expr),* $(,)?) => { [$($crate::AsParam::as_param(&$value)),*] };
}

impl AsParam for Param<'_> {
    fn as_param(&self) -> Param<'_> {
        *self
    }
}

impl AsParam for str {
    fn as_param(&self) -> Param<'_> {
        Param::Text(self)
    }
}

impl AsParam for String {
    fn as_param(&self) -> Param<'_> {
        Param::Text(self)
    }
}

impl AsParam for [u8] {
    fn as_param(&self) -> Param<'_> {
        Param::Bytes(self)
    }
}

impl AsParam for i64 {
    fn as_param(&self) -> Param<'_> {
        Param::Int(*self)
    }
}

impl AsParam for u32 {
    fn as_param(&self) -> Param<'_> {
        Param::Int(i64::from(*self))
    }
}

impl AsParam for f64 {
    fn as_param(&self) -> Param<'_> {
        Param::Real(*self)
    }
}

impl AsParam for bool {
    fn as_param(&self) -> Param<'_> {
        Param::Int(i64::from(*self))
    }
}

impl AsParam for Timestamp {
    fn as_param(&self) -> Param<'_> {
        Param::Int(self.ms())
    }
}

impl<T: AsParam> AsParam for Option<T> {
    fn as_param(&self) -> Param<'_> {
        self.as_ref().map_or(Param::Null, AsParam::as_param)
    }
}

impl<T: AsParam + ?Sized> AsParam for &T {
    fn as_param(&self) -> Param<'_> {
        (**self).as_param()
    }
}

impl<T: AsParam + ?Sized> AsParam for std::sync::Arc<T> {
    fn as_param(&self) -> Param<'_> {
        (**self).as_param()
    }
}

macro_rules! ids_as_params {
    ($($id:ty),*) => {$(
        impl AsParam for $id {
            fn as_param(&self) -> Param<'_> {
                Param::Text(self.as_str())
            }
        }
    )*};
}

ids_as_params!(
    OrgId,
    ProjectId,
    KeyId,
    SessionId,
    AgentId,
    TokenId,
    UserId,
    BrickId,
    BrickVersionId,
    KitId,
    KitVersionId,
    WebhookId,
    ObservationId,
    DecisionId,
    FileVersionId,
    EntityId,
    TripletId
);

/// Refuses text that only one engine could store: TEXT in PostgreSQL cannot contain NUL.
pub(crate) fn check(params: &[Param<'_>]) -> Result<()> {
    let holds_nul = params.iter().any(|param| matches!(param, Param::Text(text) if text.as_bytes().contains(&0)));
    if holds_nul {
        return Err(Error::new(Kind::InvalidParams, "text must not contain the NUL character (U+0000)"));
    }
    Ok(())
}

impl rusqlite::ToSql for Param<'_> {
    fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
        use rusqlite::types::{ToSqlOutput, ValueRef};
        Ok(ToSqlOutput::Borrowed(match self {
            Param::Null => ValueRef::Null,
            Param::Int(value) => ValueRef::Integer(*value),
            Param::Real(value) => ValueRef::Real(*value),
            Param::Text(value) => ValueRef::Text(value.as_bytes()),
            Param::Bytes(value) => ValueRef::Blob(value),
        }))
    }
}

impl ToSql for Param<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> std::result::Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Param::Null => Ok(IsNull::Yes),
            Param::Int(value) if *ty == Type::INT4 => i32::try_from(*value)?.to_sql(ty, out),
            Param::Int(value) => value.to_sql(ty, out),
            Param::Real(value) => value.to_sql(ty, out),
            Param::Text(value) => value.to_sql(ty, out),
            Param::Bytes(value) => value.to_sql(ty, out),
        }
    }

    // The statements are ours and tested on both engines, so the database reports a wrong type.
    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}
