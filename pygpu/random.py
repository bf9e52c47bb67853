"""numpy.random on a device: Generator's methods, whose results are arrays of the device.

>>> from pygpu import random
>>> rng = random.default_rng(17)
>>> x = rng.normal(180, 8, size=1000)

``random.normal(180, 8, 1000)`` and the other functions of the module draw from a generator of the
process, which :func:`seed` starts anew. The numbers are those of a counter-based generator, the
same on every device: docs/arrays/random.md.
"""

from __future__ import annotations

import inspect as _inspect
import threading as _threading
from typing import TYPE_CHECKING
from typing import Any as _Any
from typing import Final as _Final

from pygpu._src.array.device import default_device as _default_device
from pygpu._src.codegen.fastpath import public_functions as _public_functions
from pygpu._src.user_kernels.bit_generator import Philox4x32
from pygpu._src.user_kernels.generator import Generator, default_rng

if TYPE_CHECKING:
    from pygpu import GPUArray as _GPUArray
    from pygpu._src.array.array_types import AnyDevice as _AnyDevice

__all__ = [
    "Generator",
    "Philox4x32",
    "RandomState",
    "beta",
    "binomial",
    "bytes",
    "chisquare",
    "choice",
    "default_rng",
    "dirichlet",
    "exponential",
    "f",
    "gamma",
    "geometric",
    "gumbel",
    "hypergeometric",
    "laplace",
    "logistic",
    "lognormal",
    "logseries",
    "multinomial",
    "multivariate_normal",
    "negative_binomial",
    "noncentral_chisquare",
    "noncentral_f",
    "normal",
    "pareto",
    "permutation",
    "poisson",
    "power",
    "rand",
    "randint",
    "randn",
    "random",
    "random_sample",
    "rayleigh",
    "seed",
    "shuffle",
    "standard_cauchy",
    "standard_exponential",
    "standard_gamma",
    "standard_normal",
    "standard_t",
    "triangular",
    "uniform",
    "vonmises",
    "wald",
    "weibull",
    "zipf",
]

_bits: Philox4x32 | None = None
_lock = _threading.Lock()


def _generator() -> Generator:
    """A generator for the default device, with the bits that all devices share."""
    global _bits
    with _lock:
        if _bits is None:
            _bits = Philox4x32(None)
        return Generator(_bits, _default_device())


def seed(seed: _Any = None) -> None:
    """Start the process's generator anew. seed: what default_rng() takes; None for entropy of the
    operating system."""
    global _bits
    made = default_rng(seed).bit_generator
    with _lock:
        _bits = made


def rand(*shape: int) -> _GPUArray[_Any]:
    """Uniform numbers from [0, 1) in an array of this shape."""
    return _generator().random(shape)


def randn(*shape: int) -> _GPUArray[_Any]:
    """Numbers of the standard normal distribution in an array of this shape."""
    return _generator().standard_normal(shape)


def random_sample(size: int | tuple[int, ...] | None = None) -> _GPUArray[_Any]:
    """Uniform numbers from [0, 1)."""
    return _generator().random(size)


def randint(
    low: _Any, high: _Any = None, size: int | tuple[int, ...] | None = None, dtype: _Any = int
) -> _GPUArray[_Any]:
    """Integers from low to below high, or from 0 to below low."""
    return _generator().integers(low, high, size, dtype)


class RandomState(Generator):
    """A generator with the names of NumPy's older class as well: rand, randn, randint, ...

    seed and device: what default_rng() takes. The numbers are not those of NumPy's class.
    """

    def __init__(self, seed: _Any = None, device: _AnyDevice = None) -> None:
        super().__init__(default_rng(seed, device).bit_generator, device)

    def seed(self, seed: _Any = None) -> None:
        """Start anew. seed: what default_rng() takes."""
        self._bit_generator = default_rng(seed, self.device).bit_generator

    def rand(self, *shape: int) -> _GPUArray[_Any]:
        """Uniform numbers from [0, 1) in an array of this shape."""
        return self.random(shape)

    def randn(self, *shape: int) -> _GPUArray[_Any]:
        """Numbers of the standard normal distribution in an array of this shape."""
        return self.standard_normal(shape)

    def random_sample(self, size: int | tuple[int, ...] | None = None) -> _GPUArray[_Any]:
        """Uniform numbers from [0, 1)."""
        return self.random(size)

    def randint(
        self,
        low: _Any,
        high: _Any = None,
        size: int | tuple[int, ...] | None = None,
        dtype: _Any = int,
    ) -> _GPUArray[_Any]:
        """Integers from low to below high, or from 0 to below low."""
        return self.integers(low, high, size, dtype)


def _function(name: str) -> _Any:
    method = getattr(Generator, name)

    def function(*args: _Any, **options: _Any) -> _Any:
        return getattr(_generator(), name)(*args, **options)

    signature = _inspect.signature(method)
    _, *parameters = signature.parameters.values()  # without self
    function.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=parameters
    )
    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    function.__doc__ = method.__doc__
    return function


if TYPE_CHECKING:
    _g = Generator(Philox4x32(0))
    beta: _Final = _g.beta
    binomial: _Final = _g.binomial
    bytes: _Final = _g.bytes
    chisquare: _Final = _g.chisquare
    choice: _Final = _g.choice
    dirichlet: _Final = _g.dirichlet
    exponential: _Final = _g.exponential
    f: _Final = _g.f
    gamma: _Final = _g.gamma
    geometric: _Final = _g.geometric
    gumbel: _Final = _g.gumbel
    hypergeometric: _Final = _g.hypergeometric
    laplace: _Final = _g.laplace
    logistic: _Final = _g.logistic
    lognormal: _Final = _g.lognormal
    logseries: _Final = _g.logseries
    multinomial: _Final = _g.multinomial
    multivariate_normal: _Final = _g.multivariate_normal
    negative_binomial: _Final = _g.negative_binomial
    noncentral_chisquare: _Final = _g.noncentral_chisquare
    noncentral_f: _Final = _g.noncentral_f
    normal: _Final = _g.normal
    pareto: _Final = _g.pareto
    permutation: _Final = _g.permutation
    poisson: _Final = _g.poisson
    power: _Final = _g.power
    random: _Final = _g.random
    rayleigh: _Final = _g.rayleigh
    shuffle: _Final = _g.shuffle
    standard_cauchy: _Final = _g.standard_cauchy
    standard_exponential: _Final = _g.standard_exponential
    standard_gamma: _Final = _g.standard_gamma
    standard_normal: _Final = _g.standard_normal
    standard_t: _Final = _g.standard_t
    triangular: _Final = _g.triangular
    uniform: _Final = _g.uniform
    vonmises: _Final = _g.vonmises
    wald: _Final = _g.wald
    weibull: _Final = _g.weibull
    zipf: _Final = _g.zipf
else:
    # The methods of Generator that are functions of numpy.random with the same parameters.
    globals().update({name: _function(name) for name in __all__ if name not in globals()})

_public_functions(globals(), __all__)
