//! A server in place of a store of our own: the token, the authorities that vouch for the server, and who it says that we are.

use std::fs;

use baton_engine::known::Decider;
use baton_engine::store::StoreError;
use baton_engine::token::TokenSecret;
use baton_store::Location;
use baton_store::remote::{RemoteStore, ServerAccess, ServerAddress, ServerCaller};

use super::{Place, Session, Source, TOKEN_VARIABLE};
use crate::command_error::CommandError;
use crate::config::Config;
use crate::guard::Person;
use crate::user;

/// Finds the token: in the file that was named, or in the variable. Neither message nor hint shows what was found.
pub(super) fn token(config: &Config) -> Result<Option<TokenSecret>, CommandError> {
    let hint = "a token begins with `baton_`; `baton token create` prints it once";
    let (text, place) = match &config.token_file {
        Some(file) => {
            let text = fs::read_to_string(file).map_err(|error| {
                CommandError::usage(format!("cannot read the token file {}: {error}", file.display()))
            })?;
            (text, file.display().to_string())
        }
        None => match std::env::var(TOKEN_VARIABLE) {
            Ok(text) if !text.trim().is_empty() => (text, TOKEN_VARIABLE.to_owned()),
            Ok(_) | Err(_) => return Ok(None),
        },
    };
    let token = TokenSecret::parse(text.trim());
    token.map(Some).ok_or_else(|| CommandError::usage(format!("{place} does not contain a token")).hint(hint))
}

/// Reaches a server.
pub(super) async fn reach(
    address: &ServerAddress,
    token: Option<TokenSecret>,
    config: &Config,
) -> Result<RemoteStore, StoreError> {
    let access = ServerAccess { address: address.clone(), token, authorities: config.ca_file.clone() };
    RemoteStore::reach(access).await
}

impl Place {
    /// Lets a database pass; a server is not one.
    pub(super) fn database(&self) -> Result<(), CommandError> {
        match &self.location {
            Location::Sqlite(_) | Location::Postgres(_) => Ok(()),
            Location::Server(address) => {
                let error = CommandError::usage(format!("{address} is a server, and this needs the database itself"))
                    .hint("run it where the server runs, with the --store of the server");
                Err(match &self.source {
                    Source::Named(named) if *named != "--store" => {
                        error.hint(format!("{named} is set to a server; --store names another store"))
                    }
                    _ => error,
                })
            }
        }
    }
}

impl Session {
    /// Returns a person as the store will know them: a server knows them by their token, whatever their account is called.
    pub(crate) fn known(&self, person: Person) -> Person {
        match self.remote.as_ref().map(|server| server.caller()) {
            Some(ServerCaller { name, token: Some(token), .. }) => {
                let label = person.decider().label.filter(|label| label != name);
                person.known_as(Decider { label, ..Decider::token(name, token) })
            }
            Some(ServerCaller { token: None, .. }) | None => person,
        }
    }

    /// Returns whose name stands under what is sent, if nobody says otherwise.
    pub(crate) fn user_name(&self) -> String {
        match self.remote.as_ref().map(|server| server.caller()) {
            Some(ServerCaller { name, token: Some(_), .. }) => name.clone(),
            Some(ServerCaller { token: None, .. }) | None => user::name(),
        }
    }

    /// Returns whether the token that we have for a server is that of a person, who decides.
    pub(crate) fn is_person(&self) -> bool {
        let caller = self.remote.as_ref().map(|server| server.caller());
        caller.is_some_and(|caller| caller.token.is_some() && caller.role.is_person())
    }
}
