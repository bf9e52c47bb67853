"""How many blocks of a kernel run at once, and which sizes suit it."""

from __future__ import annotations

import pytest

from pygpu import _cuda
from pygpu.cuda import driver as cuda

SOURCE = """
__global__ void plain(int *out) { out[threadIdx.x] = threadIdx.x; }
__global__ void __launch_bounds__(64) bounded(int *out) { out[threadIdx.x] = threadIdx.x; }
"""


@pytest.fixture
def plain(kept, context):
    return kept[1].get_function("plain")


def attribute(name: str) -> int:
    return cuda.Device(0).get_attribute(getattr(cuda.device_attribute, name))


def test_max_active_blocks(plain):
    most_threads = attribute("MAX_THREADS_PER_MULTIPROCESSOR")
    few, many = plain.max_active_blocks(1024), plain.max_active_blocks(32)
    assert 1 <= few <= many
    assert few * 1024 <= most_threads and many * 32 <= most_threads
    assert plain.max_active_blocks((32, 32, 1)) == few == plain.max_active_blocks(block=[1024])
    assert plain.max_active_blocks(1024, flags=1) >= 1
    all_of_it = attribute("MAX_SHARED_MEMORY_PER_BLOCK")
    assert plain.max_active_blocks(32, shared=all_of_it - plain.shared_size_bytes) <= many


def test_suggest_block(plain, kept):
    grid, block = plain.suggest_block()
    assert 1 <= block <= plain.max_threads_per_block
    assert 1 <= grid <= attribute("MULTIPROCESSOR_COUNT") * plain.max_active_blocks(block)
    assert plain.suggest_block(limit=64)[1] <= 64
    assert plain.suggest_block(shared=1024)[1] >= 1
    asked = []

    def shared(threads):
        asked.append(threads)
        return 16 * threads

    assert plain.suggest_block(shared)[1] >= 1
    assert asked and all(1 <= threads <= 1024 for threads in asked)
    bounded = kept[1].get_function("bounded")
    assert bounded.suggest_block()[1] <= bounded.max_threads_per_block


def test_suggest_block_with_a_function_that_fails(plain):
    def fail(threads):
        raise KeyError(threads)

    with pytest.raises(KeyError):
        plain.suggest_block(fail)
    for wrong in (lambda threads: "x", lambda threads: -1, lambda threads: None):
        with pytest.raises((TypeError, OverflowError, ValueError)):
            plain.suggest_block(wrong)
    assert plain.suggest_block(lambda threads: plain.suggest_block()[0] * 0)[1] >= 1


def test_available_shared(plain):
    one, two = plain.available_shared(1, 128), plain.available_shared(2, (128, 1, 1))
    assert two <= one
    assert one >= attribute("MAX_SHARED_MEMORY_PER_BLOCK") - plain.shared_size_bytes
    assert plain.max_active_blocks(128, shared=two) >= 2


def test_the_largest_cooperative_grid_runs(plain):
    if not attribute("COOPERATIVE_LAUNCH"):
        pytest.skip("needs a GPU with cooperative launches (COOPERATIVE_LAUNCH)")
    memory = cuda.mem_alloc(4 * 128)
    most = attribute("MULTIPROCESSOR_COUNT") * plain.max_active_blocks(128)
    plain(memory, block=(128, 1, 1), grid=(most, 1), cooperative=True)
    cuda.Context.synchronize()
    with pytest.raises(cuda.LogicError, match="all blocks of a cooperative launch run at once"):
        plain(memory, block=(128, 1, 1), grid=(1024 * most, 1), cooperative=True)


def test_clusters(plain):
    if not attribute("CLUSTER_LAUNCH"):
        with pytest.raises(cuda.LogicError):
            plain.max_cluster_size(128)
        memory = cuda.mem_alloc(4 * 128)
        with pytest.raises(cuda.LogicError):
            plain(memory, block=(128, 1, 1), grid=(2, 1), cluster=(2, 1, 1))
        return
    most = plain.max_cluster_size(128)
    assert most >= 1
    assert plain.max_active_clusters(128, grid=most, cluster=most) >= 1
    memory = cuda.mem_alloc(4 * 128)
    plain(memory, block=(128, 1, 1), grid=(2 * most, 1), cluster=(most, 1, 1))
    cuda.Context.synchronize()


@pytest.mark.parametrize(
    "cluster, words",
    [
        ((3, 1, 1), r"grid\[0\] = 8 is not a multiple of cluster\[0\] = 3"),
        ((0, 1, 1), r"cluster\[0\] = 0"),
        (32, r"not a multiple"),
        ((8, 4, 1), r"a cluster of \(8, 4, 1\)"),
        ((1, 1, 1, 1), "too many cluster dimensions"),
    ],
)
def test_wrong_clusters(plain, cluster, words):
    memory = cuda.mem_alloc(4 * 128)
    with pytest.raises(cuda.LogicError, match=words):
        plain(memory, block=(128, 1, 1), grid=(8, 4), cluster=cluster)


def test_wrong_arguments(plain):
    for call in (
        lambda: plain.max_active_blocks(0),
        lambda: plain.max_active_blocks(4096),
        lambda: plain.available_shared(0, 128),
        lambda: plain.available_shared(2**40, 128),
        lambda: plain.suggest_block(limit=2**40),
    ):
        with pytest.raises(cuda.LogicError):
            call()
    for call in (
        lambda: plain.max_active_blocks(),
        lambda: plain.max_active_blocks("128"),
        lambda: plain.suggest_block(shared="x"),
        lambda: plain.available_shared(1),
    ):
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize(
    "routine, call",
    [
        ("cuOccupancyMaxActiveBlocksPerMultiprocessor", lambda f: f.max_active_blocks(32)),
        (
            "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
            lambda f: f.max_active_blocks(32, flags=1),
        ),
        ("cuOccupancyMaxPotentialBlockSize", lambda f: f.suggest_block()),
        ("cuOccupancyAvailableDynamicSMemPerBlock", lambda f: f.available_shared(1, 32)),
        ("cuOccupancyMaxPotentialClusterSize", lambda f: f.max_cluster_size(32)),
        ("cuOccupancyMaxActiveClusters", lambda f: f.max_active_clusters(32, 1, 1)),
    ],
)
def test_faults(plain, routine, call):
    plain.max_active_blocks(32)
    _cuda._fault(routine, 719)
    try:
        with pytest.raises(cuda.LaunchError, match=f"{routine} failed.*'plain'"):
            call(plain)
        assert _cuda._fault_hits() == 1
    finally:
        _cuda._fault(None, 0)
