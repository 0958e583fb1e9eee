//! The command line, as its user runs it: exit codes, words and the shape of its JSON. Looks at nothing that a user
//! cannot see.

mod conform;
mod links;
mod run;
mod trace;
mod usage;
