"""For pickles of arguments that were written before these classes moved: see pygpu.tools."""

from ._src.user_kernels.arguments import *  # noqa: F403
