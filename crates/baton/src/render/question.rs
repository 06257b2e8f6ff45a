//! What a person is shown before they decide: the document in readable form, the evidence, what can be answered.

use baton_engine::evidence::{ClaimFinding, ExaminedClaim};
use baton_engine::handoff::{Ask, WrittenDocument};
use baton_engine::people::{ExpectedReply, FailedCommand, Question, plain_words};
use baton_protocol::model::Document;
use baton_views::question::heading;
use baton_views::words::{self, cut, one_line};

use super::columns;
use super::document;
use super::sheet::{COLUMNS_MAX, LABEL, Paint, Sheet, Tint, numbered, wrapped};

/// The longest input; `baton show RUN` has all of it.
const INPUT_MAX: usize = 500;

/// The longest name of a rule.
const CELL_MAX: usize = 48;

/// Returns everything that a person needs for a decision.
pub(crate) fn lines(question: &Question, paint: Paint) -> String {
    let mut sheet = Sheet::new(paint);
    sheet.heading(&heading(question));
    body(&mut sheet, question);
    sheet.into_text()
}

/// Writes everything below the heading.
pub(crate) fn body(sheet: &mut Sheet, question: &Question) {
    trouble(sheet, question.trouble.as_ref());
    let shown = question.handed_in.as_ref().or(question.document.as_ref().filter(|_| question.trouble.is_none()));
    let listed = shown.and_then(WrittenDocument::read).is_some_and(|document| has_questions(&document));
    let asked: Vec<String> = question.questions.iter().filter(|_| !listed).map(|asked| asked.text.clone()).collect();
    // What the agent handed in says more than what was made of it.
    let is_retold = question.handed_in.is_some() && question.reply.is_answer();
    // A report that is shown says it itself.
    let text = if question.ask == Ask::Gate && !is_retold { question.text.as_str() } else { "" };
    let is_history = question.trouble.is_some() || question.reply == ExpectedReply::Choice;
    sheet.row(if is_history { "history" } else { "reported" }, text);
    if question.handed_in.is_some() && question.trouble.is_none() && !is_retold {
        sheet.row("why", &question.title);
    }
    if let Some(written) = shown {
        let told = format!("{text}\n{}\n{}", asked.join("\n"), question.items.join("\n"));
        document::write(sheet, written, &told);
    }
    let inputs = words::inputs(&question.inputs).into_iter();
    sheet.list("inputs", inputs.map(|given| (String::new(), cut(&given, INPUT_MAX))));
    sheet.list("before", question.decided_before.iter().map(|said| (String::new(), said.clone())));
    sheet.list("look at", numbered(question.items.iter().cloned()));
    sheet.list("questions", numbered(asked));
    evidence(sheet, &question.examined);
    sheet.list("cage", question.gaps.iter().map(|gap| (String::new(), gap.clone())));
    options(sheet, question);
    sheet.optional("advisory", question.lapses_at.map(words::lapses).as_deref());
    if let Some(approval) = question.approval.as_ref().filter(|_| question.reply != ExpectedReply::Clarification) {
        sheet.row("approvers", &approval.in_words());
        let votes = question.approvals.iter().map(|vote| match &vote.choice {
            Some(choice) => format!("{}: {choice}", vote.who()),
            None => vote.who(),
        });
        sheet.row("approved", &votes.collect::<Vec<_>>().join("\n"));
    }
}

/// Writes what failed, and where to read more.
fn trouble(sheet: &mut Sheet, trouble: Option<&FailedCommand>) {
    let Some(trouble) = trouble else { return };
    sheet.row("failed", &trouble.what);
    sheet.optional("command", trouble.command.as_deref());
    if let Some(output) = &trouble.output {
        sheet.row(output.label(), output.text());
    }
    sheet.optional("hint", trouble.help.as_deref());
    sheet.optional("log", trouble.log.as_ref().map(|log| log.display().to_string()).as_deref());
}

/// Writes what can be chosen, or what the request says that decisions mean.
fn options(sheet: &mut Sheet, question: &Question) {
    let width = question.choices.iter().map(|(word, _)| columns::width(word)).max().unwrap_or_default();
    let choice = |(word, meaning): &(String, String)| match meaning.is_empty() {
        true => word.clone(),
        false => format!("{}  {meaning}", columns::padded(word, width)),
    };
    sheet.list("choices", numbered(question.choices.iter().map(choice)));
    if !question.choices.is_empty() {
        return;
    }
    let Some(Document::Request(request)) = question.document.as_ref().and_then(WrittenDocument::read) else { return };
    let options = request.gate.into_iter().flat_map(|gate| gate.options);
    sheet.list("options", options.map(|(word, value)| (format!("{word}: "), plain_words(&value))));
}

