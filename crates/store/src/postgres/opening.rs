//! Messages for a database that cannot be used. They say what to do and never contain the password.

use base::{Error, Kind};
use deadpool_postgres::PoolError;
use tokio_postgres::Config;
use tokio_postgres::config::Host;
use tokio_postgres::error::SqlState;

/// The address of a database, and the user name.
pub(super) struct Place {
    address: String,
    user: String,
    database: String,
    has_password: bool,
}

/// The error for an invalid URL.
pub(super) fn unreadable_url(error: &tokio_postgres::Error) -> Error {
    let words = "the database url cannot be read: write it like postgres://user:password@host:5432/database";
    Error::new(Kind::InvalidParams, words).logged(super::describe(error))
}

impl Place {
    pub(super) fn of(config: &Config) -> Self {
        let port = config.get_ports().first().copied().unwrap_or(5432);
        let address = match config.get_hosts().first() {
            Some(Host::Tcp(host)) => format!("{host}:{port}"),
            #[cfg(unix)]
            Some(Host::Unix(path)) => path.display().to_string(),
            _ => "the default host".to_owned(),
        };
        let user = config.get_user().unwrap_or("the default user").to_owned();
        let database = config.get_dbname().map_or_else(|| user.clone(), str::to_owned);
        Self { address, user, database, has_password: config.get_password().is_some() }
    }

    /// Adds an empty password if the URL has none. A database that needs a password then refuses with an error code. Without
    /// this, the driver fails before that, with an error that has no code.
    pub(super) fn complete(&self, config: &mut Config) {
        if !self.has_password {
            config.password("");
        }
    }

    /// The error for a failed first connection.
    pub(super) fn unusable(&self, error: &PoolError) -> Error {
        let Self { address, user, database, has_password } = self;
        let PoolError::Backend(error) = error else {
            let words = match error {
                PoolError::Timeout(_) => format!("the database at {address} does not answer; check the address and the network"),
                _ => format!("the database at {address} cannot be used"),
            };
            return Error::new(Kind::Unavailable, words).logged(error);
        };
        let words = match error.code() {
            Some(&SqlState::INVALID_PASSWORD) if !has_password => {
                format!("the database at {address} needs a password; add one for `{user}` to the database url")
            }
            Some(&SqlState::INVALID_PASSWORD | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION) => {
                format!(
                    "the database at {address} refuses the user `{user}`; check the user and the password in the database url"
                )
            }
            Some(&SqlState::INVALID_CATALOG_NAME) => {
                format!("the server at {address} has no database `{database}`; create it, or correct the database url")
            }
            Some(&SqlState::TOO_MANY_CONNECTIONS) => {
                format!("the database at {address} has no connection left; raise its max_connections, or stop another client")
            }
            Some(&SqlState::CANNOT_CONNECT_NOW) => {
                format!("the database at {address} is starting or stopping; try again in a moment")
            }
            Some(_) => format!("the database at {address} refuses the connection"),
            None => {
                format!(
                    "the database at {address} cannot be reached; start PostgreSQL, or correct the host and port in the database url"
                )
            }
        };
        Error::new(Kind::Unavailable, words).logged(super::describe(error))
    }
}
