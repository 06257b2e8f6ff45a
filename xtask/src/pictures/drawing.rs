//! From the screen of a terminal, as text with escape sequences for colours, to SVG. Every character takes one column.

use std::fmt::Write as _;

const COLUMN: f64 = 8.2;
const LINE: usize = 19;
const MARGIN: f64 = 22.0;
const FIRST_LINE: usize = 62;
const BELOW: usize = 28;

/// How characters look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Look {
    bold: bool,
    faint: bool,
    /// One of the eight colours of a terminal.
    colour: Option<u8>,
}

impl Look {
    fn fill(self) -> &'static str {
        match self.colour {
            Some(1) => "#ff6b6b",
            Some(2) => "#7ddc8a",
            Some(3) => "#f2c14e",
            Some(4 | 6) => "#6ea8fe",
            _ if self.faint => "#8a94ab",
            _ if self.bold => "#f3f5fa",
            _ => "#d5dbe8",
        }
    }

    /// Takes the parameters of an escape sequence; those that are not for these looks are passed over.
    fn change(&mut self, parameters: &str) {
        for parameter in parameters.split(';') {
            match parameter.parse::<u8>().unwrap_or_default() {
                0 => *self = Look::default(),
                1 => self.bold = true,
                2 => self.faint = true,
                22 => (self.bold, self.faint) = (false, false),
                code @ (30..=37 | 90..=97) => self.colour = Some(code % 10),
                39 => self.colour = None,
                _ => {}
            }
        }
    }
}

/// Draws a screen, in a window of this many columns. The title is an element of its own.
pub(super) fn svg(screen: &str, title: &str, columns: usize) -> String {
    let lines: Vec<&str> = screen.trim_end().lines().collect();
    let width = rounded(2.0 * MARGIN + columns as f64 * COLUMN);
    let height = FIRST_LINE + LINE * lines.len().saturating_sub(1) + BELOW;
    let (right, inner) = (width - 1.0, width - 11.0);
    let mut svg = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" aria-labelledby="t">
{title}
<style>text{{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace;font-size:13.6px;white-space:pre}}.b{{font-weight:700}}</style>
<rect x=".5" y=".5" width="{right}" height="{}" rx="10" fill="#171b26" stroke="#343c50"/>
<path d="M1 38V11A10 10 0 0 1 11 1H{inner}A10 10 0 0 1 {right} 11V38Z" fill="#212736"/>
<circle cx="22" cy="19.5" r="6" fill="#ff5f57"/><circle cx="42" cy="19.5" r="6" fill="#febc2e"/><circle cx="62" cy="19.5" r="6" fill="#28c840"/>
<text x="{}" y="24" text-anchor="middle" fill="#8a94ab">baton</text>
"##,
        height - 1,
        width / 2.0,
    );
    let mut look = Look::default();
    for (index, line) in lines.iter().enumerate() {
        for (column, look, text) in pieces(line, &mut look) {
            let (x, y) = (rounded(MARGIN + column as f64 * COLUMN), FIRST_LINE + LINE * index);
            let length = rounded(text.chars().count() as f64 * COLUMN);
            let class = if look.bold { r#" class="b""# } else { "" };
            // Writing to a string does not fail.
            _ = writeln!(
                svg,
                r#"<text x="{x}" y="{y}" fill="{}"{class} textLength="{length}" lengthAdjust="spacingAndGlyphs" xml:space="preserve">{}</text>"#,
                look.fill(),
                escaped(&text)
            );
        }
    }
    svg + "</svg>\n"
}

/// Takes a line apart into pieces of one look, each with its column and without the space around it.
fn pieces(line: &str, look: &mut Look) -> Vec<(usize, Look, String)> {
    let (mut found, mut column) = (Vec::new(), 0);
    for (index, part) in line.split('\x1b').enumerate() {
        let text = match part.strip_prefix('[').and_then(|rest| rest.split_once('m')).filter(|_| index > 0) {
            Some((parameters, text)) => {
                look.change(parameters);
                text
            }
            None => part,
        };
        let indent = text.chars().take_while(|letter| *letter == ' ').count();
        if !text.trim().is_empty() {
            found.push((column + indent, *look, text.trim().to_owned()));
        }
        column += text.chars().count();
    }
    found
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn rounded(length: f64) -> f64 {
    (length * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn screen_becomes_text_at_its_place_and_in_its_colour() {
        let svg = svg("\x1b[1m\x1b[31merror:\x1b[0m  a < b\n\n  \x1b[2mlast\x1b[0m\n\n\n", "<title>A</title>", 20);
        let texts: Vec<&str> = svg.lines().skip(7).collect();
        assert_eq!(
            texts,
            [
                r##"<text x="22" y="62" fill="#ff6b6b" class="b" textLength="49.2" lengthAdjust="spacingAndGlyphs" xml:space="preserve">error:</text>"##,
                r##"<text x="87.6" y="62" fill="#d5dbe8" textLength="41" lengthAdjust="spacingAndGlyphs" xml:space="preserve">a &lt; b</text>"##,
                r##"<text x="38.4" y="100" fill="#8a94ab" textLength="32.8" lengthAdjust="spacingAndGlyphs" xml:space="preserve">last</text>"##,
                "</svg>",
            ]
        );
        assert!(svg.contains(r#"height="128""#) && svg.contains("\n<title>A</title>\n"), "{svg}");
    }
}
