"""Cached launches of factorizations, and the flag by which a kernel reports failure.

A call with operands of a known layout takes one lookup in C, one launch and, if it may fail, one
wait (launch_cache.py).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from pygpu._src.array.index_errors import Report
from pygpu._src.array.launch_cache import RESULT, step

SINGULAR = "Singular matrix"
INDEFINITE = "Matrix is not positive definite"
NO_EIGENVALUES = "Eigenvalues did not converge"
NO_SINGULAR_VALUES = "SVD did not converge"
_INT64 = np.dtype(np.int64)
_MAX_FREE = 8  # for threads that factor concurrently


class Failure:
    """Whether a kernel failed, on the queue of the array *side*: it then sets ``array[0]`` to 1.

    The flag is in memory of the host if kernels can write there, so that the host reads it without
    a copy.
    """

    __slots__ = ("_memory", "_report", "array")

    def __init__(self, side: Any) -> None:
        backend = side.backend
        free = backend.kernels.setdefault("failures", [])
        self._report: Report | None = None
        try:
            self._memory = free.pop()
        except IndexError:
            self._memory = backend.host_flags()
        if self._memory is None:
            self._report = Report(side)
            self.array = self._report.array
            return
        cls: Any = type(side)
        self.array = cls.__new__(cls)
        address = self._memory[0]
        self.array._init(backend, side.queue, address, 0, (2,), None, _INT64, side.allocator)

    def check(self, message: str) -> None:
        """Wait for the launches. Raises LinAlgError if one failed."""
        if self._report is not None:
            failed = self._report.read()[0]
        else:
            array = self.array
            array.backend.wait(array.queue)
            failed = self._memory[1].item(0)
            if failed:
                self._memory[1][0] = 0
            self.keep()
        if failed:
            raise LinAlgError(message)

    def keep(self) -> None:
        """Finish a flag that is not set: the next one can use the memory."""
        if self._report is not None:
            self._report.keep()
            return
        free = self.array.backend.kernels["failures"]
        if len(free) < _MAX_FREE:
            free.append(self._memory)


def name_of(*parts: Any) -> tuple[Any, ...]:
    """Return the key of a call in the cache, which includes the setting of where it is computed."""
    return (*parts, os.environ.get("PYGPU_LINALG"))


def run_cached(
    name: tuple[Any, ...], operands: Sequence[Any], outs: Sequence[Any] = (), message: str = ""
) -> Any:
    """Launch the call cached for such operands and return its result, else None. outs: new
    arrays for further results. Raises LinAlgError with *message* if the kernel failed; without one
    it cannot fail."""
    first = operands[0]
    plans = first.backend.table.plans
    if not message:
        return plans.run(name, *operands, *outs)
    failure = Failure(first)
    result = plans.run(name, *operands, *outs, failure.array)
    if result is None:
        failure.keep()
    else:
        failure.check(message)
    return result


def cache_launch(
    name: tuple[Any, ...],
    operands: Sequence[Any],
    result: Any,
    kernel: Any,
    groups: int,
    size: int,
    reads: Sequence[Any],
    writes: Sequence[Any],
    numbers: Sequence[int],
) -> None:
    """Cache a launch for run_cached(), unless an operand had to be copied for it. result: the
    array to return, with the memory of one of those that the kernel writes; the others are *outs*
    and the flag, in this order."""
    for read, operand in zip(reads, operands, strict=True):
        if read.base_data is not operand.base_data or read.offset != operand.offset:
            return
    every, registers = list(operands), list(range(len(operands)))
    for array in writes:
        own = array.base_data is result.base_data
        registers.append(RESULT if own else len(every))
        if not own:
            every.append(array)
    backend = result.backend
    steps = (step(backend, kernel, groups, size, registers, numbers),)
    written = tuple(range(len(operands), len(every)))
    backend.table.plans.add(name, 0, tuple(every), None, result, steps, (), written)
