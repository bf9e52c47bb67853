"""Plain array code as few launches (pygpu.fusion.on()): the same results as one launch for each
operation, whatever else a program does between, on OpenCL, and CUDA or its simulator."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

os.environ.setdefault("PYGPU_CUDA", "auto")

import pygpu
from pygpu import _array, _cuda
from pygpu._src.array import chains
from pygpu._src.runtime import kernel_cache
from pygpu.cuda import driver, gpuarray
from pygpu.cuda.compiler import SourceModule

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

pytestmark = [pytest.mark.sampled(3), pytest.mark.usefixtures("current_context")]


@pytest.fixture
def on(monkeypatch):
    """Chains become one launch as soon as they were seen; their kernels are not compiled later."""
    monkeypatch.setattr(kernel_cache, "_MOST_AT_ONCE", 1)
    chains.set_mode(1, wait=True, often=1, wait_us=2_000_000)
    yield
    chains.set_from_environment()


@pytest.fixture
def late():
    """Every operation is deferred as long as it may be."""
    chains.set_mode(2, wait=True, often=1, wait_us=2_000_000)
    yield
    chains.set_from_environment()


def launches(make, call) -> int:
    chains.flush()

    def work():
        call()
        chains.flush()

    return make.calls(work)[0]


def rand(*shape, seed=1, dtype=np.float32):
    return np.random.default_rng(seed).uniform(-2, 2, shape).astype(dtype)


def same(device, host):
    got = device.get()
    assert got.dtype == host.dtype
    np.testing.assert_array_equal(got, host)
    if host.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(got[host == 0]), np.signbit(host[host == 0]))


# ---- what becomes one launch


def heat(u):
    u[1:-1, 1:-1] += np.float32(0.2) * (
        u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
    )


def test_a_heat_step_is_two_launches(make, on):
    host = rand(20, 23)
    u = make(host)
    for _ in range(12):
        heat(u)
        heat(host)
    assert launches(make, lambda: heat(u)) == 2  # what reads u, and what writes it
    heat(host)
    same(u, host)


def test_one_launch_with_numbers_that_change(make, on):
    a, b = rand(1000), rand(1000, seed=2)
    x, y = make(a), make(b)
    for i in range(6):
        number = i + 0.5
        kept = []
        count = launches(make, lambda n=number, kept=kept: kept.append((n * x + y) * 3 - x / y))
        same(kept[0], (np.float32(number) * a + b) * 3 - a / b)
    assert count == 1


def test_comparisons_where_and_dtypes(make, on):
    a, b = rand(333), rand(333, seed=3, dtype=np.float64)
    x, y = make(a), make(b)
    for _ in range(5):
        r = np.where(x > 0, x * 2, y) + (x < y)
    expected = np.where(a > 0, a * 2, b) + (a < b)
    assert launches(make, lambda: np.where(x > 0, x * 2, y) + (x < y)) < 5
    same(r, expected)


@pytest.mark.sampled(opencl=8)
@pytest.mark.parametrize(
    ("code", "to"),
    [
        pytest.param(a, b, marks=[pytest.mark.slow] if (i + k) % 3 else [])
        for i, a in enumerate("?bHiqfdF")
        for k, b in enumerate("?bBiQfD")
    ],
)
def test_astype_is_a_step(make, on, code, to):
    """Conversions as between arrays, of numbers that every integer type holds or wraps."""
    host = np.array([0, 1, 2, 3, 100, 77, 5], code)
    x = make(host)

    def both(a):
        return (a + a).astype(to) + np.array(1, to)

    with np.errstate(all="ignore"):
        chains.set_mode(0)
        plain = both(x)
        expected = both(host)
    chains.set_mode(1, wait=True, often=1, wait_us=2_000_000)
    for _ in range(6):
        got = both(x)
    same(plain, expected)
    same(got, expected)


def test_astype_and_its_neighbours_are_one_launch(make, on):
    a = rand(100)
    x = make(a)
    kept = []
    for _ in range(8):
        chains.flush()
        kept = [(x * 2).astype(np.float64) * 0.1 + 1]
    assert launches(make, lambda: kept.append((x * 2).astype(np.float64) * 0.1 + 1)) == 1
    same(kept[-1], (a * 2).astype(np.float64) * 0.1 + 1)


def test_a_chain_that_always_goes_on_gets_a_longer_kernel(make, on):
    a = rand(100)
    x = make(a)
    kept = []
    for _ in range(6):
        kept = [(x + 3) * 5]
        chains.flush()
    for _ in range(10):
        kept = [(x + 3) * 5 - 7]
        chains.flush()
    assert launches(make, lambda: kept.append((x + 3) * 5 - 7)) == 1
    same(kept[-1], (a + 3) * 5 - 7)


def test_what_was_dropped_before_it_was_computed_is_not_launched(make, late):
    x = make(rand(100))
    (x + 3) * 5
    chains.flush()
    assert launches(make, lambda: (x + 3) * 5) == 0
    y = x + 3
    view = y[::2]
    del y  # its memory is the view's
    same(view, (rand(100) + 3)[::2])


def test_what_never_comes_again_is_not_watched(make):
    """After some chains that are all new, operations are launched without a look; not so once there
    is a kernel."""
    chains.set_mode(1, wait=True, often=3)
    try:
        arrays = [make(rand(n)) for n in range(100, 400)]
        (arrays[0] + 1) * 2
        before = chains.counts()["watched"]
        for x in arrays:
            (x + 1) * 2
            chains.flush()
        assert chains.counts()["watched"] < before + 400
    finally:
        chains.set_from_environment()


@pytest.mark.sampled(1)
def test_code_that_runs_as_a_temporary_goes_may_use_the_same_kernel(make):
    """For arrays of another size: the kernel's sizes for the operation under way must stay."""
    chains.set_from_environment()  # begins to watch again
    host = np.arange(1000.0)
    a, b = make(host), make(np.ones(1000))
    others = [make(np.ones(n)) for n in range(2000, 2020)]
    sizes, kept = [], []
    for other in others:
        temporary = a + b

        def use(_, other=other):
            sizes.append((other - other).size)

        kept.append(weakref.ref(temporary.base_data, use))
        del temporary
        result = a - b  # sweeps what was dropped
        junk = [(10**6 + i,) for i in range(50)]
        np.testing.assert_array_equal(result.get(), host - 1)
    assert set(sizes) <= set(range(2000, 2020)) and len(junk) == 50


