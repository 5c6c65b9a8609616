//! How good `graph_query` is on the set in the repository: a floor under the figures, so that nobody lowers them unawares.

use testkit::{Engine, both_engines};

both_engines! {
    async fn nothing_yet(_engine: Engine) {}
}
