//! Names in single braces, which a template leaves as they are.

/// Finds names in single braces, such as `{inputs.feature}` and `${inputs.feature}`: each as it is written, and the name alone.
pub fn single_braces(template: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(open) = template[at..].find('{').map(|open| at + open) {
        let rest = &template[open..];
        // What the template engine reads is none of ours, with all braces in it.
        let own = [("{{", "}}"), ("{%", "%}"), ("{#", "#}")].into_iter().find(|(begin, _)| rest.starts_with(begin));
        if let Some((_, end)) = own {
            let Some(length) = rest.find(end) else { break };
            at = open + length + end.len();
            continue;
        }
        let inside = &rest[1..];
        at = open + 1;
        let Some(length) = inside.find(['{', '}', '\n']).filter(|end| inside[*end..].starts_with('}')) else {
            continue;
        };
        let name = inside[..length].trim();
        if !name.is_empty() && name.chars().all(is_of_name) {
            let begin = if template[..open].ends_with('$') { open - 1 } else { open };
            found.push((&template[begin..open + length + 2], name));
        }
    }
    found
}

/// Returns whether a letter can be in a name with what stands behind its dots, or in brackets.
fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || "_.-[]'\"".contains(letter)
}

#[cfg(test)]
mod tests {
    use super::single_braces;

    #[test]
    fn names_in_single_braces_are_found_and_everything_else_is_left_alone() {
        let found = |text| {
            single_braces(text).into_iter().map(|(written, name)| format!("{written} {name}")).collect::<Vec<_>>()
        };
        assert_eq!(
            found("Do {inputs.x}, { inputs.y } and ${run.id}"),
            ["{inputs.x} inputs.x", "{ inputs.y } inputs.y", "${run.id} run.id"]
        );
        assert_eq!(found("{phases['a-b'].summary}}"), ["{phases['a-b'].summary} phases['a-b'].summary"]);
        for text in [
            "{{ inputs.x }}",
            "{{ {'a': inputs.x} }}",
            "{% set x = {inputs.y} %}",
            "{\"a\": 1}",
            "{}",
            "{ }",
            "{inputs.x",
            "{a b}",
            "{{",
            "{a{b",
        ] {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
    }
}
