/* cooperative_groups.h - groups of threads: the block, tiles of it, the threads that are together, and the grid of a cooperative launch.
 *
 * Written from the chapter on cooperative groups of the CUDA C++ Programming Guide. Tiles have up to 32 threads. A cluster is one
 * block. Copies by memcpy_async are done when the call returns. */
#ifndef PYGPU_SIM_COOPERATIVE_GROUPS_H
#define PYGPU_SIM_COOPERATIVE_GROUPS_H
#define _COOPERATIVE_GROUPS_H_

#pragma GCC system_header
#include "sim_base.h"
#include "sim_runtime.h"
#include "sim_vector_types.h"
#include "sim_warp.h"
#include "sim_hide.h"

namespace cooperative_groups {

/* ---- lanes: what tiles and coalesced groups share -------------------------------------------------------------------- */

namespace pgs {
PGS_F unsigned lane() { return sim_here()->linear & 31u; }
PGS_F unsigned long long block_threads() { return sim_here()->threads; }
/* A value of any size from another lane */
template <class T> PGS_I T read(unsigned mask, const T &value, unsigned source) {
    T result;
    for (unsigned long i = 0; i < sizeof(T); i += 8) {
        SimWord word = 0;
        const unsigned long n = sizeof(T) - i < 8 ? sizeof(T) - i : 8;
        __builtin_memcpy(&word, (const char *)&value + i, n);
        word = sim_warp(SIM_WARP_READ, mask, word, source);
        __builtin_memcpy((char *)&result + i, &word, n);
    }
    return result;
}
/* The n-th lane of a mask, from 0 on. */
PGS_I unsigned nth(unsigned mask, unsigned n) {
    for (; n != 0; n--) mask &= mask - 1;
    return mask == 0 ? 0 : (unsigned)__builtin_ctz(mask);
}
PGS_F unsigned rank(unsigned mask) { return (unsigned)__builtin_popcount(mask & ((1u << lane()) - 1)); }
/* Lanes of a mask, renumbered from 0 on. */
PGS_I unsigned pack(unsigned votes, unsigned mask) {
    unsigned result = 0;
    for (unsigned i = 0; mask != 0; i++, mask &= mask - 1) result |= (votes >> __builtin_ctz(mask) & 1u) << i;
    return result;
}
} // namespace pgs

/* Operations among the lanes of a mask; numbers of threads are ranks in the group. */
class pgs_lanes {
protected:
    unsigned lanes_;
    unsigned meta_rank_, meta_size_;
    PGS_F pgs_lanes(unsigned lanes, unsigned meta_rank, unsigned meta_size) : lanes_(lanes), meta_rank_(meta_rank), meta_size_(meta_size) {}
    PGS_F unsigned source(unsigned long long rank) const { return rank < size() ? pgs::nth(lanes_, (unsigned)rank) : pgs::lane(); }
public:
    PGS_F unsigned pgs_mask() const { return lanes_; }
    PGS_F void sync() const { sim_warp(SIM_WARP_SYNC, lanes_, 0, 0); }
    PGS_F unsigned long long size() const { return (unsigned)__builtin_popcount(lanes_); }
    PGS_F unsigned long long num_threads() const { return size(); }
    PGS_F unsigned long long thread_rank() const { return pgs::rank(lanes_); }
    PGS_F unsigned long long meta_group_rank() const { return meta_rank_; }
    PGS_F unsigned long long meta_group_size() const { return meta_size_; }
    template <class T> PGS_F T shfl(T value, int rank) const { return pgs::read(lanes_, value, source((unsigned)rank % size())); }
    template <class T> PGS_F T shfl_up(T value, unsigned delta) const {
        const unsigned long long rank = thread_rank();
        return pgs::read(lanes_, value, source(rank >= delta ? rank - delta : rank));
    }
    template <class T> PGS_F T shfl_down(T value, unsigned delta) const {
        const unsigned long long rank = thread_rank();
        return pgs::read(lanes_, value, source(rank + delta < size() ? rank + delta : rank));
    }
    PGS_F unsigned ballot(int predicate) const { return pgs::pack((unsigned)sim_warp(SIM_WARP_BALLOT, lanes_, predicate != 0, 0), lanes_); }
    PGS_F int any(int predicate) const { return sim_warp(SIM_WARP_BALLOT, lanes_, predicate != 0, 0) != 0; }
    PGS_F int all(int predicate) const { return (unsigned)sim_warp(SIM_WARP_BALLOT, lanes_, predicate != 0, 0) == lanes_; }
    template <class T> PGS_F unsigned match_any(T value) const {
        SimWord word = 0;
        __builtin_memcpy(&word, &value, sizeof value);
        return pgs::pack((unsigned)sim_warp(SIM_WARP_MATCH_ANY, lanes_, word, 0), lanes_);
    }
    template <class T> PGS_F unsigned match_all(T value, int &predicate) const {
        SimWord word = 0;
        __builtin_memcpy(&word, &value, sizeof value);
        const unsigned result = (unsigned)sim_warp(SIM_WARP_MATCH_ALL, lanes_, word, 0);
        predicate = result != 0;
        return pgs::pack(result, lanes_);
    }
};

/* ---- the block --------------------------------------------------------------------------------------------------------- */

class thread_group;
class thread_block {
    PGS_F thread_block() {}
    friend thread_block this_thread_block();
public:
    struct arrival_token {};
    static PGS_F void sync() { __syncthreads(); }
    PGS_F arrival_token barrier_arrive() const { return arrival_token(); }
    PGS_F void barrier_wait(arrival_token &&) const { __syncthreads(); }
    static PGS_F unsigned thread_rank() { return sim_here()->linear; }
    static PGS_F unsigned size() { return sim_here()->threads; }
    static PGS_F unsigned num_threads() { return size(); }
    static PGS_F dim3 group_index() { const SimTriple t = sim_here()->block; return dim3(t.x, t.y, t.z); }
    static PGS_F dim3 thread_index() { const SimTriple t = sim_here()->thread; return dim3(t.x, t.y, t.z); }
    static PGS_F dim3 dim_threads() { const SimTriple t = sim_here()->block_size; return dim3(t.x, t.y, t.z); }
    static PGS_F dim3 group_dim() { return dim_threads(); }
};
PGS_F thread_block this_thread_block() { return thread_block(); }

/* ---- the grid ----------------------------------------------------------------------------------------------------------- */

class grid_group {
    PGS_F grid_group() {}
    friend grid_group this_grid();
public:
    struct arrival_token {};
    PGS_F bool is_valid() const { return sim_here()->cooperative != 0; }
    PGS_F void sync() const { sim_grid_sync(); }
    PGS_F arrival_token barrier_arrive() const { return arrival_token(); }
    PGS_F void barrier_wait(arrival_token &&) const { sim_grid_sync(); }
    PGS_F unsigned long long block_rank() const {
        const SimContext *c = sim_here();
        return ((unsigned long long)c->block.z * c->grid_size.y + c->block.y) * c->grid_size.x + c->block.x;
    }
    PGS_F unsigned long long num_blocks() const {
        const SimContext *c = sim_here();
        return (unsigned long long)c->grid_size.x * c->grid_size.y * c->grid_size.z;
    }
    PGS_F unsigned long long thread_rank() const { const SimContext *c = sim_here(); return block_rank() * c->threads + c->linear; }
    PGS_F unsigned long long size() const { return num_blocks() * sim_here()->threads; }
    PGS_F unsigned long long num_threads() const { return size(); }
    PGS_F dim3 dim_blocks() const { const SimTriple t = sim_here()->grid_size; return dim3(t.x, t.y, t.z); }
    PGS_F dim3 group_dim() const { return dim_blocks(); }
    PGS_F dim3 block_index() const { const SimTriple t = sim_here()->block; return dim3(t.x, t.y, t.z); }
    PGS_F dim3 dim_threads() const {
        const SimContext *c = sim_here();
        return dim3(c->grid_size.x * c->block_size.x, c->grid_size.y * c->block_size.y, c->grid_size.z * c->block_size.z);
    }
    PGS_F dim3 thread_index() const {
        const SimContext *c = sim_here();
        return dim3(c->block.x * c->block_size.x + c->thread.x, c->block.y * c->block_size.y + c->thread.y,
                    c->block.z * c->block_size.z + c->thread.z);
    }
    PGS_F unsigned long long cluster_rank() const { return block_rank(); }
    PGS_F unsigned long long num_clusters() const { return num_blocks(); }
};
PGS_F grid_group this_grid() { return grid_group(); }

class cluster_group { /* one block */
public:
    static PGS_F void sync() { __syncthreads(); }
    static PGS_F unsigned thread_rank() { return sim_here()->linear; }
    static PGS_F unsigned num_threads() { return sim_here()->threads; }
    static PGS_F unsigned size() { return sim_here()->threads; }
    static PGS_F unsigned block_rank() { return 0; }
    static PGS_F unsigned num_blocks() { return 1; }
    static PGS_F dim3 block_index() { return dim3(0, 0, 0); }
    static PGS_F dim3 dim_blocks() { return dim3(1, 1, 1); }
    static PGS_F dim3 thread_index() { return thread_block::thread_index(); }
    template <class T> static PGS_F T *map_shared_rank(T *p, int) { return p; }
};
PGS_F cluster_group this_cluster() { return cluster_group(); }

/* ---- tiles and coalesced threads ---------------------------------------------------------------------------------------- */

class coalesced_group : public pgs_lanes {
public:
    PGS_F coalesced_group(unsigned lanes, unsigned meta_rank = 0, unsigned meta_size = 1) : pgs_lanes(lanes, meta_rank, meta_size) {}
};
PGS_F coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

template <unsigned Size, class Parent = void> class thread_block_tile : public pgs_lanes {
    static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0, "the simulator has tiles of 1, 2, 4, 8, 16 and 32 threads");
    static constexpr unsigned bits = Size == 32 ? 0xffffffffu : (1u << (Size & 31)) - 1;
    static PGS_F unsigned base() { return pgs::lane() & ~(Size - 1); }
public:
    /* Lanes beyond the end of the block are not there. */
    static PGS_F unsigned lanes_of_tile() {
        const SimContext *c = sim_here();
        const unsigned first = c->linear & ~31u, there = c->threads - first;
        return (bits << base()) & (there >= 32 ? 0xffffffffu : (1u << there) - 1);
    }
    PGS_F thread_block_tile(unsigned meta_rank, unsigned meta_size) : pgs_lanes(lanes_of_tile(), meta_rank, meta_size) {}
    template <class Other> PGS_F thread_block_tile(const thread_block_tile<Size, Other> &o)
        : pgs_lanes(o.pgs_mask(), (unsigned)o.meta_group_rank(), (unsigned)o.meta_group_size()) {}
    static PGS_F unsigned long long thread_rank() { return pgs::lane() & (Size - 1); }
    static PGS_F constexpr unsigned long long size() { return Size; }
    static PGS_F constexpr unsigned long long num_threads() { return Size; }
    template <class T> PGS_F T shfl(T value, int rank) const { return pgs::read(lanes_, value, base() | ((unsigned)rank & (Size - 1))); }
    template <class T> PGS_F T shfl_up(T value, unsigned delta) const {
        return pgs::read(lanes_, value, thread_rank() >= delta ? pgs::lane() - delta : pgs::lane());
    }
    template <class T> PGS_F T shfl_down(T value, unsigned delta) const {
        return pgs::read(lanes_, value, thread_rank() + delta < Size ? pgs::lane() + delta : pgs::lane());
    }
    template <class T> PGS_F T shfl_xor(T value, unsigned mask) const {
        const unsigned long long rank = thread_rank() ^ mask;
        return pgs::read(lanes_, value, rank < Size ? base() | (unsigned)rank : pgs::lane());
    }
};

