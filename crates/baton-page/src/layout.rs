//! The frame around every page: navigation, theme, who looks; and the one place where HTML leaves this crate.

use baton_protocol::printable;
use jiff::Timestamp;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::pieces::hidden;
use crate::{address, assets, live};

/// The policy that every page keeps to. The server sends it with each of them.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
trusted-types baton";

/// The theme that somebody has chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Theme {
    /// As the system of the reader is set.
    #[default]
    System,
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

impl Theme {
    /// All of them, in the order in which the button goes through them.
    pub const ALL: [Theme; 3] = [Theme::System, Theme::Light, Theme::Dark];

    /// Returns its word: in the form, and in the cookie that keeps the choice.
    pub fn as_str(self) -> &'static str {
        match self {
            Theme::System => "system",
            Theme::Light => "light",
            Theme::Dark => "dark",
        }
    }

    /// Finds a theme by its word; whatever is unknown is that of the system.
    pub fn parse(word: &str) -> Theme {
        Theme::ALL.into_iter().find(|theme| theme.as_str() == word).unwrap_or_default()
    }

    fn next(self) -> Theme {
        match self {
            Theme::System => Theme::Light,
            Theme::Light => Theme::Dark,
            Theme::Dark => Theme::System,
        }
    }
}

/// Who looks at a page, and when.
#[derive(Debug, Clone, Copy)]
pub struct Viewer<'v> {
    /// Their name; `None` for somebody who has not logged in.
    pub name: Option<&'v str>,
    /// Whether they may decide questions.
    pub may_decide: bool,
    /// Whether they may start runs.
    pub may_start: bool,
    /// Whether they may call runs off and let them go on.
    pub may_control: bool,
    /// The token that every form sends back.
    pub csrf: &'v str,
    /// The address of the list of runs with the filter that they used last.
    pub runs: &'v str,
    /// How many questions wait for people.
    pub waiting: usize,
    /// The theme that they have chosen.
    pub theme: Theme,
    /// The time.
    pub now: Timestamp,
}

/// The parts of the site that the navigation names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Runs,
    Inbox,
    Agents,
    Check,
    Elsewhere,
}

/// What a page is beside its content.
pub(crate) struct Frame<'f> {
    pub(crate) title: &'f str,
    pub(crate) section: Section,
    /// The address of the page itself: forms of the frame lead back to it.
    pub(crate) here: &'f str,
    /// The stream that says what changes; `None` for a page on which nothing does.
    pub(crate) events: Option<&'f str>,
    /// Whether somebody may be typing: then nothing is loaded again before they are done.
    pub(crate) is_typed_in: bool,
    /// Whether the page has forms that approve and reject.
    pub(crate) is_decided_on: bool,
    /// Whether the page only leads to its own address.
    pub(crate) is_forwarding: bool,
}

impl<'f> Frame<'f> {
    /// A page on which nothing changes.
    pub(crate) fn still(title: &'f str, section: Section, here: &'f str) -> Frame<'f> {
        Frame { title, section, here, events: None, is_typed_in: false, is_decided_on: false, is_forwarding: false }
    }

    /// A page that changes while its stream says so.
    pub(crate) fn live(title: &'f str, section: Section, here: &'f str, events: Option<&'f str>) -> Frame<'f> {
        Frame { title, section, here, events, is_typed_in: false, is_decided_on: false, is_forwarding: false }
    }
}

/// How often a page without JavaScript looks again, in seconds.
const REFRESH_SECONDS: u32 = 30;