def test_broadcasting_and_views(make, on):
    a, row, column = rand(6, 8), rand(8, seed=4), rand(6, 1, seed=5)
    x, r, c = map(make, (a, row, column))
    for _ in range(5):
        result = ((x + r) * c - x)[::-1, ::2] * 2
    same(result, ((a + row) * column - a)[::-1, ::2] * np.float32(2))


def test_a_result_that_is_kept_is_written(make, on):
    a = rand(100)
    x = make(a)
    for _ in range(5):
        first = x + 1
        second = first * 2
        third = second - x
    same(first, a + 1)
    same(second, (a + 1) * 2)
    same(third, (a + 1) * 2 - a)


def test_in_place_on_the_same_items(make, on):
    a = rand(100)
    x, host = make(a), a.copy()
    for _ in range(6):
        x += 1
        x *= 0.5
        x -= 0.25
        host += 1
        host *= 0.5
        host -= 0.25
    same(x, host)


def test_a_loop_of_elementwise_operations_is_cut_where_it_repeats(on):
    """Four rounds of seven operations a launch, whatever came before the loop."""
    chains.set_mode(1, wait=True, often=3, wait_us=2_000_000)
    a, b = rand(50), rand(50, seed=2)
    x, v = gpuarray.to_gpu(a), gpuarray.to_gpu(b)

    def rounds(x, v, n):
        for _ in range(n):
            f = -x - np.float32(0.1) * v
            v = v + np.float32(0.01) * f
            x = x + np.float32(0.01) * v
        return x, v

    for _ in range(8):
        rounds(x, v, 60)
        chains.flush()
    before = chains.counts()
    x, v = rounds(x, v, 60)
    chains.flush()
    after = chains.counts()
    assert after["watched"] == before["watched"]
    assert after["fused"] + after["unfused"] - before["fused"] - before["unfused"] <= 60  # of 420
    for device, host in zip((x, v), rounds(a, b, 60), strict=True):
        same(device, host)


