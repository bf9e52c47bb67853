"""Copies between arrays whose items have different orders in memory, through tiles in local
memory."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from pygpu._src.codegen import dtypes
from pygpu._src.codegen.kernels import transpose
from pygpu._src.runtime import kernel_cache

from . import layout, primitives

_SHORT = 16  # shorter axes are left to the elementwise kernel


def copy(to: Any, source: Any) -> bool:
    """Copy *source* to *to*, with the same shape and dtype on the same queue, if this kernel is
    suitable; returns whether it did."""
    size = to.itemsize
    if size not in (1, 2, 4, 8, 16):
        return False
    shape, (to_strides, from_strides) = layout.collapse(to.shape, to.strides, source.strides)
    if len(shape) < 2 or to_strides[-1] != size or from_strides[-1] == size:
        return False
    near = next((k for k in range(len(shape) - 1) if from_strides[k] == size), None)
    if near is None or shape[near] < _SHORT or shape[-1] < _SHORT:
        return False
    backend = to.backend
    cpu = backend.limits.is_cpu
    rest = [k for k in range(len(shape) - 1) if k != near]
    batch = tuple(shape[k] for k in rest) or (1,)
    from_batch = tuple(from_strides[k] for k in rest) or (0,)
    to_batch = tuple(to_strides[k] for k in rest) or (0,)
    item = np.dtype(f"u{size}") if size <= 8 else np.dtype("V16")
    kernel = kernel_cache.get(
        backend,
        ("transpose", size, len(batch)),
        lambda: (
            transpose.source(
                dtypes.storage_type(item), dtypes.declare(item), size, len(batch), cpu
            ),
            "transpose",
        ),
    )
    side = transpose.tile_side(size)
    across = -(-shape[-1] // side)
    tiles = -(-shape[near] // side) * across
    total = tiles * prod(batch)
    numbers = [shape[near], shape[-1], across, tiles, total, *batch[1:]]
    numbers += [*from_batch, *to_batch, from_strides[-1], to_strides[near]]
    if cpu:
        groups, group_size = min(total, backend.limits.units * 8), 1
    else:
        groups, group_size = min(total, 1 << 20), transpose.GROUP
    primitives.launch(to, kernel, groups, group_size, [source], [to], numbers)
    return True
