//! Evidence: what Baton sees itself, claim by claim.
//!
//! The files are looked at first and the commands run afterwards, so that what a command leaves behind is not taken for
//! the work of the agent; then the files are looked at again, since a command may run what the agent has written. Nothing
//! that an agent could have configured is run but the commands that the workflow and the request name.

mod artifacts;
mod baseline;
mod changes;
mod checks;
mod criteria;
mod entry;
mod files;
mod ignore_rules;
mod ignored;
mod listing;
mod modified;
mod named;
mod outcome;
mod passed;
mod patterns;
mod refs;
mod skills;
pub(crate) mod snapshot;
mod sources;
mod transcript;
mod walk;

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use baton_engine::StateFolder;
use baton_engine::evidence::{
    ChangedFiles, CheckCommand, CheckOutcome, ClaimFinding, Content, Evidence, ExaminedClaim, FileIdentity, KeptBytes,
    Moment, Scene, WorkspaceFault,
};
use baton_host::SharedFolder;
use baton_protocol::model::Report;
use baton_protocol::rules::artifact_missing;

use self::baseline::Memory;
use self::changes::{Changes, Trust};
use self::files::FileEyes;
pub use self::listing::{ListedEntry, listed};
use self::modified::Comparison;
pub(crate) use self::patterns::Patterns;
use crate::beside;
use crate::confinement::{Bounds, Ground};
use crate::process::{
    Environment, FENCE, GRACE, HANDOFF, Launch, Launcher, Mark, RUN, ResourceLimits, Sink, WORKSPACE,
};
use crate::workspace::WorkspaceFolder;

/// How many changed files are listed for an agent that starts again.
const CHANGED_MAX: usize = 100;

/// Looks at workspaces, transcripts and what commands say.
#[derive(Debug)]
pub struct LocalEvidence {
    environment: Environment,
    launcher: Launcher,
    memory: Arc<Memory>,
}

impl LocalEvidence {
    /// Makes eyes whose commands see these variables, and those of the scene; nothing else is inherited. What they
    /// measure with is kept in the state folder, where no agent can change it.
    pub fn new(environment: impl IntoIterator<Item = (OsString, OsString)>, state: StateFolder) -> Self {
        let memory = Arc::new(Memory::in_folder(state));
        LocalEvidence { environment: Environment::of(environment), launcher: Launcher::default(), memory }
    }

    /// Lets a launcher start the commands that knows what is out of reach.
    #[must_use]
    pub fn started_by(mut self, launcher: Launcher) -> Self {
        self.launcher = launcher;
        self
    }

    /// Runs a command of a scene within its bounds.
    async fn carry_out(&self, scene: &Scene, check: &CheckCommand, bounds: Bounds<'_>) -> CheckOutcome {
        let words = beside::words(&check.words, &scene.workflow_folder);
        let Some((program, arguments)) = words.split_first().filter(|(program, _)| !program.is_empty()) else {
            return outcome::failed("there is nothing to run".to_owned(), "");
        };
        let mut environment = self.environment.clone();
        environment.inherit(&check.env);
        check.set_env.iter().for_each(|(name, value)| environment.set(name, value));
        scene.variables.iter().for_each(|(name, value)| environment.set(name, value));
        let ground = Ground {
            workspace: &scene.workspace,
            bounds,
            undo: &[],
            // The folder of the attempt has the report: commands run what the agent has written, and nobody judges it again.
            own: scene.output_directory.as_deref().into_iter().collect(),
            home: Vec::new(),
            settings: Vec::new(),
            environment: &environment,
        };
        let cage = match ground.cage(&scene.confinement) {
            Ok(cage) => cage,
            Err(misplaced) => return outcome::failed(misplaced.to_string(), ""),
        };
        let log = format!("verify-{}.log", file_name(&check.name));
        let log = SharedFolder::open(&scene.workspace, &scene.folder).and_then(|own| Sink::log(&own, log.as_ref()));
        let launch = Launch {
            arguments: arguments.to_vec(),
            folder: Some(scene.workspace.clone()),
            cage,
            limits: ResourceLimits::of(&scene.confinement.cage),
            mark: mark(scene),
            // Without a log the outcome is still worth knowing.
            stderr: log.unwrap_or_default(),
            together: true,
            environment,
            ..Launch::new(program)
        };
        match self.launcher.run(launch, Some(check.timeout), GRACE).await {
            Ok(ended) => outcome::of(&ended),
            Err(error) => outcome::failed(format!("`{program}` cannot be started: {error}"), ""),
        }
    }
}

