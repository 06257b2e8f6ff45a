//! A file that is decided about, as it was when it was examined: its changes, or all of it.

use baton_engine::RunId;
use baton_views::words::counted;
use maud::{Markup, html};

use crate::address;
use crate::document::and_more;
use crate::pieces::beginning;

/// How many lines of files are shown; all of them are a link away.
const LINES_MAX: usize = 120;

/// How many bytes of files are shown.
const BYTES_MAX: usize = 12_000;

/// How many files a page names; all of them are a link away.
pub const EXHIBITS_MAX: usize = 40;

/// What a difference is to, as its first line says.
pub const LAST_COMMIT: &str = "last commit";

/// The same, if it is to what people decided about last.
pub const LAST_DECISION: &str = "last decision";

/// What it leads to.
pub const NOW: &str = "now";

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
    /// Returns what is in it, or why that is not shown.
    pub fn text(&self) -> &str {
        match self {
            ExhibitContent::Difference(text)
            | ExhibitContent::Text(text)
            | ExhibitContent::Unchanged(text)
            | ExhibitContent::NotShown(text) => text,
        }
    }
}

/// Where files stand, and where all of them are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'p> {
    /// Their run.
    pub(crate) run: &'p RunId,
    /// The address of the page.
    pub(crate) page: &'p str,
    /// Its part in which each is whole.
    pub(crate) part: &'p str,
    /// Its part in which those are that are not shown.
    pub(crate) others: &'p str,
}

/// How much of files a page has shown already: the first ones are open, and all others a link away, so that a page is small
/// however much it is about.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shown {
    lines: usize,
    bytes: usize,
}

/// Shows files; a single one is open. `more` are not among them.
pub(crate) fn shown(place: Place<'_>, exhibits: &[Exhibit], more: usize) -> Markup {
    listed(place, &exhibits.iter().collect::<Vec<_>>(), usize::from(exhibits.len() == 1), more)
}

/// Shows files that are decided about: the first ones are open, so that nobody decides without having seen them. They come
/// with the oldest work first, and the latest is what is asked about.
pub(crate) fn opened(place: Place<'_>, exhibits: &[Exhibit], more: usize, shown: &mut Shown) -> Markup {
    let mut exhibits: Vec<&Exhibit> = exhibits.iter().rev().collect();
    exhibits.sort_by_key(|exhibit| exhibit.is_aside());
    let first = exhibits.iter().take_while(|exhibit| {
        let has_room = shown.lines < LINES_MAX && shown.bytes < BYTES_MAX;
        if has_room {
            shown.lines += exhibit.content.text().lines().count();
            shown.bytes += exhibit.content.text().len();
        }
        has_room
    });
    let open = first.count();
    listed(place, &exhibits, open, more)
}

fn listed(place: Place<'_>, exhibits: &[&Exhibit], open: usize, more: usize) -> Markup {
    let Place { run, page, part, others } = place;
    let changes = |exhibit: &Exhibit| address::changes(page, part, &exhibit.path);
    let whole = |exhibit: &Exhibit| {
        html! {
            @if let Some(sha256) = &exhibit.sha256 {
                a href=(address::artifact(run, sha256)) { "The whole file" } " · sha256 " code title=(sha256) { (beginning(sha256, 12)) }
            }
        }
    };
    html! {
        @for (index, exhibit) in exhibits.iter().take(open).enumerate() {
            details.exhibit id={ (part) "-" (index) } open {
                summary { code { (exhibit.path) } " " span.quiet { (kind(&exhibit.content)) } }
                (content(&exhibit.content, &changes(exhibit)))
                p.quiet { (whole(exhibit)) }
            }
        }
        @if exhibits.len() > open || more > 0 {
            ul.exhibits {
                @for exhibit in exhibits.iter().skip(open) {
                    li {
                        @match &exhibit.content {
                            ExhibitContent::NotShown(why) => { code { (exhibit.path) } " " span.quiet { (why) } }
                            shown => { a href=(changes(exhibit)) { code { (exhibit.path) } } " " span.quiet { (kind(shown)) } }
                        }
                        " " span.quiet { (whole(exhibit)) }
                    }
                }
                @if more > 0 { li.quiet { (and_more(more, "files", &format!("{page}/{others}"))) } }
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

fn content(content: &ExhibitContent, whole: &str) -> Markup {
    match content {
        ExhibitContent::NotShown(why) => html! { p.quiet { (why) } },
        ExhibitContent::Text(text) | ExhibitContent::Unchanged(text) => lines(text, whole, |_| ""),
        ExhibitContent::Difference(text) => lines(text, whole, |line| match line.as_bytes().first() {
            _ if is_head(line) => "hunk",
            Some(b'+') => "plus",
            Some(b'-') => "minus",
            Some(b'@') => "hunk",
            _ => "",
        }),
    }
}

/// Returns whether a line of a difference names what is compared.
fn is_head(line: &str) -> bool {
    let name = line.strip_prefix("--- ").or_else(|| line.strip_prefix("+++ "));
    name.is_some_and(|name| [LAST_COMMIT, LAST_DECISION, NOW].contains(&name))
}

fn lines(text: &str, whole: &str, class: impl Fn(&str) -> &'static str) -> Markup {
    let shown = beginning(text, BYTES_MAX);
    let count = shown.lines().count();
    let is_cut = shown.len() < text.len() || count > LINES_MAX;
    html! {
        pre.lines tabindex="0" {
            @for line in shown.lines().take(LINES_MAX) {
                @match class(line) { "" => (line), class => span.(class) { (line) } } "\n"
            }
        }
        @if is_cut { p.quiet { "The first " (count.min(LINES_MAX)) " of " (text.lines().count()) " lines. " a href=(whole) { "All of them" } } }
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
        let run = RunId::parse("r").expect("safe");
        let place = Place { run: &run, page: "/inbox/r.ok.1", part: "file", others: "text" };
        let shown = opened(place, &exhibits, 0, &mut Shown::default()).0;
        let places = ["design.md", "stories.md", "brief.md", ".git/config"].map(|path| shown.find(path));
        assert!(places.is_sorted() && places[0].is_some(), "{places:?}: {shown}");
    }
}
