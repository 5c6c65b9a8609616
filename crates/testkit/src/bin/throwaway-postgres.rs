//! Starts a temporary PostgreSQL server, prints the URL of an empty database and the server's process id, and stops when stdin
//! closes.

use std::io::Write;

use testkit::postgres::{Server, Settings};

fn main() -> std::io::Result<()> {
    let server = Server::start(&Settings::default());
    let mut output = std::io::stdout();
    writeln!(output, "{} {}", server.fresh_database(), server.process_id())?;
    output.flush()?;
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
    Ok(())
}