def test_copies_are_part_of_a_chain(make, on):
    chains.set_mode(1, wait=True, often=3, wait_us=2_000_000)
    a, b = rand(6, 8), rand(6, 8, seed=2)
    x, y = make(a), make(b)

    def both(x, y):
        z = (x + 1).copy()
        z *= 2
        y[...] = z - x
        return z.copy() + y

    kept = []
    for _ in range(12):
        kept = [both(x, y)]
        chains.flush()
    assert launches(make, lambda: kept.append(both(x, y))) == 1
    same(kept[-1], both(a, b))
    same(y, b)
    chains.set_mode(2, wait=True)
    z = (x + 1).copy()  # the copy by itself, if nothing else joins
    chains.flush()
    same(z, a + 1)


def test_an_overlapping_write_is_not_in_the_chain_that_reads(make, on):
    a = rand(100)
    x, host = make(a), a.copy()
    for _ in range(6):
        t = x[1:] * 2 + 1
        x[:-1] = t
        x[1:] += x[:-1] * 0.5
        s = host[1:] * 2 + 1
        host[:-1] = s
        host[1:] += host[:-1] * np.float32(0.5)
    same(x, host)


@pytest.mark.sampled(opencl=5)
@pytest.mark.parametrize("number", [1 << 40, -1, 300, np.int64(5), True, 1e300, float("nan"), 1j])
@pytest.mark.parametrize("code", "bBiqfd")
def test_numbers_as_without_chains(make, late, number, code):
    host = np.arange(5, dtype=code)
    x = make(host)

    def both(a):
        try:
            with np.errstate(all="ignore"):
                return (a + 1) * number + a
        except OverflowError as error:
            return type(error)

    for _ in range(3):
        got, expected = both(x), both(host)
        if isinstance(expected, type):
            assert got is expected
        else:
            same(got, expected)


# ---- what else a program does


def test_a_raw_kernel_reads_what_was_put_off(late):
    kernel = SourceModule(
        "__global__ void twice(float *o, const float *x) { o[threadIdx.x] = 2 * x[threadIdx.x]; }"
    ).get_function("twice")
    x, out = gpuarray.to_gpu(rand(32)), gpuarray.zeros(32, np.float32)
    kernel(out, (x + 1) * 3, block=(32, 1, 1))
    same(out, 2 * ((rand(32) + 1) * 3))


def test_a_raw_kernel_writes_what_was_to_be_read(late):
    kernel = SourceModule("__global__ void clear(float *x) { x[threadIdx.x] = 0; }").get_function(
        "clear"
    )
    x = gpuarray.to_gpu(rand(32))
    y = (x + 1) * 3
    kernel(x, block=(32, 1, 1))
    same(y, (rand(32) + 1) * 3)
    same(x, np.zeros(32, np.float32))


def test_copies_and_fills_come_in_order(late):
    x = gpuarray.to_gpu(rand(32))
    y = (x + 1) * 3
    x.fill(7)
    z = x + 1
    driver.memcpy_htod(x.gpudata, rand(32, seed=9))
    same(y, (rand(32) + 1) * 3)
    same(z, np.full(32, 8, np.float32))
    same(x, rand(32, seed=9))


def test_memory_whose_address_is_known_is_never_put_off(late):
    x = gpuarray.to_gpu(rand(32))
    before = chains.counts()
    y = x + 1
    address = int(y.gpudata)  # launches deferred work: whoever has the address may look
    after = chains.counts()
    assert after["deferred"] == before["deferred"] + 1
    assert after["unfused"] == before["unfused"] + 1
    before = after
    y += 1
    z = y * 2
    assert chains.counts()["deferred"] == before["deferred"]
    got = np.empty(32, np.float32)
    driver.memcpy_dtoh(got, address)
    np.testing.assert_array_equal(got, rand(32) + 1 + 1)
    same(z, (rand(32) + 1 + 1) * 2)


