//! Files that reports name: kept once, within the room of their run, found by digest, and gone with the run.

use baton_engine::evidence::Content;
use baton_engine::handoff::Digest;
use baton_engine::store::KeptContents;

use super::bed::Bed;
use super::requests::{cancel, request_in, run, time};

on_every_store! {
    kept_file_is_found_by_its_digest,
    what_would_be_too_much_for_a_run_is_left_out,
    file_of_a_removed_run_is_gone_unless_another_run_has_it,
}

fn content(bytes: &[u8]) -> Content {
    Content { digest: Digest::of(bytes), bytes: bytes.to_vec() }
}

async fn found(bed: &Bed, name: &str, bytes: &[u8]) -> bool {
    let found = bed.store.content(&run(name), &Digest::of(bytes)).await.unwrap();
    assert!(found.as_deref().is_none_or(|found| found == bytes), "another file");
    found.is_some()
}

async fn kept_file_is_found_by_its_digest(bed: Bed) {
    let all: Vec<u8> = (0..=255).collect();
    let files = vec![content(b""), content(&all)];
    // A caller who lost the answer asks again.
    for _ in 0..2 {
        bed.store.keep_contents(&run("r"), files.clone(), 1024).await.unwrap();
    }
    assert!(found(&bed, "r", b"").await && found(&bed, "r", &all).await);
    assert!(!found(&bed, "r", b"another").await);
    assert!(!found(&bed, "s", &all).await, "it is kept for another run");
}

async fn what_would_be_too_much_for_a_run_is_left_out(bed: Bed) {
    let files = vec![content(&[1; 60]), content(&[2; 60]), content(&[3; 40])];
    let kept = KeptContents { digests: vec![Digest::of(&[1; 60]), Digest::of(&[3; 40])], room: 0 };
    // What is kept already takes no room, and is still told as kept.
    for _ in 0..2 {
        assert_eq!(bed.store.keep_contents(&run("r"), files.clone(), 100).await.unwrap(), kept);
    }
    assert!(found(&bed, "r", &[1; 60]).await && !found(&bed, "r", &[2; 60]).await && found(&bed, "r", &[3; 40]).await);
    // Another run has room of its own.
    let other = bed.store.keep_contents(&run("s"), vec![content(&[2; 60])], 100).await.unwrap();
    assert_eq!(other, KeptContents { digests: vec![Digest::of(&[2; 60])], room: 40 });
    assert!(found(&bed, "s", &[2; 60]).await);
}

async fn file_of_a_removed_run_is_gone_unless_another_run_has_it(bed: Bed) {
    bed.send([request_in("r", "a"), request_in("s", "b")], time(0)).await;
    for (name, files) in [("r", vec![content(b"mine"), content(b"ours")]), ("s", vec![content(b"ours")])] {
        bed.store.keep_contents(&run(name), files, 1024).await.unwrap();
    }
    bed.apply("a", cancel(), time(1)).await.unwrap();
    assert_eq!(bed.store.remove_run(&run("r"), time(9), time(100)).await.unwrap(), 1);
    assert!(!found(&bed, "r", b"mine").await && found(&bed, "s", b"ours").await);
}
