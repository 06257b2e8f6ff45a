//! For people: each finding with the line it is about, a caret and what to do; then a summary.

use std::collections::BTreeMap;
use std::ops::Range;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use baton_protocol::{Diagnostic, Severity, printable};
use baton_views::words::counted;

use super::sheet::{Paint, Tint, wrapped};
use crate::report::CheckReport;

/// The longest part of a line that is shown.
const EXCERPT_MAX: usize = 160;
/// How many files are listed one by one.
const LISTED_MAX: usize = 10;

pub(crate) fn render(report: &CheckReport, failed: bool, color: bool, terminal: Option<usize>) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() }.decor_style(DecorStyle::Ascii);
    let mut text = String::new();
    for file in &report.files {
        let source = std::str::from_utf8(&file.bytes).unwrap_or_default();
        for diagnostic in &file.judgement.diagnostics {
            text.push_str(&one(&file.name, source, diagnostic, &renderer, terminal));
            text.push_str("\n\n");
        }
        for allowed in &file.judgement.allowed {
            let (name, reason, found) = (printable(&file.name), printable(&allowed.reason), &allowed.diagnostic);
            text.push_str(&format!("allowed: {name}:{}: {} ({reason})\n\n", found.line, found.code));
        }
    }
    text + &recognised(report) + &summary(report, failed, color)
}

/// Returns what each file was taken for; of many files, how many there are of each kind.
fn recognised(report: &CheckReport) -> String {
    let kinds = report.files.iter().filter_map(|file| Some((file, file.dialect?, file.kind?)));
    if report.files.len() <= LISTED_MAX {
        let verdict = |valid: bool| if valid { "valid" } else { "not valid" };
        return kinds
            .map(|(file, dialect, kind)| {
                format!("{}: {dialect} {kind}, {}\n", printable(&file.name), verdict(file.judgement.valid))
            })
            .collect();
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    kinds.for_each(|(_, dialect, kind)| *counts.entry(format!("{dialect} {kind}")).or_default() += 1);
    counts.into_iter().map(|(what, count)| format!("{}\n", counted(count, &what))).collect()
}

/// What stands before a help text, at least.
const HELP: &str = "   = help: ";

fn one(name: &str, source: &str, diagnostic: &Diagnostic, renderer: &Renderer, terminal: Option<usize>) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let (name, message) = (printable(name), printable(&diagnostic.message));
    let title = level.primary_title(message).id(diagnostic.code);
    let excerpt = Excerpt::of(source, diagnostic);
    let origin = || annotate_snippets::Origin::path(&name).line(diagnostic.line).char_column(diagnostic.column);
    let snippet = |excerpt: &'_ Excerpt| {
        let mark = AnnotationKind::Primary.span(excerpt.span.clone());
        Snippet::source(excerpt.text.clone()).line_start(diagnostic.line).annotation(mark)
    };
    let group = Group::with_title(title);
    let mut group = match &excerpt {
        Some(excerpt) if excerpt.cut_before => group.element(origin()).element(snippet(excerpt)),
        Some(excerpt) => group.element(snippet(excerpt).path(&name)),
        None => group.element(origin()),
    };
    if let Some(help) = &diagnostic.help {
        // The renderer puts the lines of a text under each other, but does not break them.
        let room = terminal.map_or(usize::MAX, |columns| columns.saturating_sub(HELP.len() + 2));
        group = group.element(Level::HELP.message(wrapped(&printable(help), room).join("\n")));
    }
    let rendered = renderer.render(&[group]);
    match excerpt.is_some_and(|excerpt| excerpt.cut_before) {
        true => without_joint(&rendered),
        false => rendered,
    }
}

/// Drops the line `:::` that the renderer puts between a place and an excerpt that has no path of its own.
fn without_joint(rendered: &str) -> String {
    let is_joint = |line: &&str| {
        line.contains(":::")
            && line.split('\x1b').all(|part| {
                let text = part.split_once('m').filter(|_| part.starts_with('[')).map_or(part, |(_, text)| text);
                text.chars().all(|character| character == ':' || character == ' ')
            })
    };
    rendered.lines().filter(|line| !is_joint(line)).collect::<Vec<_>>().join("\n")
}

/// The part of a line that is shown, and the marked part within it.
struct Excerpt {
    text: String,
    span: Range<usize>,
    /// Whether the beginning of the line is cut off, so that columns must be named separately.
    cut_before: bool,
}

impl Excerpt {
    /// Cuts out the line of a diagnostic, or the part of it around the place; `None` if there is no text to show.
    fn of(source: &str, diagnostic: &Diagnostic) -> Option<Excerpt> {
        let start = Some(diagnostic.span.start).filter(|start| *start <= source.len() && !source.is_empty())?;
        let mut line_start = source[..start].rfind('\n').map_or(0, |at| at + 1);
        if line_start == 0 && source.starts_with('\u{feff}') {
            line_start = '\u{feff}'.len_utf8().min(start);
        }
        let line_end = source[start..].find('\n').map_or(source.len(), |at| start + at);
        let line = source[line_start..line_end].trim_end_matches('\r');
        let marked = (start - line_start).min(line.len());
        let from = match marked > EXCERPT_MAX * 3 / 4 {
            true => line.floor_char_boundary(marked - EXCERPT_MAX / 4),
            false => 0,
        };
        let to = line.floor_char_boundary(from + EXCERPT_MAX);
        let (before, after) = (if from > 0 { "…" } else { "" }, if to < line.len() { "…" } else { "" });
        let shown = line.get(from..to).filter(|shown| !shown.contains(is_hidden))?;
        let end = diagnostic.span.end.max(start).saturating_sub(line_start).clamp(marked, to);
        let span = marked - from + before.len()..end - from + before.len();
        Some(Excerpt { text: format!("{before}{shown}{after}"), span, cut_before: from > 0 })
    }
}

/// Returns whether a character would do something to a terminal.
fn is_hidden(character: char) -> bool {
    character.is_control() && character != '\t'
}

fn summary(report: &CheckReport, failed: bool, color: bool) -> String {
    if report.files.is_empty() && !report.problems.is_empty() {
        // Why nothing was read is said already.
        return String::new();
    }
    let paint = Paint::new(color, None);
    let valid = report.files.iter().filter(|file| file.judgement.valid).count();
    let mark = if failed { paint.strong(Tint::Red, "failed") } else { paint.strong(Tint::Green, "ok") };
    let is_strict = failed && report.problems.is_empty() && report.count(Severity::Error) == 0;
    let strictly = if is_strict { " (errors with --strict)" } else { "" };
    let mut parts = vec![
        format!("{mark}: {valid} of {} valid", counted(report.files.len(), "file")),
        counted(report.count(Severity::Error), "error"),
        counted(report.count(Severity::Warning), "warning") + strictly,
    ];
    let allowed: usize = report.files.iter().map(|file| file.judgement.allowed.len()).sum();
    if allowed > 0 {
        parts.push(format!("{allowed} allowed"));
    }
    if report.skipped > 0 {
        parts.push(format!("{} without a handoff", counted(report.skipped, "file")));
    }
    parts.join(", ") + "\n"
}
