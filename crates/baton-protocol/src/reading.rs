//! From bytes to a document: finds the format, the block and the dialect, and reads it.

use std::ops::Range;

use crate::diagnostic::{Finding, Findings, Place, excerpt};
use crate::dialect::Dialect;
use crate::model::Document;
use crate::read::{Block, Format, Trouble, allow, conflict, conflicted, decode, is_object, markdown};
use crate::rules;
use crate::settings::Permission;
use crate::tree::Node;
use crate::wire::{Reader, join};

/// What the caller knows about a text before it is read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hints {
    /// How it is written; otherwise told from the text.
    pub format: Option<Format>,
    /// Which dialect it is; otherwise recognised.
    pub dialect: Option<Dialect>,
}

/// What reading a text gave.
#[derive(Debug, Default)]
pub struct Reading<'t> {
    /// The dialect, if it was given or recognised.
    pub dialect: Option<Dialect>,
    /// The document, as far as it could be read. It is valid only if no finding is an error.
    pub document: Option<Document>,
    /// What was found while reading.
    pub findings: Findings,
    /// What the document allows itself, with its reasons.
    pub permissions: Vec<Permission>,
    /// The text of the document in the file, where one was found.
    pub block: Option<Block<'t>>,
    /// Whether the text could be read but nothing in it has the marks of a handoff.
    pub unmarked: bool,
}

/// How reading one block went.
enum Outcome {
    /// It has a dialect and was read.
    Read,
    /// It was parsed, but has the marks of no dialect; what kind of value it is.
    Unmarked(&'static str),
    /// It could not be parsed.
    Trouble(Trouble),
}

/// Reads a document. Never fails: a text that cannot be read gives a finding and no document.
///
/// ```
/// use baton_protocol::{Dialect, Hints, Kind};
///
/// let report = b"Done.\n\n```json\n{\"baton\": 1, \"document\": \"report\", \"outcome\": \"complete\"}\n```\n";
/// let reading = baton_protocol::read(report, Hints::default());
/// assert_eq!((reading.dialect, reading.document.expect("read").kind()), (Some(Dialect::Native), Kind::Report));
///
/// assert!(baton_protocol::read(b"All done!", Hints::default()).document.is_none());
/// ```
pub fn read(bytes: &[u8], hints: Hints) -> Reading<'_> {
    let mut reading = Reading::default();
    match decode(bytes) {
        Ok((text, offset)) => reading.read_text(text, offset, hints),
        Err(trouble) => reading.fail(trouble),
    }
    reading
}

impl<'t> Reading<'t> {
    /// Makes the reading of something that cannot be read.
    pub fn unreadable(trouble: Trouble) -> Self {
        let mut reading = Reading::default();
        reading.fail(trouble);
        reading
    }

    fn read_text(&mut self, text: &'t str, offset: usize, hints: Hints) {
        note_encoding(text, offset, &mut self.findings);
        let format = hints.format.unwrap_or_else(|| Format::of_text(text));
        match format {
            Format::Markdown => self.read_last_block(text, offset, hints.dialect),
            format => match self.read_whole(Block::whole(format, text, offset), hints.dialect) {
                Outcome::Read => {}
                Outcome::Unmarked(kind) => {
                    self.unmarked = true;
                    self.findings.push(no_dialect(kind));
                }
                Outcome::Trouble(trouble) => self.fail(trouble),
            },
        }
        self.comment_permissions(text, offset, format);
    }

    /// Reads a file that is one block, unless two versions of it stand side by side.
    fn read_whole(&mut self, block: Block<'t>, dialect: Option<Dialect>) -> Outcome {
        match conflict(&block.text) {
            Some(at) => Outcome::Trouble(conflicted(block.to_file(at))),
            None => self.read_block(block, dialect),
        }
    }

    /// Parses and reads a block, and keeps it if it is the document or cannot be parsed.
    fn read_block(&mut self, block: Block<'t>, dialect: Option<Dialect>) -> Outcome {
        let mut reader = Reader::default();
        let outcome = match block.parse() {
            Ok(mut node) => match dialect.or_else(|| Dialect::detect(&node)) {
                Some(dialect) => {
                    let given = self.take_permissions(&mut node, &mut reader);
                    self.dialect = Some(dialect);
                    self.document = dialect.read(node, &mut reader);
                    given.into_iter().for_each(|finding| self.findings.push(finding));
                    Outcome::Read
                }
                None if is_workflow(&node) => Outcome::Unmarked("a workflow"),
                None => Outcome::Unmarked(node.kind()),
            },
            Err(trouble) => {
                let span = block.span_to_file(trouble.span.clone());
                Outcome::Trouble(Trouble { span, ..trouble })
            }
        };
        self.findings.append(reader.findings);
        self.block = Some(block);
        outcome
    }

