"""Arrays as Python objects, and their methods that reduce, scan, sort and multiply."""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any, ClassVar, Self, SupportsIndex, overload

import numpy as np

from pygpu import _array
from pygpu._src.codegen.fastpath import public_methods
from pygpu._src.util.lazy import lazy
from pygpu._src.util.public import publish
from pygpu.version import ARRAY_API

from . import (
    layout,
    operators,  # noqa: F401 - gives the C slots their work
)
from .base import _ScalarT_co
from .shaping import Shaping

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from .array_types import _Out, _Where
    from .device import Device

_numpy: Any = np  # its functions handle device arrays by __array_function__
_allow_host = os.environ.get("PYGPU_ALLOW_HOST_COPIES", "") not in ("", "0")


_NOT_IMPLICITLY = (
    "an array on a device is not converted to a NumPy array implicitly, because that copies it to "
    "the host.\n"
    "Copy it yourself: x.get()\n"
    "Or allow it: pygpu.allow_host_copies(), also as a context manager, or "
    "PYGPU_ALLOW_HOST_COPIES=1"
)


class allow_host_copies:
    """Let libraries for host arrays convert device arrays implicitly (``numpy.asarray(a)``,
    ``plt.plot(a)``, ``np.save(file, a)``), which copies them to the host.

    By default this raises an error, because such copies go unnoticed. A call sets the switch for
    the whole process and all threads; ``with pygpu.allow_host_copies():`` sets it for a block, and
    the end of the block restores what was set before the call. The environment variable
    PYGPU_ALLOW_HOST_COPIES=1 sets it from the start.
    """

    __slots__ = ("_before",)

    def __init__(self, allow: bool = True) -> None:
        global _allow_host
        self._before = _allow_host
        _allow_host = bool(allow)

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exception: object) -> None:
        global _allow_host
        _allow_host = self._before

    def __repr__(self) -> str:
        return f"<pygpu.allow_host_copies: {'on' if _allow_host else 'off'}>"


