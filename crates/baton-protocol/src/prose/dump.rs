//! Owns the verdict on pasted material: does a summary carry the raw thing itself?
//! Refuses to know how long a summary may be; length is another rule's business.
//! Invariant: prose, Markdown bullets and inline identifiers alone never make a dump.

const CODE_LINES: u32 = 8;
const LOG_LINES: u32 = 3;
const STACK_FRAMES: u32 = 2;
const ENCODED_RUN: usize = 200;
const BLOCK_FENCES: u32 = 2;
const JSON_KEYS: usize = 10;
const SEARCH_STEPS: u32 = 3;

/// Why a summary counts as pasted raw material, or `None` when it summarises.
///
/// Raw material is any of these: a fenced code block; eight or more lines that look like code
/// (ending in `;`, `{` or `}`, or opening with a keyword such as `import`, `def`, `fn`, `const`,
/// or with a tag); a diff hunk with its lines; a stack trace (a known header, or two frames);
/// three or more log lines that open with a time stamp; 200 or more characters of base64 or
/// hexadecimal in one run; ten or more quoted JSON keys; a phrase that announces pasted contents
/// ("contains the following code", "here is the full file"); three or more steps of the search
/// told one by one ("I opened ... then I looked at ..."). Markdown bullets are not diff lines,
/// and identifiers, paths and short inline snippets are welcome.
#[must_use]
pub fn raw_dump(text: &str) -> Option<&'static str> {
    let bytes = text.as_bytes();
    let fence_marks = memchr::memchr2_iter(b'`', b'~', bytes);
    if fence_marks.map(|at| fences(bytes, at)).sum::<u32>() >= BLOCK_FENCES {
        return Some("pastes a fenced code block");
    }
    if has_encoded_run(bytes) {
        return Some("pastes a long run of encoded data");
    }
    if memchr::memchr_iter(b'"', bytes).filter(|at| closes_key(&bytes[*at..])).nth(JSON_KEYS - 1).is_some() {
        return Some("pastes a JSON document");
    }
    if memchr::memchr(b'\n', bytes).is_some()
        && let Some(reason) = pasted_lines(text)
    {
        return Some(reason);
    }
    narration(bytes)
}

/// A long run covers one of the bytes that are looked at, so most bytes are not.
fn has_encoded_run(bytes: &[u8]) -> bool {
    let is_outside = |byte: &u8| !ALPHABET[usize::from(*byte)];
    let mut at = ENCODED_RUN - 1;
    while let Some(byte) = bytes.get(at) {
        if is_outside(byte) {
            at += ENCODED_RUN;
            continue;
        }
        let start = bytes[..at].iter().rposition(is_outside).map_or(0, |before| before + 1);
        let end = bytes[at..].iter().position(is_outside).map_or(bytes.len(), |after| at + after);
        if is_encoded(&bytes[start..end]) {
            return true;
        }
        at = end + ENCODED_RUN;
    }
    false
}

/// A fence at the start of a line opens a block by itself; elsewhere it takes a pair.
fn fences(bytes: &[u8], at: usize) -> u32 {
    let before = &bytes[..at];
    if before.last() == Some(&bytes[at]) || !bytes[at..].starts_with(&[bytes[at]; 3]) {
        return 0;
    }
    let line = before.trim_ascii_end();
    let opens_line = line.is_empty() || before[line.len()..].contains(&b'\n');
    if opens_line { BLOCK_FENCES } else { 1 }
}

fn closes_key(rest: &[u8]) -> bool {
    matches!(rest, [b'"', b':', ..] | [b'"', b' ', b':', ..])
}

/// The characters of base64 (both alphabets) and hexadecimal.
static ALPHABET: [bool; 256] = alphabet();

const fn alphabet() -> [bool; 256] {
    let mut table = [false; 256];
    let mut byte: u8 = 0;
    while byte < 128 {
        table[byte as usize] = byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_');
        byte += 1;
    }
    table
}

/// Encoded data has digits all over; a long path has separators instead, a ruler only them.
fn is_encoded(run: &[u8]) -> bool {
    if run.len() < ENCODED_RUN {
        return false;
    }
    let digits = run.iter().filter(|byte| byte.is_ascii_digit()).count();
    let separators = run.iter().filter(|byte| !byte.is_ascii_alphanumeric()).count();
    digits * 20 >= run.len() && separators * 12 <= run.len()
}

fn pasted_lines(text: &str) -> Option<&'static str> {
    let mut code = 0;
    let mut logs = 0;
    let mut frames = 0;
    let mut hunk = false;
    for line in text.lines() {
        let line = line.trim_ascii();
        if is_trace_header(line) {
            return Some("pastes a stack trace");
        }
        if hunk && line.starts_with(['+', '-']) {
            return Some("pastes a diff");
        }
        hunk |= line.starts_with("@@ -") || line.starts_with("diff --git ");
        code += u32::from(is_code(line));
        logs += u32::from(is_log(line.as_bytes()));
        frames += u32::from(is_frame(line));
    }
    if frames >= STACK_FRAMES {
        Some("pastes a stack trace")
    } else if logs >= LOG_LINES {
        Some("pastes log lines")
    } else if code >= CODE_LINES {
        Some("pastes lines of code")
    } else {
        None
    }
}

