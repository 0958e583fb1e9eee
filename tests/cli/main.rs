//! The command line, as its user runs it.
