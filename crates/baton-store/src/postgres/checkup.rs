//! Looking whether the server keeps what it is given.

use baton_engine::store::Checkup;

use super::fault::Fault;
use super::{Node, migrate};

/// The oldest server that we know to work.
const SERVER_MIN: i32 = 140_000;

/// Looks whether the store is sound.
pub(super) async fn checkup(node: &Node) -> Result<Checkup, Fault> {
    let session = node.session().await?;
    let settings = "SELECT current_setting('server_version_num')::integer, current_setting('server_version'),
                           current_setting('fsync'), current_setting('full_page_writes'),
                           current_setting('synchronous_commit'), pg_is_in_recovery(),
                           current_setting('default_transaction_read_only')";
    let mut faults = Vec::new();
    for row in session.query(settings, &[]).await? {
        let number: i32 = row.try_get(0)?;
        if number < SERVER_MIN {
            let version: &str = row.try_get(1)?;
            faults.push(format!("the server is PostgreSQL {version}, but at least 14 is needed"));
        }
        for (column, name) in [(2, "fsync"), (3, "full_page_writes"), (4, "synchronous_commit")] {
            if row.try_get::<_, &str>(column)? == "off" {
                faults.push(format!("{name} is off: accepted work can be lost in a power failure"));
            }
        }
        if row.try_get(5)? {
            faults.push("the server is a standby: nothing can be written".to_owned());
        }
        if row.try_get::<_, &str>(6)? == "on" {
            faults.push("default_transaction_read_only is on: nothing can be written".to_owned());
        }
    }
    Ok(Checkup {
        place: format!("PostgreSQL {}", node.address.place),
        migration: migrate::current(&session).await?,
        migration_known: migrate::known(),
        faults,
    })
}
