"""CLBlast: products of matrices on OpenCL's GPUs.

On CPUs it is used only if PYGPU_CLBLAST_LIBRARY names it: the kernels of pygpu are faster there.
"""

from __future__ import annotations

import ctypes
import os
from typing import Any

from .layouts import layout_of
from .loading import Library

_GEMM = "iiilll" + "{0}" + "pll" + "pll" + "{0}" + "pll" + "pp"
_BATCHED = "iiilll" + "{0}" + "plll" + "plll" + "{0}" + "plll" + "lpp"
FUNCTIONS = {
    "CLBlastSgemm": _GEMM.format("f"),
    "CLBlastDgemm": _GEMM.format("d"),
    "CLBlastSgemmStridedBatched": _BATCHED.format("f"),
    "CLBlastDgemmStridedBatched": _BATCHED.format("d"),
}
LIBRARY = Library("clblast", FUNCTIONS, {0: "libclblast.so.1"})
_ROW_MAJOR, _PLAIN = 101, 111  # 112 is transposed


def usable(backend: Any) -> bool:
    """Whether products on this device are CLBlast's."""
    if backend.limits.is_cpu and not os.environ.get("PYGPU_CLBLAST_LIBRARY"):
        return False
    from pygpu import _opencl

    loader = os.path.basename(_opencl._library() or "")
    return loader.startswith(("libOpenCL", "OpenCL")) and LIBRARY.available()


def product(a: Any, b: Any, out: Any, batch: tuple[int, ...], steps: list[tuple[int, ...]]) -> bool:
    """See cublas.product()."""
    from pygpu import _opencl

    dtype, queue = out.dtype, out._queue()
    backend = out.backend
    if dtype.char not in "fd" or not (a.dtype == b.dtype == dtype) or len(batch) > 1:
        return False
    if not all(isinstance(x.base_data, _opencl.Buffer) for x in (a, b, out)):
        return False
    if not (backend.is_ordered(queue) and usable(backend)):
        return False
    size = dtype.itemsize
    layouts = [layout_of(x.shape[-2:], x.strides[-2:], size) for x in (a, b, out)]
    apart = [s[0] if s else 0 for s in steps]
    count = batch[0] if batch else 1
    if None in layouts or layouts[2][0] or any(s < 0 or s % size for s in apart):  # type: ignore[index]
        return False
    if any(x.offset % size for x in (a, b, out)) or (count > 1 and 0 in apart):
        return False
    (m, n), k = out.shape[-2:], a.shape[-1]
    waits = backend.wait_list(queue, [a, b, out])
    if waits:
        _opencl.enqueue_barrier(queue, wait_for=waits)
    operands: list[list[Any]] = []
    for x, layout, step in zip((a, b, out), layouts, apart, strict=True):
        part: list[Any] = [x.base_data.int_ptr, x.offset // size, layout[1]]  # type: ignore[index]
        operands.append([*part, step // size] if count > 1 else part)
    (op_a, _), (op_b, _) = layouts[:2]  # type: ignore[misc]
    handle, event = ctypes.c_void_p(queue.int_ptr), ctypes.c_void_p()
    with LIBRARY.lock:
        LIBRARY.call(
            f"CLBlast{'S' if dtype.char == 'f' else 'D'}gemm{'StridedBatched' * (count > 1)}",
            *(_ROW_MAJOR, _PLAIN + op_a, _PLAIN + op_b, m, n, k, 1.0),
            *operands[0],
            *operands[1],
            0.0,
            *operands[2],
            *([count] if count > 1 else []),
            ctypes.byref(handle),
            ctypes.byref(event),
        )
    done = _opencl.Event.from_int_ptr(event.value or 0, retain=False)
    backend.note_event(queue, done, [out], [a, b])
    return True
