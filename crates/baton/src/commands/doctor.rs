//! `baton doctor`: looks at the store and its surroundings, and says what to do about what is wrong.

mod agents;
mod place;
mod protection;
mod queues;
mod state;
mod trust;

use std::path::{Path, PathBuf};
use std::time::Duration;

use baton_engine::Clock;
use baton_engine::store::Checkup;
use baton_protocol::printable;
use baton_views::words::briefly;
use clap::Args;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::clock::SteadyClock;
use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use crate::render::columns;
use crate::render::sheet::{Paint, Tint, wrapped};
use crate::running::launcher;
use crate::store::{Access, Session, StoreOptions};

/// Check the store and its surroundings for problems
///
/// Exits with 0 if nothing is wrong (there may be warnings), with 1 if something is, and with 2 if the store cannot be reached.
///
/// With `--agents` it tests the coding agents of a workflow instead, each with one tiny request: this finds problems
/// with programs, versions, keys, trust, models and flags before a run does. It costs a few tokens for each agent.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton doctor\n  baton doctor --store postgres://db.example/baton --json\n  \
baton doctor --agents workflow.yaml")]
pub(crate) struct Options {
    /// Test the agents of this workflow that have a profile [default: the one in the current folder]
    #[arg(long, value_name = "WORKFLOW", num_args = 0..=1, default_missing_value = ".")]
    agents: Option<PathBuf>,
    /// Where these agents work, which decides whether they trust it
    #[arg(long, value_name = "DIR", default_value = ".", requires = "agents")]
    workspace: PathBuf,
    /// Write the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOptions,
}

/// How far the clock of the store may be away from ours before somebody should know.
const CLOCK_DIFFERENCE_MAX: Duration = Duration::from_secs(5);

/// One thing that was looked at.
struct Sign {
    name: &'static str,
    verdict: Verdict,
    says: String,
    hint: Option<String>,
}

/// How it looks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Fine,
    Warning,
    Wrong,
}

impl Sign {
    fn fine(name: &'static str, says: impl Into<String>) -> Sign {
        Sign { name, verdict: Verdict::Fine, says: says.into(), hint: None }
    }

    fn warning(name: &'static str, says: impl Into<String>, hint: impl Into<String>) -> Sign {
        Sign { name, verdict: Verdict::Warning, says: says.into(), hint: Some(hint.into()) }
    }

    fn wrong(name: &'static str, says: impl Into<String>, hint: impl Into<String>) -> Sign {
        Sign { name, verdict: Verdict::Wrong, says: says.into(), hint: Some(hint.into()) }
    }
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let (place, config) = options.store.place()?;
    if let Some(workflow) = &options.agents {
        return ask_agents(workflow, options, Session::at(place, Access::Look, config).ok(), output);
    }
    let mut kept = protection::look();
    kept.extend(state::look(&place));
    kept.extend(trust::look(&place, &config));
    let (mut signs, exit) = match Session::at(place, Access::Look, config) {
        Ok(session) => {
            let signs = session.run(look(&session));
            let wrong = signs.iter().any(|sign| sign.verdict == Verdict::Wrong);
            (signs, if wrong { Exit::No } else { Exit::Done })
        }
        Err(error) => {
            let hint = error.hints.first().cloned().unwrap_or_else(|| "name the store with --store".to_owned());
            (vec![Sign::wrong("store", error.message, hint)], Exit::Usage)
        }
    };
    signs.extend(kept);
    tell(&signs, exit, options, output)
}

/// Asks the agents of a workflow. A store need not be there yet: who sets up a project asks before the first run.
fn ask_agents(
    workflow: &Path,
    options: &Options,
    session: Option<Session>,
    output: &Output,
) -> Result<Exit, CommandError> {
    let launcher = session.as_ref().map(launcher).unwrap_or_default();
    let asked = agents::AskedAgents::of(workflow, &options.workspace, launcher)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CommandError::internal(format!("cannot start the runtime: {error}")))?;
    let mut signs = protection::look();
    signs.extend(runtime.block_on(asked.look()));
    let wrong = signs.iter().any(|sign| sign.verdict == Verdict::Wrong);
    tell(&signs, if wrong { Exit::No } else { Exit::Done }, options, output)
}

