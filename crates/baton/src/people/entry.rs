//! Reads a file of answers. Mistakes in it are reported with their place; nothing in it is ignored.

use baton_engine::handoff::Ask;
use baton_engine::lifecycle::Decision;
use baton_protocol::diagnostic::{Lines, Place};
use baton_protocol::read::{self, Block, Format, locate::Spans};
use baton_protocol::tree::Node;
use baton_protocol::wire::suggest;
use globset::{GlobBuilder, GlobMatcher};

use crate::command_error::CommandError;

/// One answer of a file.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// The line that it begins in.
    pub line: usize,
    /// Fits the path of the phase.
    pub phase: GlobMatcher,
    /// What must be asked for; `None` for anything.
    pub ask: Option<Ask>,
    /// What is decided.
    pub decision: Decision,
    /// What is said beyond that.
    pub note: Option<String>,
}

/// The members of an entry that decide; exactly one of them must be there.
const DECISIONS: [&str; 4] = ["approve", "reject", "answer", "question"];

/// All members of an entry.
const MEMBERS: [&str; 7] = ["phase", "ask", "approve", "reject", "answer", "question", "note"];

/// What can be asked for.
const ASKS: [&str; 4] = ["review", "clarification", "gate", "any"];

/// Something wrong, where, and what to do about it.
struct Wrong {
    place: Place,
    message: String,
    help: String,
}

impl Wrong {
    fn at(pointer: impl Into<String>, message: impl Into<String>, help: impl Into<String>) -> Wrong {
        Wrong { place: Place::Value(pointer.into()), message: message.into(), help: help.into() }
    }
}

/// Reads the entries of a file, whose name is part of errors.
pub(super) fn read(name: &str, bytes: &[u8]) -> Result<Vec<Entry>, CommandError> {
    let lines = Lines::new(bytes);
    let told = |offset: usize, message: &str, help: Option<String>| {
        let (line, column) = lines.position(offset);
        let error = CommandError::usage(format!("{name}:{line}:{column}: {message}"));
        if let Some(help) = help { error.hint(help) } else { error }
    };
    let trouble = |trouble: read::Trouble, start: usize| told(start, &trouble.message, trouble.help);
    let (text, offset) = read::decode(bytes).map_err(|found| {
        let start = found.span.start;
        trouble(found, start)
    })?;
    let format = Format::of_path(name).filter(|format| *format == Format::Json).unwrap_or(Format::Yaml);
    let block = Block::whole(format, text, offset);
    let node = block.parse().map_err(|found| {
        let start = block.to_file(found.span.start);
        trouble(found, start)
    })?;
    let spans = Spans::of(&block);
    let start = |place: &Place| block.to_file(spans.find(place).start);
    let line = |index: usize| lines.position(start(&Place::Value(format!("/{index}")))).0;
    entries(node, line).map_err(|wrong| told(start(&wrong.place), &wrong.message, Some(wrong.help)))
}

fn entries(node: Node<'_>, line: impl Fn(usize) -> usize) -> Result<Vec<Entry>, Wrong> {
    let Node::List(items) = node else {
        let message = format!("answers are a list, but this is {}", node.kind());
        return Err(Wrong::at("", message, "begin each answer with `- phase: …`"));
    };
    items.iter().enumerate().map(|(index, item)| entry(item, &format!("/{index}"), line(index))).collect()
}

