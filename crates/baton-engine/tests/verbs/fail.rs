//! Saying that an attempt has failed.

use baton_engine::failure::{Code, Failure, Transience};
use baton_engine::handoff::StateName;
use baton_engine::lifecycle::Refusal;

use crate::bed::{Bed, person, refused};

fn failure(chance: Transience) -> Failure {
    Failure { chance, ..Failure::new(Code::timeout(), "too slow") }
}

#[tokio::test]
async fn a_transient_failure_is_tried_again_and_a_permanent_one_is_not() {
    let bed = Bed::new();
    let claimed = bed.claimed().await;
    let fail =
        async |fence, chance| bed.engine.fail(&claimed, fence, failure(chance), None, Vec::new(), &person()).await;
    let pending = fail(claimed.fence, Transience::Transient).await.unwrap().handoff;
    assert_eq!(
        (pending.state.name(), pending.last_failure),
        (StateName::Pending, Some(failure(Transience::Transient)))
    );
    bed.clock.advance(std::time::Duration::from_secs(3600));
    let again = bed.claim("finder").await;
    let given_up = fail(again.fence, Transience::Permanent).await.unwrap().handoff;
    assert_eq!(given_up.state.name(), StateName::Failed);
}

#[tokio::test]
async fn only_the_holder_can_say_that_it_failed() {
    let bed = Bed::new();
    let claimed = bed.claimed().await;
    let given = claimed.fence.next();
    let problem = bed
        .engine
        .fail(&claimed, given, failure(Transience::Permanent), None, Vec::new(), &person())
        .await
        .unwrap_err();
    assert_eq!(problem, refused(&claimed, Refusal::NeverGiven { given }, StateName::Claimed));
    assert_eq!(bed.find(&claimed).await, claimed);
}

#[tokio::test]
async fn the_same_failure_again_is_harmless_and_another_one_is_late_and_journalled() {
    let bed = Bed::new();
    let claimed = bed.claimed().await;
    let fail = async |failure| bed.engine.fail(&claimed, claimed.fence, failure, None, Vec::new(), &person()).await;
    let failed = fail(failure(Transience::Permanent)).await.unwrap();
    let again = fail(failure(Transience::Permanent)).await.unwrap();
    assert_eq!((failed.repeated, again.repeated, again.handoff), (false, true, failed.handoff));
    let over = Refusal::Over { given: claimed.fence, state: StateName::Failed };
    let other = fail(Failure::new(Code::rejected(), "no")).await.unwrap_err();
    assert_eq!(other, refused(&claimed, over, StateName::Failed));
    assert_eq!(bed.kinds(&claimed).await, ["accepted", "claimed", "failed", "refused"]);
}