fn tell(signs: &[Sign], exit: Exit, options: &Options, output: &Output) -> Result<Exit, CommandError> {
    match options.json {
        true => output.json(&as_json(signs, exit))?,
        false => output.data(&as_lines(signs, output.paint()))?,
    }
    Ok(exit)
}

async fn look(session: &Session) -> Vec<Sign> {
    let mut signs = Vec::new();
    match session.store.checkup().await {
        Ok(checkup) => signs.extend(store(&checkup)),
        Err(error) => signs.push(Sign::wrong("store", error.to_string(), "restore a backup if this persists")),
    }
    signs.extend(place::look(&session.location));
    match session.store.time().await {
        Ok(time) => signs.push(clock(time, SteadyClock::start().now())),
        Err(error) => signs.push(Sign::wrong("clock", error.to_string(), "see the store above")),
    }
    signs.extend(trust::waiting(session).await);
    match queues::look(session).await {
        Ok(found) => signs.extend(found),
        Err(error) => signs.push(Sign::wrong("queues", error.to_string(), "see the store above")),
    }
    signs
}

fn store(checkup: &Checkup) -> Vec<Sign> {
    let mut signs = vec![Sign::fine("store", format!("{} answers", checkup.place))];
    let (found, known) = (checkup.migration, checkup.migration_known);
    signs.push(match found == known {
        true => Sign::fine("migrations", format!("current ({found})")),
        false => Sign::wrong(
            "migrations",
            format!("the database is at {found}, this program knows {known}"),
            "use the same version of baton everywhere; any command that writes brings an older database up to date",
        ),
    });
    if checkup.faults.is_empty() {
        signs.push(Sign::fine("integrity", "no faults found"));
    }
    let (damage, settings): (Vec<&str>, Vec<&str>) =
        checkup.faults.iter().map(String::as_str).partition(|fault| mended(fault).is_none());
    if !damage.is_empty() {
        signs.push(Sign::wrong(
            "integrity",
            damage.join("; "),
            "stop all workers, copy the files, and restore a backup; `baton audit verify --all` says what is affected",
        ));
    }
    signs.extend(settings.into_iter().map(|fault| Sign::wrong("integrity", fault, mended(fault).unwrap_or_default())));
    signs
}

/// Returns how to mend a fault of the server that is not damage.
fn mended(fault: &str) -> Option<String> {
    const OFF: [&str; 3] = ["fsync", "full_page_writes", "synchronous_commit"];
    if let Some(name) = OFF.into_iter().find(|name| fault.starts_with(&format!("{name} is off"))) {
        return Some(format!("turn on {name}: ALTER SYSTEM SET {name} = on; SELECT pg_reload_conf();"));
    }
    let known = [
        ("the server is PostgreSQL", "update the server, or name another one with --store"),
        ("the server is a standby", "name the primary server with --store"),
        (
            "default_transaction_read_only is on",
            "turn it off for the role or the database: ALTER ROLE … SET default_transaction_read_only = off",
        ),
    ];
    known.into_iter().find(|(beginning, _)| fault.starts_with(beginning)).map(|(_, hint)| hint.to_owned())
}

/// Compares the time of the store with that of this machine.
fn clock(store: Option<Timestamp>, machine: Timestamp) -> Sign {
    let Some(store) = store else {
        return Sign::fine("clock", "the store is empty, so there is no time to compare");
    };
    let ahead = Duration::try_from(store.duration_since(machine)).unwrap_or_default();
    if ahead > CLOCK_DIFFERENCE_MAX {
        let says = format!("the store has seen a time {} ahead of this machine's", briefly(ahead));
        return Sign::warning(
            "clock",
            says,
            "set the clocks of all machines (NTP); until this one catches up, Baton continues from the time that the store has seen",
        );
    }
    Sign::fine("clock", format!("not behind the store (last time there: {store})"))
}

