//! What no process that Baton starts may reach: the store, how Baton is configured, and the anchor of the journal.

use std::fs;
use std::path::{Path, PathBuf};

use baton_agents::Launcher;
use baton_engine::definition::Definition;
use baton_protocol::workflow::{CommandLine, Flow, Phase};
use baton_store::Location;

use crate::store::Session;

/// Returns the launcher for processes that work for the runs of a store.
pub(crate) fn launcher(session: &Session) -> Launcher {
    let mut hidden: Vec<PathBuf> = session.state.iter().map(|state| state.root().to_owned()).collect();
    if let Location::Sqlite(path) = &session.location
        && !hidden.iter().any(|folder| path.starts_with(folder))
    {
        hidden.extend(files_of(path));
    }
    if let Some(anchor) = &session.anchor {
        // Only what is there can be hidden. That it cannot be made is told when something is delivered to it.
        let _ = anchor.prepare();
        hidden.extend(anchor.file().map(Path::to_owned));
    }
    let configuration = session.config_file.iter().chain(&session.approvers.file).cloned().collect();
    hidden.extend(session.notifications.secret_files().map(Path::to_owned));
    let (state, traces) = (session.state.clone(), session.telemetry().is_some());
    Launcher { hidden, configuration, scripts: Vec::new(), state, traces }
}

/// Returns the files that say what a run does: its workflow, those inside it, their templates, and the programs that they
/// name by a path. Whoever could change one of them would decide what is run next.
pub(crate) fn scripts(definition: &Definition) -> Vec<PathBuf> {
    let workflow = &definition.workflow;
    let flow = Flow::of(workflow);
    let agents = workflow.agents.iter().filter_map(|(_, agent)| agent.command.as_ref());
    let commands = agents.chain(flow.steps.iter().flat_map(|step| commands(step.phase)));
    let own =
        definition.file.iter().cloned().chain(definition.templates.keys().cloned()).chain(commands.flat_map(paths));
    let own = own.map(|path| definition.folder.join(path)).filter_map(|path| fs::canonicalize(path).ok());
    let nested = definition.nested.values().flat_map(scripts);
    own.filter(|path| path.is_file()).chain(nested).collect()
}

fn commands(phase: &Phase) -> impl Iterator<Item = &CommandLine> {
    let checks = phase.verify.iter().chain(phase.gates().flat_map(|(_, gate)| &gate.checks));
    phase.check.iter().chain(checks.filter_map(|check| check.run.as_ref()))
}

/// Returns the words of a command that are paths beside the workflow: of a text for the shell, the first.
fn paths(command: &CommandLine) -> Vec<String> {
    let words: Vec<&str> = match command {
        CommandLine::Shell(text) => text.split_whitespace().take(1).collect(),
        CommandLine::Program(words) => words.iter().map(String::as_str).collect(),
    };
    words.into_iter().filter(|word| word.contains('/') && !word.starts_with('/')).map(str::to_owned).collect()
}

/// Returns the files of a SQLite store. They are there while it is open, but for the journal of another mode: whoever made
/// one would have its pages written into the store by whoever opens that next. So there is one, and it is empty.
fn files_of(store: &Path) -> Vec<PathBuf> {
    let name = store.file_name().unwrap_or_default();
    let beside = |ending: &str| {
        let mut name = name.to_owned();
        name.push(ending);
        store.with_file_name(name)
    };
    // Where it cannot be made, those whom we start cannot make it either. The other files must not be opened here: SQLite
    // would lose its locks on them.
    let _ = fs::File::create_new(beside("-journal"));
    ["", "-wal", "-shm", "-journal"].map(beside).to_vec()
}
