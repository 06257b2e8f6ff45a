//! `baton run --simulate`: which phases, gates and routes of a workflow are reached, without anybody working.

use baton_engine::definition::Definition;
use baton_engine::playthrough::{self, PlayedPhase, PlayedWay, Playthrough};
use baton_views::words::counted;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use crate::render::columns::fitted;

/// Plays the workflow, and shows where that led. A phase that is never reached is a no.
pub(super) fn show(definition: &Definition, as_json: bool, output: &Output) -> Result<Exit, CommandError> {
    let played = playthrough::play(definition, Timestamp::UNIX_EPOCH).map_err(CommandError::no)?;
    let missed: Vec<&str> = missed(&played).collect();
    let exit = if missed.is_empty() && is_sound(&played) { Exit::Done } else { Exit::No };
    if as_json {
        output.json(&written(&played))?;
        return Ok(exit);
    }
    let mut rows = vec![["PHASE", "WHO", "OUTCOME", "GOES TO"].map(str::to_owned).to_vec()];
    for phase in &played.phases {
        let mut ways = phase.ways.iter();
        rows.push(row(&phase.path, &phase.who, ways.next(), phase));
        rows.extend(ways.map(|way| row("", "", Some(way), phase)));
    }
    output.data(&fitted(rows, output.width(), &[]))?;
    let reached = played.phases.len() - missed.len();
    let ways: usize = played.phases.iter().map(|phase| phase.ways.len()).sum();
    let (phases, runs) = (counted(played.phases.len(), "phase"), counted(played.plays, "run"));
    output.note(&format!("\nreached {reached} of {phases} and {} in {runs}", counted(ways, "transition")));
    for (ending, count) in &played.endings {
        output.note(&format!("{} ended: {ending}", counted(*count, "run")));
    }
    if !missed.is_empty() {
        output.note(&format!("never reached: {}", missed.join(", ")));
    }
    if !played.untried.is_empty() {
        output.note(&format!("not tried: {}", played.untried.join(", ")));
    }
    if played.is_cut {
        output.note("not all paths were tried: there are too many");
    }
    Ok(exit)
}

fn row(path: &str, who: &str, way: Option<&PlayedWay>, phase: &PlayedPhase) -> Vec<String> {
    let (said, to) = match way {
        Some(way) => (way.said.clone(), goes_to(way)),
        None if phase.is_reached => (String::new(), String::new()),
        None => ("never reached".to_owned(), String::new()),
    };
    vec![path.to_owned(), who.to_owned(), said, to]
}

/// Says where a way leads: what ends a member of a group does not end the run.
fn goes_to(way: &PlayedWay) -> String {
    let to = match (&way.group, way.to.as_str()) {
        (Some(group), "end") => format!("end of {group}"),
        (Some(group), _) => format!("counts against {group}"),
        (None, to) => to.to_owned(),
    };
    if way.skipped.is_empty() { to } else { format!("{to}, without {}", way.skipped.join(", ")) }
}

fn missed(played: &Playthrough) -> impl Iterator<Item = &str> {
    played.phases.iter().filter(|phase| !phase.is_reached).map(|phase| phase.path.as_str())
}

/// Returns whether every run came to an end that somebody may have meant.
fn is_sound(played: &Playthrough) -> bool {
    played.endings.keys().all(|ending| matches!(ending.as_str(), "completed" | "stopped"))
}

fn written(played: &Playthrough) -> Value {
    let way = |way: &PlayedWay| json!({ "said": way.said, "to": way.to, "skipped": way.skipped, "group": way.group });
    let phase = |phase: &PlayedPhase| {
        let ways: Vec<Value> = phase.ways.iter().map(way).collect();
        json!({ "path": phase.path, "who": phase.who, "reached": phase.is_reached, "ways": ways })
    };
    let phases: Vec<Value> = played.phases.iter().map(phase).collect();
    json!({
        "version": 1, "phases": phases, "untried": played.untried, "endings": played.endings, "runs": played.plays, "cut": played.is_cut,
    })
}
