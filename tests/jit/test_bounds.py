"""Indices out of bounds in kernels written in Python: an IndexError, and nothing touched."""

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import pygpu as cl
from pygpu import cuda
from pygpu._src.jit import check_report as report

pytestmark = pytest.mark.sampled(3)


@pytest.fixture
def on_the_host(make: Any) -> None:
    """For tests that rely on the default."""
    if not report.on_cpu(make(np.zeros(1, np.float32)).backend):
        pytest.skip("the device is a GPU, where indices are checked on request only")


checked_by_default = pytest.mark.usefixtures("on_the_host")


def wait(a: Any) -> None:
    """All that was launched is done."""
    a.get()


def fails(a: Any, *parts: str) -> str:
    """What was launched raises an IndexError whose text has these parts."""
    with pytest.raises(IndexError) as caught:
        wait(a)
    for part in parts:
        assert part in str(caught.value)
    wait(a)  # once
    return str(caught.value)


@cl.kernel
def twice(x, y):
    i = cuda.grid(1)
    y[i] = 2 * x[i]


@cl.kernel
def guarded(n, x, y):
    i = cuda.grid(1)
    if i < n:
        y[i] = 2 * x[i]


@cl.kernel
def gather(x, indices, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = x[indices[i]]


def text_of(kernel: Any) -> str:
    """The texts of all that was compiled."""
    made = [*kernel._all_specializations(), *kernel._checked.values()]
    return "".join(one.text for one in made)


@checked_by_default
def test_64_threads_over_6_items_are_an_index_error_and_the_items_are_right(make: Any) -> None:
    x, y = make(np.arange(6, dtype="f4")), make(np.zeros(6, "f4"))
    twice[1, 64](x, y)
    said = fails(y, "twice: index 6", "y with 6 items", "test_bounds.py:", "block (0, 0, 0)")
    line = twice.py_func.__code__.co_firstlineno + 3
    assert f"test_bounds.py:{line}" in said and "thread (6, 0, 0)" in said
    assert y.get().tolist() == [0, 2, 4, 6, 8, 10]


def test_as_many_threads_as_items_need_no_check(make: Any) -> None:
    kernel = cl.kernel(twice.py_func)
    x, y = make(np.arange(6, dtype="f4")), make(np.zeros(6, "f4"))
    for _ in range(3):
        kernel[1, 6](x, y)
    assert y.get().tolist() == [0, 2, 4, 6, 8, 10]
    assert "pgc_" not in text_of(kernel)


@checked_by_default
def test_a_guarded_kernel_has_no_checks_until_a_launch_needs_them(make: Any) -> None:
    kernel = cl.kernel(guarded.py_func)
    x, y = make(np.arange(6, dtype="f4")), make(np.zeros(6, "f4"))
    kernel[1, 64](6, x, y)
    assert y.get()[5] == 10 and "pgc_" not in text_of(kernel)
    kernel[1, 64](7, x, y)
    fails(y, "index 6")
    assert "pgc_" in text_of(kernel)
    kernel[1, 64](6, x, y)
    wait(y)


@checked_by_default
def test_a_cached_launch_compares_its_guards_each_time(make: Any) -> None:
    kernel = cl.kernel(guarded.py_func)
    x, y = make(np.arange(6, dtype="f4")), make(np.zeros(6, "f4"))
    short = make(np.zeros(5, "f4"))
    launch = kernel[1, 64]
    for _ in range(3):
        launch(6, x, y)
    wait(y)
    launch(6, x, short)
    fails(y, "index 5", "y with 5 items")
    launch(np.int32(7), x, y)
    fails(y, "index 6")
    twice[1, 6](x, y)
    twice[2, 6](x, y)
    fails(y, "block (1, 0, 0), thread (0, 0, 0)")


@checked_by_default
def test_the_next_launch_raises_what_was_found(make: Any) -> None:
    x, y = make(np.arange(6, dtype="f4")), make(np.zeros(6, "f4"))
    twice[1, 64](x, y)
    with pytest.raises(IndexError):
        for _ in range(100000):  # until it has begun
            twice[1, 6](x, y)
        wait(y)


def test_check_true_raises_from_the_launch(make: Any) -> None:
    kernel = cl.kernel(twice.py_func, check=True)
    x, y = make(np.arange(6, dtype="f4")), make(np.zeros(6, "f4"))
    with pytest.raises(IndexError, match="index 6"):
        kernel[1, 7](x, y)
    kernel[1, 6](x, y)
    assert y.get()[5] == 10


def test_check_false_has_no_checks(make: Any) -> None:
    kernel = cl.kernel(gather.py_func, check=False)
    x, y = make(np.arange(6, dtype="f4")), make(np.zeros(2, "f4"))
    kernel[1, 2](x, make(np.array([5, -6], "i4")), y)
    assert y.get().tolist() == [5, 0]
    assert "pgc_" not in text_of(kernel) and "pg_error" not in text_of(kernel)


@checked_by_default
def test_indices_from_memory(make: Any) -> None:
    x, y = make(np.arange(1, 7, dtype="f4")), make(np.full(4, 9, "f4"))
    gather[1, 32](x, make(np.array([5, -6, 6, -7], "i4")), y)
    said = fails(y, "x with 6 items")
    assert "index 6" in said or "index -7" in said
    assert y.get().tolist() == [6, 1, 0, 0]


@checked_by_default
def test_a_negative_index_is_reported_as_it_was_written(make: Any) -> None:
    x, y = make(np.arange(6, dtype="f4")), make(np.zeros(1, "f4"))
    gather[1, 1](x, make(np.array([-7], "i8")), y)
    fails(y, "index -7")


@cl.kernel
def unsigned(x, indices, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = x[indices[i]]


@checked_by_default
def test_an_unsigned_index_is_never_negative(make: Any) -> None:
    x, y = make(np.arange(6, dtype="f4")), make(np.zeros(1, "f4"))
    unsigned[1, 1](x, make(np.array([2**64 - 1], "u8")), y)
    fails(y, "x with 6 items")


@cl.kernel
def plane(a, rows, out):
    j, i = cuda.grid(2)
    a[i, j] += 1
    out[i, j] = a[i, -1]
    a[rows[i], 0] = 7


@checked_by_default
def test_two_dimensions_name_the_axis(make: Any) -> None:
    a, out = make(np.zeros((2, 3), "i4")), make(np.zeros((2, 3), "i4"))
    rows = make(np.zeros(2, "i4"))
    plane[(1, 1), (3, 2)](a, rows, out)
    wait(a)
    plane[(1, 1), (4, 2)](a, rows, out)
    fails(a, "index 3", "axis 1 of", "with 3 items", "thread (3, ")
    rows = make(np.array([0, 5], "i4"))
    plane[(1, 1), (3, 2)](a, rows, out)
    fails(a, "index 5", "axis 0 of a with 2 items")


@cl.kernel
def strided(a, n):
    i = cuda.grid(1)
    if i < n:
        a[i] = i


@checked_by_default
def test_views_have_the_bounds_of_the_view(make: Any) -> None:
    whole = make(np.full(12, -1, "i4"))
    strided[1, 16](whole[1:9:2], 4)
    wait(whole)
    strided[1, 16](whole[1:9:2], 6)
    fails(whole, "index ", "a with 4 items")
    assert whole.get().tolist() == [-1, 0, -1, 1, -1, 2, -1, 3, -1, -1, -1, -1]
    back = whole[::-1]
    strided[1, 16](back, 13)
    fails(whole, "index 12")


@cl.kernel
def rows_of(a, which, out):
    i = cuda.grid(1)
    row = a[which[i]]
    total = 0
    for k in range(row.shape[0]):
        total += row[k]
    part = a[0, 1:]
    row[:] = i
    out[i] = total + part[i]


@checked_by_default
def test_slices_in_kernels(make: Any) -> None:
    a, out = make(np.ones((2, 3), "i4")), make(np.zeros(2, "i4"))
    rows_of[1, 2](a, make(np.array([0, 1], "i4")), out)
    assert out.get()[0] == 3
    before = a.get()
    rows_of[1, 1](a, make(np.array([2], "i4")), out)
    fails(out, "index 2", "axis 0 of a with 2 items")
    assert (a.get() == before).all()  # the row is empty, not the first one
    wide = make(np.zeros(3, "i4"))
    rows_of[1, 3](a, make(np.array([0, 0, 0], "i4")), wide)
    fails(wide, "index 2", "part with 2 items")


@cl.kernel
def lazily(a, which, out):
    i = cuda.grid(1)
    if i < which.size and a[which[i]][0] > 0:
        out[i] = 1
    out[i % 2] += 1 if i < which.size and which[i] < 2 else 0


@checked_by_default
def test_what_is_not_evaluated_is_not_reported(make: Any) -> None:
    a, which = make(np.ones((2, 3), "i4")), make(np.array([0, 1], "i4"))
    out = make(np.zeros(8, "i4"))
    lazily[1, 8](a, which, out)
    wait(out)
    lazily[1, 8](a, make(np.array([0, 2], "i4")), out)
    fails(out)


@cl.kernel
def own(which, out):
    i = cuda.grid(1)
    shared = cuda.shared.array(4, np.int32)
    local = cuda.local.array((2, 2), np.int32)
    t = cuda.threadIdx.x
    shared[t] = t
    cuda.syncthreads()
    local[0, 0] = local[0, 1] = local[1, 0] = local[1, 1] = 5
    local[which[i], 0] = 6
    cuda.syncthreads()
    out[i] = local[1, 0] + shared[3 - t]


@checked_by_default
def test_arrays_of_the_block_and_of_the_thread(make: Any) -> None:
    out = make(np.zeros(8, "i4"))
    own[2, 4](make(np.ones(8, "i4")), out)
    assert out.get().tolist() == [9, 8, 7, 6] * 2
    own[2, 4](make(np.array([1, 1, 2, 1] * 2, "i4")), out)
    fails(out, "index 2", "axis 0 of local with 2 items")
    assert out.get().tolist() == [9, 8, 6, 6] * 2
    own[1, 8](make(np.ones(8, "i4")), out)  # and no thread waits for ever
    fails(out, "shared with 4 items")


TABLE = np.array([1, 2, 3], "i4")


@cl.kernel
def constants(which, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = TABLE[which[i]]


@checked_by_default
def test_constant_arrays(make: Any) -> None:
    out = make(np.zeros(2, "i4"))
    constants[1, 2](make(np.array([-3, 3], "i4")), out)
    fails(out, "index 3", "TABLE with 3 items")
    assert out.get().tolist() == [1, 0]


@cl.kernel
def counted(x, counts, old):
    i = cuda.grid(1)
    if i < x.size:
        old[i] = cuda.atomic.add(counts, x[i], 1)
        cuda.atomic.max(counts, (x[i],), 0)
        cuda.atomic.cas(counts, x[i], -1, 0)


@checked_by_default
def test_atomics(make: Any) -> None:
    counts, old = make(np.zeros(3, "i4")), make(np.zeros(4, "i4"))
    counted[1, 32](make(np.array([2, 3, -3, -4], "i4")), counts, old)
    fails(counts, "counts with 3 items")
    assert counts.get().tolist() == [1, 0, 1]


def test_bytes_in_a_histogram_of_256_need_no_check(make: Any) -> None:
    kernel = cl.kernel(counted.py_func)
    counts, old = make(np.zeros(256, "i4")), make(np.zeros(4, "i4"))
    kernel[1, 32](make(np.array([2, 3, 255, 0], "u1")), counts, old)
    assert counts.get().sum() == 4 and "pgc_" not in text_of(kernel)


def helper(a, i):
    return a[i]


@cl.kernel
def calls(a, which, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = helper(a, i) + helper(a, which[i])


@checked_by_default
def test_device_functions_name_the_kernel_and_their_own_line(make: Any) -> None:
    a, out = make(np.arange(4, dtype="i4")), make(np.zeros(4, "i4"))
    calls[1, 8](a, make(np.array([0, 1, 2, 4], "i4")), out)
    line = helper.__code__.co_firstlineno + 1
    fails(out, "calls: index 4", "in helper, ", f"test_bounds.py:{line}")
    assert out.get().tolist() == [0, 2, 4, 3]


@cl.kernel
def assigned(a, out):
    i = cuda.grid(1)
    if i < out.size:
        a[:] = out
        j = i
        while j < a.size:
            out[i] += a[j]
            j += 2
        if j < a.size:
            j = 0
        out[i] += a[j - 2]


@checked_by_default
def test_shapes_that_differ_in_an_assignment(make: Any) -> None:
    a, out = make(np.ones(3, "i4")), make(np.zeros(3, "i4"))
    assigned[1, 3](a, out)
    wait(out)
    assigned[1, 2](make(np.ones(3, "i4")), make(np.zeros(2, "i4")))
    fails(out, "what a[:] is set to with 2 items")


@cl.kernel
def counted_down(a, b):
    i = cuda.grid(1)
    if i == 0:
        for k in range(a.size - 1, -1, -1):
            b[k] = a[k]
        for k in range(1, a.size):
            a[k - 1] = a[k]
        for k in range(0, a.size - 1):
            a[min(k + 5, a.size - 1)] = 1
        k = 0
        while k < 10:
            k += 3
        b[k - 9] = a[max(k - 100, 0)]


@checked_by_default
def test_loops_and_clamps_need_no_checks_where_ranges_say_so(make: Any) -> None:
    kernel = cl.kernel(counted_down.py_func)
    a, b = make(np.arange(4, dtype="i4")), make(np.zeros(4, "i4"))
    kernel[1, 4](a, b)
    assert b.get().tolist()[1:3] == [1, 2] and text_of(kernel).count("pgc_") < 12
    kernel[1, 4](a, make(np.zeros(3, "i4")))
    fails(a, "b with 3 items")


@cl.kernel
def changed_in_a_loop(a, out):
    i = 0
    for _ in range(4):
        out[0] += a[i]
        i += 3
    j = 0
    if a[0] > 0:
        j = 7
    out[0] += a[j]


@checked_by_default
def test_a_variable_that_a_loop_or_a_branch_changes_is_checked(make: Any) -> None:
    a, out = make(np.ones(10, "i4")), make(np.zeros(1, "i4"))
    changed_in_a_loop[1, 1](a, out)
    assert out.get()[0] == 5
    changed_in_a_loop[1, 1](make(np.ones(9, "i4")), out)
    fails(out, "index 9")
    changed_in_a_loop[1, 1](make(np.ones(7, "i4")), out)
    fails(out, "a with 7 items")


@cl.kernel
def overflows(a, n, out):
    i = cuda.grid(1)
    j = i * n
    if j < a.size:
        out[i] = a[j]
    k = 1
    for _ in range(70 if n > 1 else 2):
        k *= 2
        if k < a.size:
            out[i] += a[k]
    if i + n < a.size:
        out[i] += a[i + n]


@checked_by_default
def test_products_that_64_bits_do_not_hold(make: Any) -> None:
    a, out = make(np.ones(5, "i4")), make(np.zeros(4, "i4"))
    overflows[1, 4](a, 1, out)
    wait(out)
    overflows[1, 4](a, 2**62, out)
    fails(out, "a with 5 items")
    overflows[1, 4](a, 2**63 - 1, out)
    fails(out, "a with 5 items")


def test_ranges_that_are_too_long_to_test(make: Any) -> None:
    names = [f"n{i}" for i in range(20)]
    total = " + ".join(names)
    src = f"def k(a, {', '.join(names)}):\n    a[1] = {total}\n    a[0] = a[{total}]\n"
    space: dict[str, Any] = {}
    exec(src, space)
    k = cl.kernel(space["k"], src=src, check=True)
    a = make(np.arange(400.0))
    k[1, 1](a, *range(20))
    assert a.get()[:2].tolist() == [190, 190]
    with pytest.raises(IndexError, match="index 1189 is out of bounds for a with 400 items"):
        k[1, 1](a, 999, *range(1, 20))


@cl.kernel
def shrinks(a, out):
    rest = a[0:]
    for k in range(rest.shape[0]):
        out[0] += rest[k]
        rest = rest[1:]


@checked_by_default
def test_an_array_that_becomes_shorter_in_its_loop(make: Any) -> None:
    out = make(np.zeros(1, "i4"))
    shrinks[1, 1](make(np.ones(4, "i4")), out)
    fails(out, "index 2", "rest with 2 items")
    assert out.get()[0] == 2


POINT = np.dtype([("x", "f4"), ("n", "i4", 3)])


@cl.kernel
def records(points, which, out):
    i = cuda.grid(1)
    points[which[i]].x = 1
    out[i] = points[which[i]].n[which[i]]


@checked_by_default
def test_records(make: Any) -> None:
    host = np.zeros(4, POINT)
    host["n"] = [1, 2, 3]
    points, out = make(host), make(np.zeros(3, "i4"))
    records[1, 3](points, make(np.array([0, 3, 9], "i4")), out)
    fails(out)
    assert points.get()["x"].tolist() == [1, 0, 0, 1]
    assert out.get().tolist()[0] == 1 and out.get().tolist()[1] == 0


@checked_by_default
def test_a_function_of_guvectorize(make: Any) -> None:
    @cl.guvectorize(["void(int32[:], int32[:], int32[:])"], "(n),(m)->(m)")
    def take(x, which, out):
        for i in range(which.shape[0]):
            out[i] = x[which[i]]

    x = make(np.arange(8, dtype="i4").reshape(2, 4))
    which = make(np.array([[0, 3], [1, 2]], "i4"))
    assert take(x, which).get().tolist() == [[0, 3], [5, 6]]
    out = take(x, make(np.array([[0, 4], [1, 2]], "i4")))
    fails(out, "take: index 4", "x with 4 items")
    assert out.get().tolist() == [[0, 0], [5, 6]]


def test_specializations_are_kept_by_whether_they_check(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = cl.kernel(gather.py_func)
    x, y = make(np.arange(6, dtype="f4")), make(np.zeros(2, "f4"))
    monkeypatch.setenv("PYGPU_CHECK", "0")
    kernel[1, 2](x, make(np.array([0, 1], "i4")), y)
    assert "pgc_" not in text_of(kernel)
    monkeypatch.setenv("PYGPU_CHECK", "1")
    fresh = cl.kernel(gather.py_func)
    with pytest.raises(IndexError):
        fresh[1, 2](x, make(np.array([0, 6], "i4")), y)
    monkeypatch.setenv("PYGPU_CHECK", "perhaps")
    with pytest.raises(ValueError, match="PYGPU_CHECK must be 0 or 1"):
        cl.kernel(gather.py_func)[1, 2](x, make(np.array([0, 1], "i4")), y)


def test_a_gpu_checks_only_when_asked(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from pygpu._src.jit import check_report as report

    backend = make(np.zeros(1)).backend
    monkeypatch.setattr(report, "on_cpu", lambda backend: False)
    assert report.mode(None, backend) == (False, False)
    assert report.mode(True, backend) == (True, True)
    kernel = cl.kernel(gather.py_func)
    x, y = make(np.arange(6, dtype="f4")), make(np.zeros(2, "f4"))
    kernel[1, 2](x, make(np.array([0, 1], "i4")), y)
    assert "pgc_" not in text_of(kernel) and "pg_error" not in text_of(kernel)
    monkeypatch.setenv("PYGPU_CHECK", "1")
    assert report.mode(None, backend) == (True, True)
    assert report.mode(False, backend) == (False, False)


def test_debug_of_jit_checks() -> None:
    assert cuda.jit(twice.py_func, debug=True).check is True
    assert cuda.jit(debug=True)(twice.py_func).check is True
    assert cuda.jit(twice.py_func).check is None
    assert cuda.jit(twice.py_func, check=False, debug=True).check is False


_ALIVE = """
import numpy as np, pygpu as cl, pygpu.array as cl_array
from pygpu import cuda

@cl.kernel
def twice(x, y):
    i = cuda.grid(1)
    y[i] = 2 * x[i]

queue = cl.CommandQueue(cl.create_some_context(interactive=False))
for _ in range(20):
    x = cl_array.to_device(queue, np.arange(6, dtype="f4"))
    y = cl_array.zeros(queue, 6, "f4")
    twice[1000, 64](x, y)
    try:
        queue.finish()
    except IndexError as error:
        assert "items" in str(error)
    else:
        raise SystemExit("nothing raised")
    assert y.get().tolist() == [0, 2, 4, 6, 8, 10]
print("alive")
"""


def test_the_process_lives_on(tmp_path: Any) -> None:
    script = tmp_path / "alive.py"
    script.write_text(_ALIVE)
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    done = subprocess.run(
        [sys.executable, script], env=env, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0 and done.stdout == "alive\n", done.stderr
