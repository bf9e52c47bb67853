"""The walk over a function's syntax tree, by kinds of nodes."""
