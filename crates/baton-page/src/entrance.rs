//! The form to log in, and pages that say why something cannot be shown.

use maud::{Markup, html};

use crate::address;
use crate::layout::{self, Frame, Section, Viewer};
use crate::pieces::hidden;

/// The name of the field with the token.
pub const TOKEN_FIELD: &str = "token";

/// The form to log in. `back` is where it leads, and `failed` says why the last try did not.
pub fn log_in(viewer: &Viewer<'_>, back: &str, failed: Option<&str>) -> Markup {
    let here = address::with_query(address::LOG_IN, &[("back", back)]);
    let frame = Frame::still("Log in", Section::Elsewhere, &here);
    layout::page(
        viewer,
        &frame,
        html! {
            div.narrow {
                h1 { "Log in" }
                @if let Some(failed) = failed { div.cause role="alert" { p.cause-what { (failed) } } }
                form method="post" action=(address::LOG_IN) {
                    (hidden("csrf", viewer.csrf))
                    (hidden("back", back))
                    // Programs that keep passwords want to know whose.
                    input type="text" name="username" value="token" autocomplete="username" hidden;
                    label.field { span { "Token" } input.wide type="password" name=(TOKEN_FIELD) autocomplete="current-password" required autofocus; }
                    button.main type="submit" { "Log in" }
                }
                p.soft { "Whoever runs the server makes one for you:" }
                pre { "baton token create --role approver" }
            }
        },
    )
}

/// The page for an address with nothing on it, or nothing for this viewer.
pub fn not_found(viewer: &Viewer<'_>, what: &str) -> Markup {
    error(viewer, "Not found", what, None)
}

/// The page that explains why something cannot be done, and what to do next.
pub fn error(viewer: &Viewer<'_>, title: &str, what: &str, next: Option<&str>) -> Markup {
    let frame = Frame::still(title, Section::Elsewhere, address::RUNS);
    layout::page(
        viewer,
        &frame,
        html! {
            div.narrow {
                h1 { (title) }
                p.lead { (what) }
                @if let Some(next) = next { p.soft { "What to do: " (next) } }
                p { a.button href=(address::RUNS) { "Runs" } " " a.button href=(address::INBOX) { "Inbox" }
                    @if viewer.name.is_none() { " " a.button href=(address::LOG_IN) { "Log in" } } }
            }
        },
    )
}

/// Leads whoever has followed a link on another site to the page itself. Only requests that our own pages begin carry our
/// cookies, so the first one comes without.
pub fn from_elsewhere(viewer: &Viewer<'_>, here: &str) -> Markup {
    let frame = Frame { is_forwarding: true, ..Frame::still("One moment", Section::Elsewhere, here) };
    layout::page(viewer, &frame, html! { div.narrow { p.lead { a href=(here) { "Go on" } } } })
}
