//! The particulars of events.

use serde::Deserialize;

use super::accept::StoredAccept;
use super::attempt::{
    StoredAcknowledge, StoredClaim, StoredExpire, StoredFail, StoredHeartbeat, StoredRelease, StoredReport,
};
use super::decision::{StoredCancel, StoredDecide, StoredRefused, StoredRequeue, StoredResume, StoredRoute};
use super::evidence::StoredVerify;
use super::{Unreadable, is_known, json, parse};
use crate::event_kind::EventKind;
use crate::journal::Fact;
use crate::lifecycle::Command;

/// The version of the particulars. The first one was never written; every later one stands at the very beginning, as
/// `{"v":2,`.
const VERSION: u32 = 1;

/// What particulars with a version begin with.
const STAMP: &str = "{\"v\":";

/// Returns the particulars of what happened.
pub(crate) fn write(fact: &Fact) -> String {
    match fact {
        Fact::Accepted(accept) => json(&StoredAccept::from(accept.as_ref())),
        Fact::Refused(refused) => json(&StoredRefused::from(refused)),
        Fact::Happened(command) => match command {
            Command::Claim(claim) => json(&StoredClaim::from(claim)),
            Command::Acknowledge(acknowledge) => json(&StoredAcknowledge::from(acknowledge)),
            Command::Heartbeat(heartbeat) => json(&StoredHeartbeat::from(heartbeat)),
            Command::Report(report) => json(&StoredReport::from(report)),
            Command::Fail(fail) => json(&StoredFail::from(fail)),
            Command::Verify(verify) => json(&StoredVerify::from(verify)),
            Command::Expire(expire) => json(&StoredExpire::from(expire)),
            Command::Resume(resume) => json(&StoredResume::from(resume)),
            Command::Decide(decide) => json(&StoredDecide::from(decide)),
            Command::Cancel(cancel) => json(&StoredCancel::from(cancel)),
            Command::Requeue(requeue) => json(&StoredRequeue::from(requeue)),
            Command::Release(release) => json(&StoredRelease::from(release)),
            Command::Route(route) => json(&StoredRoute::from(route)),
        },
    }
}

/// Reads what happened from the kind of an event and its particulars.
pub(crate) fn read(kind: &str, detail: &str) -> Result<Fact, Unreadable> {
    refuse_newer(detail)?;
    let Some(known) = EventKind::parse(kind) else { return Err(Unreadable::UnknownKind(kind.to_owned())) };
    Ok(match known {
        EventKind::Accepted => Fact::Accepted(Box::new(of::<StoredAccept<'_>, _>(detail)?)),
        EventKind::Refused => Fact::Refused(of::<StoredRefused<'_>, _>(detail)?),
        EventKind::Claimed => Fact::Happened(Command::Claim(of::<StoredClaim<'_>, _>(detail)?)),
        EventKind::Acknowledged => Fact::Happened(Command::Acknowledge(of::<StoredAcknowledge<'_>, _>(detail)?)),
        EventKind::Extended => Fact::Happened(Command::Heartbeat(of::<StoredHeartbeat<'_>, _>(detail)?)),
        EventKind::Reported => Fact::Happened(Command::Report(of::<StoredReport<'_>, _>(detail)?)),
        EventKind::Failed => Fact::Happened(Command::Fail(of::<StoredFail<'_>, _>(detail)?)),
        EventKind::Verified => Fact::Happened(Command::Verify(of::<StoredVerify<'_>, _>(detail)?)),
        EventKind::Expired => Fact::Happened(Command::Expire(of::<StoredExpire, _>(detail)?)),
        EventKind::Resumed => Fact::Happened(Command::Resume(of::<StoredResume<'_>, _>(detail)?)),
        EventKind::Decided => Fact::Happened(Command::Decide(of::<StoredDecide<'_>, _>(detail)?)),
        EventKind::Cancelled => Fact::Happened(Command::Cancel(of::<StoredCancel<'_>, _>(detail)?)),
        EventKind::Requeued => Fact::Happened(Command::Requeue(of::<StoredRequeue<'_>, _>(detail)?)),
        EventKind::Released => Fact::Happened(Command::Release(of::<StoredRelease<'_>, _>(detail)?)),
        EventKind::Routed => Fact::Happened(Command::Route(of::<StoredRoute<'_>, _>(detail)?)),
    })
}

fn of<'d, S: Deserialize<'d>, D: From<S>>(detail: &'d str) -> Result<D, Unreadable> {
    parse::<S>(detail).map(D::from)
}

/// Looks at the first member only: most of an event is the text of a document, which is not worth reading twice.
fn refuse_newer(detail: &str) -> Result<(), Unreadable> {
    #[derive(Deserialize)]
    struct Stamp {
        v: u32,
    }

    if !detail.starts_with(STAMP) {
        return Ok(());
    }
    is_known(parse::<Stamp>(detail)?.v, VERSION)
}
