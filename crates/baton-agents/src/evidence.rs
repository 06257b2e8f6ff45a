//! Evidence: what Baton sees itself, claim by claim.
//!
//! The files are looked at first and the commands run afterwards, so that what a command leaves behind is not taken for
//! the work of the agent. Nothing that an agent could have configured is run but the commands that the workflow and the
//! request name.

mod artifacts;
mod baseline;
mod changes;
mod checks;
mod criteria;
mod entry;
mod modified;
mod named;
mod passed;
mod patterns;
mod runner;
mod skills;
mod snapshot;
mod sources;
mod transcript;

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use baton_engine::StateFolder;
use baton_engine::evidence::{Check, Evidence, Examined, Outcome, Scene};
use baton_protocol::model::Report;
use baton_protocol::rules::artifact_missing;

use self::baseline::Recent;
use self::changes::Changes;
use crate::workspace::Folder;

/// So many changed files are listed for an agent that starts again.
const CHANGED_MAX: usize = 100;

/// Looks at workspaces, transcripts and what commands say.
#[derive(Debug)]
pub struct Eyes {
    environment: Vec<(OsString, OsString)>,
    state: StateFolder,
    recent: Arc<Recent>,
}

impl Eyes {
    /// Makes eyes whose commands see these variables, and those of the scene; nothing else is inherited. What they
    /// measure with is kept in the state folder, where no agent can change it.
    pub fn new(environment: impl IntoIterator<Item = (OsString, OsString)>, state: StateFolder) -> Self {
        Eyes { environment: environment.into_iter().collect(), state, recent: Arc::default() }
    }

    /// Runs a command of a scene.
    async fn carry_out(&self, scene: &Scene, check: &Check) -> Outcome {
        let variables = scene.variables.iter().map(|(name, value)| (name.into(), value.into()));
        let run = runner::Run {
            words: &beside(&scene.workflow_folder, &check.words),
            workspace: &scene.workspace,
            environment: self.environment.iter().cloned().chain(variables).collect(),
            timeout: check.timeout,
            log: scene.folder.join(format!("verify-{}.log", file_name(&check.name))),
        };
        run.outcome().await
    }
}

#[async_trait]
impl Evidence for Eyes {
    async fn remember(&self, scene: &Scene) {
        let (scene, recent) = (scene.clone(), Arc::clone(&self.recent));
        let kept = self.state.measures(&scene.workspace, &scene.folder);
        let remember = move || {
            if let Ok(workspace) = Folder::open(&scene.workspace) {
                baseline::write(&kept, &recent.take(workspace.root(), &scene.folder));
            }
        };
        tokio::task::spawn_blocking(remember).await.expect("remembering does not panic");
    }

    async fn examine(&self, scene: &Scene, report: &Report) -> Vec<Examined> {
        let (still, said, recent) = (scene.clone(), report.clone(), Arc::clone(&self.recent));
        let state = self.state.clone();
        let looking = tokio::task::spawn_blocking(move || look(&still, &said, &recent, &state));
        let mut examined = looking.await.expect("looking does not panic");
        examined.extend(self.examine_checks(scene, report).await);
        examined
    }

    async fn changed(&self, scene: &Scene) -> Vec<String> {
        let (scene, recent, state) = (scene.clone(), Arc::clone(&self.recent), self.state.clone());
        let look = move || match Folder::open(&scene.workspace) {
            Ok(workspace) => Changes::see(workspace.root(), &scene, &recent, &state).listed(CHANGED_MAX),
            Err(_) => Vec::new(),
        };
        tokio::task::spawn_blocking(look).await.expect("looking does not panic")
    }

    async fn run(&self, scene: &Scene, check: &Check) -> Outcome {
        self.carry_out(scene, check).await
    }
}

/// Looks at everything that only has to be read.
fn look(scene: &Scene, report: &Report, recent: &Recent, state: &StateFolder) -> Vec<Examined> {
    let mut examined = match Folder::open(&scene.workspace) {
        Ok(workspace) => look_at_files(&workspace, scene, report, recent, state),
        Err(error) => vec![entry::refuted(&artifact_missing::RULE, "the workspace is there", error.to_string())],
    };
    examined.extend(skills::examine(scene, report));
    examined
}

fn look_at_files(
    workspace: &Folder,
    scene: &Scene,
    report: &Report,
    recent: &Recent,
    state: &StateFolder,
) -> Vec<Examined> {
    // Walking through the workspace costs more than the rest.
    let worth_it = modified::is_worth_it(scene, report);
    let changes = worth_it.then(|| Changes::see(workspace.root(), scene, recent, state));
    let mut examined = artifacts::examine(workspace, scene, report);
    examined.extend(sources::examine(workspace, report, changes.as_ref()));
    if let Some(changes) = &changes {
        examined.extend(modified::examine(workspace.root(), scene, report, changes));
    }
    examined
}

/// Finds a program that is named with `./` beside the workflow file.
fn beside(folder: &Path, words: &[String]) -> Vec<String> {
    let mut words = words.to_vec();
    let shell = matches!(words.as_slice(), [shell, option, _] if shell == "sh" && option == "-c");
    let program = words.get_mut(if shell { 2 } else { 0 });
    if let Some((program, name)) = program.and_then(|program| {
        let name = program.strip_prefix("./")?.to_owned();
        Some((program, name))
    }) {
        let path = folder.join("").to_string_lossy().into_owned();
        *program = match shell {
            true => format!("'{}'{name}", path.replace('\'', "'\\''")),
            false => format!("{path}{name}"),
        };
    }
    words
}

/// Makes the name of a check fit for a file.
fn file_name(name: &str) -> String {
    let fit = |letter: char| if letter.is_ascii_alphanumeric() || "-_.".contains(letter) { letter } else { '-' };
    name.chars().map(fit).take(80).collect()
}
