"""Kernels and arrays as objects of numba.cuda: compile, recompile, stats, managed memory."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import cuda
from pygpu.cuda import driver

pytestmark = pytest.mark.usefixtures("cuda_context")


def test_compile_prepares_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    @cuda.jit
    def k(a, x):  # type: ignore[no-untyped-def]
        a[0] = x

    made = k.compile("void(float32[::1], int64)")
    assert list(k.overloads.values()) == [made]
    assert k.compile("void(float64[:], float64)") is not made
    assert len(k.overloads) == 2
    a = np.zeros(1, np.float32)
    monkeypatch.setattr(k, "_compile", None)  # no call compiles
    k[1, 1](a, np.int64(3))
    assert a[0] == 3
    assert k.compile("void(float32[::1], int64)") is made


def test_overloads_have_the_declared_signatures_before_a_call() -> None:
    @cuda.jit(["void(float32[:])", "void(int32[:])"])
    def k(a):  # type: ignore[no-untyped-def]
        a[0] = 1

    assert [kinds[0].dtype for kinds in k.signatures] == ["float32", "int32"]
    assert list(k.overloads) == k.signatures == list(k.inspect_asm())


def test_compile_checks_the_signature() -> None:
    @cuda.jit("void(int32[:])")
    def k(a):  # type: ignore[no-untyped-def]
        a[0] = 1

    assert k.compile("void(int32[:])") is k.compile("void(int32[:])")
    with pytest.raises(TypeError, match="No matching definition"):
        k.compile("void(float64[:])")
    with pytest.raises(TypeError, match="the signature has 2 types, but the function has 1"):
        k.compile("void(float64[:], int32)")


factor = 2


def test_recompile_reads_names_from_outside_again() -> None:
    global factor

    @cuda.jit
    def k(a):  # type: ignore[no-untyped-def]
        a[0] = factor

    a = cuda.to_device(np.zeros(1))
    try:
        for launched in (2, 2):
            k[1, 1](a)
            assert a[0] == launched  # frozen, as in Numba
            factor = 5
        k.recompile()
        k[1, 1](a)
        assert a[0] == 5
    finally:
        factor = 2


def test_stats_counts_what_the_disk_cache_had(tmp_path: Any) -> None:
    program = (
        "import numpy as np\nfrom pygpu import cuda\n"
        "@cuda.jit\ndef k(a):\n    a[0] = 7\n"
        "k[1, 1](np.zeros(1))\n"
        "s = k.stats\n"
        "print(s.cache_path, sum(s.cache_hits.values()), sum(s.cache_misses.values()))\n"
    )
    (tmp_path / "program.py").write_text(program)
    from os import environ

    given = {**environ, "PYGPU_CACHE_DIR": str(tmp_path / "cache")}
    found = [
        subprocess.run(
            [sys.executable, tmp_path / "program.py"],
            env=given,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for _ in range(2)
    ]
    assert [row[1:] for row in found] == [["0", "1"], ["1", "0"]]
    assert all(row[0].startswith(str(tmp_path)) for row in found)


def test_a_call_that_fits_two_signatures_equally_well_is_refused() -> None:
    signatures = ["(float64[:], float32, float64)", "(float64[:], float64, float32)"]

    @cuda.jit([*signatures, "(float64[:], int64, int64)"])
    def k(r, x, y):  # type: ignore[no-untyped-def]
        r[0] = x / y

    r = np.zeros(1)
    k[1, 1](r, 1, 2)
    assert r[0] == 0.5
    k[1, 1](r, np.float32(3), 2.0)
    assert r[0] == 1.5
    with pytest.raises(TypeError, match=r"Ambiguous overloading for <function (.*\n){3}convert"):
        k[1, 1](r, 1.0, 2.0)


@pytest.mark.parametrize("config", [(1.0, 2), (1, 2.5), ("a", 1)])
def test_sizes_that_are_not_integers_are_type_errors(config: Any) -> None:
    @cuda.jit
    def k(a):  # type: ignore[no-untyped-def]
        pass

    with pytest.raises(TypeError, match="must be a sequence of integers, got"):
        k[config]


def test_kernels_write_to_managed_memory_itself() -> None:
    @cuda.jit
    def k(a):  # type: ignore[no-untyped-def]
        i = cuda.grid(1)
        if i < a.size:
            a[i] += i + 1

    a = cuda.managed_array((2, 3), np.int32)
    a[...] = 0
    shown = a.__cuda_array_interface__
    assert shown["data"][0] == a.ctypes.data and shown["stream"] is None
    k[1, 32](a.reshape(6))
    k[1, 32](a[:, 0])
    cuda.synchronize()
    assert a.tolist() == [[2, 2, 3], [6, 5, 6]]
    plain = a.copy()  # no managed memory, though of the same class
    assert not hasattr(plain, "__cuda_array_interface__")
    k[1, 32](plain[0])
    assert plain[0].tolist() == [3, 4, 6] and a[0].tolist() == [2, 2, 3]
    assert cuda.managed_array(3, stream=cuda.stream()).__cuda_array_interface__["stream"]
    with pytest.raises(NotImplementedError, match="strides"):
        cuda.managed_array(3, strides=(16,))
    for wc in (False, True):
        mapped = cuda.mapped_array(3, np.int32, wc=wc)
        mapped[:] = 0
        k[1, 32](mapped)
        k[1, 32](mapped[1:])
        cuda.synchronize()
        assert mapped.tolist() == [1, 3, 5]
        assert not hasattr(mapped + 1, "__cuda_array_interface__")


def test_recursive_kernels_have_a_larger_stack() -> None:
    from pygpu._src.runtime.backends import backend_of

    backend: Any = backend_of(None)
    limit = driver.limit.STACK_SIZE
    before = driver.Context.get_limit(limit)
    backend.need_stack(1)
    assert driver.Context.get_limit(limit) == before
    try:
        backend.need_stack(before + 5000)
        assert driver.Context.get_limit(limit) >= before + 5000
    finally:
        driver.Context.set_limit(limit, before)

    @cuda.jit(device=True)
    def down(n):  # type: ignore[no-untyped-def]
        return n if n < 1 else down(n - 1) + 1

    @cuda.jit
    def k(a):  # type: ignore[no-untyped-def]
        a[0] = down(a[1])

    a = np.array([0, 60])
    k[1, 1](a)
    assert a[0] == 60
    assert driver.Context.get_limit(limit) >= 8192


def test_arrays_of_pygpu_are_as_they_were_beside_numba_programs() -> None:
    program = """
