//! Tokens, and events by their position.

use jiff::Timestamp;

use super::StoreModel;
use crate::journal::Hash;
use crate::store::{PositionedEvent, StoreError};
use crate::token::AccessToken;

impl StoreModel {
    /// Keeps a new token.
    pub fn add_token(&mut self, token: &AccessToken) -> Result<(), StoreError> {
        if self.tokens.iter().any(|known| known.id == token.id || known.digest == token.digest) {
            return Err(StoreError::Invalid("there is such a token already".to_owned()));
        }
        self.tokens.push(token.clone());
        Ok(())
    }

    /// Returns all tokens, the oldest first.
    pub fn tokens(&self) -> Vec<AccessToken> {
        let mut tokens = self.tokens.clone();
        tokens.sort_by(|one, other| (one.created_at, &one.id).cmp(&(other.created_at, &other.id)));
        tokens
    }

    /// Finds a token by its digest.
    pub fn token_with(&self, digest: &Hash) -> Option<AccessToken> {
        self.tokens.iter().find(|token| token.digest == *digest).cloned()
    }

    /// Finds a token by its id.
    pub fn token(&self, id: &str) -> Option<AccessToken> {
        self.tokens.iter().find(|token| token.id == id).cloned()
    }

    /// Removes sessions that are over.
    pub fn remove_ended_sessions(&mut self, now: Timestamp) -> u64 {
        let before = self.tokens.len();
        self.tokens.retain(|token| token.opened_by().is_none() || token.is_valid_at(now));
        (before - self.tokens.len()) as u64
    }

    /// Takes a token back.
    pub fn revoke_token(&mut self, id: &str, at: Timestamp) -> bool {
        let found = self.tokens.iter_mut().find(|token| token.id == id);
        found.map(|token| token.revoked_at = token.revoked_at.or(Some(at))).is_some()
    }

    /// Returns the events behind a position.
    pub fn events_after(&self, position: u64, limit: u32) -> Vec<PositionedEvent> {
        let behind = (1_u64..).zip(&self.positions).skip(usize::try_from(position).unwrap_or(usize::MAX));
        let event = |(run, seq): &(_, u64)| {
            let index = usize::try_from(seq.checked_sub(1)?).ok()?;
            self.journal.get(run)?.get(index).cloned()
        };
        let events = behind.filter_map(|(position, place)| Some(PositionedEvent { position, event: event(place)? }));
        events.take(limit as usize).collect()
    }

    /// Returns the position of the latest event.
    pub fn last_position(&self) -> u64 {
        self.positions.len() as u64
    }
}
