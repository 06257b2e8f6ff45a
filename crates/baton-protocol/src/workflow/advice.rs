//! What is said about mistakes in the shape of a workflow file: how a field is written, and what the fields of other tools are
//! called here.

use super::Profile;
use crate::rules;
use crate::tree::Node;
use crate::wire::{Advice, Foreign};

/// The advice for workflow files.
pub(super) static ADVICE: Advice = Advice { unknown: &rules::unknown_workflow_field::RULE, instead, example, foreign };

/// How fields are written, by how their places end; the first that fits counts. What was written as text takes the place
/// of `TEXT`, or else the third column does.
const EXAMPLES: &[(&str, &str, &str)] = &[
    ("/name", "team", ""),
    ("/id", "build", ""),
    ("/inputs/*", "{description: What is wanted, required: true}", ""),
    ("/#/inputs", "{topic: inputs.topic}", ""),
    ("/inputs", "{feature: {description: What is wanted, required: true}}", ""),
    ("/agents/*", "{command: TEXT}", "./agents/developer.sh"),
    ("/agents", "{developer: {command: ./agents/developer.sh}}", ""),
    ("/phases/#", "{id: TEXT, agent: developer}", "build"),
    ("/phases", "[{id: build, agent: developer}]", ""),
    ("/parallel/#", "{id: TEXT, agent: TEXT}", "reviewer"),
    ("/parallel", "[{id: quality, agent: reviewer}, {id: safety, agent: security}]", ""),
    ("/foreach", "inputs.tools", ""),
    ("/verify/#", "{name: tests, run: TEXT}", "cargo test"),
    ("/verify", "[{name: tests, run: TEXT}]", "cargo test"),
    ("/checks/#", "{name: tests, run: TEXT}", "cargo test"),
    ("/checks", "[{name: tests, run: TEXT}]", "cargo test"),
    ("/gate", "{type: blocking, items: [The changelog is complete]}", ""),
    ("/review", "blocking", ""),
    ("/choices", "{ship it: next, build again: build, give up: stop}", ""),
    ("/routes/#", "{agent: developer, reason: security_concern, to: human}", ""),
    ("/routes", "[{agent: developer, reason: security_concern, to: human}]", ""),
    ("/limits", "{visits_per_phase: 3, wall_clock: 2h}", ""),
    ("/cost", "5", ""),
    ("/handoffs", "50", ""),
    ("/visits_per_phase", "3", ""),
    ("/visits", "3", ""),
    ("/same_failure", "3", ""),
    ("/ping_pong", "3", ""),
    ("/tokens", "200000", ""),
    ("/summary_tokens", "500", ""),
    ("/prompt_tokens", "20000", ""),
    ("/at_once", "2", ""),
    ("/at_least", "2", ""),
    ("/retry", "{max_retries: 2, delay: 30s}", ""),
    ("/max_retries", "2", ""),
    ("/pass_when", "all_must_pass", ""),
    ("/set_env", "{RUST_LOG: debug}", ""),
    ("/views/#", "state", ""),
    ("/views", "[state, archive]", ""),
    ("/allow/#", "{rule: vague-summary, reason: drafts are short}", ""),
    ("/allow", "[{rule: vague-summary, reason: drafts are short}]", ""),
    ("/mandatory_skills", "[TEXT]", "tdd"),
    ("/items", "[TEXT]", "The changelog is complete"),
    ("/writes", "[TEXT]", "src/**"),
    ("/constraints", "[TEXT]", "No new dependencies"),
    ("/success_criteria", "[TEXT]", "All tests pass"),
    ("/reasons", "[TEXT]", "legal"),
    ("/arguments", "[TEXT]", "--verbose"),
    ("/when", "inputs.language == 'Rust'", ""),
    ("/timeout", "30m", ""),
    ("/silence", "15m", ""),
    ("/pick_up_within", "1h", ""),
    ("/delay", "30s", ""),
    ("/after", "4h", ""),
    ("/within", "2m", ""),
    ("/wall_clock", "2h", ""),
];

fn row(place: &str) -> Option<(&'static str, &'static str)> {
    EXAMPLES.iter().find(|(end, ..)| place.ends_with(end)).map(|(_, example, sample)| (*example, *sample))
}

fn example(place: &str) -> Option<&'static str> {
    row(place).map(|(example, _)| example).filter(|example| !example.contains("TEXT"))
}

