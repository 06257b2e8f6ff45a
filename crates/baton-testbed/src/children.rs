//! The processes that another one has started.

use std::fs;

use baton_host::ProcessStat;

/// Returns the processes that this one has started and that have not been reaped.
pub(crate) fn children(parent: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("/proc can be listed");
    let processes = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    processes.filter(|process| ProcessStat::of(*process).is_some_and(|stat| stat.parent == parent)).collect()
}
