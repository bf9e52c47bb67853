"""cuBLAS, cuFFT and cuSOLVER by a stub (library_stub.c) that computes what it is asked for, with
the argument checks of the real ones, on the simulator's memory: which arguments reach a library, in
which order of rows and columns, and what becomes of its answers and of its handles."""

import ctypes
import gc
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.sampled(3)

SOURCE = Path(__file__).with_name("library_stub.c")
NAMES = ("cublas", "cufft", "cusolver")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    path = tmp_path_factory.mktemp("stub") / "libstub.so"
    command = [compiler, "-O1", "-shared", "-fPIC", "-o", str(path), str(SOURCE), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"the compiler cannot compile the stub: {done.stderr[:200]}")
    return path


@pytest.fixture
def stub(compiled, cuda_context, monkeypatch):
    """The stub in place of all three libraries; attributes count its calls."""
    from pygpu import _cuda
    from pygpu._src.array.routines import cusolver
    from pygpu._src.runtime.libraries import cublas, cufft, loading
    from pygpu.cuda import driver

    if not _cuda._is_simulator():
        pytest.skip("memory of a GPU: the stub computes on the simulator's")
    for name in NAMES:
        monkeypatch.setenv(f"PYGPU_{name.upper()}_LIBRARY", str(compiled))
    monkeypatch.setenv("PYGPU_FFT", "cufft")
    loading.reset()
    library = ctypes.CDLL(str(compiled))
    wait = ctypes.CFUNCTYPE(None)(driver.Context.synchronize)
    entry = ctypes.c_void_p.in_dll(library, "stub_wait")
    entry.value = ctypes.cast(wait, ctypes.c_void_p).value
    library.wait = wait
    cuda_context.push()
    try:
        assert all(m.LIBRARY.available() for m in (cublas, cufft, cusolver))
        yield library
    finally:
        entry.value = None
        cuda_context.pop()
        monkeypatch.undo()
        loading.reset()


def count(stub, name):
    return ctypes.c_int.in_dll(stub, f"stub_{name}").value


def calls(stub):
    return count(stub, "calls")


def put(host):
    from pygpu.cuda.gpuarray import to_gpu

    return to_gpu(host)


def rand(*shape, dtype="f8"):
    random = np.random.default_rng(sum(shape))
    a = random.normal(size=shape)
    return (a + 1j * random.normal(size=shape) if np.dtype(dtype).kind == "c" else a).astype(dtype)


def close(got, want, digits=8):
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_allclose(got.get(), want, rtol=10.0**-digits, atol=10.0**-digits)


# ---- products


def test_orders_of_rows_and_columns(stub):
    a, b = rand(40, 60), rand(60, 35)
    for left in (put(a), put(np.asfortranarray(a)), put(np.repeat(a, 2, 1))[:, ::2]):
        for right in (put(b), put(b.T.copy()).T, put(np.hstack([b, b]))[:, 35:]):
            before = calls(stub)
            close(left @ right, a @ b)
            assert calls(stub) == before + 1
    out = put(np.zeros((35, 40)))
    np.matmul(put(a), put(b), out=out.T)
    np.testing.assert_allclose(out.get(), (a @ b).T, rtol=1e-10)
    wide = put(np.zeros((40, 90)))
    np.matmul(put(a), put(b), out=wide[:, 5:40])
    np.testing.assert_allclose(wide.get()[:, 5:40], a @ b, rtol=1e-10)
    assert (wide.get()[:, 40:] == 0).all() and (wide.get()[:, :5] == 0).all()


@pytest.mark.parametrize("dtype", ["e", "f", "F", "D"])
def test_dtypes_of_products(stub, dtype):
    a, b = rand(69, 40, dtype=dtype), rand(40, 70, dtype=dtype)
    before = calls(stub)
    close(put(a) @ put(b), a @ b, {"e": 1, "D": 8}.get(dtype, 3))
    assert calls(stub) == before + 1


@pytest.mark.parametrize("left, right", [((90, 80), (80, 60)), ((9, 40, 30), (9, 30, 99))])
def test_products_for_which_our_kernels_are_faster(stub, left, right):
    a, b = rand(*left, dtype="f"), rand(*right, dtype="f")
    before = calls(stub)
    close(put(a) @ put(b), a @ b, 3)
    close(put(a) @ put(b), a @ b, 3)
    assert calls(stub) == before
    large = rand(130, 90, dtype="f")
    close(put(large) @ put(large).T, large @ large.T, 3)
    assert calls(stub) == before + 1


