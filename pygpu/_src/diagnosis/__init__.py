"""The report of `python -m pygpu`: a look at each backend, in child processes that may crash."""
