//! What is in git's index: the contents that the next commit will have, whatever lies in the working tree.

use std::io::{self, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

use baton_protocol::printable;

use crate::command_error::CommandError;

/// A file of the index that differs from the last commit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StagedFile {
    /// Its path as somebody here writes it.
    pub path: PathBuf,
    /// The name of its contents.
    blob: String,
}

/// Finds the files in the index that the next commit adds or changes. `paths` are files, folders and globs.
pub(crate) fn staged(paths: &[PathBuf]) -> Result<Vec<StagedFile>, CommandError> {
    let below = text(git().args(["rev-parse", "--show-prefix"]), "--staged needs a git repository")?;
    let above = text(git().args(["rev-parse", "--show-cdup"]), "--staged needs a git repository")?;
    // A renamed file is one that goes and one that comes.
    let listing = [
        "-c",
        "diff.relative=false",
        "--glob-pathspecs",
        "diff",
        "--cached",
        "--raw",
        "--no-renames",
        "--no-abbrev",
        "-z",
        "--",
    ];
    for path in paths {
        let is_known = |command: &[&str]| {
            let found = told(git().arg("--glob-pathspecs").args(command).arg("--").arg(path), "git cannot list files");
            found.map(|found| !found.is_empty())
        };
        // What matches nothing was misspelt, and would never be judged.
        if !is_known(&["ls-files", "--cached"])? && !is_known(&["diff", "--cached", "--name-only"])? {
            return Err(CommandError::usage(format!("{}: no file in git's index matches", path.display())));
        }
    }
    let listed = told(git().args(listing).args(paths), "git cannot list what is staged")?;
    let here = |path: &str| match path.strip_prefix(&below) {
        Some(path) => PathBuf::from(path),
        None => PathBuf::from(format!("{above}{path}")),
    };
    let mut files = Vec::new();
    let listed = String::from_utf8_lossy(&listed).into_owned();
    let mut words = listed.split_terminator('\0');
    while let (Some(change), Some(path)) = (words.next(), words.next()) {
        // `:100644 100755 OLD NEW M`: the modes and the contents before and after, and what happened.
        let fields: Vec<&str> = change.split(' ').collect();
        let [_, mode, _, blob, _] = fields[..] else { continue };
        if is_file(mode) {
            files.push(StagedFile { path: here(path), blob: String::from(blob) });
        }
    }
    Ok(files)
}

/// Returns whether a mode is that of a file that is there, and not of a link or of another repository.
fn is_file(mode: &str) -> bool {
    mode.starts_with("100")
}

/// Reads the contents of files, one after the other; of those with `limit` bytes or more only the length.
pub(crate) fn contents(files: &[StagedFile], limit: u64) -> Result<Vec<Result<Vec<u8>, u64>>, CommandError> {
    let names: String = files.iter().map(|file| format!("{}\n", file.blob)).collect();
    let mut git = git();
    let mut child =
        git.args(["cat-file", "--batch"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(missing)?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let (Some(mut stdin), Some(stdout)) = (stdin, stdout) else {
        return Err(CommandError::internal("git has no pipes"));
    };
    // Git stops reading when nobody reads what it writes.
    let feeder = thread::spawn(move || stdin.write_all(names.as_bytes()));
    let mut reader = BufReader::new(stdout);
    let contents = files.iter().map(|_| blob(&mut reader, limit)).collect::<io::Result<Vec<_>>>();
    drop(reader);
    let ended = child.wait();
    let fed = feeder.join().unwrap_or(Ok(()));
    let contents = contents.and_then(|contents| fed.and(ended).map(|_| contents));
    contents.map_err(|error| CommandError::usage(format!("cannot read git's index: {error}")))
}

/// Reads one blob: `NAME blob LENGTH`, the bytes, and a line break.
fn blob(reader: &mut impl io::BufRead, limit: u64) -> io::Result<Result<Vec<u8>, u64>> {
    let mut head = String::new();
    reader.read_line(&mut head)?;
    let length = head.trim_end().rsplit(' ').next().and_then(|length| length.parse::<u64>().ok());
    let length = length.ok_or_else(|| io::Error::other(format!("git says: {}", head.trim_end())))?;
    let mut bytes = Vec::new();
    if length < limit {
        reader.take(length).read_to_end(&mut bytes)?;
    } else {
        io::copy(&mut reader.take(length), &mut io::sink())?;
    }
    reader.read_line(&mut head)?;
    Ok(if length < limit { Ok(bytes) } else { Err(length) })
}

/// Returns git as it is started here: it changes nothing and fetches nothing.
fn git() -> Command {
    let mut git = Command::new("git");
    git.env("GIT_NO_LAZY_FETCH", "1").env("GIT_OPTIONAL_LOCKS", "0").stdin(Stdio::null());
    git
}

fn text(command: &mut Command, without: &str) -> Result<String, CommandError> {
    let told = told(command, without)?;
    Ok(String::from_utf8_lossy(&told).trim_end_matches('\n').to_owned())
}

/// Returns what git prints; `without` says what its failure means.
fn told(command: &mut Command, without: &str) -> Result<Vec<u8>, CommandError> {
    let told = command.output().map_err(missing)?;
    if told.status.success() {
        return Ok(told.stdout);
    }
    let why = String::from_utf8_lossy(&told.stderr);
    let why = printable(why.lines().next().unwrap_or("git failed").trim_start_matches("fatal: "));
    Err(CommandError::usage(format!("{without}: {why}")))
}

fn missing(error: io::Error) -> CommandError {
    CommandError::usage(format!("--staged needs git: {error}"))
}
