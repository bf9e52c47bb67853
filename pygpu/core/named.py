"""For pickles of results that were written before these classes moved."""

from .._src.array.results import *  # noqa: F403
