//! Random work: an honest report is never refuted, and a report with one lie always is.

use std::collections::BTreeSet;

use baton_protocol::model::Report;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::stage::{Stage, modified, refuted, shown};

const FILES: [&str; 6] = ["a.txt", "b.txt", "deep/c.txt", "deep/er/d.txt", "deep/er/e.txt", "f with space.txt"];

/// What an agent does to one file.
#[derive(Debug, Clone, Copy)]
enum Deed {
    Write(u8),
    Remove,
    Commit,
}

fn deeds() -> impl Strategy<Value = Vec<(usize, Deed)>> {
    let deed = prop_oneof![4 => (0..4_u8).prop_map(Deed::Write), 1 => Just(Deed::Remove), 1 => Just(Deed::Commit)];
    prop::collection::vec((0..FILES.len(), deed), 0..8)
}

fn contents(stage: &Stage) -> Vec<Option<Vec<u8>>> {
    FILES.iter().map(|path| std::fs::read(stage.path(path)).ok()).collect()
}

fn work(stage: &Stage, deeds: &[(usize, Deed)], git: bool) {
    for (file, deed) in deeds {
        let path = FILES[*file];
        match deed {
            Deed::Write(content) => _ = stage.write(path, [b'0' + content]),
            Deed::Remove if stage.path(path).exists() => _ = stage.remove(path),
            Deed::Remove => {}
            Deed::Commit if git => {
                stage.git(&["add", "--all"]).git(&["commit", "--quiet", "--allow-empty", "--message", "work"]);
            }
            Deed::Commit => {}
        }
    }
}

fn named(changed: &BTreeSet<&str>) -> Report {
    modified(&changed.iter().copied().collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn honest_reports_stand_and_one_lie_is_enough(
        git: bool, before in deeds(), during in deeds(), lie: Index, kind in 0..4_u8,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut stage = if git { Stage::repository() } else { Stage::plain() };
            work(&stage, &before, git);
            let old = contents(&stage);
            stage.remember().await;
            work(&stage, &during, git);
            let new = contents(&stage);
            let differ = FILES.iter().zip(old.iter().zip(&new)).filter(|(_, (old, new))| old != new);
            let changed: BTreeSet<&str> = differ.map(|(path, _)| *path).collect();

            let honest = named(&changed);
            let examined = stage.examine(&honest).await;
            prop_assert_eq!(refuted(&examined), [""; 0], "{}", shown(&examined));

            let same: Vec<&str> = FILES.into_iter().filter(|path| !changed.contains(path)).collect();
            let (lying, rule) = match kind {
                0 if changed.len() > 1 => {
                    let mut fewer = changed.clone();
                    fewer.remove(changed.iter().nth(lie.index(changed.len())).unwrap());
                    (named(&fewer), "modified-not-declared")
                }
                1 if !same.is_empty() => {
                    let mut more = changed.clone();
                    more.insert(same[lie.index(same.len())]);
                    (named(&more), "file-not-modified")
                }
                2 => (Report { artifacts: crate::stage::artifacts(&["../f.txt"]), ..honest }, "artifact-outside-workspace"),
                _ => (Report { artifacts: crate::stage::artifacts(&["deep/none.txt"]), ..honest }, "artifact-missing"),
            };
            let examined = stage.examine(&lying).await;
            prop_assert_eq!(refuted(&examined), [rule], "{}", shown(&examined));
            Ok(())
        })?;
    }
}
