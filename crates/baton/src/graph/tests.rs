//! What the formats look like, and that nothing in a workflow breaks out of them.
