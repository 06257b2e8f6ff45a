//! Forms that pages send. Each carries a token that is bound to the session; without it nothing happens.

use axum::extract::rejection::FormRejection;
use axum::extract::{Form, FromRequest, Request};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use baton_page::address;

use super::visitor::Visitor;
use crate::incoming::in_time;
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// The fields of a form that the page itself has made. Their lines end as those of the page do.
pub(super) struct SentForm(Vec<(String, String)>);

impl SentForm {
    /// Returns a field without the space around it; empty if it was not sent.
    pub(super) fn field(&self, name: &str) -> &str {
        self.raw(name).trim()
    }

    /// Returns a field letter by letter.
    pub(super) fn raw(&self, name: &str) -> &str {
        self.0.iter().find(|(sent, _)| sent == name).map(|(_, value)| value.as_str()).unwrap_or_default()
    }

    /// Returns a field, if something stands in it.
    pub(super) fn optional(&self, name: &str) -> Option<String> {
        Some(self.field(name)).filter(|text| !text.is_empty()).map(str::to_owned)
    }
}

impl FromRequest<Server> for SentForm {
    type Rejection = ProblemJson;

    async fn from_request(request: Request, server: &Server) -> Result<SentForm, ProblemJson> {
        let visitor = request.extensions().get::<Visitor>().cloned();
        let bad = |why: FormRejection| ProblemJson::new(why.status(), "not_a_form", why.body_text());
        let fields = Form::<Vec<(String, String)>>::from_request(request, server);
        let Form(fields) = in_time(server, fields).await?.map_err(bad)?;
        let form = SentForm(fields.into_iter().map(|(name, value)| (name, value.replace("\r\n", "\n"))).collect());
        if !visitor.is_some_and(|visitor| visitor.has_sent(form.raw("csrf"))) {
            let detail = "this form is not from your session, so nothing was done";
            return Err(ProblemJson::new(StatusCode::FORBIDDEN, "not_from_session", detail)
                .hint("go back, load the page again, and send the form once more"));
        }
        Ok(form)
    }
}

/// Leads to a page after a form was taken, so that loading it again sends nothing.
pub(super) fn see(place: &str) -> Response {
    Redirect::to(place).into_response()
}

/// Returns an address of this site that a form or a link names; anything else is the list of runs.
pub(super) fn own_place(place: &str) -> &str {
    let is_plain = place.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let is_own = place.starts_with('/') && !place.starts_with("//");
    if is_own && is_plain { place } else { address::RUNS }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_led_to_another_site() {
        for place in ["https://evil.example", "//evil.example", "/\\evil.example", "/a\r\nSet-Cookie: x", "", "runs"] {
            assert_eq!(own_place(place), "/runs", "{place:?}");
        }
        assert_eq!(own_place("/inbox/t.ok.1?x=1"), "/inbox/t.ok.1?x=1");
    }
}
