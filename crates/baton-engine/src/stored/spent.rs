//! What was spent, as it is stored.

use serde::{Deserialize, Serialize};

use crate::session::Spent;

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct StoredSpent {
    input: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    cached: u64,
    output: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cost_micros: Option<u64>,
}

impl From<Spent> for StoredSpent {
    fn from(spent: Spent) -> Self {
        let Spent { input, cached, output, cost_micros } = spent;
        StoredSpent { input, cached, output, cost_micros }
    }
}

impl From<StoredSpent> for Spent {
    fn from(stored: StoredSpent) -> Self {
        let StoredSpent { input, cached, output, cost_micros } = stored;
        Spent { input, cached, output, cost_micros }
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}
