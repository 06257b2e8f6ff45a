//! Who asks, and what they may do. A token says both. On loopback, and only before the first token is made, nobody needs one,
//! except for decisions.

use std::net::IpAddr;

use axum::extract::{FromRequestParts, Request};
use axum::http::{HeaderMap, Method, StatusCode, header, request::Parts};
use baton_engine::engine::{Caller, Door};
use baton_engine::handoff::{Handoff, Terms};
use baton_engine::journal::Hash;
use baton_engine::known::Decider;
use baton_engine::token::{AccessRole, AccessToken, TokenSecret};
use serde_json::{Value, json};

use crate::connections::PeerAddress;
use crate::problem_json::ProblemJson;
use crate::server::Server;

/// What whoever has no token is called.
const NOBODY: &str = "anonymous";

/// Who can reach a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exposure {
    /// Programs on this machine.
    Loopback,
    /// Others as well, so that everybody needs a token.
    Network,
}

/// How what is sent travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// As it is: only programs of this machine can read it.
    Plain,
    /// Encrypted by the server itself.
    Tls,
    /// Encrypted by a proxy in front of the server, which tells who asks.
    Proxy,
}

/// Whoever makes a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Principal {
    /// Their name.
    pub(crate) name: String,
    role: AccessRole,
    /// The only agent that they work for.
    agent: Option<String>,
    /// The id of their token; `None` if they have none.
    token: Option<String>,
}

impl Principal {
    fn of(token: AccessToken) -> Principal {
        let AccessToken { id, name, role, agent, .. } = token;
        Principal { name, role, agent, token: Some(id) }
    }

    /// Somebody on this machine, before the first token is made. They do everything but decide.
    fn anonymous() -> Principal {
        Principal { name: NOBODY.to_owned(), role: AccessRole::Agent, agent: None, token: None }
    }

    /// Returns whether they have no token.
    pub(crate) fn is_anonymous(&self) -> bool {
        self.token.is_none()
    }

    /// Returns whether they are a person, who may decide.
    pub(crate) fn is_person(&self) -> bool {
        self.role.is_person()
    }

    /// Returns whether there is something that they may not see.
    pub(crate) fn is_restricted(&self) -> bool {
        self.agent.is_some()
    }

    /// Returns the key under which a request of theirs is remembered: nobody else can use it, or learn of it.
    pub(crate) fn own_key(&self, key: &str) -> String {
        match &self.token {
            Some(token) => Terms::key_of(token, key),
            None => key.to_owned(),
        }
    }

    /// Returns the only agent that they work for.
    pub(crate) fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// Returns whether they may see a handoff: an agent sees what it got and what it sent.
    pub(crate) fn sees(&self, handoff: &Handoff) -> bool {
        self.agent.as_ref().is_none_or(|agent| handoff.terms.is_for(agent) || handoff.terms.from == *agent)
    }

    /// Returns whether they may see what the agent of a handoff was told and has written: whoever sent it sees what came of it.
    pub(crate) fn sees_attempts(&self, handoff: &Handoff) -> bool {
        self.agent.as_ref().is_none_or(|agent| handoff.terms.is_for(agent))
    }

    /// Returns whether they may see a queue: an agent sees its own.
    pub(crate) fn sees_queue(&self, queue: &str) -> bool {
        !self.is_restricted() || self.works_for(queue).is_ok()
    }

    /// Lets everybody pass who sees all handoffs.
    pub(crate) fn looks_at_all(&self) -> Result<(), ProblemJson> {
        match &self.agent {
            None => Ok(()),
            Some(agent) => Err(ProblemJson::forbidden(format!("this token sees handoffs of {agent} only"))),
        }
    }

    /// Lets everybody pass who may change something.
    pub(crate) fn writes(&self) -> Result<(), ProblemJson> {
        match self.role {
            AccessRole::Viewer => Err(ProblemJson::forbidden("a viewer changes nothing")),
            AccessRole::Agent | AccessRole::Approver | AccessRole::Admin => Ok(()),
        }
    }

