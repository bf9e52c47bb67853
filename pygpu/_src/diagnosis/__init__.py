"""What `python -m pygpu` shows: a look at each backend, in child processes that may crash."""