/// Writes what was seen, a sign and a sentence each, with the rule where something is wrong.
pub(crate) fn evidence(sheet: &mut Sheet, examined: &[ExaminedClaim]) {
    let paint = sheet.paint;
    let lines = |examined: &ExaminedClaim| -> Vec<String> {
        let (sign, tint) = sign(examined.verdict);
        let sha256 =
            examined.sha256.as_ref().map(|digest| format!("sha256 {}", digest.chars().take(12).collect::<String>()));
        let marks: Vec<String> = sha256.into_iter().chain(examined.mark.clone()).collect();
        let marks = if marks.is_empty() { String::new() } else { format!(" ({})", marks.join(", ")) };
        let allowed = examined.allowed.as_ref().map(|reason| format!(" (allowed: {reason})")).unwrap_or_default();
        let sentence = one_line(&format!("{}{}{allowed}", examined.sentence(), marks));
        // A rule is called after what is wrong; beside what is right its name would confuse. A narrow terminal has no room for it.
        let is_wrong = examined.verdict == ClaimFinding::Refuted || examined.asks_person;
        let rule = (is_wrong && paint.columns >= COLUMNS_MAX).then(|| cut(&one_line(&examined.rule), CELL_MAX));
        let rule = rule.map(|rule| format!(" ({rule})")).unwrap_or_default();
        let sign = paint.tint(tint, sign);
        let room = paint.terminal.map_or(usize::MAX, |columns| columns.saturating_sub(LABEL + 3));
        if columns::width(&sentence) + columns::width(&rule) <= room {
            return vec![format!("{sign} {sentence}{}", paint.tint(Tint::Faint, &rule))];
        }
        // The sentence is what a person decides by: it is not cut.
        let lines = wrapped(&format!("{sentence}{rule}"), paint.columns - LABEL - 3).into_iter().enumerate();
        lines.map(|(index, line)| if index == 0 { format!("{sign} {line}") } else { format!("  {line}") }).collect()
    };
    sheet.painted("evidence", &examined.iter().flat_map(lines).collect::<Vec<_>>());
}

/// Returns the sign of a verdict.
fn sign(verdict: ClaimFinding) -> (&'static str, Tint) {
    match verdict {
        ClaimFinding::Verified => ("✓", Tint::Green),
        ClaimFinding::Refuted => ("✗", Tint::Red),
        ClaimFinding::Unverifiable => ("?", Tint::Yellow),
    }
}

/// Returns whether what is asked is part of a document that people see.
fn has_questions(document: &Document) -> bool {
    match document {
        Document::Report(report) => !report.questions.is_empty() || !report.blockers.is_empty(),
        Document::Acknowledgment(acknowledgment) => {
            !acknowledgment.questions.is_empty() || !acknowledgment.blockers.is_empty()
        }
        Document::Request(request) => {
            request.context.as_ref().is_some_and(|context| !context.open_questions.is_empty())
        }
    }
}

#[cfg(test)]
mod tests {
    use baton_engine::people::AgentQuestion;
    use baton_engine::{HandoffId, RunId};
    use baton_protocol::Dialect;

    use super::*;

    fn question(reply: ExpectedReply, text: &str, change: impl FnOnce(&mut Question)) -> String {
        let document = WrittenDocument::new(Dialect::Native, text);
        let mut question = Question {
            handoff: HandoffId::parse("run-1.plan").expect("safe"),
            run: RunId::parse("run-1").expect("safe"),
            phase: "plan".to_owned(),
            agent: "architect".to_owned(),
            ask: Ask::Gate,
            reply,
            title: String::new(),
            text: String::new(),
            items: Vec::new(),
            questions: Vec::new(),
            choices: Vec::new(),
            shown: document.digest(),
            document: Some(document),
            handed_in: None,
            trouble: None,
            examined: Vec::new(),
            gaps: Vec::new(),
            inputs: serde_json::Map::new(),
            decided_before: Vec::new(),
            approval: None,
            approvals: Vec::new(),
            lapses_at: None,
        };
        change(&mut question);
        lines(&question, Paint::new(false, None))
    }

    #[test]
    fn reports_are_shown_with_their_questions_and_what_is_left_out_is_named() {
        let report = r#"{"baton": 1, "document": "report", "outcome": "needs_clarification", "summary": "Two ways are open.",
            "questions": ["When?", {"question": "Which?", "options": ["SQLite", {"label": "PostgreSQL"}],
            "impact": "the schema", "default_assumption": "SQLite"}], "artifacts": ["a.md", {"path": "b.md", "type": "spec"}],
            "files_modified": ["src/a.rs"], "verification": {"tests": "pass"}, "metrics": {"rows": 4}, "warnings": []}"#;
        insta::assert_snapshot!(question(ExpectedReply::Clarification, report, |_| {}), @"
        plan (run-1.plan): architect has questions
        status    needs_clarification
        summary   Two ways are open.
        questions 1. When?
                  2. Which?
                     options: SQLite | PostgreSQL
                     depends on it: the schema
                     without an answer: SQLite
        artifacts a.md
                  b.md (spec)
        changed   src/a.rs
        says      tests: pass
        also      metrics, fields of its dialect (see the whole document)
        ");
    }

