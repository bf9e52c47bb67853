"""Shape, order and interpretation of arrays: reshape, transpose, view, astype and others."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from math import copysign, prod
from typing import Any, Self, SupportsIndex

import numpy as np

from pygpu import _array
from pygpu._src.codegen import dtypes
from pygpu._src.codegen.fastpath import fastpath, public_methods
from pygpu._src.util.lazy import lazy

from . import elementwise, launch_cache, layout, primitives, ufuncs
from .base import _ScalarT_co
from .indexing import Indexing


class Flags:
    """The memory layout of an array's items. Immutable, because arrays share it."""

    __slots__ = ("c_contiguous", "f_contiguous", "forc")

    c_contiguous: bool
    f_contiguous: bool
    forc: bool  # contiguous in C or Fortran order

    def __init__(self, c_contiguous: bool, f_contiguous: bool) -> None:
        object.__setattr__(self, "c_contiguous", c_contiguous)
        object.__setattr__(self, "f_contiguous", f_contiguous)
        object.__setattr__(self, "forc", c_contiguous or f_contiguous)

    @property
    def fnc(self) -> bool:
        """Contiguous in Fortran order and not in C order: what numpy.isfortran() returns."""
        return self.f_contiguous and not self.c_contiguous

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"the flag {name!r} of an array cannot be set")

    def __reduce__(self) -> Any:
        return type(self), (self.c_contiguous, self.f_contiguous)

    def __getitem__(self, name: str) -> bool:
        names = {"C": "c_contiguous", "F": "f_contiguous", "FORC": "forc", "FNC": "fnc"}
        names |= {"C_CONTIGUOUS": "c_contiguous", "F_CONTIGUOUS": "f_contiguous"}
        return bool(getattr(self, names[name]))

    def __repr__(self) -> str:
        return f"  C_CONTIGUOUS : {self.c_contiguous}\n  F_CONTIGUOUS : {self.f_contiguous}"


def _sequence(args: tuple[Any, ...]) -> Any:
    """Return arguments that were passed as one sequence, or one by one."""
    return args[0] if len(args) == 1 else args


_array._register("arrays", flags=tuple(Flags(bool(n & 1), bool(n & 2)) for n in range(4)))


