"""For pickles of signatures' types that were written before these moved: see pygpu.cuda."""

from .._src.jit.signature import *  # noqa: F403
from .._src.jit.signature import _scalar  # noqa: F401
