//! What Linux tells about a process in `/proc/PID/stat`.

use std::fs;

/// The fields of the file that somebody uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessStat {
    /// What it does, in a letter.
    pub state: char,
    /// The process that has started it.
    pub parent: u32,
    /// Time in user and kernel mode, in clock ticks.
    pub cpu_ticks: u64,
    /// When it was started, in clock ticks since the machine was.
    pub start_ticks: u64,
    /// Pages of memory that it holds.
    pub resident_pages: u64,
    /// Whether it has been killed, or is about to end, and is not gone yet.
    pub is_ending: bool,
}

/// The flags of a process that does nothing of its own any more: it exits, or a signal has ended it.
const EXITING: u64 = 0x4 | 0x400;

/// The bit of SIGKILL among the signals that a process has yet to receive.
const KILLED: u64 = 1 << 8;

impl ProcessStat {
    /// Reads the numbers of a process; `None` if it is gone, or cannot be seen.
    pub fn of(process: u32) -> Option<ProcessStat> {
        parse(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
    }

    /// Returns whether it has ended and only waits to be buried by whoever started it.
    pub fn has_ended(&self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }

    /// Returns whether somebody has stopped it.
    pub fn is_stopped(&self) -> bool {
        matches!(self.state, 'T' | 't')
    }
}

fn parse(text: &str) -> Option<ProcessStat> {
    // The name before may contain anything, spaces and brackets too.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?.chars().next()?;
    let parent = fields.next()?.parse().ok()?;
    let mut number = |skipped: usize| fields.nth(skipped)?.parse::<u64>().ok();
    let flags = number(4)?;
    let cpu_ticks = number(4)? + number(0)?;
    let (start_ticks, resident_pages) = (number(6)?, number(1)?);
    let pending = number(6)?;
    let is_ending = flags & EXITING != 0 || pending & KILLED != 0;
    Some(ProcessStat { state, parent, cpu_ticks, start_ticks, resident_pages, is_ending })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_behind_any_name() {
        let text = |flags: u32, pending: u32| {
            format!(
                "42 (a) b (c)) S 7 42 42 0 -1 {flags} 10 20 0 0 150 50 3 4 20 0 1 0 99 1000 77 18446744073709551615 \
                 1 2 3 4 5 {pending} 0 0 0"
            )
        };
        let expected = ProcessStat {
            state: 'S',
            parent: 7,
            cpu_ticks: 200,
            start_ticks: 99,
            resident_pages: 77,
            is_ending: false,
        };
        assert_eq!(parse(&text(4_194_560, 0)), Some(expected));
        for ending in [text(4_194_564, 0), text(4_195_584, 0), text(4_194_560, 256)] {
            assert_eq!(parse(&ending), Some(ProcessStat { is_ending: true, ..expected }), "{ending}");
        }
    }

    #[test]
    fn our_own_numbers_are_there() {
        let ours = ProcessStat::of(std::process::id()).expect("we live");
        assert!(
            ours.resident_pages > 0
                && ours.start_ticks > 0
                && !ours.has_ended()
                && !ours.is_stopped()
                && !ours.is_ending
        );
        assert_eq!(ProcessStat::of(0), None);
    }
}
