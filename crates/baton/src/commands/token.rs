//! `baton token`: who may use a server, and as what.

use std::time::Duration;

use baton_engine::engine;
use baton_engine::step::{HUMAN, ORCHESTRATOR};
use baton_engine::token::{AccessRole, AccessToken, TokenSecret};
use baton_views::words::{ago, ahead};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::command_error::{CommandError, Exit};
use crate::guard;
use crate::output::Output;
use crate::random;
use crate::render::columns::columns;
use crate::store::{Access, Session, StoreOptions};
use baton_engine::engine::parse_duration;
use baton_engine::engine::{agent_name, plain_name};

/// Create, list and revoke the tokens of `baton serve`
///
/// A token says who somebody is and what they may do over HTTP:
///
/// viewer looks at everything; agent claims and reports for one agent, and never decides; approver also decides, starts and
/// stops runs; admin also changes queues.
///
/// Only a hash of each token is stored. The token itself is printed once, when it is created. A browser that has logged in
/// has a session, which is listed with the tokens and can be revoked on its own.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  baton token create --role approver --name ana\n  \
baton token create --role agent --agent reviewer --expires 30d\n  baton token list\n  baton token revoke tok-5c1f09")]
pub(crate) struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Create a token, and print it
    #[command(after_help = "Example:\n  baton token create --role agent --agent reviewer --expires 30d")]
    Create(CreateOptions),
    /// List tokens: whose they are, what they allow, until when
    #[command(after_help = "Example:\n  baton token list --json")]
    List(ListOptions),
    /// Revoke a token at once
    #[command(after_help = "Example:\n  baton token revoke tok-5c1f09")]
    Revoke(RevokeOptions),
}

#[derive(Debug, Args)]
struct CreateOptions {
    /// What it allows: viewer, agent, approver or admin
    #[arg(long, value_name = "ROLE", value_parser = parse_role)]
    role: AccessRole,
    /// The agent that it works for; needed for the role agent
    #[arg(long, value_name = "AGENT", value_parser = agent_name)]
    agent: Option<String>,
    /// Whose it is, for the journal [default: the agent, or your account]
    #[arg(long, value_name = "NAME", value_parser = plain_name)]
    name: Option<String>,
    /// How long it works [default: until it is revoked]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    expires: Option<Duration>,
    /// Write JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOptions,
}

#[derive(Debug, Args)]
struct ListOptions {
    /// Write JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOptions,
}

#[derive(Debug, Args)]
struct RevokeOptions {
    /// The id of the token, as `baton token list` shows it
    #[arg(value_name = "ID")]
    id: String,
    /// Write JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreOptions,
}

fn parse_role(word: &str) -> Result<AccessRole, String> {
    let known = AccessRole::ALL.map(AccessRole::as_str);
    AccessRole::parse(word).ok_or_else(|| baton_protocol::wire::suggest(word, &known))
}

pub(crate) fn run(options: &Options, output: &Output) -> Result<Exit, CommandError> {
    match &options.action {
        Action::Create(options) => create(options, output),
        Action::List(options) => list(options, output),
        Action::Revoke(options) => revoke(options, output),
    }
}

