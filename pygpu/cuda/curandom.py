"""Random numbers on a CUDA device, under PyCUDA's names. See docs/kernels/random.md."""

from typing import Any as _Any

from .._src.user_kernels import cuda_random as _implementation
from .._src.user_kernels.cuda_random import *  # noqa: F403
from .._src.user_kernels.cuda_random import __all__ as __all__
from .._src.util.public import forwarding as _forwarding

# Of PyCUDA's texts of cuRAND's kernels and what is made of them; loaded when asked for.
_SOURCE = {
    *("gen_template", "gen_log_template", "gen_poisson_template", "gen_poisson_inplace_template"),
    *("random_source", "random_skip_ahead32_source", "random_skip_ahead64_source"),
    *("xorwow_random_source", "xorwow_skip_ahead_sequence_source"),
    *("mrg32k3a_random_source", "mrg32k3a_skip_ahead_sequence_source"),
    *("sobol_random_source", "scrambledsobol_random_source"),
    *("_RandomNumberGeneratorBase", "_PseudoRandomNumberGeneratorBase"),
}


def __getattr__(name: str) -> _Any:
    if name in _SOURCE:
        from .._src.user_kernels import curand_source

        return getattr(curand_source, name)
    return _forwarding(__name__, _implementation)(name)
