//! A skill that is said to be used, but was not called.

rule! {
    /// ## What it checks
    /// A skill in `skills_invoked` was not called, or one in `library_skills_read` was not read, in the transcript of
    /// the session. Reading through the shell counts. Without a complete, readable transcript the claim stays
    /// unverified. A transcript that has changed since the agent ended proves nothing. Applies when Baton runs the work
    /// and the agent leaves a transcript.
    ///
    /// ## Why it matters
    /// The list is easy to copy from the prompt. Only the calls show that the skill was there when the work was done.
    ///
    /// ## Example
    /// The transcript has a call of `gateway-integrations` only.
    /// ```json
    /// { "skills_invoked": ["gateway-integrations", "verifying-before-completion"] }
    /// ```
    ///
    /// ## Use instead
    /// Call the skill, or leave it out.
    /// ```json
    /// { "skills_invoked": ["gateway-integrations"] }
    /// ```
    "skill-unproven": Evidence, Error
}
