"""The cache of binaries: what it finds and notices, and that it cannot fail a build."""

import ctypes
import errno
import os
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import pygpu as cl
from pygpu._src.runtime import disk_cache as cache

SOURCE = "kernel void fill(global int *out, int x) { out[get_global_id(0)] = x + EXTRA; }"
OPTIONS = "-DEXTRA=0"


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path):
    for name in ("PYGPU_NO_CACHE", "PYOPENCL_NO_CACHE", "PYGPU_CACHE_DIR", "PYGPU_CACHE_SIZE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("PYGPU_BUILD_OPTIONS", "PYOPENCL_BUILD_OPTIONS", "PYGPU_COMPILER_OUTPUT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "default"))


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def build(ctx, queue, folder):
    """Build, run, and say whether the binary came from the cache."""
    if ctx.devices[0].platform.name == "rusticl":
        pytest.skip("rusticl crashes in programs made from binaries; there is no cache for it")

    def work(source=SOURCE, options=OPTIONS, cache_dir=folder, expect=5, **kwargs):
        program = cl.Program(ctx, source).build(options, cache_dir=cache_dir, **kwargs)
        cached = program._cached
        out = np.zeros(4, np.int32)
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        buffer = cl.Buffer(ctx, flags, hostbuf=out)
        program.fill(queue, out.shape, None, buffer, 5)
        cl.enqueue_copy(queue, out, buffer)
        assert out.tolist() == [expect] * 4
        return cached

    return work


def entries(folder):
    return sorted(Path(folder).glob("??/*"))


# ---- found again, and not found where something differs -----------------------------------------


def test_second_build_comes_from_the_cache(build, folder, balance):
    assert not build()
    [entry] = entries(folder)
    assert entry.suffix == ".program"
    assert build()
    assert entries(folder) == [entry]
    if os.name == "posix":  # whoever can write there chooses what runs here
        assert entry.stat().st_mode & 0o077 == 0
        assert folder.stat().st_mode & 0o077 == 0


def test_source_is_not_given_to_the_driver_on_a_hit(build):
    build()
    counts = cl._opencl._call_counts
    counts(reset=True)
    assert build()
    assert "clCreateProgramWithSource" not in counts()


def test_program_from_the_cache_knows_itself(ctx, folder, build):
    build()
    program = cl.Program(ctx, SOURCE).build(OPTIONS, cache_dir=folder)
    assert program._cached
    assert program.source == SOURCE
    assert program.kind() is cl.program_kind.SOURCE
    assert program.kernel_names == "fill"
    assert program.devices == ctx.devices
    assert hash(program) == hash(program)
    # A Python int is converted by the argument's type, which the driver has forgotten.
    assert [row[2] for row in program._arg_info["fill"]] == ["int*", "int"]


def test_kernel_of_a_handle_knows_the_same(ctx, queue, folder):
    """A Kernel made of another one's handle: the driver would say nothing of its arguments."""
    for _ in range(2):
        program = cl.Program(ctx, SOURCE).build(OPTIONS, cache_dir=folder)
        twin = cl.Kernel.from_int_ptr(program.fill.int_ptr)
        buffer, out = cl.Buffer(ctx, cl.mem_flags.READ_WRITE, 16), np.empty(4, np.int32)
        twin(queue, (4,), None, buffer, 7)
        cl.enqueue_copy(queue, out, buffer)
        assert twin.program is program and out.tolist() == [7] * 4
        del twin, program


@pytest.mark.parametrize("source", [SOURCE + " ", SOURCE.replace("+ EXTRA", "+ EXTRA + 0")])
def test_other_source(build, source):
    build()
    assert not build(source)


def test_other_options(build):
    build()
    assert not build(options="-DEXTRA=1", expect=6)
    # Not -w: once NVIDIA's compiler has seen it, it warns no more, whatever the options.
    assert not build(options="-DEXTRA=0 -cl-mad-enable")
    assert build(options=["-DEXTRA=0"])


