//! The least that a handoff through folders needs: the same files written, synced, renamed, and nothing else.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Folders in which nothing is decided.
pub(crate) struct Bare {
    root: PathBuf,
    content: Vec<u8>,
    registry: Vec<u8>,
    count: usize,
}

impl Bare {
    pub(crate) fn new(root: &Path, content: &str) -> Bare {
        Bare { root: root.to_owned(), content: content.as_bytes().to_vec(), registry: Vec::new(), count: 0 }
    }

    /// Creates, claims and completes once.
    pub(crate) fn cycle(&mut self, artifact: bool) {
        self.count += 1;
        let name = format!("hoff-{}.json", self.count);
        let path = |folder: &str| self.root.join("handoffs").join(folder).join(&name);
        let (pending, claimed, done) = (path("pending"), path("in-progress"), path("completed"));
        place(&pending, &self.content);
        sync_folder(&pending);

        let temporary = write(&claimed, &self.content);
        rename(&pending, &claimed);
        rename(&temporary, &claimed);
        sync_folder(&claimed);

        if artifact {
            let made = self.root.join("artifacts").join(&name);
            place(&made, &self.content);
            sync_folder(&made);
            // The list grows by one entry with every artifact, as ours does.
            self.registry.extend(std::iter::repeat_n(b'x', 300));
            let list = self.root.join("artifacts").join("registry.json");
            place(&list, &self.registry);
            sync_folder(&list);
        }
        let temporary = write(&done, &self.content);
        let private = claimed.with_extension("private");
        rename(&claimed, &private);
        rename(&temporary, &done);
        sync_folder(&done);
        fs::remove_file(private).expect("it is there");
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

fn write(place: &Path, content: &[u8]) -> PathBuf {
    let temporary = place.with_extension("tmp");
    let mut file = File::create(&temporary).expect("it can be written");
    file.write_all(content).and_then(|()| file.sync_all()).expect("it can be written");
    temporary
}

fn place(place: &Path, content: &[u8]) {
    rename(&write(place, content), place);
}

fn rename(from: &Path, to: &Path) {
    fs::rename(from, to).expect("it can be renamed");
}

fn sync_folder(file: &Path) {
    File::open(file.parent().expect("a folder")).and_then(|folder| folder.sync_all()).expect("it can be synced");
}
