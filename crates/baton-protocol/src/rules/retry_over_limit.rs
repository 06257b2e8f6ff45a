//! More retries than the policy allows, or one that is offered beyond it.

use serde_json::Value;

use super::{Case, RuleFindings};
use crate::dialect::Dialect;
use crate::model::report::ReportedRetry;

rule! {
    /// ## What it checks
    /// The number of retries is higher than the limit, or a failure offers another retry although the limit is
    /// reached. The limit is the report's own `max_retries`, or that of the request's retry policy. Applies to
    /// requests and reports in the `mailbox` and `native` dialects.
    ///
    /// ## Why it matters
    /// Without the limit, the same failure is retried forever, and no person learns of it.
    ///
    /// ## Example
    /// ```json
    /// { "status": "failed", "retry_available": true, "retry_count": 3, "max_retries": 3 }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "status": "failed", "retry_available": false, "retry_count": 3, "max_retries": 3 }
    /// ```
    "retry-over-limit": Mailbox, Error => check
}

fn check(case: &Case<'_>, findings: &mut RuleFindings<'_>) {
    if let Some(request) = case.request() {
        let limit = request.retry.as_ref().and_then(|policy| policy.max_retries);
        if let (Some(count), Some(limit)) = (request.retry_count, limit)
            && count > limit
        {
            over_limit("/retry_count", count, limit, findings);
        }
        return;
    }
    let Some(retry) = case.report().and_then(|report| report.retry.as_ref()) else {
        return;
    };
    let (Some(count), Some(limit)) = (retry.count, limit(case, retry)) else { return };
    if count > limit {
        over_limit("/retry/count", count, limit, findings);
    }
    if retry.available == Some(true) && count >= limit {
        findings.add(
            "/retry/available",
            format!("another retry is offered, but {count} of {limit} are used up"),
            "set it to false; a person decides what happens next",
        );
    }
}

fn over_limit(pointer: &str, count: u64, limit: u64, findings: &mut RuleFindings<'_>) {
    findings.add(
        pointer,
        format!("this is retry {count}, but the policy allows {limit}"),
        "stop retrying and hand the failure to a person, or raise the limit in the request",
    );
}

/// Returns the limit of the report, of its request, or of what the file kept of the request.
fn limit(case: &Case<'_>, retry: &ReportedRetry) -> Option<u64> {
    let asked = || case.surroundings.request?.retry.as_ref()?.max_retries;
    let in_file = || match case.dialect {
        Dialect::Mailbox => case.kept("/retry_policy")?.get("max_retries").and_then(Value::as_u64),
        _ => None,
    };
    retry.max.or_else(asked).or_else(in_file)
}
