//! The task of a handoff that belongs to no workflow. Whoever sent it may set the task, but not hide anything in it: it
//! loses what could be taken for a fence and what no reader sees.

use baton_protocol::model::Request;

use super::PromptFault;
use super::fence::PromptFence;

/// Returns the request with a task that can be in a prompt outside of a fence.
pub(crate) fn plain_task(request: &Request, delimiter: &str) -> Result<Request, PromptFault> {
    let fence = PromptFence::new(delimiter)?;
    let clean = |text: &mut String| *text = fence.clean(text);
    let mut request = request.clone();
    request.instructions.iter_mut().for_each(clean);
    if let Some(expected) = &mut request.expectations {
        let texts = expected.deliverable.iter_mut().chain(&mut expected.schema);
        texts.chain(&mut expected.constraints).chain(&mut expected.success_criteria).for_each(clean);
    }
    Ok(request)
}