/* Any of them, known at run time only. */
class thread_group {
    enum Kind { block, grid, lanes } kind_;
    unsigned lanes_, meta_rank_, meta_size_;
public:
    PGS_F thread_group(const thread_block &) : kind_(block), lanes_(0), meta_rank_(0), meta_size_(1) {}
    PGS_F thread_group(const grid_group &) : kind_(grid), lanes_(0), meta_rank_(0), meta_size_(1) {}
    PGS_F thread_group(const pgs_lanes &g)
        : kind_(lanes), lanes_(g.pgs_mask()), meta_rank_((unsigned)g.meta_group_rank()), meta_size_((unsigned)g.meta_group_size()) {}
    PGS_F void sync() const {
        if (kind_ == block) __syncthreads();
        else if (kind_ == grid) sim_grid_sync();
        else sim_warp(SIM_WARP_SYNC, lanes_, 0, 0);
    }
    PGS_F unsigned long long size() const {
        return kind_ == block ? thread_block::size() : kind_ == grid ? this_grid().size() : (unsigned)__builtin_popcount(lanes_);
    }
    PGS_F unsigned long long num_threads() const { return size(); }
    PGS_F unsigned long long thread_rank() const {
        return kind_ == block ? thread_block::thread_rank() : kind_ == grid ? this_grid().thread_rank() : pgs::rank(lanes_);
    }
    PGS_F unsigned pgs_mask() const { return lanes_; }
    PGS_F bool pgs_is_block() const { return kind_ == block; }
    PGS_F coalesced_group pgs_group() const { return coalesced_group(lanes_, meta_rank_, meta_size_); }
};

