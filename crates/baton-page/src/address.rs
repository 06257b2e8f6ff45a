//! The addresses of all pages and forms, so that links, forms and the server agree.

use baton_engine::{Fence, HandoffId, RunId};

/// The list of runs.
pub const RUNS: &str = "/runs";
/// The form that starts a run, of the workflow `?workflow=NAME`; the same address takes it.
pub const START: &str = "/start";
/// What waits for people.
pub const INBOX: &str = "/inbox";
/// The agents and their queues.
pub const AGENTS: &str = "/agents";
/// The form that judges a pasted document; the same address takes it.
pub const CHECK: &str = "/check";
/// The manual of the rules.
pub const RULES: &str = "/rules";
/// Two runs side by side: `?a=RUN&b=RUN`.
pub const COMPARE: &str = "/compare";
/// The form to log in; the same address takes it.
pub const LOG_IN: &str = "/login";
/// Takes the form that logs out.
pub const LOG_OUT: &str = "/logout";
/// Takes the form that chooses a theme.
pub const THEME: &str = "/theme";

/// The field of a run's page that says which phase to do again. A link to it opens the form.
pub(crate) const RETRY_FROM: &str = "retry-from";

/// The page of a run.
pub fn run(id: &RunId) -> String {
    format!("{RUNS}/{}", encoded(id.as_str()))
}

/// The flow of a run as a picture.
pub fn flow(id: &RunId) -> String {
    format!("{}/flow", run(id))
}

/// The handoffs of a run.
pub fn handoffs(id: &RunId) -> String {
    format!("{}/handoffs", run(id))
}

/// One handoff of a run.
pub fn handoff(id: &RunId, handoff: &HandoffId) -> String {
    format!("{}/{}", handoffs(id), encoded(handoff.as_str()))
}

/// All that is known about a handoff, as text.
pub fn handoff_text(id: &RunId, of: &HandoffId) -> String {
    format!("{}/text", handoff(id, of))
}

/// A document of a handoff as it was written: `request` or `report`.
pub fn document(id: &RunId, of: &HandoffId, document: &str) -> String {
    format!("{}/{document}", handoff(id, of))
}

/// A handoff with what one of its attempts was told and has written.
pub fn attempt(id: &RunId, of: &HandoffId, attempt: Fence) -> String {
    format!("{}?attempt={attempt}", handoff(id, of))
}

/// What an attempt was told, as text.
pub fn prompt(id: &RunId, of: &HandoffId, attempt: Fence) -> String {
    format!("{}/prompt?attempt={attempt}", handoff(id, of))
}

/// All that an attempt has written, as text.
pub fn log(id: &RunId, of: &HandoffId, attempt: Fence) -> String {
    format!("{}/log?attempt={attempt}", handoff(id, of))
}

/// All that the last attempt has written, as text.
pub fn last_log(id: &RunId, of: &HandoffId) -> String {
    format!("{}/log", handoff(id, of))
}

/// The journal of a run, from its newest event.
pub fn journal(id: &RunId) -> String {
    format!("{}/journal", run(id))
}

/// The journal of a run, from the event before this one.
pub fn journal_before(id: &RunId, seq: u64) -> String {
    format!("{}?before={seq}", journal(id))
}

/// The stream of what happens in a run after this event: nothing is lost between making a page and listening.
pub fn run_events(id: &RunId, after: u64) -> String {
    format!("{}/events?after={after}", run(id))
}

/// The stream of what happens in all runs. A server names all fragments when it begins: the page may be older.
pub const EVENTS: &str = "/events";

/// Takes the form that calls a run off.
pub fn cancel(id: &RunId) -> String {
    format!("{}/cancel", run(id))
}

/// Takes the form that lets a run go on.
pub fn resume(id: &RunId) -> String {
    format!("{}/resume", run(id))
}

/// Takes the form that does a phase of a run again.
pub fn retry(id: &RunId) -> String {
    format!("{}/retry", run(id))
}

/// The form that starts a run of a workflow.
pub fn start(workflow: &str) -> String {
    with_query(START, &[("workflow", workflow)])
}

/// The form that starts a run like this one, with its inputs to be edited.
pub fn start_like(workflow: &str, id: &RunId) -> String {
    with_query(START, &[("workflow", workflow), ("like", id.as_str())])
}

/// One agent with its handoffs.
pub fn agent(name: &str) -> String {
    format!("{AGENTS}/{}", encoded(name))
}

/// One question.
pub fn question(handoff: &HandoffId) -> String {
    format!("{INBOX}/{}", encoded(handoff.as_str()))
}

/// All that is decided about, as text.
pub fn question_text(handoff: &HandoffId) -> String {
    format!("{}/text", question(handoff))
}

/// What has changed in a file that a page names, or all of it, as text; `page` is [`handoff`] or [`question`], and `part` says
/// since when.
pub fn changes(page: &str, part: &str, path: &str) -> String {
    with_query(&format!("{page}/{part}"), &[("path", path)])
}

/// Takes the form that decides a question.
pub fn decide(handoff: &HandoffId) -> String {
    format!("{}/decide", question(handoff))
}

/// A file as it was when it was examined.
pub fn artifact(run: &RunId, sha256: &str) -> String {
    format!("/artifacts/{}/{}", encoded(run.as_str()), encoded(sha256))
}

/// The manual of a rule.
pub fn rule(name: &str) -> String {
    format!("{RULES}/{}", encoded(name))
}

/// Two runs side by side.
pub fn compare(a: &RunId, b: &RunId) -> String {
    with_query(COMPARE, &[("a", a.as_str()), ("b", b.as_str())])
}

/// Adds members to an address; those without a value are left out.
pub fn with_query(address: &str, members: &[(&str, &str)]) -> String {
    let members: Vec<String> = members
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("{name}={}", encoded(value)))
        .collect();
    if members.is_empty() { address.to_owned() } else { format!("{address}?{}", members.join("&")) }
}

/// Writes a text so that it can be anywhere in an address.
pub fn encoded(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => written.push(char::from(byte)),
            _ => written.push_str(&format!("%{byte:02X}")),
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_cannot_leave_their_place_in_an_address() {
        assert_eq!(encoded("a/b?c&d=\"é"), "a%2Fb%3Fc%26d%3D%22%C3%A9");
        assert_eq!(
            with_query(RUNS, &[("state", "failed"), ("text", ""), ("workflow", "a b")]),
            "/runs?state=failed&workflow=a%20b"
        );
    }
}