/// Returns what tells the commands of a scene from all others.
fn mark(scene: &Scene) -> Mark {
    let value = |name: &str| scene.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    Mark::new([RUN, HANDOFF, FENCE, WORKSPACE].into_iter().filter_map(|name| Some((name, value(name)?))))
}

#[async_trait]
impl Evidence for LocalEvidence {
    async fn remember(&self, workspace: &Path) -> Option<Moment> {
        let (workspace, memory) = (workspace.to_owned(), Arc::clone(&self.memory));
        let remember = move || {
            let workspace = WorkspaceFolder::open(&workspace).ok()?;
            memory.before(workspace.root())
        };
        tokio::task::spawn_blocking(remember).await.expect("remembering does not panic")
    }

    async fn keep(&self, scene: &Scene) {
        let Some(before) = scene.before.clone() else { return };
        let (scene, memory) = (scene.clone(), Arc::clone(&self.memory));
        let keep = move || memory.write(&scene.workspace, &scene.folder, &before);
        tokio::task::spawn_blocking(keep).await.expect("keeping does not panic");
    }

    async fn examine(&self, scene: &Scene, report: &Report) -> Vec<ExaminedClaim> {
        let (mut examined, changes) = self.looking(scene, report, look).await;
        let pinned = examined.len();
        examined.extend(self.examine_checks(scene, report).await);
        if let Some(changes) = changes.filter(|_| checks::runs_commands(scene, report)) {
            examined = self.looking(scene, report, move |scene, _, _| pin_again(scene, examined, pinned)).await;
            let told: HashSet<String> = examined.iter().filter_map(|seen| seen.path.clone()).collect();
            let look = move |scene: &Scene, report: &Report, memory: &Memory| {
                after_commands(scene, report, memory, (&changes, &told))
            };
            let (seen, denied) = self.looking(scene, report, look).await;
            examined.retain(|one| !denied.contains(one));
            examined.extend(seen);
        }
        examined
    }

    async fn identify(
        &self,
        workspace: &Path,
        views: &[PathBuf],
        paths: Vec<String>,
    ) -> Result<Vec<FileIdentity>, WorkspaceFault> {
        let (workspace, views) = (workspace.to_owned(), views.to_vec());
        let look = move || {
            let workspace = WorkspaceFolder::open(&workspace)?;
            let eyes = FileEyes::new(&workspace, &views);
            Ok(paths.iter().map(|path| eyes.identify(path)).collect())
        };
        tokio::task::spawn_blocking(look).await.expect("looking does not panic")
    }

    async fn contents(
        &self,
        workspace: &Path,
        views: &[PathBuf],
        examined: &[ExaminedClaim],
        room: KeptBytes,
    ) -> Vec<Content> {
        let (workspace, views, examined) = (workspace.to_owned(), views.to_vec(), examined.to_vec());
        let read = move || match WorkspaceFolder::open(&workspace) {
            Ok(workspace) => FileEyes::new(&workspace, &views).contents(&examined, room),
            Err(_) => Vec::new(),
        };
        tokio::task::spawn_blocking(read).await.expect("reading does not panic")
    }

    async fn changed(&self, scene: &Scene) -> ChangedFiles {
        let (scene, memory) = (scene.clone(), Arc::clone(&self.memory));
        let look = move || match WorkspaceFolder::open(&scene.workspace) {
            Ok(workspace) => {
                let changes = Changes::see(workspace.root(), &scene, &memory, Trust::Any);
                ChangedFiles {
                    files: changes.listed(CHANGED_MAX),
                    after: Some(baseline::after(Arc::clone(&changes.after))),
                }
            }
            Err(_) => ChangedFiles::default(),
        };
        tokio::task::spawn_blocking(look).await.expect("looking does not panic")
    }

    async fn run(&self, scene: &Scene, check: &CheckCommand) -> CheckOutcome {
        let before = match &scene.before {
            Some(before) => Some(before.clone()),
            // It is compared with at once, and never kept.
            None => {
                let take = |scene: &Scene, _: &Report, memory: &Memory| {
                    let workspace = WorkspaceFolder::open(&scene.workspace).ok()?;
                    Some(memory.before_command(workspace.root()))
                };
                self.looking(scene, &Report::default(), take).await
            }
        };
        let outcome = self.carry_out(scene, check, Bounds::of(scene.writes.as_deref())).await;
        let scene = Scene { before, after: None, ..scene.clone() };
        let name = check.name.clone();
        let look = move |scene: &Scene, report: &Report, memory: &Memory| written(scene, report, memory, &name);
        let (examined, elsewhere) = self.looking(&scene, &Report::default(), look).await;
        match elsewhere {
            Some(elsewhere) => CheckOutcome { examined, ..outcome::failed(elsewhere, &outcome.tail) },
            None => CheckOutcome { examined, ..outcome },
        }
    }
}

