//! The prompt of an agent: what to do, with what, and how to report it.
//!
//! A prompt is a template over a request. What the author of the workflow wrote is there as it is; what other agents
//! or people wrote is fenced as data, with its origin, and is never read as a template. Pure: no file, no clock, no
//! randomness; the delimiter of the fences comes from outside.

mod budget;
mod example;
mod fence;
mod lone;
mod material;
mod measure;
mod outline;
mod page;
mod reasons;
#[cfg(test)]
mod tests;
mod view;
mod words;

pub(crate) use lone::plain_task;

use baton_protocol::Dialect;
use baton_protocol::model::Request;
use baton_protocol::workflow::{Profile, Skill};

use crate::Fence;
use crate::evidence::CheckCommand;
use crate::expression::ExpressionFault;
use crate::failure::Failure;
use crate::handoff::Note;
use crate::handover::Handover;
use crate::id::HandoffId;

/// Everything that a prompt is made of.
#[derive(Debug, Clone, Copy)]
pub struct Briefing<'a> {
    /// The name of the workflow; empty for a handoff that belongs to none.
    pub workflow: &'a str,
    /// The path of the phase, such as `tools/get-issue/review`; empty for a handoff that belongs to no workflow.
    pub phase: &'a str,
    /// The name of the agent.
    pub agent: &'a str,
    /// What the agent is for.
    pub role: Option<&'a str>,
    /// The identifier of the handoff.
    pub handoff: Option<&'a str>,
    /// How its report must be written.
    pub dialect: Dialect,
    /// What is asked. Its instructions and expectations are the workflow author's; its context and input are not.
    pub request: &'a Request,
    /// What those before it have handed over.
    pub handovers: &'a [Handover],
    /// Whether the agent must fetch the files that were handed over, where they are not on its machine.
    pub fetches_files: bool,
    /// What happened before that, in a line each.
    pub index: Option<&'a Handover>,
    /// What the agent itself has handed in before, if it starts again.
    pub memory: Option<&'a Handover>,
    /// What the attempt must know, the oldest first.
    pub notes: &'a [Note],
    /// What went wrong in the attempt before.
    pub last_failure: Option<&'a Failure>,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// Whether it judges the work of others; `None` where only names can tell.
    pub judges: Option<bool>,
    /// Skills that must be used.
    pub mandatory_skills: &'a [Skill],
    /// Where the agent puts its output, relative to the workspace.
    pub output_directory: &'a str,
    /// Where the files of this attempt are, relative to the workspace; empty if that is not known before it begins.
    pub attempt_folder: &'a str,
    /// The coding agent that works, where it is one that is known.
    pub profile: Option<Profile>,
    /// Where the report must go.
    pub report_to: ReportTo<'a>,
    /// Whether an acknowledgment must be written first.
    pub acknowledge: bool,
    /// How soon that must be.
    pub acknowledge_within: Option<&'a str>,
    /// What Baton runs itself before the report counts.
    pub checks: &'a [CheckCommand],
    /// Patterns of the files that may be changed; empty for all.
    pub writes: Option<&'a [String]>,
    /// Reasons for being blocked beyond the usual ones.
    pub reasons: &'a [String],
    /// A random word for the fences, new for every handoff: at least eight letters, digits or `-`.
    pub delimiter: &'a str,
    /// The workflow's own template; default: the built-in one.
    pub template: Option<&'a str>,
    /// The most tokens that the prompt may have.
    pub budget_tokens: Option<u64>,
}