fn entry(item: &Node<'_>, pointer: &str, line: usize) -> Result<Entry, Wrong> {
    let Node::Object(members) = item else {
        let message = format!("an answer is an object, but this is {}", item.kind());
        return Err(Wrong::at(pointer, message, "write `- {phase: review, approve: true}`"));
    };
    for (name, _) in members {
        if !MEMBERS.contains(&name.as_ref()) {
            let place = Place::Name(format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1")));
            let message = format!("an answer has no `{name}`");
            return Err(Wrong { place, message, help: suggest(name, &MEMBERS) });
        }
    }
    let text = |name: &str| item.get(name).map(|node| text(node, &format!("{pointer}/{name}"))).transpose();
    Ok(Entry {
        line,
        phase: pattern(&text("phase")?.unwrap_or_else(|| "**".to_owned()), pointer)?,
        ask: text("ask")?.map_or(Ok(None), |word| ask(&word, pointer))?,
        decision: decision(item, pointer)?,
        note: text("note")?,
    })
}

/// Reads the one member that decides.
fn decision(item: &Node<'_>, pointer: &str) -> Result<Decision, Wrong> {
    let given: Vec<&str> = DECISIONS.into_iter().filter(|name| item.has(name)).collect();
    let (name, node) = match given[..] {
        [name] => (name, item.get(name).unwrap_or(&Node::Null)),
        [] => return Err(Wrong::at(pointer, "this answer decides nothing", help_decisions())),
        [first, second, ..] => {
            let message = format!("an answer decides one thing, but this has `{first}` and `{second}`");
            return Err(Wrong::at(format!("{pointer}/{second}"), message, "make two answers of it; each is used once"));
        }
    };
    let pointer = format!("{pointer}/{name}");
    match (name, node) {
        ("approve", Node::Bool(true)) => Ok(Decision::Approve),
        ("approve", _) => {
            Err(Wrong::at(pointer, "only `true` approves", "write `approve: true`, or `reject:` with the reason"))
        }
        ("reject", node) => Ok(Decision::Reject { feedback: text(node, &pointer)? }),
        ("question", node) => Ok(Decision::Ask { question: text(node, &pointer)? }),
        (_, node) => Ok(Decision::Answer { answers: text(node, &pointer)? }),
    }
}

fn help_decisions() -> String {
    "give it `approve: true`, `reject: TEXT`, `answer: TEXT` or `question: TEXT`".to_owned()
}

fn text(node: &Node<'_>, pointer: &str) -> Result<String, Wrong> {
    match node {
        Node::Text(text) | Node::Plain(text) if !text.trim().is_empty() => Ok(text.trim().to_owned()),
        Node::Text(_) | Node::Plain(_) | Node::Null => {
            Err(Wrong::at(pointer, "this is empty", "write a text, or leave it out"))
        }
        other => {
            let message = format!("this must be text, but is {}", other.kind());
            Err(Wrong::at(pointer, message, "write it as text, in quotation marks"))
        }
    }
}

fn pattern(glob: &str, pointer: &str) -> Result<GlobMatcher, Wrong> {
    let built = GlobBuilder::new(glob).literal_separator(true).build();
    built.map(|glob| glob.compile_matcher()).map_err(|error| {
        let help = "`*` is any name, `**` any path: tools/*/review";
        Wrong::at(format!("{pointer}/phase"), format!("`{glob}` is not a pattern: {}", error.kind()), help)
    })
}

fn ask(word: &str, pointer: &str) -> Result<Option<Ask>, Wrong> {
    match word.to_lowercase().as_str() {
        "review" => Ok(Some(Ask::Review)),
        "clarification" => Ok(Some(Ask::Clarification)),
        "gate" => Ok(Some(Ask::Gate)),
        "any" => Ok(None),
        // The kinds that an inbox shows beside these.
        "escalation" | "limit" | "failure" => {
            let help = "write `gate`, which also covers escalations, limits and failures";
            Err(Wrong::at(format!("{pointer}/ask"), format!("`{word}` cannot be chosen alone"), help))
        }
        _ => {
            let message = format!("unknown kind of question `{word}`");
            Err(Wrong::at(format!("{pointer}/ask"), message, suggest(word, &ASKS)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> String {
        let error = read("a.yaml", text.as_bytes()).expect_err("it is wrong");
        format!("{}\nhint: {}", error.message, error.hints.join("; "))
    }

    #[test]
    fn every_kind_of_answer_is_read() {
        let text = "# for the demo\n- {phase: plan, approve: true, note: fine}\n- phase: tools/*/review\n  ask: review\n  \
                    reject: no tests\n- {answer: 42}\n- {ask: any, question: Why?}\n";
        let entries = read("a.yaml", text.as_bytes()).expect("sound");
        let read: Vec<String> = entries
            .iter()
            .map(|entry| {
                format!("{} {} {:?} {:?} {:?}", entry.line, entry.phase.glob(), entry.ask, entry.decision, entry.note)
            })
            .collect();
        insta::assert_snapshot!(read.join("\n"), @r#"
        2 plan None Approve Some("fine")
        3 tools/*/review Some(Review) Reject { feedback: "no tests" } None
        6 ** None Answer { answers: "42" } None
        7 ** None Ask { question: "Why?" } None
        "#);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let files = [
            "approve: true",
            "- approve",
            "- {phase: plan}",
            "- {phase: plan, aprove: true}",
            "- {approve: false}",
            "- approve: true\n  reject: no",
            "- {reject: ''}",
            "- {reject: [a]}",
            "- {ask: reviews, approve: true}",
            "- {ask: failure, answer: retry}",
            "- {phase: 'a[', approve: true}",
            "- {approve: true, approve: true}",
            "- {approve: true",
        ];
        insta::assert_snapshot!(files.map(wrong).join("\n"), @"
        a.yaml:1:1: answers are a list, but this is an object
        hint: begin each answer with `- phase: …`
        a.yaml:1:3: an answer is an object, but this is text
        hint: write `- {phase: review, approve: true}`
        a.yaml:1:3: this answer decides nothing
        hint: give it `approve: true`, `reject: TEXT`, `answer: TEXT` or `question: TEXT`
        a.yaml:1:17: an answer has no `aprove`
        hint: did you mean `approve`? known: phase, ask, approve, reject, answer, question, note
        a.yaml:1:13: only `true` approves
        hint: write `approve: true`, or `reject:` with the reason
        a.yaml:2:11: an answer decides one thing, but this has `approve` and `reject`
        hint: make two answers of it; each is used once
        a.yaml:1:12: this is empty
        hint: write a text, or leave it out
        a.yaml:1:12: this must be text, but is a list
        hint: write it as text, in quotation marks
        a.yaml:1:9: unknown kind of question `reviews`
        hint: did you mean `review`? known: review, clarification, gate, any
        a.yaml:1:9: `failure` cannot be chosen alone
        hint: write `gate`, which also covers escalations, limits and failures
        a.yaml:1:11: `a[` is not a pattern: unclosed character class; missing ']'
        hint: `*` is any name, `**` any path: tools/*/review
        a.yaml:1:19: duplicate key `approve`
        hint: keep one of the two; programs disagree about which one counts
        a.yaml:1:3: `{` is never closed
        hint: close it with `}`
        ");
    }
}