    /// Lets everybody pass who may work for an agent; `queue` is its name, or that of its queue in a workflow.
    pub(crate) fn works_for(&self, queue: &str) -> Result<(), ProblemJson> {
        self.writes()?;
        let name = queue.rsplit_once('/').map_or(queue, |(_, name)| name);
        match &self.agent {
            Some(agent) if agent != queue && agent != name => {
                Err(ProblemJson::forbidden(format!("this token works for {agent} only")))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Lets everybody pass who may work on a handoff that they see. What only a driver works on is for the engine to refuse.
    pub(crate) fn works_on(&self, handoff: &Handoff) -> Result<(), ProblemJson> {
        self.works_for(Terms::readable_queue(handoff.terms.queue()))
    }

    /// Lets people pass, and everybody where nobody needs a token.
    pub(crate) fn runs_workflows(&self) -> Result<(), ProblemJson> {
        if self.role.is_person() || self.is_anonymous() {
            return Ok(());
        }
        Err(ProblemJson::forbidden(format!(
            "starting and stopping runs needs an approver's token; this is {}",
            whose(self.role)
        )))
    }

    /// Lets administrators pass, and everybody where nobody needs a token.
    pub(crate) fn configures(&self) -> Result<(), ProblemJson> {
        if self.role == AccessRole::Admin || self.is_anonymous() {
            return Ok(());
        }
        Err(ProblemJson::forbidden(format!("this needs an admin's token; this is {}", whose(self.role))))
    }

    /// Returns who they are.
    pub(crate) fn json(&self) -> Value {
        let Principal { name, role, agent, token } = self;
        json!({ "name": name, "role": role.as_str(), "agent": agent, "token": token })
    }

    /// Returns who this is for the engine, which lets only people decide.
    pub(crate) fn caller(&self) -> Caller {
        let decider = match &self.token {
            Some(token) => Decider::token(&self.name, token),
            None => Decider::unproven(&self.name),
        };
        Caller { decider, door: Door::Http, role: Some(self.role), working_on: None }
    }
}

fn whose(role: AccessRole) -> &'static str {
    match role {
        AccessRole::Viewer => "a viewer's",
        AccessRole::Agent => "an agent's",
        AccessRole::Approver => "an approver's",
        AccessRole::Admin => "an admin's",
    }
}

impl Principal {
    /// Knows who sends a token with a request; `None` if none is sent.
    pub(crate) async fn bearer(server: &Server, parts: &Parts) -> Result<Option<Principal>, ProblemJson> {
        let Some(given) = parts.headers.get(header::AUTHORIZATION) else { return Ok(None) };
        let words = given.to_str().ok().and_then(|text| text.split_once(' '));
        let token = words.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, token)| token.trim());
        let token = presented_token(server, peer(server, parts), token.unwrap_or_default()).await?;
        Ok(Some(Principal::of(token)))
    }

    /// Knows who has opened a session with a browser; `None` if it has ended, or its token has.
    pub(crate) async fn of_session(server: &Server, digest: &Hash) -> Result<Option<Principal>, ProblemJson> {
        let (store, now) = (&server.engine.store, server.engine.now());
        let session = store.token_with(digest).await?.filter(|session| session.is_valid_at(now));
        let Some(opened_by) = session.as_ref().and_then(AccessToken::opened_by) else { return Ok(None) };
        let token = store.token(opened_by).await?;
        Ok(token.filter(|token| token.is_valid_at(now)).map(Principal::of))
    }

    /// Returns whether they may still be here: a token that was taken back or has ended opens nothing any more, and once there
    /// is a token nobody is let in without one.
    pub(crate) async fn is_still_let_in(&self, server: &Server) -> bool {
        let Some(id) = &self.token else { return Principal::without_token(server).await.is_ok() };
        // Whoever cannot be asked about is not let in.
        let token = server.engine.store.token(id).await.ok().flatten();
        token.is_some_and(|token| token.is_valid_at(server.engine.now()))
    }

    /// Lets somebody without a token in: on loopback, before the first token is made.
    pub(crate) async fn without_token(server: &Server) -> Result<Principal, ProblemJson> {
        let is_open = match server.exposure {
            Exposure::Network => false,
            Exposure::Loopback => {
                // One that has ended counts as well: taking back a leaked token must not let everybody in.
                server.engine.store.tokens().await?.iter().all(|token| token.opened_by().is_some())
            }
        };
        if is_open { Ok(Principal::anonymous()) } else { Err(ProblemJson::unauthorized("a token is needed")) }
    }
}

/// Finds the token that somebody presents, if it opens anything. A wrong one is counted; see [`crate::wrong_tokens`].
pub(crate) async fn presented_token(
    server: &Server,
    from: Option<IpAddr>,
    text: &str,
) -> Result<AccessToken, ProblemJson> {
    let now = server.engine.now();
    let found = match TokenSecret::parse(text) {
        Some(secret) => server.engine.store.token_with(&secret.digest()).await?,
        None => None,
    };
    if let Some(token) = found.filter(|token| token.opened_by().is_none() && token.is_valid_at(now)) {
        return Ok(token);
    }
    match from.and_then(|address| server.wrong_tokens.sent_from(address, server.limits.wrong_tokens, now)) {
        Some(seconds) => {
            Err(ProblemJson::too_often(format!("too many wrong tokens; try again in {seconds} s"), seconds))
        }
        None => Err(ProblemJson::unauthorized("this token is not valid")),
    }
}

