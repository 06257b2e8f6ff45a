//! What a handoff of the queue has from the run that it belongs to: the workspace on this machine, what its report is
//! judged by, and what whoever claims it is told. The same as for agents that the driver starts itself.

use std::fs;
use std::path::{Path, PathBuf};

use baton_agents::evidence::LocalEvidence;
use baton_agents::workspace::WorkspaceFolder;
use baton_engine::definition::Definition;
use baton_engine::driver::{HandInWay, QueueBrief};
use baton_engine::engine::{Problem, Yardstick};
use baton_engine::evidence::{Evidence as _, Scene};
use baton_engine::failure::{Code, Failure, Transience};
use baton_engine::handoff::{Handoff, WrittenDocument};
use baton_engine::lifecycle::{Command, Fail, Heartbeat};
use baton_engine::run::{Run, attempt_folder};
use baton_engine::store::ClaimedHandoff;
use baton_engine::{Engine, Fence, StateFolder};
use baton_protocol::model::Artifact;
use baton_protocol::surroundings::{PathState, Workspace as _};
use serde::{Deserialize, Serialize};

use crate::running::keep;
use crate::{own_folder, random};

/// Returns the workspace of a run, if it is on this machine.
pub(crate) fn workspace(definition: Option<&Definition>) -> Option<WorkspaceFolder> {
    definition.map(|definition| definition.workspace.as_path()).and_then(here)
}

fn here(workspace: &Path) -> Option<WorkspaceFolder> {
    // Of a handoff without a workflow the path is empty, which would be any folder.
    Some(workspace)
        .filter(|workspace| workspace.is_absolute())
        .and_then(|workspace| WorkspaceFolder::open(workspace).ok())
}

/// The prompt for whoever has claimed a handoff, and what the report will be judged by.
pub(crate) struct Briefing {
    /// The prompt.
    pub brief: QueueBrief,
    /// What its report is judged by.
    pub yardstick: Yardstick,
    /// Artifacts of the request that are not in the workspace of the run, which is on another machine.
    pub missing_elsewhere: Vec<String>,
}

/// Briefs whoever has claimed a handoff; the inner error says why there is no prompt.
pub(crate) async fn brief(
    engine: &Engine,
    claimed: &ClaimedHandoff,
    by: HandInWay,
) -> Result<Result<Briefing, String>, Problem> {
    let is_here = |run: Option<&Run>| run.is_some_and(|run| here(&run.definition.workspace).is_some());
    let way = move |run: Option<&Run>| if by == HandInWay::Output && is_here(run) { HandInWay::Files } else { by };
    made(engine, claimed, way, false).await
}

/// Does the same for somebody who works on another machine, whatever is on this one.
pub(crate) async fn brief_elsewhere(
    engine: &Engine,
    claimed: &ClaimedHandoff,
    by: HandInWay,
) -> Result<Result<Briefing, String>, Problem> {
    made(engine, claimed, move |_| by, true).await
}

async fn made(
    engine: &Engine,
    claimed: &ClaimedHandoff,
    way: impl Fn(Option<&Run>) -> HandInWay + Send,
    is_elsewhere: bool,
) -> Result<Result<Briefing, String>, Problem> {
    let (handoff, word) = (&claimed.handoff, engine.random.word());
    let run = match handoff.terms.step {
        Some(_) => Some(engine.run_now(&handoff.run).await?),
        None => None,
    };
    let by = way(run.as_ref());
    let brief = match &run {
        Some(run) => QueueBrief::of_run(run, &handoff.id, &word, by, is_elsewhere),
        None => QueueBrief::alone(handoff, &claimed.request, &word, by),
    };
    let definition = run.as_ref().map(|run| run.definition.as_ref());
    let yardstick = || {
        let yardstick = Yardstick::of_handoff(handoff, Some(&claimed.request), definition, &engine.settings);
        match &run {
            Some(run) => yardstick.in_run(run, handoff),
            None => yardstick,
        }
    };
    // On another machine the workspace is somebody else's, and the prompt itself has what is needed at once.
    let kept = |brief: &QueueBrief| match here(&brief.job.workspace) {
        Some(workspace) => keep(workspace.root(), &brief.copies),
        None => Ok(()),
    };
    let brief = brief.map_err(|why| why.to_string()).and_then(|brief| {
        kept(&brief).map_err(|why| why.to_string())?;
        Ok(Briefing { brief, yardstick: yardstick(), missing_elsewhere: Vec::new() })
    });
    Ok(brief)
}

