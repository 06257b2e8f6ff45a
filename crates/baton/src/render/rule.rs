//! A rule in one sentence.

use baton_protocol::rules::Rule;

/// Returns the first sentence of the manual, which may take several lines; what would lead to a list ends there.
pub(crate) fn first_sentence(rule: &Rule) -> String {
    let docs = rule.manual();
    let lines = docs.lines().skip_while(|line| line.is_empty() || line.starts_with('#'));
    let paragraph: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    let paragraph = paragraph.join(" ");
    let sentence = paragraph.split_inclusive(". ").next().unwrap_or_default().trim_end();
    sentence.strip_suffix(':').map_or_else(|| sentence.to_owned(), |words| format!("{words}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_whole_sentence() {
        for rule in baton_protocol::rules::ALL {
            let sentence = first_sentence(rule);
            assert!(sentence.ends_with('.') && sentence.len() > 20, "{}: {sentence}", rule.name);
        }
    }
}
