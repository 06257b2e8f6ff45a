//! `kill -9` at random moments: after `baton resume` the end is that of a run that nobody disturbed, and nothing that was
//! finished is done again.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use baton_engine::journal::{Event, Fact};
use baton_engine::lifecycle::Command;
use baton_engine::run::Run;
use baton_engine::step::Role;
use baton_engine::{HandoffId, State};
use baton_testbed::{Dice, Process};

use crate::site::{LONG, RUN, RUN_FLOW, Site, end};

/// The repository's examples.
const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");

/// A run is killed so often at most; then it may come to its end. The agents of the examples may fail five times.
const KILLS_MAX: u64 = 3;

/// What is the same however often a run was killed.
#[derive(Debug, PartialEq)]
struct EndState {
    /// Every handoff of the run but questions about attempts: where it ended, and what followed.
    handoffs: BTreeMap<String, String>,
    /// Every file of the workspace, without times.
    files: BTreeMap<String, String>,
}

impl EndState {
    fn of(site: &Site) -> EndState {
        let run = site.told();
        let phases = run.handoffs().filter(|tracked| tracked.step.role != Role::Run);
        let handoffs = phases.map(|tracked| {
            let report = tracked.report();
            let outcome = report.map(|report| format!("{:?} {:?}", report.outcome, report.verdict));
            let route = tracked.route.as_ref().map(|route| route.to.clone());
            (tracked.handoff.id.to_string(), format!("{} {outcome:?} {route:?}", tracked.handoff.state.name()))
        });
        let mut files = BTreeMap::new();
        collect(&site.scratch.path("workspace"), Path::new(""), &mut files);
        EndState { handoffs: handoffs.collect(), files }
    }
}

fn collect(root: &Path, below: &Path, files: &mut BTreeMap<String, String>) {
    let entries = fs::read_dir(root.join(below)).expect("a folder").map(|entry| entry.expect("an entry"));
    let mut entries: Vec<fs::DirEntry> = entries.collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = below.join(entry.file_name());
        let name = path.to_string_lossy().into_owned();
        // What git, Baton and the folder agents keep for themselves, and what Python makes of modules, is no result.
        let kept = [".git", ".baton", "handoffs", "context", "state", ".project/07-audit"].contains(&name.as_str());
        // What was being written when its writer was killed is swept away five minutes later.
        let no_result = ["__pycache__", "MANIFEST.yaml", "registry.json", ".tmp"];
        if kept || no_result.iter().any(|ending| name.ends_with(ending)) {
            continue;
        }
        match entry.file_type().expect("a type").is_dir() {
            true => collect(root, &path, files),
            false => {
                let bytes = fs::read(root.join(&path)).expect("a file");
                // A folder agent names what it makes after the attempt; only the last one counts.
                files.insert(without_attempt(&name), timeless(&String::from_utf8_lossy(&bytes)));
            }
        }
    }
}

/// Leaves out the number of the attempt, or its time, in `artifact-t.list.1-2.json`.
fn without_attempt(name: &str) -> String {
    let Some((stem, ending)) = name.rsplit_once('.') else { return name.to_owned() };
    match stem.rsplit_once('-') {
        Some((id, number)) if number.parse::<u64>().is_ok() => format!("{id}.{ending}"),
        _ => name.to_owned(),
    }
}

/// Replaces digits where a time or a duration stands, so that two runs can be compared.
fn timeless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_inclusive(|letter: char| letter.is_whitespace() || "\",;()".contains(letter)) {
        let digits = word.chars().filter(char::is_ascii_digit).count();
        let is_time = digits >= 3 && word.contains(['-', ':', '.', 'T']) || digits >= 6;
        match is_time {
            true => out.extend(word.chars().map(|letter| if letter.is_ascii_digit() { '0' } else { letter })),
            false => out.push_str(word),
        }
    }
    out
}

struct Example {
    name: &'static str,
    answers: PathBuf,
}

impl Example {
    fn of(name: &'static str) -> Example {
        Example { name, answers: Path::new(EXAMPLES).join(name).join("answers.yaml") }
    }

    fn begin(&self, site: &Site) -> Process {
        let flow = Path::new(EXAMPLES).join(self.name).to_string_lossy().into_owned();
        let answers = self.answers.to_string_lossy();
        site.start(&["run", &flow, "--workspace", "workspace", "--id", RUN, "--no-input", "--answers", &answers])
    }

    fn resume(&self, site: &Site) -> Process {
        let answers = self.answers.to_string_lossy();
        site.start(&["resume", RUN, "--no-input", "--answers", &answers])
    }

    /// Runs the example without disturbing it. Returns its end, and how long it took.
    fn undisturbed(&self) -> (EndState, Duration) {
        let (site, start) = (Site::new(), Instant::now());
        let mut process = self.begin(&site);
        process.close_input();
        let ended = end(&mut process);
        assert_eq!(ended.code, Some(0), "{}: {}", self.name, ended.stderr);
        (EndState::of(&site), start.elapsed())
    }

    /// Runs the example, kills it at random moments and resumes it until it is done.
    fn tortured(&self, dice: &mut Dice, usual: Duration) -> (Site, u64) {
        let site = Site::new();
        let mut process = self.begin(&site);
        let mut kills = 0;
        loop {
            process.close_input();
            let moment = Duration::from_millis(dice.below(1 + usual.as_millis() as u64));
            let limit = if kills < KILLS_MAX { moment } else { LONG };
            if process.wait(limit).is_some() {
                let ended = end(&mut process);
                assert_eq!(ended.code, Some(0), "{} after {kills} kills: {}", self.name, ended.stderr);
                return (site, kills);
            }
            process.kill();
            kills += 1;
            let accepted = site.store().exists() && !site.journal().is_empty();
            process = if accepted { self.resume(&site) } else { self.begin(&site) };
        }
    }
}

