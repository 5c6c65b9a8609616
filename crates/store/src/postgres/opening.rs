//! Why a database cannot be used, in words that say what to do. The password is in none of them.

use base::{Error, Kind};
use deadpool_postgres::PoolError;
use tokio_postgres::Config;
use tokio_postgres::config::Host;
use tokio_postgres::error::SqlState;

/// Where a database is, and as whom we ask for it.
pub(super) struct Place {
    address: String,
    user: String,
    database: String,
}

/// A url that is none.
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
        Self { address, user, database }
    }

    /// What to say when the first connection fails.
    pub(super) fn unusable(&self, error: &PoolError) -> Error {
        let Self { address, user, database } = self;
        let PoolError::Backend(error) = error else {
            let words = match error {
                PoolError::Timeout(_) => format!("the database at {address} does not answer: check the address and the network"),
                _ => format!("the database at {address} cannot be used"),
            };
            return Error::new(Kind::Unavailable, words).logged(error);
        };
        let words = match error.code() {
            Some(&SqlState::INVALID_PASSWORD | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION) => {
                format!(
                    "the database at {address} refuses the user `{user}`: check the user and the password in the database url"
                )
            }
            Some(&SqlState::INVALID_CATALOG_NAME) => {
                format!("the server at {address} has no database `{database}`: create it, or correct the database url")
            }
            Some(&SqlState::TOO_MANY_CONNECTIONS) => {
                format!("the database at {address} has no connection left: raise its max_connections, or stop another client")
            }
            Some(&SqlState::CANNOT_CONNECT_NOW) => {
                format!("the database at {address} is still starting or is stopping: try again in a moment")
            }
            Some(_) => format!("the database at {address} refuses the connection"),
            None if is_about_login(error) => {
                format!("the database at {address} asks for a password, and the database url has none for `{user}`")
            }
            None => {
                format!(
                    "the database at {address} cannot be reached: start PostgreSQL, or correct the host and port in the database url"
                )
            }
        };
        Error::new(Kind::Unavailable, words).logged(super::describe(error))
    }
}

/// The driver has no code for a url without the password that the database asks for.
fn is_about_login(error: &tokio_postgres::Error) -> bool {
    std::error::Error::source(error).is_some_and(|source| source.to_string().contains("password"))
}