fn instead(place: &str, written: &Node<'_>) -> Option<String> {
    let name = place.rsplit('/').next().unwrap_or_default();
    let text = written.as_text();
    match (name, written) {
        ("env", Node::Object(_)) => {
            return Some(
                "`env` lists the names of variables that are passed on; values belong in `set_env`".to_owned(),
            );
        }
        ("mandatory_skills", Node::Object(_)) => {
            return Some("write it like this: `[tdd: Write the tests first]`".to_owned());
        }
        (_, Node::Object(_)) if place.ends_with("/views/#") => {
            return Some("write the name of a view, such as `state`, or `{state: status}` with its folder".to_owned());
        }
        ("retry", Node::Number(_) | Node::Plain(_)) => {
            return Some(format!("write it like this: `{{max_retries: {}}}`", number(written)?));
        }
        ("pass_when", Node::Number(_) | Node::Plain(_)) => {
            return Some(format!("write it like this: `{{at_least: {}}}`", number(written)?));
        }
        ("on_failure" | "next", Node::List(_)) => return Some("name one phase".to_owned()),
        ("agent", Node::Object(_)) => {
            return Some(
                "define it at the top, under `agents`, and write its name here: `agent: developer`".to_owned(),
            );
        }
        ("agent", Node::List(agents)) => {
            let member = |agent: &Node<'_>| agent.as_text().map(|name| format!("{{id: {name}, agent: {name}}}"));
            let members: Vec<String> = agents.iter().filter_map(member).collect();
            return Some(format!("one agent works in a phase; several work in `parallel: [{}]`", members.join(", ")));
        }
        ("env", _) => return Some("write it like this: `[HOME, AWS_*]`".to_owned()),
        ("foreach", Node::List(_)) => {
            return Some("write an expression that gives a list: `inputs.tools`, or `\"['one', 'two']\"`".to_owned());
        }
        _ => {}
    }
    if let (Node::Object(members), Some(list)) = (written, place.strip_suffix("/#"))
        && ["items", "constraints", "success_criteria", "writes"].iter().any(|name| list.ends_with(name))
        && let [(name, value)] = &members[..]
    {
        let value = value.as_text().map(|value| format!(" {value}")).unwrap_or_default();
        return Some(format!("put a text with `: ` in it in quotes: `\"{name}:{value}\"`"));
    }
    if let Some(profile) = text.and_then(Profile::parse).filter(|_| place.ends_with("/agents/*")) {
        return Some(format!("write it like this: `{{profile: {}}}`", profile.as_str()));
    }
    let (example, sample) = row(place)?;
    let given = text.map(quoted_if_needed).unwrap_or_else(|| sample.to_owned());
    Some(format!("write it like this: `{}`", example.replace("TEXT", &given)))
}

fn number(written: &Node<'_>) -> Option<String> {
    match written {
        Node::Number(number) => Some(number.to_string()),
        Node::Plain(text) => Some(text.to_string()),
        _ => None,
    }
}

/// Returns a text as it can be between braces and brackets.
fn quoted_if_needed(text: &str) -> String {
    let is_plain = !text.contains(['{', '}', '[', ']', ',', '"', '#']) && !text.contains(": ");
    let starts_plainly = text.starts_with(|first: char| first.is_alphanumeric() || "./_".contains(first));
    if is_plain && starts_plainly { text.to_owned() } else { format!("'{}'", text.replace('\'', "''")) }
}

const ORDER: &str = "phases run in the order of the list; `next` names another one, and `parallel` holds those that run at the same \
time";

