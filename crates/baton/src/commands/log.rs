//! `baton log`: the journal of a run, or of one handoff, as readable lines.

mod output;

use std::path::Path;
use std::time::Duration;

use baton_engine::engine::StoreNews;
use baton_engine::handoff::Handoff;
use baton_engine::journal::Event;
use baton_engine::pages::JournalPages;
use baton_engine::run::{Run, TrackedHandoff};
use baton_engine::{EventKind, Fence, HandoffId, StateFolder};
use baton_protocol::printable;
use baton_views::activity;
use baton_views::event::{self, phase_of};
use baton_views::step_name::StepName;
use baton_views::timeline::in_words;
use clap::Args;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use crate::render;
use crate::render::sheet::Tint;
use crate::showing::activities::ActivityReader;
use crate::store::{Access, Session, StoreOptions};

/// Show what happened in a run, or to one handoff
///
/// Prints a line for each event of the journal. With --follow it waits for more until the run or the handoff is
/// finished. With --files it lists the paths of the prompts, logs and reports of each attempt. With --output it prints
/// what the agent or the command of a phase printed in its last attempt.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton log integration-k3f9q2\n  baton log integration-k3f9q2 --follow\n  \
baton log integration-k3f9q2 --follow --agents\n  baton log integration-k3f9q2.architecture.1 --files\n  baton log last implement --output --follow")]
pub(crate) struct Options {
    /// The run or the handoff: its id, a unique beginning of it, or `last` for the newest run
    #[arg(value_name = "ID")]
    id: String,
    /// A phase of the run; its last visit counts
    phase: Option<String>,
    /// Wait for more, until it is finished
    #[arg(long, short)]
    follow: bool,
    /// List the files of each attempt instead
    #[arg(long, conflicts_with = "follow")]
    files: bool,
    /// Also show what the agents do: tool calls, refused permissions, messages
    #[arg(long, conflicts_with = "files")]
    agents: bool,
    /// Print what the agent or the command has written, in its last attempt
    #[arg(long, short, conflicts_with_all = ["files", "agents", "json"])]
    output: bool,
    /// Write each event, or each file, as a JSON object on a line of its own
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOptions,
}

/// How often it is looked whether agents have done something.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    let session = Session::open(&options.store, Access::Look, output)?;
    session.run(async {
        // A session has no handoff that stands for it; its last one ends when there is nothing more to tell.
        let last = session.engine.plain_run(&options.id).await?.and_then(|handoffs| handoffs.into_iter().next_back());
        let is_session = last.is_some();
        let handoff = match last {
            Some(last) => last,
            None => session.engine.resolve(&options.id).await?,
        };
        let handoff = match &options.phase {
            Some(phase) => output::visit(&session, &handoff, phase).await?,
            None => handoff,
        };
        if options.output {
            return output::print(&session, &handoff, options.follow, output).await;
        }
        if options.files {
            return files(&session, &handoff, options.json, output).await;
        }
        let activities = match options.agents {
            true => Some((session.state()?, ActivityReader::default())),
            false => None,
        };
        let only = Some(&handoff.id).filter(|_| !handoff.is_run() && !is_session);
        let mut telling = Telling { run: None, output, json: options.json, only, activities };
        if options.follow {
            let heard = |news: StoreNews<'_>| output.store_news(news);
            let mut follower = session.engine.follow(&handoff, 0, &heard);
            loop {
                tokio::select! {
                    events = follower.next() => match events? {
                        Some(events) => telling.hear(&events)?,
                        None => break,
                    },
                    () = tokio::time::sleep(LOOK_AGAIN), if options.agents => telling.look(None)?,
                }
            }
        } else {
            let mut pages = JournalPages::after(&*session.store, &handoff.run, 0);
            while let Some(events) = pages.next().await? {
                telling.hear(&events)?;
            }
        }
        telling.look(None)?;
        Ok(Exit::Done)
    })
}

/// Prints the events of a run or of one handoff.
struct Telling<'o> {
    /// The run as far as it was printed; `None` before its first event, and for handoffs outside of workflows.
    run: Option<Run>,
    output: &'o Output,
    json: bool,
    /// The handoff, if only its events are printed.
    only: Option<&'o HandoffId>,
    /// What the agents do, where somebody wants to know that.
    activities: Option<(&'o StateFolder, ActivityReader)>,
}