def test_stacks_vectors_and_what_is_not_for_a_library(stub):
    a, b, v = rand(5, 24, 30), rand(5, 30, 26), rand(30)
    before = calls(stub)
    close(put(a) @ put(b), a @ b)
    close(put(a) @ put(b[0]), a @ b[0])
    close(put(a).mT @ put(a), np.swapaxes(a, 1, 2) @ a)
    assert calls(stub) == before + 3
    close(np.einsum("bij,bjk->bik", put(a), put(b)), a @ b)
    close(np.tensordot(put(a), put(b), ([2], [1])), np.tensordot(a, b, ([2], [1])))
    assert calls(stub) == before + 5
    close(put(a[0]) @ put(v), a[0] @ v)  # few: a kernel of pygpu
    integers = (a[:, :, :10] * 9).astype(int)
    close(put(integers) @ put(integers).mT, integers @ np.swapaxes(integers, 1, 2))
    assert calls(stub) == before + 5
    mixed = rand(40, 50, dtype="f4")
    close(put(mixed) @ put(rand(50, 40)), mixed @ rand(50, 40))
    assert calls(stub) == before + 6


def test_a_handle_for_each_stream(stub):
    from pygpu.cuda import driver

    a = rand(40, 40)
    streams = [driver.Stream() for _ in range(10)]
    for stream in streams:
        close(put(a).with_stream(stream) @ put(a).with_stream(stream), a @ a)
        assert ctypes.c_void_p.in_dll(stub, "stub_stream").value == stream.handle
    assert count(stub, "handles") == 8
    close(put(a) @ put(a), a @ a)
    assert ctypes.c_void_p.in_dll(stub, "stub_stream").value is None


def test_errors_have_the_name_of_the_call(stub):
    import pygpu
    from pygpu._src.array.routines import cusolver

    with pytest.raises(pygpu.RuntimeError, match="cusolverDnSgetrf.*failed.*NOT_SUPPORTED"):
        np.linalg.inv(put(rand(3, 3, dtype="f4")))
    with pytest.raises(pygpu.RuntimeError, match="cusolverDnDgesvd_bufferSize.*INVALID_VALUE"):
        cusolver.svd(put(rand(1, 5, 3)), put(rand(1, 5)), None, None, False)


# ---- factors


def test_solve_and_inverse(stub):
    a, b = rand(5, 6, 6), rand(5, 6, 3)
    close(np.linalg.solve(put(a), put(b)), np.linalg.solve(a, b))
    close(np.linalg.solve(put(a), put(b[0, :, 0])), np.linalg.solve(a, b[0, :, 0]))
    close(np.linalg.solve(put(a[0]), put(b)), np.linalg.solve(a[0], b))
    close(np.linalg.inv(put(a)), np.linalg.inv(a))
    close(np.linalg.inv(put(a[0]).T), np.linalg.inv(a[0].T))
    close(np.linalg.det(put(a)), np.linalg.det(a))
    for got, want in zip(np.linalg.slogdet(put(a)), np.linalg.slogdet(a), strict=True):
        close(got, want)
    whole = np.array([[2, 1], [7, 4]])
    close(np.linalg.inv(put(whole)), np.linalg.inv(whole))
    close(np.linalg.matrix_power(put(a), -3), np.linalg.matrix_power(a, -3), 6)
    tensor = rand(2, 3, 6)
    close(np.linalg.tensorinv(put(tensor)), np.linalg.tensorinv(tensor))
    side = rand(2, 3)
    close(np.linalg.tensorsolve(put(tensor), put(side)), np.linalg.tensorsolve(tensor, side))
    singular = np.ones((2, 2))
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        np.linalg.solve(put(singular), put(singular))
    assert np.linalg.det(put(singular)).get() == 0
    sign, log = np.linalg.slogdet(put(np.zeros((3, 3))))
    assert sign.get() == 0 and log.get() == -np.inf


def test_cholesky(stub):
    a = rand(4, 5, 5)
    a = a @ np.swapaxes(a, 1, 2) + np.eye(5)
    for upper in (False, True):
        half = np.triu(a) if upper else np.tril(a)  # the other triangle is not read
        close(np.linalg.cholesky(put(half), upper=upper), np.linalg.cholesky(a, upper=upper))
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        np.linalg.cholesky(put(-a))


