//! What a process and its children may use up. The program `prlimit` sets it right before the command begins.

use std::ffi::OsString;
use std::path::Path;

use baton_protocol::workflow;
use rustix::process::{Resource, Rlimit, getrlimit};

/// The most processes of a cage, unless somebody says otherwise.
const PROCESSES: u64 = 4096;
/// The most MiB of a file.
const FILE_MEGABYTES: u64 = 16 * 1024;
/// The most open files of a process.
const OPEN_FILES: u64 = 65_536;

/// What a process and its children may use up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ResourceLimits {
    processes: Option<u64>,
    file_megabytes: Option<u64>,
    open_files: Option<u64>,
}

impl ResourceLimits {
    /// Takes what a workflow says; the rest is as usual.
    pub fn of(cage: &workflow::Cage) -> ResourceLimits {
        ResourceLimits { processes: cage.processes, file_megabytes: cage.file_megabytes, open_files: cage.open_files }
    }

    /// Returns the words before a command that set the limits.
    ///
    /// Outside of a cage the kernel counts all processes of the user, so the usual limit would hit whoever has many.
    pub(super) fn words(&self, prlimit: Option<&Path>, counted_apart: bool) -> Vec<OsString> {
        let Some(prlimit) = prlimit else { return Vec::new() };
        let processes = self.processes.or(counted_apart.then_some(PROCESSES));
        let file_bytes = self.file_megabytes.unwrap_or(FILE_MEGABYTES).saturating_mul(1024 * 1024);
        let wanted = [
            ("nproc", Resource::Nproc, processes),
            ("fsize", Resource::Fsize, Some(file_bytes)),
            ("nofile", Resource::Nofile, Some(self.open_files.unwrap_or(OPEN_FILES))),
        ];
        let options = wanted.into_iter().filter_map(|(name, resource, most)| option(name, getrlimit(resource), most?));
        let options: Vec<OsString> = options.collect();
        if options.is_empty() {
            return Vec::new();
        }
        [prlimit.into()].into_iter().chain(options).chain(["--".into()]).collect()
    }
}

/// Returns the option that lowers a limit; `None` if it is low enough. Nobody may raise one.
fn option(name: &str, now: Rlimit, most: u64) -> Option<OsString> {
    let lowered = |limit: Option<u64>| limit.map_or(most, |limit| limit.min(most));
    let (soft, hard) = (lowered(now.current), lowered(now.maximum));
    let is_new = (Some(soft), Some(hard)) != (now.current, now.maximum);
    is_new.then(|| format!("--{name}={soft}:{hard}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_lowered_and_never_raised() {
        let now = |current, maximum| Rlimit { current, maximum };
        assert_eq!(option("nofile", now(Some(1024), Some(4096)), 65_536), None);
        assert_eq!(option("nofile", now(Some(1024), None), 65_536), Some("--nofile=1024:65536".into()));
        assert_eq!(option("fsize", now(None, None), 5), Some("--fsize=5:5".into()));
    }

    #[test]
    fn processes_are_limited_where_they_are_counted_apart() {
        let words = |limits: ResourceLimits, apart| {
            let words = limits.words(Some(Path::new("prlimit")), apart);
            words.iter().any(|word| word.to_string_lossy().starts_with("--nproc="))
        };
        assert!(words(ResourceLimits::default(), true));
        assert!(!words(ResourceLimits::default(), false));
        assert!(words(ResourceLimits { processes: Some(9), ..ResourceLimits::default() }, false));
        assert!(ResourceLimits::default().words(None, true).is_empty());
    }
}
