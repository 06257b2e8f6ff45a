//! Changed files, with and without git, with others at work and over several attempts.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};

use baton_engine::StateFolder;
use baton_engine::evidence::{self, ClaimFinding, EarlierAttempt, Evidence as _};
use baton_protocol::model::Report;

use crate::stage::{Stage, made, modified, owned, refuted, rules_with, shown};

#[tokio::test]
async fn created_changed_and_deleted_files_are_told_apart() {
    for mut stage in [Stage::repository(), Stage::plain()] {
        let work = |stage: &Stage| _ = stage.write("new.rs", "new").write("src/quota.rs", "1").remove("src/limits.rs");
        let report = modified(&["./new.rs", "src/quota.rs", "src/limits.rs", "docs/plan.md", "none.rs"]);
        let examined = stage.attempt(work, &report).await;
        insta::allow_duplicates! { insta::assert_snapshot!(shown(&examined), @"
        Verified file-not-modified: `./new.rs` was created, as reported
        Verified file-not-modified: `src/quota.rs` was changed, as reported
        Verified file-not-modified: `src/limits.rs` was deleted, as reported
        Refuted file-not-modified: claims to have changed `docs/plan.md`, but `docs/plan.md` is unchanged
        Refuted file-not-modified: claims to have changed `none.rs`, but it does not exist, and did not before
        Verified modified-not-declared: every changed file is named, nothing else has changed
        "); }
        let examined = stage.examine(&modified(&["src/quota.rs"])).await;
        insta::allow_duplicates! { insta::assert_snapshot!(shown(&examined), @"
        Verified file-not-modified: `src/quota.rs` was changed, as reported
        Refuted modified-not-declared: `new.rs` was created, but the report does not name it
        Refuted modified-not-declared: `src/limits.rs` was deleted, but the report does not name it
        "); }
    }
}

#[tokio::test]
async fn touched_is_not_changed() {
    let mut stage = Stage::repository();
    let same = fs::read(stage.path("src/quota.rs")).unwrap();
    let examined = stage.attempt(|stage| _ = stage.write("src/quota.rs", same), &modified(&["src/quota.rs"])).await;
    assert_eq!(refuted(&examined), ["file-not-modified"], "{}", shown(&examined));
}

#[tokio::test]
async fn same_size_and_same_moment_are_still_a_change() {
    let mut stage = Stage::repository();
    for (before, after) in [("aaaa", "bbbb"), ("bbbb", "cccc"), ("cccc", "dddd")] {
        stage.write("src/quota.rs", before);
        let examined =
            stage.attempt(|stage| _ = stage.write("src/quota.rs", after), &modified(&["src/quota.rs"])).await;
        assert_eq!(refuted(&examined), [""; 0], "{}", shown(&examined));
    }
}

#[tokio::test]
async fn committed_work_is_work() {
    let work = |stage: &Stage| {
        stage.write("src/quota.rs", "committed").git(&["commit", "--quiet", "--all", "--message", "second"]);
    };
    let examined = Stage::repository().attempt(work, &modified(&["src/quota.rs"])).await;
    assert_eq!(refuted(&examined), [""; 0], "{}", shown(&examined));
}

#[tokio::test]
async fn what_was_dirty_before_is_not_held_against_the_agent() {
    let mut stage = Stage::repository();
    stage.write("src/limits.rs", "by a person").write("notes.txt", "by a person");
    let examined = stage.attempt(|stage| _ = stage.write("src/quota.rs", "1"), &modified(&["src/quota.rs"])).await;
    assert_eq!(refuted(&examined), [""; 0], "{}", shown(&examined));
    let examined = stage.examine(&modified(&["src/quota.rs", "notes.txt"])).await;
    assert_eq!(refuted(&examined), ["file-not-modified"], "{}", shown(&examined));
}

#[tokio::test]
async fn repository_stays_untouched() {
    let mut stage = Stage::repository();
    let listing = |stage: &Stage| {
        let walk = walk(&stage.path(".git"));
        walk.into_iter().map(|path| (fs::read(&path).unwrap(), path)).collect::<Vec<_>>()
    };
    let before = listing(&stage);
    stage.attempt(|stage| _ = stage.write("src/quota.rs", "1"), &modified(&["src/quota.rs"])).await;
    assert!(before == listing(&stage));
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect();
    paths.sort();
    paths
}

#[tokio::test]
async fn ignored_files_are_judged_by_their_time() {
    let mut stage = Stage::repository();
    stage.write("build/old.bin", "old").write("run.log", "old");
    // The clock of a file system moves in steps; an old file is older than that.
    for old in ["build/old.bin", "run.log"] {
        until_later_than(&stage, old);
    }
    let work = |stage: &Stage| {
        until_later_than(stage, stage.kept_baseline().to_str().unwrap());
        stage.write("build/new.bin", "new").write("run.log", "new");
    };
    let report = modified(&["build/new.bin", "run.log", "build/old.bin", "build/none.bin"]);
    let examined = stage.attempt(work, &report).await;
    insta::assert_snapshot!(shown(&examined), @"
    Verified file-not-modified: `build/new.bin` was changed, as reported
    Verified file-not-modified: `run.log` was changed, as reported
    Refuted file-not-modified: claims to have changed `build/old.bin`, but `build/old.bin` is unchanged
    Unverifiable file-not-modified: claims to have changed `build/none.bin`, which cannot be checked: it is ignored, and does not exist now
    Verified modified-not-declared: every changed file is named, nothing else has changed
    ");
}

/// Waits until the file system stamps files clearly later than this one.
fn until_later_than(stage: &Stage, path: &str) {
    let written = |path: &str| fs::metadata(stage.path(path)).unwrap().modified().unwrap();
    let old = written(path);
    stage.write(".baton/now", "now");
    while written(".baton/now").duration_since(old).unwrap_or_default().as_millis() < 100 {
        stage.write(".baton/now", "now");
    }
}

#[tokio::test]
async fn file_that_is_mapped_into_memory_is_read_again_although_its_time_stays() {
    let mut stage = Stage::repository();
    stage.remember().await;
    let mapped = "import mmap, sys
file = open('src/quota.rs', 'r+b')
memory = mmap.mmap(file.fileno(), 0)
memory[0] = memory[0]
print('mapped', flush=True)
sys.stdin.readline()
memory[:4] = b'EVIL'
";
    let mut agent = Command::new("python3");
    agent.args(["-c", mapped]).current_dir(&stage.scene.workspace).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut agent = agent.spawn().unwrap();
    let mut said = String::new();
    BufReader::new(agent.stdout.as_mut().unwrap()).read_line(&mut said).unwrap();
    until_later_than(&stage, "src/quota.rs");
    // Another attempt begins meanwhile.
    stage.eyes.remember(&stage.scene.workspace).await;
    agent.stdin.take().unwrap().write_all(b"go on\n").unwrap();
    assert!(agent.wait().unwrap().success());
    let examined = stage.examine(&modified(&[])).await;
    insta::assert_snapshot!(shown(&examined), @"Unverifiable modified-not-declared: `src/quota.rs` was changed, which the report does not name");
}

#[tokio::test]
async fn another_place_for_the_configuration_of_git_is_a_change() {
    let mut stage = Stage::repository();
    stage.scene.writes = Some(owned(&["src/**"]));
    let work = |stage: &Stage| _ = stage.write(".git/commondir", "../elsewhere").write("src/quota.rs", "1");
    let examined = stage.attempt(work, &modified(&["src/quota.rs"])).await;
    insta::assert_snapshot!(shown(&examined), @"
    Verified file-not-modified: `src/quota.rs` was changed, as reported
    Refuted modified-not-declared: `.git/commondir` was created, but the report does not name it
    Refuted writes-outside: `.git/commondir` was created, but only `src/**` may be written
    ");
}

#[tokio::test]
async fn report_without_a_list_claims_nothing_but_what_changed_is_named() {
    let mut stage = Stage::repository();
    let work = |stage: &Stage| _ = stage.write("src/quota.rs", "1").write("docs/new.md", "2");
    let examined = stage.attempt(work, &made(&["docs/new.md"])).await;
    insta::assert_snapshot!(shown(&examined), @"
    Verified artifact-missing: `docs/new.md` exists, 1 byte
    Unverifiable modified-not-declared: `src/quota.rs` was changed, which the report does not name
    ");
}

#[tokio::test]
async fn others_may_write_at_the_same_time() {
    let mut stage = Stage::repository();
    stage.scene.others_write = owned(&["docs/**", "src/limits.rs"]);
    let work =
        |stage: &Stage| _ = stage.write("src/quota.rs", "1").write("docs/plan.md", "2").write("src/limits.rs", "3");
    let sources = owned(&["src/limits.rs:1", "src/quota.rs"]);
    let report = Report { source_files_verified: sources, ..modified(&["src/quota.rs"]) };
    let examined = stage.attempt(work, &report).await;
    assert_eq!(refuted(&examined), [""; 0], "{}", shown(&examined));
    let open = ["modified-not-declared", "stale-base"];
    assert_eq!(rules_with(&examined, ClaimFinding::Unverifiable), open, "{}", shown(&examined));
    stage.scene.others_write.clear();
    let examined = stage.examine(&report).await;
    assert_eq!(refuted(&examined), ["modified-not-declared"; 2], "{}", shown(&examined));
    assert_eq!(rules_with(&examined, ClaimFinding::Unverifiable), [""; 0], "{}", shown(&examined));
}

#[tokio::test]
async fn what_baton_itself_keeps_in_the_workspace_is_nobodys_change() {
    let mut stage = Stage::repository();
    stage.scene.views = vec![stage.path("state/current.json"), stage.path(".project/sessions/t")];
    stage.scene.writes = Some(owned(&["src/**"]));
    let work = |stage: &Stage| {
        stage.write("src/quota.rs", "1").write("state/current.json", "2").write("state/.current.json.7.part", "3");
        stage.write(".project/sessions/t/handoffs/t.a.1.yaml", "4");
    };
    let examined = stage.attempt(work, &modified(&["src/quota.rs"])).await;
    assert_eq!(refuted(&examined), [""; 0], "{}", shown(&examined));
    stage.write("state/other.json", "5").write("state/.other.json.7.part", "6");
    let examined = stage.examine(&modified(&["src/quota.rs"])).await;
    let expected = ["modified-not-declared", "modified-not-declared", "writes-outside", "writes-outside"];
    assert_eq!(refuted(&examined), expected, "{}", shown(&examined));
}

#[tokio::test]
async fn phase_writes_only_where_it_may() {
    let mut stage = Stage::repository();
    stage.scene.writes = Some(owned(&["src/**"]));
    stage.scene.others_write = owned(&["docs/"]);
    stage.scene.output_directory = Some(stage.path("out"));
    let work =
        |stage: &Stage| _ = stage.write("src/quota.rs", "1").write("docs/plan.md", "2").write("out/report.md", "3");
    let examined = stage.attempt(work, &Report::default()).await;
    insta::assert_snapshot!(shown(&examined), @"
    Unverifiable writes-outside: `docs/plan.md` was changed, where only another agent may write
    Verified writes-outside: `src/quota.rs` was changed, where it may write
    Verified modified-not-declared: `out/report.md` was created, in the output directory
    ");
    stage.scene.is_caged = true;
    insta::assert_snapshot!(shown(&stage.examine(&Report::default()).await), @"
    Verified writes-outside: `docs/plan.md` was changed, by another agent: the cage lets this one write only `src/**`
    Verified writes-outside: `src/quota.rs` was changed, where it may write
    Verified modified-not-declared: `out/report.md` was created, in the output directory
    ");
    stage.scene.is_caged = false;
    stage.write("Cargo.toml", "new");
    let examined = stage.examine(&modified(&["src/quota.rs", "Cargo.toml"])).await;
    assert_eq!(refuted(&examined), ["writes-outside"], "{}", shown(&examined));
}

#[tokio::test]
async fn work_of_earlier_attempts_is_part_of_the_work() {
    let mut stage = Stage::repository();
    stage.attempt(|stage| _ = stage.write("src/quota.rs", "1"), &modified(&["src/quota.rs"])).await;
    let (folder, baseline) = (stage.scene.folder.clone(), stage.scene.baseline.clone());
    stage.scene.earlier = vec![EarlierAttempt { folder, baseline, is_own: true }];
    stage.scene.folder = stage.path(".baton/attempt-2");
    stage.scratch.folder(&stage.scene.folder);
    let both = modified(&["src/quota.rs", "src/limits.rs"]);
    let examined = stage.attempt(|stage| _ = stage.write("src/limits.rs", "2"), &both).await;
    assert_eq!(refuted(&examined), [""; 0], "{}", shown(&examined));
    let examined = stage.examine(&modified(&["src/limits.rs", "docs/plan.md"])).await;
    assert_eq!(refuted(&examined), ["file-not-modified"], "{}", shown(&examined));
}

#[tokio::test]
async fn links_and_modes_are_part_of_the_work() {
    let mut stage = Stage::repository();
    let work = |stage: &Stage| {
        fs::set_permissions(stage.path("src/quota.rs"), fs::Permissions::from_mode(0o755)).unwrap();
        symlink("/etc", stage.path("etc")).unwrap();
    };
    let examined = stage.attempt(work, &modified(&["src/quota.rs", "etc", "etc/passwd", "/etc/passwd"])).await;
    insta::assert_snapshot!(shown(&examined), @"
    Verified file-not-modified: `src/quota.rs` was changed, as reported
    Unverifiable file-not-modified: `etc` was created, as reported; whether it is still the same after an approval cannot be checked: it points outside the workspace
    Refuted artifact-outside-workspace: claims to have changed `etc/passwd`, but it lies outside the workspace
    Refuted artifact-outside-workspace: claims to have changed `/etc/passwd`, but it lies outside the workspace
    Verified modified-not-declared: every changed file is named, nothing else has changed
    ");
}

#[tokio::test]
async fn lines_that_the_agent_has_removed_may_have_been_read() {
    let mut stage = Stage::repository();
    let sources = owned(&["src/quota.rs:1-40", "src/limits.rs:1", "docs/plan.md:1-3"]);
    let report = Report { source_files_verified: sources, ..modified(&["src/quota.rs", "src/limits.rs"]) };
    let work = |stage: &Stage| _ = stage.write("src/quota.rs", "short").remove("src/limits.rs");
    let examined = stage.attempt(work, &report).await;
    assert_eq!(refuted(&examined), ["source-lines-missing"], "{}", shown(&examined));
    assert_eq!(rules_with(&examined, ClaimFinding::Unverifiable), ["source-lines-missing"; 2], "{}", shown(&examined));
}

#[tokio::test]
async fn workspace_may_lie_in_an_ignored_folder_of_a_repository() {
    for ignored in ["work/", "/work", "*"] {
        let mut stage = Stage::plain();
        stage.scratch.write(".gitignore", format!("{ignored}\n")).folder(".git");
        let work = |stage: &Stage| _ = stage.write("src/quota.rs", "1").write("src/limits.rs", "2");
        let examined = stage.attempt(work, &modified(&["src/quota.rs", "docs/plan.md"])).await;
        assert_eq!(
            refuted(&examined),
            ["file-not-modified", "modified-not-declared"],
            "{ignored}:\n{}",
            shown(&examined)
        );
    }
}

#[tokio::test]
async fn workspace_may_be_reached_through_a_link() {
    let mut stage = Stage::repository();
    symlink(&stage.scene.workspace, stage.scratch.path("link")).unwrap();
    stage.scene.workspace = stage.scratch.path("link");
    stage.scene.folder = stage.path("attempt");
    stage.scratch.folder(&stage.scene.folder);
    let path = stage.path("src/quota.rs");
    let work = |stage: &Stage| _ = stage.write("src/quota.rs", "1");
    let examined = stage.attempt(work, &modified(&[path.to_str().unwrap()])).await;
    assert!(examined.iter().all(|one| one.verdict == ClaimFinding::Verified), "{}", shown(&examined));
}

#[tokio::test]
async fn agent_finds_nothing_in_the_workspace_that_it_is_measured_with() {
    let mut stage = Stage::repository();
    let work = |stage: &Stage| {
        stage.write("src/quota.rs", "1");
        let attempt = &stage.scene.folder;
        let names = fs::read_dir(attempt).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(names.collect::<Vec<_>>(), [""; 0]);
        fs::remove_dir_all(stage.path(".baton")).unwrap();
        fs::create_dir_all(attempt).unwrap();
        stage.write(".baton/attempt-1/baseline.json", "{}");
    };
    let examined = stage.attempt(work, &modified(&["src/limits.rs"])).await;
    assert_eq!(refuted(&examined), ["file-not-modified", "modified-not-declared"], "{}", shown(&examined));
}

#[tokio::test]
async fn baseline_survives_the_process() {
    let mut stage = Stage::repository();
    stage.remember().await;
    stage.write("src/quota.rs", "1");
    let state = StateFolder::at(stage.scratch.path("state"));
    (stage.eyes, stage.scene.before) = (baton_agents::evidence::LocalEvidence::new([], state), None);
    assert_eq!(refuted(&stage.examine(&modified(&["src/quota.rs"])).await), [""; 0]);
    fs::write(stage.kept_baseline(), "{").unwrap();
    let examined = stage.examine(&modified(&["src/quota.rs"])).await;
    assert!(examined.iter().all(|one| one.verdict == ClaimFinding::Unverifiable), "{}", shown(&examined));
}

#[tokio::test]
async fn rewritten_baseline_is_as_good_as_none_and_a_person_must_look() {
    let mut stage = Stage::repository();
    stage.scene.writes = Some(owned(&["docs/**"]));
    stage.remember().await;
    stage.write("src/quota.rs", "1");
    let path = stage.kept_baseline();
    let kept = fs::read_to_string(&path).unwrap();
    fs::write(&path, kept.replace("src/quota.rs", "src/other.rs")).unwrap();
    // Whoever began the attempt has it in memory; another process has only the file.
    assert_eq!(refuted(&stage.examine(&Report::default()).await), ["writes-outside"]);
    stage.scene.before = None;
    insta::assert_snapshot!(shown(&stage.examine(&Report::default()).await), @"Unverifiable writes-outside: whether anything outside `docs/**` was changed cannot be checked, the earlier state of the workspace is not known (a person must look)");
    // Without anything in the journal the file proves nothing either.
    fs::write(&path, kept).unwrap();
    assert_eq!(refuted(&stage.examine(&Report::default()).await), ["writes-outside"]);
    stage.scene.baseline = None;
    assert!(stage.examine(&Report::default()).await[0].asks_person);
}

#[tokio::test]
async fn what_an_earlier_attempt_did_is_undone_or_a_person_must_look() {
    let mut stage = Stage::repository();
    stage.scene.writes = Some(owned(&["docs/**"]));
    let examined = stage.attempt(|stage| _ = stage.write("src/quota.rs", "1"), &Report::default()).await;
    assert_eq!(refuted(&examined), ["writes-outside"], "{}", shown(&examined));
    let (folder, baseline) = (stage.scene.folder.clone(), stage.scene.baseline.clone());
    stage.scene.earlier = vec![EarlierAttempt { folder, baseline, is_own: true }];
    stage.scene.folder = stage.path(".baton/attempt-2");
    stage.scratch.folder(&stage.scene.folder);
    let planned = modified(&["docs/plan.md"]);
    let unclear = stage.attempt(|stage| _ = stage.write("docs/plan.md", "2"), &planned).await;
    insta::assert_snapshot!(shown(&unclear), @"
    Verified file-not-modified: `docs/plan.md` was changed, as reported
    Unverifiable writes-outside: `src/quota.rs` was changed, since the first attempt; it is not clear by whom (a person must look)
    ");
    // What an earlier report was refuted for is not made good by leaving it there.
    stage.scene.refuted.add(&examined);
    let examined = stage.examine(&planned).await;
    assert_eq!(refuted(&examined), ["writes-outside"], "{}", shown(&examined));
    assert!(!examined.iter().any(|seen| seen.asks_person), "{}", shown(&examined));
    stage.write("src/quota.rs", "fn quota() {}\n".repeat(40));
    let examined = stage.examine(&Report::default()).await;
    // That nothing else was written, and the file that was.
    assert_eq!(rules_with(&examined, ClaimFinding::Verified), ["writes-outside"; 2], "{}", shown(&examined));
}

#[tokio::test]
async fn each_of_many_surprises_is_identified_and_the_reasons_count_them() {
    let mut stage = Stage::plain();
    let work = |stage: &Stage| (0..30).for_each(|number| _ = stage.write(&format!("surprise-{number}"), "x"));
    let examined = stage.attempt(work, &modified(&["src/quota.rs"])).await;
    let surprises = examined.iter().filter(|seen| seen.rule == "modified-not-declared" && seen.sha256.is_some());
    assert_eq!(surprises.count(), 30, "{}", shown(&examined));
    let reasons = evidence::refuted(&examined).expect("refuted");
    assert_eq!(reasons.lines().filter(|line| line.starts_with("modified-not-declared: `surprise-")).count(), 20);
    assert!(reasons.ends_with("\nmodified-not-declared: and 10 more like these"), "{reasons}");
}

#[tokio::test]
async fn package_must_name_every_file_that_was_made() {
    let mut stage = Stage::repository();
    stage.scene.names_new_files = true;
    let work =
        |stage: &Stage| _ = stage.write("docs/plan.md", "2").write("undeclared.txt", "3").write("src/quota.rs", "4");
    let examined = stage.attempt(work, &made(&["docs/plan.md"])).await;
    // What was only changed need not be named: a package has no place for it.
    assert_eq!(refuted(&examined), ["modified-not-declared"], "{}", shown(&examined));
    assert!(shown(&examined).contains("`undeclared.txt` was created"), "{}", shown(&examined));
    let examined = stage.examine(&made(&["docs/plan.md", "undeclared.txt"])).await;
    assert_eq!(refuted(&examined), [""; 0], "{}", shown(&examined));
}

#[tokio::test]
async fn what_the_cage_kept_from_the_agent_was_somebody_else() {
    let mut stage = Stage::repository();
    stage.scene.writes = Some(owned(&["docs/*.md"]));
    stage.scene.others_write = owned(&["**"]);
    let work = |stage: &Stage| _ = stage.write("src/quota.rs", "1").write("docs/notes.txt", "2");
    let examined = stage.attempt(work, &Report::default()).await;
    assert!(examined.iter().filter(|one| one.asks_person).all(|one| one.claim.contains("src/quota.rs")));
    stage.scene.is_caged = true;
    // A folder that was not there cannot be the only one that may be written.
    stage.scene.writes = Some(owned(&["new/**"]));
    let examined = stage.examine(&Report::default()).await;
    assert!(examined.iter().any(|one| one.asks_person && one.claim.contains("src/quota.rs")), "{}", shown(&examined));
    stage.scene.writes = Some(owned(&["docs/*.md"]));
    insta::assert_snapshot!(shown(&stage.examine(&Report::default()).await), @"
    Unverifiable writes-outside: `docs/notes.txt` was created, whether anything outside `docs/*.md` was changed cannot be checked: another agent may write it, too (a person must look)
    Verified writes-outside: `src/quota.rs` was changed, by another agent: the cage lets this one write only `docs/*.md`
    ");
}
