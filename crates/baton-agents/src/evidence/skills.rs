//! Skills: those that had to be used were, and those that a report names were really called.

use std::path::Path;

use baton_engine::evidence::{ClaimFinding, ExaminedClaim, Scene, Transcript};
use baton_protocol::model::Report;
use baton_protocol::rules::{Rule, skill_missing, skill_unproven};
use baton_protocol::wire::same_word;

use super::checks::is_finished;
use super::entry::{refuted, unverifiable, verified};
use super::ignore_rules::open;
use super::snapshot::hash;
use super::transcript::{Call, Coverage, each_call};

/// Looks at the skills of a report.
pub(super) fn examine(scene: &Scene, report: &Report) -> Vec<ExaminedClaim> {
    let invoked: Vec<&str> = spoken(&report.skills_invoked);
    let read: Vec<&str> = spoken(&report.library_skills_read);
    let mandatory: Vec<&str> = if is_finished(report) { spoken(&scene.mandatory_skills) } else { Vec::new() };
    if invoked.is_empty() && read.is_empty() && mandatory.is_empty() {
        return Vec::new();
    }
    let seen = Seen::look(scene, [&invoked, &read, &mandatory]);
    let listed = |skill: &str| {
        invoked.iter().any(|invoked| same_skill(skill, invoked)) || read.iter().any(|path| is_library(path, skill))
    };
    let invoked = invoked.iter().enumerate().filter_map(|(index, skill)| {
        let claimed = seen.claimed(seen.calls[0][index], format!("claims to have invoked the skill `{skill}`"));
        // That a mandatory skill is named says the same. What is refuted is told under both rules: each may be allowed alone.
        let is_told =
            claimed.verdict != ClaimFinding::Refuted && mandatory.iter().any(|other| same_skill(other, skill));
        (!is_told).then_some(claimed)
    });
    let read = read.iter().enumerate().map(|(index, skill)| {
        let claim = format!("claims to have read the library skill `{skill}`");
        match seen.calls[1][index] {
            false if seen.source == Source::Session && !is_noticed(skill) => unverifiable(
                &skill_unproven::RULE,
                claim,
                "but its session shows only files that are named like skills",
            ),
            called => seen.claimed(called, claim),
        }
    });
    let required = mandatory.iter().enumerate().map(|(index, skill)| seen.mandatory(index, skill, listed(skill)));
    required.chain(invoked).chain(read).collect()
}

fn spoken(names: &[String]) -> Vec<&str> {
    names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()).collect()
}

/// What can be seen of skills: for each list of them, which were used.
struct Seen {
    calls: [Vec<bool>; 3],
    source: Source,
}

/// What shows which skills were used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// What the program itself reported while it worked.
    Session,
    /// The transcript.
    Transcript(Coverage),
    /// A transcript that somebody has changed since the agent ended.
    ChangedTranscript,
    /// Nothing.
    Nothing,
}

impl Seen {
    /// Looks for all skills: invoked, read from the library, mandatory.
    fn look(scene: &Scene, skills: [&[&str]; 3]) -> Self {
        let mut calls = skills.map(|skills| vec![false; skills.len()]);
        if let Some(seen) = &scene.skills {
            for (list, (skills, calls)) in skills.iter().zip(&mut calls).enumerate() {
                for (skill, called) in skills.iter().zip(calls) {
                    *called = seen.iter().any(|seen| is_seen(seen, skill, list == 1));
                }
            }
            return Seen { calls, source: Source::Session };
        }
        let visit = |call: &Call| {
            for (list, (skills, calls)) in skills.iter().zip(&mut calls).enumerate() {
                for (skill, called) in skills.iter().zip(calls) {
                    *called |= if list == 1 { reads(call, skill) } else { invokes(call, skill) };
                }
            }
        };
        let Some(transcript) = &scene.transcript else { return Seen { calls, source: Source::Nothing } };
        let source = match each_call(Path::new(&transcript.path), visit) {
            Ok(_) if !is_as_it_was(transcript) => Source::ChangedTranscript,
            Ok(coverage) => Source::Transcript(coverage),
            Err(_) => Source::Nothing,
        };
        Seen { calls, source }
    }

    /// A skill that is only named in the report is a claim; it is verified if it was seen.
    fn mandatory(&self, index: usize, skill: &str, listed: bool) -> ExaminedClaim {
        let rule: &Rule = &skill_missing::RULE;
        let named = if listed { "named in the report" } else { "not named in the report" };
        let claim = format!("mandatory skill `{skill}`: {named}");
        match (self.source, self.calls[2][index], listed) {
            (Source::ChangedTranscript, _, _) => refuted(rule, claim, CHANGED),
            (Source::Session, true, true) => verified(rule, claim, "and seen in its session"),
            (Source::Session, true, false) => verified(rule, claim, "but seen in its session"),
            (Source::Session, false, true) => refuted(rule, claim, "but not seen in its session"),
            (Source::Session, false, false) => refuted(rule, claim, "and not seen in its session"),
            (_, true, true) => verified(rule, claim, "and the transcript shows it"),
            (_, true, false) => verified(rule, claim, "but the transcript shows it"),
            (Source::Transcript(Coverage::Whole), false, true) => {
                refuted(rule, claim, "but the transcript shows no such call")
            }
            (_, false, false) => refuted(rule, claim, ""),
            (_, false, true) => unverifiable(rule, claim, self.unseen()),
        }
    }

