//! The two database engines, and a macro that runs a test on both.

/// A database engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// SQLite, in a temporary directory of the test.
    Sqlite,
    /// PostgreSQL, with a new database for the test in the process's private server.
    Postgres,
}

impl Engine {
    /// Both, for tests that compare them.
    pub const ALL: [Engine; 2] = [Engine::Sqlite, Engine::Postgres];
}

/// Turns each function into two tests: `name::sqlite` and `name::postgres`. The calling crate needs `tokio`.
///
/// ```
/// use testkit::Engine;
///
/// testkit::both_engines! {
///     async fn a_new_store_answers(engine: Engine) {
///         testkit::TestStore::open(engine).await.store.ping().await.unwrap();
///     }
/// }
/// ```
#[macro_export]
macro_rules! both_engines {
    ($($(#[$attribute:meta])* async fn $name:ident($engine:ident: $engine_type:ty) $body:block)*) => {$(
        // With `cfg(test)`, clippy allows panics.
        #[cfg(test)]
        $(#[$attribute])*
        mod $name {
            use super::*;

            async fn run_on_engine($engine: $engine_type) $body

            #[tokio::test(flavor = "multi_thread")]
            async fn sqlite() {
                run_on_engine($crate::Engine::Sqlite).await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn postgres() {
                run_on_engine($crate::Engine::Postgres).await;
            }
        }
    )*};
}
