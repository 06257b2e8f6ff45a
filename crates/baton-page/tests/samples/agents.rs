//! Pages of agents.

use baton_engine::Handoff;
use baton_engine::session::{Spending, Spent};
use baton_page::agents::{AgentFigures, AgentList, AgentRow, AgentWork};
use baton_page::layout::Viewer;

use super::Named;

pub(super) fn pages(viewer: &Viewer<'_>, poison: &str, handoffs: &[Handoff]) -> Vec<Named> {
    let spending = |micros: u64, unpriced: u32| Spending {
        spent: Spent { input: 120_000, cached: 0, output: 9_000, cost_micros: Some(micros) },
        unpriced,
    };
    let row = |name: &str, waiting, working, figures| AgentRow {
        name: format!("{name}{poison}"),
        is_paused: false,
        limit: None,
        waiting,
        oldest: (waiting > 0).then(|| "2026-05-04T15:20:00Z".parse().expect("a time")),
        working,
        held_up: working,
        figures,
    };
    let rows = [
        row(
            "feature/researcher",
            0,
            1,
            AgentFigures {
                ended: 42,
                completed: 40,
                first_pass: 37,
                attempts: 45,
                claims: 120,
                refuted: 2,
                spending: spending(16_400_000, 0),
            },
        ),
        row(
            "feature/writer",
            4,
            2,
            AgentFigures {
                ended: 31,
                completed: 24,
                first_pass: 9,
                attempts: 60,
                claims: 210,
                refuted: 38,
                spending: spending(44_100_000, 3),
            },
        ),
        AgentRow { is_paused: true, limit: Some(2), ..row("invoices/checker", 7, 0, AgentFigures::default()) },
    ];
    let list = AgentList { rows: &rows, recent: 100 };
    let none = AgentList { rows: &[], recent: 100 };
    let work = AgentWork { row: &rows[1], handoffs, next: handoffs.last().map(|last| &last.id), recent: 100 };
    vec![
        ("agents", baton_page::agents::page(viewer, &list)),
        ("agents-one", baton_page::agents::work_page(viewer, &work)),
        ("agents-empty", baton_page::agents::page(viewer, &none)),
    ]
}
