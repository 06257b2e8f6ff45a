//! The JSON form of what is recorded: evidence, votes, and how it is known who decided.

use baton_engine::approval::Vote;
use baton_engine::evidence::ExaminedClaim;
use baton_engine::known::HowKnown;
use baton_engine::ssh::Signature;
use serde_json::{Value, json};

/// Returns what came out about claims. What is not there is left out.
pub(crate) fn examined(examined: &[ExaminedClaim]) -> Value {
    let one = |examined: &ExaminedClaim| {
        let ExaminedClaim { rule, claim, verdict, seen, path, sha256, mark, allowed, asks_person } = examined;
        let mut value = json!({ "rule": rule, "claim": claim, "verdict": verdict, "seen": seen });
        let texts = [("path", path), ("sha256", sha256), ("mark", mark), ("allowed", allowed)];
        add(&mut value, texts, ("asks_person", *asks_person));
        value
    };
    examined.iter().map(one).collect()
}

/// Returns who has approved so far, or what they chose.
pub(crate) fn votes(votes: &[Vote]) -> Value {
    let one = |vote: &Vote| {
        let Vote { by, label, key, choice, withdrawn } = vote;
        let mut value = json!({ "by": by });
        add(&mut value, [("label", label), ("key", key), ("choice", choice)], ("withdrawn", *withdrawn));
        value
    };
    votes.iter().map(one).collect()
}

/// Returns how it is known who decided.
pub(crate) fn known(known: &HowKnown) -> Value {
    match known {
        HowKnown::Unproven => json!("unproven"),
        HowKnown::Account => json!("account"),
        HowKnown::Signature(signature) => {
            let Signature { key, armoured } = signature.as_ref();
            json!({ "signature": { "key": key, "armoured": armoured } })
        }
    }
}

/// Adds texts that are there, and a mark that is set.
fn add<const N: usize>(value: &mut Value, texts: [(&str, &Option<String>); N], mark: (&str, bool)) {
    for (name, text) in texts {
        if let Some(text) = text {
            value[name] = json!(text);
        }
    }
    if let (name, true) = mark {
        value[name] = json!(true);
    }
}

#[cfg(test)]
mod tests {
    use baton_engine::evidence::ClaimFinding;

    use super::*;

    #[test]
    fn what_is_not_there_is_left_out() {
        let mut seen = ExaminedClaim::new("artifact-missing", ClaimFinding::Refuted, "out.txt", "nothing there");
        let bare = r#"[{"rule":"artifact-missing","claim":"out.txt","verdict":"refuted","seen":"nothing there"}]"#;
        assert_eq!(examined(&[seen.clone()]).to_string(), bare);
        let some = |text: &str| Some(text.to_owned());
        (seen.path, seen.sha256, seen.mark, seen.allowed) = (some("p"), some("s"), some("m"), some("a"));
        seen.asks_person = true;
        let more = r#","path":"p","sha256":"s","mark":"m","allowed":"a","asks_person":true}]"#;
        assert_eq!(examined(&[seen]).to_string(), bare.replace("}]", more));
        let mut vote = Vote { by: "ana".to_owned(), label: None, key: None, choice: None, withdrawn: false };
        assert_eq!(votes(&[vote.clone()]).to_string(), r#"[{"by":"ana"}]"#);
        (vote.label, vote.key, vote.choice, vote.withdrawn) = (some("l"), some("k"), some("c"), true);
        let whole = r#"[{"by":"ana","label":"l","key":"k","choice":"c","withdrawn":true}]"#;
        assert_eq!(votes(&[vote]).to_string(), whole);
    }
}