fn create(options: &CreateOptions, output: &Output) -> Result<Exit, CommandError> {
    // Whoever makes the token of an approver can decide.
    let person = guard::person(None)?;
    match (options.role, &options.agent) {
        (AccessRole::Agent, None) => {
            return Err(CommandError::usage("a token of the role agent works for one agent").hint("give --agent NAME"));
        }
        (AccessRole::Agent, Some(agent)) if [HUMAN, ORCHESTRATOR].contains(&agent.as_str()) => {
            let message = format!("`{agent}` is not an agent: its token would see every run");
            return Err(CommandError::usage(message).hint("name an agent of a workflow, or of the queue"));
        }
        (AccessRole::Agent, Some(_)) | (_, None) => {}
        (role, Some(_)) => {
            return Err(CommandError::usage(format!("--agent is for the role agent, and this is {role}")));
        }
    }
    let session = Session::open_database(&options.store, Access::Change, output)?;
    let secret = TokenSecret::of_random(random::secret()?);
    let name = options.name.clone().or_else(|| options.agent.clone()).unwrap_or_else(|| person.decider().name);
    let name = engine::plain_name(&name).map_err(CommandError::usage)?;
    let now = session.now();
    let token = AccessToken {
        id: format!("tok-{}", &random::word()[..10]),
        name,
        role: options.role,
        agent: options.agent.clone(),
        digest: secret.digest(),
        created_at: now,
        expires_at: options.expires.map(|expires| now.checked_add(expires).unwrap_or(jiff::Timestamp::MAX)),
        revoked_at: None,
    };
    session.run(session.store.add_token(&token))?;
    if options.json {
        let mut form = as_json(&token, now);
        form["token"] = secret.text().into();
        output.json(&json!({ "version": 1, "created": form }))?;
        return Ok(Exit::Done);
    }
    output.data(&format!("{}\n", secret.text()))?;
    output.note(&format!("{}: {} {}; this is the only time the token is shown", token.id, token.role, token.name));
    Ok(Exit::Done)
}

fn list(options: &ListOptions, output: &Output) -> Result<Exit, CommandError> {
    let session = Session::open_database(&options.store, Access::Look, output)?;
    let (mut tokens, now) = (session.run(session.store.tokens())?, session.now());
    // A session that is over, or whose token is, says nothing to anybody.
    let open: Vec<String> =
        tokens.iter().filter(|token| token.is_valid_at(now)).map(|token| token.id.clone()).collect();
    let is_open = |token: &AccessToken, by: &str| token.is_valid_at(now) && open.iter().any(|id| id == by);
    tokens.retain(|token| token.opened_by().is_none_or(|by| is_open(token, by)));
    if options.json {
        let tokens: Vec<Value> = tokens.iter().map(|token| as_json(token, now)).collect();
        output.json(&json!({ "version": 1, "tokens": tokens }))?;
        return Ok(Exit::Done);
    }
    if tokens.is_empty() {
        output.note("there are no tokens; `baton token create` makes one");
        return Ok(Exit::Done);
    }
    let mut rows = vec![["ID", "NAME", "ROLE", "AGENT", "STATE", "CREATED", "EXPIRES"].map(str::to_owned)];
    rows.extend(tokens.iter().map(|token| {
        let expires = |at| if at > now { ahead(at, now) } else { ago(at, now) };
        [
            token.id.clone(),
            token.name.clone(),
            token.role.to_string(),
            token.agent.clone().unwrap_or_else(|| "-".to_owned()),
            token.state_at(now).to_owned(),
            ago(token.created_at, now),
            token.expires_at.map_or_else(|| "never".to_owned(), expires),
        ]
    }));
    output.data(&columns(&rows))?;
    Ok(Exit::Done)
}

fn revoke(options: &RevokeOptions, output: &Output) -> Result<Exit, CommandError> {
    guard::person(None)?;
    let session = Session::open_database(&options.store, Access::Look, output)?;
    if !session.run(session.store.revoke_token(&options.id, session.now()))? {
        let message = format!("unknown token `{}`", baton_protocol::printable(&options.id));
        return Err(CommandError::usage(message).hint("`baton token list` shows the ids"));
    }
    if options.json {
        output.json(&json!({ "version": 1, "revoked": options.id }))?;
    } else {
        output.data(&format!("{} revoked\n", options.id))?;
    }
    Ok(Exit::Done)
}

fn as_json(token: &AccessToken, now: jiff::Timestamp) -> Value {
    json!({
        "id": token.id,
        "name": token.name,
        "role": token.role.as_str(),
        "agent": token.agent,
        "session_of": token.opened_by(),
        "state": token.state_at(now),
        "created_at": token.created_at,
        "expires_at": token.expires_at,
        "revoked_at": token.revoked_at,
    })
}
