//! The two engines, and the macro that makes two tests of one.

/// An engine that a test runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// A file in a directory of the test's own.
    Sqlite,
    /// A database of the test's own in the process's private server.
    Postgres,
}

impl Engine {
    /// Both, for tests that compare them.
    pub const ALL: [Engine; 2] = [Engine::Sqlite, Engine::Postgres];
}

/// Makes two tests of each function: `name::sqlite` and `name::postgres`. The crate that uses it needs `tokio`.
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
        // `cfg(test)` tells clippy that this is a test, where panicking is how to fail.
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