@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (3, 5, 5), (1, 4), (4, 1)])
def test_factors_of_rectangles(stub, shape):
    a = rand(*shape)
    k = min(shape[-2:])
    for full in (True, False):
        got, want = np.linalg.svd(put(a), full), np.linalg.svd(a, full)
        u, s, vh = (x.get() for x in got)
        assert [x.shape for x in (u, s, vh)] == [x.shape for x in want]
        np.testing.assert_allclose(s, want.S, rtol=1e-6)
        np.testing.assert_allclose(u[..., :k] * s[..., None, :] @ vh[..., :k, :], a, atol=1e-7)
        for q in (u, np.swapaxes(vh, -1, -2)):
            eye = np.broadcast_to(np.eye(q.shape[-1]), (*shape[:-2], *q.shape[-1:] * 2))
            np.testing.assert_allclose(np.swapaxes(q, -1, -2) @ q, eye, atol=1e-6)
    close(np.linalg.svdvals(put(a)), np.linalg.svdvals(a), 6)
    for mode in ("reduced", "complete"):
        got, want = np.linalg.qr(put(a), mode), np.linalg.qr(a, mode)
        assert got.Q.shape == want.Q.shape
        np.testing.assert_allclose((got.Q @ got.R).get(), a, atol=1e-10)
        np.testing.assert_allclose(abs(got.R.get()), abs(want.R), atol=1e-10)
    r = np.linalg.qr(put(a), "r")
    np.testing.assert_allclose(abs(r.get()), abs(np.linalg.qr(a, "r")), atol=1e-10)
    close(np.linalg.pinv(put(a)), np.linalg.pinv(a), 6)
    assert (np.linalg.matrix_rank(put(a)).get() == k).all()


def test_eigenvalues_and_least_squares(stub):
    a = rand(3, 5, 5)
    a = a + np.swapaxes(a, 1, 2)
    for part in ("L", "U"):
        half = np.tril(a) if part == "L" else np.triu(a)
        w, v = np.linalg.eigh(put(half), part)
        close(w, np.linalg.eigvalsh(a))
        close(v * w[:, None, :] @ v.mT, a)
    close(np.linalg.eigvalsh(put(a)), np.linalg.eigvalsh(a))
    m = rand(8, 3)
    for b in (rand(8), rand(8, 2)):
        got, want = np.linalg.lstsq(put(m), put(b)), np.linalg.lstsq(m, b)
        for one, other in zip(got, want, strict=True):
            np.testing.assert_allclose(one.get() if hasattr(one, "get") else one, other, 1e-6)
    square = rand(4, 4)
    for order in (None, 1, -1, 2, -2, np.inf, "fro", "nuc"):
        got = np.linalg.norm(put(square), order)
        np.testing.assert_allclose(got.get(), np.linalg.norm(square, order), 1e-6)
        if order != "nuc":
            got = np.linalg.cond(put(square), order)
            np.testing.assert_allclose(got.get(), np.linalg.cond(square, order), 1e-5)


# ---- transforms

ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
MANY = ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")


def transforms(stub, a, names, **options):
    for name in names:
        if a.dtype.kind == "c" and name.startswith(("rfft", "ihfft")):
            continue
        before = calls(stub)
        function = getattr(np.fft, name)
        want, got = function(a, **options), function(put(a), **options)
        assert got.dtype == want.dtype and got.shape == want.shape and calls(stub) > before
        limit = {"e": 3e-2, "f": 1e-4, "F": 1e-4}.get(a.dtype.char, 1e-10)
        np.testing.assert_allclose(got.get(), want, rtol=limit, atol=limit, err_msg=name)


@pytest.mark.parametrize("dtype", ["e", "f", "d", "F", "D", "i"])
def test_transforms(stub, dtype):
    a = rand(2, 4, 5, dtype=dtype)
    transforms(stub, a, ONE + MANY)
    if dtype in "dD":
        for norm in ("ortho", "forward"):
            transforms(stub, a, ONE + MANY, norm=norm)
        for options in ({"n": 7}, {"n": 3, "axis": 0}, {"axis": 1}, {"n": 1}):
            transforms(stub, a, ONE, **options)
        for options in ({"s": (2, 6), "axes": (0, 1)}, {"axes": (2, 0)}, {"axes": (1, 1)}):
            transforms(stub, a, MANY, **options)


