//! Takes back a request that nobody has picked up, so that nobody does later.

use baton_engine::HandoffId;
use baton_engine::failure::{Chance, Code, Failure};
use jiff::Timestamp;

use super::{Directory, Error, Folder};

impl Directory {
    /// Takes back a request that waits: it has failed for good. Returns whether it did; otherwise somebody was faster.
    pub fn withdraw(&self, id: &HandoffId, why: &str, now: Timestamp) -> Result<bool, Error> {
        let Some(held) = self.hold_in(Folder::Pending, id)? else { return Ok(false) };
        let failure = Failure { chance: Chance::Permanent, ..Failure::new(Code::timeout(), why) };
        match self.fail_held(held, &failure, now) {
            Ok(_) => {
                self.forget(id);
                Ok(true)
            }
            // A script took it at this moment.
            Err(Error::Busy { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
