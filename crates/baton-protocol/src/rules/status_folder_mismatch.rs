//! A mailbox file in a folder that does not fit its status.

use super::{Case, RuleFindings};
use crate::dialect::Dialect;
use crate::dialect::mailbox::MailboxStatus;
use crate::model::Document;
use crate::model::terms::{Outcome, RequestState};

rule! {
    /// ## What it checks
    /// The file lies in `pending/`, `in-progress/`, `completed/` or `failed/`, but its status says another of the
    /// four. Applies to the `mailbox` dialect.
    ///
    /// ## Why it matters
    /// Pollers look at the folder, readers at the status. When the two differ, one waits for work that is finished
    /// and the other takes unfinished work as done. A crash between moving and rewriting a file leaves it so.
    ///
    /// ## Example
    /// `handoffs/completed/hoff-31.json`
    /// ```json
    /// { "handoff_id": "hoff-31", "status": "in_progress" }
    /// ```
    ///
    /// ## Use instead
    /// `handoffs/in-progress/hoff-31.json`
    /// ```json
    /// { "handoff_id": "hoff-31", "status": "in_progress" }
    /// ```
    "status-folder-mismatch": Mailbox, Error => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    if case.dialect != Dialect::Mailbox {
        return;
    }
    let Some(folder) = case.surroundings.folder() else { return };
    let (Some(expected), Some((pointer, said))) = (MailboxStatus::parse(folder), status(case.document)) else {
        return;
    };
    if expected != said {
        findings.add(
            pointer,
            format!("the file lies in `{folder}/`, but its status is `{}`", said.as_str()),
            format!("move it to `{}/`, or correct the status", folder_of(said)),
        );
    }
}

fn status(document: &Document) -> Option<(&'static str, MailboxStatus)> {
    match document {
        Document::Request(request) => Some((
            "/state",
            match request.state? {
                RequestState::Pending => MailboxStatus::Pending,
                RequestState::InProgress => MailboxStatus::InProgress,
            },
        )),
        Document::Report(report) => match report.outcome? {
            Outcome::Complete => Some(("/outcome", MailboxStatus::Completed)),
            Outcome::Failed => Some(("/outcome", MailboxStatus::Failed)),
            _ => None,
        },
        Document::Acknowledgment(_) => None,
    }
}

fn folder_of(status: MailboxStatus) -> &'static str {
    match status {
        MailboxStatus::InProgress => "in-progress",
        other => other.as_str(),
    }
}
