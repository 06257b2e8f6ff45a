//! A file that is decided about, as it was when it was examined: its changes, or all of it.

use baton_engine::RunId;
use baton_views::words::counted;
use maud::{Markup, html};

use crate::address;
use crate::pieces::beginning;

/// How many lines of a file are shown; all of it is a link away.
const LINES_MAX: usize = 120;

/// How many bytes of a file are shown.
const BYTES_MAX: usize = 12_000;

/// A file that is decided about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exhibit {
    /// Its path in the workspace.
    pub path: String,
    /// Its SHA-256, if it is kept: the server has it under this name.
    pub sha256: Option<String>,
    /// What is in it.
    pub content: ExhibitContent,
}

/// What is in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExhibitContent {
    /// A unified difference to what was there before.
    Difference(String),
    /// All of it: it is new.
    Text(String),
    /// All of it: it was not changed.
    Unchanged(String),
    /// Why it is not shown: it is gone, too large, or not text.
    NotShown(String),
}

impl Exhibit {
    /// Returns whether others are looked at first: nothing was changed in it, or it is Git's own.
    fn is_aside(&self) -> bool {
        matches!(self.content, ExhibitContent::Unchanged(_)) || self.path.starts_with(".git/")
    }
}

impl ExhibitContent {
    fn text(&self) -> &str {
        match self {
            ExhibitContent::Difference(text)
            | ExhibitContent::Text(text)
            | ExhibitContent::Unchanged(text)
            | ExhibitContent::NotShown(text) => text,
        }
    }
}

/// Shows files, each folded; a single one is open.
pub(crate) fn shown(run: &RunId, exhibits: &[Exhibit]) -> Markup {
    folded(run, exhibits.iter(), usize::from(exhibits.len() == 1))
}

/// Shows files that are decided about: the first ones are open, so that nobody decides without having seen them. They come
/// with the oldest work first, and the latest is what is asked about.
pub(crate) fn opened(run: &RunId, exhibits: &[Exhibit]) -> Markup {
    let mut exhibits: Vec<&Exhibit> = exhibits.iter().rev().collect();
    exhibits.sort_by_key(|exhibit| exhibit.is_aside());
    let mut lines = 0;
    let first = exhibits.iter().take_while(|exhibit| {
        let has_room = lines < LINES_MAX;
        lines += exhibit.content.text().lines().count();
        has_room
    });
    let open = first.count();
    folded(run, exhibits.into_iter(), open)
}

fn folded<'e>(run: &RunId, exhibits: impl Iterator<Item = &'e Exhibit>, open: usize) -> Markup {
    html! {
        @for (index, exhibit) in exhibits.enumerate() {
            details.exhibit id={ "exhibit-" (index) } open[index < open] {
                summary { code { (exhibit.path) } " " span.quiet { (kind(&exhibit.content)) } }
                (content(&exhibit.content))
                @if let Some(sha256) = &exhibit.sha256 {
                    p.quiet { a href=(address::artifact(run, sha256)) { "The whole file" } " · sha256 " code { (sha256) } }
                }
            }
        }
    }
}

fn kind(content: &ExhibitContent) -> String {
    match content {
        ExhibitContent::Difference(text) => {
            let count = |sign: char, head: &str| {
                text.lines().filter(|line| line.starts_with(sign) && !line.starts_with(head)).count()
            };
            format!("+{} −{}", count('+', "+++"), count('-', "---"))
        }
        ExhibitContent::Text(text) => counted(text.lines().count(), "line"),
        ExhibitContent::Unchanged(text) => format!("{}, unchanged", counted(text.lines().count(), "line")),
        ExhibitContent::NotShown(_) => "not shown".to_owned(),
    }
}

fn content(content: &ExhibitContent) -> Markup {
    match content {
        ExhibitContent::NotShown(why) => html! { p.quiet { (why) } },
        ExhibitContent::Text(text) | ExhibitContent::Unchanged(text) => lines(text, |_| ""),
        ExhibitContent::Difference(text) => lines(text, |line| match line.as_bytes().first() {
            _ if line == "--- last commit" || line == "+++ now" => "hunk",
            Some(b'+') => "plus",
            Some(b'-') => "minus",
            Some(b'@') => "hunk",
            _ => "",
        }),
    }
}

fn lines(text: &str, class: impl Fn(&str) -> &'static str) -> Markup {
    let shown = beginning(text, BYTES_MAX);
    let count = shown.lines().count();
    let is_cut = shown.len() < text.len() || count > LINES_MAX;
    html! {
        pre.lines tabindex="0" {
            @for line in shown.lines().take(LINES_MAX) {
                @match class(line) { "" => (line), class => span.(class) { (line) } } "\n"
            }
        }
        @if is_cut { p.quiet { "The first " (count.min(LINES_MAX)) " of " (text.lines().count()) " lines." } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latest_work_comes_first_and_what_nobody_has_changed_last() {
        let exhibit = |path: &str, content: fn(String) -> ExhibitContent| Exhibit {
            path: path.to_owned(),
            sha256: None,
            content: content("a line".to_owned()),
        };
        let exhibits = [
            exhibit(".git/config", ExhibitContent::Text),
            exhibit("brief.md", ExhibitContent::Unchanged),
            exhibit("stories.md", ExhibitContent::Text),
            exhibit("design.md", ExhibitContent::Difference),
        ];
        let shown = opened(&RunId::parse("r").expect("safe"), &exhibits).0;
        let places = ["design.md", "stories.md", "brief.md", ".git/config"].map(|path| shown.find(path));
        assert!(places.is_sorted() && places[0].is_some(), "{places:?}: {shown}");
    }
}
