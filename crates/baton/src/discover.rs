//! Finds the files that the arguments mean: files, folders, globs and `-`, on the disk or in git's index.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use baton_protocol::read::{BYTES_MAX, Format};
use globset::GlobBuilder;
use walkdir::{DirEntry, WalkDir};

use crate::command_error::CommandError;
use crate::git_index;

/// A file of so many bytes is too large to be a handoff.
const BYTES_LIMIT: u64 = BYTES_MAX as u64 + 1;

/// Folders that never hold handoffs.
const SKIPPED: &[&str] = &[".git", "node_modules", "target"];

/// Folders of a mailbox that hold other things than handoffs.
const BESIDE_HANDOFFS: &[&str] = &["artifacts", "context", "schemas"];

/// The folders of an archived run that hold the records of its handoffs and what agents wrote, beside `handoffs`.
const RECORDS: &[&str] = &["journal", "reports"];

/// One thing to read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Input {
    /// A file.
    File(PathBuf),
    /// Standard input.
    Stdin,
    /// A file in git's index, with its contents, or only how many bytes it has if these are too many.
    Staged(PathBuf, Result<Vec<u8>, u64>),
}

/// A path that could not be read.
#[derive(Debug)]
pub(crate) struct Problem {
    /// The path as it was given or found.
    pub path: String,
    /// What happened.
    pub message: String,
}

/// What the arguments mean.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// What to read, sorted, each once.
    pub inputs: Vec<Input>,
    /// What cannot be read.
    pub problems: Vec<Problem>,
}

/// Finds the files that the arguments mean.
pub(crate) fn find(arguments: &[PathBuf]) -> Found {
    let mut found = Found::default();
    for argument in arguments {
        if argument.as_os_str() == "-" {
            found.inputs.push(Input::Stdin);
        } else {
            found.add(argument);
        }
    }
    found.inputs.sort();
    found.inputs.dedup();
    found
}

/// Finds the files that the arguments mean among those that the next commit adds or changes; all of them without arguments.
pub(crate) fn find_staged(arguments: &[PathBuf]) -> Result<Vec<Input>, CommandError> {
    if arguments.iter().any(|argument| argument.as_os_str() == "-") {
        return Err(CommandError::usage("--staged reads git's index, not standard input"));
    }
    let mut files = git_index::staged(arguments)?;
    files.retain(|file| is_meant(&file.path, arguments));
    let contents = git_index::contents(&files, BYTES_LIMIT)?;
    Ok(files.into_iter().zip(contents).map(|(file, content)| Input::Staged(file.path, content)).collect())
}

/// Returns whether a file would be found by these arguments: one that is named always is, one in a folder if it may be a handoff.
fn is_meant(path: &Path, arguments: &[PathBuf]) -> bool {
    let is_named =
        |argument: &PathBuf| plain(argument) == path || glob(argument).is_some_and(|(_, matches)| matches(path));
    if arguments.iter().any(is_named) {
        return true;
    }
    let given = arguments.iter().map(|argument| plain(argument)).find(|folder| path.starts_with(folder));
    let inside =
        |folder: &&Path| *folder != given.as_deref().unwrap_or(Path::new("")) && !folder.as_os_str().is_empty();
    is_document(path) && !path.ancestors().skip(1).take_while(inside).any(is_skipped)
}

impl Found {
    fn add(&mut self, argument: &Path) {
        match fs::metadata(argument) {
            Ok(metadata) if metadata.is_dir() => {
                self.add_folder(
                    argument,
                    &is_document,
                    argument,
                    "there is no JSON, YAML or Markdown file in this folder",
                );
            }
            Ok(_) => self.inputs.push(Input::File(plain(argument))),
            Err(error) => match glob(argument) {
                Some((base, matches)) if base.is_dir() => {
                    self.add_folder(&base, &matches, argument, "no file matches this pattern");
                }
                Some(_) => self.problem(argument, "no file matches this pattern"),
                None => self.problem(argument, describe(&error)),
            },
        }
    }

    /// Adds the wanted files below a folder; none is a problem of the argument, so that nothing is never "ok".
    fn add_folder(&mut self, folder: &Path, wanted: &dyn Fn(&Path) -> bool, argument: &Path, none: &str) {
        let before = (self.inputs.len(), self.problems.len());
        let enter = |entry: &DirEntry| entry.depth() == 0 || !entry.file_type().is_dir() || !is_skipped(entry.path());
        for entry in WalkDir::new(folder).into_iter().filter_entry(enter) {
            match entry {
                // A link to a file is read like the file; a link to a folder is not followed.
                Ok(entry) if !entry.file_type().is_dir() && wanted(entry.path()) && entry.path().is_file() => {
                    self.inputs.push(Input::File(plain(entry.path())));
                }
                Ok(_) => {}
                Err(error) => {
                    let path = error.path().unwrap_or(folder).to_owned();
                    let message =
                        error.io_error().map_or_else(|| error.to_string(), |error| describe(error).to_owned());
                    self.problem(&path, &message);
                }
            }
        }
        if before == (self.inputs.len(), self.problems.len()) {
            self.problem(argument, none);
        }
    }

