//! What went wrong with a coding agent, and whether trying again makes sense.
//!
//! Structure decides first (types of errors, status codes, what a program says about trying again), then words.

use baton_engine::agent::AfterFailure;
use baton_engine::failure::{Code, Failure};
use jiff::Zoned;
use serde_json::Value;

use super::reset::Reset;
use super::tail::without_colours;
use crate::process::permanent;

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The service has too much to do, or the connection broke. That passes.
    Busy,
    /// A limit of the account is reached, which ends at some time.
    Limit,
    /// There is no key or login, or a wrong one.
    NoAccess,
    /// The account may not do this.
    Forbidden,
    /// There is no money left, or the plan does not include it.
    NoCredit,
    /// There is no such model.
    NoModel,
    /// What the model must read is too long.
    TooLong,
    /// The session cannot be found.
    SessionLost,
    /// The program does not trust the folder.
    Untrusted,
    /// The program does not know an option.
    WrongUsage,
    /// The service refuses the request, and would again.
    BadRequest,
    /// Nobody knows. It may pass.
    Unknown,
}

/// What a program tells about its failure.
#[derive(Debug, Default)]
pub(super) struct Clues {
    /// In its words.
    pub(super) message: String,
    /// The types of the error that it names.
    pub(super) types: Vec<String>,
    /// The status of the last response.
    pub(super) status: Option<u16>,
    /// Whether it thinks that trying again makes sense.
    pub(super) is_retryable: Option<bool>,
    /// When a limit ends.
    pub(super) reset: Option<Reset>,
}

/// What went wrong with a program.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ProfileFault {
    pub(crate) trouble: Trouble,
    /// In a line.
    pub(crate) message: String,
    reset: Option<Reset>,
}

const TYPES: [(Trouble, &[&str]); 7] = [
    (Trouble::TooLong, &["prompt_too_long", "context_length_exceeded", "ContextOverflowError"]),
    (Trouble::NoCredit, &["billing_error", "insufficient_quota", "TerminalQuotaError"]),
    (Trouble::Limit, &["usage_limit_reached"]),
    (Trouble::NoAccess, &["authentication_failed", "authentication_error", "ProviderAuthError"]),
    (Trouble::Forbidden, &["permission_error"]),
    (Trouble::NoModel, &["model_not_found", "not_found_error", "ProviderModelNotFoundError", "ModelNotFoundError"]),
    (Trouble::Busy, &["rate_limit", "rate_limit_error", "overloaded_error"]),
];

/// Words that say more than a status: 400 and 429 are many things.
const DEFINITE: [(Trouble, &[&str]); 4] = [
    (
        Trouble::TooLong,
        &[
            "context window",
            "prompt is too long",
            "context length",
            "context_length",
            "maximum number of tokens",
            "input token count",
        ],
    ),
    (
        Trouble::SessionLost,
        &[
            "no conversation found",
            "no rollout found",
            "session not found",
            "error resuming session",
            "invalid session identifier",
        ],
    ),
    (Trouble::Limit, &["usage limit", "-hour limit", "weekly limit"]),
    (
        Trouble::NoCredit,
        &[
            "credit balance",
            "billing",
            "insufficient_quota",
            "exceeded your current quota",
            "quota exceeded",
            "daily quota",
            "out of credits",
            "payment required",
        ],
    ),
];

const WORDS: [(Trouble, &[&str]); 5] = [
    (Trouble::Untrusted, &["trusted directory", "trusted folder", "not trusted"]),
    (
        Trouble::NoModel,
        &["does not exist or you do not have access", "may not exist", "is not found for api", "model not found"],
    ),
    (
        Trouble::WrongUsage,
        &["unknown option", "unknown argument", "unexpected argument", "unrecognized", "with root", "invalid value"],
    ),
    (
        Trouble::NoAccess,
        &[
            "api key",
            "api_key",
            "x-api-key",
            "not logged in",
            "/login",
            "authentication",
            "unauthorized",
            "unauthenticated",
            "environment variable",
            "auth method",
        ],
    ),
    (
        Trouble::Busy,
        &["rate limit", "rate_limit", "overloaded", "too many requests", "at capacity", "high demand", "timed out"],
    ),
];

