"""Errors detected by kernels, as exceptions.

A kernel writes into a record: the number of a site or an assertion, whether the record is taken,
the kernel's number, two words each for the index, the length, the block and the thread. A launch
that waits has its own record. On CPU devices, all others share one record of the process in its
own memory, whose first word C reads: src/array/launcher.c before a launch, the modules of the
drivers after waiting.
"""

from __future__ import annotations

import itertools
import os
import threading
from typing import Any

import numpy as np

from pygpu import _array
from pygpu._src.runtime.backend import Backend
from pygpu._src.util.check_switch import check_asked

from .walk.index_checks import SCRATCH, RaisedException, Site

WORDS = SCRATCH // 4
RECORD_BYTES = _array._RECORD_BYTES

_numbers = itertools.count(1)
_sites_of_kernel: dict[int, tuple[str, dict[int, Any]]] = {}  # the kernels' names and sites
_lock = threading.Lock()
_report_words = np.frombuffer(_array._record(), np.int32)


def mode(check: bool | None, backend: Backend) -> tuple[bool, bool]:
    """Return whether indices are checked, and whether each launch waits for the result. check: the
    decorator's option; None lets PYGPU_CHECK or the device decide."""
    if check is None:
        check = check_asked()
    if check is None:
        return on_cpu(backend), False
    return bool(check), bool(check)


def on_cpu(backend: Backend) -> bool:
    """Whether the device is the host: an OpenCL CPU, or the simulator."""
    known = backend.kernels.get("is the host")
    if known is None:
        known = backend.limits.is_cpu
        if backend.name == "cuda":
            from pygpu import _cuda

            known = _cuda._is_simulator()
        backend.kernels.setdefault("is the host", known)
    return bool(known)


def number_of(name: str, sites: dict[int, Any]) -> int:
    """Assign a number to a compiled kernel, which it writes into a record."""
    number = next(_numbers)
    _sites_of_kernel[number] = name, sites
    return number


def release(number: int) -> None:
    """Mark the kernel as freed; its reports are kept for a while."""
    _sites_of_kernel.pop(number, None)


def shared_record(backend: Backend) -> Any:
    """Return the process's record as an argument for kernels of the backend; None if the device
    cannot write to host memory."""
    found = backend.kernels.get("record")
    if found is None:
        found = _map_record(backend) or False
        found = backend.kernels.setdefault("record", found)
    return found or None


def _map_record(backend: Backend) -> Any:
    memory = _report_words
    if backend.name == "cuda":
        from pygpu import _cuda

        if os.environ.get("PYGPU_SIM_CHECK", "0") not in ("", "0"):
            return None  # it accepts only its own allocations
        _cuda._watch(memory, raise_pending)
        return int(memory.ctypes.data)
    from pygpu import _opencl as cl
    from pygpu.constants import mem_flags as flags

    cl._watch(memory, raise_pending)

    made = cl.Buffer(backend.context, flags.READ_WRITE | flags.USE_HOST_PTR, hostbuf=memory)
    queue = cl.CommandQueue(backend.context, backend.device)
    test = memory[WORDS - 1 :]  # a word that kernels do not write
    for number in (0x12345678, 0):
        cl.enqueue_fill_buffer(queue, made, np.int32(number), 4 * (WORDS - 1), 4)
        queue.finish()
        if test[0] != number:
            return None
    return made


def before_launch(backend: Backend, queue: Any) -> None:
    """Raise what earlier launches found, after finishing the queue's work, so that all its threads
    have reported."""
    if _report_words[0]:
        backend.synchronize(queue)
        raise_pending()


def raise_pending() -> None:
    """Raise the error in the process's record, if there is one."""
    with _lock:
        if not _report_words[0]:
            return
        found = _report_words[:WORDS].copy()
        _report_words[:3] = 0
    error = exception(found)
    if error is not None:
        raise error


def exception(words: np.ndarray) -> Exception | None:
    """Return the error in a record as an exception; None if there is none."""
    name, sites = _sites_of_kernel.get(int(words[2]), ("a kernel", {}))
    return _exception(name, sites.get(int(words[0])), words)


def check(name: str, sites: dict[int, Any], words: np.ndarray) -> None:
    """Raise the error in the record of a launch, if there is one."""
    error = found(name, sites, words)
    if error is not None:
        raise error


def found(name: str, sites: dict[int, Any], words: np.ndarray) -> Exception | None:
    """Return the error in the record of a launch; None if there is none."""
    return _exception(name, sites[int(words[0])], words) if words[0] else None


def _exception(name: str, what: Any, words: np.ndarray) -> Exception:
    if isinstance(what, str) and not isinstance(what, RaisedException):
        return AssertionError(what)
    index, n = words[4:8].view(np.int64).tolist()
    b, t = words[8:12].view(np.int64).tolist()
    block = b & 0xFFFFFFFF, b >> 32 & 0xFFFF, b >> 48 & 0xFFFF
    thread = t & 0xFFFFF, t >> 20 & 0xFFFFF, t >> 40
    where = f"block {block}, thread {thread}"
    if isinstance(what, RaisedException):
        return _raised(name, what, where, block, thread)
    if not isinstance(what, Site):
        return IndexError(f"{name}: index {index} is out of bounds for {n} items ({where})")
    axis = f"axis {what.axis} of {what.text}" if what.ndim > 1 else what.text
    inner = f"in {what.function}, " if what.function != name else ""
    return IndexError(
        f"{name}: index {index} is out of bounds for {axis} with {n} items "
        f"({inner}{what.location}; {where})"
    )


def _raised(
    name: str, what: RaisedException, where: str, block: tuple[int, ...], thread: tuple[int, ...]
) -> Exception:
    """Return the exception, with a note of the thread; a RuntimeError if it cannot be made."""
    about = f"raised by kernel {name} ({what.location}; {where})"
    args = what.args
    if what.function:
        file, _, line = what.location.rpartition(":")
        head = f"In function {what.function!r}, file {file}, line {line}, "
        head += f"tid={list(thread)} ctaid={list(block)}"
        args = (f"{head}: {args[0]}" if args else head, *args[1:])
    try:
        error = what.kind(*args)
    except Exception:
        return RuntimeError(f"{what.kind.__name__}{what.args!r}, {about}")
    error.add_note(about)
    return error
