//! Small parts that several pages have: times, states, texts, empty places, forms.

use std::time::Duration;

use baton_engine::evidence::ClaimFinding;
use baton_engine::handoff::StateName;
use baton_engine::session::Spending;
use baton_protocol::is_printable;
use baton_views::activity::thousands;
use baton_views::words::{DID_NOT_PASS, ago, counted, cut, took};
use jiff::Timestamp;
use maud::{Markup, PreEscaped, html};

use crate::run_state::RunState;

/// More of a text than this is folded away.
const TEXT_SHOWN_MAX: usize = 600;

/// More of a text than this is never in a page; a link leads to all of it.
const TEXT_BYTES_MAX: usize = 6_000;

/// Puts into a field what somebody has typed there, letter by letter: what joins emoji and turns text, too, so that it is sent
/// back as it came. Everywhere else such characters are shown, not sent; here nobody reads but whoever has typed them.
pub(crate) fn typed_text(text: &str) -> Markup {
    let is_plain = |character: char| is_printable(character) || character.is_control();
    let reference = |character: char| format!("&#x{:x};", u32::from(character));
    let sent = |character: char| if is_plain(character) { character.to_string() } else { reference(character) };
    PreEscaped(html! { (text) }.into_string().chars().map(sent).collect())
}

/// Shows how long ago something was. The script keeps it current and adds the reader's own time.
pub(crate) fn since(at: Timestamp, now: Timestamp) -> Markup {
    html! { time.ago datetime=(at) title=(utc(at)) { (ago(at, now)) } }
}

/// Shows a time. The script turns it into the reader's own.
pub(crate) fn moment(at: Timestamp) -> Markup {
    html! { time.at datetime=(at) title=(utc(at)) { (at.strftime("%-d %b %H:%M:%S UTC")) } }
}

fn utc(at: Timestamp) -> String {
    at.strftime("%F %H:%M:%S UTC").to_string()
}

/// Shows a state: a colour, a sign and a word, so that nobody depends on colours.
pub(crate) fn pill(class: &str, word: &str) -> Markup {
    html! { span.pill.(class) { (word) } }
}

/// Returns the word for where a step is; of one that is done, whether it passed. The same everywhere.
pub(crate) fn step_word(state: StateName, passed: bool) -> &'static str {
    match state {
        StateName::Completed if !passed => DID_NOT_PASS,
        StateName::Claimed => "working",
        StateName::AwaitingPerson => RunState::Waiting.words(),
        StateName::Pending => "queued",
        state => state.as_str(),
    }
}

/// Shows where a step is.
pub(crate) fn step_pill(state: StateName, passed: bool) -> Markup {
    let class = match state {
        StateName::Completed if !passed => "failed",
        StateName::Claimed => "running",
        StateName::AwaitingPerson => "waiting",
        state => state.as_str(),
    };
    pill(class, step_word(state, passed))
}

/// Shows what something cost, or that it is unknown.
pub(crate) fn cost(spending: &Spending, tokens: u64) -> Markup {
    let price = spending.to_string();
    html! {
        @if !price.is_empty() { (price) }
        @if tokens > 0 {
            @if !price.is_empty() { " · " }
            span.quiet.tokens { (thousands(tokens)) " tokens" }
        }
        @if price.is_empty() && tokens == 0 { span.quiet { "–" } }
    }
}

/// Writes in words what something cost, as far as that is known.
pub(crate) fn spent(spending: &Spending, tokens: u64) -> String {
    let tokens = if tokens > 0 { format!("{} tokens", thousands(tokens)) } else { String::new() };
    let parts = [spending.to_string(), tokens];
    parts.iter().filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join(" · ")
}

/// Shows how long something took.
pub(crate) fn length(duration: Duration) -> String {
    took(duration)
}

/// Returns the class and the sign of a verdict.
pub(crate) fn verdict_sign(verdict: ClaimFinding) -> (&'static str, &'static str) {
    match verdict {
        ClaimFinding::Verified => ("good", "✓"),
        ClaimFinding::Refuted => ("bad", "✗"),
        ClaimFinding::Unverifiable => ("open", "?"),
    }
}

/// Shows that there is nothing, and what to do next.
pub(crate) fn empty(title: &str, next: Markup) -> Markup {
    html! { div.empty { p.empty-title { (title) } div.empty-next { (next) } } }
}

/// Shows text as it was written; the rest of a long one is folded away under this id, and all of it is at `whole`.
pub(crate) fn prose(id: &str, text: &str, whole: &str) -> Markup {
    let text = text.trim();
    let (shown, folded) = (beginning(text, TEXT_SHOWN_MAX), beginning(text, TEXT_BYTES_MAX));
    html! {
        @if shown.len() == text.len() { p.prose { (text) } }
        @else {
            details.more #(id) {
                summary { span.prose { (cut(shown, usize::MAX)) "…" } }
                p.prose { (folded) @if folded.len() < text.len() { "…" } }
                (first_of(folded, text, whole))
            }
        }
    }
}

/// Shows text in which every letter counts; only the beginning of a very long one, all of which is at `whole`.
pub(crate) fn verbatim(text: &str, whole: &str) -> Markup {
    let shown = beginning(text, TEXT_BYTES_MAX);
    html! {
        pre tabindex="0" { (shown) }
        (first_of(shown, text, whole))
    }
}

/// Says how much of a text is not shown, and where it is.
fn first_of(shown: &str, text: &str, whole: &str) -> Markup {
    html! {
        @if shown.len() < text.len() {
            p.quiet { "The first " (shown.len() / 1000) " of " (text.len().div_ceil(1000)) " kB. " a href=(whole) { "All of it" } }
        }
    }
}

/// Shows the end of an output, where the reason usually is; `whole` is where all of it is.
pub(crate) fn tail(text: &str, lines_max: usize, whole: &str) -> Markup {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let left_out = lines.len().saturating_sub(lines_max);
    let shown = lines[left_out..].join("\n");
    let start = shown.ceil_char_boundary(shown.len().saturating_sub(TEXT_BYTES_MAX));
    html! {
        pre.tail tabindex="0" {
            // The last lines are in sight first: the style sheet turns the direction, which one child survives.
            span {
                @if left_out > 0 || start > 0 { a.quiet href=(whole) { "… " (counted(left_out, "line")) " before" } "\n" }
                (&shown[start..])
            }
        }
    }
}

/// Returns the beginning of a text, never more bytes than this.
pub(crate) fn beginning(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

/// A field of a form that nobody sees.
pub(crate) fn hidden(name: &str, value: &str) -> Markup {
    html! { input type="hidden" name=(name) value=(value); }
}