fn is_trace_header(line: &str) -> bool {
    line.starts_with("Traceback (most recent call last)")
        || line == "stack backtrace:"
        || (line.starts_with("goroutine ") && line.ends_with("]:"))
}

/// `at Type.method (file.js:10:4)`, `at Type.method(File.java:10)`, `File "x.py", line 3`.
fn is_frame(line: &str) -> bool {
    if line.starts_with("File \"") {
        return line.contains("\", line ");
    }
    let Some(place) = line.strip_prefix("at ") else {
        return false;
    };
    let place = place.strip_suffix(')').unwrap_or(place);
    let last = place.rsplit(':').next().unwrap_or_default();
    last.len() < place.len() && !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_code(line: &str) -> bool {
    const OPENINGS: [&str; 24] = [
        "import ",
        "from ",
        "def ",
        "fn ",
        "pub ",
        "const ",
        "let ",
        "var ",
        "class ",
        "func ",
        "function ",
        "export ",
        "return ",
        "#include",
        "using ",
        "package ",
        "struct ",
        "enum ",
        "impl ",
        "async ",
        "static ",
        "private ",
        "public ",
        "</",
    ];
    if is_bullet(line) {
        return false;
    }
    if line.ends_with([';', '{', '}']) || line.starts_with(['+', '-', '@']) && line.len() > 1 {
        return true;
    }
    if line.starts_with("import ") || line.starts_with('<') && line.ends_with('>') {
        return true;
    }
    // why: prose ends in a full stop; "from the start we planned ..." is not an import
    !line.ends_with(['.', ',', '!', '?'])
        && OPENINGS.iter().any(|opening| line.starts_with(opening))
        && line.contains(['(', '=', ':', ';', '{', '"', '\'', '<'])
}

fn is_bullet(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0 {
        return line[digits..].starts_with([')', '.']);
    }
    line.starts_with("- ") || line.starts_with("* ") || line.starts_with("+ ") || line.starts_with("---")
}

/// `2024-05-01T10:00:00`, `2024-05-01 10:00:00`, `[10:00:00]`, `10:00:00.123`.
fn is_log(line: &[u8]) -> bool {
    let line = line.strip_prefix(b"[").unwrap_or(line);
    let clock = if fits(line, b"0000-00-00") { line.get(11..).unwrap_or_default() } else { line };
    fits(clock, b"00:00:00")
}

/// Zeros in the pattern stand for any digit.
fn fits(line: &[u8], pattern: &[u8]) -> bool {
    line.len() >= pattern.len()
        && line.iter().zip(pattern).all(|(byte, wanted)| match wanted {
            b'0' => byte.is_ascii_digit(),
            _ => byte == wanted,
        })
}

/// Lower case; matched at the beginning of a word, whatever the case of the text.
const ANNOUNCEMENTS: [&str; 22] = [
    "contains the following code",
    "contains the following content",
    "contains the following source",
    "contents of the file:",
    "entire file:",
    "file content:",
    "file contents:",
    "following code:",
    "full code:",
    "full contents:",
    "full file:",
    "full output:",
    "full source:",
    "here are the contents of",
    "here is the code",
    "here is the complete",
    "here is the content",
    "here is the entire",
    "here is the full",
    "here is the raw",
    "here's the full",
    "lines of code]",
];

const SEARCH: [&str; 10] = [
    "i looked ",
    "i opened ",
    "i searched ",
    "i browsed ",
    "i scrolled ",
    "i grepped ",
    "i went through ",
    "i started by looking ",
    "i then looked ",
    "i then opened ",
];

fn narration(bytes: &[u8]) -> Option<&'static str> {
    let mut steps = 0;
    for at in std::iter::once(0).chain(memchr::memchr2_iter(b' ', b'\n', bytes).map(|space| space + 1)) {
        let punctuation = bytes[at..].iter().take(3).take_while(|byte| !byte.is_ascii_alphanumeric()).count();
        let at = at + punctuation;
        let Some(head) = bytes.get(at..at + 4) else { break };
        // why: four letters settle almost every word without touching the phrase lists
        match &[head[0] | 0x20, head[1] | 0x20, head[2] | 0x20, head[3] | 0x20] {
            [b'i', b' ', ..] => steps += u32::from(opens_with_any(&bytes[at..], &SEARCH)),
            b"cont" | b"enti" | b"file" | b"foll" | b"full" | b"here" | b"line"
                if opens_with_any(&bytes[at..], &ANNOUNCEMENTS) =>
            {
                return Some("pastes contents instead of summarising them");
            }
            _ => {}
        }
    }
    (steps >= SEARCH_STEPS).then_some("tells the search step by step instead of its findings")
}

fn opens_with_any(rest: &[u8], phrases: &[&str]) -> bool {
    phrases
        .iter()
        .any(|phrase| rest.get(..phrase.len()).is_some_and(|head| head.eq_ignore_ascii_case(phrase.as_bytes())))
}
