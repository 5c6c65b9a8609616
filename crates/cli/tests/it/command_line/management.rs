//! The management commands, as text and with `--json`, the same on both engines.
//!
//! The tests run the lines after `$` in each file of `transcripts`, and compare the output with the file. After an intended change,
//! `UPDATE_EXPECT=1` rewrites the files.

use expect_test::expect_file;

use crate::support::{Engine, Place, Terminal, Transcript, both_engines};

macro_rules! transcripts {
    ($($name:ident)*) => {both_engines! {$(
        async fn $name(engine: Engine) {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/command_line/transcripts/", stringify!($name), ".txt");
            let written = std::fs::read_to_string(path).unwrap();
            expect_file![path].assert_eq(&replay(engine, &written).await);
        }
    )*}};
}

transcripts! {
    orgs_and_projects
    orgs_and_projects_as_json
    keys_and_sessions
    keys_and_sessions_as_json
    agents_and_people
    agents_and_people_as_json
    bricks_and_kits
    bricks_and_kits_as_json
    graph
    graph_as_json
    policies
    policies_as_json
}

/// Runs a transcript in a new org. Returns the new transcript.
async fn replay(engine: Engine, written: &str) -> String {
    let place = Place::new(engine);
    let _server = place.start().await;
    let terminal = Terminal::at(&place);
    terminal.run("org add 'Acme Inc'").await.ok();
    let mut typed = Transcript::new(&terminal.with("TOOLCRIB_ORG", "acme-inc"));
    for line in written.lines().filter_map(|line| line.strip_prefix("$ ")) {
        typed.type_line(line).await;
    }
    typed.into_text()
}