def test_transforms_into_an_array_and_wrong_ones(stub):
    a = rand(3, 8, dtype="D")
    out = put(np.zeros((3, 8), "D"))
    assert np.fft.fft(put(a), out=out) is out
    np.testing.assert_allclose(out.get(), np.fft.fft(a), atol=1e-12)
    device = put(a)
    np.fft.irfft(device)
    np.testing.assert_array_equal(device.get(), a)  # the library may overwrite only a copy
    for options, error in (({"n": 0}, ValueError), ({"axis": 2}, ValueError)):
        with pytest.raises(error):
            np.fft.fft(device, **options)
    with pytest.raises(ValueError, match="norm"):
        np.fft.fft(device, norm="other")
    with pytest.raises(TypeError):
        np.fft.rfft(device)
    with pytest.raises(ValueError, match="different lengths"):
        np.fft.fftn(device, s=(2,), axes=(0, 1))
    five = rand(2, 3, 2, 3, 2, dtype="D")
    transforms(stub, five, ("fftn", "irfftn"))


# ---- the end of handles and plans


def open_now(stub):
    return count(stub, "handles"), count(stub, "plans")


@pytest.fixture
def closing(stub):
    """Which context was current whenever a handle or plan was closed."""
    from pygpu.cuda import driver

    seen = []
    hook = ctypes.CFUNCTYPE(None)(lambda: seen.append(driver.Context.get_current().handle))
    entry = ctypes.c_void_p.in_dll(stub, "stub_closing")
    entry.value = ctypes.cast(hook, ctypes.c_void_p).value
    yield seen
    entry.value = None


def use_all(streams=(None,)):
    """One use of each library on each stream, in the current context."""
    for stream in streams:
        a = put(rand(40, 40)).with_stream(stream)
        (a @ a).get()
        np.linalg.solve(a, a).get()
        np.fft.fft(a).get()


def new_context():
    from pygpu.cuda import driver

    gc.collect()  # what earlier tests dropped
    return driver.Device(0).make_context()


def test_a_dropped_context_closes_its_handles_and_plans(stub, closing):
    context = new_context()
    before, where = open_now(stub), context.handle
    del closing[:]
    use_all()
    assert open_now(stub) == (before[0] + 2, before[1] + 1)
    type(context).pop()
    del context
    gc.collect()
    assert open_now(stub) == before
    assert closing == [where] * 3


@pytest.mark.parametrize("thread", ["its own", "another"])
def test_detach_closes_handles_and_plans_of_each_stream(stub, closing, thread):
    from pygpu.cuda import driver

    context = new_context()
    before, where = open_now(stub), context.handle
    del closing[:]
    use_all([None, driver.Stream(), driver.Stream()])
    assert open_now(stub) == (before[0] + 6, before[1] + 3)
    if thread == "another":
        context.pop()
        worker = threading.Thread(target=context.detach)
        worker.start()
        worker.join(60)
    else:
        context.detach()
    assert open_now(stub) == before and not context.is_alive
    assert closing == [where] * 9


def test_detach_waits_for_a_thread_that_is_in_a_library(stub, closing):
    from pygpu._src.runtime.libraries import cublas

    context = new_context()
    del closing[:]
    use_all()
    context.pop()
    worker = threading.Thread(target=context.detach)
    with cublas.LIBRARY.lock:
        worker.start()
        worker.join(0.3)
        assert worker.is_alive() and context.is_alive
    worker.join(60)
    assert not context.is_alive and len(closing) == 3


def test_a_context_that_a_kernel_broke_is_only_destroyed(stub, closing):
    """Calls of the libraries fail there; what they have in the process is lost."""
    from pygpu.cuda import compiler

    context = new_context()
    del closing[:]
    use_all()
    kernel = compiler.SourceModule("__global__ void k(int *p) { *p = 1; }").get_function("k")
    kernel(np.uintp(8), block=(1, 1, 1))
    context.detach()
    assert not context.is_alive and closing == []


def test_the_cache_of_contexts_may_be_cleared(stub, closing):
    from pygpu.tools import clear_first_arg_caches

    context = new_context()
    before = open_now(stub)
    use_all()
    clear_first_arg_caches()  # and with it the backend
    use_all()
    assert open_now(stub) == (before[0] + 2, before[1] + 1)
    context.detach()
    assert open_now(stub) == before


def test_least_used_plans_are_closed(stub):
    context = new_context()
    before = open_now(stub)
    for n in range(2, 30):
        np.fft.fft(put(rand(n))).get()
    assert open_now(stub)[1] == before[1] + 16
    context.detach()
    assert open_now(stub) == before