/// Returns where a request comes from: a trusted proxy says it at the end of `X-Forwarded-For`.
pub(crate) fn peer(server: &Server, parts: &Parts) -> Option<IpAddr> {
    let peer = parts.extensions.get::<PeerAddress>().map(|PeerAddress(peer)| peer.ip());
    let told = parts.headers.get_all("x-forwarded-for").into_iter().next_back();
    let told = told.and_then(|value| value.to_str().ok()?.rsplit(',').next()?.trim().parse().ok());
    told.filter(|_| server.transport == Transport::Proxy).or(peer)
}

/// Whoever calls the API. Only a token in the request counts: a browser sends cookies on behalf of anybody's page.
impl FromRequestParts<Server> for Principal {
    type Rejection = ProblemJson;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> Result<Principal, ProblemJson> {
        match Principal::bearer(server, parts).await? {
            Some(principal) => Ok(principal),
            None => Principal::without_token(server).await,
        }
    }
}

/// Refuses what a browser sends on behalf of somebody else's page. A server on loopback is reached by its own names only:
/// a page whose name was made to mean this machine would be another one.
pub(crate) fn refuse_strangers(server: &Server, request: &Request) -> Result<(), ProblemJson> {
    let headers = request.headers();
    if headers.get_all(header::HOST).iter().count() > 1 {
        // A proxy may have believed another one of them than we would.
        return Err(ProblemJson::new(StatusCode::BAD_REQUEST, "bad_request", "a request has one Host header only"));
    }
    if server.exposure == Exposure::Loopback && !host(headers).is_none_or(is_loopback_name) {
        return Err(ProblemJson::forbidden("this server is known as localhost only"));
    }
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    if changes && !is_own_origin(headers) {
        return Err(ProblemJson::forbidden("requests from pages of other origins change nothing"));
    }
    Ok(())
}

fn host(headers: &HeaderMap) -> Option<&str> {
    // What cannot be read is nobody's name.
    headers.get(header::HOST).map(|host| host.to_str().unwrap_or_default())
}

fn is_loopback_name(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn is_own_origin(headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(header::ORIGIN) else { return true };
    let authority = origin.to_str().ok().and_then(|origin| Some(origin.split_once("://")?.1));
    authority.is_some() && authority == host(headers)
}

#[cfg(test)]
mod tests {
    use baton_engine::handoff::WrittenDocument;
    use baton_engine::journal::Fact;
    use baton_engine::lifecycle::{self, Accept};
    use baton_engine::{HandoffId, RunId, Terms};
    use baton_protocol::Dialect;
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn whoever_sent_a_handoff_does_not_see_what_its_agent_was_told() {
        let id = HandoffId::parse("h").expect("safe");
        let request = WrittenDocument::new(Dialect::Native, "{}");
        let accept = Accept {
            run: RunId::parse("h").expect("safe"),
            id,
            terms: Terms::between("dev", "rev"),
            request,
            notes: Vec::new(),
        };
        let handoff =
            lifecycle::replay(None, Fact::Accepted(Box::new(accept)), Timestamp::UNIX_EPOCH).expect("accepted");
        let agent = |name: &str| Principal {
            agent: Some(name.to_owned()),
            token: Some("t".to_owned()),
            ..Principal::anonymous()
        };
        assert!(agent("dev").sees(&handoff) && !agent("dev").sees_attempts(&handoff));
        assert!(agent("rev").sees(&handoff) && agent("rev").sees_attempts(&handoff));
        assert!(!agent("ops").sees(&handoff) && Principal::anonymous().sees_attempts(&handoff));
    }

    #[test]
    fn only_names_of_this_machine_are_loopback() {
        for name in ["localhost", "LOCALHOST:4848", "127.0.0.1:80", "127.9.9.9", "[::1]:4848"] {
            assert!(is_loopback_name(name), "{name}");
        }
        for name in ["", "baton.example", "127.0.0.1.nip.io", "localhost.evil.example:80", "10.0.0.1"] {
            assert!(!is_loopback_name(name), "{name}");
        }
    }
}