impl<'a> Briefing<'a> {
    /// Makes a briefing of what a request asks for, and nothing else.
    pub fn plain(agent: &'a str, request: &'a Request, delimiter: &'a str) -> Briefing<'a> {
        Briefing {
            workflow: "",
            phase: "",
            agent,
            role: None,
            handoff: None,
            dialect: Dialect::Native,
            request,
            handovers: &[],
            fetches_files: false,
            index: None,
            memory: None,
            notes: &[],
            last_failure: None,
            attempt: 1,
            judges: None,
            mandatory_skills: &[],
            output_directory: "",
            attempt_folder: "",
            profile: None,
            report_to: ReportTo::Either,
            acknowledge: false,
            acknowledge_within: None,
            checks: &[],
            writes: None,
            reasons: &[],
            delimiter,
            template: None,
            budget_tokens: None,
        }
    }
}

/// Where a report must go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportTo<'a> {
    /// Into the folder that the request came from.
    Folder,
    /// To the end of the last message of a session.
    Answer,
    /// Into the file named by `BATON_REPORT_FILE`.
    File,
    /// To the end of the output.
    Stdout,
    /// Into the file, or else to the end of the output.
    Either,
    /// To `baton report`, by the claimant.
    Queue {
        /// The handoff.
        handoff: &'a HandoffId,
        /// The fence of the claim.
        fence: Fence,
        /// How long the claim holds without a sign of life, where that is known.
        lease_seconds: Option<u64>,
    },
}

/// What an agent is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The text.
    pub text: String,
    /// How many tokens it has, in the encoding of [`baton_protocol::tokens::ENCODING`].
    pub tokens: usize,
    /// What was cut or left out to fit the budget, and the file that has it.
    pub shortened: Vec<String>,
}

/// Why there is no prompt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PromptFault {
    /// The template is wrong.
    #[error("the template cannot be rendered: {0}")]
    Template(ExpressionFault),
    /// It does not fit, even without everything that may be left out.
    #[error(
        "the prompt has {tokens} tokens with everything cut that may be, {} more than the {budget} that it may have",
        tokens.saturating_sub(*budget)
    )]
    OverBudget {
        /// How many tokens it has.
        tokens: usize,
        /// How many it may have.
        budget: usize,
    },
    /// The delimiter could be guessed or be mistaken for something else.
    #[error("`{0}` cannot fence anything: a delimiter has 8 to 64 letters, digits or `-`")]
    Delimiter(String),
}

/// Cuts a text to a number of tokens, with a visible mark; one that is not longer stays as it is.
pub(crate) fn shortened(text: &str, tokens_max: usize) -> String {
    let over = baton_protocol::tokens::over_budget(text, tokens_max).is_some();
    let cut = over.then(|| fence::cut(text, tokens_max.saturating_sub(2 * fence::MARK_TOKENS), None)).flatten();
    cut.unwrap_or_else(|| text.to_owned())
}

/// Makes the prompt of an agent.
///
/// ```
/// use baton_engine::prompt::{self, Briefing};
/// use baton_protocol::model::Request;
///
/// let instructions = Some("Find where rows are written today.".to_owned());
/// let request = Request { instructions, ..Request::default() };
/// let prompt = prompt::render(&Briefing::plain("finder", &request, "k7Qz2m9XwB4t"))?;
/// assert!(prompt.text.contains("Find where rows are written today."));
/// // An agent is told how to report, too.
/// assert!(prompt.text.contains(r#""document": "report""#));
/// # Ok::<(), prompt::PromptFault>(())
/// ```
pub fn render(briefing: &Briefing<'_>) -> Result<Prompt, PromptFault> {
    budget::fit(&page::Page::of(briefing)?, briefing.budget_tokens)
}

/// Makes the prompt of a session that goes on because its report was not accepted: why, as [`crate::evidence::refuted`] or
/// the judge of the report say it, and how the report must look.
pub fn render_repair(briefing: &Briefing<'_>, reasons: &str) -> Result<Prompt, PromptFault> {
    short(&page::Page::of_template(briefing, "repair", reasons)?)
}

/// Makes the prompt of a session that goes on after it was interrupted.
pub fn render_resumed(briefing: &Briefing<'_>) -> Result<Prompt, PromptFault> {
    short(&page::Page::of_template(briefing, "resumed", "")?)
}

/// Prints a page that is short by itself.
fn short(page: &page::Page<'_>) -> Result<Prompt, PromptFault> {
    let printed = page.print(&page::Cuts::default())?;
    Ok(Prompt { tokens: printed.tokens(), text: printed.text, shortened: Vec::new() })
}
