//! The verdict on folders: each handoff lies in exactly one of them, whole, with the answer that its doer was told of.

use std::collections::BTreeMap;
use std::fs;
use std::io;

use baton_agents::directory::{Directory, Folder, FolderHandoff};
use baton_testbed::Dice;
use serde_json::Value;

use crate::ledger::Ledger;

/// How many files are read at a glance.
const GLANCE: usize = 40;

/// What lies in the folders.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) completed: u64,
    pub(crate) artifacts: u64,
    pub(crate) retried: u64,
}

/// Reads some of what can be seen at this moment. All of it must be whole, at every moment. Returns how much was read.
pub(crate) fn glance(directory: &Directory, dice: &mut Dice) -> usize {
    let mut seen = 0;
    for folder in Folder::ALL {
        let names = names(directory, folder);
        for _ in 0..names.len().min(GLANCE) {
            let name = dice.pick(&names);
            let path = directory.folder(folder).join(name);
            let bytes = match fs::read(&path) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => panic!("{} cannot be read: {error}", path.display()),
            };
            let handoff = FolderHandoff::parse(&bytes);
            let handoff = handoff.unwrap_or_else(|fault| panic!("{} is not whole: {fault}", path.display()));
            assert_eq!(handoff.id(), name.strip_suffix(".json"), "{}", path.display());
            seen += 1;
        }
    }
    directory.artifacts().expect("the list of artifacts is whole");
    seen
}

/// Looks at everything, and panics if anything is not as it was said.
pub(crate) fn look(directory: &Directory, ledger: &Ledger) -> Found {
    let mut found = Found::default();
    let mut faults: Vec<String> = ledger.broken.clone();
    let listed = directory.artifacts().expect("the list of artifacts is whole");
    let listed: BTreeMap<&str, &str> =
        listed.iter().map(|entry| (entry.artifact_id.as_str(), entry.path.as_str())).collect();
    let mut places: BTreeMap<String, Vec<Folder>> = BTreeMap::new();
    for folder in Folder::ALL {
        for name in names(directory, folder) {
            places.entry(name.trim_end_matches(".json").to_owned()).or_default().push(folder);
        }
        let private = |name: &String| name.ends_with(".finishing");
        let left = all_names(directory, folder).into_iter().filter(private).collect::<Vec<_>>();
        if !left.is_empty() {
            faults.push(format!("{} holds {left:?} although nobody works any more", folder.as_str()));
        }
    }
    for id in &ledger.accepted {
        if places.get(id).map(Vec::as_slice) != Some(&[Folder::Completed]) {
            faults.push(format!("{id} was accepted, and lies in {:?}", places.get(id)));
        }
    }
    for (id, folders) in &places {
        if folders != &[Folder::Completed] {
            faults.push(format!("{id} lies in {folders:?}"));
            continue;
        }
        let path = directory.folder(Folder::Completed).join(format!("{id}.json"));
        let handoff = FolderHandoff::parse(&fs::read(&path).expect("it was listed")).expect("it is whole");
        found.completed += 1;
        found.retried += u64::from(handoff.retry_count());
        if !handoff.belongs_to(Folder::Completed) {
            faults.push(format!("{id} lies among the completed, but says {:?}", handoff.text(&["status"])));
        }
        match ledger.done.get(id) {
            Some(attempt) if *attempt != baton_engine::Fence(u64::from(handoff.attempt())) => {
                faults.push(format!("attempt {attempt} of {id} was done, but the answer is of {}", handoff.attempt()));
            }
            _ => {}
        }
        if let Some(artifact) = handoff.text(&["output", "artifact_id"]) {
            found.artifacts += 1;
            let path = handoff.text(&["output", "artifact_path"]).unwrap_or_default();
            if listed.get(artifact) != Some(&path) {
                faults.push(format!("the artifact {artifact} of {id} is not listed"));
            }
            let content = fs::read_to_string(directory.root().join(path)).unwrap_or_default();
            let content: Value = serde_json::from_str(&content).unwrap_or_default();
            if content["handoff"] != id.as_str() || content["attempt"] != handoff.attempt() {
                faults.push(format!("the artifact of {id} is {content}"));
            }
        }
    }
    for (id, attempt) in &ledger.late {
        if ledger.done.get(id) == Some(attempt) {
            faults.push(format!("attempt {attempt} of {id} was refused and done"));
        }
    }
    let count = faults.len();
    assert!(faults.is_empty(), "{count} faults, of which the first are {:#?}", &faults[..count.min(20)]);
    found
}

/// Lists the names that handoffs have in a folder.
fn names(directory: &Directory, folder: Folder) -> Vec<String> {
    let visible = |name: &String| name.ends_with(".json") && !name.starts_with('.');
    all_names(directory, folder).into_iter().filter(visible).collect()
}

fn all_names(directory: &Directory, folder: Folder) -> Vec<String> {
    let entries = fs::read_dir(directory.folder(folder)).expect("the folder is there");
    entries.map(|entry| entry.expect("a name").file_name().to_string_lossy().into_owned()).collect()
}