def test_an_event_comes_after_what_was_put_off(late):
    x = gpuarray.to_gpu(rand(32))
    y = (x + 1) * 3
    before = chains.counts()["unfused"] + chains.counts()["fused"]
    event = driver.Event()
    event.record()
    assert chains.counts()["unfused"] + chains.counts()["fused"] > before
    event.synchronize()
    same(y, (rand(32) + 1) * 3)


def test_nothing_is_put_off_in_a_capture(late):
    stream = driver.Stream(1)  # one that the default stream does not wait for
    x = gpuarray.to_gpu(rand(32))
    a, b = driver.mem_alloc(128), driver.mem_alloc(128)
    driver.memcpy_htod(a, rand(32))
    (x + 1) * 3
    stream.begin_capture()
    try:
        before = chains.counts()["deferred"]
        driver.memcpy_dtod_async(b, a, 128, stream)
        y = x + 1
        assert chains.counts()["deferred"] == before
    finally:
        graph = stream.end_capture()
    graph.instantiate().launch(stream)
    stream.synchronize()
    got = np.empty(32, np.float32)
    driver.memcpy_dtoh(got, b)
    np.testing.assert_array_equal(got, rand(32))
    same(y, rand(32) + 1)


def test_copies_on_a_stream_come_in_order(late):
    stream = driver.Stream()
    x = gpuarray.to_gpu_async(rand(32), stream=stream)
    y = (x + 1) * 3
    got = y.get_async(stream)
    stream.synchronize()
    np.testing.assert_array_equal(got, (rand(32) + 1) * 3)


def test_what_waits_is_launched_by_itself(late):
    chains.set_mode(2)
    x = gpuarray.to_gpu(rand(32))
    before = chains.counts()
    y = x + 1
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        now = chains.counts()
        if now["unfused"] + now["fused"] > before["unfused"] + before["fused"]:
            break
        time.sleep(0.001)
    else:
        pytest.fail("nobody launched the operation")
    same(y, rand(32) + 1)


def test_turning_off_launches_what_waits():
    chains.set_mode(2, wait=True)
    try:
        x = gpuarray.to_gpu(rand(32))
        y = (x + 1) * 3
    finally:
        pygpu.fusion.off()
    before = chains.counts()["deferred"]
    same(y * 2, (rand(32) + 1) * 3 * 2)
    assert chains.counts()["deferred"] == before


def test_a_failed_launch_is_the_next_commands_error(late):
    x = gpuarray.to_gpu(rand(32))
    y = (x + 1) * 3
    chains.flush()
    y = (x + 1) * 3
    _cuda._fault("cuLaunchKernel", 719, 1, 10)
    try:
        with pytest.raises(pygpu.cuda.driver.Error, match="launch"):
            y.get()
    finally:
        _cuda._fault(None, 0)
    same((x + 1) * 3, (rand(32) + 1) * 3)


def test_a_dropped_chain_gives_its_memory_back(late):
    x = gpuarray.to_gpu(rand(1 << 16))
    chains.flush()
    pool = x.backend.pool
    before = pool.active_bytes
    for _ in range(20):
        y = ((x + 1) * 3 - x) / 2
        del y
    chains.flush()
    assert pool.active_bytes == before


def test_freeing_memory_launches_what_uses_it(late):
    x, y = gpuarray.to_gpu(rand(32)), gpuarray.to_gpu(rand(32, seed=2))
    z, w = x + y, x - y
    x.gpudata.free()
    w.gpudata.free()
    same(z, rand(32) + rand(32, seed=2))
    with pytest.raises(driver.LogicError, match="was already freed"):
        w.get()


def test_a_forked_child_has_nothing_deferred(late):
    x = gpuarray.to_gpu(rand(32))
    y = x + 1
    for use in (y.get, lambda: x + 1, lambda: y * 2):
        assert "before forking" in error_in_child(use)
    same(y, rand(32) + 1)


def error_in_child(use) -> str:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            use()
            text = "no error"
        except BaseException as error:
            text = str(error)
        os.write(write, text.encode()[:1000])
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    return text


