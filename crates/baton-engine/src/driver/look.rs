//! Looking at the files that people decide about: before they are asked, and once more after they have approved.

use std::path::PathBuf;
use std::sync::Arc;

use super::attempt::{Finished, SeenReport, gate_checks};
use crate::evidence::{self, Evidence, ExaminedClaim, KeptBytes, Scene};
use crate::flow::GateLine;

/// Looks at files of a workspace.
pub(super) struct FileLook {
    pub(super) evidence: Arc<dyn Evidence>,
    pub(super) workspace: PathBuf,
    /// What Baton itself keeps in the workspace.
    pub(super) views: Vec<PathBuf>,
    /// How much is kept of files.
    pub(super) room: KeptBytes,
}

impl FileLook {
    /// Looks at the files of a gate, as a person will be asked about them.
    ///
    /// The commands of an auto gate are run first: they may change the files.
    pub(super) async fn before_asking(self, lines: Vec<GateLine>, scene: Option<Scene>) -> Finished {
        let mut own = match &scene {
            Some(scene) => gate_checks(&*self.evidence, scene).await,
            None => Vec::new(),
        };
        let path = |line: &GateLine| match line {
            GateLine::File(file) => file.examined.path.clone(),
            GateLine::Left { path, .. } => Some(path.clone()),
            GateLine::Seen(_) => None,
        };
        let paths: Vec<String> = lines.iter().filter_map(path).collect();
        // A file that a report names is told with what has become of it.
        own.retain(|seen| seen.path.as_ref().is_none_or(|path| !paths.contains(path)));
        let looked = self.evidence.identify(&self.workspace, &self.views, paths).await;
        let (mut now, fault) = match looked {
            Ok(now) => (now.into_iter(), None),
            Err(why) => (Vec::new().into_iter(), Some(evidence::unseen(&why.to_string()))),
        };
        let tell = |line| match line {
            GateLine::Seen(examined) => Some(examined),
            GateLine::File(file) => now.next().map(|now| evidence::when_asked(&file, &now)),
            GateLine::Left { phase, path } => now.next().map(|now| evidence::left(&phase, path, &now)),
        };
        let examined = lines.into_iter().filter_map(tell).chain(fault).chain(own).collect();
        self.seen(examined).await
    }

    /// Looks once more at files that a person has approved.
    pub(super) async fn after_approval(self, examined: Vec<ExaminedClaim>) -> Finished {
        let paths = examined.iter().filter_map(|seen| seen.path.clone()).collect();
        let changed = match self.evidence.identify(&self.workspace, &self.views, paths).await {
            Ok(now) => evidence::after_approval(&examined, &now),
            Err(why) => {
                let rest = examined.into_iter().filter(|seen| seen.path.is_none());
                Some(rest.chain([evidence::unseen(&why.to_string())]).collect())
            }
        };
        match changed {
            Some(examined) => self.seen(examined).await,
            None => Finished::Looked(None),
        }
    }

    async fn seen(self, examined: Vec<ExaminedClaim>) -> Finished {
        let contents = self.evidence.contents(&self.workspace, &self.views, &examined, self.room).await;
        Finished::Looked(Some(SeenReport { examined, contents, kept: Vec::new() }))
    }
}