def test_header_changes_are_noticed(build, tmp_path, folder):
    outer, inner = tmp_path / "outer.h", tmp_path / "deep" / "inner.h"
    inner.parent.mkdir()
    outer.write_text('#include "deep/inner.h"\n')
    inner.write_text("#define EXTRA 1\n")
    source = '#include "outer.h"\n' + SOURCE
    options = ["-I", str(tmp_path)]
    assert not build(source, options, expect=6)
    assert build(source, options, expect=6)
    before = inner.stat()
    inner.write_text("#define EXTRA 2\n")  # the same size ...
    os.utime(inner, ns=(before.st_atime_ns, before.st_mtime_ns))  # ... and date
    assert not build(source, options, expect=7)
    assert build(source, options, expect=7)
    outer.write_text("#define EXTRA 3\n")
    assert not build(source, options, expect=8)


def driver_builds(ctx, source):
    """Whether the driver itself compiles a source, without anything of ours between."""
    library = ctypes.CDLL(cl._opencl._library())
    create, work, release = (
        getattr(library, name)
        for name in ("clCreateProgramWithSource", "clBuildProgram", "clReleaseProgram")
    )
    create.restype, pointer = ctypes.c_void_p, ctypes.c_void_p
    text, status = ctypes.c_char_p(source.encode()), ctypes.c_int(-1)
    program = pointer(
        create(pointer(ctx.int_ptr), 1, ctypes.byref(text), None, ctypes.byref(status))
    )
    assert status.value == 0
    status.value = work(program, 0, None, b"", None, None)
    assert status.value in (0, cl.status_code.BUILD_PROGRAM_FAILURE), status.value
    assert release(program) == 0
    return status.value == 0


