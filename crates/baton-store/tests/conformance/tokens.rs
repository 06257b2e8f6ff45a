//! Tokens of a server, and the events of all runs by position.

use baton_engine::journal::Hash;
use baton_engine::token::{AccessRole, AccessToken, TokenSecret};

use super::bed::Bed;
use super::requests::{report, time};

on_every_store! {
    token_is_found_by_its_digest_with_everything_about_it,
    token_that_was_taken_back_stays_and_says_when,
    token_is_found_by_its_id,
    sessions_that_are_over_are_removed_and_tokens_stay,
    two_tokens_cannot_have_one_id_or_one_digest,
    tokens_survive_a_restart_and_are_listed_oldest_first,
    events_of_all_runs_come_in_the_order_in_which_they_were_written,
}

fn token(id: &str, byte: u8) -> AccessToken {
    AccessToken {
        id: id.to_owned(),
        name: "Ana Ä'".to_owned(),
        role: AccessRole::Agent,
        agent: Some("re'viewer".to_owned()),
        digest: TokenSecret::of_random([byte; 32]).digest(),
        created_at: time(i64::from(byte)),
        expires_at: Some(time(1_000)),
        revoked_at: None,
    }
}

async fn token_is_found_by_its_digest_with_everything_about_it(bed: Bed) {
    let all = [
        token("a", 1),
        AccessToken { role: AccessRole::Viewer, agent: None, expires_at: None, ..token("b", 2) },
        AccessToken { role: AccessRole::Approver, agent: None, ..token("c", 3) },
        AccessToken { role: AccessRole::Admin, agent: None, ..token("d", 4) },
    ];
    for token in &all {
        bed.store.add_token(token).await.unwrap();
    }
    for token in &all {
        assert_eq!(bed.store.token_with(&token.digest).await.unwrap().as_ref(), Some(token));
    }
    assert_eq!(bed.store.token_with(&Hash([0; 32])).await.unwrap(), None);
}

async fn token_that_was_taken_back_stays_and_says_when(bed: Bed) {
    bed.store.add_token(&token("a", 1)).await.unwrap();
    assert!(bed.store.revoke_token("a", time(5)).await.unwrap());
    assert!(bed.store.revoke_token("a", time(9)).await.unwrap());
    assert!(!bed.store.revoke_token("nobody's", time(9)).await.unwrap());
    let found = bed.store.token_with(&token("a", 1).digest).await.unwrap().unwrap();
    assert_eq!(found.revoked_at, Some(time(5)), "the first time counts");
    assert!(!found.is_valid_at(time(6)));
}

async fn token_is_found_by_its_id(bed: Bed) {
    for token in [token("a", 1), token("ab", 2)] {
        bed.store.add_token(&token).await.unwrap();
    }
    assert_eq!(bed.store.token("a").await.unwrap(), Some(token("a", 1)));
    for unknown in ["b", "", "a\0", "A"] {
        assert_eq!(bed.store.token(unknown).await.unwrap(), None, "{unknown:?}");
    }
}

async fn sessions_that_are_over_are_removed_and_tokens_stay(bed: Bed) {
    let (revoked, expired) = (token("revoked", 1), AccessToken { expires_at: Some(time(2)), ..token("expired", 2) });
    let session = |word: &str, byte: u8| token("expired", 9).session(word, Hash([byte; 32]), time(1));
    let ended = AccessToken { expires_at: Some(time(5)), ..session("ended", 3) };
    let open = AccessToken { expires_at: Some(time(6)), ..session("open", 5) };
    for token in [&revoked, &expired, &ended, &session("left", 4), &open] {
        bed.store.add_token(token).await.unwrap();
    }
    bed.store.revoke_token("revoked", time(2)).await.unwrap();
    bed.store.revoke_token(&session("left", 4).id, time(2)).await.unwrap();
    assert_eq!(bed.store.remove_ended_sessions(time(5)).await.unwrap(), 2);
    let mut left: Vec<String> = bed.store.tokens().await.unwrap().into_iter().map(|token| token.id).collect();
    left.sort();
    assert_eq!(left, ["expired", &open.id, "revoked"]);
    assert_eq!(bed.store.remove_ended_sessions(time(5)).await.unwrap(), 0);
}

async fn two_tokens_cannot_have_one_id_or_one_digest(bed: Bed) {
    bed.store.add_token(&token("a", 1)).await.unwrap();
    assert!(bed.store.add_token(&token("a", 2)).await.is_err());
    assert!(bed.store.add_token(&token("b", 1)).await.is_err());
    assert_eq!(bed.store.tokens().await.unwrap(), [token("a", 1)]);
}

async fn tokens_survive_a_restart_and_are_listed_oldest_first(bed: Bed) {
    bed.store.add_token(&token("later", 9)).await.unwrap();
    bed.store.add_token(&token("earlier", 3)).await.unwrap();
    let bed = bed.reopened().await;
    let ids: Vec<String> = bed.store.tokens().await.unwrap().into_iter().map(|token| token.id).collect();
    assert_eq!(ids, ["earlier", "later"]);
}

async fn events_of_all_runs_come_in_the_order_in_which_they_were_written(bed: Bed) {
    assert_eq!(bed.store.last_position().await.unwrap(), 0);
    bed.send_one("a").await;
    bed.send_one("b").await;
    let between = bed.store.last_position().await.unwrap();
    let claimed = bed.claim(1, time(1)).await.remove(0).handoff;
    bed.apply(claimed.id.as_str(), report(claimed.fence, "done"), time(2)).await.unwrap();
    let told = |events: Vec<baton_engine::store::PositionedEvent>| -> Vec<String> {
        events.iter().map(|found| format!("{} {}", found.event.handoff, found.event.kind)).collect()
    };
    let all = bed.store.events_after(0, 10).await.unwrap();
    assert!(all.windows(2).all(|pair| pair[0].position < pair[1].position));
    assert_eq!(told(all.clone()), ["a accepted", "b accepted", "a claimed", "a reported"]);
    assert_eq!(all[1].event, bed.store.history(&all[1].event.run, 0, 1).await.unwrap()[0]);
    assert_eq!(told(bed.store.events_after(between, 10).await.unwrap()), ["a claimed", "a reported"]);
    assert_eq!(told(bed.store.events_after(0, 1).await.unwrap()), ["a accepted"]);
    let last = bed.store.last_position().await.unwrap();
    assert_eq!(bed.store.events_after(last, 10).await.unwrap(), []);
}
