//! What SQLite says when it fails, as errors that tell what to do.

use std::path::Path;

use baton_engine::store::Error;
use rusqlite::ErrorCode;

/// Translates an error of SQLite.
pub(super) fn translate(error: rusqlite::Error) -> Error {
    let text = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => Error::Unwritable(format!("the disk is full ({text})")),
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => Error::Unwritable(text),
        Some(ErrorCode::SystemIoFailure) => Error::Unwritable(format!("the disk does not take or give it ({text})")),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Error::Damaged(text),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            Error::Unreachable(format!("another program holds the database ({text})"))
        }
        _ => Error::Failed(text),
    }
}

/// Translates an error of opening the file.
pub(super) fn opening(path: &Path, error: &rusqlite::Error) -> Error {
    let text = format!("{}: {error}", path.display());
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Error::Damaged(text),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::Unreachable(text),
        _ => Error::Unwritable(text),
    }
}