    /// Reads the last fenced block with the marks of a handoff.
    ///
    /// A later block that has the marks but cannot be parsed is an error: an earlier one is not taken instead.
    fn read_last_block(&mut self, text: &'t str, offset: usize, dialect: Option<Dialect>) {
        let markdown::Fences { mut blocks, open, conflict } = markdown::fences(text, offset);
        if let Some(at) = conflict {
            return self.fail(conflicted(at));
        }
        if let Some(span) = open {
            // Nobody knows what would have come: an earlier block is not taken instead.
            return self.fail(
                Trouble::new("the text ends inside a code block that never closes: the output was cut off", span)
                    .help("ask the agent for its whole output; a half handoff is not read"),
            );
        }
        while let Some(fence) = blocks.pop() {
            let (span, tagged) = (fence.span, fence.tagged);
            // A given dialect makes no handoff of code that somebody shows after it.
            let may_be_one = || looks_marked(&fence.block.text) || dialect.is_some() && is_object(&fence.block);
            if !tagged && !may_be_one() {
                continue;
            }
            match self.read_block(fence.block, dialect) {
                Outcome::Read => {}
                // A block that says it is JSON or YAML may have been the handoff.
                Outcome::Trouble(trouble) if tagged => return self.fail(trouble),
                Outcome::Unmarked(_) | Outcome::Trouble(_) => continue,
            }
            if let Some(at) = self.another_after(text, offset, &span) {
                self.document = None;
                return self.fail(
                    Trouble::new("there may be another handoff after the last block, outside of any block", at)
                        .help("end the file with one handoff block"),
                );
            }
            self.note_several(&blocks, &span);
            return self.note_text_after(text, offset, &span);
        }
        self.block = None;
        self.unmarked = true;
        self.fail(
            Trouble::new("no fenced JSON or YAML block in this Markdown has the marks of a handoff", offset..offset)
                .help("end the file with a ```json block that has at least `agent`, `status` and `handoff`"),
        );
    }

    /// Returns where the text after the last handoff block looks like one more.
    fn another_after(&self, text: &str, offset: usize, span: &Range<usize>) -> Option<Range<usize>> {
        let after = &text[span.end - offset..];
        let at = memchr::memmem::find(after.as_bytes(), b"\"status\"")?;
        looks_marked(after).then_some(span.end + at..span.end + at + 8)
    }

    fn note_several(&mut self, before: &[markdown::CodeFence<'_>], span: &Range<usize>) {
        let is_handoff = |fence: &&markdown::CodeFence<'_>| {
            let block = &fence.block;
            looks_marked(&block.text) && block.parse().is_ok_and(|node| Dialect::detect(&node).is_some())
        };
        let others = before.iter().filter(is_handoff).count();
        if others > 0 {
            let message = format!("{} blocks have the marks of a handoff; the last one counts", others + 1);
            let place = Place::Bytes(span.start..span.start + 3);
            self.findings.push(
                Finding::new(&rules::several_blocks::RULE, place, message)
                    .help("end the file with one handoff block and show others as plain text"),
            );
        }
    }

    fn note_text_after(&mut self, text: &str, offset: usize, span: &Range<usize>) {
        let after = &text[span.end - offset..];
        let is_text = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("<!--");
        if let Some(line) = after.lines().find(is_text) {
            let start = line.as_ptr() as usize - text.as_ptr() as usize + offset;
            let place = Place::Bytes(start..start + line.len());
            self.findings.push(
                Finding::new(&rules::text_after_block::RULE, place, "there is text after the handoff block")
                    .help("put it before the block; the block ends the file"),
            );
        }
    }

    fn comment_permissions(&mut self, text: &str, offset: usize, format: Format) {
        for comment in allow::comments(text, format) {
            let place = Place::Bytes(comment.span.start + offset..comment.span.end + offset);
            if let Some(finding) = self.permit(comment.rule, comment.reason, place) {
                self.findings.push(finding);
            }
        }
    }

    /// Takes the permissions that stand in the document itself; they survive as residue.
    fn take_permissions(&mut self, node: &mut Node<'_>, reader: &mut Reader) -> Vec<Finding> {
        let Node::Object(members) = node else { return Vec::new() };
        let Some(index) = members.iter().position(|(name, _)| name == allow::MEMBER) else { return Vec::new() };
        let (_, given) = members.remove(index);
        reader.residue.push((format!("/{}", allow::MEMBER), given.clone().into_json()));
        let Node::Object(given) = given else {
            let place = Place::Value(format!("/{}", allow::MEMBER));
            return vec![bad_allow(place, "permissions map rule names to reasons".to_owned())];
        };
        given
            .into_iter()
            .filter_map(|(rule, reason)| {
                let place = Place::Value(join(&format!("/{}", allow::MEMBER), &rule));
                self.permit(&rule, reason.as_text().unwrap_or_default(), place)
            })
            .collect()
    }

