//! What the scripted model answers: a list of steps for each conversation, told apart by a word of its first prompt.
//!
//! The step follows from how often the assistant has spoken in the conversation, so that a fresh session begins at the
//! first step and a resumed one goes on. A step that is asked for again gives its next answer; the last one repeats.

/// Stands for the time of the answer in its text.
pub(crate) const NOW: &str = "{now}";

/// Everything the model knows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Script {
    conversations: Vec<Conversation>,
}

#[derive(Debug, Clone)]
struct Conversation {
    /// A text of the first prompt; the first conversation whose text is there answers.
    about: String,
    steps: Vec<Step>,
}

/// One step of a conversation: what is answered the first time, the second time and so on.
#[derive(Debug, Clone)]
struct Step {
    answers: Vec<Answer>,
    asked: usize,
}

/// One answer of the model.
#[derive(Debug, Clone)]
pub(crate) enum Answer {
    /// The end of a turn.
    Text(String),
    /// Tool calls, all in one message.
    Calls(Vec<Call>),
    /// An error instead of an answer.
    Fault(Fault),
    /// The connection stays open and nothing comes.
    Hang,
    /// The stream ends in the middle of the text.
    Cut(String),
}

/// A tool call, in words that every program has a tool for.
#[derive(Debug, Clone)]
pub(crate) enum Call {
    Write {
        path: String,
        content: String,
    },
    Shell(String),
    Skill(String),
    /// A subagent, with its prompt.
    Subagent(String),
}

/// What can be wrong with a request, by the vendors' own lists of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Unauthorized,
    Forbidden,
    RateLimited,
    /// A limit that says when it ends.
    LimitWithReset,
    Overloaded,
    ServerError,
    OutOfCredit,
    ModelNotFound,
    ContextTooLong,
}

impl Script {
    /// Adds a conversation; `steps` are the answers of the assistant, one after the other.
    pub(crate) fn when(self, about: &str, steps: Vec<Answer>) -> Self {
        self.when_again(about, steps.into_iter().map(|answer| vec![answer]).collect())
    }

    /// Adds a conversation whose steps answer differently when they are asked for again.
    pub(crate) fn when_again(mut self, about: &str, steps: Vec<Vec<Answer>>) -> Self {
        let steps = steps.into_iter().map(|answers| Step { answers, asked: 0 }).collect();
        self.conversations.push(Conversation { about: about.to_owned(), steps });
        self
    }

    /// Returns what the assistant says next in the conversation that began with `prompt`, in which it has spoken `position` times.
    pub(crate) fn answer(&mut self, prompt: &str, position: usize) -> Answer {
        let told = self.conversations.iter_mut().find(|conversation| prompt.contains(&conversation.about));
        let step = told.and_then(|conversation| {
            let last = conversation.steps.len().checked_sub(1)?;
            conversation.steps.get_mut(position.min(last))
        });
        let Some(step) = step else {
            return Answer::Text("The script has no answer to this.".to_owned());
        };
        let last = step.answers.len().saturating_sub(1);
        let answer = step.answers.get(step.asked.min(last)).cloned();
        step.asked += 1;
        answer.unwrap_or(Answer::Hang)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(answer: Answer) -> String {
        match answer {
            Answer::Text(text) => text,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn step_follows_from_the_conversation_and_its_last_answer_repeats() {
        let say = |word: &str| Answer::Text(word.to_owned());
        let mut script = Script::default().when_again("design", vec![vec![say("one")], vec![say("bad"), say("good")]]);
        let mut asked = |position| text(script.answer("please design it", position));
        assert_eq!([asked(0), asked(1), asked(2), asked(0), asked(7)], ["one", "bad", "good", "one", "good"]);
    }
}
