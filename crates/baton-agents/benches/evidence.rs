//! What evidence costs: remembering and examining a workspace, beside the same with `git`, in the same run.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use baton_agents::evidence::LocalEvidence;
use baton_engine::StateFolder;
use baton_engine::evidence::{Evidence, Scene};
use baton_protocol::model::Report;
use baton_testbed::{Scratch, gauge};
use tokio::runtime::Runtime;

/// How often each is measured.
const ROUNDS: usize = 30;

fn main() {
    let runtime = Runtime::new().expect("a runtime");
    println!("median of {ROUNDS}                    remember   examine   remember, first time   git add, write-tree");
    for (files, bytes) in [(100, 5_000), (1_000, 5_000), (10_000, 5_000)] {
        measure(&runtime, files, bytes);
    }
}

fn measure(runtime: &Runtime, files: usize, bytes: usize) {
    let scratch = Scratch::new();
    for number in 0..files {
        scratch.write(format!("work/src/{}/file-{number}.rs", number % 20), vec![b'a' + (number % 26) as u8; bytes]);
    }
    let scene = Scene { workspace: scratch.path("work"), folder: scratch.path("attempt"), ..Scene::default() };
    scratch.folder(&scene.folder);
    git(&scene.workspace, &["init", "--quiet"], None);
    git(&scene.workspace, &["add", "--all"], None);
    git(&scene.workspace, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "first"], None);
    let report = Report { files_modified: vec!["src/0/file-0.rs".to_owned()], ..Report::default() };

    let mut scene = scene;
    let state = StateFolder::at(scratch.path("state"));
    let eyes = LocalEvidence::new([], state.clone());
    let (mut remember, mut examine, mut first, mut with_git) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        first.push(time(|| runtime.block_on(remembered(&LocalEvidence::new([], state.clone()), &mut scene))));
        remember.push(time(|| runtime.block_on(remembered(&eyes, &mut scene))));
        scratch.write("work/src/0/file-0.rs", format!("{round}").repeat(bytes));
        examine.push(time(|| _ = runtime.block_on(eyes.examine(&scene, &report))));
        let index = scratch.path("index");
        fs::copy(scene.workspace.join(".git/index"), &index).expect("copied");
        with_git.push(time(|| {
            git(&scene.workspace, &["add", "--all"], Some(&index));
            git(&scene.workspace, &["write-tree"], Some(&index));
        }));
    }
    let show = |durations: &[Duration]| format!("{:.2} ms", gauge::percentile(durations, 0.5).as_secs_f64() * 1e3);
    let [remember, examine, first, with_git] = [&remember, &examine, &first, &with_git].map(|times| show(times));
    println!("{files:>6} files of {bytes} bytes   {remember:>12} {examine:>9} {first:>22} {with_git:>21}");
}

/// Remembers how the workspace is, as a driver does that begins an attempt.
async fn remembered(eyes: &LocalEvidence, scene: &mut Scene) {
    scene.before = eyes.remember(&scene.workspace).await;
    scene.baseline = scene.before.as_ref().and_then(|before| before.digest.clone());
    eyes.keep(scene).await;
}

fn time(work: impl FnOnce()) -> Duration {
    let begin = Instant::now();
    work();
    begin.elapsed()
}

fn git(folder: &Path, arguments: &[&str], index: Option<&Path>) {
    let mut git = Command::new("git");
    git.current_dir(folder).args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null");
    git.envs(index.map(|index| ("GIT_INDEX_FILE", index)));
    assert!(git.output().expect("git runs").status.success());
}
