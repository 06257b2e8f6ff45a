//! Starts a PostgreSQL server for a whole run of tests, prints its URL, and stops it when stdin closes.

use std::io::{Read as _, Write as _};

use baton_testbed::PostgresServer;

fn main() -> std::io::Result<()> {
    let postgres = PostgresServer::start_without_fsync();
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{}", postgres.url())?;
    stdout.flush()?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    drop(postgres);
    Ok(())
}
