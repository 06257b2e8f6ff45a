//! Moving and removing a store, while nobody uses it: a program that went on with the old file would lose its work.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use baton_engine::store::StoreError;
use baton_host::atomic_file::rename_new;
use baton_host::folders::sync_folder;
use rusqlite::Connection;

use super::lock::Lock;
use super::{fault, migrate, open};

/// How long others may take to finish what they do at this moment.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long to wait before looking whether others are gone.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Moves a store into a folder that is there. What is already in its place stays, and is an error.
pub fn relocate(from: &Path, to: &Path) -> Result<(), StoreError> {
    take_away(from, || put(from, to).map_err(|error| StoreError::Unwritable(format!("{}: {error}", to.display()))))
}

/// Removes a store with everything in it.
pub fn remove(path: &Path) -> Result<(), StoreError> {
    take_away(path, || {
        fs::remove_file(path).map_err(|error| StoreError::Unwritable(format!("{}: {error}", path.display())))
    })
}

/// Lets a store leave its place, while nobody else has it.
fn take_away(path: &Path, leave: impl FnOnce() -> Result<(), StoreError>) -> Result<(), StoreError> {
    let lock = Lock::beside(path)?;
    let held = lock.acquire_within(PATIENCE)?;
    let connection = alone(path)?;
    leave()?;
    drop(connection);
    for extension in ["lock", "wake"] {
        // They hold nothing; what cannot be removed is in nobody's way.
        let _ = fs::remove_file(path.with_extension(extension));
    }
    drop(held);
    Ok(())
}

/// Brings all of a database into its one file, which SQLite does only for whoever is alone with it.
fn alone(path: &Path) -> Result<Connection, StoreError> {
    let failed = |error: rusqlite::Error| fault::at(path, fault::translate(error));
    let connection = open(path)?;
    connection.busy_timeout(PATIENCE).map_err(failed)?;
    migrate::refuse_strangers(&connection).map_err(|error| fault::at(path, error))?;
    let start = Instant::now();
    // SQLite itself does not wait for this one, and another command may just be ending.
    while let Err(error) = connection.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(())) {
        match failed(error) {
            StoreError::Unreachable(_) if start.elapsed() < PATIENCE => thread::sleep(LOOK_AGAIN),
            StoreError::Unreachable(_) => {
                return Err(StoreError::Unreachable(format!("{}: another program has it open", path.display())));
            }
            error => return Err(error),
        }
    }
    connection.execute_batch("BEGIN EXCLUSIVE").map_err(failed)?;
    Ok(connection)
}

fn put(from: &Path, to: &Path) -> io::Result<()> {
    let folders = [to.parent(), from.parent()].into_iter().flatten();
    match rename_new(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => copy(from, to)?,
        renamed => renamed?,
    }
    folders.filter(|folder| !folder.as_os_str().is_empty()).try_for_each(sync_folder)
}

/// Copies a file to another disk; it is in its place with all of its bytes before the first one goes.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let part = to.with_extension("part");
    fs::copy(from, &part)?;
    File::open(&part)?.sync_all()?;
    rename_new(&part, to)?;
    fs::remove_file(from)
}

#[cfg(test)]
mod tests {
    use baton_engine::queue::Queue;
    use baton_engine::store::Store as _;
    use baton_testbed::Scratch;

    use super::*;
    use crate::sqlite::Sqlite;

    async fn stocked(path: &Path) -> Sqlite {
        let store = Sqlite::open(path).expect("it opens");
        store.set_queue(&Queue { paused: true, ..Queue::open("b") }).await.expect("set");
        store
    }

    #[tokio::test]
    async fn store_is_moved_with_what_its_log_held_and_nothing_stays_behind() {
        let scratch = Scratch::new();
        let (from, to) = (scratch.path("old/baton.db"), scratch.path("new/baton.db"));
        scratch.folder("new");
        drop(stocked(&from).await);
        relocate(&from, &to).expect("moved");
        assert_eq!(fs::read_dir(scratch.path("old")).expect("a folder").count(), 0);
        assert!(Sqlite::open(&to).expect("it opens").queue("b").await.expect("there").paused);
    }

    #[tokio::test]
    async fn store_that_somebody_has_open_stays_where_it_is() {
        let scratch = Scratch::new();
        let (from, to) = (scratch.path("old/baton.db"), scratch.path("new/baton.db"));
        scratch.folder("new");
        let store = stocked(&from).await;
        assert!(store.queue("b").await.expect("there").paused);
        let Err(StoreError::Unreachable(why)) = relocate(&from, &to) else { panic!("somebody has it open") };
        assert!(why.contains("old/baton.db: another program has it open"), "{why}");
        assert!(from.exists() && !to.exists());
        assert!(matches!(remove(&from), Err(StoreError::Unreachable(_))) && from.exists());
        store.set_queue(&Queue::open("b")).await.expect("it can still be written");
    }

    #[tokio::test]
    async fn store_that_is_removed_leaves_nothing_behind() {
        let scratch = Scratch::new();
        drop(stocked(&scratch.path("old/baton.db")).await);
        remove(&scratch.path("old/baton.db")).expect("removed");
        assert_eq!(fs::read_dir(scratch.path("old")).expect("a folder").count(), 0);
    }

    #[tokio::test]
    async fn store_that_is_in_the_way_is_not_overwritten() {
        let scratch = Scratch::new();
        let (from, to) = (scratch.path("old/baton.db"), scratch.path("new/baton.db"));
        drop(stocked(&from).await);
        scratch.write("new/baton.db", "another one");
        assert!(matches!(relocate(&from, &to), Err(StoreError::Unwritable(_))));
        assert_eq!(scratch.read("new/baton.db"), "another one");
        assert!(Sqlite::open(&from).expect("it opens").queue("b").await.expect("there").paused);
    }
}
