//! The little Markdown of the rules' manual: headings, paragraphs, lists, code. Everything else is text.

use maud::{Markup, html};

/// Shows Markdown, with headings one level deeper than they are written.
pub(crate) fn shown(text: &str) -> Markup {
    let mut lines = text.lines().peekable();
    let mut parts: Vec<Markup> = Vec::new();
    while let Some(line) = lines.next() {
        let line = line.trim_end();
        if line.trim_start().starts_with("```") {
            let code: Vec<&str> = lines.by_ref().take_while(|line| !line.trim_start().starts_with("```")).collect();
            parts.push(html! { pre tabindex="0" { (code.join("\n")) } });
        } else if let Some(heading) = line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#')) {
            parts.push(html! { h2 { (spans(heading)) } });
        } else if let Some(first) = item(line) {
            let mut items = vec![first.to_owned()];
            while let Some(next) = lines.next_if(|next| item(next).is_some() || next.starts_with("  ")) {
                match item(next) {
                    Some(text) => items.push(text.to_owned()),
                    None => items.last_mut().expect("there is one").push_str(&format!(" {}", next.trim())),
                }
            }
            parts.push(html! { ul { @for text in &items { li { (spans(text)) } } } });
        } else if !line.trim().is_empty() {
            let mut paragraph = line.to_owned();
            let goes_on = |next: &&str| {
                !next.trim().is_empty() && !next.starts_with('#') && !next.starts_with("```") && item(next).is_none()
            };
            while let Some(next) = lines.next_if(goes_on) {
                paragraph.push_str(&format!(" {}", next.trim()));
            }
            parts.push(html! { p.prose { (spans(&paragraph)) } });
        }
    }
    html! { @for part in parts { (part) } }
}

fn item(line: &str) -> Option<&str> {
    line.strip_prefix("- ").or_else(|| line.strip_prefix("* "))
}

/// Shows what is between backticks as code. A backtick without a second one is a letter like any other.
pub(crate) fn spans(text: &str) -> Markup {
    let last = text.matches('`').count();
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 0 { (part) } @else if index == last { "`" (part) } @else { code { (part) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manual_becomes_headings_paragraphs_lists_and_code() {
        let text = "## Why\nOne `a<b`\nline.\n\n- first\n  more\n- second\n```yaml\nx: <y>\n```\n";
        let expected = "<h2>Why</h2><p class=\"prose\">One <code>a&lt;b</code> line.</p><ul><li>first more</li><li>second</li></ul><pre tabindex=\"0\">x: &lt;y&gt;</pre>";
        assert_eq!(shown(text).into_string(), expected);
    }

    #[test]
    fn backticks_come_in_pairs() {
        assert_eq!(spans("`a` and `b`").into_string(), "<code>a</code> and <code>b</code>");
        assert_eq!(spans("`a` it`s").into_string(), "<code>a</code> it`s");
    }
}
