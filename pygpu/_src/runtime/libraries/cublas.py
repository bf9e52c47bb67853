"""cuBLAS: products of matrices.

Arrays are in C order and cuBLAS knows Fortran's. The same memory read in the other order is the
transposed matrix, and C' = B' A', so the operands are swapped instead of copied.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from pygpu._src.codegen import dtypes

from . import handles
from .layouts import layout_of
from .loading import Library

FUNCTIONS = {
    "cublasCreate_v2": "p",
    "cublasDestroy_v2": "p",
    "cublasSetStream_v2": "pp",
    "cublasGemmEx": "piiiiip" + "pii" + "pii" + "p" + "pii" + "ii",
    "cublasGemmStridedBatchedEx": "piiiiip" + "piil" + "piil" + "p" + "piil" + "i" + "ii",
}
STATUS = {
    1: "CUBLAS_STATUS_NOT_INITIALIZED",
    3: "CUBLAS_STATUS_ALLOC_FAILED",
    7: "CUBLAS_STATUS_INVALID_VALUE",
    8: "CUBLAS_STATUS_ARCH_MISMATCH",
    11: "CUBLAS_STATUS_MAPPING_ERROR",
    13: "CUBLAS_STATUS_EXECUTION_FAILED",
    14: "CUBLAS_STATUS_INTERNAL_ERROR",
    15: "CUBLAS_STATUS_NOT_SUPPORTED",
    16: "CUBLAS_STATUS_LICENSE_ERROR",
}
LIBRARY = Library(
    "cublas",
    FUNCTIONS,
    {13: "libcublas.so.13", 12: "libcublas.so.12", 11: "libcublas.so.11"},
    {13: ("libcublasLt.so.13",), 12: ("libcublasLt.so.12",), 11: ("libcublasLt.so.11",)},
    STATUS,
)

# code of a dtype: (cudaDataType, cublasComputeType_t, what alpha and beta are)
_TYPES: dict[str, tuple[int, int, Any]] = {
    "f16": (2, 68, np.float32),
    "f16b": (14, 68, np.float32),
    "f32": (0, 68, np.float32),
    "f64": (1, 70, np.float64),
    "c64": (4, 68, np.complex64),
    "c128": (5, 70, np.complex128),
}
# cublasComputeType_t of float32 and complex64 by precision
_COMPUTE = {"tf32": 77, "bf16x9": 78}
_REFUSED = (7, 8, 15)  # statuses by which a version or a device says that it has no such type
_INT_MAX = 2**31 - 1


def _create() -> Any:
    return handles.made(lambda where: LIBRARY.call("cublasCreate_v2", where))


_handles = handles.Handles(LIBRARY, _create, "cublasDestroy_v2", "cublasSetStream_v2")


def _code(x: Any) -> str:
    """The code of an array's dtype; items that are only bits, of uint16, are bfloat16."""
    name = dtypes.code(x.dtype)
    return "f16b" if name == "u16" else name


def product(
    a: Any,
    b: Any,
    out: Any,
    batch: tuple[int, ...],
    steps: list[tuple[int, ...]],
    precision: str = "highest",
    add: bool = False,
) -> bool:
    """``out = a @ b`` (add: ``out += a @ b``) of aligned arrays whose last two axes are the
    matrices'; batch and steps: the axes before them, and their strides [bytes] in a, b, out.

    a and b have one dtype, which is out's too, or one of 16 bits where that is float32. False if
    cuBLAS cannot do it, or is not there; nothing was done then."""
    given, made = _code(a), _code(out)
    if given not in _TYPES or given != _code(b) or len(batch) > 1:
        return False
    if (made != given and (made != "f32" or a.itemsize != 2)) or not LIBRARY.available():
        return False
    layouts = []
    for x in (a, b, out):
        found = layout_of(x.shape[-2:], x.strides[-2:], x.itemsize)
        if found is None:
            return False
        layouts.append(found)
    apart = [s[0] if s else 0 for s in steps]
    (m, n), k = out.shape[-2:], a.shape[-1]
    count = batch[0] if batch else 1
    if max(m, n, k, count, *(ld for _, ld in layouts)) > _INT_MAX or any(
        s < 0 or s % x.itemsize for s, x in zip(apart, (a, b, out), strict=True)
    ):
        return False
    (op_a, ld_a), (op_b, ld_b), (turned, ld_out) = layouts
    first, second = (b, op_b, ld_b, apart[1]), (a, op_a, ld_a, apart[0])
    if turned:  # the result's columns are contiguous: the operands keep their order
        first, second = (a, 1 - op_a, ld_a, apart[0]), (b, 1 - op_b, ld_b, apart[1])
        m, n = n, m
    code, compute, scalar = _TYPES[given]
    factors = [np.array(x, scalar) for x in (1, int(add))]
    alpha, beta = (x.ctypes.data_as(ctypes.c_void_p) for x in factors)
    wanted = _COMPUTE.get(precision, compute) if given in ("f32", "c64") else compute
    with handles.running(LIBRARY, out, [a, b, out]) as queue:
        handle = _handles.get(out.backend, queue)
        at_1, at_2, at_out = (handles.pointer(x, queue) for x in (first[0], second[0], out))
        function = "cublasGemmEx" if count == 1 else "cublasGemmStridedBatchedEx"
        if count == 1:
            args: tuple[Any, ...] = (
                *(at_1, code, first[2], at_2, code, second[2]),
                *(beta, at_out, _TYPES[made][0], ld_out),
            )
        else:
            args = (
                *(at_1, code, first[2], first[3] // a.itemsize),
                *(at_2, code, second[2], second[3] // a.itemsize),
                *(beta, at_out, _TYPES[made][0], ld_out, apart[2] // out.itemsize, count),
            )
        args = (handle, first[1], second[1], n, m, k, alpha, *args)
        _multiply(function, args, [compute] if wanted == compute else [wanted, compute])
    return True


def _multiply(function: str, args: tuple[Any, ...], computes: list[int]) -> None:
    """Call with the first type of computation that this cuBLAS has on this device."""
    for compute in computes[:-1]:
        status = LIBRARY.function(function)(*args, compute, -1)
        if status not in _REFUSED:
            LIBRARY.check(function, status)
            return
    LIBRARY.call(function, *args, computes[-1], -1)
