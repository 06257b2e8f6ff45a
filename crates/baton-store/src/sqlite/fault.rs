//! What SQLite says when it fails, as errors that tell what to do.

use std::path::Path;

use baton_engine::store::StoreError;
use rusqlite::{ErrorCode, ffi};

/// Translates an error of SQLite.
pub(super) fn translate(error: rusqlite::Error) -> StoreError {
    let text = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Unwritable(format!("the disk is full ({text})")),
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => StoreError::Unwritable(text),
        // The file ends before the last page that it says it has.
        Some(ErrorCode::SystemIoFailure) if is_short(&error) => StoreError::Damaged(text),
        Some(ErrorCode::SystemIoFailure) => {
            StoreError::Unwritable(format!("the disk cannot be read or written ({text})"))
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Damaged(text),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            StoreError::Unreachable(format!("another program writes to the database ({text})"))
        }
        _ if is_no_value_of_ours(&error) => StoreError::Damaged(text),
        // Our migrations make every table; whoever dropped one has damaged the store.
        _ if text.starts_with("no such table") => StoreError::Damaged(text),
        _ => StoreError::Failed(text),
    }
}

/// Returns whether a value was read that we never write: a text that is not UTF-8, a number where a text belongs.
fn is_no_value_of_ours(error: &rusqlite::Error) -> bool {
    use rusqlite::Error as Sql;
    matches!(
        error,
        Sql::Utf8Error(..)
            | Sql::FromSqlConversionFailure(..)
            | Sql::IntegralValueOutOfRange(..)
            | Sql::InvalidColumnType(..)
    )
}

fn is_short(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|error| error.extended_code == ffi::SQLITE_IOERR_SHORT_READ)
}

/// Returns which file an error is about, unless it does so already.
pub(super) fn at(path: &Path, error: StoreError) -> StoreError {
    let file = path.display().to_string();
    let named = |why: String| if why.contains(&file) { why } else { format!("{file}: {why}") };
    match error {
        StoreError::Unreachable(why) => StoreError::Unreachable(named(why)),
        StoreError::Unwritable(why) => StoreError::Unwritable(named(why)),
        StoreError::Gone(why) => StoreError::Gone(named(why)),
        StoreError::Damaged(why) => StoreError::Damaged(named(why)),
        StoreError::Newer(why) => StoreError::Newer(named(why)),
        StoreError::Failed(why) => StoreError::Failed(named(why)),
        // The others are about the request, not about the file.
        other => other,
    }
}

/// Translates an error of opening the file.
pub(super) fn opening(path: &Path, error: &rusqlite::Error) -> StoreError {
    let text = format!("{}: {error}", path.display());
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Damaged(text),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Unreachable(text),
        _ => StoreError::Unwritable(text),
    }
}