def test_header_where_the_program_runs(ctx, build, tmp_path, monkeypatch):
    """Compilers look into the working directory without being told to."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "near.h").write_text("#define EXTRA 1\n")
    source = '#include "near.h"\n' + SOURCE
    if not driver_builds(ctx, source):
        pytest.skip("this driver finds no header in the working directory")
    assert not build(source, "", expect=6)
    assert build(source, "", expect=6)
    (tmp_path / "near.h").write_text("#define EXTRA 2\n")
    assert not build(source, "", expect=7)


def test_file_that_an_option_names(tmp_path, ctx):
    header, device = tmp_path / "first.h", ctx.devices[0]
    names = set()
    for text in ("1", "2", "1"):
        header.write_text(f"#define EXTRA {text}\n")
        for option in (["-include", str(header)], [f"--pre-include={header}"]):
            names.update(cache.keys(SOURCE.encode(), option, [device]))
    assert len(names) == 4


def test_header_that_appears_earlier_on_the_path(build, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    (second / "h.h").write_text("#define EXTRA 1\n")
    source, options = '#include "h.h"\n' + SOURCE, ["-I", str(first), "-I", str(second)]
    assert not build(source, options, expect=6)
    assert build(source, options, expect=6)
    (first / "h.h").write_text("#define EXTRA 4\n")
    assert not build(source, options, expect=9)


def test_conditional_header_counts(build, tmp_path):
    (tmp_path / "maybe.h").write_text("#define EXTRA 3\n")
    source = '#ifndef EXTRA\n#include "maybe.h"\n#endif\n#if 0\n#include <nowhere.h>\n#endif\n'
    source += SOURCE
    options = ["-DEXTRA=0", "-I", str(tmp_path)]
    assert not build(source, options)
    assert build(source, options)
    (tmp_path / "maybe.h").write_text("#define EXTRA 2\n")
    assert not build(source, options)


def test_headers_in_circles(build, tmp_path):
    (tmp_path / "a.h").write_text('#ifndef A\n#define A\n#include "b.h"\n#endif\n')
    (tmp_path / "b.h").write_text('#include "a.h"\n#define EXTRA 0\n')
    source = '#include "a.h"\n' + SOURCE
    assert not build(source, ["-I", str(tmp_path)])
    assert build(source, ["-I", str(tmp_path)])


# ---- whether and where --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["PYGPU_NO_CACHE", "PYOPENCL_NO_CACHE"])
@pytest.mark.parametrize("value", ["1", "yes", "0", "false", ""])
def test_switched_off_by_the_environment(build, folder, monkeypatch, name, value):
    off = value in ("1", "yes")
    monkeypatch.setenv(name, value)
    build()
    assert build() is not off
    assert bool(entries(folder)) is not off


def test_switched_off_by_argument(build, tmp_path):
    assert not build(cache_dir=False)
    assert not build(cache_dir=False)
    assert not (tmp_path / "default").exists()


def test_default_folder(build, tmp_path):
    default = tmp_path / "default" / "pygpu" / "opencl-v1"
    assert cache.default_folder() == default
    assert not build(cache_dir=True)
    assert build(cache_dir=True)
    assert len(entries(default)) == 1


def test_folder_from_the_environment(build, tmp_path, monkeypatch):
    monkeypatch.setenv("PYGPU_CACHE_DIR", str(tmp_path / "mine"))
    build(cache_dir=True)
    assert entries(tmp_path / "mine")


def test_drivers_that_cache_themselves_are_left_alone(build, device, tmp_path):
    build(cache_dir=None)
    ours = device.platform.name not in cache._CACHE_THEMSELVES
    assert build(cache_dir=None) is ours
    assert bool(entries(tmp_path / "default" / "pygpu" / "opencl-v1")) is ours


def test_folder_of_the_context(device, tmp_path):
    for chosen in (str(tmp_path / "a"), tmp_path / "b"):
        ctx = cl.Context([device], cache_dir=chosen)
        cl.Program(ctx, SOURCE).build(OPTIONS)
        assert len(entries(chosen)) == 1
        assert cl.Program(ctx, SOURCE).build(OPTIONS)._cached
    ctx = cl.Context([device])
    ctx.cache_dir = False
    cl.Program(ctx, SOURCE).build(OPTIONS)
    assert not (tmp_path / "default").exists()


@pytest.mark.parametrize("wrong", [5, b"bytes", 1.5, ["list"]])
def test_folder_must_be_a_path(ctx, wrong):
    with pytest.raises(TypeError, match="cache_dir must be a path"):
        cl.Program(ctx, SOURCE).build(OPTIONS, cache_dir=wrong)


def test_without_a_home(build, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/")
    if os.name == "posix" and sys.platform != "darwin":
        assert cache.default_folder() is None
    assert not build(cache_dir=True)
    monkeypatch.setenv("HOME", "/dev/null/home")
    assert not build(cache_dir=True)
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/path")  # not valid there
    assert cache.default_folder().is_absolute()


# ---- nothing fails a build ----------------------------------------------------------------------


def damage(data):
    middle = len(data) // 2
    return {
        "empty": b"",
        "short": data[:10],
        "magic only": data[:16],
        "header only": data[:60],
        "truncated": data[:middle],
        "last byte": data[:-1],
        "longer": data + b"x",
        "zeros": bytes(len(data)),
        "garbage": np.random.default_rng(1).bytes(len(data)),
        "one bit": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
        "other magic": b"X" + data[1:],
    }


@pytest.mark.parametrize("kind", list(damage(b"abc")))
def test_damaged_entry_is_written_anew(build, folder, kind):
    build()
    [entry] = entries(folder)
    good = entry.read_bytes()
    entry.write_bytes(damage(good)[kind])
    assert not build()
    assert build()
    assert entries(folder) == [entry]


@pytest.mark.parametrize("binary", [b"not a binary", b"\x7fELF" + bytes(100), bytes(1000), b""])
def test_binary_that_the_driver_refuses(build, folder, binary):
    build()
    [entry] = entries(folder)
    entry.write_bytes(cache._pack(entry.stem, binary, {"log": "", "arguments": {}}))
    assert not build()
    assert build()


def test_entry_of_another_key(build, folder):
    build()
    [entry] = entries(folder)
    build(options="-DEXTRA=2", expect=7)
    [other] = set(entries(folder)) - {entry}
    other.write_bytes(entry.read_bytes())
    assert not build(options="-DEXTRA=2", expect=7)


def test_entry_that_is_a_folder(build, folder):
    build()
    [entry] = entries(folder)
    entry.unlink()
    entry.mkdir()
    assert not build()
    assert not build()
    assert not list(folder.glob("**/*.tmp"))


def test_folder_that_is_a_file(build, folder):
    folder.write_text("in the way")
    assert not build()
    assert folder.read_text() == "in the way"


@pytest.mark.parametrize("where", ["/proc/none", "/dev/null/x", "\0bad", "x" * 5000])
def test_folders_that_cannot_be(build, where):
    assert not build(cache_dir=where)


# For root no folder is read-only, so the system's answers are made up.
@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("call", ["open", "replace", "mkdir", "fdopen"])
def test_errors_of_the_system_while_writing(build, folder, monkeypatch, call, number):
    def fail(*args, **kwargs):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, call, fail)
    assert not build()
    monkeypatch.undo()
    assert not entries(folder)


def test_errors_of_the_system_while_reading(build, monkeypatch, folder):
    build()

    def refuse(*args, **kwargs):
        raise PermissionError

    monkeypatch.setattr(os, "open", refuse)
    assert not build()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_read_only_folder(build, folder):
    build()
    for path in [*entries(folder), *{entry.parent for entry in entries(folder)}, folder]:
        path.chmod(0o500 if path.is_dir() else 0o400)
    assert build()
    assert not build(options="-DEXTRA=1", expect=6)
    folder.chmod(0o700)


@pytest.mark.parametrize(
    "name",
    [
        "clCreateProgramWithBinary",
        "clGetProgramInfo",
        "clCreateKernelsInProgram",
        "clGetKernelArgInfo",
    ],
)
@pytest.mark.parametrize("code", [-5, -6, -30, -42])
def test_driver_calls_of_the_cache_fail(build, balance, name, code):
    """A failing call that only the cache makes fails nothing; both on a miss and on a hit."""
    fault = cl._opencl._fault
    for options in (OPTIONS, OPTIONS):
        fault(name, code)
        try:
            build(options=options)
        finally:
            fault(None, 0)
    build()
    assert build()


def test_prepared_handle_is_kept(ctx, folder, build):
    """A handle that was given out cannot be exchanged for one with a binary."""
    build()
    program = cl.Program(ctx, SOURCE)
    seen = program.int_ptr
    program.build(OPTIONS, cache_dir=folder)
    assert program.int_ptr == seen and not program._cached


def test_other_options_after_the_cache(ctx, folder, build):
    build()
    program = cl.Program(ctx, SOURCE).build(OPTIONS, cache_dir=folder)
    assert program._cached
    program.build("-DEXTRA=3", cache_dir=folder)
    assert not program._cached
    program.build(OPTIONS, cache_dir=folder)
    assert program._cached
    kernel = program.fill
    with pytest.raises(cl.LogicError, match="cannot be built again"):
        program.build("-DEXTRA=3", cache_dir=folder)
    assert program.fill is kernel


# ---- the log comes again ------------------------------------------------------------------------


def test_warning_of_the_compiler_comes_again(build, ctx, folder, monkeypatch):
    monkeypatch.setenv("PYGPU_COMPILER_OUTPUT", "1")
    source = f"#warning take care\n{SOURCE} kernel void w{time.time_ns()}() {{}}"
    for cached in (False, True):
        with pytest.warns(cl.CompilerWarning, match="take care") as caught:
            program = cl.Program(ctx, source).build(OPTIONS, cache_dir=folder)
        assert program._cached is cached
        assert caught[0].filename == __file__


def test_failures_are_not_cached(ctx, folder, build):
    for _ in range(2):
        with pytest.raises(cl.RuntimeError):
            cl.Program(ctx, "kernel void f() { nonsense }").build(cache_dir=folder)
    assert not folder.exists()


def test_binaries_and_modules_are_not_cached(ctx, folder, build):
    binaries = cl.Program(ctx, SOURCE).build(OPTIONS).binaries
    cl.Program(ctx, ctx.devices, binaries).build(cache_dir=folder)
    assert not folder.exists()


# ---- size ---------------------------------------------------------------------------------------


def test_pruning_takes_the_least_recently_used(tmp_path):
    for i in range(10):
        path = tmp_path / f"{i:02}" / f"{i:064}.program"
        path.parent.mkdir()
        path.write_bytes(bytes(1000))
        os.utime(path, (1000 + i, 1000 + i))
    first = tmp_path / "00" / f"{0:064}.program"
    os.utime(first)  # used again
    stale, fresh = tmp_path / "00" / "stale.tmp", tmp_path / "00" / "fresh.tmp"
    stale.write_bytes(b"x")
    os.utime(stale, (0, 0))
    fresh.write_bytes(b"x")
    cache.prune(tmp_path, 3500)
    kept = [path.name for path in entries(tmp_path)]
    assert sorted(kept) == sorted([f"{i:064}.program" for i in (0, 8, 9)] + ["fresh.tmp"])


def test_size_limit_is_kept(build, folder, monkeypatch):
    build()
    [entry] = entries(folder)
    size = entry.stat().st_size
    monkeypatch.setenv("PYGPU_CACHE_SIZE", str(4.5 * size / 2**20))
    for i in range(1, 9):
        build(options=f"-DEXTRA={i}", expect=5 + i)
    assert sum(path.stat().st_size for path in entries(folder)) <= 4.5 * size
    assert build(options="-DEXTRA=8", expect=13)


@pytest.mark.parametrize("size", ["0", "-5", "0.0001"])
def test_tiny_cache_keeps_nothing(build, folder, monkeypatch, size):
    monkeypatch.setenv("PYGPU_CACHE_SIZE", size)
    assert not build()
    assert not build()
    assert not entries(folder)


@pytest.mark.parametrize("size", ["", "many", "inf", "nan"])
def test_size_that_is_not_a_number(build, monkeypatch, size):
    monkeypatch.setenv("PYGPU_CACHE_SIZE", size)
    assert not build()
    assert build()


def test_clear(build, folder):
    build()
    cache.clear(folder)
    assert not entries(folder)
    cache.clear(folder)
    cache.clear(folder / "nothing" / "here")
    assert not build()


# ---- at once ------------------------------------------------------------------------------------

WORKER = """
import sys, warnings
import numpy as np
import pygpu as cl
warnings.simplefilter("ignore")
platform, device, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
ctx = cl.Context([cl.get_platforms()[platform].get_devices()[device]])
print(cl.cache._surroundings(), cl.cache._identity(ctx.devices[0]))
queue = cl.CommandQueue(ctx)
for i in range(6):
    source = f"kernel void fill(global int *out, int x) {{ out[get_global_id(0)] = x + {i % 3}; }}"
    out = np.zeros(4, np.int32)
    buffer = cl.Buffer(ctx, cl.mem_flags.COPY_HOST_PTR, hostbuf=out)
    program = cl.Program(ctx, source).build(cache_dir=folder)
    program.fill(queue, (4,), None, buffer, 5)
    cl.enqueue_copy(queue, out, buffer)
    assert (out == 5 + i % 3).all(), out
    if i >= 3:
        assert program._cached
