//! Coding agents whose flags and output are known: how each is started without a person, and where its answer is.
//!
//! A profile never widens what its program may do: who wants edits without questions says so in `arguments`. Keys are
//! not inherited either; the programs find their login in the home folder, or `env` names the variable.

mod claude;
mod codex;
mod gemini;
mod opencode;

use std::path::{Path, PathBuf};

use baton_engine::failure::{Code, Failure};
use baton_protocol::workflow::Profile;
use serde_json::Value;

use crate::process::{Environment, permanent};

/// How one coding agent is used.
#[derive(Debug)]
pub(crate) struct Recipe {
    /// The program.
    pub(crate) program: &'static str,
    /// Its flags; those of the workflow come after them. The folder is that of the attempt.
    pub(crate) arguments: fn(folder: &Path) -> Vec<String>,
    /// What comes last when the prompt is on stdin.
    pub(crate) before_stdin: &'static [&'static str],
    /// What comes right before a prompt that is an argument.
    pub(crate) before_argument: &'static [&'static str],
    /// Variables that say where it keeps its things.
    pub(crate) inherits: &'static [&'static str],
    /// What it keeps in the home folder and changes there.
    pub(crate) home: &'static [&'static str],
    /// The most that it may write to stdout.
    pub(crate) stdout_bytes_max: usize,
    /// Understands what it wrote.
    pub(crate) read: fn(&Output<'_>) -> Heard,
}

/// What a coding agent wrote.
pub(crate) struct Output<'a> {
    pub(crate) stdout: &'a str,
    /// The end of stderr.
    pub(crate) tail: &'a str,
    /// The folder of the attempt.
    pub(crate) folder: &'a Path,
    pub(crate) workspace: &'a Path,
    pub(crate) environment: &'a Environment,
}

/// What was understood of it.
#[derive(Debug, PartialEq)]
pub(crate) enum Heard {
    /// It answered.
    Said(ProfileAnswer),
    /// It says that it failed, and why.
    Refused(String),
    /// Its output has another form than we know.
    Unreadable(String),
}

/// An answer.
#[derive(Debug, PartialEq, Default)]
pub(crate) struct ProfileAnswer {
    pub(crate) text: Option<String>,
    pub(crate) tokens: Option<u64>,
    pub(crate) transcript: Option<PathBuf>,
}

impl ProfileAnswer {
    /// An answer of which nothing else is known.
    pub(crate) fn text(text: String) -> ProfileAnswer {
        ProfileAnswer { text: Some(text), ..ProfileAnswer::default() }
    }
}

/// Events need more room than an answer: they contain what all tools have said.
const EVENTS_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Returns how a coding agent is used.
pub(crate) fn recipe(profile: Profile) -> &'static Recipe {
    match profile {
        Profile::Claude => &claude::RECIPE,
        Profile::Codex => &codex::RECIPE,
        Profile::Gemini => &gemini::RECIPE,
        Profile::Opencode => &opencode::RECIPE,
    }
}

/// Returns what coding agents change in the home folder: one of them, or all, because a script may start any.
pub(crate) fn home(recipe: Option<&Recipe>) -> Vec<&'static str> {
    match recipe {
        Some(recipe) => recipe.home.to_vec(),
        None => Profile::ALL.iter().flat_map(|profile| crate::profile::recipe(*profile).home).copied().collect(),
    }
}

/// What such programs say when somebody has too much to do, which passes.
const PASSING: [&str; 11] = [
    "rate limit",
    "rate_limit",
    "overloaded",
    "too many requests",
    "429",
    "529",
    "503",
    "quota",
    "usage limit",
    "timed out",
    "try again",
];

/// What they say when nobody lets them in, which does not pass by itself.
const SHUT: [&str; 9] = [
    "api key",
    "api_key",
    "please run /login",
    "not logged in",
    "authentication",
    "unauthorized",
    "401",
    "credit balance",
    "auth method",
];

/// Makes a failure of what a program says about itself.
pub(crate) fn refusal(message: &str) -> Failure {
    let said = message.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| said.contains(word));
    if !says(&PASSING) && says(&SHUT) {
        return permanent(Code::dependency_missing(), message);
    }
    Failure::new(Code::processing_error(), message)
}

/// Reads the one value that a program printed, after whatever it printed before that.
fn one_value(text: &str) -> Result<Value, String> {
    let whole = serde_json::from_str(text.trim());
    whole.or_else(|error| {
        let starts = text.match_indices(['{', '[']).map(|(at, _)| at);
        let mut begins = starts.filter(|at| *at == 0 || text.as_bytes()[at - 1] == b'\n');
        let last = begins.find_map(|at| serde_json::from_str(text[at..].trim()).ok());
        last.ok_or_else(|| error.to_string())
    })
}

/// Reads the events that a program printed, one a line; other lines are for people.
fn events(text: &str) -> Vec<Value> {
    text.lines().filter_map(|line| serde_json::from_str(line.trim()).ok()).filter(Value::is_object).collect()
}

/// Returns a text by its JSON pointer.
fn text_at<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer)?.as_str().filter(|text| !text.trim().is_empty())
}

/// Adds up the numbers of these names; `None` if there is none.
fn sum(value: Option<&Value>, pointers: &[&str]) -> Option<u64> {
    let numbers: Vec<u64> = pointers.iter().filter_map(|pointer| value?.pointer(pointer)?.as_u64()).collect();
    (!numbers.is_empty()).then(|| numbers.iter().sum())
}

#[cfg(test)]
mod tests {
    use baton_engine::failure::Transience;

    use super::*;

    #[test]
    fn what_passes_is_tried_again_and_a_shut_door_is_not() {
        for passing in ["API Error: 529 overloaded_error", "429 Too Many Requests: check your API key's quota", "boom"]
        {
            assert_eq!(refusal(passing).chance, Transience::Transient, "{passing}");
        }
        for shut in ["Invalid API key · Please run /login", "Credit balance is too low", "401 Unauthorized"] {
            assert_eq!(refusal(shut).chance, Transience::Permanent, "{shut}");
        }
    }

    #[test]
    fn value_is_found_after_other_lines() {
        assert_eq!(one_value("Loaded.\n{\"a\": [\n1]}\n").map(|value| value["a"][0].clone()), Ok(1.into()));
        assert!(one_value("Loaded.\n{\"a\": ").is_err());
        assert!(one_value("").is_err());
    }
}