/// What must hold in the journal of a run that was killed.
fn assert_nothing_twice(run: &Run, events: &[Event]) {
    let mut finished: HashSet<&HandoffId> = HashSet::new();
    let mut replayed: Option<Run> = None;
    for event in events {
        let fact = event.fact().expect("a fact");
        if let Fact::Happened(Command::Claim(_)) = fact {
            assert!(!finished.contains(&event.handoff), "{} was begun again after it was finished", event.handoff);
        }
        match &mut replayed {
            None => replayed = Some(Run::begin(event).expect("a run")),
            Some(run) => run.absorb(event).expect("an event that fits"),
        }
        let state = &replayed.as_ref().and_then(|run| run.find(&event.handoff)).expect("it was accepted").handoff.state;
        if state.name().is_finished() {
            finished.insert(&event.handoff);
        }
    }
    for tracked in run.handoffs().filter(|tracked| tracked.step.role == Role::Work) {
        if matches!(tracked.handoff.state, State::Completed { .. }) {
            assert!(tracked.handoff.routed, "{} was left behind", tracked.handoff.id);
        }
    }
}

/// Kills runs of an example for as long as asked: once in tests, for minutes in a torture.
fn torture(name: &'static str, seed: u64) {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let minutes = number("BATON_TORTURE_MINUTES");
    let seed = number("BATON_TORTURE_SEED").unwrap_or_else(|| minutes.map_or(seed, |_| Dice::fresh().seed()));
    println!("{name}: runs are killed with seed {seed}");
    let mut dice = Dice::new(seed);
    let example = Example::of(name);
    let (expected, usual) = example.undisturbed();
    let (start, limit) = (Instant::now(), Duration::from_secs(60 * minutes.unwrap_or(0)));
    let (mut rounds, mut kills) = (0, 0);
    while rounds == 0 || start.elapsed() < limit {
        let (site, killed) = example.tortured(&mut dice, usual);
        let found = EndState::of(&site);
        assert_eq!(found.handoffs, expected.handoffs, "{name} with seed {seed}, round {rounds}, {killed} kills");
        assert_eq!(found.files, expected.files, "{name} with seed {seed}, round {rounds}, {killed} kills");
        assert_nothing_twice(&site.told(), &site.journal());
        let verified = site.baton(&["audit", "verify", RUN]);
        assert_eq!(verified.code, Some(0), "{name} with seed {seed}: {verified:?}");
        (rounds, kills) = (rounds + 1, kills + killed);
    }
    println!("{name}: {rounds} runs were killed {kills} times, and ended as they should");
}

#[test]
fn killed_run_of_integration_ends_like_an_undisturbed_one() {
    torture("integration", 1);
}

#[test]
fn killed_run_of_mcp_wrapper_ends_like_an_undisturbed_one() {
    torture("mcp-wrapper", 2);
}

#[test]
fn killed_run_of_web_agency_ends_like_an_undisturbed_one() {
    torture("web-agency", 3);
}

#[test]
fn killed_run_of_feature_ends_like_an_undisturbed_one() {
    torture("feature", 4);
}

#[test]
fn killed_run_of_react_ends_like_an_undisturbed_one() {
    torture("react", 5);
}

/// Returns the processes that were started for the run of a site and have not ended.
fn started_for(site: &Site) -> Vec<String> {
    let mark = format!("BATON_WORKSPACE={}\0", site.scratch.path("workspace").display());
    let processes =
        fs::read_dir("/proc").expect("it is there").filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let is_marked = |process: &String| {
        fs::read(format!("/proc/{process}/environ")).is_ok_and(|all| String::from_utf8_lossy(&all).contains(&mark))
    };
    processes.filter(|process| process.bytes().all(|byte| byte.is_ascii_digit())).filter(is_marked).collect()
}

#[test]
fn cage_whose_driver_was_killed_before_it_began_ends_with_the_resume() {
    // Bubblewrap's inner process waits for its outer one, which dies because nobody reads what it says about the cage.
    let kill_once = "#!/bin/sh\ncase \"$*\" in *--info-fd*)\n\
        if mkdir \"${0%/*}/killed\" 2>/dev/null; then kill -9 $PPID; fi;;\nesac\nexec /usr/bin/bwrap \"$@\"\n";
    let site = Site::with_git()
        .workflow("name: work\nagents: {dev: {command: [./dev.py], retry: {max_retries: 2, delay: 10m}}}\nphases: [{id: build, agent: dev}]\n")
        .agent("dev", "report()");
    site.scratch.write("bin/bwrap", kill_once);
    fs::set_permissions(site.scratch.path("bin/bwrap"), fs::Permissions::from_mode(0o755)).expect("our own file");
    let path = format!("{}:{}", site.scratch.path("bin").display(), std::env::var("PATH").expect("cargo sets it"));
    let mut driver = Process::spawn(site.command(&RUN_FLOW).env("PATH", path));
    driver.close_input();
    assert_eq!(end(&mut driver).code, None, "it was not killed");
    let resumed = site.resume(&[]);
    assert_eq!(resumed.code, Some(0), "what died with its driver is tried again at once: {}", resumed.stderr);
    assert_eq!(started_for(&site), Vec::<String>::new());
}
