"""Cooperative groups of kernels under the names of ``numba.cuda.cg``: the grid.

>>> from pygpu import cuda
>>> @cuda.jit
... def steps(a):
...     grid = cuda.cg.this_grid()
...     i = cuda.grid(1)
...     for _ in range(3):
...         neighbour = a[(i + 1) % a.size]
...         grid.sync()
...         a[i] = neighbour
...         grid.sync()
>>> a = cuda.to_device([0, 1, 2, 3, 4, 5, 6, 7])
>>> steps[2, 4](a)
>>> a.copy_to_host().tolist()
[3, 4, 5, 6, 7, 0, 1, 2]
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from pygpu._src.jit.calls.intrinsics import Intrinsic
from pygpu._src.jit.ir import Value
from pygpu._src.jit.types import WEAK_INT, ObjectType
from pygpu._src.jit.walk.context import FunctionContext
from pygpu._src.jit.walk.registry import Args, Kwargs, count

from .. import _cuda

__all__ = ["this_grid"]

# What NVIDIA's header does, which takes NVRTC more than a second to read. The driver gives each
# cooperative launch a word, behind another one, at the address in two environment registers; its
# highest bit is turned by the last block that arrives.
_GRID_SYNC = """\
PG_INLINE void pg_grid_sync(void)
{
    unsigned high, low, before;
    __syncthreads();
    if (threadIdx.x + threadIdx.y + threadIdx.z == 0) {
        asm("mov.u32 %0, %%envreg1;" : "=r"(high));
        asm("mov.u32 %0, %%envreg2;" : "=r"(low));
        volatile unsigned *arrived = (volatile unsigned *)((pg_u64)high << 32 | low) + 1;
        unsigned others = gridDim.x * gridDim.y * gridDim.z - 1;
        int first = blockIdx.x + blockIdx.y + blockIdx.z == 0;
        __threadfence();
        before = atomicAdd((unsigned *)arrived, first ? 0x80000000u - others : 1u);
        while (((*arrived ^ before) & 0x80000000u) == 0)
            ;
        __threadfence();
    }
    __syncthreads();
}
"""


def _sync(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("sync", args, kwargs, 0, 0)
    fc.statement_only(node, "sync()")
    fc.unit.cooperative = True
    if bool(_cuda._is_simulator()):
        fc.unit.types["cooperative_groups"] = "#include <cooperative_groups.h>\n"
        fc.emit("cooperative_groups::this_grid().sync();")
    else:
        fc.unit.types["pg_grid_sync"] = _GRID_SYNC
        fc.emit("pg_grid_sync();")
    # A number, as Numba's sync() gives one.
    return Value(WEAK_INT, "0", const=0, nonneg=True)


class _Grid:
    """All threads of a launch. sync(): wait for all of them."""

    sync = Intrinsic("sync", _sync, "Wait for all threads of the grid, and for their writes.")

    def __repr__(self) -> str:
        return "<grid of kernels>"


_GRID = _Grid()


def _this_grid(fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
    count("this_grid", args, kwargs, 0, 0)
    if fc.unit.dialect != "cuda":
        raise fc.source.error("OpenCL has no barrier of all groups; launch two kernels", node)
    fc.unit.cooperative = True
    return Value(ObjectType(_GRID), const=_GRID)


this_grid: Callable[[], _Grid] = Intrinsic(
    "this_grid",
    _this_grid,
    "The grid, whose sync() waits for all threads; all blocks must run at once, see "
    "max_cooperative_grid_blocks().",
)