print("done")
"""


def test_processes_that_write_the_same_entries(device, folder, build, tmp_path):
    platforms = cl.get_platforms()
    place = platforms.index(device.platform)
    index = device.platform.get_devices().index(device)
    root = os.path.dirname(os.path.dirname(cl.__file__))
    command = [sys.executable, "-P", "-c", WORKER, str(place), str(index), str(folder)]
    processes = [
        subprocess.Popen(
            command,
            # PoCL makes a binary of files in its own cache, and takes half-written ones of another
            # process too: see docs/guide/cache.md. Here it is about pygpu's cache.
            env={**os.environ, "PYTHONPATH": root, "POCL_CACHE_DIR": str(tmp_path / f"pocl{i}")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for i in range(4)
    ]
    outputs = set()
    for process in processes:
        out, error = process.communicate(timeout=200)
        assert out.endswith("done\n"), error
        outputs.add(out)
    assert len(outputs) == 1, "what the key of an entry is made of differs"
    assert len(entries(folder)) == 3
    assert not list(folder.glob("**/*.tmp"))


def test_threads_that_write_the_same_entry(ctx, folder, build):
    failures = []

    def work():
        try:
            with warnings.catch_warnings():
                cl.Program(ctx, SOURCE).build(OPTIONS, cache_dir=folder)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(entries(folder)) == 1
    assert build()


def test_several_devices(device, folder, queue):
    if device.max_compute_units < 2:
        pytest.skip("a device with one compute unit")
    try:
        parts = device.create_sub_devices([cl.device_partition_property.EQUALLY, 1])[:2]
    except cl.Error as error:
        pytest.skip(f"the device cannot be divided: {error}")
    ctx = cl.Context(parts)
    assert not cl.Program(ctx, SOURCE).build(OPTIONS, cache_dir=folder)._cached
    program = cl.Program(ctx, SOURCE).build(OPTIONS, cache_dir=folder)
    assert program._cached
    for part in parts:
        out = np.zeros(4, np.int32)
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        buffer = cl.Buffer(ctx, flags, hostbuf=out)
        queue = cl.CommandQueue(ctx, part)
        program.fill(queue, (4,), None, buffer, 5)
        cl.enqueue_copy(queue, out, buffer)
        assert out.tolist() == [5] * 4