@pytest.mark.parametrize("error, arrives", [(KeyboardInterrupt, True), (ValueError, False)])
def test_control_c_while_a_chain_is_counted_is_raised(late, monkeypatch, error, arrives):
    def interrupted(*_):
        raise error

    x = gpuarray.to_gpu(rand(41 + arrives))  # a size that no other test has
    reported = []
    monkeypatch.setattr(sys, "unraisablehook", reported.append)
    _array._chain_set(2, interrupted, 1)
    raised = 0
    for _ in range(4):
        try:
            y = (x + 1) * 3
        except KeyboardInterrupt:
            raised += 1
        chains.flush()
    assert (raised, len(reported)) == ((1, 0) if arrives else (0, 1))
    same(y, (rand(41 + arrives) + 1) * 3)


def test_several_threads(late):
    wrong = []

    def work(seed):
        context = _cuda.Device(0).retain_primary_context()
        context.push()
        try:
            host = rand(50, seed=seed)
            x = gpuarray.to_gpu(host)
            for _ in range(30):
                y = ((x + 1) * seed - x) * 2
                if not np.array_equal(y.get(), ((host + 1) * seed - host) * 2):
                    wrong.append(seed)
        finally:
            _cuda.Context.pop()

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_at_the_interpreters_end():
    program = """
import numpy as np, pygpu.cuda.autoinit
from pygpu.cuda import gpuarray
from pygpu._src.array import chains
chains.set_mode(2)
x = gpuarray.to_gpu(np.ones(10, np.float32))
y = (x + 1) * 2
y = (x + 1) * 2
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("value, mode", [("0", 0), ("", 1), ("1", 1), ("late", 2)])
def test_the_environment(value, mode):
    program = "import pygpu.cuda.gpuarray; from pygpu._src.array import chains\n"
    program += "print(chains.counts()['mode'])"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYGPU_FUSE": value},
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == str(mode), done.stderr


def test_on_and_statistics():
    pygpu.fusion.off()
    assert not chains.is_on()
    pygpu.fusion.on()
    try:
        assert chains.is_on()
        assert set(pygpu.fusion.statistics()) == {
            "watched",
            "compiled",
            "deferred",
            "fused",
            "unfused",
        }
    finally:
        chains.set_from_environment()


@pytest.mark.parametrize("first", ["pygpu.array", "pygpu.cuda.gpuarray"])
def test_it_is_on_until_it_is_turned_off(first):
    program = f"""
