//! Speaks while reading: members of a workflow file that Baton does not know.

rule! {
    /// ## What it checks
    /// Whether every member of a workflow file is a field that Baton knows. Only `inputs` of a phase, `set_env`,
    /// `choices`, `default` and the names of inputs and agents are free.
    ///
    /// In a handoff an unknown field is kept and only a warning; in a workflow file it is an error.
    ///
    /// ## Why it matters
    /// A workflow file is a promise about limits and gates. With a misspelt `timeuot` a phase may run forever, and with
    /// a misspelt `review` nobody is asked.
    ///
    /// ## Example
    /// ```yaml
    /// phases:
    ///   - {id: implementation, agent: developer, timeuot: 30m}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// phases:
    ///   - {id: implementation, agent: developer, timeout: 30m}
    /// ```
    "unknown-workflow-field": Workflow, Error
}