impl Telling<'_> {
    fn hear(&mut self, events: &[Event]) -> Result<(), CommandError> {
        events.iter().try_for_each(|event| self.tell(event))
    }

    fn tell(&mut self, event: &Event) -> Result<(), CommandError> {
        match &mut self.run {
            // What does not fit together is for the audit to tell; here it is shown as it is.
            Some(run) => drop(run.absorb(event)),
            None if event.seq == 1 => self.run = Run::begin(event).ok(),
            None => {}
        }
        if self.only.is_some_and(|only| event.handoff != *only) {
            return Ok(());
        }
        // What was done before comes before.
        self.look(Some(event.at))?;
        if event.is(EventKind::Claimed)
            && let (Some(run), Some((state, activities))) = (&self.run, &mut self.activities)
            && let Some(tracked) = run.find(&event.handoff)
        {
            let workspace = &run.definition.workspace;
            activities.add(state.activity(workspace, &run.id, &event.handoff, tracked.handoff.fence));
        }
        // That somebody still works is not news.
        if event.is(EventKind::Extended) && !self.json {
            return Ok(());
        }
        match self.json {
            true => self.output.data(&format!("{}\n", self.object(event))),
            false => self.output.data(&format!("{}\n", self.line(event))),
        }
    }

    /// Prints what agents have done, up to a time.
    fn look(&mut self, until: Option<Timestamp>) -> Result<(), CommandError> {
        let Some((_, activities)) = &mut self.activities else { return Ok(()) };
        for activity in activities.next(until) {
            let line = match self.json {
                true => Some(activity.to_string()),
                false => activity::told(&activity).map(|told| self.activity_line(&activity, &told)),
            };
            if let Some(line) = line {
                self.output.data(&format!("{line}\n"))?;
            }
        }
        Ok(())
    }

    fn activity_line(&self, activity: &Value, told: &str) -> String {
        let paint = self.output.paint();
        let text = |name: &str| activity[name].as_str().unwrap_or_default();
        let time = text("at").parse().map(render::timeline::clock_time).unwrap_or_default();
        let cells = [&*time, text("phase"), text("agent"), &printable(told)];
        let [time, phase, agent, told] = render::timeline::cells(cells, self.output.width());
        format!(
            "{} {} {} {told}",
            paint.tint(Tint::Faint, &time),
            paint.tint(Tint::Strong, &phase),
            paint.tint(Tint::Faint, &agent),
        )
    }

    fn object(&self, event: &Event) -> Value {
        event::json(event, self.tracked(event).and_then(|tracked| phase_of(&tracked.handoff)))
    }

    fn tracked(&self, event: &Event) -> Option<&TrackedHandoff> {
        self.run.as_ref()?.find(&event.handoff)
    }

    fn line(&self, event: &Event) -> String {
        let paint = self.output.paint();
        let tracked = self.tracked(event);
        let place = tracked.map_or_else(|| event.handoff.to_string(), |tracked| StepName::of(tracked).to_string());
        let visit = tracked.map(|tracked| tracked.step.visit).filter(|visit| *visit > 1);
        let visit = visit.map(|visit| format!(" #{visit}")).unwrap_or_default();
        let time = render::timeline::clock_time(event.at);
        let cells = [&*time, &format!("{place}{visit}"), &event.kind, &in_words(event)];
        let [time, place, kind, told] = render::timeline::cells(cells, self.output.width());
        format!(
            "{} {} {} {told}",
            paint.tint(Tint::Faint, &time),
            paint.tint(Tint::Strong, &place),
            paint.tint(Tint::Cyan, &kind),
        )
    }
}

/// Lists the files of each attempt.
async fn files(session: &Session, subject: &Handoff, json: bool, output: &Output) -> Result<Exit, CommandError> {
    let root = session.engine.resolve_run(subject.id.as_str()).await?;
    let run = session.engine.run(&root.run).await?.run;
    let wanted = |id: &HandoffId| subject.is_run() || *id == subject.id;
    let mut any = false;
    for tracked in run.handoffs().filter(|tracked| wanted(&tracked.handoff.id)) {
        for fence in 1..=tracked.handoff.fence.0 {
            let folder = run.attempt_folder(&tracked.handoff.id, Fence(fence));
            for file in listed(&folder) {
                any = true;
                let path = folder.join(file).display().to_string();
                let id = &tracked.handoff.id;
                output.data(&match json {
                    true => format!("{}\n", json!({ "version": 1, "handoff": id, "fence": fence, "file": path })),
                    false => format!("{path}\n"),
                })?;
            }
        }
    }
    if !any {
        output.note(&format!("no files of {} in {}", subject.id, run.definition.workspace.display()));
    }
    Ok(Exit::Done)
}

fn listed(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
