//! A file that a package speaks of without listing it.

use super::{Case, RuleFindings};
use crate::model::SourceRange;
use crate::model::request::Context;

rule! {
    /// ## What it checks
    /// The summary or a decision mentions a file by its path, but `artifacts` does not list that path, nor a folder
    /// above it (written with a slash at its end). A path has a slash and a usual file extension; addresses,
    /// endpoints, patterns and files that are said to be removed are left alone. So is the deliverable, because it
    /// names files that do not exist yet. Applies to requests in the `package` and `native` dialects.
    ///
    /// ## Why it matters
    /// Receivers open what is listed, and Baton checks that what is listed exists. A file that hides in a sentence
    /// is neither read nor checked.
    ///
    /// ## Example
    /// ```yaml
    /// context:
    ///   summary: "Pricing rules moved to config/pricing.yaml, 14 rules with one owner each"
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// context:
    ///   summary: "Pricing rules moved to config/pricing.yaml, 14 rules with one owner each"
    ///   artifacts:
    ///     - path: "config/pricing.yaml"
    ///       type: config
    /// ```
    "artifact-unreferenced": Package, Warning => check
}

/// Extensions that make a word with a slash a file. Anything else could be two words, a package or an address.
const EXTENSIONS: &[&str] = &[
    "adoc", "astro", "bash", "bat", "bicep", "c", "cc", "cfg", "cjs", "clj", "conf", "cpp", "cs", "css", "csv", "cxx",
    "dart", "diff", "docx", "drawio", "env", "erl", "ex", "exs", "feature", "fs", "gif", "go", "gql", "gradle",
    "graphql", "h", "hcl", "hpp", "hs", "htm", "html", "ini", "ipynb", "java", "jpeg", "jpg", "js", "json", "json5",
    "jsonl", "jsx", "kt", "kts", "less", "lock", "log", "lua", "m", "md", "mdx", "mjs", "mmd", "nix", "parquet",
    "patch", "pdf", "php", "pl", "plist", "png", "pptx", "prisma", "proto", "ps1", "puml", "py", "pyi", "r", "rb",
    "rmd", "rs", "rst", "sass", "scala", "scss", "sh", "sol", "sql", "svelte", "svg", "swift", "tex", "tf", "tfvars",
    "toml", "ts", "tsv", "tsx", "txt", "vue", "wasm", "webp", "xlsx", "xml", "yaml", "yml", "zig", "zip",
];

/// What the first part of an address without a scheme ends in; `ASP.NET/…` is caught as well.
const DOMAINS: &[&str] = &["ai", "app", "co", "com", "dev", "edu", "gov", "io", "net", "org"];

/// Words after which a path is one that is gone.
const GONE: &[&str] = &["delete", "deleted", "deletes", "drop", "dropped", "remove", "removed", "removes"];

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    let Some(context) = case.package().and_then(|request| request.context.as_ref()) else {
        return;
    };
    let mut told = Vec::new();
    let mut look = |text: Option<&str>, pointer: &dyn Fn() -> String| {
        for path in text.into_iter().flat_map(paths) {
            if !is_listed(context, path) && !told.iter().any(|known: &String| known == path) {
                told.push(path.to_owned());
                findings.add(
                    &pointer(),
                    format!("`{path}` is mentioned here, but not listed in `artifacts`"),
                    "add it to `context.artifacts` with its exact path",
                );
            }
        }
    };
    look(context.summary.as_deref(), &|| "/context/summary".to_owned());
    for (index, decision) in context.decisions.iter().enumerate() {
        look(decision.decision.as_deref(), &|| format!("/context/decisions/{index}/decision"));
        look(decision.rationale.as_deref(), &|| format!("/context/decisions/{index}/rationale"));
    }
}

fn is_listed(context: &Context, path: &str) -> bool {
    let artifacts = context.artifacts.iter().map(|artifact| artifact.path());
    let files = context.relevant_files.iter().chain(&context.spec_path).map(String::as_str);
    artifacts
        .chain(files)
        .map(plain)
        .any(|listed| listed == path || (listed.ends_with('/') && path.starts_with(listed)))
}

/// Strips the `./` that some write before a relative path.
fn plain(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path)
}

/// Returns the words of a text that are paths of files.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let mut before = "";
    text.split_ascii_whitespace().filter_map(move |word| {
        let gone = GONE.iter().any(|known| before.eq_ignore_ascii_case(known));
        before = word;
        if gone || !word.contains('/') {
            return None;
        }
        let inner = word.trim_matches(|c: char| !(c.is_alphanumeric() || "./@_~-".contains(c)));
        let path = plain(SourceRange::parse(inner.trim_end_matches('.')).path);
        is_path(path).then_some(path)
    })
}

fn is_path(path: &str) -> bool {
    let Some((folders, name)) = path.rsplit_once('/') else { return false };
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    let known = |words: &[&str], word: &str| words.iter().any(|known| known.eq_ignore_ascii_case(word));
    let plain_characters = |c: char| c.is_alphanumeric() || "./_+-~@".contains(c);
    // `a.m./p.m.` has an extension by its looks, as has a file called `p.m`: in doubt, no path.
    let looks_like_a_file = known(EXTENSIONS, extension) && (extension.len() > 1 || stem.len() > 1);
    if !looks_like_a_file || path.starts_with(['/', '@', '~']) || !path.chars().all(plain_characters) {
        return false;
    }
    // `Node.js/Express.js` and `a.ts/b.ts` are alternatives; `example.com/a.html` is an address.
    let suffix = |folder: &str| folder.rsplit_once('.').map(|(_, suffix)| suffix.to_owned());
    let alternative = folders
        .split('/')
        .filter_map(suffix)
        .any(|suffix| suffix.eq_ignore_ascii_case(extension) || suffix.eq_ignore_ascii_case("js"));
    let address = folders.split('/').next().filter(|first| !first.starts_with('.')).and_then(suffix);
    !alternative && !address.is_some_and(|suffix| known(DOMAINS, &suffix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        paths(text).collect()
    }

    #[test]
    fn paths_are_found_between_punctuation() {
        assert_eq!(
            found("Wrote `src/lib.rs`, (docs/a.md) and .project/02/b.yaml."),
            ["src/lib.rs", "docs/a.md", ".project/02/b.yaml"]
        );
        assert_eq!(found("see ./app/main.py:10-20; MyApp.Api/Program.cs"), ["app/main.py", "MyApp.Api/Program.cs"]);
    }

    #[test]
    fn what_only_looks_like_a_path_is_left_alone() {
        for text in [
            "read and/or write, e.g./i.e. 9 a.m./p.m.",
            "https://example.com/guide.html and example.com/guide.html",
            "GET /api/users.json and /api/v1/hosts",
            "Node.js/Express.js or ASP.NET/Razor.cs",
            "@nestjs/platform-socket.io, redis/socket.io",
            "src/**/*.rs and users/{id}.json",
            "HTTP/1.1, TLS 1.2/1.3, v1/2.0",
            "removed src/old.rs",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
