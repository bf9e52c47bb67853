"""Many elementwise operations in one kernel, which compiles much faster than as many kernels."""

from __future__ import annotations

import numpy as np

from pygpu._src.array import elementwise
from pygpu._src.codegen import dtypes


class Packed:
    """Arrays one after the other in one piece of memory, each at a multiple of 16 bytes."""

    def __init__(self) -> None:
        self.size = 0
        self.arrays: list[tuple[int, np.ndarray]] = []

    def add(self, array: np.ndarray) -> int:
        at = self.size
        self.arrays.append((at, array))
        self.size += -(-array.nbytes // 16) * 16
        return at

    def bytes(self) -> np.ndarray:
        whole = np.zeros(self.size, np.uint8)
        for at, array in self.arrays:
            whole[at : at + array.nbytes] = array.view(np.uint8)
        return whole


def block(operation: elementwise.Operation, offsets: list[int]) -> str:
    """One operation on all items, as a statement of a kernel on packed arrays."""
    n_out = len(operation.outputs)
    lines, before, after = [], [], []
    for k, (dtype, at) in enumerate(zip(operation.outputs + operation.inputs, offsets)):
        name = f"y{k}" if k < n_out else f"x{k - n_out}"
        const, memory = ("", "out") if k < n_out else ("const ", "in")
        storage, kind = dtypes.storage_type(dtype), dtypes.compute_type(dtype)
        pointer = f"PG_GLOBAL {const}{storage} *"
        lines.append(f"{pointer}{name}_p = ({pointer})({memory} + {at});")
        if k < n_out:
            before.append(f"{kind} {name};")
            after.append(dtypes.store(dtype, f"{name}_p", "i", name))
        else:
            value = dtypes.load(dtype, f"{name}_p", "i")
            before.append(f"PG_UNUSED const {kind} {name} = {value};")
    return "\n".join(
        ["{", *lines, "PG_FOR(i, n) {", *before, "{", operation.body, "}", *after, "}", "}"]
    )
