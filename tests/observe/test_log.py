"""Records of what is compiled, cached, fused and computed on the host."""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import sys

import numpy as np
import pytest

import pygpu as cl
from pygpu import errors, xp
from pygpu._src.array import chains
from pygpu._src.util import log, progress

HERE = os.path.basename(__file__)


@pytest.fixture
def records(caplog):
    caplog.set_level(logging.DEBUG, "pygpu")
    return lambda name: [
        r.getMessage() for r in caplog.records if r.name == f"pygpu.{name}" and r.filename == HERE
    ]


def test_opencl_programs(ctx, records, tmp_path):
    source = f"kernel void one(global int *x) {{ x[0] = {os.getpid()}; }} kernel void two() {{}}"
    cl.Program(ctx, source).build(cache_dir=tmp_path)
    assert len(records("compile")) == 1
    assert records("compile")[0].startswith("compiled one, two for ")
    assert records("compile")[0].endswith(" ms")
    cl.Program(ctx, source).build(cache_dir=tmp_path)
    assert records("cache") == ["miss: one, two", "hit: one, two"]
    assert len(records("compile")) == 1


def test_a_program_that_does_not_compile(ctx, records):
    with pytest.raises(errors.RuntimeError):
        cl.Program(ctx, "kernel void wrong(global int *x) { x[0] = nothing; }").build()
    assert records("compile")[0].startswith("failed to compile wrong for ")


def test_cuda_modules(cuda_context, records, tmp_path):
    from pygpu.cuda.compiler import SourceModule

    source = f"__global__ void __launch_bounds__(32) one(int *x) {{ x[0] = {os.getpid()}; }}"
    cuda_context.push()
    try:
        for _ in range(2):
            SourceModule(source, cache_dir=tmp_path)
    finally:
        type(cuda_context).pop()
    assert [text.partition(" for")[0] for text in records("compile")] == ["compiled one"]
    assert records("cache") == ["miss: one", "hit in memory: one"]


def test_the_host_computes(make, records):
    x = make(np.eye(3))
    with pytest.warns() if not _warned() else _nothing():
        np.linalg.eig(x)
    (text,) = records("fallback")
    assert (
        text == f"numpy.linalg.eig runs on the host: no library for {x.backend.label} computes it"
    )


def _warned():
    from pygpu._src.array.routines import host_fallback

    return host_fallback._warned


def _nothing():
    import contextlib

    return contextlib.nullcontext()


def test_fused_functions(make, records):
    x = make(np.arange(5, dtype=np.float32))

    @cl.fuse
    def twice(a):
        return a * 2 + 1

    assert (twice(x).get() == np.arange(5) * 2 + 1).all()
    (text,) = records("fusion")
    assert text.endswith("twice: operations 2, launches 1")
    twice(x)
    assert len(records("fusion")) == 1


def test_chains(make, records):
    x = make(np.arange(7, dtype=np.float32))
    chains.set_mode(1, wait=True, often=1, wait_us=2_000_000)
    try:
        for _ in range(4):
            y = x * 2 + 1 - x
            chains.flush()
    finally:
        chains.set_mode(0)
        chains.set_from_environment()
    assert (y.get() == np.arange(7) + 1).all()
    assert [text for text in records("fusion") if text.startswith("a chain of ")]


def test_nothing_is_logged_without_a_handler(caplog):
    caplog.set_level(logging.WARNING, "pygpu")
    log.log("cache", log.DEBUG, "%s", lambda: 1 / 0)
    caplog.set_level(logging.DEBUG, "pygpu")
    with pytest.raises(ZeroDivisionError):
        log.log("cache", log.DEBUG, "%s", lambda: 1 / 0)


def test_pygpu_does_not_import_logging():
    code = (
        "import sys, numpy; sys.modules.pop('logging', None)\n"
        "import pygpu; from pygpu._src.util import log; log.log('cache', 10, 'x')\n"
        "print('logging' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr


@pytest.mark.parametrize(
    "source, names",
    [
        ("kernel void a(int x) {}", "a"),
        (b"__kernel void a(void) {} __kernel\nvoid b() {}", "a, b"),
        ("kernel __attribute__((reqd_work_group_size(1, 2, 3))) void a() {}", "a"),
        ('extern "C" __global__ void __launch_bounds__(256, 2) k(int *p) {}', "k"),
        ("template <class T> __global__ void k(T *p) {}", "k"),
        ("PG_KERNEL void pg_run(PG_ARRAY(pg_f32, x))", "pg_run"),
        (
            "kernel void a(); kernel void b(); kernel void c(); kernel void d();",
            "a, b, c and 1 more",
        ),
        ("int not_a_kernel(int void_) { return 1; }", "a program without kernels"),
        (None, "a program"),
        ("kernel " * 100_000, "a program without kernels"),
    ],
)
def test_kernel_names(source, names):
    assert log.kernel_names(source) == names


# ---- the line on a terminal


def show(code: str, **environment: str) -> str:
    """What a program whose compilation takes 1.2 s writes to stderr."""
    program = (
        "import time\nfrom pygpu._src.util import log, progress\nprogress._AFTER = 0.2\n"
        "progress._EVERY = 0.1\n" + code
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        capture_output=True,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stderr.decode()


SLOW = "with log.compiling('kernel void slow() {}', lambda: 'a device'):\n    time.sleep(0.5)\n"


def test_a_line_while_it_takes_long():
    text = show(SLOW, PYGPU_PROGRESS="1")
    assert "pygpu: compiling slow for a device, 0 s" in text
    assert text.endswith("\r\x1b[K")  # and it is gone


@pytest.mark.parametrize(
    "code, wish",
    [
        (SLOW, "0"),
        (SLOW, ""),  # stderr is a pipe
        (SLOW.replace("0.5", "0"), "1"),
        ("import threading\ndef f():\n    " + SLOW.replace("\n ", "\n     ")
         + "t = threading.Thread(target=f); t.start(); t.join()", "1"),
    ],
    ids=["off", "pipe", "quick", "thread"],
)  # fmt: skip
def test_no_line(code, wish):
    assert show(code, PYGPU_PROGRESS=wish) == ""


def test_an_exception_ends_the_line():
    code = "try:\n    with progress.line(lambda: 'x'):\n        time.sleep(0.5); 1 / 0\n"
    code += "except ZeroDivisionError:\n    pass\n"
    assert show(code, PYGPU_PROGRESS="1").endswith("\r\x1b[K")


def test_a_line_of_what_cannot_be_named():
    assert show("with progress.line(lambda: 1 / 0):\n    time.sleep(0.4)", PYGPU_PROGRESS="1") == ""


# ---- copies that take long


def test_long_copies(make, monkeypatch):
    """Both directions, by each way to make an array; a shorter copy asks for nothing."""
    lines = []

    @contextlib.contextmanager
    def line(text):
        lines.append(text())
        yield

    monkeypatch.setattr(progress, "line", line)
    host = np.zeros(progress.LONG_COPY, np.uint8)
    device = make(host[:4]).device
    x = make(host)
    x.set(host)
    got = x.get()
    assert got.nbytes == host.nbytes and not got[::4096].any()
    xp.asarray(host, device=device)
    up, down = (f"copying 64.0 MiB to the {end}" for end in ("device", "host"))
    assert lines == [up, up, down, up]
    short = make(host[:-1])
    short.set(host[:-1])
    short.get(), xp.asarray(host[:-1], device=device)
    assert len(lines) == 4
