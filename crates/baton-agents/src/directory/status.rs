//! Lists what is in the folders.

use jiff::Timestamp;

use super::{Directory, DirectoryError, Folder, SweepProblem, files, id_of};

/// What is in the folders.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Status {
    /// How many handoffs are in each folder, in the order of life.
    pub counts: [usize; 4],
    /// The handoffs that were asked for.
    pub rows: Vec<FolderRow>,
    /// What cannot be read, perhaps only now.
    pub problems: Vec<SweepProblem>,
}

/// One handoff.
#[derive(Debug, Clone, PartialEq)]
pub struct FolderRow {
    /// Which.
    pub id: String,
    /// Who asks.
    pub from: String,
    /// Who is asked.
    pub to: String,
    /// Where it is.
    pub folder: Folder,
    /// The number of the attempt: the current one, the next one or the last one.
    pub attempt: u32,
    /// How urgent it is.
    pub priority: String,
    /// When it was asked for.
    pub created_at: Option<Timestamp>,
    /// When the next attempt may begin.
    pub not_before: Option<Timestamp>,
    /// Why it failed, now or the last time.
    pub error: Option<String>,
}

impl Directory {
    /// Returns how many handoffs each folder holds, and reads those of the given folders.
    pub fn status(&self, folders: &[Folder]) -> Result<Status, DirectoryError> {
        let mut status = Status::default();
        for (folder, count) in Folder::ALL.into_iter().zip(0..) {
            let ids: Vec<_> = files::names(&self.folder(folder))?.iter().filter_map(|name| id_of(name)).collect();
            status.counts[count] = ids.len();
            for id in ids.into_iter().filter(|_| folders.contains(&folder)) {
                let path = self.path(folder, &id);
                match self.read(folder, &id) {
                    Ok(Some((_, handoff))) => {
                        let text = |path: &[&str]| handoff.text(path).map(str::to_owned);
                        status.rows.push(FolderRow {
                            id: id.to_string(),
                            from: text(&["source", "agent_id"]).unwrap_or_default(),
                            to: text(&["target", "agent_id"]).unwrap_or_default(),
                            folder,
                            attempt: handoff.attempt(),
                            priority: text(&["priority"]).unwrap_or_else(|| "normal".to_owned()),
                            created_at: handoff.time("timestamp"),
                            not_before: handoff.time("not_before"),
                            error: text(&["error", "message"]).or_else(|| text(&["last_error", "message"])),
                        });
                    }
                    // It moved on while we looked.
                    Ok(None) if !path.exists() => {}
                    Ok(None) => {
                        status
                            .problems
                            .push(SweepProblem { path, fault: "it cannot be read as JSON (yet)".to_owned() });
                    }
                    Err(error) => status.problems.push(SweepProblem { path, fault: error.to_string() }),
                }
            }
        }
        Ok(status)
    }
}
