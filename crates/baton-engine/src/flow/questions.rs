//! What an agent asks a person, in words, whatever document it asked in. Every way to ask and to answer looks here.

use baton_protocol::model::acknowledgment::Acknowledgment;
use baton_protocol::model::report::{Blocker, QuestionFields};
use baton_protocol::model::request::{OpenQuestion, Request};
use baton_protocol::model::terms::{AgentDecision, Outcome};
use baton_protocol::model::{Document, Report};
use serde_json::{Map, Value};

use crate::answer::context;
use crate::people::AgentQuestion;

/// Returns what is asked in the document that a person is shown. Of a blocked agent, what it reported counts: the
/// request to the person was made of that.
pub fn questions(shown: Option<&Document>, blocked: Option<&Report>) -> Vec<AgentQuestion> {
    let asked = blocked.map(of_report).unwrap_or_default();
    match shown {
        _ if !asked.is_empty() => asked,
        Some(Document::Report(report)) => of_report(report),
        Some(Document::Request(request)) => of_request(request),
        Some(Document::Acknowledgment(acknowledgment)) => of_acknowledgment(acknowledgment),
        None => Vec::new(),
    }
}

/// Returns what can be chosen as the answer: the options of the only question.
pub fn offered(questions: &[AgentQuestion]) -> &[(String, String)] {
    match questions {
        [only] => &only.options,
        _ => &[],
    }
}

fn of_report(report: &Report) -> Vec<AgentQuestion> {
    let clarifies = report.decision == Some(AgentDecision::Clarify);
    let asks = clarifies || matches!(report.outcome, Some(Outcome::NeedsClarification | Outcome::Blocked));
    let listed: Vec<AgentQuestion> =
        report.questions.iter().filter_map(|question| of_fields(&question.fields)).collect();
    if !listed.is_empty() || !asks {
        return listed;
    }
    let blockers = plain(report.blockers.iter().filter_map(blocker));
    let issues = plain(report.issues.iter().filter(|_| clarifies).cloned());
    let said = || context(report).or(report.blocked_reason.as_deref()).map(str::to_owned);
    [blockers, issues].into_iter().find(|found| !found.is_empty()).unwrap_or_else(|| plain(said().into_iter()))
}

fn of_request(request: &Request) -> Vec<AgentQuestion> {
    let open = request.context.iter().flat_map(|context| &context.open_questions);
    plain(open.filter_map(open_question))
}

fn of_acknowledgment(acknowledgment: &Acknowledgment) -> Vec<AgentQuestion> {
    let asked = acknowledgment.questions.iter().chain(&acknowledgment.blockers).cloned();
    let asked = plain(asked);
    if asked.is_empty() { plain(acknowledgment.task.iter().cloned()) } else { asked }
}

fn of_fields(fields: &QuestionFields) -> Option<AgentQuestion> {
    let text = fields.question.clone().filter(|text| !text.trim().is_empty())?;
    Some(AgentQuestion { text, options: fields.options.iter().map(option).collect() })
}

fn plain(texts: impl Iterator<Item = String>) -> Vec<AgentQuestion> {
    let texts = texts.filter(|text| !text.trim().is_empty());
    texts.map(|text| AgentQuestion { text, options: Vec::new() }).collect()
}

fn blocker(blocker: &Blocker) -> Option<String> {
    let resolution = blocker.resolution.as_ref().map(|resolution| format!("\nWhat would help: {resolution}"));
    Some(format!("{}{}", blocker.description.as_deref()?, resolution.unwrap_or_default()))
}

fn open_question(open: &OpenQuestion) -> Option<String> {
    let context = open.context.as_ref().map(|context| format!(" ({context})")).unwrap_or_default();
    Some(format!("{}{context}", open.question.as_deref()?))
}

/// Returns an option as people name it, and what it means.
fn option(value: &Value) -> (String, String) {
    let member = |object: &Map<String, Value>, names: &[&str]| {
        names.iter().find_map(|name| object.get(*name)?.as_str().map(str::to_owned))
    };
    match value {
        Value::String(text) => (text.clone(), String::new()),
        Value::Object(object) => {
            let name = member(object, &["label", "option", "name", "value", "id"]);
            let meaning = member(object, &["description", "meaning"]);
            match (name, meaning) {
                (Some(name), meaning) => (name, meaning.unwrap_or_default()),
                (None, Some(meaning)) => (meaning, String::new()),
                (None, None) => (value.to_string(), String::new()),
            }
        }
        other => (other.to_string(), String::new()),
    }
}

#[cfg(test)]
mod tests {
    use baton_protocol::Hints;
    use serde_json::json;

    use super::*;

    fn asked(document: Value) -> Vec<String> {
        let document = baton_protocol::read(document.to_string().as_bytes(), Hints::default()).document;
        questions(Some(&document.expect("a document")), None).into_iter().map(|question| question.text).collect()
    }

    fn report(outcome: &str, more: Value) -> Value {
        let mut report = json!({"baton": 1, "document": "report", "outcome": outcome, "summary": "Two ways are open."});
        report.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        report
    }

    #[test]
    fn questions_come_first_then_blockers_then_what_the_agent_says() {
        let blockers = json!([{"description": "no access", "resolution": "a token"}, {"description": "no host"}]);
        let both = json!({"questions": ["Which?", "When?"], "blockers": blockers});
        assert_eq!(asked(report("blocked", both)), ["Which?", "When?"]);
        let blocked = report("blocked", json!({"blockers": blockers}));
        assert_eq!(asked(blocked), ["no access\nWhat would help: a token", "no host"]);
        let said = json!({"next": {"context": "mTLS or a key?"}});
        assert_eq!(asked(report("needs_clarification", said)), ["mTLS or a key?"]);
        assert_eq!(asked(report("blocked", json!({}))), ["Two ways are open."]);
        assert_eq!(asked(report("complete", json!({}))), [""; 0]);
    }

    #[test]
    fn issues_of_an_agent_that_wants_to_clarify_are_its_questions() {
        let clarify = json!({"decision": "CLARIFY", "issues": ["Comma or semicolon?"]});
        assert_eq!(asked(report("complete", clarify)), ["Comma or semicolon?"]);
    }

    #[test]
    fn an_acknowledgment_asks_with_its_questions_and_blockers() {
        let partial = json!({"acknowledgment": {"handoff_id": "HO-1", "received": true, "understood": "partial",
            "blockers": ["The test data is missing"], "action": "request_clarification"}});
        assert_eq!(asked(partial), ["The test data is missing"]);
    }

    #[test]
    fn options_are_named_as_people_name_them() {
        let options = [json!("SQLite"), json!({"label": "PostgreSQL", "description": "many machines"}), json!(3)];
        let named = options.map(|value| option(&value));
        let expected = [("SQLite", ""), ("PostgreSQL", "many machines"), ("3", "")];
        assert_eq!(named, expected.map(|(word, meaning)| (word.to_owned(), meaning.to_owned())));
    }
}
