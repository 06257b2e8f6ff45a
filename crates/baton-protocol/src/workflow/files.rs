//! Eyes on the files around a workflow file. A port: this crate does no I/O, whoever judges brings the eyes.

use crate::surroundings::PathState;

/// The files that a workflow file speaks of.
pub trait Files {
    /// Says what stands at a path, relative to the workflow file or absolute.
    fn look(&self, path: &str) -> PathState;

    /// Says whether there is a program that can be started: a path as in `look`, or a name that is searched for.
    fn has_program(&self, program: &str) -> bool;

    /// Says whether a variable of the environment is set.
    fn has_variable(&self, name: &str) -> bool;
}