import warnings
import numpy as np
from pygpu import cuda as ours
import pygpu.compat
pygpu.compat.install("numba")
from numba import cuda, guvectorize
from numba.cuda.cudadrv.devicearray import DeviceNDArray
from numba.cuda.core.errors import NumbaPerformanceWarning
a, b = ours.to_device(np.arange(3.0)), cuda.to_device(np.arange(6.0).reshape(2, 3))
made = [b, b[0], b + 1, b.T, b.copy(), cuda.device_array(3), cuda.device_array_like(b)]
made += [DeviceNDArray((2, 3), (24, 8), np.float64), cuda.as_cuda_array(b)]
assert all(type(x) is DeviceNDArray for x in made), made
assert bool(b) and b.stream == 0 and b.__cuda_array_interface__["strides"] is None
queue = cuda.stream()
shown = a.bind(queue).__cuda_array_interface__
foreign = type("Foreign", (), {"__cuda_array_interface__": shown})()
bound = cuda.as_cuda_array(foreign)
assert bound.stream.external and bound.stream.handle == shown["stream"]
assert cuda.as_cuda_array(b).stream == 0 and not cuda.default_stream().external
assert cuda.to_device(a) is a and type(a) is not DeviceNDArray
assert a.__cuda_array_interface__["strides"] == (8,) and a.stream is None
try:
    bool(a)
    raise SystemExit("the truth of three items")
except ValueError:
    pass
@guvectorize(["void(float32[:], float32[:])"], "(n)->(n)", target="cuda")
def twice(x, out):
    for i in range(x.size):
        out[i] = 2 * x[i]
with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter("always")
    twice(np.ones((2, 3), np.float32))
assert any("low occupancy" in str(w.message) for w in found)
assert all(issubclass(w.category, NumbaPerformanceWarning) for w in found)
assert (twice(np.ones((2, 3))) == 2).all()  # float64, which Numba converts
try:
    twice(np.ones((2, 3), np.int64))
    raise SystemExit("float32 is not converted to int64")
except TypeError:
    pass
@cuda.jit
def nothing(a):
    a[0] = 1
for grid in (0, (0, 2), (1, 1, 0)):
    try:
        nothing[grid, 32](b)
        raise SystemExit("an empty grid")
    except cuda.cudadrv.driver.CudaAPIError as error:
        assert "at least one block" in str(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_messages_name_what_numba_names(make: Any) -> None:
    with pytest.raises(
        TypeError, match="guvectorized functions cannot return values.*int32 return"
    ):
        pygpu.guvectorize(["int32(int32[:], int32[:])"], "(m)->(m)")(lambda x, y: None)
    add = pygpu.guvectorize(["(int32[:], int32[:], int32[:])"], "(m),(m)->(m)")(lambda x, y, z: 1)
    with pytest.raises(TypeError, match="gufunc accepts 2 positional .* 3 .*Got 1 positional arg"):
        add(np.arange(5))


def test_local_memory_of_a_kernel() -> None:
    @cuda.jit
    def kernel(out):
        part = cuda.local.array(1000, out.dtype)
        for i in range(1000):
            part[i] = i
        for i in range(1000):
            out[i] = part[999 - i]

    kernel[1, 1](np.zeros(1000))
    kernel[1, 1](np.zeros(1000, "f4"))
    found = kernel.get_local_mem_per_thread()
    assert [size >= bound for size, bound in zip(found.values(), (8000, 4000))] == [True] * 2
