//! Makes a prompt fit: the oldest notes go first, then what is long in the context is cut, then what was said last.
//! The task, the skills and the contract stay whole.

use baton_protocol::tokens;

use super::page::{Cuts, Page};
use super::{Prompt, PromptFault};

/// The default maximum of a prompt. Longer texts of others are in files.
const USUAL_TOKENS_MAX: usize = 20_000;

/// Prints a page within a budget.
pub(super) fn fit(page: &Page<'_>, asked: Option<u64>) -> Result<Prompt, PromptFault> {
    let whole = page.print(&Cuts::default())?;
    let tokens = whole.tokens();
    let budget = asked.map_or(USUAL_TOKENS_MAX, |budget| usize::try_from(budget).unwrap_or(usize::MAX));
    if tokens <= budget {
        return Ok(Prompt { text: whole.text, tokens, shortened: page.bounded() });
    }
    let cuts = enough(page, budget)?;
    let printed = page.print(&cuts)?;
    let (tokens, text) = (printed.tokens(), printed.text);
    // A long task is the author's business, unless the author has said how long it may be.
    match tokens <= budget || asked.is_none() {
        true => Ok(Prompt { shortened: page.shortened(&cuts, &text), text, tokens }),
        false => Err(PromptFault::OverBudget { tokens, budget }),
    }
}

/// Finds the mildest cuts that are enough; the hardest if none are.
fn enough(page: &Page<'_>, budget: usize) -> Result<Cuts, PromptFault> {
    let fits = |cuts: &Cuts| page.print(cuts).map(|page| tokens::over_budget(&page.text, budget).is_none());
    let (notes, longest) = (page.notes().saturating_sub(1), page.longest());
    let mut cuts = Cuts::default();
    // Of the notes only the last must stay.
    cuts.notes_dropped = least(notes, |dropped| fits(&Cuts { notes_dropped: dropped, ..cuts }))?;
    if !fits(&cuts)? {
        let context_cut = least(longest, |cut| fits(&Cuts { context_tokens: Some(longest - cut), ..cuts }))?;
        cuts.context_tokens = Some(longest - context_cut);
    }
    if !fits(&cuts)? {
        let said_cut = least(longest, |cut| fits(&Cuts { said_tokens: Some(longest - cut), ..cuts }))?;
        cuts.said_tokens = Some(longest - said_cut);
    }
    Ok(cuts)
}

/// Finds the least amount up to `most` that is enough; `most` if none is.
fn least(most: usize, is_enough: impl Fn(usize) -> Result<bool, PromptFault>) -> Result<usize, PromptFault> {
    let (mut low, mut high) = (0, most);
    while low < high {
        let middle = low + (high - low) / 2;
        match is_enough(middle)? {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    Ok(high)
}