import {first}
from pygpu import fusion
from pygpu._src.array import chains
assert chains.is_on()
fusion.off()
import pygpu.array, pygpu.cuda.gpuarray
assert not chains.is_on()
"""
    environment = {k: v for k, v in os.environ.items() if k != "PYGPU_FUSE"}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)


# ---- compiling in the background


def test_kernels_are_compiled_when_the_compiler_is_idle():
    x = gpuarray.to_gpu(rand(77))
    (x + 1) * 2 - x  # compiles what it needs
    chains.flush()
    backend, made = x.backend, -1
    while chains.counts()["compiled"] != made:  # of other tests
        made = chains.counts()["compiled"]
        time.sleep(0.3)
    entered, go_on = threading.Event(), threading.Event()

    def slowly():
        entered.set()
        go_on.wait(30)
        return "PG_KERNEL void k(PG_ARRAY(pg_i32, x)) { PG_START(pg_i32, x); x[0] = 1; }", "k"

    def often():
        before = chains.counts()["compiled"]
        for _ in range(4):
            kept = (x + 1) * 2 - x
            chains.flush()
            del kept
        return before

    program = threading.Thread(
        target=in_context, args=(lambda: kernel_cache.get(backend, ("slowly",), slowly),)
    )
    chains.set_mode(1, often=3)
    try:
        program.start()
        assert entered.wait(30)
        before = often()
        x + 1
        time.sleep(0.3)
        assert chains.counts()["compiled"] == before
        go_on.set()
        deadline = time.monotonic() + 60
        while chains.counts()["compiled"] == before and time.monotonic() < deadline:
            time.sleep(0.01)
        assert chains.counts()["compiled"] == before + 1
    finally:
        go_on.set()
        program.join()
        chains.set_from_environment()


def in_context(work):
    _cuda.Device(0).retain_primary_context().push()
    try:
        work()
    finally:
        _cuda.Context.pop()


# ---- any program

_STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["add", "sub", "mul", "max", "abs", "where", "iadd", "imul", "set", "view", "sum"]
            + [
                "copy",
                "assign",
                "address",
                "drop",
                "raw",
                "wide",
                "mean",
                "event",
                "finish",
                "thread",
                "error",
            ]
        ),
        st.integers(0, 5),
        st.integers(0, 5),
    ),
    min_size=1,
    max_size=25,
)


def run(arrays, steps, raw, more):
    """A program over six arrays of one shape, any of which may be replaced or written. raw halves
    an array by a kernel of its own; more: what else a program does on a device, by name."""
    for name, i, k in steps:
        a, b = arrays[i], arrays[k]
        if name == "add":
            arrays[i] = a + b
        elif name == "sub":
            arrays[i] = a - 2
        elif name == "mul":
            arrays[i] = 0.5 * b
        elif name == "max":
            arrays[i] = np.maximum(a, b)
        elif name == "abs":
            arrays[i] = abs(a)
        elif name == "where":
            arrays[i] = np.where(a > b, a, b * 0.25)
        elif name == "iadd":
            arrays[i] += b
        elif name == "imul":
            a *= 0.5
        elif name == "set":
            a[1:, :-1] = b[:-1, 1:]
        elif name == "view":
            a[:, 1:] += b[:, :-1] * 0.5
        elif name == "sum":
            arrays[i] = a + b.sum(0) * 0.125
        elif name == "copy":
            arrays[i] = b.copy()
        elif name == "assign":
            a[...] = b
        elif name == "wide":
            arrays[i] = (a.astype(np.float64) * 0.5 + b).astype(np.float32)
        elif name == "mean":
            arrays[i] = a - b.mean()
        elif name == "error":
            with pytest.raises(ValueError):
                (a + 1) + b[:, :-1]
        elif name == "drop":
            arrays[i] = arrays[k]
        elif name == "raw":
            raw(a)
        elif name in more:
            more[name](a)


def in_a_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def parts_of_cuda():
    kernel = SourceModule(
        "__global__ void raw(float *x, int n) { for (int i = 0; i < n; i++) x[i] = x[i] / 2; }"
    ).get_function("raw")

    def raw(a):
        kernel(a, np.int32(a.size), block=(1, 1, 1))

    def event(a):
        driver.Event().record().synchronize()

    def add_in_a_thread(a):
        def work():
            _cuda.Device(0).retain_primary_context().push()
            try:
                a.__iadd__(1)
            finally:
                _cuda.Context.pop()

        in_a_thread(work)

    more = {"address": lambda a: int(a.gpudata), "finish": lambda a: _cuda.Context.synchronize()}
    return raw, {**more, "event": event, "thread": add_in_a_thread}


def parts_of_opencl(queue):
    text = "__kernel void raw(__global float *x) { x[get_global_id(0)] /= 2; }"
    kernel = pygpu.Program(queue.context, text).build().raw
    other = pygpu.CommandQueue(queue.context)

    def raw(a):
        kernel(queue, (a.size,), None, a.data)

    def event(a):
        pygpu.enqueue_marker(other, wait_for=a.events).wait()

    more = {"address": lambda a: a.base_data.int_ptr, "finish": lambda a: queue.finish()}
    return raw, {**more, "event": event, "thread": lambda a: in_a_thread(lambda: a.__iadd__(1))}


def check_program(make, mode, steps, repeat):
    parts = parts_of_cuda() if make.name == "cuda" else parts_of_opencl(make.queue)

    def on_host(a):
        a /= 2

    def add(a):
        a += 1

    def values(fused):
        chains.set_mode(mode if fused else 0, wait=True, often=2)
        try:
            arrays = [make(rand(4, 5, seed=s)) for s in range(6)]
            for _ in range(repeat):
                run(arrays, steps, *parts)
            return [a.get() for a in arrays]
        finally:
            chains.set_from_environment()

    expected = [rand(4, 5, seed=s) for s in range(6)]
    with np.errstate(all="ignore"):
        for _ in range(repeat):
            run(expected, steps, on_host, {"thread": add})
    plain, fused = values(False), values(True)
    for a, b, c in zip(fused, plain, expected, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_allclose(a, c, rtol=1e-3, atol=1e-4)


quick = settings(
    max_examples=6,
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture],
)
long = settings(quick, max_examples=60)


@pytest.mark.parametrize("mode", [1, 2])
@given(steps=_STEPS, repeat=st.integers(1, 4))
@quick
def test_any_program(make, mode, steps, repeat):
    check_program(make, mode, steps, repeat)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("mode", [1, 2])
@given(steps=_STEPS, repeat=st.integers(1, 4))
@long
def test_any_program_at_length(make, mode, steps, repeat):
    check_program(make, mode, steps, repeat)


# ---- a reduction at the end


def _norm(x, y):
    return (x * y).sum()


def _kept(x, y):
    e = np.exp(x - y)
    return e, e.sum(axis=-1, keepdims=True)


REDUCED = {
    "sum of all": _norm,
    "rows, and what they are of": _kept,
    "sums of columns": lambda x, y: (x * y + x).sum(axis=0),
    "extremum": lambda x, y: (x - y).max(axis=-1),
    "positions": lambda x, y: (x * y).argmin(axis=0),
    "deviation": lambda x, y: (x * y).std(axis=0),
    "truth": lambda x, y: (x > y).any(axis=-1),
}


@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        *((name, ((30, 17), (30, 1))) for name in REDUCED),
        ("rows, and what they are of", ((4, 20000), (20000,))),
        ("sum of all", ((2, 30, 4), (30, 4))),
        ("sums of columns", ((200, 3), (1, 3))),
    ],
)
def test_a_reduction_ends_a_chain_with_the_same_bits(make, shapes, name):
    """Of odd and even rows, of rows that are in parts, of operands that are broadcast."""
    program = REDUCED[name]
    chains.set_mode(0)
    arrays = [make(rand(*shape, seed=i)) for i, shape in enumerate(shapes)]

    def results():
        made = program(*arrays)
        return made if isinstance(made, tuple) else (made,)

    plain = [r.get() for r in results()]
    chains.set_mode(1, wait=True, often=1, wait_us=2_000_000)
    try:
        for _ in range(5):
            kept = results()  # what nobody keeps is not computed
            chains.flush()
        before = chains.counts()
        kept = results()
        chains.flush()
        after = chains.counts()
        for expected, r in zip(plain, kept, strict=True):
            assert r.get().tobytes() == expected.tobytes()
            assert r.dtype == expected.dtype and r.shape == expected.shape
        if make.name == "cuda":
            assert after["fused"] == before["fused"] + 1
            assert after["unfused"] == before["unfused"]
    finally:
        chains.set_from_environment()


def test_a_reduction_that_was_put_off_reads_what_was_there(make, late):
    a = rand(100)
    x = make(a)
    total = (x * 2).sum()
    x.fill(7)
    assert float(total.get()) == pytest.approx(float((a * 2).sum()), rel=1e-5)
    assert float(x.get()[0]) == 7


def test_a_reduction_that_was_dropped_is_not_launched(make, late):
    x = make(rand(100))
    (x * 2).sum()  # its kernels are compiled
    chains.flush()

    def dropped():
        (x * 2).sum()

    assert launches(make, dropped) == 0


def test_a_fused_function_is_a_step_with_variables_of_its_own(make, on):
    h = rand(100)
    x = make(h)
    fused = pygpu.fuse(lambda x: (x * 2 + 1) * x)

    def program():
        return fused(x - 1) * 3 - x

    for _ in range(4):
        kept = program()
        chains.flush()
    y = h - np.float32(1)
    same(kept, (y * 2 + 1) * y * 3 - h)
    del kept
    assert launches(make, program) <= 2