    fn claimed(&self, called: bool, claim: String) -> ExaminedClaim {
        let rule: &Rule = &skill_unproven::RULE;
        match (self.source, called) {
            (Source::ChangedTranscript, _) => refuted(rule, claim, CHANGED),
            (Source::Session, true) => verified(rule, claim, "and it was seen in its session"),
            (Source::Session, false) => refuted(rule, claim, "but it was not seen in its session"),
            (_, true) => verified(rule, claim, "and the transcript shows it"),
            (Source::Transcript(Coverage::Whole), false) => {
                refuted(rule, claim, "but the transcript shows no such call")
            }
            (_, false) => unverifiable(rule, claim, self.unseen()),
        }
    }

    /// Returns why it cannot be verified.
    fn unseen(&self) -> &'static str {
        match self.source {
            Source::Transcript(Coverage::Part) => "but parts of the transcript cannot be read",
            Source::Transcript(_) => "but Baton cannot read its transcript",
            Source::Session | Source::ChangedTranscript | Source::Nothing => "but nothing shows which skills it used",
        }
    }
}

const CHANGED: &str = "but the transcript has changed since the agent ended";

/// Returns whether a session would show that a file was read: of most files nobody takes notice.
fn is_noticed(skill: &str) -> bool {
    !skill.contains('/') || skill.to_lowercase().contains("skill")
}

/// Returns whether what a program showed, a name or a path, is a skill that was invoked or read from the library.
fn is_seen(seen: &str, skill: &str, from_library: bool) -> bool {
    same_skill(seen, skill) || is_library(seen, skill) || (from_library && is_path_of(seen, skill))
}

/// Returns whether a transcript is as it was when its agent had ended.
fn is_as_it_was(transcript: &Transcript) -> bool {
    let sha256 = open(Path::new(&transcript.path)).and_then(hash);
    sha256.is_ok_and(|sha256| sha256 == transcript.sha256)
}

fn invokes(call: &Call, skill: &str) -> bool {
    matches!(call, Call::Skill(called) if same_skill(called, skill))
}

/// Returns whether two names mean one skill; what comes before a colon is where it comes from.
fn same_skill(one: &str, another: &str) -> bool {
    let own = |name: &'_ str| -> String {
        let name = name.rsplit(':').next().unwrap_or(name);
        name.trim_start_matches('/').to_owned()
    };
    same_word(one, another) || same_word(&own(one), &own(another))
}

/// Returns whether a call reads a skill of the library: by the tool, through the shell, or as a skill.
fn reads(call: &Call, skill: &str) -> bool {
    match call {
        Call::Read(path) => is_path_of(path, skill),
        Call::Command(command) => command.contains(skill.trim_start_matches("./")),
        Call::Skill(called) => is_library(skill, called),
    }
}

/// Returns whether a path leads to a skill, which is named by the end of its path or by its folder alone.
fn is_path_of(path: &str, skill: &str) -> bool {
    let skill = skill.trim_start_matches("./").trim_end_matches('/');
    let folder = path.strip_suffix("/SKILL.md").unwrap_or(path);
    let ends = |path: &str| path == skill || path.strip_suffix(skill).is_some_and(|before| before.ends_with('/'));
    ends(path) || ends(folder) || is_library(path, skill)
}

/// Returns whether a path or name of the library is that of a skill with this name.
fn is_library(path: &str, name: &str) -> bool {
    let folder = path.strip_suffix("/SKILL.md").unwrap_or(path);
    let own = folder.rsplit('/').next().unwrap_or(folder);
    same_skill(own.strip_suffix(".md").unwrap_or(own), name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn library_skills_are_found_by_path_and_by_name() {
        let path = "/home/a/p/.claude/skill-library/dev/integrating-with-shodan/SKILL.md";
        let read = Call::Read(path.to_owned());
        for skill in [
            ".claude/skill-library/dev/integrating-with-shodan/SKILL.md",
            "./.claude/skill-library/dev/integrating-with-shodan/",
            "integrating-with-shodan",
        ] {
            assert!(reads(&read, skill), "{skill}");
        }
        for skill in ["shodan", "with-shodan", "other/SKILL.md", "dev"] {
            assert!(!reads(&read, skill), "{skill}");
        }
        assert!(reads(&Call::Command("cat lib/a-skill/SKILL.md".to_owned()), "lib/a-skill/SKILL.md"));
    }

    #[test]
    fn skills_have_one_name_with_many_spellings() {
        assert!(same_skill("superpowers:writing-plans", "writing_plans") && same_skill("/commit", "commit"));
        assert!(!same_skill("writing-plans", "executing-plans"));
    }
}