template <unsigned Size> PGS_F thread_block_tile<Size, thread_block> tiled_partition(const thread_block &) {
    const SimContext *c = sim_here();
    return thread_block_tile<Size, thread_block>(c->linear / Size, (c->threads + Size - 1) / Size);
}
template <unsigned Size, unsigned Larger, class Parent>
PGS_F thread_block_tile<Size, thread_block_tile<Larger, Parent>> tiled_partition(const thread_block_tile<Larger, Parent> &parent) {
    static_assert(Size <= Larger, "a tile of a tile cannot be larger");
    return thread_block_tile<Size, thread_block_tile<Larger, Parent>>((unsigned)parent.thread_rank() / Size, Larger / Size);
}
/* A part of the lanes of a group, `size` neighbours by rank. */
PGS_I coalesced_group tiled_partition(const coalesced_group &parent, unsigned size) {
    const unsigned rank = (unsigned)parent.thread_rank(), first = rank / size * size, count = (unsigned)parent.size();
    unsigned lanes = 0;
    for (unsigned i = first; i < first + size && i < count; i++) lanes |= 1u << pgs::nth(parent.pgs_mask(), i);
    return coalesced_group(lanes, rank / size, (count + size - 1) / size);
}
PGS_I thread_group tiled_partition(const thread_group &parent, unsigned size) {
    if (!parent.pgs_is_block()) return tiled_partition(parent.pgs_group(), size);
    if (size > 32 || size == 0 || (size & (size - 1))) sim_fail(SIM_FAIL_UNSUPPORTED, "tiled_partition: the simulator has tiles of 1, 2, 4, 8, 16 and 32 threads");
    const SimContext *c = sim_here();
    const unsigned there = c->threads - (c->linear & ~31u), base = (c->linear & 31u) & ~(size - 1);
    const unsigned all = size == 32 ? 0xffffffffu : ((1u << size) - 1) << base;
    return coalesced_group(all & (there >= 32 ? 0xffffffffu : (1u << there) - 1), c->linear / size, (c->threads + size - 1) / size);
}
template <class Group> PGS_I coalesced_group labeled_partition(const Group &group, unsigned long long label) {
    const unsigned mask = group.pgs_mask(), same = (unsigned)sim_warp(SIM_WARP_MATCH_ANY, mask, label, 0);
    const unsigned leaders = (unsigned)sim_warp(SIM_WARP_BALLOT, mask, (unsigned)__builtin_ctz(same) == pgs::lane(), 0);
    const unsigned first = (unsigned)__builtin_ctz(same);
    return coalesced_group(same, (unsigned)__builtin_popcount(leaders & ((1u << first) - 1)), (unsigned)__builtin_popcount(leaders));
}
template <class Group> PGS_I coalesced_group binary_partition(const Group &group, bool predicate) {
    const unsigned mask = group.pgs_mask(), votes = (unsigned)sim_warp(SIM_WARP_BALLOT, mask, predicate, 0);
    const unsigned mine = predicate ? votes : mask & ~votes;
    return coalesced_group(mine, predicate ? 1 : 0, votes != 0 && votes != mask ? 2 : 1);
}

