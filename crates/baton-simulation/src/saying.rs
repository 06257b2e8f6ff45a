//! What agents say, written in the dialect that they were asked for.

use baton_engine::agent::Job;
use baton_protocol::Dialect;
use baton_protocol::rules::copied_example;
use serde_json::{Value, json};

/// What an agent says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Saying {
    /// It is done.
    Complete,
    /// It is done, which the evidence refutes.
    Lie,
    /// It is done, and this is what it found or thinks of somebody else's work.
    Verdict(&'static str),
    /// It is done, and found these tools.
    Tools(&'static [&'static str]),
    /// It cannot go on.
    Blocked(&'static str),
    /// Somebody else must do a part of it.
    Delegate(String),
    /// It is done, and a person must look at it.
    NeedsReview,
    /// It asks a person.
    Asks,
    /// It must not go on.
    Stops,
    /// Nothing that can be read.
    Garbage,
}

/// The mark by which the evidence knows a lie.
pub const LIE: &str = "LIE";

/// Writes what an agent says, in the words of its prompt's example where that is possible.
pub fn write(dialect: Dialect, job: &Job, saying: &Saying) -> String {
    match dialect {
        _ if *saying == Saying::Garbage => "I have finished everything. Well done, me!".to_owned(),
        Dialect::Native => native(job, saying).to_string(),
        Dialect::Package => package(job, saying),
        Dialect::MetadataBlock | Dialect::PhaseBlock | Dialect::Task | Dialect::Mailbox => {
            let mut document = example(&job.prompt, "json")
                .and_then(|text| serde_json::from_str(&filled_in(text)).ok())
                .unwrap_or_else(|| native(job, &Saying::Complete));
            pass(&mut document);
            adapt(dialect, &mut document, saying);
            format!("# {}\n\nWhat was done.\n\n```json\n{document:#}\n```\n", job.phase)
        }
    }
}

/// Writes something in every place of an example that is left to the agent.
fn filled_in(example: &str) -> String {
    let mut text = example.to_owned();
    for (place, said) in [
        (copied_example::SUMMARY, "Sorted 41 invoices into folders by customer."),
        (copied_example::CONTEXT, "12 invoices of 2025 have no customer; look at folder 2025-03."),
        (copied_example::NEXT_STEP, "Ask ana about the 12 invoices of folder 2025-03."),
        (copied_example::TASK, "Sort the invoices of 2025 by customer."),
        ("<a file that you read>:<first line>-<last line>", "src/rows.rs:1-20"),
        ("<APPROVED or CHANGES_REQUESTED>", "APPROVED"),
    ] {
        text = text.replace(place, said);
    }
    text
}

/// Returns the last block of a language in a prompt: the example of what to write.
fn example<'p>(prompt: &'p str, language: &str) -> Option<&'p str> {
    let begin = format!("```{language}\n");
    let start = prompt.rfind(&begin)? + begin.len();
    let end = prompt[start..].find("\n```")?;
    Some(&prompt[start..start + end])
}

/// Lets the checks of an example pass, which have failed in it so that nobody approves by copying.
fn pass(document: &mut Value) {
    let Some(findings) = document.get_mut("findings") else { return };
    if findings["overall_passed"].is_boolean() {
        findings["overall_passed"] = json!(true);
        findings["blocking_issues"] = json!([]);
        findings["checks"]["tests"] = json!({"passed": true, "total": 31, "passed_count": 31, "failed_count": 0});
    } else if findings["aggregation"].is_object() {
        findings["aggregation"]["passed"] = findings["aggregation"]["total"].clone();
        findings["aggregation"]["failed"] = json!(0);
        findings["aggregation"]["overall_passed"] = json!(true);
        findings["results"].as_array_mut().into_iter().flatten().for_each(|result| result["passed"] = json!(true));
    } else {
        return;
    }
    document["decision"] = json!("PROCEED");
}

