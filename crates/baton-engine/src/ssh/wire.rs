//! The binary form of SSH: numbers, and strings with their length before them.

/// Why bytes are not in the binary form of SSH.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WireFault {
    /// They end too early.
    #[error("it is truncated")]
    CutOff,
    /// A number that must not be negative is.
    #[error("a number in it is negative")]
    Negative,
    /// There are too many of them.
    #[error("there is unexpected data after its end")]
    BehindTheEnd,
}

/// Reads parts one after the other. What is cut off is an error, never empty.
pub(super) struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Reader<'b> {
        Reader(bytes)
    }

    fn take(&mut self, length: usize) -> Result<&'b [u8], WireFault> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(WireFault::CutOff)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(super) fn byte(&mut self) -> Result<u8, WireFault> {
        Ok(self.take(1)?[0])
    }

    pub(super) fn number(&mut self) -> Result<u32, WireFault> {
        let bytes = self.take(4)?;
        Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    pub(super) fn string(&mut self) -> Result<&'b [u8], WireFault> {
        let length = self.number()?;
        self.take(usize::try_from(length).map_err(|_| WireFault::CutOff)?)
    }

    /// Reads a whole number that is not negative, without leading zeros.
    pub(super) fn natural(&mut self) -> Result<&'b [u8], WireFault> {
        let bytes = self.string()?;
        if bytes.first().is_some_and(|first| *first >= 0x80) {
            return Err(WireFault::Negative);
        }
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        Ok(&bytes[zeros..])
    }

    /// Makes sure that nothing is left.
    pub(super) fn end(self) -> Result<(), WireFault> {
        if self.0.is_empty() { Ok(()) } else { Err(WireFault::BehindTheEnd) }
    }
}

/// Writes a string with its length before it.
pub(super) fn put_string(bytes: &mut Vec<u8>, string: &[u8]) {
    let length = u32::try_from(string.len()).expect("what is signed is short");
    bytes.extend(length.to_be_bytes());
    bytes.extend(string);
}