/// Puts the frame around the content of a page.
pub(crate) fn page(viewer: &Viewer<'_>, frame: &Frame<'_>, content: Markup) -> Markup {
    let theme = (viewer.theme != Theme::System).then(|| viewer.theme.as_str());
    finished(html! {
        (DOCTYPE)
        html lang="en" data-theme=[theme] {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (frame.title.replace('`', "")) " · Baton" }
                link rel="icon" href=(assets::ICON.address) type="image/svg+xml";
                link rel="stylesheet" href=(assets::STYLE.address);
                script type="module" src=(assets::SCRIPT.address) {}
                @if frame.is_forwarding { meta http-equiv="refresh" content={ "0; url=" (frame.here) }; }
                @if frame.events.is_some() && !frame.is_typed_in {
                    noscript { meta http-equiv="refresh" content=(REFRESH_SECONDS); }
                }
            }
            body data-events=[frame.events] {
                a.skip href="#content" { "Skip to the content" }
                (header(viewer, frame))
                @if frame.events.is_some() {
                    p.away role="status" { "The server does not answer. This page shows what was last known; it updates by itself when the server is back." }
                }
                main #content tabindex="-1" {
                    @if frame.events.is_some() && frame.is_typed_in {
                        noscript { p.quiet { "Without JavaScript this page stays as it is. " a href=(frame.here) { "Look again" } } }
                    }
                    (content)
                }
                (footer(frame))
            }
        }
    })
}

/// Gives a part of a page alone, as the script asks for it.
pub(crate) fn fragment(content: Markup) -> Markup {
    finished(content)
}

/// Makes everything visible that could turn, hide or control text. Whatever this crate shows goes through here, so no page
/// can forget it. Letters of our own markup are never among them.
fn finished(content: Markup) -> Markup {
    PreEscaped(printable(&content.into_string()))
}

/// Returns the number of questions in the navigation.
pub fn badge(viewer: &Viewer<'_>) -> Markup {
    let words = match viewer.waiting {
        1 => "1 question waits".to_owned(),
        count => format!("{count} questions wait"),
    };
    html! {
        span #(live::BADGE) {
            @if viewer.waiting > 0 { span.badge title=(words) { (viewer.waiting) } }
        }
    }
}

fn header(viewer: &Viewer<'_>, frame: &Frame<'_>) -> Markup {
    let link = |section: Section, address: &str, words: &str, more: Markup| {
        let current = (section == frame.section).then_some("page");
        html! { a href=(address) aria-current=[current] { (words) (more) } }
    };
    html! {
        header.top {
            a.wordmark href=(address::RUNS) { span.mark aria-hidden="true" {} "Baton" }
            nav aria-label="Main" {
                (link(Section::Runs, address::RUNS, "Runs", html! {}))
                (link(Section::Inbox, address::INBOX, "Inbox", badge(viewer)))
                (link(Section::Agents, address::AGENTS, "Agents", html! {}))
                (link(Section::Check, address::CHECK, "Check", html! {}))
            }
            div.who {
                (theme_form(viewer, frame))
                @match viewer.name {
                    Some(name) => {
                        form method="post" action=(address::LOG_OUT) {
                            (hidden("csrf", viewer.csrf))
                            button.plain type="submit" title="Log out" { (name) span.quiet { " · log out" } }
                        }
                    }
                    None => a href=(address::LOG_IN) { "Log in" }
                }
            }
        }
    }
}

fn theme_form(viewer: &Viewer<'_>, frame: &Frame<'_>) -> Markup {
    let next = viewer.theme.next().as_str();
    html! {
        form method="post" action=(address::THEME) {
            (hidden("csrf", viewer.csrf))
            (hidden("back", frame.here))
            (hidden("theme", next))
            button.plain type="submit" title=(format!("Theme: {}. Switch to {next} theme", viewer.theme.as_str())) {
                span.visually-hidden { "Switch to " (next) " theme" }
                span.theme-sign aria-hidden="true" {}
            }
        }
    }
}

fn footer(frame: &Frame<'_>) -> Markup {
    html! {
        footer.bottom {
            p.keys { kbd { "j" } " " kbd { "k" } " move · " kbd { "Enter" } " open"
                @if frame.is_decided_on { " · " kbd { "a" } " approve · " kbd { "r" } " reject" } }
            p { a href=(address::RULES) { "Rules" } " · " a href="/api/openapi.json" { "API" } " · pages as text: " code { "curl" } }
        }
    }
}
