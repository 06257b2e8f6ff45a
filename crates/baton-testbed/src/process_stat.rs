//! What Linux tells about a process in `/proc/PID/stat`.

use std::fs;

/// The fields of the file that we use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProcessStat {
    pub(crate) parent: u32,
    /// Time in user and kernel mode, in clock ticks.
    pub(crate) cpu_ticks: u64,
    pub(crate) resident_pages: u64,
}

impl ProcessStat {
    /// Reads the numbers of a process, or nothing if it is gone.
    pub(crate) fn of(process: u32) -> Option<Self> {
        parse(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
    }
}

/// Returns the processes that this one has started and that have not been reaped.
pub(crate) fn children(parent: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").expect("/proc can be listed");
    let processes = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    processes.filter(|process| ProcessStat::of(*process).is_some_and(|stat| stat.parent == parent)).collect()
}

fn parse(text: &str) -> Option<ProcessStat> {
    // The name before may contain anything, spaces and brackets too.
    let (_, rest) = text.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some(ProcessStat {
        parent: fields.get(1)?.parse().ok()?,
        cpu_ticks: number(11)? + number(12)?,
        resident_pages: number(21)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_behind_any_name() {
        let text = "42 (a) b (c)) S 7 42 42 0 -1 4194560 10 20 0 0 150 50 3 4 20 0 1 0 99 1000 77 18446744073709551615";
        assert_eq!(parse(text), Some(ProcessStat { parent: 7, cpu_ticks: 200, resident_pages: 77 }));
    }

    #[test]
    fn our_own_numbers_are_there() {
        assert!(ProcessStat::of(std::process::id()).unwrap().resident_pages > 0);
        assert_eq!(ProcessStat::of(0), None);
    }
}
