//! What was understood of a turn so far, passed on to listeners as it is learnt.

use std::collections::HashMap;

use baton_engine::agent::{Activity, ToolState, Update, Updates};
use baton_engine::session::Spent;
use baton_protocol::{Document, Hints, tokens};

use super::ProfileFault;
use super::figures::SenselessFigure;

/// How much is shown of what a tool is used for, and of what an agent says.
const SHOWN_CHARS_MAX: usize = 240;

/// What was understood of a turn.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// How many events there were.
    pub(crate) events: u64,
    /// The session.
    pub(crate) session: Option<String>,
    /// Whether the program says itself that it has done its work.
    pub(crate) succeeded: bool,
    /// What it says that went wrong.
    pub(crate) fault: Option<ProfileFault>,
    /// Whether it has told an error, which may be over.
    pub(crate) told_error: bool,
    /// What it spent.
    spent: Option<Spent>,
    /// What of it was reported while the program was running.
    spent_told: Option<Spent>,
    /// Whether it reported figures that make no sense, or a price without tokens.
    tells_nonsense: bool,
    /// The skills that it used, by name or path.
    skills: Vec<String>,
    /// Whether its tools would be seen.
    pub(crate) shows_tools: bool,
    /// Whether others worked for it whose tools nobody sees.
    pub(crate) has_hidden_work: bool,
    /// What it was not allowed to do.
    pub(crate) closed: Vec<ClosedDoor>,
    /// Which event could not be read, and why; the last one, which would have been the answer.
    pub(crate) unreadable: Option<String>,
    /// Tools that have not ended, by their call.
    open_tools: HashMap<String, OpenTool>,
    /// The last answer; the last one in which a report can be read; and such words that were no answer yet.
    answer: Option<String>,
    report: Option<String>,
    mentioned: Option<String>,
    updates: Option<Updates>,
}

/// Something that an agent was not allowed to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ClosedDoor {
    /// What, such as `Write DESIGN.md`.
    pub(crate) what: String,
    /// What would allow it.
    pub(crate) help: String,
}

/// A tool that has not ended.
#[derive(Debug, Clone)]
pub(crate) struct OpenTool {
    pub(crate) name: String,
    pub(crate) about: String,
    /// The skills that it uses, if it succeeds.
    pub(crate) skills: Vec<String>,
}

/// Returns whether a text is the name of a session and cannot be taken for an option or a path.
fn is_name(id: &str) -> bool {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    id.len() <= 128 && id.starts_with(|first: char| first.is_ascii_alphanumeric()) && id.chars().all(fits)
}

impl Heard {
    /// Passes everything on as updates.
    pub(super) fn telling(updates: Updates) -> Heard {
        Heard { updates: Some(updates), ..Heard::default() }
    }

    fn tell(&self, update: Update) {
        if let Some(updates) = &self.updates {
            // Each is a hint; nobody may listen.
            let _ = updates.send(update);
        }
    }

    /// Takes the name of the session. It becomes an argument of the next turn, so it must not look like anything but a
    /// name. A process has one session: what names another one later is not about it.
    pub(super) fn session(&mut self, id: Option<&str>) {
        if let Some(id) = id.filter(|id| is_name(id) && self.session.is_none()) {
            self.session = Some(id.to_owned());
            self.tell(Update::Session(id.to_owned()));
        }
    }

    /// Takes that an event could not be read.
    pub(super) fn unreadable(&mut self, what: String) {
        self.unreadable = Some(what);
    }

    /// Takes a sign of life.
    pub(super) fn alive(&self, what: impl AsRef<str>) {
        self.tell(Update::Activity(Activity::Alive(brief(what.as_ref()))));
    }

    /// Takes words that are not an answer yet.
    pub(super) fn says(&self, text: &str) {
        if !text.trim().is_empty() {
            self.tell(Update::Activity(Activity::Says(brief(text))));
        }
    }

    /// Takes a plan.
    pub(super) fn plans(&self, steps: Vec<String>) {
        if !steps.is_empty() {
            self.tell(Update::Activity(Activity::Plan(steps)));
        }
    }

    /// Takes what may be the answer. The last in which a report can be read wins over what comes after it.
    pub(super) fn answers(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        if is_report(text) {
            self.report = Some(text.to_owned());
        }
        self.answer = Some(text.to_owned());
    }

    /// Takes words that are not an answer yet. They count if a report can be read in them and in none of the answers.
    pub(super) fn mentions(&mut self, text: &str) {
        if is_report(text) {
            self.mentioned = Some(text.to_owned());
        }
    }

    /// Takes that a turn has ended well.
    pub(super) fn succeeds(&mut self) {
        (self.succeeded, self.fault) = (true, None);
    }

    /// Takes that something went wrong. That does not undo a turn which ended well, with a report.
    pub(super) fn fails(&mut self, fault: ProfileFault) {
        let is_first = !std::mem::replace(&mut self.told_error, true);
        if !self.succeeded || self.report.is_none() {
            (self.succeeded, self.fault) = (false, Some(fault));
        } else if is_first {
            let what = fault.message;
            self.tell(Update::Warning(format!("its program failed after its report, which counts: {what}")));
        }
    }

