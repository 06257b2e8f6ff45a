//! Creators and claimants in a hurry: whoever creates a handoff is told that it is there, however fast it is taken.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use baton_agents::directory::{Directory, DirectoryError, Folder, NewFolderHandoff};
use baton_engine::HandoffId;
use serde_json::json;

use crate::role::now;

/// Creates handoffs while others claim and complete them. Returns those whose creator was told that they exist already.
pub(crate) fn refused_creations(root: &Path, count: usize) -> Vec<String> {
    let over = AtomicBool::new(false);
    Directory::init(root).expect("folders can be made");
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| claim_until(root, &over));
        }
        let directory = Directory::open(root).expect("the folders are there");
        let refused = (0..count).filter_map(|number| {
            let id = format!("hasty-{number}");
            let id = Some(HandoffId::parse(id).expect("a safe id"));
            let new = NewFolderHandoff { id, ..NewFolderHandoff::new("lead", "ada", json!({})) };
            match directory.create(&new, now()) {
                Ok(_) => None,
                Err(DirectoryError::Exists { id, .. }) => Some(id.to_string()),
                Err(error) => panic!("{error}"),
            }
        });
        let refused = refused.collect();
        over.store(true, Ordering::Relaxed);
        refused
    })
}

/// Claims as a plain script does: it renames whatever it sees.
fn claim_until(root: &Path, over: &AtomicBool) {
    let directory = Directory::open(root).expect("the folders are there");
    let (pending, claimed) = (directory.folder(Folder::Pending), directory.folder(Folder::InProgress));
    while !over.load(Ordering::Relaxed) {
        for entry in fs::read_dir(&pending).expect("the folder is there").flatten() {
            let name = entry.file_name();
            if !name.to_string_lossy().starts_with('.') {
                // Another one may have been faster.
                let _ = fs::rename(pending.join(&name), claimed.join(&name));
            }
        }
    }
}