/* ---- functions of any group ----------------------------------------------------------------------------------------------- */

template <class Group> PGS_F void sync(const Group &group) { group.sync(); }
template <class Group> PGS_F auto thread_rank(const Group &group) -> decltype(group.thread_rank()) { return group.thread_rank(); }
template <class Group> PGS_F auto group_size(const Group &group) -> decltype(group.size()) { return group.size(); }
template <class Group, class F, class... A> PGS_F void invoke_one(const Group &group, F &&f, A &&...a) {
    if (group.thread_rank() == 0) f(static_cast<A &&>(a)...);
}
template <class Group, class F, class... A> PGS_I auto invoke_one_broadcast(const Group &group, F &&f, A &&...a) -> decltype(f(static_cast<A &&>(a)...)) {
    decltype(f(static_cast<A &&>(a)...)) value{};
    if (group.thread_rank() == 0) value = f(static_cast<A &&>(a)...);
    return group.shfl(value, 0);
}

template <class T> struct plus { PGS_F T operator()(const T &a, const T &b) const { return a + b; } };
template <class T> struct less { PGS_F T operator()(const T &a, const T &b) const { return b < a ? b : a; } };
template <class T> struct greater { PGS_F T operator()(const T &a, const T &b) const { return a < b ? b : a; } };
template <class T> struct bit_and { PGS_F T operator()(const T &a, const T &b) const { return a & b; } };
template <class T> struct bit_or { PGS_F T operator()(const T &a, const T &b) const { return a | b; } };
template <class T> struct bit_xor { PGS_F T operator()(const T &a, const T &b) const { return a ^ b; } };