    /// Returns the answer.
    pub(crate) fn take_answer(&mut self) -> Option<String> {
        self.report.take().or_else(|| self.mentioned.take()).or_else(|| self.answer.take())
    }

    /// Takes what was spent so far.
    pub(super) fn spends(&mut self, spent: Spent) {
        self.spent = Some(spent);
        if self.spent_told.replace(spent) != Some(spent) {
            self.tell(Update::Spent(spent));
        }
    }

    /// Takes what was spent in all by a program that says that it is done. It is told with the end of the turn: a budget that
    /// is used up now must not throw away what was paid for.
    pub(super) fn has_spent(&mut self, spent: Spent) {
        self.spent = Some(spent);
    }

    /// Takes figures if they make sense, and warns once if they do not.
    pub(super) fn sensible<T>(&mut self, told: Result<T, SenselessFigure>) -> Option<T> {
        let figure = match told {
            Ok(told) => return Some(told),
            Err(SenselessFigure(figure)) => figure,
        };
        if !std::mem::replace(&mut self.tells_nonsense, true) {
            let so = "that is implausible and ignored: tokens are estimated, and the price is unknown";
            self.tell(Update::Warning(format!("its program says that {figure}; {so}")));
        }
        None
    }

    /// Takes that there is a price, but no tokens.
    pub(super) fn has_no_tokens(&mut self) {
        self.tells_nonsense = true;
    }

    /// Returns what was spent. Without tokens that make sense, those of the prompt are what is known.
    pub(crate) fn counted(&self, prompt: &str) -> Option<Spent> {
        let has_tokens = self.spent.is_some_and(|spent| spent.tokens() > 0);
        if !self.tells_nonsense || has_tokens {
            return self.spent;
        }
        Some(Spent { input: tokens::count(prompt) as u64, ..self.spent.unwrap_or_default() })
    }

    /// Takes a tool that begins.
    pub(super) fn begins(&mut self, call: &str, tool: OpenTool) {
        self.tell_tool(&tool, ToolState::Runs);
        self.open_tools.insert(call.to_owned(), tool);
    }

    /// Takes the end of a tool.
    pub(super) fn ends(&mut self, call: &str, is_good: bool) -> Option<OpenTool> {
        let tool = self.open_tools.remove(call)?;
        self.ended(&tool, is_good);
        Some(tool)
    }

    /// Takes a tool that has begun and ended.
    pub(super) fn ended(&mut self, tool: &OpenTool, is_good: bool) {
        self.tell_tool(tool, if is_good { ToolState::Done } else { ToolState::Failed });
        if is_good {
            for skill in &tool.skills {
                if !self.skills.contains(skill) {
                    self.skills.push(skill.clone());
                }
            }
        }
    }

    /// Returns a tool that has not ended.
    pub(super) fn open_tool(&self, call: &str) -> Option<&OpenTool> {
        self.open_tools.get(call)
    }

    fn tell_tool(&self, tool: &OpenTool, state: ToolState) {
        let OpenTool { name, about, .. } = tool.clone();
        self.tell(Update::Activity(Activity::Tool { name, about, state }));
    }

    /// Takes something that was not allowed.
    pub(super) fn refuses(&mut self, door: ClosedDoor) {
        if !self.closed.contains(&door) {
            let ClosedDoor { what, help } = door.clone();
            self.tell(Update::Activity(Activity::Refused { what, help: Some(help) }));
            self.closed.push(door);
        }
    }

    /// Returns the skills that were used; `None` if some may have been used out of sight.
    pub(crate) fn take_skills(&mut self) -> Option<Vec<String>> {
        (self.shows_tools && !self.has_hidden_work).then(|| std::mem::take(&mut self.skills))
    }
}

impl OpenTool {
    pub(super) fn new(name: &str, about: &str) -> OpenTool {
        OpenTool { name: name.to_owned(), about: brief(about), skills: Vec::new() }
    }

    /// Returns the tool and what it is for, in a line.
    pub(super) fn line(&self) -> String {
        format!("{} {}", self.name, self.about).trim().to_owned()
    }
}

/// Returns whether a text holds a report, recognised by its marks.
pub(crate) fn is_report(text: &str) -> bool {
    let document = baton_protocol::read(text.as_bytes(), Hints::default()).document;
    // A package is how some agents report.
    matches!(document, Some(Document::Report(_) | Document::Request(_)))
}

/// Cuts a text to a line of its first words.
fn brief(text: &str) -> String {
    let mut words = text.split_whitespace();
    let mut line = String::new();
    for word in words.by_ref() {
        let room = SHOWN_CHARS_MAX.saturating_sub(line.chars().count() + 1);
        if word.chars().count() > room {
            line.extend(word.chars().take(room));
            line.push('…');
            break;
        }
        line.push_str(word);
        line.push(' ');
    }
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_of_a_session_cannot_be_an_option_a_path_or_a_text() {
        for name in ["0199a5b2-6f0e-7c40-9f5e-1d2c3b4a5968", "ses_58d1f2", "thread-7"] {
            assert!(is_name(name), "{name}");
        }
        for other in
            ["", "--dangerously-bypass-approvals-and-sandbox", "-", "../x", "a b", "a\nb", "a\0b", &"x".repeat(129)]
        {
            assert!(!is_name(other), "{other:?}");
        }
    }
}
