// Cooperative groups.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;

//@ case: block
//@ grid: 2
//@ block: (4, 3, 2)
//@ out y: np.zeros((2, 24), np.int32)
//@ expect y: [np.arange(24)[::-1] + 24 * b for b in range(2)]
extern "C" __global__ void k(int *y) {
    __shared__ int s[24];
    cg::thread_block block = cg::this_thread_block();
    s[block.thread_rank()] = block.thread_rank();
    block.sync();
    y[block.group_index().x * block.size() + block.thread_rank()] = s[block.num_threads() - 1 - block.thread_rank()] + 24 * block.group_index().x;
    cg::sync(block);
}

//@ case: tiles
//@ block: 64
//@ out y: np.zeros((6, 64), np.int32)
//@ expect y: [np.arange(64) % 8, np.arange(64) // 8, [8] * 64, np.arange(64) // 8 * 8 + 3, np.arange(64) ^ 5, np.repeat(np.arange(8), 8) * 64 + 28]
extern "C" __global__ void k(int *y) {
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int t = threadIdx.x;
    y[t] = tile.thread_rank(); y[64 + t] = tile.meta_group_rank(); y[128 + t] = tile.meta_group_size();
    y[192 + t] = tile.shfl(t, 3); y[256 + t] = tile.shfl_xor(t, 5);
    int v = t;
    for (int d = 4; d; d /= 2) v += tile.shfl_down(v, d);
    y[320 + t] = tile.shfl(v, 0);
}

//@ case: votes_in_tiles
//@ block: 32
//@ out y: np.zeros((4, 32), np.uint32)
//@ expect y: [[0x5555] * 32, [1] * 32, [0] * 16 + [1] * 16, [0x5555, 0xaaaa] * 16]
extern "C" __global__ void k(unsigned *y) {
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int t = threadIdx.x;
    y[t] = tile.ballot(t % 2 == 0); y[32 + t] = tile.any(t % 16 == 3) != 0; y[64 + t] = tile.all(t >= 16) != 0; y[96 + t] = tile.match_any(t % 2);
}

//@ case: tiles_of_tiles_and_dynamic_tiles
//@ block: 32
//@ out y: np.zeros((3, 32), np.int32)
//@ expect y: [np.arange(32) % 4, np.arange(32) // 4 % 4, np.arange(32) % 8 + 100 * 8]
__device__ int rank_of(cg::thread_group g) { g.sync(); return (int)(g.thread_rank() + 100 * g.size()); }
extern "C" __global__ void k(int *y) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<4>(cg::tiled_partition<16>(block));
    y[threadIdx.x] = tile.thread_rank(); y[32 + threadIdx.x] = tile.meta_group_rank();
    y[64 + threadIdx.x] = rank_of(cg::tiled_partition(block, 8));
}

//@ case: reduce
//@ block: 64
//@ in x: rng.integers(-100, 100, 64).astype(np.int32)
//@ out y: np.zeros((5, 64), np.int32)
//@ expect y: [np.repeat(f(x.reshape(4, 16), 1), 16) for f in (np.sum, np.min, np.max, np.bitwise_or.reduce, np.bitwise_xor.reduce)]
extern "C" __global__ void k(const int *x, int *y) {
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int t = threadIdx.x, v = x[t];
    y[t] = cg::reduce(tile, v, cg::plus<int>()); y[64 + t] = cg::reduce(tile, v, cg::less<int>()); y[128 + t] = cg::reduce(tile, v, cg::greater<int>());
    y[192 + t] = cg::reduce(tile, v, cg::bit_or<int>()); y[256 + t] = cg::reduce(tile, v, cg::bit_xor<int>());
}

//@ case: scans
//@ block: 32
//@ in x: rng.integers(0, 100, 32).astype(np.int32)
//@ out y: np.zeros((3, 32), np.int32)
//@ expect y: [np.cumsum(x), np.cumsum(x) - x, np.maximum.accumulate(x)]
extern "C" __global__ void k(const int *x, int *y) {
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int t = threadIdx.x;
    y[t] = cg::inclusive_scan(tile, x[t], cg::plus<int>()); y[32 + t] = cg::exclusive_scan(tile, x[t], cg::plus<int>());
    y[64 + t] = cg::inclusive_scan(tile, x[t], cg::greater<int>());
}

//@ case: coalesced_threads
//@ block: 32
//@ out y: np.zeros((4, 32), np.int32)
//@ expect y: np.where(np.arange(32) % 3 == 0, [np.arange(32) // 3, np.full(32, 11), np.full(32, 6), np.full(32, sum(range(0, 32, 3)))], 0)
extern "C" __global__ void k(int *y) {
    int t = threadIdx.x;
    if (t % 3 == 0) {
        cg::coalesced_group g = cg::coalesced_threads();
        y[t] = g.thread_rank(); y[32 + t] = g.size(); y[64 + t] = g.shfl(t, 2); y[96 + t] = cg::reduce(g, t, cg::plus<int>());
    }
}

//@ case: partitions_by_value
//@ block: 32
//@ out y: np.zeros((2, 32), np.int32)
//@ expect y: [np.arange(32) // 4, np.where(np.arange(32) < 10, 10, 22)]
extern "C" __global__ void k(int *y) {
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    y[threadIdx.x] = cg::labeled_partition(tile, threadIdx.x % 4).thread_rank();
    y[32 + threadIdx.x] = cg::binary_partition(tile, threadIdx.x < 10).size();
}

//@ case: asynchronous_copy
//@ block: 64
//@ in x: rng.random(64, np.float32)
//@ out y: np.zeros(64, np.float32)
//@ expect y: x[::-1]
extern "C" __global__ void k(const float *x, float *y) {
    __shared__ float s[64];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, s, x, sizeof s);
    cg::wait(block);
    y[threadIdx.x] = s[63 - threadIdx.x];
}

//@ case: grid
//@ grid: 4
//@ block: 32
//@ cooperative: True
//@ out x: np.zeros(128, np.int32)
//@ out y: np.zeros(128, np.int32)
//@ expect y: 2 * np.arange(128)[::-1]
extern "C" __global__ void k(int *x, int *y) {
    cg::grid_group grid = cg::this_grid();
    int i = grid.thread_rank();
    x[i] = i;
    grid.sync();
    int v = x[grid.size() - 1 - i];
    grid.sync();
    x[i] = v;
    grid.sync();
    y[i] = x[i] + (grid.is_valid() ? v : 0);
}

//@ case: one_for_all
//@ block: 32
//@ out y: np.zeros(33, np.int32)
//@ expect y: [7] * 32 + [1]
extern "C" __global__ void k(int *y) {
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int v = 0;
    if (tile.thread_rank() == 0) v = 7 + atomicAdd(&y[32], 1);
    y[threadIdx.x] = tile.shfl(v, 0);
}