impl ProfileFault {
    /// Judges what a program tells.
    pub(super) fn of(clues: Clues) -> ProfileFault {
        let message = line(&clues.message);
        let said = clues.message.to_lowercase();
        let reset = clues.reset.or_else(|| Reset::in_text(&clues.message));
        let status = clues.status.or_else(|| status_in(&clues.message));
        let by_type = || TYPES.iter().find(|(_, types)| clues.types.iter().any(|one| types.contains(&&**one)));
        let named = by_type().map(|(trouble, _)| *trouble);
        // A request that is too much now is told from one that is too much for the plan by words only.
        let sure = named.filter(|trouble| *trouble != Trouble::Busy);
        let trouble = sure
            .or_else(|| by_words(&DEFINITE, &said))
            .or_else(|| status.and_then(by_status))
            .or(named)
            .or_else(|| by_words(&WORDS, &said))
            .or_else(|| clues.is_retryable.map(|again| if again { Trouble::Busy } else { Trouble::BadRequest }))
            .unwrap_or(Trouble::Unknown);
        // A busy service tells how long to pause; the time of day at which something ends is that of a limit.
        let is_limit = trouble == Trouble::Busy && matches!(reset, Some(Reset::At(_) | Reset::Clock(_)));
        let trouble = if is_limit { Trouble::Limit } else { trouble };
        ProfileFault { trouble, message, reset }
    }

    /// Returns the failure, and what makes sense after it.
    pub(crate) fn ended(&self, goes_on: bool, help: Option<&str>, now: &Zoned) -> (Failure, AfterFailure) {
        let (failure, after) = self.judged(goes_on, now);
        (Failure { help: help.map(str::to_owned), ..failure }, after)
    }

    fn judged(&self, goes_on: bool, now: &Zoned) -> (Failure, AfterFailure) {
        let message = &*self.message;
        let passes = || Failure::new(Code::processing_error(), message);
        let until = self.reset.as_ref().and_then(|reset| reset.after(now)).filter(|until| *until > now.timestamp());
        match self.trouble {
            Trouble::Busy => (passes(), until.map_or(AfterFailure::Policy, |until| AfterFailure::Pause { until })),
            Trouble::Limit => (passes(), until.map_or(AfterFailure::Policy, |until| AfterFailure::Wait { until })),
            Trouble::Unknown => (passes(), AfterFailure::Policy),
            Trouble::SessionLost => (passes(), AfterFailure::FreshSession),
            Trouble::TooLong if goes_on => (passes(), AfterFailure::FreshSession),
            Trouble::TooLong | Trouble::BadRequest => {
                (permanent(Code::processing_error(), message), AfterFailure::Policy)
            }
            Trouble::NoAccess
            | Trouble::Forbidden
            | Trouble::NoCredit
            | Trouble::NoModel
            | Trouble::Untrusted
            | Trouble::WrongUsage => (permanent(Code::dependency_missing(), message), AfterFailure::Policy),
        }
    }
}

fn by_words(table: &[(Trouble, &[&str])], said: &str) -> Option<Trouble> {
    table.iter().find(|(_, words)| words.iter().any(|word| said.contains(word))).map(|(trouble, _)| *trouble)
}

/// Returns whether a line names what went wrong.
pub(super) fn is_telling(line: &str) -> bool {
    let said = line.to_lowercase();
    by_words(&DEFINITE, &said).or_else(|| by_words(&WORDS, &said)).is_some()
}

fn by_status(status: u16) -> Option<Trouble> {
    match status {
        401 => Some(Trouble::NoAccess),
        402 => Some(Trouble::NoCredit),
        403 => Some(Trouble::Forbidden),
        404 => Some(Trouble::NoModel),
        408 | 409 | 425 | 429 | 500..=599 => Some(Trouble::Busy),
        413 => Some(Trouble::TooLong),
        400..=499 => Some(Trouble::BadRequest),
        _ => None,
    }
}

/// Finds the status of a response in the words of a program: `unexpected status 403`, `"code":401`, `API Error: 529`.
fn status_in(text: &str) -> Option<u16> {
    let said = text.to_lowercase();
    let marks = ["status ", "status: ", "\"code\":", "\"code\": ", "error: ", "error ", "http "];
    let behind = marks.iter().flat_map(|mark| said.match_indices(mark).map(|(at, mark)| &said[at + mark.len()..]));
    behind.chain([said.as_str()]).find_map(|behind| {
        let digits = behind.get(..3)?;
        let is_whole = !behind[3..].starts_with(|letter: char| letter.is_ascii_digit());
        digits.parse().ok().filter(|status| is_whole && (400..600).contains(status))
    })
}