/// Remembers how the workspace of a run is before an attempt that begins on this machine, so that what the report says
/// can be compared with what has changed. Returns what is to be recorded: what identifies it.
pub(crate) async fn remember(handoff: &Handoff, scene: Option<&Scene>, state: Option<&StateFolder>) -> Option<Command> {
    // Without it changes cannot be verified, and that is what is told then.
    let (mut scene, state) = (scene_here(handoff, scene)?, state?);
    own_folder::make_below(&scene.workspace, &scene.folder).ok()?;
    let eyes = LocalEvidence::new([], state.clone());
    scene.before = eyes.remember(&scene.workspace).await;
    eyes.keep(&scene).await;
    let places = OwnPlaces { output_directory: scene.output_directory.clone(), views: scene.views.clone() };
    places.write(&state.measures(&scene.workspace, &scene.folder));
    let baseline = Some(scene.before?.digest?);
    Some(Command::Heartbeat(Heartbeat { baseline, ..Heartbeat::new(handoff.fence) }))
}

/// Where an attempt and Baton itself write, which nobody else is told about. It is kept with what the attempt is measured
/// with: working it out once more would take the whole journal of the run.
#[derive(Debug, Default, Serialize, Deserialize)]
struct OwnPlaces {
    output_directory: Option<PathBuf>,
    views: Vec<PathBuf>,
}

impl OwnPlaces {
    const FILE: &str = "places.json";

    fn write(&self, folder: &Path) {
        // Without it these places are named among what has changed, and nothing else is different.
        let _ = serde_json::to_vec(self).map(|text| fs::write(folder.join(OwnPlaces::FILE), text));
    }

    fn read(folder: &Path) -> OwnPlaces {
        let text = fs::read(folder.join(OwnPlaces::FILE)).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }
}

/// Lists what has changed since a handoff was claimed on this machine, as far as that can be told.
pub(crate) async fn changed_since_claimed(
    handoff: &Handoff,
    definition: Option<&Definition>,
    state: Option<&StateFolder>,
) -> Vec<String> {
    let (Some(definition), Some(folder)) = (definition, state) else { return Vec::new() };
    let workspace = definition.workspace.clone();
    let attempt = attempt_folder(&workspace, &handoff.run, &handoff.id, handoff.fence);
    let OwnPlaces { output_directory, views } = OwnPlaces::read(&folder.measures(&workspace, &attempt));
    changed(handoff, Some(&Scene { workspace, output_directory, views, ..Scene::default() }), state).await
}

/// Lists what has changed since then, as far as that can be told here.
pub(crate) async fn changed(handoff: &Handoff, scene: Option<&Scene>, state: Option<&StateFolder>) -> Vec<String> {
    match (scene_here(handoff, scene), state) {
        (Some(scene), Some(state)) => LocalEvidence::new([], state.clone()).changed(&scene).await.files,
        _ => Vec::new(),
    }
}

fn scene_here(handoff: &Handoff, scene: Option<&Scene>) -> Option<Scene> {
    let scene = scene.filter(|scene| here(&scene.workspace).is_some())?;
    let folder = attempt_folder(&scene.workspace, &handoff.run, &handoff.id, handoff.fence);
    Some(Scene { folder, ..scene.clone() })
}

/// The failure of an attempt whose prompt cannot be made. Trying again would not help.
pub(crate) fn no_prompt(fence: Fence, why: &str) -> Fail {
    let message = format!("its prompt cannot be made: {why}");
    let failure = Failure { chance: Transience::Permanent, ..Failure::new(Code::dependency_missing(), message) };
    Fail::new(fence, failure, random::number())
}

/// Returns the artifacts of a request that are not in the workspace.
pub(crate) fn missing_artifacts(request: &WrittenDocument, workspace: &WorkspaceFolder) -> Vec<String> {
    let context = request.read_request().and_then(|request| request.context).unwrap_or_default();
    let paths = context.artifacts.iter().map(Artifact::path);
    let files = paths.filter(|path| !path.trim().is_empty() && !path.contains("://"));
    files.filter(|path| workspace.look(path) == PathState::Missing).map(str::to_owned).collect()
}

/// The message when artifacts of a request are missing.
pub(crate) fn missing(handoff: &Handoff, paths: &[String]) -> String {
    let listed: Vec<String> = paths.iter().map(|path| format!("`{path}`")).collect();
    format!("{}: not in the workspace: {}", handoff.id, listed.join(", "))
}