    fn permit(&mut self, rule: &str, reason: &str, place: Place) -> Option<Finding> {
        match permission(rule, reason, place) {
            Ok(permission) => {
                self.permissions.push(permission);
                None
            }
            Err(finding) => Some(finding),
        }
    }

    fn fail(&mut self, trouble: Trouble) {
        self.findings.push(unreadable(trouble));
    }
}

/// Explains that a text cannot be read.
pub(crate) fn unreadable(trouble: Trouble) -> Finding {
    let finding = Finding::new(&rules::unreadable::RULE, Place::Bytes(trouble.span), trouble.message);
    Finding { help: trouble.help, ..finding }
}

/// Notes what is unusual about the bytes of a text.
pub(crate) fn note_encoding(text: &str, offset: usize, findings: &mut Findings) {
    if offset > 0 {
        let finding = Finding::new(
            &rules::byte_order_mark::RULE,
            Place::Bytes(0..offset),
            "the file begins with a byte order mark",
        );
        findings.push(finding.help("save it as UTF-8 without a mark"));
    }
    if let Some(at) = memchr::memmem::find(text.as_bytes(), b"\r\n") {
        let place = Place::Bytes(offset + at..offset + at + 2);
        let finding = Finding::new(&rules::carriage_return::RULE, place, "the lines end in CRLF");
        findings.push(finding.help("write LF line ends"));
    }
}

/// Reads a permission from a file, or explains why it is not valid.
pub(crate) fn permission(rule: &str, reason: &str, place: Place) -> Result<Permission, Finding> {
    match rules::Rule::find(rule) {
        None => Err(bad_allow(place, format!("unknown rule `{}`", excerpt(rule)))),
        Some(found) if found.fixed => Err(bad_allow(place, format!("the rule `{rule}` cannot be allowed"))),
        Some(_) if reason.trim().is_empty() => Err(bad_allow(place, format!("`{rule}` is allowed without a reason"))),
        Some(_) => Ok(Permission { rule: rule.to_owned(), reason: reason.trim().to_owned() }),
    }
}

fn bad_allow(place: Place, message: String) -> Finding {
    Finding::new(&rules::bad_allow::RULE, place, message).help("write `baton: allow RULE: reason`")
}

fn is_workflow(node: &Node<'_>) -> bool {
    node.get("phases").is_some() && node.get("name").is_some()
}

/// Explains that a document has no dialect.
fn no_dialect(kind: &'static str) -> Finding {
    let names: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.as_str()).collect();
    if kind == "a workflow" {
        let message = "this is a workflow, not a handoff".to_owned();
        let finding = Finding::new(&rules::unknown_dialect::RULE, Place::Value(String::new()), message);
        return finding.help("check it with `baton workflow check`");
    }
    let message = match kind {
        "an object" => "this has the marks of no known dialect".to_owned(),
        other => format!("a handoff is an object, but this is {other}"),
    };
    Finding::new(&rules::unknown_dialect::RULE, Place::Value(String::new()), message)
        .help(format!("name it with --dialect: {}", names.join(", ")))
}

/// Returns whether a text may be meant as a handoff, before it is parsed or when it cannot be.
fn looks_marked(text: &str) -> bool {
    let has = |word: &str| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some();
    let marks = [
        "agent",
        "handoff",
        "task_id",
        "skills_invoked",
        "output_type",
        "acknowledgment",
        "decision",
        "\"baton\"",
        "baton:",
    ];
    marks.iter().any(|mark| has(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_after_the_report_is_no_handoff_whether_its_dialect_is_given_or_not() {
        let report = r#"{"agent": "lead", "status": "complete", "handoff": {"context": "Read it."}}"#;
        let text = format!("Done.\n\n```json\n{report}\n```\n\n```python\nprint(1)\n```\n");
        for dialect in [None, Some(Dialect::MetadataBlock)] {
            let reading = read(text.as_bytes(), Hints { dialect, ..Hints::default() });
            let Some(Document::Report(found)) = reading.document else { panic!("{dialect:?}: {:?}", reading.findings) };
            assert_eq!(found.agent(), Some("lead"), "{dialect:?}");
        }
    }
}
