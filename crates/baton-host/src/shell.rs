//! Words as a shell takes them.

/// Writes a word so that a shell takes it as one.
pub fn quoted(word: &str) -> String {
    // No word can hold a zero byte; whoever shows one shows it in vain.
    shlex::Quoter::new().allow_nul(true).quote(word).map_or_else(|_| word.to_owned(), |quoted| quoted.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_only_where_a_shell_needs_it() {
        for plain in ["a/b.c", "user@host:1", "-x_y"] {
            assert_eq!(quoted(plain), plain);
        }
        for odd in ["", "two words", "it's", "$HOME", "a\"b", "*", "~", "a\nb", "'", "!"] {
            assert_eq!(shlex::split(&quoted(odd)), Some(vec![odd.to_owned()]), "{odd:?}");
            assert_ne!(quoted(odd), odd);
        }
    }
}
