//! The one way to start a process: in a session of its own, within limits, protected by the best that this machine has.
//!
//! What the machine has is found out once. The programs `bwrap`, `setsid` and `prlimit` are looked for where Baton itself
//! was started, never where a process may put them.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use baton_engine::StateFolder;
use baton_engine::agent::Job;
use baton_engine::protection::Protection;
use baton_host::{is_program, open_followed};
use baton_protocol::workflow::Confinement;
use tokio::process::{Child, Command};

use super::bubblewrap::Bubblewrap;
use super::cage::Cage;
use super::{Environment, Launch, ProcessEnd, Running, TimeLimits, landlock, threshold};

/// Why there is no cage although the machine may have one.
const SWITCHED_OFF: &str = "sandbox: off";

/// Starts processes.
///
/// ```
/// use baton_agents::Launcher;
/// use baton_agents::process::{Launch, ProcessEnd};
/// # use std::time::Duration;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
///
/// let launch = Launch { arguments: vec!["-c".into(), "echo done; exit 3".into()], ..Launch::new("/bin/sh") };
/// let end = Launcher::default().run(launch, Some(Duration::from_secs(60)), Duration::from_secs(1)).await?;
/// let ProcessEnd::Exited { status, stdout, .. } = end else { panic!("{end:?}") };
/// assert_eq!((status.code(), &stdout[..]), (Some(3), &b"done\n"[..]));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Launcher {
    /// Files and folders that no process in a cage sees.
    pub hidden: Vec<PathBuf>,
    /// Files that say how Baton works. In a workspace that can be changed they can be read: whoever commits everything would
    /// commit that they are gone.
    pub configuration: Vec<PathBuf>,
    /// The workflow and its scripts. Nobody changes them, except in a workspace whose workflow names what may be changed.
    pub scripts: Vec<PathBuf>,
    /// Where attempts have folders that no other agent reaches.
    pub state: Option<StateFolder>,
    /// Whether agents get the trace of their run, because somebody collects it.
    pub traces: bool,
}

/// What this machine has.
struct Machine {
    cages: Cages,
    setsid: Option<PathBuf>,
    prlimit: Option<PathBuf>,
}

enum Cages {
    Bubblewrap(Bubblewrap),
    Landlock { why: String },
    Nothing { why: String },
}

static MACHINE: LazyLock<Machine> = LazyLock::new(|| {
    let ours = Environment::inherited();
    let find = |program: &str| Some(ours.find(Path::new(program))).filter(|path| path.is_absolute());
    let cages = match (Bubblewrap::try_out(find("bwrap").as_deref()), landlock::try_out()) {
        (Ok(bubblewrap), _) => Cages::Bubblewrap(bubblewrap),
        (Err(why), Ok(())) => Cages::Landlock { why },
        (Err(why), Err(also)) => Cages::Nothing { why: format!("{why}, and {also}") },
    };
    Machine { cages, setsid: find("setsid"), prlimit: find("prlimit") }
});

/// How a process is kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Apart {
    /// In a namespace of processes, which ends with its first one.
    Caged,
    /// In a session.
    Session,
    /// In a group.
    Group,
}

impl Launcher {
    /// Returns what protects processes here that nobody has let out of the cage.
    pub fn protection() -> Protection {
        match &MACHINE.cages {
            Cages::Bubblewrap(_) => Protection::Bubblewrap,
            Cages::Landlock { why } => Protection::Landlock { why: why.clone() },
            Cages::Nothing { why } => Protection::Nothing { why: why.clone() },
        }
    }

    /// Returns what protects processes that are confined like this.
    pub fn protection_of(confinement: &Confinement) -> Protection {
        if confinement.off { Protection::Nothing { why: SWITCHED_OFF.to_owned() } } else { Launcher::protection() }
    }

    /// Returns where an agent answers if others could write in the folder of its attempt: Landlock cannot close a folder inside
    /// of one that can be changed.
    pub(crate) fn answers_of(&self, job: &Job) -> Option<PathBuf> {
        match Launcher::protection_of(&job.confinement) {
            Protection::Landlock { .. } => {
                Some(self.state.as_ref()?.measures(&job.workspace, &job.folder).join("answers"))
            }
            Protection::Bubblewrap | Protection::Nothing { .. } => None,
        }
    }

