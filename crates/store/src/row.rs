//! Rows that come out of a statement, the same for both engines.

use base::{Error, Result, Timestamp};

/// One row of an answer, valid while it is being read.
pub struct Row<'r>(RowOf<'r>);

enum RowOf<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r tokio_postgres::Row),
}

impl<'r> Row<'r> {
    pub(crate) fn sqlite(row: &'r rusqlite::Row<'r>) -> Self {
        Self(RowOf::Sqlite(row))
    }

    pub(crate) fn postgres(row: &'r tokio_postgres::Row) -> Self {
        Self(RowOf::Postgres(row))
    }

    /// Column `index` as a `T`.
    pub fn get<T: Column>(&self, index: usize) -> Result<T> {
        T::read(self, index)
    }

    /// Column `index` as text that lives as long as the row.
    pub fn text(&self, index: usize) -> Result<&str> {
        match &self.0 {
            RowOf::Sqlite(row) => row.get_ref(index).map_err(Error::internal)?.as_str().map_err(Error::internal),
            RowOf::Postgres(row) => row.try_get(index).map_err(Error::internal),
        }
    }

    fn int(&self, index: usize) -> Result<Option<i64>> {
        match &self.0 {
            RowOf::Sqlite(row) => row.get(index).map_err(Error::internal),
            RowOf::Postgres(row) => row.try_get(index).map_err(Error::internal),
        }
    }
}

/// A type that a column can be read as.
pub trait Column: Sized {
    /// Reads column `index` of `row`.
    fn read(row: &Row<'_>, index: usize) -> Result<Self>;
}

fn required<T>(value: Option<T>, index: usize) -> Result<T> {
    value.ok_or_else(|| Error::internal(format_args!("column {index} is null")))
}

macro_rules! columns {
    ($($ty:ty),*) => {$(
        impl Column for Option<$ty> {
            fn read(row: &Row<'_>, index: usize) -> Result<Self> {
                match &row.0 {
                    RowOf::Sqlite(row) => row.get(index).map_err(Error::internal),
                    RowOf::Postgres(row) => row.try_get(index).map_err(Error::internal),
                }
            }
        }

        impl Column for $ty {
            fn read(row: &Row<'_>, index: usize) -> Result<Self> {
                required(<Option<$ty>>::read(row, index)?, index)
            }
        }
    )*};
}

columns!(i64, f64, String, Vec<u8>);

impl Column for bool {
    fn read(row: &Row<'_>, index: usize) -> Result<Self> {
        Ok(required(row.int(index)?, index)? != 0)
    }
}

impl Column for Timestamp {
    fn read(row: &Row<'_>, index: usize) -> Result<Self> {
        required(row.int(index)?, index).map(Timestamp::from_ms)
    }
}

impl Column for Option<Timestamp> {
    fn read(row: &Row<'_>, index: usize) -> Result<Self> {
        Ok(row.int(index)?.map(Timestamp::from_ms))
    }
}
