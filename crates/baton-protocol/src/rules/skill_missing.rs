//! A mandatory skill that was not used.

rule! {
    /// ## What it checks
    /// A skill that the workflow makes mandatory for the agent was not used. Where the agent's program shows which skills it
    /// uses, that decides; to name it in `skills_invoked` or `library_skills_read` is a claim and proves nothing. Where
    /// nothing shows it, it must be named. Spelling does not matter, nor what comes before a colon. Applies to reports of
    /// finished work, when Baton runs it: only the workflow knows which skills are mandatory.
    ///
    /// ## Why it matters
    /// Mandatory skills are how a team makes sure that everybody verifies, persists and plans in the same way. An agent that
    /// skips one has finished something else than was asked.
    ///
    /// ## Example
    /// With `mandatory_skills: [gateway-integrations, verifying-before-completion]` in the workflow:
    /// ```json
    /// { "skills_invoked": ["gateway-integrations"] }
    /// ```
    ///
    /// ## Use instead
    /// ```json
    /// { "skills_invoked": ["gateway-integrations", "verifying-before-completion"] }
    /// ```
    "skill-missing": Evidence, Error
}
