//! From what a workflow says about a phase to the cage of its processes.
//!
//! Outside of the workspace nothing can be changed but temporary files, caches of build tools, and what a coding agent keeps
//! in the home folder. Keys and the sockets of daemons that would run something outside of the cage are hidden.

mod git;
mod key_agents;
mod sockets;
mod writes;

use std::io;
use std::path::{Path, PathBuf};

use baton_host::SharedFolder;
use baton_protocol::workflow::Confinement;

use crate::process::{Cage, Environment, Launcher, ssh_agent};

/// Where Baton keeps what agents may see of their attempts, in the workspace.
pub(crate) const OURS: &str = ".baton";

/// Temporary folders beside `TMPDIR`, which processes in a cage may change.
pub const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];

/// Caches in the home folder that build tools cannot do without. What is run from there is not among them.
const CACHES: [&str; 10] = [
    ".cache",
    ".cargo/registry",
    ".cargo/git",
    ".npm",
    ".gradle/caches",
    ".m2/repository",
    ".bun/install/cache",
    ".local/share/pnpm/store",
    ".nuget/packages",
    "go/pkg",
];

/// Keys in the home folder.
const KEYS: [&str; 2] = [".ssh", ".gnupg"];

/// What processes may change in the workspace.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bounds<'a> {
    /// Everything.
    None,
    /// What fits the patterns.
    Within(&'a [String]),
    /// Everything but the repository, because no pattern names it.
    BesideGit,
}

impl<'a> Bounds<'a> {
    /// Returns the bounds of those who may change what fits the patterns, or everything.
    pub(crate) fn of(writes: Option<&'a [String]>) -> Self {
        writes.map_or(Bounds::None, Bounds::Within)
    }

    /// Returns the bounds of commands that may write anywhere, but commit only if the patterns say so.
    pub(crate) fn of_tests(writes: Option<&[String]>) -> Self {
        let names_git = |pattern: &String| {
            let pattern = pattern.trim_start_matches("./");
            pattern == ".git" || pattern.starts_with(".git/")
        };
        match writes {
            Some(writes) if !writes.iter().any(names_git) => Bounds::BesideGit,
            _ => Bounds::None,
        }
    }
}

/// Where processes work, and what they may change there.
pub(crate) struct Ground<'a> {
    /// Where they work.
    pub(crate) workspace: &'a Path,
    /// What they may change there.
    pub(crate) bounds: Bounds<'a>,
    /// What earlier attempts have made where they may not, by its path in the workspace.
    pub(crate) undo: &'a [String],
    /// Further folders that they may change: where output goes, and the folder of the attempt.
    pub(crate) own: Vec<&'a Path>,
    /// What their programs keep in the home folder.
    pub(crate) home: Vec<&'static str>,
    /// What of all that these programs only read.
    pub(crate) settings: Vec<PathBuf>,
    /// What they see; `HOME`, `TMPDIR` and named sockets are theirs.
    pub(crate) environment: &'a Environment,
}

/// Why a folder is not opened up: an agent has put something else in its place, or in the place of one around it.
#[derive(Debug, thiserror::Error)]
#[error("no agent may write in {}: {why}", path.display())]
pub(crate) struct MisplacedFolder {
    path: PathBuf,
    why: io::Error,
}

impl Ground<'_> {
    /// Builds the cage; `None` if it is switched off.
    pub(crate) fn cage(&self, confinement: &Confinement) -> Result<Option<Cage>, MisplacedFolder> {
        if confinement.off {
            return Ok(None);
        }
        self.own.iter().try_for_each(|path| self.is_in_place(path))?;
        let mut cage = Cage::read_only();
        self.furnish_surroundings(&mut cage);
        self.furnish_workspace(&mut cage);
        let wanted: Vec<PathBuf> = confinement.cage.write.iter().filter_map(|path| self.place(path)).collect();
        for path in self.secrets().into_iter().filter(|path| !wanted.iter().any(|wanted| wanted.starts_with(path))) {
            cage.hide(&path);
        }
        wanted.iter().for_each(|path| cage.open_up(path));
        confinement.cage.hide.iter().filter_map(|path| self.place(path)).for_each(|path| cage.hide(&path));
        if confinement.cage.network == Some(false) {
            cage.cut_off();
        }
        Ok(Some(cage))
    }

    /// Makes sure that no link leads to a folder from the workspace. What an earlier agent has linked may lead anywhere.
    fn is_in_place(&self, path: &Path) -> Result<(), MisplacedFolder> {
        SharedFolder::stays_below(self.workspace, path).map_err(|why| MisplacedFolder { path: path.to_owned(), why })
    }

    fn furnish_surroundings(&self, cage: &mut Cage) {
        self.temporary().iter().for_each(|path| cage.open_up(path));
        for path in CACHES.iter().chain(&self.home).filter_map(|path| Some(self.at_home()?.join(path))) {
            cage.open_up(&path);
        }
    }

    fn furnish_workspace(&self, cage: &mut Cage) {
        match self.bounds {
            Bounds::Within(patterns) => {
                cage.note_named_writes();
                writes::open_up(cage, self.workspace, patterns, self.undo);
            }
            Bounds::BesideGit => {
                cage.open_up(self.workspace);
                cage.close(&self.workspace.join(".git"));
            }
            Bounds::None => {
                cage.open_up(self.workspace);
                git::folders_outside(self.workspace).iter().for_each(|path| cage.open_up(path));
            }
        }
        // What other attempts have left is not for this one to change.
        cage.close(&self.workspace.join(OURS));
        self.own.iter().for_each(|path| cage.open_up(path));
        self.settings.iter().for_each(|path| cage.close(path));
    }

    /// Returns what opens doors that are not named.
    fn secrets(&self) -> Vec<PathBuf> {
        let keys = KEYS.iter().filter_map(|path| Some(self.at_home()?.join(path)));
        let agents = ssh_agent().into_iter().chain(key_agents::places(self.at_home(), &self.temporary()));
        // Only namespaces keep a process from a socket that it knows; elsewhere those with a telling name are named for what
        // they are.
        let can_hide = Launcher::protection().is_full();
        let is_meant = |path: &PathBuf| key_agents::is_telling(path) || can_hide && sockets::is_ours(path);
        let sockets = sockets::listening().into_iter().filter(is_meant);
        // Whoever passes on where it is wants it to be used.
        let passed_on = self.environment.get("SSH_AUTH_SOCK").map(Path::new);
        let agents = agents.chain(sockets);
        let agents = agents.filter(|place| !passed_on.is_some_and(|passed_on| passed_on.starts_with(place)));
        keys.chain(agents).chain(sockets::usual(self.at_home())).collect()
    }

    /// Returns the temporary folders.
    fn temporary(&self) -> Vec<PathBuf> {
        let named = self.environment.get("TMPDIR").map(PathBuf::from);
        named.into_iter().chain(TEMPORARY.map(PathBuf::from)).collect()
    }

    fn at_home(&self) -> Option<&Path> {
        self.environment.get("HOME").map(Path::new).filter(|path| path.is_absolute())
    }

    /// Returns a place that a workflow names: in the home folder, in the workspace, or anywhere.
    fn place(&self, path: &str) -> Option<PathBuf> {
        match path.strip_prefix('~') {
            Some(rest) => Some(self.at_home()?.join(rest.trim_start_matches('/'))),
            None => Some(self.workspace.join(path)),
        }
    }
}