fn as_lines(signs: &[Sign], paint: Paint) -> String {
    let mut text = String::new();
    for sign in signs {
        let (mark, tint) = match sign.verdict {
            Verdict::Fine => ("✓", Tint::Green),
            Verdict::Warning => ("!", Tint::Yellow),
            Verdict::Wrong => ("✗", Tint::Red),
        };
        let says = beside(&sign.says, INDENT, paint);
        text.push_str(&format!("{} {:<12} {says}\n", paint.strong(tint, mark), sign.name));
        if let Some(hint) = &sign.hint {
            text.push_str(&format!("{:INDENT$}hint: {}\n", "", beside(hint, INDENT + "hint: ".len(), paint)));
        }
    }
    text
}

/// How far the texts are indented.
const INDENT: usize = 15;

/// Breaks a text where a terminal ends, at its spaces or within a long path, so that it goes on below itself.
fn beside(text: &str, indent: usize, paint: Paint) -> String {
    let Some(columns) = paint.terminal else { return printable(text) };
    let room = columns.saturating_sub(indent);
    let lines = wrapped(&printable(text), room).into_iter().flat_map(|line| broken_path(line, room));
    lines.collect::<Vec<_>>().join(&format!("\n{}", " ".repeat(indent)))
}

/// Breaks a line that is too long because of a path behind the slashes of that.
fn broken_path(line: String, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for part in line.split_inclusive('/') {
        let last = lines.last_mut().expect("there is one");
        if !last.is_empty() && columns::width(last) + columns::width(part) > room {
            lines.push(part.to_owned());
        } else {
            last.push_str(part);
        }
    }
    lines
}

fn as_json(signs: &[Sign], exit: Exit) -> Value {
    let word = |verdict: Verdict| match verdict {
        Verdict::Fine => "fine",
        Verdict::Warning => "warning",
        Verdict::Wrong => "wrong",
    };
    let sign = |sign: &Sign| json!({ "name": sign.name, "verdict": word(sign.verdict), "message": sign.says, "hint": sign.hint });
    json!({
        "version": 1,
        "reachable": exit != Exit::Usage,
        "sound": exit == Exit::Done,
        "checks": signs.iter().map(sign).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).expect("a time")
    }

    #[test]
    fn store_that_is_ahead_is_a_warning_and_one_that_rests_is_not() {
        assert!(clock(Some(time(60)), time(0)).verdict == Verdict::Warning);
        assert!(clock(Some(time(-86_400)), time(0)).verdict == Verdict::Fine);
        assert!(clock(None, time(0)).verdict == Verdict::Fine);
    }

    #[test]
    fn old_migration_and_faults_are_wrong() {
        let sound = Checkup { place: "x".to_owned(), migration: 1, migration_known: 1, faults: Vec::new() };
        assert!(store(&sound).iter().all(|sign| sign.verdict == Verdict::Fine));
        let broken = Checkup { migration: 2, faults: vec!["page 3".to_owned()], ..sound };
        assert_eq!(store(&broken).iter().filter(|sign| sign.verdict == Verdict::Wrong).count(), 2);
    }

    #[test]
    fn setting_that_is_off_is_turned_on_and_nothing_is_restored() {
        let faults = ["fsync is off: accepted work can be lost in a power failure", "page 3"].map(str::to_owned);
        let checkup = Checkup { place: "x".to_owned(), migration: 1, migration_known: 1, faults: faults.to_vec() };
        let hints: Vec<String> = store(&checkup).into_iter().filter_map(|sign| sign.hint).collect();
        let [damage, setting] = &hints[..] else { panic!("{hints:?}") };
        assert!(damage.contains("restore a backup") && !setting.contains("backup"), "{hints:?}");
        assert!(setting.starts_with("turn on fsync: "), "{setting}");
    }
}