class _NoBackend:
    """The backend of an array whose __init__() was not called."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            "this array has no memory: __init__() of its class was not called (a subclass's "
            "__init__() has to call super().__init__())"
        )

    def __repr__(self) -> str:
        return "none: __init__() was not called"


_array._register("arrays", no_backend=_NoBackend())
_REDUCTION = "pygpu._src.array.reduction"


@public_methods
class ArrayBase(Shaping[_ScalarT_co]):
    """The base of pygpu.array.Array and pygpu.cuda.gpuarray.GPUArray."""

    # dtype of comparisons for programs that rely on PyOpenCL's or PyCUDA's result: None is bool,
    # "same" the array's own.
    _comparison_dtype: ClassVar[Any] = None

    # ---- as a Python object

    def item(self, *args: SupportsIndex | tuple[SupportsIndex, ...]) -> Any:
        """Return an item as a Python number: the only one, or the one at a flat or full index."""
        if not args:
            if self.size != 1:
                raise ValueError("can only convert an array of size 1 to a Python scalar")
            return self._get(None, None, True)[0].item()
        index = args[0] if len(args) == 1 else args
        if isinstance(index, tuple):
            if len(index) != self.ndim:
                raise ValueError("incorrect number of indices for array")
            return self[index]._get(None, None, True)[0].item()
        return self.reshape(self.size)[index]._get(None, None, True)[0].item()

    def tolist(self) -> Any:
        """The items as nested lists of Python numbers."""
        return self._get(None, None, True)[0].tolist()

    def tobytes(self, order: str | None = "C") -> bytes:
        """The items as bytes, in C's or Fortran's order."""
        return self._get(None, None, True)[0].tobytes(order)  # type: ignore[arg-type]

    def _only(self, what: str) -> Any:
        if self.size != 1:
            raise TypeError(f"only arrays with one item can be converted to {what}")
        return self.item()

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. "
                "Use a.any() or a.all()"
                if self.size
                else "The truth value of an empty array is ambiguous."
            )
        return bool(self.item())

    def __int__(self) -> int:
        return int(self._only("int"))

    def __float__(self) -> float:
        return float(self._only("float"))

    def __complex__(self) -> complex:
        return complex(self._only("complex"))

    def __index__(self) -> int:
        if self.ndim or self.dtype.kind not in "iu":
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return int(self.item())

    @overload
    def __round__(self, ndigits: None = None, /) -> int: ...
    @overload
    def __round__(self, ndigits: SupportsIndex, /) -> Self: ...
    def __round__(self, ndigits: SupportsIndex | None = None, /) -> Any:
        if self.ndim or self.dtype.kind not in "iuf":
            raise TypeError(
                f"round() takes arrays of one real number without axes, not {self.dtype} of shape "
                f"{self.shape}; a.round(decimals) rounds every item"
            )
        return round(self.item()) if ndigits is None else self.round(ndigits.__index__())

    def __trunc__(self) -> int:
        if self.ndim or self.dtype.kind not in "iuf":
            raise TypeError(
                f"math.trunc() takes arrays of one real number without axes, not {self.dtype} of "
                f"shape {self.shape}"
            )
        return int(self.item())

    if not TYPE_CHECKING:  # type checkers reject conversions that need permission

        def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
            if not _allow_host:
                raise TypeError(_NOT_IMPLICITLY)
            if copy is False:
                raise ValueError(
                    "`copy=False` is not possible: NumPy cannot see an array on a device without a "
                    "copy"
                )
            host = self._get(None, None, True)[0]
            return host if dtype is None else host.astype(dtype, copy=False)

        @property
        def __array_interface__(self) -> dict[str, Any]:
            # Pillow asks for this alone. NumPy asks for it before __array__, which it then calls.
            if not _allow_host:
                # With obj, so that Python does not add the name of a similar attribute.
                raise AttributeError(_NOT_IMPLICITLY, name="__array_interface__", obj=None)
            if self.dtype.kind not in "biufc":
                raise AttributeError(f"__array_interface__ is left to __array__ for {self.dtype}")
            host = np.array(self._get(None, None, True)[0], order="C", copy=None)
            shape, strides = host.shape, host.strides
            return dict(version=3, shape=shape, typestr=host.dtype.str, strides=strides, data=host)

    def __copy__(self) -> Self:
        return self._copy()

    def __deepcopy__(self, memo: Any) -> Self:
        return self._copy()

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes

    def __format__(self, spec: str) -> str:
        if spec and self.ndim:
            raise TypeError(f"{spec!r}: only arrays without axes take format specifications")
        return format(self.item(), spec) if spec else str(self)

    def _array_ufunc(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Handle what the fast path of __array_ufunc__ does not."""
        from . import protocols

        return protocols.array_ufunc(self, ufunc, method, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from . import array_function

        made = array_function.array_function(self, function, args, kwargs)
        if self._own_init and not self._views_by_class:
            return array_function.results_of_class(self, made, (args, kwargs))
        return made

    # ---- the array API standard

    @property
    def device(self) -> Device:
        """The pygpu.xp.Device of the array: its context, driver's device and queue."""
        from .device import Device

        _ = self.backend.name  # raises if __init__() was not called
        return Device(self.backend, self.queue)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """Return the module pygpu.xp, or pygpu.xp.v2024_12 for a version up to 2024.12 of the
        standard. Raises ValueError for unsupported versions."""
        name = ARRAY_API.get(api_version)
        if name is not None:
            return importlib.import_module(f"pygpu.{name}")
        versions = [repr(version) for version in ARRAY_API if version is not None]
        raise ValueError(
            f"__array_namespace__: api_version={api_version!r} is not supported; pass "
            f"{', '.join(versions[:-1])} or {versions[-1]}"
        )

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        """Return the array itself if it is on that device, else a copy there.

        device: what pygpu.xp.as_device() accepts, such as "cuda:1". stream: a queue or stream of
        that device, for the operations of the result. Between GPUs the copy is ordered with both
        arrays' streams; without a direct connection it goes through host memory."""
        from .device import Device, as_device

        where = as_device(device)
        if stream is not None:
            where = Device(where.backend, stream)
        if where == self.device:
            return self
        return lazy("pygpu._src.array.device_copy").copy_to(self, where)

    def to(self, device: Any, /, *, stream: Any = None) -> Any:
        """As to_device()."""
        return self.to_device(device, stream=stream)

    # ---- memory for other libraries: interchange.py

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Export the memory as a DLPack capsule, as specified by the array API standard.

        stream: handle of the CUDA stream that will use it, which is made to wait for the array's;
        None is the default stream, -1 disables waiting. dl_device: (1, 0) for a copy on the host.
        Raises BufferError for memory that cannot be exported."""
        interchange = lazy("pygpu._src.array.interchange")

        return interchange.dlpack(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's device type (2 CUDA, 4 OpenCL, 13 CUDA's managed memory, 1 for the CUDA
        simulator, whose memory is the host's) and number."""
        kind: tuple[int, int] = lazy("pygpu._src.array.interchange").dlpack_device(self)
        return kind

    def __dask_tokenize__(self) -> Any:
        """Return a token of the contents for Dask."""
        interchange = lazy("pygpu._src.array.interchange")

        return interchange.token(self)

    # ---- reductions: reduction.py

    def _reduce(self, kind: str, axis: Any, **options: Any) -> Any:
        return lazy(_REDUCTION).reduce(kind, self, axis, **options)

    def sum(
        self,
        axis: int | tuple[int, ...] | None = None,
        dtype: DTypeLike | None = None,
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> Any:
        """Sum over axes (None: all), as numpy.sum; small integers are summed in int64."""
        return lazy(_REDUCTION).reduce(
            "sum", self, axis, dtype=dtype, out=out, keepdims=keepdims, initial=initial, where=where
        )

    def prod(
        self,
        axis: int | tuple[int, ...] | None = None,
        dtype: DTypeLike | None = None,
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> Any:
        """Product over axes, as numpy.prod."""
        return lazy(_REDUCTION).reduce(
            "prod",
            self,
            axis,
            dtype=dtype,
            out=out,
            keepdims=keepdims,
            initial=initial,
            where=where,
        )

    def min(
        self,
        axis: int | tuple[int, ...] | None = None,
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> Self:
        """Least item over axes, as numpy.min: NaN propagates."""
        least: Self = lazy(_REDUCTION).reduce(
            "min", self, axis, out=out, keepdims=keepdims, initial=initial, where=where
        )
        return least

    def max(
        self,
        axis: int | tuple[int, ...] | None = None,
        out: _Out = None,
        keepdims: bool = False,
        initial: complex | np.generic | None = None,
        where: _Where = None,
    ) -> Self:
        """Greatest item over axes, as numpy.max: NaN propagates."""
        greatest: Self = lazy(_REDUCTION).reduce(
            "max", self, axis, out=out, keepdims=keepdims, initial=initial, where=where
        )
        return greatest

    def argmin(self, axis: int | None = None, out: _Out = None, keepdims: bool = False) -> Any:
        """Index of the first least item along an axis, of the flat array for None."""
        return lazy(_REDUCTION).reduce("argmin", self, axis, out=out, keepdims=keepdims)

    def argmax(self, axis: int | None = None, out: _Out = None, keepdims: bool = False) -> Any:
        """Index of the first greatest item along an axis, of the flat array for None."""
        return lazy(_REDUCTION).reduce("argmax", self, axis, out=out, keepdims=keepdims)

    def ptp(
        self, axis: int | tuple[int, ...] | None = None, out: _Out = None, keepdims: bool = False
    ) -> Self:
        """Greatest minus least item over axes."""
        found: Self = lazy(_REDUCTION).reduce("ptp", self, axis, out=out, keepdims=keepdims)
        return found

    def mean(
        self,
        axis: int | tuple[int, ...] | None = None,
        dtype: DTypeLike | None = None,
        out: _Out = None,
        keepdims: bool = False,
        where: _Where = None,
    ) -> Any:
        """Arithmetic mean over axes, as numpy.mean."""
        return lazy(_REDUCTION).reduce(
            "mean", self, axis, dtype=dtype, out=out, keepdims=keepdims, where=where
        )

    def var(
        self,
        axis: int | tuple[int, ...] | None = None,
        dtype: DTypeLike | None = None,
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
        mean: Any = None,
    ) -> Any:
        """Variance over axes, as numpy.var."""
        if mean is not None:
            return _numpy.var(self, axis, dtype, out, ddof, keepdims, where=where, mean=mean)
        return lazy(_REDUCTION).reduce(
            "var", self, axis, dtype=dtype, out=out, ddof=ddof, keepdims=keepdims, where=where
        )

    def std(
        self,
        axis: int | tuple[int, ...] | None = None,
        dtype: DTypeLike | None = None,
        out: _Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        where: _Where = None,
        mean: Any = None,
    ) -> Any:
        """Standard deviation over axes, as numpy.std."""
        if mean is not None:
            return _numpy.std(self, axis, dtype, out, ddof, keepdims, where=where, mean=mean)
        return lazy(_REDUCTION).reduce(
            "std", self, axis, dtype=dtype, out=out, ddof=ddof, keepdims=keepdims, where=where
        )

    # ---- scans, sorting, products

    def cumsum(
        self, axis: int | None = None, dtype: DTypeLike | None = None, out: _Out = None
    ) -> Any:
        """Running sums along an axis, of the flat array for None."""
        scan = lazy("pygpu._src.array.scan")

        return scan.scan("cumsum", self, axis, dtype=dtype, out=out)

    def cumprod(
        self, axis: int | None = None, dtype: DTypeLike | None = None, out: _Out = None
    ) -> Any:
        """Running products along an axis, of the flat array for None."""
        scan = lazy("pygpu._src.array.scan")

        return scan.scan("cumprod", self, axis, dtype=dtype, out=out)

    def argsort(
        self, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None
    ) -> Any:
        """Return the indices that sort along an axis; the order of equal items is kept. order:
        fields of records to compare first."""
        sort = lazy("pygpu._src.array.sort")

        sort.check_kind(kind, stable)
        return sort.argsort(self, axis, order)

    def sort(
        self, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None
    ) -> None:
        """Sort along an axis, in place. order: fields of records to compare first."""
        sort = lazy("pygpu._src.array.sort")

        sort.check_kind(kind, stable)
        layout.check_writable(self, "sort")
        self._copy_from(sort.sort(self, axis, order))

    def partition(
        self, kth: Any, axis: int = -1, kind: str = "introselect", order: Any = None
    ) -> None:
        """Move the kth item along an axis to its sorted position, with smaller ones before it, in
        place."""
        self._copy_from(_numpy.partition(self, kth, axis, kind, order))

    def argpartition(
        self, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None
    ) -> Any:
        """Return the indices of such a partition, of the flat array for None."""
        return _numpy.argpartition(self, kth, axis, kind, order)

    def choose(self, choices: Any, out: _Out = None, mode: Any = "raise") -> Any:
        """Select items from the choices by this array's items."""
        return _numpy.choose(self, choices, out, mode)

    def take(
        self, indices: Any, axis: int | None = None, out: _Out = None, mode: str = "raise"
    ) -> Self:
        """Return items by index along an axis, of the flat array for None."""
        advanced_indexing = lazy("pygpu._src.array.advanced_indexing")

        found: Self = advanced_indexing.take(self, indices, axis, out, mode)
        return found

    def put(self, indices: Any, values: Any, mode: str = "raise") -> None:
        """Set items of the flat array by index."""
        advanced_indexing = lazy("pygpu._src.array.advanced_indexing")

        advanced_indexing.put(self, indices, values, mode)

    def repeat(self, repeats: Any, axis: int | None = None) -> Self:
        """Repeat each item, or row along an axis, so many times."""
        found: Self = _numpy.repeat(self, repeats, axis)
        return found

    def compress(self, condition: Any, axis: int | None = None, out: _Out = None) -> Self:
        """Return items of the flat array, or rows along an axis, for which the condition is
        true."""
        found: Self = _numpy.compress(condition, self, axis, out)
        return found

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Self:
        """A view of the diagonal of two axes."""
        found: Self = _numpy.diagonal(self, offset, axis1, axis2)
        return found

    def trace(self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike | None = None,
              out: _Out = None) -> Any:  # fmt: skip
        """The sum of a diagonal."""
        return _numpy.trace(self, offset, axis1, axis2, dtype, out)

    def searchsorted(self, v: Any, side: Any = "left", sorter: Any = None) -> Any:
        """Return the positions where items would have to be inserted for the array to stay
        sorted."""
        return _numpy.searchsorted(self, v, side, sorter)

    def nonzero(self) -> Any:
        """Return the indices of nonzero items, an array for each axis."""
        advanced_indexing = lazy("pygpu._src.array.advanced_indexing")

        return advanced_indexing.nonzero(self)

    def dot(self, other: Any, out: _Out = None) -> Any:
        """numpy.dot: inner product of vectors, matrix product."""
        from .routines import joining

        return joining.dot(self, other, out=out)

    def clip(self, min: Any = None, max: Any = None, out: _Out = None, **options: Any) -> Self:
        """Limit items to an interval; options: those of ufuncs, such as ``where=``."""
        found: Self
        if options:
            found = _numpy.clip(self, min, max, out, **options)
            return found
        from .routines import joining

        found = joining.clip(self, min, max, out)
        return found

    def round(self, decimals: int = 0, out: _Out = None) -> Self:
        """Rounded to a number of decimals, halves to even."""
        from .routines import joining

        found: Self = joining.round(self, decimals, out)
        return found


publish(globals(), ["allow_host_copies"], "pygpu")
