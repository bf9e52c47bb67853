"""Functions of the common language for kernels whose work-items communicate within a warp of 32.

They are available (:attr:`Limits.warps`) on CUDA, and on NVIDIA's OpenCL from Volta on, which
accepts inline PTX. There, a running group also makes progress while another waits for it, so
groups may wait for those that started before them. All 32 work-items must reach each of these:

* pg_warp_up(x, d), pg_warp_down(x, d): the pg_u32 x of the work-item d places before, or after;
* pg_warp_xor(x, d): the pg_u32 x of the work-item whose number differs by the bit d;
* pg_warp_all(x): the pg_u32 x of the last work-item;
* pg_warp_from(x, i): the pg_u32 x of the work-item i, which may differ between work-items;
* pg_warp_vote(p): a bit for each work-item, set where the int p is not 0;
* pg_warp_sync(): makes earlier writes of each visible to the others.

PG_DEVICE_FENCE orders a work-item's accesses to global memory as other groups see them; pg_popc(x)
and pg_ffs(x) count the bits of a pg_u32, and find the lowest (from 1). PG_BOUNDS(size, groups)
precedes a kernel's name: how many work-items a group has, and how many groups a unit should hold.
"""

from __future__ import annotations

CUDA_WARPS = """\
#define PG_BOUNDS(size, groups) __launch_bounds__(size, groups)
#define PG_ASM asm volatile
#define PG_DEVICE_FENCE __threadfence()
#define pg_warp_up(x, d) __shfl_up_sync(0xffffffffu, x, d)
#define pg_warp_down(x, d) __shfl_down_sync(0xffffffffu, x, d)
#define pg_warp_xor(x, d) __shfl_xor_sync(0xffffffffu, x, d)
#define pg_warp_all(x) __shfl_sync(0xffffffffu, x, 31)
#define pg_warp_from(x, i) __shfl_sync(0xffffffffu, x, i)
#define pg_warp_vote(p) __ballot_sync(0xffffffffu, p)
#define pg_warp_sync() __syncwarp()
#define pg_popc(x) __popc((int)(x))
#define pg_ffs(x) __ffs((int)(x))
#define pg_local_atomic_or_u32(p, x) atomicOr((pg_u32 *)(p), x)
"""

OPENCL_WARPS = """\
#define PG_BOUNDS(size, groups) __attribute__((reqd_work_group_size(size, 1, 1)))
#define PG_ASM __asm__ volatile
#define PG_DEVICE_FENCE __asm__ volatile("membar.gl;" : : : "memory")
PG_INLINE uint pg_warp_up(uint x, uint d)
{
    uint r;
    __asm__ volatile("shfl.sync.up.b32 %0, %1, %2, 0, 0xffffffff;" : "=r"(r) : "r"(x), "r"(d));
    return r;
}
PG_INLINE uint pg_warp_down(uint x, uint d)
{
    uint r;
    __asm__ volatile("shfl.sync.down.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(r) : "r"(x), "r"(d));
    return r;
}
PG_INLINE uint pg_warp_xor(uint x, uint d)
{
    uint r;
    __asm__ volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(r) : "r"(x), "r"(d));
    return r;
}
PG_INLINE uint pg_warp_all(uint x)
{
    uint r;
    __asm__ volatile("shfl.sync.idx.b32 %0, %1, 31, 31, 0xffffffff;" : "=r"(r) : "r"(x));
    return r;
}
PG_INLINE uint pg_warp_from(uint x, int i)
{
    uint r;
    __asm__ volatile("shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(r) : "r"(x), "r"(i));
    return r;
}
PG_INLINE uint pg_warp_vote(int p)
{
    uint r;
    __asm__ volatile("{ .reg .pred q; setp.ne.s32 q, %1, 0; vote.sync.ballot.b32 %0, q, 0xffffffff; }"
                     : "=r"(r) : "r"(p));
    return r;
}
#define pg_warp_sync() __asm__ volatile("bar.warp.sync 0xffffffff;" : : : "memory")
#define pg_local_atomic_or_u32(p, x) atomic_or(p, x)
#define pg_popc(x) ((int)popcount((uint)(x)))
#define pg_ffs(x) ((x) == 0 ? 0 : 32 - (int)clz((uint)(x) & -(uint)(x)))
"""