/// Makes one line of a message: what a service said is part of what the program says.
fn line(message: &str) -> String {
    let message = without_colours(message);
    let inner = message.trim().strip_prefix("[API Error: ").and_then(|rest| Some(rest.split_once(']')?.0));
    let body = message.find('{').and_then(|at| {
        let mut values = serde_json::Deserializer::from_str(&message[at..]).into_iter::<Value>();
        let value = values.next()?.ok()?;
        value.pointer("/error/message").and_then(Value::as_str).map(str::to_owned)
    });
    let text = body.or_else(|| inner.map(str::to_owned)).unwrap_or(message);
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it does not say why").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(message: &str) -> Trouble {
        ProfileFault::of(Clues { message: message.to_owned(), ..Clues::default() }).trouble
    }

    #[test]
    fn words_decide_where_there_is_nothing_else() {
        let judged = [
            ("API Error: 529 overloaded_error", Trouble::Busy),
            ("429 Too Many Requests: check your API key's quota", Trouble::Busy),
            ("Invalid API key · Please run /login", Trouble::NoAccess),
            ("Credit balance is too low", Trouble::NoCredit),
            ("401 Unauthorized", Trouble::NoAccess),
            ("Missing environment variable: `LOCAL_KEY`.", Trouble::NoAccess),
            ("boom", Trouble::Unknown),
            ("it took 429 s", Trouble::Unknown),
        ];
        for (message, trouble) in judged {
            assert_eq!(of(message), trouble, "{message}");
        }
    }

    #[test]
    fn types_and_status_win_over_words() {
        let judge = |types: &[&str], status, message: &str| {
            let types = types.iter().map(|name| (*name).to_owned()).collect();
            ProfileFault::of(Clues { message: message.to_owned(), types, status, ..Clues::default() }).trouble
        };
        assert_eq!(judge(&["billing_error"], Some(400), "try again"), Trouble::NoCredit);
        assert_eq!(judge(&[], Some(403), "rate limit"), Trouble::Forbidden);
        assert_eq!(judge(&[], Some(503), "authentication service"), Trouble::Busy);
        assert_eq!(judge(&[], Some(422), "overloaded"), Trouble::BadRequest);
        assert_eq!(judge(&["rate_limit_error"], Some(429), "You exceeded your current quota"), Trouble::NoCredit);
    }

    #[test]
    fn only_a_limit_is_waited_for_and_a_busy_service_gets_its_pause() {
        let now: Zoned = "2026-11-16T15:30:00+01:00[+01:00]".parse().expect("a time");
        let after = |message: &str, status, reset| {
            let clues = Clues { message: message.to_owned(), status, reset, ..Clues::default() };
            ProfileFault::of(clues).ended(true, None, &now).1
        };
        let at = |second: i64| now.timestamp() + jiff::SignedDuration::from_secs(second);
        let busy = "Rate limit reached for gpt-6.1 on tokens per min (TPM). Please try again in 1.2s.";
        assert_eq!(after(busy, None, None), AfterFailure::Pause { until: at(1) });
        let header = Reset::in_text("retry-after: 20");
        assert_eq!(after("Too many requests", Some(429), header), AfterFailure::Pause { until: at(20) });
        let wait = AfterFailure::Wait { until: at(3600) };
        assert_eq!(after("You've hit your usage limit. Try again in 1 hour.", None, None), wait);
        assert_eq!(after("You've hit your limit", Some(429), Reset::at_second(at(3600).as_second())), wait);
        assert_eq!(after("You've hit your limit · resets 4:30pm", Some(429), None), wait);
        assert_eq!(after("Too many requests", Some(429), None), AfterFailure::Policy);
    }

    #[test]
    fn message_is_one_line_of_what_the_service_said() {
        let long = "[API Error: {\"error\":{\"code\":401,\"message\":\"Bad credentials.\"}}]\nPlease wait";
        assert_eq!(line(long), "Bad credentials.");
        assert_eq!(line("[API Error: The model is overloaded.]\nPlease wait"), "The model is overloaded.");
        assert_eq!(line("\u{1b}[91mError:\u{1b}[0m no\nmore"), "Error: no");
    }
}