impl LocalEvidence {
    /// Looks where it may take a while.
    async fn looking<T: Send + 'static>(
        &self,
        scene: &Scene,
        report: &Report,
        look: impl FnOnce(&Scene, &Report, &Memory) -> T + Send + 'static,
    ) -> T {
        let (scene, report, memory) = (scene.clone(), report.clone(), Arc::clone(&self.memory));
        tokio::task::spawn_blocking(move || look(&scene, &report, &memory)).await.expect("looking does not panic")
    }
}

/// Looks at everything that only has to be read.
fn look(scene: &Scene, report: &Report, memory: &Memory) -> (Vec<ExaminedClaim>, Option<Changes>) {
    let (mut examined, changes) = match WorkspaceFolder::open(&scene.workspace) {
        Ok(workspace) => {
            let changes = Changes::see(workspace.root(), scene, memory, Trust::Proven);
            let mut examined = artifacts::examine(&workspace, scene, report, &changes);
            examined.extend(sources::examine(&workspace, report, &changes));
            examined.extend(Comparison::new(&workspace, scene, report, &changes).examine());
            (examined, Some(changes))
        }
        Err(error) => {
            (vec![entry::refuted(&artifact_missing::RULE, "the workspace is not there", error.to_string())], None)
        }
    };
    examined.extend(skills::examine(scene, report));
    (examined, changes)
}

/// Looks again at the files that are among the first of what was seen, after commands have run.
fn pin_again(scene: &Scene, mut examined: Vec<ExaminedClaim>, files: usize) -> Vec<ExaminedClaim> {
    if let (Ok(workspace), Some(seen)) = (WorkspaceFolder::open(&scene.workspace), examined.get_mut(..files)) {
        FileEyes::new(&workspace, &scene.views).pin_again(seen);
    }
    examined
}

/// Looks at what has changed while commands ran, beside the files that are told already. Returns also what was put down
/// before they ran and is not so any more.
fn after_commands(
    scene: &Scene,
    report: &Report,
    memory: &Memory,
    (changes, told): (&Changes, &HashSet<String>),
) -> (Vec<ExaminedClaim>, Vec<ExaminedClaim>) {
    let Ok(workspace) = WorkspaceFolder::open(&scene.workspace) else { return Default::default() };
    let mut since = changes.since(workspace.root(), memory);
    // Where the cage kept commands from the repository, a branch was moved by somebody else.
    let may_commit = !Launcher::protection_of(&scene.confinement).is_full();
    if let (Ok(since), Some(_), true) = (&mut since, &scene.writes, may_commit) {
        since.extend(changes.moved_since(workspace.root()));
    }
    let comparison = Comparison::new(&workspace, scene, report, changes);
    let examined = comparison.examine_commands(since.clone(), told);
    let denied = comparison.denied_by(&since, &examined);
    (examined, denied)
}

/// Returns what has changed while a command ran, and what of it where it may not write, or why that is unknown.
fn written(scene: &Scene, report: &Report, memory: &Memory, check: &str) -> (Vec<ExaminedClaim>, Option<String>) {
    let Ok(workspace) = WorkspaceFolder::open(&scene.workspace) else { return (Vec::new(), None) };
    let changes = Changes::see(workspace.root(), scene, memory, Trust::Proven);
    let comparison = Comparison::new(&workspace, scene, report, &changes);
    let mut judged = comparison.outside();
    judged.extend(changes.during().into_iter().flat_map(|during| comparison.still_strayed(during)));
    let bad = judged.iter().filter(|one| one.verdict == ClaimFinding::Refuted || one.asks_person);
    let told: Vec<String> = bad.map(ExaminedClaim::sentence).collect();
    (comparison.changed_by_check(check), (!told.is_empty()).then(|| told.join("; ")))
}

/// Makes the name of a check fit for a file.
fn file_name(name: &str) -> String {
    let fit = |letter: char| if letter.is_ascii_alphanumeric() || "-_.".contains(letter) { letter } else { '-' };
    name.chars().map(fit).take(80).collect()
}