fn foreign(place: &str, name: &str) -> Option<Foreign> {
    use Foreign::{Explained, Renamed};
    let name = name.to_ascii_lowercase().replace('-', "_");
    let is_phase = place.ends_with("/phases/#") || place.ends_with("/parallel/#");
    let found = match name.as_str() {
        "steps" | "stages" | "tasks" | "jobs" | "nodes" if place.is_empty() => Renamed("phases"),
        "id" | "title" if place.is_empty() => Renamed("name"),
        "params" | "parameters" | "args" | "variables" if place.is_empty() => Renamed("inputs"),
        "version" if place.is_empty() => Explained("a workflow file has no version; leave it out"),
        "notify" if place.is_empty() => {
            Explained("it belongs in baton.toml: `[notify]` with `command = \"…\"` below it")
        }
        "on_failure" if place.is_empty() => Explained("each phase has its own `on_failure`"),
        "name" | "key" if is_phase => Renamed("id"),
        "prompt" | "instructions" | "instruction" | "goal" if is_phase => Renamed("task"),
        "if" | "condition" | "only_if" if is_phase => Renamed("when"),
        "run" | "command" | "cmd" | "script" | "shell" if is_phase => Renamed("check"),
        "agents" | "assignee" | "uses" if is_phase => Renamed("agent"),
        "on_success" | "then" | "goto" if is_phase => Renamed("next"),
        "on_error" | "on_fail" | "otherwise" | "else" if is_phase => Renamed("on_failure"),
        "description" if is_phase => Explained("`task` tells the agent what to do; `title` says what it is for"),
        "max_iterations" | "iterations" | "max_visits" | "max_loops" if is_phase => Renamed("visits"),
        "output" | "outputs" | "produces" | "artifacts" | "files" if is_phase => Explained(
            "`writes` lists the files that it may change: `writes: [docs/**]`; `deliverable` says what is wanted",
        ),
        "reads" | "context" | "read" if is_phase => {
            Explained("agents may read the whole workspace; name in `task` what matters")
        }
        "budget" | "max_cost" | "cost_limit" if place.is_empty() || is_phase => {
            Explained("the limits of a workflow are at its top: `limits: {cost: 5}`")
        }
        "question" | "message" | "prompt" if place.ends_with("/gate") => {
            Explained("write what a person is to look at: `items: [Is the text ready?]`")
        }
        "retries" | "max_retries" => Explained("write `retry: {max_retries: 3}`"),
        "approval" | "approve" | "requires_approval" if is_phase => Renamed("review"),
        "depends_on" | "dependson" | "needs" | "after" | "requires" | "dependencies" if is_phase => Explained(ORDER),
        "matrix" | "for_each" | "loop" | "with_items" if is_phase => Renamed("foreach"),
        "skills" => Renamed("mandatory_skills"),
        "model" if place.ends_with("/agents/*") => {
            Explained("a profile gets it as an argument: `{profile: claude, arguments: [--model, opus]}`")
        }
        "run" | "cmd" | "script" | "exec" if place.ends_with("/agents/*") => Renamed("command"),
        "args" if place.ends_with("/agents/*") => Explained(
            "the arguments of a `command` are part of it: `command: [./agent.sh, --fast]`; a profile has `arguments`",
        ),
        "description" | "system" | "system_prompt" | "persona" if place.ends_with("/agents/*") => Renamed("role"),
        "environment" => Renamed("env"),
        "command" | "cmd" if place.ends_with("/verify/#") || place.ends_with("/checks/#") => Renamed("run"),
        "type" if place.ends_with("/inputs/*") => Explained("inputs have no type; say in `description` what is wanted"),
        _ => return None,
    };
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::{AgentFields, CheckFields, Phase, Workflow};

    #[test]
    fn every_example_can_be_read() {
        for (place, example, sample) in EXAMPLES {
            let text = example.replace("TEXT", sample);
            let node = crate::read::yaml::parse(&text).unwrap_or_else(|trouble| panic!("{place} {text}: {trouble:?}"));
            assert_ne!(node, Node::Null, "{place}");
        }
    }

    #[test]
    fn fields_of_other_tools_are_not_fields_here_and_lead_to_ones_that_are() {
        let places: [(&str, &[&str], &[&str]); 4] = [
            ("", Workflow::MEMBERS, &["steps", "jobs", "params", "id", "environment"]),
            ("/agents/*", AgentFields::MEMBERS, &["run", "system", "system_prompt", "skills", "environment"]),
            (
                "/phases/#",
                Phase::MEMBERS,
                &["name", "prompt", "if", "run", "then", "on_error", "approval", "skills", "max_iterations"],
            ),
            ("/phases/#/verify/#", CheckFields::MEMBERS, &["command", "environment"]),
        ];
        for (place, known, names) in places {
            for name in names {
                assert!(!known.contains(name), "{place}/{name}");
                let Some(Foreign::Renamed(meant)) = foreign(place, name) else {
                    panic!("{place}/{name} leads nowhere")
                };
                assert!(known.contains(&meant), "{place}/{name} leads to {meant}");
            }
        }
    }
}
