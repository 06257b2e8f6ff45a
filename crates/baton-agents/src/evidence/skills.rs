//! Skills: those that had to be used were, and those that a report names were really called.

use std::path::Path;

use baton_engine::evidence::{ExaminedClaim, Scene, Transcript};
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
    let mandatory = mandatory.iter().enumerate().map(|(index, skill)| seen.mandatory(index, skill, listed(skill)));
    let invoked = invoked.iter().enumerate().map(|(index, skill)| {
        seen.claimed(seen.calls[0][index], format!("claims to have invoked the skill `{skill}`"))
    });
    let read = read.iter().enumerate().map(|(index, skill)| {
        seen.claimed(seen.calls[1][index], format!("claims to have read the library skill `{skill}`"))
    });
    mandatory.chain(invoked).chain(read).collect()
}

fn spoken(names: &[String]) -> Vec<&str> {
    names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()).collect()
}

/// What the transcript shows: for each list of skills, which were called.
struct Seen {
    calls: [Vec<bool>; 3],
    coverage: Option<Coverage>,
    /// Whether somebody has changed it since the agent had ended.
    changed: bool,
}

impl Seen {
    /// Reads the transcript once and looks for all skills: invoked, read from the library, mandatory.
    fn look(scene: &Scene, skills: [&[&str]; 3]) -> Self {
        let mut calls = skills.map(|skills| vec![false; skills.len()]);
        let visit = |call: Call<'_>| {
            for (list, (skills, calls)) in skills.iter().zip(&mut calls).enumerate() {
                for (skill, called) in skills.iter().zip(calls) {
                    *called |= if list == 1 { reads(call, skill) } else { invokes(call, skill) };
                }
            }
        };
        let transcript = scene.transcript.as_ref();
        let path = transcript.map(|transcript| Path::new(&transcript.path));
        let coverage = path.and_then(|path| each_call(path, visit).ok());
        let changed = transcript.is_some_and(|transcript| !is_as_it_was(transcript));
        Seen { calls, coverage, changed }
    }

    fn mandatory(&self, index: usize, skill: &str, listed: bool) -> ExaminedClaim {
        let rule: &Rule = &skill_missing::RULE;
        let claim = |seen| format!("mandatory skill `{skill}`: {seen}");
        match (listed, self.calls[2][index] && !self.changed) {
            (true, _) => verified(rule, claim("named in the report"), ""),
            (false, true) => verified(rule, claim("not named in the report"), "but the transcript shows it"),
            (false, false) => refuted(rule, claim("not named in the report"), ""),
        }
    }

    fn claimed(&self, called: bool, claim: String) -> ExaminedClaim {
        let rule: &Rule = &skill_unproven::RULE;
        match (called, self.coverage) {
            _ if self.changed => refuted(rule, claim, "but the transcript has changed since the agent ended"),
            (true, _) => verified(rule, claim, "and the transcript shows it"),
            (false, Some(Coverage::Whole)) => refuted(rule, claim, "but the transcript shows no such call"),
            (false, Some(Coverage::Part)) => unverifiable(rule, claim, "but parts of the transcript cannot be read"),
            (false, Some(Coverage::None)) => unverifiable(rule, claim, "but Baton cannot read its transcript"),
            (false, None) => unverifiable(rule, claim, "but there is no transcript"),
        }
    }
}

/// Returns whether a transcript is as it was when its agent had ended.
fn is_as_it_was(transcript: &Transcript) -> bool {
    let sha256 = open(Path::new(&transcript.path)).and_then(hash);
    sha256.is_ok_and(|sha256| sha256 == transcript.sha256)
}

fn invokes(call: Call<'_>, skill: &str) -> bool {
    matches!(call, Call::Skill(called) if same_skill(called, skill))
}

/// Says whether two names mean one skill; what comes before a colon is where it comes from.
fn same_skill(one: &str, another: &str) -> bool {
    let own = |name: &'_ str| -> String {
        let name = name.rsplit(':').next().unwrap_or(name);
        name.trim_start_matches('/').to_owned()
    };
    same_word(one, another) || same_word(&own(one), &own(another))
}

/// Says whether a call reads a skill of the library: by the tool, through the shell, or as a skill.
fn reads(call: Call<'_>, skill: &str) -> bool {
    match call {
        Call::Read(path) => is_path_of(path, skill),
        Call::Command(command) => command.contains(skill.trim_start_matches("./")),
        Call::Skill(called) => is_library(skill, called),
    }
}

/// Says whether a path leads to a skill, which is named by the end of its path or by its folder alone.
fn is_path_of(path: &str, skill: &str) -> bool {
    let skill = skill.trim_start_matches("./").trim_end_matches('/');
    let folder = path.strip_suffix("/SKILL.md").unwrap_or(path);
    let ends = |path: &str| path == skill || path.strip_suffix(skill).is_some_and(|before| before.ends_with('/'));
    ends(path) || ends(folder) || is_library(path, skill)
}

/// Says whether a path or name of the library is that of a skill with this name.
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
        let read = Call::Read("/home/a/p/.claude/skill-library/dev/integrating-with-shodan/SKILL.md");
        for skill in [
            ".claude/skill-library/dev/integrating-with-shodan/SKILL.md",
            "./.claude/skill-library/dev/integrating-with-shodan/",
            "integrating-with-shodan",
        ] {
            assert!(reads(read, skill), "{skill}");
        }
        for skill in ["shodan", "with-shodan", "other/SKILL.md", "dev"] {
            assert!(!reads(read, skill), "{skill}");
        }
        assert!(reads(Call::Command("cat lib/a-skill/SKILL.md"), "lib/a-skill/SKILL.md"));
    }

    #[test]
    fn skills_have_one_name_with_many_spellings() {
        assert!(same_skill("superpowers:writing-plans", "writing_plans") && same_skill("/commit", "commit"));
        assert!(!same_skill("writing-plans", "executing-plans"));
    }
}