    fn problem(&mut self, path: &Path, message: &str) {
        self.problems.push(Problem { path: path.display().to_string(), message: message.to_owned() });
    }
}

/// Returns whether a folder holds no handoffs: by its name, or because it is beside `handoffs`.
fn is_skipped(folder: &Path) -> bool {
    let named = |names: &[&str]| folder.file_name().is_some_and(|name| names.iter().any(|known| name == *known));
    let in_mailbox = || folder.parent().is_some_and(|root| root.join("handoffs").join("pending").is_dir());
    let in_archive = || folder.parent().is_some_and(|run| run.join("handoffs").is_dir());
    named(SKIPPED) || (named(BESIDE_HANDOFFS) && in_mailbox()) || (named(RECORDS) && in_archive())
}

/// Drops a leading `./`, so that a file has one name.
fn plain(path: &Path) -> PathBuf {
    path.strip_prefix("./").unwrap_or(path).to_owned()
}

/// Returns whether a file in a folder may be a handoff.
fn is_document(path: &Path) -> bool {
    Format::of_path(&path.to_string_lossy()).is_some()
}

/// Splits a pattern into the folder to search and what to look for.
#[expect(clippy::type_complexity, reason = "a folder and a predicate, used once")]
fn glob(argument: &Path) -> Option<(PathBuf, Box<dyn Fn(&Path) -> bool>)> {
    let pattern = argument.to_str().filter(|text| text.contains(['*', '?', '[', '{']))?;
    let is_plain = |part: &&str| !part.contains(['*', '?', '[', '{']);
    let base: Vec<&str> = pattern.split('/').take_while(is_plain).collect();
    let base = match base[..] {
        [] => PathBuf::from("."),
        [""] => PathBuf::from("/"),
        _ => PathBuf::from(base.join("/")),
    };
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let matcher = GlobBuilder::new(pattern).literal_separator(true).build().ok()?.compile_matcher();
    Some((base, Box::new(move |path| matcher.is_match(path.strip_prefix("./").unwrap_or(path)))))
}

fn describe(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file or folder",
        io::ErrorKind::PermissionDenied => "permission denied",
        _ => "it cannot be read",
    }
}

impl Input {
    /// Returns the name used in every output.
    pub(crate) fn name(&self) -> String {
        match self {
            Input::File(path) if cfg!(windows) => path.to_string_lossy().replace('\\', "/"),
            Input::File(path) | Input::Staged(path, _) => path.to_string_lossy().into_owned(),
            Input::Stdin => "<stdin>".to_owned(),
        }
    }

    /// Reads a document. What is too large to be one is not read whole.
    pub(crate) fn read(&self) -> Result<Vec<u8>, NotRead> {
        let limit = BYTES_LIMIT;
        let mut bytes = Vec::new();
        let length = match self {
            Input::File(path) => File::open(path).and_then(|file| {
                let length = file.metadata()?.len();
                let read = if length < limit { file.take(limit).read_to_end(&mut bytes)? as u64 } else { length };
                Ok(length.max(read))
            }),
            Input::Stdin => io::stdin().lock().take(limit).read_to_end(&mut bytes).map(|read| read as u64),
            Input::Staged(_, content) => return content.clone().map_err(NotRead::TooLarge),
        };
        match length {
            Ok(length) if length < limit => Ok(bytes),
            Ok(length) => Err(NotRead::TooLarge(length)),
            Err(error) => Err(NotRead::Problem(Problem { path: self.name(), message: describe(&error).to_owned() })),
        }
    }
}

/// Why a document was not read.
#[derive(Debug)]
pub(crate) enum NotRead {
    /// It has at least so many bytes.
    TooLarge(u64),
    /// It could not be opened.
    Problem(Problem),
}

impl NotRead {
    /// Describes it in one line.
    pub(crate) fn describe(&self, name: &str) -> String {
        match self {
            NotRead::TooLarge(length) => format!("{name}: {}", baton_protocol::read::too_large(*length).message),
            NotRead::Problem(problem) => format!("{name}: {}", problem.message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_searched_from_their_plain_part() {
        let (base, matches) = glob(Path::new("out/*/report*.md")).expect("a pattern");
        assert_eq!(base, Path::new("out"));
        assert!(matches(Path::new("out/a/report-1.md")));
        assert!(!matches(Path::new("out/a/b/report.md")));
        assert!(glob(Path::new("out/a.md")).is_none());
    }

    #[test]
    fn what_is_not_there_is_a_problem() {
        let found = find(&[PathBuf::from("no/such/file.json"), PathBuf::from("no/such/*.json")]);
        assert!(found.inputs.is_empty());
        assert_eq!(found.problems.len(), 2, "{found:?}");
    }
}
