"""cuFFT: transforms along the last axes of arrays in C order."""

from __future__ import annotations

import ctypes
from math import prod
from typing import Any

from . import handles
from .loading import Library

FUNCTIONS = {
    "cufftCreate": "p",
    "cufftDestroy": "i",
    "cufftSetStream": "ip",
    "cufftMakePlanMany64": "iipp" + "ll" + "pll" + "i" + "lp",
    "cufftExecC2C": "ippi",
    "cufftExecZ2Z": "ippi",
    "cufftExecR2C": "ipp",
    "cufftExecD2Z": "ipp",
    "cufftExecC2R": "ipp",
    "cufftExecZ2D": "ipp",
}
STATUS = {
    1: "CUFFT_INVALID_PLAN",
    2: "CUFFT_ALLOC_FAILED",
    3: "CUFFT_INVALID_TYPE",
    4: "CUFFT_INVALID_VALUE",
    5: "CUFFT_INTERNAL_ERROR",
    6: "CUFFT_EXEC_FAILED",
    7: "CUFFT_SETUP_FAILED",
    8: "CUFFT_INVALID_SIZE",
}
LIBRARY = Library(
    "cufft",
    FUNCTIONS,
    {13: "libcufft.so.12", 12: "libcufft.so.11", 11: "libcufft.so.10"},
    None,
    STATUS,
)
# (what goes in, what comes out): (cufftType, function)
_KINDS = {
    "FF": (0x29, "cufftExecC2C"),
    "DD": (0x69, "cufftExecZ2Z"),
    "fF": (0x2A, "cufftExecR2C"),
    "dD": (0x6A, "cufftExecD2Z"),
    "Ff": (0x2C, "cufftExecC2R"),
    "Dd": (0x6C, "cufftExecZ2D"),
}
_MOST = 16  # plans of one context


def _plan(backend: Any, queue: Any, kind: int, lengths: tuple[int, ...], batch: int) -> int:
    """A plan is used by one stream only, as it has memory of its own."""
    plans = handles.open_handles(backend).of(LIBRARY)
    stream = 0 if queue is None else int(queue.handle)
    key = (stream, kind, lengths, batch)
    plan = plans.pop(key, None)
    if plan is None:
        while len(plans) >= _MOST:
            plans.popitem(last=False)[1].close()
        plan = _new_plan(queue, stream, kind, lengths, batch)
    plans[key] = plan
    return int(plan.value)


def _new_plan(
    queue: Any, stream: int, kind: int, lengths: tuple[int, ...], batch: int
) -> handles.Handle:
    number, used = ctypes.c_int(), ctypes.c_size_t()
    LIBRARY.call("cufftCreate", ctypes.byref(number))
    plan = handles.Handle(LIBRARY, "cufftDestroy", number.value, queue)
    sizes = (ctypes.c_longlong * len(lengths))(*lengths)
    try:
        LIBRARY.call(
            "cufftMakePlanMany64",
            *(plan.value, len(lengths), sizes, None, 1, 0, None, 1, 0),
            *(kind, batch, ctypes.byref(used)),
        )
        LIBRARY.call("cufftSetStream", plan.value, stream)
    except BaseException:
        plan.close()
        raise
    return plan


def transform(source: Any, out: Any, axes: int, inverse: bool = False) -> None:
    """Transform the last *axes* axes (1 to 3) of an array in C order, without a factor. Of float32
    or float64, *out* is complex and has n // 2 + 1 items along the last axis; of complex numbers it
    is complex of the same shape, or real, from the first half: *source* is overwritten then."""
    kind, function = _KINDS[source.dtype.char + out.dtype.char]
    lengths = tuple((out if out.dtype.kind == "f" else source).shape[-axes:])
    batch = prod(source.shape[:-axes])
    with handles.running(LIBRARY, out, [source, out]) as queue:
        plan = _plan(out.backend, queue, kind, lengths, batch)
        pointers = handles.pointer(source, queue), handles.pointer(out, queue)
        direction = ((1 if inverse else -1),) if function[-3:] in ("C2C", "Z2Z") else ()
        LIBRARY.call(function, plan, *pointers, *direction)
