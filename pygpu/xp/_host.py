"""Arrays from and to the host: NumPy's functions that copy, and that read and write files."""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType
from typing import IO, TYPE_CHECKING, Any, Literal

import numpy as np

from pygpu._src.codegen import dtypes

from ._creation import asarray

if TYPE_CHECKING:
    from os import PathLike
    from typing import TypeAlias

    from numpy.typing import DTypeLike, NDArray

    from ._types import AnyDevice, GPUArray

    _File: TypeAlias = str | PathLike[str] | IO[Any]
else:
    from .._array import GPUArray

__all__ = [
    "array",
    "asanyarray",
    "ascontiguousarray",
    "asfortranarray",
    "asnumpy",
    "frombuffer",
    "fromfile",
    "fromiter",
    "fromstring",
    "genfromtxt",
    "get_array_module",
    "load",
    "loadtxt",
    "save",
    "savetxt",
    "savez",
    "savez_compressed",
]


def get_array_module(*args: Any) -> ModuleType:
    """pygpu.xp if an argument is an array on a device, else numpy: the namespace for a function of
    arrays of either, as CuPy's function of this name."""
    for x in args:
        if isinstance(x, GPUArray):
            namespace: ModuleType = x.__array_namespace__()
            return namespace
    return np


def array(
    object: Any,
    dtype: DTypeLike | None = None,
    *,
    copy: bool | None = True,
    order: str = "K",
    subok: bool = False,
    ndmin: int = 0,
    device: AnyDevice = None,
) -> GPUArray[Any]:
    """A new array of *object*: whatever asarray() takes. ndmin: insert axes of length 1 in front up
    to so many axes. copy: None to copy only where needed, False to raise ValueError then."""
    made = asarray(
        object, dtype, order, device=device, copy=copy if isinstance(object, GPUArray) else None
    )
    if copy is False and made is not object:
        raise ValueError("array: a copy is needed, but copy=False; see pygpu.xp.asarray()")
    return made.reshape((1,) * (ndmin - made.ndim) + made.shape) if made.ndim < ndmin else made


def asanyarray(
    a: Any,
    dtype: DTypeLike | None = None,
    order: str | None = None,
    *,
    device: AnyDevice = None,
    copy: bool | None = None,
) -> GPUArray[Any]:
    """asarray(), which keeps subclasses."""
    return asarray(a, dtype, order, device=device, copy=copy)


def ascontiguousarray(
    a: Any, dtype: DTypeLike | None = None, *, device: AnyDevice = None
) -> GPUArray[Any]:
    """An array in C order, with at least one axis; a copy only where needed."""
    made = asarray(a, dtype, "C", device=device)
    return made if made.ndim else made.reshape(1)


def asfortranarray(
    a: Any, dtype: DTypeLike | None = None, *, device: AnyDevice = None
) -> GPUArray[Any]:
    """An array in Fortran order, with at least one axis; a copy only where needed."""
    made = asarray(a, dtype, "F", device=device)
    return made if made.ndim else made.reshape(1)


