"""cuSOLVER: factorizations of matrices. Its matrices are in Fortran order: an array of shape (...,
n, m) in C order is a stack of matrices with m rows and n columns."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from pygpu import _array  # noqa: F401 - arrays are there
from pygpu._src.array import primitives
from pygpu._src.runtime.libraries import handles
from pygpu._src.runtime.libraries.loading import Library

_BY_TYPE = {
    "getrf_bufferSize": "piipip",
    "getrf": "piipippp",
    "getrs": "piiipippip",
    "potrf_bufferSize": "piipip",
    "potrf": "piipipip",
    "geqrf_bufferSize": "piipip",
    "geqrf": "piipippip",
    "gesvd_bufferSize": "piip",
    "gesvd": "pcciipippipipipp",
}
_REAL = {
    "orgqr_bufferSize": "piiipipp",
    "orgqr": "piiipippip",
    "syevd_bufferSize": "piiipipp",
    "syevd": "piiipippip",
}
_RENAMED = {"orgqr": "ungqr", "syevd": "heevd"}


def _name(letter: str, name: str) -> str:
    if letter in "CZ":
        for real, complex_ in _RENAMED.items():
            name = name.replace(real, complex_)
    return f"cusolverDn{letter}{name}"


FUNCTIONS = {
    "cusolverDnCreate": "p",
    "cusolverDnDestroy": "p",
    "cusolverDnSetStream": "pp",
} | {_name(t, name): letters for t in "SDCZ" for name, letters in (_BY_TYPE | _REAL).items()}
STATUS = {
    1: "CUSOLVER_STATUS_NOT_INITIALIZED",
    2: "CUSOLVER_STATUS_ALLOC_FAILED",
    3: "CUSOLVER_STATUS_INVALID_VALUE",
    4: "CUSOLVER_STATUS_ARCH_MISMATCH",
    5: "CUSOLVER_STATUS_MAPPING_ERROR",
    6: "CUSOLVER_STATUS_EXECUTION_FAILED",
    7: "CUSOLVER_STATUS_INTERNAL_ERROR",
    9: "CUSOLVER_STATUS_NOT_SUPPORTED",
}
LIBRARY = Library(
    "cusolver",
    FUNCTIONS,
    {13: "libcusolver.so.12", 12: "libcusolver.so.11", 11: "libcusolver.so.11"},
    {
        13: ("libnvJitLink.so.13", "libcublasLt.so.13", "libcublas.so.13", "libcusparse.so.12"),
        12: ("libnvJitLink.so.12", "libcublasLt.so.12", "libcublas.so.12", "libcusparse.so.12"),
        11: ("libcublasLt.so.11", "libcublas.so.11", "libcusparse.so.11"),
    },
    STATUS,
)
_LETTERS = {"f": "S", "d": "D", "F": "C", "D": "Z"}
_LOWER, _UPPER = 0, 1


def _create() -> Any:
    return handles.made(lambda where: LIBRARY.call("cusolverDnCreate", where))


_handles = handles.Handles(LIBRARY, _create, "cusolverDnDestroy", "cusolverDnSetStream")


class _Call:
    """Calls for each matrix of a stack: a handle, addresses, and status words."""

    def __init__(self, like: Any, handle: Any, queue: Any, infos: Any, scratch: Any) -> None:
        self.letter = _LETTERS[like.dtype.char]
        self.like, self.handle, self.queue, self.scratch = like, handle, queue, scratch
        self.infos = handles.pointer(infos, queue)

    def at(self, array: Any, i: int) -> int:
        """Return the address of matrix i of an array; all axes except the first form a matrix or
        vector."""
        return handles.pointer(array, self.queue) + i * int(array.strides[0])

    def size(self, name: str, *args: Any) -> int:
        count = ctypes.c_int()
        LIBRARY.call(_name(self.letter, f"{name}_bufferSize"), *args, ctypes.byref(count))
        return max(count.value, 1)

    def memory(self, name: str, *args: Any) -> tuple[int, int]:
        """Return (address, items) of the scratch memory that a function needs."""
        count = self.size(name, *args)
        self.scratch.append(primitives.empty(self.like, (count,), self.like.dtype))
        return handles.pointer(self.scratch[-1], self.queue), count

    def __call__(self, name: str, *args: Any) -> None:
        LIBRARY.call(_name(self.letter, name), *args)


def _each(like: Any, arrays: list[Any], do: Callable[[_Call], None]) -> Any:
    """Make the calls; returns their status words, an int32 per matrix, on the device."""
    infos = primitives.empty(like, (max(like.shape[0], 1),), np.int32)
    primitives.fill(infos, 0)
    scratch: list[Any] = []
    with handles.running(LIBRARY, like, [*arrays, infos]) as queue:
        do(_Call(like, _handles.get(like.backend, queue), queue, infos, scratch))
    return infos


def lu(a: Any) -> tuple[Any, Any]:
    """Factor a stack (count, n, n) in place; returns (pivots, status words)."""
    count, n = a.shape[:2]
    pivots = primitives.empty(a, (count, n), np.int32)

    def do(call: _Call) -> None:
        memory, _ = call.memory("getrf", call.handle, n, n, call.at(a, 0), n)
        for i in range(count):
            address = call.at(a, i)
            end = call.at(pivots, i), call.infos + 4 * i
            call("getrf", call.handle, n, n, address, n, memory, *end)

    return pivots, _each(a, [a, pivots], do)


def lu_solve(a: Any, pivots: Any, b: Any) -> None:
    """Solve with the result of lu(); b: (count, right sides, n), in place."""
    count, n = a.shape[:2]

    def do(call: _Call) -> None:
        for i in range(count):
            arguments = call.at(a, i), n, call.at(pivots, i), call.at(b, i), n, call.infos + 4 * i
            call("getrs", call.handle, 0, n, b.shape[1], *arguments)

    _each(a, [a, pivots, b], do)


def cholesky(a: Any, upper: bool = False) -> Any:
    """Factor a stack (count, n, n) in place, in one triangle; returns the status words."""
    count, n = a.shape[:2]
    part = _UPPER if upper else _LOWER

    def do(call: _Call) -> None:
        memory = call.memory("potrf", call.handle, part, n, call.at(a, 0), n)
        for i in range(count):
            call("potrf", call.handle, part, n, call.at(a, i), n, *memory, call.infos + 4 * i)

    return _each(a, [a], do)


def qr(a: Any, full: Any) -> Any:
    """Factor a stack (count, n, m) in place: R above the diagonal. full: None, or a stack (count,
    k, m) that becomes Q, of min(m, n) <= k <= m columns. Returns the status words."""
    count, n, m = a.shape
    rank = min(m, n)
    factors = primitives.empty(a, (count, max(rank, 1)), a.dtype)

    def do(call: _Call) -> None:
        memory = call.memory("geqrf", call.handle, m, n, call.at(a, 0), m)
        for i in range(count):
            arguments = call.at(a, i), m, call.at(factors, i), *memory, call.infos + 4 * i
            call("geqrf", call.handle, m, n, *arguments)

    infos = _each(a, [a, factors], do)
    if full is None:
        return infos
    k = full.shape[1]
    full[:, :rank] = a[:, :rank]

    def make(call: _Call) -> None:
        sizes = call.handle, m, k, rank
        memory = call.memory("orgqr", *sizes, call.at(full, 0), m, call.at(factors, 0))
        for i in range(count):
            arguments = call.at(full, i), m, call.at(factors, i), *memory, call.infos + 4 * i
            call("orgqr", *sizes, *arguments)

    return _each(full, [full, factors], make)


def svd(a: Any, values: Any, left: Any, right: Any, complete: bool) -> Any:
    """Compute the singular values of a stack (count, n, m) with m >= n, which is overwritten.
    left: None or (count, m or n, m), right: (count, n, n). Returns the status words."""
    count, n, m = a.shape
    job = b"N" if left is None else b"A" if complete else b"S"
    real = primitives.empty(a, (max(n, 1),), values.dtype)

    def do(call: _Call) -> None:
        memory = call.memory("gesvd", call.handle, m, n)
        extra = handles.pointer(real, call.queue)
        for i in range(count):
            u = 0 if left is None else call.at(left, i)
            vt = 0 if right is None else call.at(right, i)
            arguments = call.at(a, i), m, call.at(values, i), u, m, vt, n
            call(
                "gesvd",
                *(call.handle, job, job, m, n, *arguments, *memory, extra, call.infos + 4 * i),
            )

    return _each(a, [x for x in (a, values, left, right, real) if x is not None], do)


def eigh(a: Any, values: Any, vectors: bool, upper: bool) -> Any:
    """Compute the eigenvalues of a stack (count, n, n), which becomes the eigenvectors, or is
    overwritten. Returns the status words."""
    count, n = a.shape[:2]
    mode = int(vectors), _UPPER if upper else _LOWER

    def do(call: _Call) -> None:
        arguments = call.at(a, 0), n, call.at(values, 0)
        memory = call.memory("syevd", call.handle, *mode, n, *arguments)
        for i in range(count):
            arguments = call.at(a, i), n, call.at(values, i)
            call("syevd", call.handle, *mode, n, *arguments, *memory, call.infos + 4 * i)

    return _each(a, [a, values], do)
