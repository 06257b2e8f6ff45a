//! The acknowledgment: received, understood, starting — or what is in the way.

use super::Extensions;
use crate::wire::{vocabulary, wire};

vocabulary! {
    /// How far a request was understood.
    pub enum Understanding, "degree of understanding", unknown_kind {
        /// All of it.
        Full = "full",
        /// A part; the blockers say what is missing.
        Partial = "partial",
        /// Nothing.
        None = "none",
    }
}

wire! {
    /// "Understood, starting", or not.
    pub struct Acknowledgment {
        /// Identifier of the handoff.
        optional id: Option<String>,
        /// Whether the request arrived.
        optional received: Option<bool>,
        /// Who had sent it.
        optional from: Option<String>,
        /// How far it was understood.
        optional understanding: Option<Understanding>,
        /// The task in the receiver's own words.
        optional task: Option<String>,
        /// The constraints in the receiver's own words.
        optional constraints: Vec<String>,
        /// What must be clarified.
        optional questions: Vec<String>,
        /// What is in the way.
        optional blockers: Vec<String>,
        /// What the receiver asks for.
        optional action: Option<String>,
        /// Whether the work begins.
        optional starting: Option<bool>,
        /// What dialects said beyond this.
        optional extensions: Vec<Extensions>,
    }
}
