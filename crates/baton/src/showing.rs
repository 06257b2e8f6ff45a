//! Showing a run while it is driven: plain lines, or JSON events.

use std::path::PathBuf;
use std::sync::Arc;

use baton_engine::RunId;
use baton_engine::definition::Definition;
use baton_engine::driver::{Audience, End, News};
use baton_engine::run::Run;
use clap::Args;

use crate::command_error::{CommandError, Exit};
use crate::output::Output;
use crate::people::InTurn;
use crate::people::answers::Answers;
use crate::running;
use crate::store::Session;

/// How a run is shown, and who is asked.
#[derive(Debug, Args)]
pub(crate) struct ShowOptions {
    /// Ask nobody: end with 3 where a person must decide
    #[arg(long)]
    no_input: bool,
    /// A file that plays the person, for demonstrations and tests; recorded as such
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,
    /// Write each event as a JSON object on a line of its own
    #[arg(long)]
    json: bool,
}

/// Drives a run, and shows it.
pub(crate) fn drive(
    session: &Session,
    options: &ShowOptions,
    output: &Output,
    id: &RunId,
    begin: Option<(&Definition, &str)>,
) -> Result<Exit, CommandError> {
    let answers = options.answers.as_deref().map(Answers::open).transpose()?.map(Arc::new);
    let audience = Arc::new(Lines { output: *output });
    let driver = running::driver(session, Arc::new(InTurn::new(answers, None)), audience);
    session.run(async {
        if let Some((definition, from)) = begin {
            driver.begin(id, definition, from).await?;
        }
        let end = running::drive(&driver, id).await?;
        output.note(&format!("{id}: {end:?}"));
        Ok(match end {
            End::Completed => Exit::Done,
            End::Waiting(_) => Exit::Waiting,
            End::Failed(_) | End::Cancelled | End::Stopped | End::Lost(_) => Exit::No,
        })
    })
}

struct Lines {
    output: Output,
}

impl Audience for Lines {
    fn hear(&self, run: &Run, news: &News<'_>) {
        match news {
            News::Event(event) => {
                let phase = baton_engine::HandoffId::parse(event.handoff.as_str())
                    .ok()
                    .and_then(|id| run.find(&id).map(|t| t.step.phase.clone()));
                let detail: String = event.detail.chars().take(200).collect();
                self.output.note(&format!(
                    "{:>3} {:<22} {:<12} {}",
                    event.seq,
                    phase.unwrap_or_default(),
                    event.kind,
                    detail
                ));
            }
            News::Begins(id) => self.output.note(&format!("    begins {id}")),
            News::Examines(id) => self.output.note(&format!("    examines {id}")),
            News::Asks(question) => self.output.note(&format!("    asks {}", question.title)),
            News::Note(text) => self.output.note(&format!("    note {text}")),
        }
    }
}