/* In full tiles a tree over neighbours, as shuffles give it; else in the order of ranks. */
template <class T, class Op> PGS_I T reduce(const coalesced_group &group, T value, Op op);
template <unsigned Size, class Parent, class T, class Op> PGS_I T reduce(const thread_block_tile<Size, Parent> &group, T value, Op op) {
    if ((unsigned)__builtin_popcount(group.pgs_mask()) == Size) {
        for (unsigned step = Size / 2; step != 0; step /= 2) value = op(value, group.shfl_xor(value, step));
        return value;
    }
    return reduce(coalesced_group(group.pgs_mask()), value, op);
}
template <class T, class Op> PGS_I T reduce(const coalesced_group &group, T value, Op op) {
    T sum = group.shfl(value, 0);
    for (int i = 1; i < (int)group.size(); i++) sum = op(sum, group.shfl(value, i));
    return sum;
}
template <class Group, class T, class Op> PGS_I T inclusive_scan(const Group &group, T value, Op op) {
    const int rank = (int)group.thread_rank();
    for (int step = 1; step < (int)group.size(); step *= 2) {
        const T other = group.shfl_up(value, (unsigned)step);
        if (rank >= step) value = op(other, value);
    }
    return value;
}
template <class Group, class T> PGS_I T inclusive_scan(const Group &group, T value) { return inclusive_scan(group, value, plus<T>()); }
template <class Group, class T, class Op> PGS_I T exclusive_scan(const Group &group, T value, Op op) {
    const T before = group.shfl_up(inclusive_scan(group, value, op), 1);
    return group.thread_rank() == 0 ? T() : before;
}
template <class Group, class T> PGS_I T exclusive_scan(const Group &group, T value) { return exclusive_scan(group, value, plus<T>()); }

template <class Group> PGS_I void memcpy_async(const Group &group, void *to, const void *from, size_t bytes) {
    const size_t rank = group.thread_rank(), count = group.size();
    for (size_t i = rank; i < bytes; i += count) ((char *)to)[i] = ((const char *)from)[i];
}
template <class Group, class T> PGS_I void memcpy_async(const Group &group, T *to, size_t to_count, const T *from, size_t from_count) {
    const size_t rank = group.thread_rank(), count = group.size(), n = to_count < from_count ? to_count : from_count;
    for (size_t i = rank; i < n; i += count) to[i] = from[i];
}
template <class Group> PGS_F void wait(const Group &group) { group.sync(); }
template <unsigned Stages, class Group> PGS_F void wait_prior(const Group &group) { group.sync(); }

} // namespace cooperative_groups

#include "sim_show.h"
#endif
