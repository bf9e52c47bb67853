"""The walk over a function's syntax tree: what it does for each kind of node."""