def test_a_handle_whose_stream_is_refused_is_closed(stub):
    import pygpu
    from pygpu.cuda import driver

    context = new_context()
    refuse = ctypes.c_int.in_dll(stub, "stub_refuse")
    before, a = open_now(stub), put(rand(40, 40))
    try:
        refuse.value = 1
        for use in (lambda: a @ a, lambda: np.fft.fft(a), lambda: np.linalg.inv(a)):
            with pytest.raises(pygpu.RuntimeError):
                use()
        assert open_now(stub) == before
        refuse.value = 0
        for stream in [driver.Stream() for _ in range(8)]:
            a.with_stream(stream) @ a
        refuse.value = 1  # one of the eight is to be taken over
        with pytest.raises(pygpu.RuntimeError, match="cublasSetStream"):
            a @ a
        assert open_now(stub) == (before[0] + 7, before[1])
    finally:
        refuse.value = 0
        context.detach()
    assert open_now(stub) == before


ENDS = """
import sys
import numpy as np
from pygpu.cuda import driver
from pygpu.cuda.gpuarray import to_gpu

driver.init()
context = driver.Device(0).{make}()
context.push() if context.is_primary else None
a = to_gpu(np.eye(40))
(a @ a).get(), np.linalg.inv(a).get(), np.fft.fft(a).get()
print("used")
{end}
"""


@pytest.mark.parametrize("make", ["make_context", "retain_primary_context"])
@pytest.mark.parametrize("end", ["", "context.pop()", "context.pop(); del context, a"])
def test_the_interpreter_ends_with_open_handles(compiled, make, end):
    names = {f"PYGPU_{name.upper()}_LIBRARY": str(compiled) for name in NAMES}
    done = subprocess.run(
        [sys.executable, "-c", ENDS.format(make=make, end=end)],
        env={**os.environ, "PYGPU_CUDA": "simulator", **names},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, "used\n"), done.stderr
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr


# ---- precision of products


def computes(stub):
    return list((ctypes.c_int * 4).in_dll(stub, "stub_computes"))


@pytest.mark.parametrize("has", [1, 0])
def test_precision_of_products(stub, has):
    from pygpu import linalg

    ctypes.c_int.in_dll(stub, "stub_has").value = has
    a, b = rand(70, 80, dtype="f"), rand(80, 90, dtype="f")
    x, y, want = put(a), put(b), a.astype("f8") @ b
    for name, place in (("highest", 0), ("tf32", 1), ("bf16x9", 2)):
        before = computes(stub)
        close(linalg.matmul(x, y, precision=name), want.astype("f"), 5)
        after = computes(stub)
        assert after[place if has else 0] == before[place if has else 0] + 1
    with linalg.precision("tf32"):
        before = computes(stub)
        close(x @ y, want.astype("f"), 5)
        close(put(a.astype("f8")) @ put(b.astype("f8")), want)  # of other dtypes nothing changes
        assert computes(stub)[1] == before[1] + has


def test_three_products_of_bfloat16(stub):
    from pygpu import linalg

    a, b = rand(3, 70, 80, dtype="f"), rand(80, 90, dtype="f")
    want = a.astype("f8") @ b
    for x in (put(a), put(a.transpose(0, 2, 1).copy()).transpose(0, 2, 1)):
        got = linalg.matmul(x, put(b), precision="bf16x3").get()
        error = abs(got - want).max() / abs(want).max()
        assert 1e-7 < error < 2e-5  # products of bfloat16 have 4e-3, of float32 1e-7
    large = np.full((70, 80), 3.4e38, "f")  # which the nearest bfloat16 is infinite of
    got = linalg.matmul(put(large), put(np.eye(80, 90, dtype="f")), precision="bf16x3")
    np.testing.assert_allclose(got.get()[:, :80], large, rtol=1e-4)


def test_products_of_narrow_floats(stub):
    ml = pytest.importorskip("ml_dtypes", reason="the package ml_dtypes is not installed")
    a, b = rand(70, 80), rand(80, 90)
    for dtype, digits in ((ml.bfloat16, 1e-2), (ml.float8_e4m3fn, 0.1), (ml.float8_e5m2, 0.2)):
        x, y = a.astype(dtype), b.astype(dtype)
        want = x.astype("f8") @ y.astype("f8")
        before = calls(stub)
        got = put(x) @ put(y)
        assert got.dtype == dtype and calls(stub) == before + 1
        np.testing.assert_allclose(got.get().astype("f8"), want, rtol=digits, atol=digits)
        out = put(np.zeros((70, 90), "f"))
        np.matmul(put(x), put(y), out=out)
        assert calls(stub) == before + 2
        np.testing.assert_allclose(out.get(), want, rtol=1e-5, atol=1e-5)