@public_methods
class Shaping(Indexing[_ScalarT_co]):
    """Views and copies of other shape, order or dtype."""

    @fastpath("reshape")
    def reshape(
        self,
        *shape: SupportsIndex | Iterable[SupportsIndex],
        order: str = "C",
        copy: bool | None = None,
    ) -> Self:
        """Return the items, read and written in C or Fortran *order* ("A": Fortran if the array
        is), in another shape; one length may be -1. A view if possible.

        copy: True always copies, False raises ValueError if a copy is needed.
        """
        new = _sequence(shape)
        new = (operator.index(new),) if not hasattr(new, "__iter__") else tuple(new)
        new = tuple(operator.index(n) for n in new)
        if order not in ("C", "F"):
            fortran = self._f_contiguous and not self._c_contiguous
            order = layout.as_order("reshape", order, fortran, among="CFA")
        if new.count(-1) > 1:
            raise ValueError("can only specify one unknown dimension")
        if -1 in new:
            rest = prod(n for n in new if n != -1)
            if rest == 0 or self.size % rest:
                raise ValueError(f"cannot reshape array of size {self.size} into shape {new}")
            new = tuple(self.size // rest if n == -1 else n for n in new)
        if any(n < 0 for n in new) or prod(new) != self.size:
            raise ValueError(f"cannot reshape array of size {self.size} into shape {new}")
        strides = layout.reshape_strides(self.shape, self.strides, self.itemsize, new, order)
        if strides is None or copy:
            if copy is False:
                raise ValueError("reshape: this needs a copy, but copy=False")
            base = self._copy(order=order)
            strides = layout.reshape_strides(base.shape, base.strides, self.itemsize, new, order)
            return base._view(new, strides, base.offset)
        return self._view(new, strides, self.offset)

    @fastpath("ravel")
    def ravel(self, order: str = "C") -> Self:
        """Return one axis with all items; a view if they are one after the other in memory."""
        if order not in ("C", "F"):
            fortran = self._f_contiguous and not self._c_contiguous
            order = layout.as_order("ravel", order, fortran)
        if order == "K" and not self._c_contiguous:  # in memory order
            return self.transpose(layout.iteration_order(self.shape, self.strides)).ravel("C")
        order = "C" if order == "K" else order
        contiguous = self._f_contiguous if order == "F" else self._c_contiguous
        return self.reshape((self.size,), order=order, copy=None if contiguous else True)

    @property
    def flat(self) -> Any:
        """The items in C order, to be read and set by one index, as numpy.ndarray.flat."""
        return lazy("pygpu._src.array.flat").Flat(self)

    @flat.setter
    def flat(self, value: Any) -> None:
        lazy("pygpu._src.array.flat").Flat(self)[...] = value

    def flatten(self, order: str = "C") -> Self:
        """A copy with one axis."""
        fortran = self._f_contiguous and not self._c_contiguous
        order = layout.as_order("flatten", order, fortran)
        if order == "K":
            return self.transpose(layout.iteration_order(self.shape, self.strides)).flatten("C")
        return self.reshape((self.size,), order=order, copy=True)

    @fastpath("squeeze")
    def squeeze(self, axis: int | tuple[int, ...] | None = None) -> Self:
        """Remove the axes of length 1, or only the given ones, which must have length 1."""
        if axis is None:
            gone = {k for k, n in enumerate(self.shape) if n == 1}
        else:
            if self.ndim == 0 and axis in (0, -1):  # as in NumPy
                axis = ()
            gone = set(layout.normalize_axes(layout.axis_argument(axis), self.ndim))
            if any(self.shape[k] != 1 for k in gone):
                raise ValueError(
                    "cannot select an axis to squeeze out which has size not equal to one"
                )
        kept = [k for k in range(self.ndim) if k not in gone]
        shape, strides = self.shape, self.strides
        return self._view(
            tuple(shape[k] for k in kept), tuple(strides[k] for k in kept), self.offset
        )

    @fastpath("transpose")
    def transpose(self, *order: Any, axes: Any = None) -> Self:
        """Return a view with the axes in another order, by default the reverse. axes: the same by
        keyword, as in PyCUDA."""
        if order and axes is not None:
            raise TypeError("transpose: the order of axes was given twice")
        order = _sequence(order) if order else axes
        if order is None:
            order = tuple(reversed(range(self.ndim)))
        elif not hasattr(order, "__iter__"):
            order = (order,)
        order = tuple(layout.normalize_axis(k, self.ndim) for k in order)
        if len(order) != self.ndim:
            raise ValueError("axes don't match array")
        if len(set(order)) != self.ndim:
            raise ValueError("repeated axis in transpose")
        shape, strides = self.shape, self.strides
        return self._view(
            tuple(shape[k] for k in order), tuple(strides[k] for k in order), self.offset
        )

    @property
    @fastpath("transposed")
    def T(self) -> Self:
        """A view with the axes in reverse order."""
        return self.transpose()

    @property
    def mT(self) -> Self:
        """A view with the last two axes swapped."""
        if self.ndim < 2:
            raise ValueError("matrix transpose with ndim < 2 is undefined")
        return self.swapaxes(-1, -2)

    def swapaxes(self, axis1: int, axis2: int) -> Self:
        """A view with two axes swapped."""
        order = list(range(self.ndim))
        a, b = layout.normalize_axis(axis1, self.ndim), layout.normalize_axis(axis2, self.ndim)
        order[a], order[b] = order[b], order[a]
        return self.transpose(order)

    @fastpath("view")
    def view(self, dtype: Any = None) -> Any:
        """Reinterpret the bytes as another dtype; the last axis changes its length if the size
        differs."""
        if dtype is None:
            return self._view(self.shape, self.strides, self.offset)
        dtype = dtypes.native(dtype, "view")
        old, new = self.itemsize, dtype.itemsize
        shape, strides = self.shape, self.strides
        if old != new:
            if new == 0:
                raise ValueError("view: the items of the new dtype have no bytes")
            if not shape:
                raise ValueError(
                    "Changing the dtype of a 0d array is only supported if the "
                    "itemsize is unchanged"
                )
            n = shape[-1]
            if strides[-1] != old and n != 1 and self.size:
                advice = "; a.T.view(dtype).T changes the first axis" if strides[0] == old else ""
                raise ValueError(
                    "To change to a dtype of a different size, the last axis must be contiguous"
                    + advice
                )
            if new < old and old % new:
                raise ValueError(
                    "When changing to a smaller dtype, its size must be a divisor of the size of "
                    "original dtype"
                )
            if n * old % new:
                raise ValueError(
                    "When changing to a larger dtype, its size must be a divisor of the total "
                    "size in bytes of the last axis of the array."
                )
            shape = (*shape[:-1], n * old // new)
            strides = layout.c_strides(shape, new) if self._c_contiguous else (*strides[:-1], new)
        return self._view(shape, strides, self.offset, dtype)

    @fastpath("astype")
    def astype(
        self, dtype: Any, queue: Any = None, *, copy: bool = True, order: str = "K",
        casting: Any = "unsafe", subok: bool = True,
    ) -> Any:  # fmt: skip
        """Return a copy converted to another dtype; copy=False: the array itself if it already has
        it. Raises TypeError for a conversion that the rule *casting* does not allow."""
        dtype = dtypes.native(dtype, "astype")
        if isinstance(queue, str):
            queue, order = None, queue  # NumPy's second argument
        if casting != "unsafe" and not np.can_cast(self.dtype, dtype, casting):
            raise TypeError(
                f"astype: cannot cast array data from {self.dtype!r} to {dtype!r} according to the "
                f"rule {casting!r}"
            )
        if order not in ("K", "C", "F"):
            fortran = self._f_contiguous and not self._c_contiguous
            order = layout.as_order("astype", order, fortran, "K")
        if dtype.kind == self.dtype.kind and dtype.str[1:] in ("M8", "m8"):
            dtype = self.dtype  # a date without a unit: keep the array's unit
        if dtype == self.dtype:
            return self._copy(queue, order) if copy else self
        if dtype.type is not np.void or self.dtype.names is None:
            dtypes.require(self.backend, "astype", dtype, self.dtype, dates=True)
        primitives.warn_of_real(self.dtype, dtype)
        shape, strides = self.shape, None
        if order == "F" or (order == "K" and self._f_contiguous and not self._c_contiguous):
            strides = layout.f_strides(shape, dtype.itemsize)
        elif order == "K" and not self._c_contiguous:
            strides = layout.keep_order_strides(shape, self.strides, self.itemsize)
            strides = tuple(s // self.itemsize * dtype.itemsize for s in strides)
        new = self._new(shape, dtype, strides, queue)
        new._copy_from(self, queue)
        return new

    def _part(self, imaginary: bool) -> Any:
        """The real or imaginary parts of complex items, as a view."""
        half = np.dtype(f"f{self.itemsize // 2}")
        return self._view(self.shape, self.strides, self.offset + half.itemsize * imaginary, half)

    @property
    def real(self) -> Any:
        """The real parts: a view, for real arrays the array itself."""
        return self._part(False) if self.dtype.kind == "c" else self

    @real.setter
    def real(self, value: Any) -> None:
        self.real[...] = value

    @property
    def imag(self) -> Any:
        """The imaginary parts: a view; zeros for real arrays."""
        if self.dtype.kind == "c":
            return self._part(True)
        zeros = self._new(self.shape, self.dtype)
        zeros._place_items(0)
        return zeros

    @imag.setter
    def imag(self, value: Any) -> None:
        if self.dtype.kind != "c":
            raise TypeError("array does not have imaginary part to set")
        self.imag[...] = value

    def conj(self, out: Any = None) -> Self:
        """Complex conjugates; of real arrays the array itself."""
        if self.dtype.kind != "c" and out is None:
            return self
        found: Self = ufuncs.call("conjugate", (self,), None if out is None else (out,))
        return found

    def conjugate(self, out: Any = None) -> Self:
        """Complex conjugates."""
        return self.conj(out)

    def reverse(self, queue: Any = None) -> Self:
        """Return a copy of an array with one axis, in reverse order."""
        if self.ndim != 1:
            raise ValueError("reverse: the array must have one axis; use a[::-1] for others")
        backwards: Self = self[::-1]
        return backwards._copy(queue, "C")

    @fastpath("fill")
    def fill(self, value: Any, queue: Any = None, wait_for: Any = None) -> Self:
        """Set all items to a number. Returns the array."""
        if isinstance(value, np.ndarray):
            value = value[()]
        layout.check_writable(self, "fill")
        if (
            self.size
            and not wait_for
            and (self._c_contiguous or self._f_contiguous)
            and _is_zero(value)
        ):
            queue = self._queue(queue)
            event = self.backend.fill(
                queue,
                self.base_data,
                self.offset,
                self.size * self.itemsize,
                0,
                wait_for=self.backend.wait_list(queue, [self]),
            )
            self.backend.note_event(queue, event, [self], [])
        else:
            self._copy_from(value, queue, wait_for)
        return self

    def _mul_add(
        self, selffac: Any, other: Any, otherfac: Any, queue: Any = None, out: Any = None
    ) -> Any:
        """``selffac * self + otherfac * other``, in one launch."""
        if queue is None:
            cached = launch_cache.run_cached("mul_add", self, other, selffac, otherfac, out=out)
            if cached is not None:
                return cached
        loop = np.result_type(
            *(x.dtype if hasattr(x, "dtype") else x for x in (self, other, selffac, otherfac))
        )
        operation = _mul_add_operation(loop)
        shape = layout.broadcast_shapes(self.shape, other.shape)
        given = out
        if out is None:
            out = ufuncs.empty_like_operands(self, [self, other], shape, loop, queue)
        operands = [ufuncs.without_overlap(a, [out]) for a in (self, other)]
        call = None
        if operands[0] is self and operands[1] is other:
            call = launch_cache.Call("mul_add", (self, other, selffac, otherfac), given)
        elementwise.run(operation, [out], [*operands, selffac, otherfac], shape, queue, call=call)
        return out


def _is_zero(value: Any) -> bool:
    if not isinstance(value, (int, float, np.integer, np.floating)) or value != 0:
        return False
    return isinstance(value, int) or copysign(1.0, value) > 0


def _mul_add_operation(dtype: np.dtype[Any]) -> elementwise.Operation:
    multiply = ufuncs.operation_for("multiply", (dtype, dtype), (dtype,)).body
    add = ufuncs.operation_for("add", (dtype, dtype), (dtype,)).body
    kind = dtypes.compute_type(dtype)

    def use(body: str, y: str, a: str, b: str) -> str:
        return body.replace("y0", y).replace("x0", "A_").replace("x1", b).replace("A_", a)

    body = (
        f"{kind} p, q; {use(multiply, 'p', 'x2', 'x0')} {use(multiply, 'q', 'x3', 'x1')} "
        f"{use(add, 'y0', 'p', 'q')}"
    )
    return elementwise.Operation("mul_add", (dtype,) * 4, (dtype,), body)
