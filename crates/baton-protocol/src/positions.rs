//! From findings to diagnostics: the place of each in the file.

use crate::diagnostic::{Diagnostic, Finding, Lines, Place, Severity};
use crate::read::Block;
use crate::read::locate::Spans;

/// Knows the place of everything in one file.
pub(crate) struct Positions<'r, 't> {
    lines: Lines<'r>,
    block: Option<&'r Block<'t>>,
    spans: Spans,
    length: usize,
}

impl<'r, 't> Positions<'r, 't> {
    /// Looks at a file, as far as the findings need it.
    pub(crate) fn of(bytes: &'r [u8], block: Option<&'r Block<'t>>, findings: &[Finding]) -> Self {
        // What could not be parsed has no tree to point into.
        let pointed = findings.iter().any(|finding| !matches!(finding.place, Place::Bytes(_)));
        let spans = block.filter(|_| pointed).map(Spans::of).unwrap_or_default();
        Positions { lines: Lines::new(bytes), block, spans, length: bytes.len() }
    }

    /// Returns whether there is a value under a pointer.
    pub(crate) fn has(&self, pointer: &str) -> bool {
        self.spans.has(pointer)
    }

    /// Gives a finding its position.
    pub(crate) fn diagnostic(&self, finding: Finding, severity: Severity) -> Diagnostic {
        let span = match (&finding.place, self.block) {
            (Place::Bytes(span), _) => span.clone(),
            (place, Some(block)) => block.span_to_file(self.spans.find(place)),
            (_, None) => 0..0,
        };
        let span = span.start.min(self.length)..span.end.min(self.length);
        let (line, column) = self.lines.position(span.start);
        Diagnostic {
            code: finding.rule.name,
            severity,
            message: finding.message,
            pointer: finding.place.pointer().to_owned(),
            line,
            column,
            span,
            help: finding.help,
        }
    }
}