def asnumpy(
    obj: Any,
    dtype: DTypeLike | None = None,
    *,
    order: Literal["C", "F", "A", "K"] | None = None,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """A NumPy array with a copy of a device array, which is what its get() returns; of anything
    else, numpy.asarray(obj). out: an array to copy to instead, with the same shape and dtype."""
    if out is not None and isinstance(obj, GPUArray):
        if dtype is not None or order is not None:
            raise TypeError("asnumpy: out has a dtype and an order; give neither of them")
        array: Any = obj  # of either system
        array.get(ary=out)
        return out
    host = obj.get() if isinstance(obj, GPUArray) else np.asarray(obj)
    if out is not None:
        out[...] = host
        return out
    kind = host.dtype if dtype is None else dtypes.native(dtype)
    return host.astype(kind, order="K" if order is None else order, copy=False)


# ---- from memory and files


def frombuffer(
    buffer: Any,
    dtype: DTypeLike = float,
    count: int = -1,
    offset: int = 0,
    *,
    device: AnyDevice = None,
) -> GPUArray[Any]:
    """A copy of an object with the buffer protocol."""
    return asarray(np.frombuffer(buffer, dtype, count, offset), device=device)


def fromiter(
    iter: Iterable[Any],  # noqa: A002
    dtype: DTypeLike,
    count: int = -1,
    *,
    device: AnyDevice = None,
) -> GPUArray[Any]:
    """An array of what an iterator yields."""
    return asarray(np.fromiter(iter, dtype, count), device=device)


def fromstring(
    string: str, dtype: DTypeLike = float, count: int = -1, *, sep: str, device: AnyDevice = None
) -> GPUArray[Any]:
    """An array of the numbers in a text, which *sep* separates."""
    return asarray(np.fromstring(string, dtype, count, sep=sep), device=device)


def fromfile(
    file: _File,
    dtype: DTypeLike = float,
    count: int = -1,
    sep: str = "",
    offset: int = 0,
    *,
    device: AnyDevice = None,
) -> GPUArray[Any]:
    """An array of the bytes in a file, or of numbers that *sep* separates."""
    return asarray(np.fromfile(file, dtype, count, sep, offset), device=device)


def loadtxt(
    fname: _File | Iterable[str], *args: Any, device: AnyDevice = None, **options: Any
) -> GPUArray[Any]:
    """An array of a text file; the other arguments are numpy.loadtxt's."""
    return asarray(np.loadtxt(fname, *args, **options), device=device)


def genfromtxt(
    fname: _File | Iterable[str], *args: Any, device: AnyDevice = None, **options: Any
) -> GPUArray[Any]:
    """An array of a text file that may lack values; the other arguments are numpy.genfromtxt's."""
    return asarray(np.genfromtxt(fname, *args, **options), device=device)


class Archive(dict[str, "GPUArray[Any]"]):
    """The arrays of an .npz file by name, with what programs do with NumPy's object: ``with
    xp.load(file) as arrays:``, files, close(). All arrays have been read already."""

    @property
    def files(self) -> list[str]:
        """The names of the arrays."""
        return list(self)

    def close(self) -> None:
        """Nothing: the file is closed."""

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *exception: object) -> None:
        pass


def load(
    file: _File,
    mmap_mode: Literal["r", "r+", "c"] | None = None,
    allow_pickle: bool = False,
    fix_imports: bool = True,
    encoding: Literal["ASCII", "latin1", "bytes"] = "ASCII",
    *,
    device: AnyDevice = None,
    **options: Any,
) -> GPUArray[Any] | Archive:
    """The array in an .npy file, or a dict of those in an .npz file, which also works in ``with``.

    mmap_mode: map the file instead of reading it, which saves host memory for large arrays."""
    found: Any = np.load(file, mmap_mode, allow_pickle, fix_imports, encoding, **options)
    if isinstance(found, np.ndarray):
        return asarray(found, device=device)
    with found:
        return Archive({name: asarray(found[name], device=device) for name in found.files})


def save(
    file: _File, arr: GPUArray[Any] | NDArray[Any], allow_pickle: bool = True, **options: Any
) -> None:
    """Write a copy of an array to an .npy file."""
    np.save(file, asnumpy(arr), allow_pickle, **options)


def savetxt(fname: _File, X: GPUArray[Any] | NDArray[Any], *args: Any, **options: Any) -> None:  # noqa: N803
    """Write a copy of an array to a text file; the other arguments are numpy.savetxt's."""
    np.savetxt(fname, asnumpy(X), *args, **options)


def savez(
    file: _File, *args: GPUArray[Any] | NDArray[Any], **arrays: GPUArray[Any] | NDArray[Any]
) -> None:
    """Write copies of arrays to an .npz file, by name, or as arr_0, arr_1, ..."""
    write: Any = np.savez
    write(file, *map(asnumpy, args), **{name: asnumpy(x) for name, x in arrays.items()})


def savez_compressed(
    file: _File, *args: GPUArray[Any] | NDArray[Any], **arrays: GPUArray[Any] | NDArray[Any]
) -> None:
    """savez(), compressed."""
    write: Any = np.savez_compressed
    write(file, *map(asnumpy, args), **{name: asnumpy(x) for name, x in arrays.items()})
