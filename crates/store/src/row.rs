//! Rows of a result, the same for both engines.

use std::cell::Cell;

use base::{Error, Result, Timestamp};

/// One row of an answer, valid while it is being read. Columns are read by their names in the statement.
pub struct Row<'r> {
    of: RowOf<'r>,
    /// The column after the last one that was read. Most rows are read in order, so the search for a name starts here.
    next: Cell<usize>,
}

enum RowOf<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r tokio_postgres::Row),
}

impl<'r> Row<'r> {
    pub(crate) fn sqlite(row: &'r rusqlite::Row<'r>) -> Self {
        Self { of: RowOf::Sqlite(row), next: Cell::new(0) }
    }

    pub(crate) fn postgres(row: &'r tokio_postgres::Row) -> Self {
        Self { of: RowOf::Postgres(row), next: Cell::new(0) }
    }

    /// Column `name` as a `T`.
    pub fn get<T: Column>(&self, name: &str) -> Result<T> {
        T::read(self, name)
    }

    /// Column `name` as text that lives as long as the row.
    pub fn text(&self, name: &str) -> Result<&str> {
        let index = self.index_of(name)?;
        match &self.of {
            RowOf::Sqlite(row) => {
                let value = row.get_ref(index).map_err(|error| unreadable(name, error))?;
                value.as_str().map_err(|error| unreadable(name, error))
            }
            RowOf::Postgres(row) => row.try_get(index).map_err(|error| unreadable(name, error)),
        }
    }

    /// Where column `name` is. Names are compared exactly: statements spell them in lower case, as PostgreSQL does.
    fn index_of(&self, name: &str) -> Result<usize> {
        let next = self.next.get();
        let found = (next..self.width()).chain(0..next).find(|index| self.name_at(*index) == Some(name));
        let index = found.ok_or_else(|| Error::internal(format_args!("the statement selects no column `{name}`")))?;
        self.next.set(index + 1);
        Ok(index)
    }

    fn width(&self) -> usize {
        match &self.of {
            RowOf::Sqlite(row) => row.as_ref().column_count(),
            RowOf::Postgres(row) => row.len(),
        }
    }

    fn name_at(&self, index: usize) -> Option<&str> {
        match &self.of {
            RowOf::Sqlite(row) => row.as_ref().column_name(index).ok(),
            RowOf::Postgres(row) => row.columns().get(index).map(tokio_postgres::Column::name),
        }
    }
}

/// A type that a column can be read as.
pub trait Column: Sized {
    /// Reads column `name` of `row`.
    fn read(row: &Row<'_>, name: &str) -> Result<Self>;
}

fn unreadable(name: &str, error: impl std::fmt::Display) -> Error {
    Error::internal(format_args!("column `{name}`: {error}"))
}

fn required<T>(value: Option<T>, name: &str) -> Result<T> {
    value.ok_or_else(|| Error::internal(format_args!("column `{name}` is null")))
}

macro_rules! columns {
    ($($ty:ty),*) => {$(
        impl Column for Option<$ty> {
            fn read(row: &Row<'_>, name: &str) -> Result<Self> {
                let index = row.index_of(name)?;
                match &row.of {
                    RowOf::Sqlite(row) => row.get(index).map_err(|error| unreadable(name, error)),
                    RowOf::Postgres(row) => row.try_get(index).map_err(|error| unreadable(name, error)),
                }
            }
        }

        impl Column for $ty {
            fn read(row: &Row<'_>, name: &str) -> Result<Self> {
                required(<Option<$ty>>::read(row, name)?, name)
            }
        }
    )*};
}

columns!(i64, f64, String, Vec<u8>);

impl Column for bool {
    fn read(row: &Row<'_>, name: &str) -> Result<Self> {
        Ok(row.get::<i64>(name)? != 0)
    }
}

impl Column for Timestamp {
    fn read(row: &Row<'_>, name: &str) -> Result<Self> {
        row.get(name).map(Timestamp::from_ms)
    }
}

impl Column for Option<Timestamp> {
    fn read(row: &Row<'_>, name: &str) -> Result<Self> {
        Ok(row.get::<Option<i64>>(name)?.map(Timestamp::from_ms))
    }
}