    #[test]
    fn what_the_engine_tells_is_not_told_twice() {
        let report = r#"{"baton": 1, "document": "report", "outcome": "complete", "summary": "All rows are written."}"#;
        let told = question(ExpectedReply::Choice, report, |question| {
            question.text = "The limit of 3 visits is reached.\nLast it said: All rows are written.".to_owned();
            question.questions = vec![AgentQuestion { text: "What now?".to_owned(), options: Vec::new() }];
            question.choices = vec![("continue".to_owned(), "one more".to_owned()), ("stop".to_owned(), String::new())];
        });
        insta::assert_snapshot!(told, @"
        plan (run-1.plan): architect asks for a decision
        history   The limit of 3 visits is reached.
                  Last it said: All rows are written.
        status    complete
        questions 1. What now?
        choices   1. continue  one more
                  2. stop
        ");
    }

    #[test]
    fn evidence_is_wrapped_where_it_does_not_fit_and_names_its_rule_where_there_is_room() {
        let seen = |claim: &str, verdict| ExaminedClaim {
            rule: "file-not-modified".to_owned(),
            claim: claim.to_owned(),
            verdict,
            seen: String::new(),
            path: None,
            sha256: None,
            mark: None,
            allowed: None,
            asks_person: false,
            kind: None,
        };
        let long = "claims to have changed one of so many files ".repeat(3);
        let examined = vec![seen("short", ClaimFinding::Refuted), seen(long.trim(), ClaimFinding::Refuted)];
        for columns in [60, 80, 99, 100, 120, 140] {
            let mut sheet = Sheet::new(Paint::new(false, Some(columns)));
            evidence(&mut sheet, &examined);
            let text = sheet.into_text();
            assert!(text.lines().all(|line| columns::width(line) <= columns), "{columns}:\n{text}");
            assert_eq!(
                text.matches("(file-not-modified)").count(),
                if columns < 100 { 0 } else { 2 },
                "{columns}:\n{text}"
            );
        }
    }

    #[test]
    fn lists_that_the_text_above_has_are_not_told_twice() {
        let report = r#"{"baton": 1, "document": "report", "outcome": "partial", "summary": "CSV is wanted.",
            "issues": ["Which separator is meant?", "No tests"]}"#;
        let told = question(ExpectedReply::Clarification, report, |question| {
            question.questions =
                vec![AgentQuestion { text: "Which separator is meant?".to_owned(), options: Vec::new() }];
        });
        assert_eq!(told.matches("Which separator").count(), 1, "{told}");
        assert!(told.contains("issues    1. No tests\n"), "{told}");
        let request = r#"{"baton": 1, "document": "request", "context": {"summary": "Look",
            "decisions": [{"id": "D-1", "decision": "Keep it", "rationale": "It works"}, {"decision": "Keep"}],
            "artifacts": [{"path": "a.md", "type": "doc", "description": "Why"}, {"path": "a"}]}}"#;
        let told = question(ExpectedReply::Approval, request, |question| {
            question.text = "decisions:\n- D-1: Keep it (because: It works)\nartifacts:\n- a.md (doc): Why".to_owned();
        });
        assert_eq!((told.matches("D-1").count(), told.matches("a.md").count()), (1, 1), "{told}");
        assert!(told.contains("decided   1. Keep\n") && told.contains("artifacts a\n"), "{told}");
    }

    #[test]
    fn documents_cannot_write_to_the_terminal() {
        let text =
            "{\"baton\": 1, \"document\": \"report\", \"outcome\": \"complete\", \"summary\": \"a\\u001b[2Jb\\rc\"}";
        let told = question(ExpectedReply::Review, text, |question| {
            question.phase = "p\u{1b}[1m".to_owned();
            question.choices = vec![("x\u{7}".to_owned(), "y\u{1b}".to_owned())];
            question.examined = vec![ExaminedClaim {
                rule: "r\u{1b}".to_owned(),
                claim: "c\u{1b}\n".to_owned(),
                verdict: ClaimFinding::Refuted,
                seen: "s\u{9b}".to_owned(),
                path: Some("p\u{1b}".to_owned()),
                sha256: Some("\u{1b}".to_owned()),
                mark: None,
                allowed: Some("a\u{1b}".to_owned()),
                asks_person: false,
                kind: None,
            }];
        });
        assert!(!told.contains(|letter: char| letter.is_control() && letter != '\n'), "{told:?}");
        let unreadable = question(ExpectedReply::Review, "\u{1b}[2Jno document", |_| {});
        assert!(unreadable.contains("no document") && !unreadable.contains('\u{1b}'), "{unreadable:?}");
    }
}