fn native(job: &Job, saying: &Saying) -> Value {
    let summary = format!("Sorted 41 invoices of {} into folders by customer, attempt {}.", job.phase, job.fence);
    let mut report = json!({"baton": 1, "document": "report", "outcome": "complete", "summary": summary});
    match saying {
        Saying::Complete | Saying::Garbage => {}
        Saying::Lie => report["summary"] = json!(format!("{LIE}: {summary}")),
        Saying::Verdict(verdict) => report["verdict"] = json!(verdict),
        Saying::Tools(tools) => report["verification"] = json!({ "tools": tools }),
        Saying::Blocked(reason) => {
            report["outcome"] = json!("blocked");
            report["reason"] = json!(reason);
            report["attempted"] = json!(["Looked at the folder of 2025: 12 invoices have no customer"]);
        }
        Saying::Delegate(agent) => {
            report["outcome"] = json!("blocked");
            report["reason"] = json!("delegation");
            report["attempted"] = json!(["Sorted the 29 invoices that name a customer"]);
            report["next"] = json!({"agent": agent, "deliverable": "A list of 12 customers"});
        }
        Saying::NeedsReview => report["outcome"] = json!("needs_review"),
        Saying::Asks => {
            report["outcome"] = json!("needs_clarification");
            report["questions"] = json!(["Which year comes first?"]);
        }
        Saying::Stops => report["decision"] = json!("STOP"),
    }
    report
}

/// Turns the example of a complete document into something else.
fn adapt(dialect: Dialect, document: &mut Value, saying: &Saying) {
    let task = dialect == Dialect::Task;
    match saying {
        Saying::Complete | Saying::Garbage => {}
        Saying::Lie => document["summary"] = json!(format!("{LIE}: mapped 12 fields in 3 sections of the file.")),
        Saying::Verdict(verdict) => document["verdict"] = json!(verdict),
        Saying::Tools(tools) => document["verification"]["tools"] = json!(tools),
        Saying::Blocked(reason) => {
            document["status"] = json!("blocked");
            document["blocked_reason"] = json!(reason);
            document["attempted"] = json!(["Looked at src/rows.rs: line 12 sends the key as a parameter"]);
            document["handoff"]["next_agent"] = Value::Null;
            if dialect == Dialect::PhaseBlock {
                document["handoff"]["blockers"] = json!([{
                    "type": "mcp_connection_failure",
                    "description": "`tracker` is not installed",
                    "resolution": "Install it, or name a file in the workspace that is the server",
                }]);
            }
        }
        Saying::NeedsReview => document["status"] = json!("needs_review"),
        Saying::Delegate(_) | Saying::Asks if task => {
            document["status"] = json!("partial");
            document["decision"] = json!("CLARIFY");
            document["issues"] = json!(["Which separator is meant, a comma or a semicolon?"]);
        }
        Saying::Delegate(_) | Saying::Asks => {
            document["status"] = json!("needs_clarification");
        }
        Saying::Stops => {
            document["decision"] = json!("STOP");
            document["issues"] = json!(["Two tests of ledger/export.py fail"]);
        }
    }
}

fn package(job: &Job, saying: &Saying) -> String {
    let to = match saying {
        Saying::Delegate(agent) => agent,
        _ => return filled_in(example(&job.prompt, "yaml").unwrap_or_default()),
    };
    let package = json!({"handoff": {
        "id": format!("HO-{}-{}", job.handoff, job.fence),
        "timestamp": "2026-03-14T09:26:53Z",
        "kind": "delegation",
        "from": {"agent": job.agent},
        "to": {"agent": to, "reason": "The order form takes personal data: it must be checked before the design is finished"},
        "context": {
            "summary": "3 pages designed; one has a form that takes name and telephone. What is open is how long orders may be kept.",
            "artifacts": [{"path": "draft.json", "type": "spec", "description": "The pages, not yet checked"}],
        },
        "expectations": {
            "deliverable": "Risk report on the order form in draft.json",
            "constraints": ["Only the 2 fields of draft.json"],
            "success_criteria": ["No unaddressed critical risks"],
        },
    }});
    format!("{package:#}")
}

/// Writes that an agent has understood.
pub fn acknowledgment(job: &Job) -> Option<String> {
    let begin = "acknowledgment:\n";
    let start = job.prompt.rfind(begin)?;
    let end = job.prompt[start..].find("\n```")?;
    Some(filled_in(&job.prompt[start..start + end]))
}
