"""The report of `python -m pygpu`: checks each backend, in child processes because drivers may
crash."""
