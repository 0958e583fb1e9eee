//! Tests of the shell of a broker and its parts. No other process is simulated here.
