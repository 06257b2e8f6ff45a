//! Files that are said to be made, and lines that are said to be read.

use std::fs;
use std::os::unix::fs::symlink;

use baton_engine::evidence::ClaimFinding;
use baton_protocol::model::findings::{FileCreated, TestsWritten, Write};
use baton_protocol::model::report::Output;
use baton_protocol::model::{PhaseFindings, Report};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::stage::{Stage, made, owned, refuted, shown};

#[tokio::test]
async fn made_files_are_seen_with_their_digest() {
    let stage = Stage::repository();
    let absolute = stage.path("docs/plan.md");
    let report = made(&["docs/plan.md", "src/", absolute.to_str().unwrap(), "https://example.org/a"]);
    let examined = stage.examine(&report).await;
    assert!(examined.iter().all(|one| one.verdict == ClaimFinding::Verified), "{}", shown(&examined));
    let paths: Vec<_> = examined.iter().map(|one| one.path.as_deref()).collect();
    assert_eq!(paths, [Some("docs/plan.md"), Some("src"), Some("docs/plan.md")]);
    let plan = Some("2d619c7869a25a069e8d9fe28202d200c8bef01cba077934e702217e8a678b59");
    assert_eq!([&examined[0], &examined[2]].map(|one| one.sha256.as_deref()), [plan, plan]);
    let folder = examined[1].sha256.clone();
    assert!(folder.is_some_and(|digest| digest.len() == 64 && Some(&*digest) != plan));
}

#[tokio::test]
async fn every_place_that_names_a_made_file_is_looked_at() {
    let mut stage = Stage::repository();
    let path = |path: &str| Some(path.to_owned());
    let write = Write {
        files_created: vec![FileCreated { path: path("b"), ..FileCreated::default() }],
        tests_written: vec![TestsWritten { path: path("c"), ..TestsWritten::default() }],
        ..Write::default()
    };
    let report = Report {
        output: Some(Output { artifact_path: path("a"), ..Output::default() }),
        findings: Some(PhaseFindings::Write(write)),
        ..made(&["d"])
    };
    let examined = stage.attempt(|_| {}, &report).await;
    assert_eq!(refuted(&examined), ["artifact-missing"; 4], "{}", shown(&examined));
}

#[tokio::test]
async fn what_is_missing_empty_or_outside_is_refuted() {
    let stage = Stage::repository();
    stage.scratch.write("secret.txt", "secret").folder(stage.path("empty"));
    stage.write("empty.md", "");
    symlink(stage.scratch.path("secret.txt"), stage.path("link.txt")).unwrap();
    symlink(stage.scratch.root(), stage.path("up")).unwrap();
    mknodat(CWD, stage.path("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let paths = ["none.md", "empty.md", "empty", "link.txt", "up/secret.txt", "../secret.txt", "/etc/passwd", "pipe"];
    let examined = stage.examine(&made(&paths)).await;
    insta::assert_snapshot!(shown(&examined), @"
    Refuted artifact-missing: claims to have made `none.md`, but it does not exist
    Refuted artifact-empty: claims to have made `empty.md`, but it is an empty file
    Refuted artifact-empty: claims to have made `empty`, but it is an empty folder
    Refuted artifact-outside-workspace: claims to have made `link.txt`, but it lies outside the workspace
    Refuted artifact-outside-workspace: claims to have made `up/secret.txt`, but it lies outside the workspace
    Refuted artifact-outside-workspace: claims to have made `../secret.txt`, but it lies outside the workspace
    Refuted artifact-outside-workspace: claims to have made `/etc/passwd`, but it lies outside the workspace
    Refuted artifact-missing: claims to have made `pipe`, but it cannot be read
    ");
}

#[tokio::test]
async fn folders_that_the_agent_was_given_count_as_inside() {
    let mut stage = Stage::repository();
    stage.scratch.write("elsewhere/log.txt", "log").write("out/report.md", "report").write("other/x.md", "x");
    stage.scene.folder = stage.scratch.path("elsewhere");
    stage.scene.output_directory = Some(stage.scratch.path("out"));
    let paths = ["elsewhere/log.txt", "out/report.md", "other/x.md"].map(|path| stage.scratch.path(path));
    let paths = paths.each_ref().map(|path| path.to_str().unwrap());
    let examined = stage.examine(&made(&paths)).await;
    assert_eq!(refuted(&examined), ["artifact-outside-workspace"], "{}", shown(&examined));
}

#[tokio::test]
async fn lines_must_exist() {
    let stage = Stage::repository();
    let sources = owned(&["src/quota.rs:1-40", "src/limits.rs", "src/quota.rs:30-42", "src/none.rs:1"]);
    let examined = stage.examine(&Report { source_files_verified: sources, ..Report::default() }).await;
    insta::assert_snapshot!(shown(&examined), @"
    Verified source-lines-missing: claims to have read `src/quota.rs:1-40`, and these lines exist
    Verified source-lines-missing: claims to have read `src/limits.rs`, and these lines exist
    Refuted source-lines-missing: claims to have read `src/quota.rs:30-42`, `src/quota.rs` has 40 lines, but line 42 is claimed
    Refuted source-lines-missing: claims to have read `src/none.rs:1`, `src/none.rs` does not exist in the workspace
    ");
}

#[tokio::test]
async fn workspace_that_is_gone_is_refuted() {
    let mut stage = Stage::plain();
    fs::remove_dir_all(&stage.scene.workspace).unwrap();
    let examined = stage.attempt(|_| {}, &Report::default()).await;
    assert_eq!(refuted(&examined), ["artifact-missing"]);
}
