//! What a process and its children may use up. In a cage it is set from outside before the command begins; elsewhere the
//! program `prlimit` sets it.

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
    pub fn of(cage: &workflow::CageFields) -> ResourceLimits {
        ResourceLimits { processes: cage.processes, file_megabytes: cage.file_megabytes, open_files: cage.open_files }
    }

    /// Returns the limits of a cage that are lower than our own.
    pub(super) fn of_a_cage(&self) -> Vec<(Resource, Rlimit)> {
        self.lowered(Some(PROCESSES))
    }

    /// Returns the words before a command that set the limits outside of a cage.
    ///
    /// There the kernel counts all processes of the user, so the usual limit would hit whoever has many.
    pub(super) fn words(&self, prlimit: Option<&Path>) -> Vec<OsString> {
        let (Some(prlimit), limits) = (prlimit, self.lowered(None)) else { return Vec::new() };
        if limits.is_empty() {
            return Vec::new();
        }
        let options = limits.into_iter().map(|(resource, limit)| option(resource, limit).into());
        [prlimit.into()].into_iter().chain(options).chain(["--".into()]).collect()
    }

    fn lowered(&self, usual_processes: Option<u64>) -> Vec<(Resource, Rlimit)> {
        let file_bytes = self.file_megabytes.unwrap_or(FILE_MEGABYTES).saturating_mul(1024 * 1024);
        let wanted = [
            (Resource::Nproc, self.processes.or(usual_processes)),
            (Resource::Fsize, Some(file_bytes)),
            (Resource::Nofile, Some(self.open_files.unwrap_or(OPEN_FILES))),
        ];
        let wanted = wanted.into_iter().filter_map(|(resource, most)| Some((resource, most?)));
        wanted.filter_map(|(resource, most)| Some((resource, lower(&getrlimit(resource), most)?))).collect()
    }
}

/// Lowers a limit; `None` if it is low enough. Nobody may raise one.
fn lower(now: &Rlimit, most: u64) -> Option<Rlimit> {
    let lowered = |limit: Option<u64>| Some(limit.map_or(most, |limit| limit.min(most)));
    let new = Rlimit { current: lowered(now.current), maximum: lowered(now.maximum) };
    (new != *now).then_some(new)
}

/// Returns the option of `prlimit` that sets a limit.
fn option(resource: Resource, limit: Rlimit) -> String {
    let name = match resource {
        Resource::Nproc => "nproc",
        Resource::Fsize => "fsize",
        _ => "nofile",
    };
    let number = |limit: Option<u64>| limit.map_or_else(|| "unlimited".to_owned(), |limit| limit.to_string());
    format!("--{name}={}:{}", number(limit.current), number(limit.maximum))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_lowered_and_never_raised() {
        let limit = |current, maximum| Rlimit { current, maximum };
        assert_eq!(lower(&limit(Some(1024), Some(4096)), 65_536), None);
        assert_eq!(lower(&limit(Some(1024), None), 65_536), Some(limit(Some(1024), Some(65_536))));
        assert_eq!(lower(&limit(None, None), 5), Some(limit(Some(5), Some(5))));
        assert_eq!(option(Resource::Nofile, limit(Some(1024), Some(65_536))), "--nofile=1024:65536");
    }

    #[test]
    fn processes_are_limited_where_they_are_counted_apart() {
        let outside = |limits: ResourceLimits| {
            let words = limits.words(Some(Path::new("prlimit")));
            words.iter().any(|word| word.to_string_lossy().starts_with("--nproc="))
        };
        let usual = ResourceLimits::default();
        assert!(usual.of_a_cage().iter().any(|(resource, _)| *resource == Resource::Nproc));
        assert!(!outside(usual));
        assert!(outside(ResourceLimits { processes: Some(9), ..usual }));
        assert!(usual.words(None).is_empty());
    }
}
