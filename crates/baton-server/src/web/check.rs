//! Judging a pasted document, and the manual of the rules.

use axum::extract::State;
use axum::response::Response;
use baton_engine::engine::{IncomingDocument, Yardstick};
use baton_page::check::{self, CheckedText, DOCUMENT_FIELD};
use baton_page::plain;
use baton_protocol::rules::Rule;

use super::answering::{html, text};
use super::form::SentForm;
use super::visitor::Visitor;
use crate::incoming::InPath;
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// Shows the empty form.
pub(super) async fn form(visitor: Visitor) -> Result<Response, ProblemJson> {
    visitor.principal()?;
    if !visitor.wants_html {
        return Ok(text("send a document to POST /api/v1/check, or run: baton check FILE\n".to_owned()));
    }
    Ok(html(check::page(&visitor.viewer(), "", None)))
}

/// Judges what was pasted. Nothing is stored.
pub(super) async fn judge(
    State(server): State<Server>,
    visitor: Visitor,
    form: SentForm,
) -> Result<Response, ProblemJson> {
    visitor.principal()?;
    // Browsers send line breaks as two letters.
    let pasted = form.raw(DOCUMENT_FIELD).replace("\r\n", "\n");
    let judged = Yardstick::of_project(&server.engine.settings).judge(&IncomingDocument::of(pasted.as_bytes()));
    let kind = judged.kind.map(|kind| kind.as_str());
    let checked = CheckedText { judgement: &judged.judgement, dialect: judged.dialect, kind };
    Ok(html(check::page(&visitor.viewer(), &pasted, Some(&checked))))
}

/// Lists the rules.
pub(super) async fn rules(visitor: Visitor) -> Result<Response, ProblemJson> {
    visitor.principal()?;
    if visitor.wants_html { Ok(html(check::rules_page(&visitor.viewer()))) } else { Ok(text(plain::rules())) }
}

/// Shows the manual of a rule.
pub(super) async fn rule(visitor: Visitor, InPath(name): InPath<String>) -> Result<Response, ProblemJson> {
    visitor.principal()?;
    let rule = Rule::find(&name).ok_or_else(|| ProblemJson::unknown(&name))?;
    if visitor.wants_html { Ok(html(check::rule_page(&visitor.viewer(), rule))) } else { Ok(text(rule.manual())) }
}