    /// Returns which programs are missing without which processes have no session or no limits.
    pub fn missing_programs() -> Vec<&'static str> {
        let programs = [("setsid", &MACHINE.setsid), ("prlimit", &MACHINE.prlimit)];
        programs.into_iter().filter(|(_, path)| path.is_none()).map(|(name, _)| name).collect()
    }

    /// Starts a program and waits for its end. Fails if it cannot be started.
    pub async fn run(&self, launch: Launch, limit: Option<Duration>, grace: Duration) -> io::Result<ProcessEnd> {
        let limits = TimeLimits { whole: limit, silence: None, grace };
        self.run_within(launch, limits).await
    }

    /// Does the same, within other limits of time.
    pub async fn run_within(&self, launch: Launch, limits: TimeLimits) -> io::Result<ProcessEnd> {
        Ok(self.start(launch)?.end_within(limits).await)
    }

    /// Starts a program.
    pub fn start(&self, launch: Launch) -> io::Result<Running> {
        let program = launch.environment.find(&launch.program);
        // Whatever stands between us and the program would say in its own words that it is not there.
        is_startable(&program, launch.folder.as_deref())?;
        let cage = launch.cage.clone().map(|cage| self.furnished(cage, launch.folder.as_deref()));
        let arguments: Vec<OsString> = launch.arguments.iter().map(OsString::from).collect();
        let command = [program.into()].into_iter().chain(arguments);
        if let (Cages::Bubblewrap(bubblewrap), Some(cage)) = (&MACHINE.cages, &cage) {
            let (threshold, inherited) = threshold::open(launch.limits.of_a_cage())?;
            let words = bubblewrap.words(cage, &inherited.words()).into_iter().chain(command).collect();
            let apart = Apart::Caged;
            return Running::start(launch, words, apart, Some(threshold), Command::spawn);
        }
        let (apart, session) = match &MACHINE.setsid {
            Some(setsid) => (Apart::Session, Some(OsString::from(setsid))),
            None => (Apart::Group, None),
        };
        let limits = launch.limits.words(MACHINE.prlimit.as_deref());
        let words = session.into_iter().chain(limits).chain(command).collect();
        let restricted = if matches!(MACHINE.cages, Cages::Landlock { .. }) { cage } else { None };
        let may_gain = launch.may_gain_privileges;
        Running::start(launch, words, apart, None, |command| match (restricted, may_gain) {
            (Some(cage), _) => spawn_within(command, || landlock::restrict(&cage)),
            (None, false) => spawn_within(command, || Ok(rustix::thread::set_no_new_privs(true)?)),
            (None, true) => command.spawn(),
        })
    }

    /// Adds what is out of reach for everybody. It wins over whatever a workflow says about the same place.
    fn furnished(&self, mut cage: Cage, workspace: Option<&Path>) -> Cage {
        for path in &self.configuration {
            let is_inside = workspace.is_some_and(|workspace| path.starts_with(workspace));
            if is_inside && cage.is_writable(path) { cage.close(path) } else { cage.hide(path) }
        }
        let is_inside = |path: &PathBuf| workspace.is_some_and(|workspace| path.starts_with(workspace));
        // Beside the workspace they may lie in a temporary folder.
        let closed = self.scripts.iter().filter(|path| !cage.has_named_writes || !is_inside(path));
        closed.cloned().collect::<Vec<_>>().iter().for_each(|path| cage.close(path));
        self.hidden.iter().for_each(|path| cage.hide(path));
        cage.hide_aliases();
        cage
    }
}

/// Starts a command from a thread that restricts itself before and ends afterwards.
fn spawn_within(command: &mut Command, restrict: impl FnOnce() -> io::Result<()> + Send) -> io::Result<Child> {
    let runtime = tokio::runtime::Handle::current();
    std::thread::scope(|scope| {
        let spawning = scope.spawn(|| {
            let _entered = runtime.enter();
            restrict()?;
            command.spawn()
        });
        spawning.join().unwrap_or_else(|_| Err(io::Error::other("the thread that starts processes has panicked")))
    })
}

/// Returns whether a program can be started, as starting it would.
fn is_startable(program: &Path, folder: Option<&Path>) -> io::Result<()> {
    let path = match folder {
        Some(folder) => folder.join(program),
        None => program.to_owned(),
    };
    fs::metadata(&path)?;
    if !is_program(&path) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    match interpreter(&path) {
        Some(interpreter) => fs::metadata(interpreter).map(|_| ()),
        None => Ok(()),
    }
}

/// Returns the program that a script names in its first line.
fn interpreter(script: &Path) -> Option<PathBuf> {
    let mut line = Vec::new();
    open_followed(script).ok()?.take(256).read_to_end(&mut line).ok()?;
    let line = line.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?.trim_ascii();
    let path = line.split(|byte| byte.is_ascii_whitespace()).next()?;
    Some(PathBuf::from(OsString::from_vec(path.to_vec())))
}
