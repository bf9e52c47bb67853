"""numpy.random.Generator on a device.

Each method is one launch, either of :mod:`.random` (blocks of a few numbers, with the parameters
as arguments) or of an elementwise kernel of :mod:`.distributions` (parameters that are arrays, and
distributions by rejection). Both count blocks of 128 random bits from the position of the
:class:`Philox4x32`: item i of a result depends only on that position and on i.
"""

from __future__ import annotations

import copy
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu import _array
from pygpu._src.array import elementwise, launch_cache
from pygpu._src.array.device import Device, as_device
from pygpu._src.codegen.fastpath import public_methods
from pygpu._src.util.public import publish

from . import distributions, random_arguments, random_sequences
from .bit_generator import Philox4x32
from .random_arguments import OnDevice

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import SupportsIndex, TypeAlias

    from numpy.typing import DTypeLike

    from pygpu._src.array.array_types import AnyDevice, GPUArray

    _Size: TypeAlias = SupportsIndex | Sequence[SupportsIndex] | None
    _Out: TypeAlias = _array.GPUArray[Any] | None

__all__ = ["Generator", "default_rng"]

_Parameter = tuple[str, Any, str]  # name, value, rule of random_arguments.CHECKS


@public_methods
class Generator:
    """numpy.random.Generator's methods, whose results are arrays on a device.

    bit_generator: a :class:`Philox4x32`. device: what pygpu.xp.as_device() accepts, by default
    pygpu.xp.default_device(). All devices give the same numbers; those computed by sine, logarithm
    and similar functions may differ in the last digits.

    Parameters are numbers, host arrays or device arrays, and are broadcast. Those on the device
    are not checked: invalid ones give NaN, or -1 for integers. size: the shape of the result, by
    default that of the parameters, () for numbers. out: an array to fill, of any strides. dtype:
    float32 or float64 (the default if the device has it), which is also the precision of the
    computation; for counts, int64 by default.
    """

    def __init__(self, bit_generator: Philox4x32, device: AnyDevice = None) -> None:
        if not isinstance(bit_generator, Philox4x32):
            raise TypeError(
                "Generator: bit_generator must be a pygpu.random.Philox4x32, not "
                f"{type(bit_generator).__name__}; default_rng(seed) makes both"
            )
        self._bit_generator = bit_generator
        self._named = device if isinstance(device, str) else None
        self._device: Device = as_device(device)

    @property
    def bit_generator(self) -> Philox4x32:
        """The source of the numbers, with its state."""
        return self._bit_generator

    @property
    def device(self) -> Device:
        """The device of the results."""
        return self._device

    def __repr__(self) -> str:
        return f"<{type(self).__name__}({type(self._bit_generator).__name__}) on {self._device!r}>"

    def __reduce__(self) -> Any:
        return _restored, (type(self), self._bit_generator, self._named)

    def __copy__(self) -> Generator:
        return type(self)(self._bit_generator, self._device)

    def __deepcopy__(self, memo: Any) -> Generator:
        return type(self)(copy.deepcopy(self._bit_generator, memo), self._device)

    def spawn(self, n_children: int) -> list[Generator]:
        """Return *n_children* generators on the same device, whose streams do not overlap with
        this one."""
        bits = self._bit_generator.spawn(n_children)
        return [type(self)(child, self._device) for child in bits]

    # ---- launches

    def _fill(
        self, call: str, kind: str, scale: Any, shift: Any, size: Any, dtype: Any, out: Any
    ) -> GPUArray[Any]:
        """A kind of random_source.distribution() with its scale and shift, which are floats or
        arrays."""
        device = self._device
        real = random_arguments.real_dtype(dtype, out, device, call)
        values = scale, shift
        shape = random_arguments.shape_of(size, values, out, call)
        out = random_arguments.result(out, shape, real, device, call)
        filled: GPUArray[Any] = out
        if type(scale) is float and type(shift) is float:
            self._fill_out(out, kind, scale, shift, call)
            return filled
        operation, items = distributions.dense_operation(kind, real)
        position = self._bit_generator._take(-(-prod(shape) // items))
        return self._run(operation, position, values, out)

    def _fill_out(self, out: Any, kind: str, scale: Any, shift: Any, call: str) -> None:
        bits = self._bit_generator
        with bits.lock:
            high = bits._filler.counter >> 64
            bits._filler.fill(out, kind, scale, shift, None, call)
            bits._filler.counter = high << 64 | bits._filler.counter & ((1 << 64) - 1)

    def _run(
        self, operation: Any, position: tuple[int, int, int], values: tuple[Any, ...], out: Any
    ) -> GPUArray[Any]:
        """Launch an operation of distributions with these parameters into *out*."""
        filled: GPUArray[Any] = out
        operands = (*position, *values)
        dense = out._c_contiguous
        if dense and _array._call(operation.name, *operands, out=out) is not None:
            return filled
        if out.size == 0:
            return filled
        ready = [self._operand(v, dtype, out) for v, dtype in zip(operands, operation.inputs)]
        call = launch_cache.Call(operation.name, tuple(ready), out) if dense else None
        elementwise.run(operation, [out], ready, out.shape, call=call)
        return filled

    def _operand(self, value: Any, dtype: np.dtype[Any], out: Any) -> Any:
        """Return a parameter as an operand of a kernel: host arrays are copied to the device, and
        arrays that share *out*'s memory are copied, too."""
        if isinstance(value, np.ndarray):
            return random_arguments.new(self._device, value.astype(dtype))
        if isinstance(value, OnDevice) and out._shares_memory(value):
            return value._copy()
        return value

    def _draw(
        self, name: str, parameters: tuple[_Parameter, ...], size: Any, dtype: Any, out: Any
    ) -> GPUArray[Any]:
        """A distribution of distributions.FUNCTIONS."""
        device, take = self._device, random_arguments.parameter
        values = tuple([take(name, *given, device) for given in parameters])
        return self._draw_values(name, values, size, dtype, out)

    def _draw_values(
        self, name: str, values: tuple[Any, ...], size: Any, dtype: Any, out: Any
    ) -> GPUArray[Any]:
        """_draw() of what random_arguments.parameter() returned."""
        device = self._device
        distributions.check_driver(name, device.backend)
        if name in distributions.WHOLE:
            stored = random_arguments.integer_dtype(dtype, out, name)
            real = random_arguments.real_dtype(None, None, device, name)
        else:
            stored = real = random_arguments.real_dtype(dtype, out, device, name)
        shape = random_arguments.shape_of(size, values, out, name)
        out = random_arguments.result(out, shape, stored, device, name)
        operation = distributions.operation(name, real, stored, len(values))
        return self._run(operation, self._bit_generator._take(prod(shape)), values, out)

    def _draw_loc_scale(
        self, kind: str, loc: Any, scale: Any, size: Any, dtype: Any, out: Any
    ) -> GPUArray[Any]:
        device = self._device
        shift = random_arguments.parameter(kind, "loc", loc, "any", device)
        scale = random_arguments.parameter(kind, "scale", scale, "not negative", device)
        return self._fill(kind, kind, scale, shift, size, dtype, out)

    def _draw_one_parameter(
        self, kind: str, name: str, value: Any, rule: str, size: Any, dtype: Any, out: Any
    ) -> GPUArray[Any]:
        scale = random_arguments.parameter(kind, name, value, rule, self._device)
        return self._fill(kind, kind, scale, 0.0, size, dtype, out)

    # ---- uniform numbers

    def random(
        self, size: _Size = None, dtype: DTypeLike | None = None, out: _Out = None
    ) -> GPUArray[Any]:
        """Uniform numbers in [0, 1): multiples of 2**-53 in float64, of 2**-24 in float32."""
        return self._fill("random", "uniform", 1.0, 0.0, size, dtype, out)

    def uniform(
        self,
        low: Any = 0.0,
        high: Any = 1.0,
        size: _Size = None,
        *,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> GPUArray[Any]:
        """Uniform numbers in [low, high). Rounding may produce *high*."""
        device = self._device
        low = random_arguments.parameter("uniform", "low", low, "any", device)
        high = random_arguments.parameter("uniform", "high", high, "any", device)
        for value in (low, high):
            if not isinstance(value, OnDevice) and not np.all(np.isfinite(value)):
                raise OverflowError("Range exceeds valid bounds")
        if isinstance(low, OnDevice) and isinstance(high, np.ndarray):
            high = random_arguments.new(device, high.astype(low.dtype))
        if isinstance(high, OnDevice) and isinstance(low, np.ndarray):
            low = random_arguments.new(device, low.astype(high.dtype))
        scale = high - low
        if not isinstance(scale, OnDevice):
            if not np.all(np.isfinite(scale)):
                raise OverflowError("Range exceeds valid bounds")
            random_arguments.check("uniform", "high - low", scale, "not negative")
        return self._fill("uniform", "uniform", scale, low, size, dtype, out)

    def integers(
        self,
        low: Any,
        high: Any = None,
        size: _Size = None,
        dtype: DTypeLike | None = None,
        endpoint: bool = False,
        *,
        out: _Out = None,
    ) -> GPUArray[Any]:
        """Integers in [low, high), in [low, high] with *endpoint*, in [0, low) without *high*, all
        equally likely (D. Lemire, 2019). dtype: any integer dtype, or bool; int64 by default. If
        *low* is not below a *high* on the device, that item is undefined within its dtype."""
        made: GPUArray[Any] = random_sequences.integers(self, low, high, size, dtype, endpoint, out)
        return made

    def bytes(self, length: int) -> bytes:
        """Random bytes, on the host."""
        return random_sequences.random_bytes(self, length)

    # ---- distributions of real numbers

    def standard_normal(
        self, size: _Size = None, dtype: DTypeLike | None = None, out: _Out = None
    ) -> GPUArray[Any]:
        """Normal numbers with mean 0 and standard deviation 1: see normal()."""
        return self._fill("standard_normal", "normal", 1.0, 0.0, size, dtype, out)

    def standard_exponential(
        self,
        size: _Size = None,
        dtype: DTypeLike | None = None,
        method: str = "inv",
        out: _Out = None,
    ) -> GPUArray[Any]:
        """Exponential numbers with mean 1, by inversion, whatever the method ("zig" or "inv")."""
        if method not in ("zig", "inv"):
            raise ValueError(f"standard_exponential: method must be 'zig' or 'inv', not {method!r}")
        return self._fill("standard_exponential", "exponential", 1.0, 0.0, size, dtype, out)

    def standard_cauchy(
        self, size: _Size = None, *, dtype: DTypeLike | None = None, out: _Out = None
    ) -> GPUArray[Any]:
        """Cauchy's distribution, by inversion."""
        return self._fill("standard_cauchy", "cauchy", 1.0, 0.0, size, dtype, out)

    def standard_gamma(
        self,
        shape: Any,
        size: _Size = None,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> GPUArray[Any]:
        """Gamma distribution with scale 1: see gamma()."""
        return self._draw("gamma", (("shape", shape, "not negative"), _ONE), size, dtype, out)

    def lognormal(
        self,
        mean: Any = 0.0,
        sigma: Any = 1.0,
        size: _Size = None,
        *,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> GPUArray[Any]:
        """Numbers whose logarithm has this mean and standard deviation."""
        device = self._device
        shift = random_arguments.parameter("lognormal", "mean", mean, "any", device)
        scale = random_arguments.parameter("lognormal", "sigma", sigma, "not negative", device)
        return self._fill("lognormal", "log_normal", scale, shift, size, dtype, out)

    def triangular(
        self,
        left: Any,
        mode: Any,
        right: Any,
        size: _Size = None,
        *,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> GPUArray[Any]:
        """A density that rises from *left* to *mode* and falls to *right*, by inversion."""
        take, device = random_arguments.parameter, self._device
        names = ("left", left), ("mode", mode), ("right", right)
        values = tuple(take("triangular", name, x, "any", device) for name, x in names)
        for wrong, message in (
            (lambda a, b, c: a > b, "left > mode"),
            (lambda a, b, c: b > c, "mode > right"),
            (lambda a, b, c: a == c, "left == right"),
        ):
            _check_together(values, wrong, message)
        return self._draw_values("triangular", values, size, dtype, out)

    def normal(
        self,
        loc: Any = 0.0,
        scale: Any = 1.0,
        size: _Size = None,
        *,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> GPUArray[Any]:
        """Normal numbers with mean *loc* and standard deviation *scale* (G. E. P. Box, M. E.
        Muller, 1958). They are within 6.7 deviations for float32, 8.6 for float64."""
        return self._draw_loc_scale("normal", loc, scale, size, dtype, out)

    def exponential(
        self,
        scale: Any = 1.0,
        size: _Size = None,
        *,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> GPUArray[Any]:
        """Exponential numbers with mean *scale*, by inversion."""
        return self._draw_one_parameter(
            "exponential", "scale", scale, "not negative", size, dtype, out
        )

    def laplace(
        self,
        loc: Any = 0.0,
        scale: Any = 1.0,
        size: _Size = None,
        *,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> GPUArray[Any]:
        """Laplace's distribution, by inversion."""
        return self._draw_loc_scale("laplace", loc, scale, size, dtype, out)

    def logistic(
        self,
        loc: Any = 0.0,
        scale: Any = 1.0,
        size: _Size = None,
        *,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> GPUArray[Any]:
        """The logistic distribution, by inversion."""
        return self._draw_loc_scale("logistic", loc, scale, size, dtype, out)

    def gumbel(
        self,
        loc: Any = 0.0,
        scale: Any = 1.0,
        size: _Size = None,
        *,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> GPUArray[Any]:
        """Gumbel's distribution, by inversion."""
        return self._draw_loc_scale("gumbel", loc, scale, size, dtype, out)

    def weibull(
        self,
        a: Any,
        size: _Size = None,
        *,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> GPUArray[Any]:
        """Weibull's distribution of shape *a* and scale 1, by inversion."""
        return self._draw_one_parameter("weibull", "a", a, "not negative", size, dtype, out)

    def pareto(
        self,
        a: Any,
        size: _Size = None,
        *,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> GPUArray[Any]:
        """Pareto's second (Lomax) distribution of shape *a*, by inversion."""
        return self._draw_one_parameter("pareto", "a", a, "positive", size, dtype, out)

    def power(
        self,
        a: Any,
        size: _Size = None,
        *,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> GPUArray[Any]:
        """Density a x**(a - 1) on [0, 1], by inversion."""
        return self._draw_one_parameter("power", "a", a, "positive", size, dtype, out)

    def rayleigh(
        self,
        scale: Any = 1.0,
        size: _Size = None,
        *,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> GPUArray[Any]:
        """Rayleigh's distribution, by inversion."""
        return self._draw_one_parameter(
            "rayleigh", "scale", scale, "not negative", size, dtype, out
        )

    def gamma(
        self,
        shape: Any,
        scale: Any = 1.0,
        size: _Size = None,
        *,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> GPUArray[Any]:
        """Gamma distribution (G. Marsaglia, W. W. Tsang, 2000)."""
        parameters = (("shape", shape, "not negative"), ("scale", scale, "not negative"))
        return self._draw("gamma", parameters, size, dtype, out)

    def beta(
        self,
        a: Any,
        b: Any,
        size: _Size = None,
        *,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> GPUArray[Any]:
        """Beta distribution, x / (x + y) of two gamma variates."""
        parameters = (("a", a, "positive"), ("b", b, "positive"))
        return self._draw("beta", parameters, size, dtype, out)

    def chisquare(
        self,
        df: Any,
        size: _Size = None,
        *,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> GPUArray[Any]:
        """Chi-squared, twice a gamma variate."""
        parameters = (("df", df, "positive"),)
        return self._draw("chisquare", parameters, size, dtype, out)

    def noncentral_chisquare(
        self,
        df: Any,
        nonc: Any,
        size: _Size = None,
        *,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> GPUArray[Any]:
        """Noncentral chi-squared: a sum of squares, or a Poisson mixture if df <= 1."""
        parameters = (("df", df, "positive"), ("nonc", nonc, "not negative"))
        return self._draw("noncentral_chisquare", parameters, size, dtype, out)

    def f(
        self,
        dfnum: Any,
        dfden: Any,
        size: _Size = None,
        *,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> GPUArray[Any]:
        """Fisher's F, a ratio of chi-squared variates."""
        parameters = (("dfnum", dfnum, "positive"), ("dfden", dfden, "positive"))
        return self._draw("f", parameters, size, dtype, out)

    def noncentral_f(
        self,
        dfnum: Any,
        dfden: Any,
        nonc: Any,
        size: _Size = None,
        *,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> GPUArray[Any]:
        """Noncentral F."""
        parameters = (
            ("dfnum", dfnum, "positive"),
            ("dfden", dfden, "positive"),
            ("nonc", nonc, "not negative"),
        )
        return self._draw("noncentral_f", parameters, size, dtype, out)

    def standard_t(
        self,
        df: Any,
        size: _Size = None,
        *,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> GPUArray[Any]:
        """Student's t, a normal over the root of a gamma variate."""
        parameters = (("df", df, "positive"),)
        return self._draw("standard_t", parameters, size, dtype, out)

    def vonmises(
        self,
        mu: Any,
        kappa: Any,
        size: _Size = None,
        *,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> GPUArray[Any]:
        """Von Mises' distribution on [-pi, pi] (D. J. Best, N. I. Fisher, 1979)."""
        parameters = (("mu", mu, "any"), ("kappa", kappa, "not negative"))
        return self._draw("vonmises", parameters, size, dtype, out)

    def wald(
        self,
        mean: Any,
        scale: Any,
        size: _Size = None,
        *,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> GPUArray[Any]:
        """Inverse Gaussian (J. R. Michael, W. R. Schucany, R. W. Haas, 1976)."""
        parameters = (("mean", mean, "positive"), ("scale", scale, "positive"))
        return self._draw("wald", parameters, size, dtype, out)

    # ---- counts

    def poisson(
        self,
        lam: Any = 1.0,
        size: _Size = None,
        *,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> GPUArray[Any]:
        """Poisson counts: PTRS (W. Hoermann, 1993); products of uniform numbers if lam < 10."""
        lam = random_arguments.parameter("poisson", "lam", lam, "mean", self._device)
        stored = random_arguments.integer_dtype(dtype, out, "poisson")
        largest = float(min(np.iinfo(stored).max, (1 << 63) - 1))
        largest -= 10 * largest**0.5
        _check_together((lam,), lambda x: x > largest, "lam value too large")
        return self._draw_values("poisson", (lam,), size, stored, out)

    def hypergeometric(
        self,
        ngood: Any,
        nbad: Any,
        nsample: Any,
        size: _Size = None,
        *,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> GPUArray[Any]:
        """How many of *nsample* drawn items are among the *ngood*: HRUA (E. Stadlober, 1989), or
        one by one if fewer than 10 are drawn or left."""
        take, device = random_arguments.parameter, self._device
        names = ("ngood", ngood), ("nbad", nbad), ("nsample", nsample)
        good, bad, sample = (take("hypergeometric", n, x, "count", device) for n, x in names)
        for value in (good, bad):
            _check_together(
                (value,),
                lambda x: x >= 1e9,
                "both ngood and nbad must be less than 1000000000",
            )
        values = good, bad, sample
        _check_together(values, lambda a, b, c: a + b < c, "ngood + nbad < nsample")
        return self._draw_values("hypergeometric", values, size, dtype, out)

    def binomial(
        self,
        n: Any,
        p: Any,
        size: _Size = None,
        *,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> GPUArray[Any]:
        """Binomial counts: BTRS (W. Hoermann, 1993); BINV (V. Kachitvichyanukul, B. W. Schmeiser,
        1988) if n min(p, 1 - p) < 10."""
        parameters = (("n", n, "count"), ("p", p, "probability"))
        return self._draw("binomial", parameters, size, dtype, out)

    def geometric(
        self,
        p: Any,
        size: _Size = None,
        *,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> GPUArray[Any]:
        """Trials until the first success, by inversion."""
        parameters = (("p", p, "possible"),)
        return self._draw("geometric", parameters, size, dtype, out)

    def negative_binomial(
        self,
        n: Any,
        p: Any,
        size: _Size = None,
        *,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> GPUArray[Any]:
        """Failures before *n* successes: Poisson counts of gamma-distributed means."""
        parameters = (("n", n, "positive number"), ("p", p, "possible"))
        return self._draw("negative_binomial", parameters, size, dtype, out)

    def zipf(
        self,
        a: Any,
        size: _Size = None,
        *,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> GPUArray[Any]:
        """Zipf's distribution (L. Devroye, 1986, X.6.1)."""
        parameters = (("a", a, "above 1"),)
        return self._draw("zipf", parameters, size, dtype, out)

    def logseries(
        self,
        p: Any,
        size: _Size = None,
        *,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> GPUArray[Any]:
        """Logarithmic series (A. W. Kemp, 1981, LK)."""
        parameters = (("p", p, "below 1"),)
        return self._draw("logseries", parameters, size, dtype, out)

    # ---- of several numbers

    def multinomial(
        self, n: Any, pvals: Any, size: _Size = None, *, out: _Out = None
    ) -> GPUArray[Any]:
        """How often each category along the last axis of *pvals* occurs in *n* trials: binomial
        counts, one after another."""
        made: GPUArray[Any] = random_sequences.multinomial(self, n, pvals, size, out)
        return made

    def multivariate_hypergeometric(
        self, colors: Any, nsample: int, size: _Size = None, method: str = "marginals"
    ) -> GPUArray[Any]:
        """How many of each colour are among *nsample* drawn: hypergeometric counts, one after
        another, whatever the method ("marginals" or "count")."""
        made: GPUArray[Any] = random_sequences.multivariate_hypergeometric(
            self, colors, nsample, size, method
        )
        return made

    def dirichlet(
        self,
        alpha: Any,
        size: _Size = None,
        *,
        dtype: DTypeLike | None = None,
        out: _Out = None,
    ) -> GPUArray[Any]:
        """Gamma variates over their sum, along a new last axis of ``len(alpha)``."""
        made: GPUArray[Any] = random_sequences.dirichlet(self, alpha, size, dtype, out)
        return made

    def multivariate_normal(
        self,
        mean: Any,
        cov: Any,
        size: _Size = None,
        check_valid: str = "warn",
        tol: float = 1e-8,
        *,
        method: str = "svd",
        dtype: DTypeLike | None = None,
    ) -> GPUArray[Any]:
        """Normal vectors: *cov* is factored on the host by *method* ("svd", "eigh", "cholesky")."""
        made: GPUArray[Any] = random_sequences.multivariate_normal(
            self, mean, cov, size, check_valid, tol, method, dtype
        )
        return made

    def choice(
        self,
        a: Any,
        size: _Size = None,
        replace: bool = True,
        p: Any = None,
        axis: int = 0,
        shuffle: bool = True,
    ) -> GPUArray[Any]:
        """Items of *a* along an axis, or of range(a). Without *replace* and with *p*, they are the
        items with the smallest values of an exponential number divided by p (P. S. Efraimidis, P.
        G. Spirakis, 2006)."""
        made: GPUArray[Any] = random_sequences.choice(self, a, size, replace, p, axis, shuffle)
        return made

    def permutation(self, x: Any, axis: int = 0) -> GPUArray[Any]:
        """range(x), or a copy of an array, shuffled along an axis: sorted by random numbers of 64
        bits."""
        made: GPUArray[Any] = random_sequences.permutation(self, x, axis)
        return made

    def shuffle(self, x: GPUArray[Any], axis: int = 0) -> None:
        """Shuffle an array on the device along an axis, in place."""
        random_sequences.shuffle(self, x, axis)

    def permuted(self, x: Any, *, axis: int | None = None, out: _Out = None) -> GPUArray[Any]:
        """A copy with the items along an axis in random order, independently for each line; all
        items if *axis* is None."""
        made: GPUArray[Any] = random_sequences.permuted(self, x, axis, out)
        return made


_ONE: _Parameter = ("scale", 1.0, "any")


def _check_together(values: tuple[Any, ...], wrong: Any, message: str) -> None:
    """Raise ValueError if parameters are invalid together; skipped if one of them is on the
    device."""
    if any(isinstance(v, OnDevice) for v in values):
        return
    try:
        bad = wrong(*values)
    except ValueError:  # they cannot be broadcast, which is reported elsewhere
        return
    if bad if isinstance(bad, bool) else np.any(bad):
        raise ValueError(message)


def default_rng(seed: Any = None, device: AnyDevice = None) -> Generator:
    """Return a Generator whose numbers a seed determines.

    seed: None for entropy of the operating system, an int or a sequence of ints, a
    numpy.random.SeedSequence, a Philox4x32, which is used itself, or a Generator, which is
    returned if it is on the device. device: what pygpu.xp.as_device() accepts, by default
    pygpu.xp.default_device().
    """
    if isinstance(seed, Generator):
        if device is None or as_device(device) == seed.device:
            return seed
        return Generator(seed.bit_generator, device)
    if isinstance(seed, Philox4x32):
        return Generator(seed, device)
    if isinstance(seed, (np.random.Generator, np.random.BitGenerator, np.random.RandomState)):
        raise TypeError(
            f"default_rng: a {type(seed).__name__} of NumPy draws on the host; pass a seed or a "
            "numpy.random.SeedSequence"
        )
    return Generator(Philox4x32(seed), device)


def _restored(cls: type[Generator], bit_generator: Philox4x32, device: str | None) -> Generator:
    return cls(bit_generator, device)


publish(globals(), __all__, "pygpu.random")
