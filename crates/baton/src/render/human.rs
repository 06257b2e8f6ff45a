//! For people: each finding with the line it is about, a caret and what to do; then a summary.

use std::ops::Range;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use baton_protocol::{Diagnostic, Severity};

use crate::commands::check::{Checked, Report};
use crate::output::printable;

/// The longest part of a line that is shown.
const EXCERPT_MAX: usize = 160;

pub(crate) fn render(report: &Report, color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() }.decor_style(DecorStyle::Ascii);
    let mut text = String::new();
    for file in &report.files {
        for diagnostic in &file.judgement.diagnostics {
            text.push_str(&one(file, diagnostic, &renderer));
            text.push_str("\n\n");
        }
        for (diagnostic, reason) in &file.judgement.allowed {
            let (name, reason) = (printable(&file.name), printable(reason));
            text.push_str(&format!("allowed: {name}:{}: {} ({reason})\n\n", diagnostic.line, diagnostic.code));
        }
    }
    text + &summary(report, color)
}

fn one(file: &Checked, diagnostic: &Diagnostic, renderer: &Renderer) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let (name, message) = (printable(&file.name), printable(&diagnostic.message));
    let title = level.primary_title(message).id(diagnostic.code);
    let excerpt = Excerpt::of(&file.bytes, diagnostic);
    let mut group = match &excerpt {
        Some(excerpt) => Group::with_title(title).element(
            Snippet::source(&excerpt.text)
                .line_start(diagnostic.line)
                .path(&name)
                .annotation(AnnotationKind::Primary.span(excerpt.span.clone())),
        ),
        None => Group::with_title(title)
            .element(annotate_snippets::Origin::path(&name).line(diagnostic.line).char_column(diagnostic.column)),
    };
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(printable(help)));
    }
    renderer.render(&[group])
}

/// The part of a line that is shown, and the part of that which is marked.
struct Excerpt {
    text: String,
    span: Range<usize>,
}

impl Excerpt {
    /// Cuts out the line of a diagnostic; `None` if there is no text to show.
    fn of(bytes: &[u8], diagnostic: &Diagnostic) -> Option<Excerpt> {
        let text = std::str::from_utf8(bytes).ok().filter(|text| !text.is_empty())?;
        let start = diagnostic.span.start.min(text.len());
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let line = text[line_start..line_end].trim_end_matches('\r');
        if line.chars().any(|character| character.is_control() && character != '\t') {
            return None;
        }
        let marked = start - line_start..(diagnostic.span.end.max(start) - line_start).min(line.len());
        let marked = marked.start.min(line.len())..marked.end.max(marked.start.min(line.len()));
        // Columns are told from the start of the excerpt, so only the end of a long line is cut off,
        // unless the place itself lies beyond it.
        let window = match marked.start < EXCERPT_MAX * 3 / 4 {
            true => 0..boundary(line, EXCERPT_MAX),
            false => return None,
        };
        let text = line[window.clone()].to_owned();
        let span = marked.start..marked.end.min(text.len());
        Some(Excerpt { text, span })
    }
}

/// Returns the last character boundary up to `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn summary(report: &Report, color: bool) -> String {
    let (green, red, off) = if color { ("\x1b[1;32m", "\x1b[1;31m", "\x1b[0m") } else { ("", "", "") };
    let valid = report.files.iter().filter(|file| file.judgement.valid).count();
    let counted = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let mark = match valid == report.files.len() && report.problems.is_empty() {
        true => format!("{green}ok{off}"),
        false => format!("{red}failed{off}"),
    };
    let mut parts = vec![
        format!("{mark}: {valid} of {} valid", counted(report.files.len(), "file")),
        counted(report.count(Severity::Error), "error"),
        counted(report.count(Severity::Warning), "warning"),
    ];
    let allowed: usize = report.files.iter().map(|file| file.judgement.allowed.len()).sum();
    if allowed > 0 {
        parts.push(format!("{allowed} allowed"));
    }
    if report.skipped > 0 {
        parts.push(format!("{} no handoff", counted(report.skipped, "file")));
    }
    parts.join(", ") + "\n"
}
