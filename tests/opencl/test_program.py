"""Programs: sources, kernels as attributes, information, several devices, threads, lifetime."""

import contextlib
import gc
import pickle
import threading
import time
import weakref

import numpy as np
import pytest
from opencl.program_helpers import FILL, run

import pygpu as cl
from pygpu import _opencl
from pygpu._src.runtime.opencl import build as program

pytestmark = pytest.mark.usefixtures("no_options_from_outside")


# ---- sources ------------------------------------------------------------------------------------


@pytest.mark.parametrize("encode", [str, str.encode], ids=["str", "bytes"])
def test_source_builds_and_runs(ctx, queue, encode):
    built = cl.Program(ctx, encode(FILL))
    assert built.build() is built
    assert run(queue, built.fill, 7) == [7] * 4
    assert built.source == FILL
    assert built.kind() is cl.program_kind.SOURCE


def test_unicode_in_comments_and_line_ends(ctx, queue):
    built = cl.Program(ctx, f"/* größer 数 🙂 */\r\n{FILL}\r\n// ende: ä").build()
    assert run(queue, built.fill, 3) == [3] * 4
    assert "größer 数 🙂" in built.source


def test_keywords_of_pyopencl(ctx):
    assert cl.Program(ctx, src=FILL).build().kernel_names == "fill"


@pytest.mark.parametrize("source", ["", b""])
def test_empty_source(ctx, source):
    """A program that was made of parts, none of which is needed; or a header."""
    program = cl.Program(ctx, source)
    assert program.source == "" and program.build(cache_dir=False) is program
    assert program.num_kernels == 0
    user = cl.Program(ctx, f'#include "nothing.h"\n{FILL}')
    user.compile(headers=[("nothing.h", cl.Program(ctx, source))])
    assert cl.link_program(ctx, [user]).kernel_names == "fill"


def test_nul_in_source_is_refused(ctx):
    with pytest.raises(ValueError, match="NUL character at byte 3"):
        cl.Program(ctx, "int\0 a;" + FILL)


@pytest.mark.parametrize("source", [None, 3, 1.5, [], object(), np.zeros(3)])
def test_other_sources_are_type_errors(ctx, source):
    with pytest.raises(TypeError, match="Program: source must be str or bytes"):
        cl.Program(ctx, source)


@pytest.mark.parametrize("context", [None, 5, "context"])
def test_context_must_be_a_context(context):
    with pytest.raises(TypeError, match="context must be a Context"):
        cl.Program(context, FILL)


def test_lone_surrogate_is_an_error(ctx):
    with pytest.raises(UnicodeEncodeError):
        cl.Program(ctx, "// \ud800\n" + FILL)


# ---- kernels as attributes ----------------------------------------------------------------------

TWO = FILL + " kernel void other(global float *a) { a[0] = 1; }"


def test_the_same_kernel_object_each_time(ctx, balance):
    built = cl.Program(ctx, TWO).build()
    assert built.fill is built.fill
    assert built.other is built.other
    assert built.fill is not built.other
    assert {kernel.function_name for kernel in built.all_kernels()} == {"fill", "other"}
    assert built.fill in built.all_kernels()
    assert sorted(built.kernel_names.split(";")) == ["fill", "other"]
    assert built.num_kernels == 2
    del built


def test_unknown_kernel_names_those_that_exist(ctx):
    built = cl.Program(ctx, TWO).build()
    with pytest.raises(AttributeError, match="'fil'; its kernels are: (fill, other|other, fill)"):
        _ = built.fil
    assert not hasattr(built, "missing")
    assert getattr(built, "missing", 5) == 5


def test_protocols_do_not_ask_the_driver(ctx):
    built = cl.Program(ctx, FILL).build()
    _opencl._call_counts(reset=True)
    for name in ("__array__", "__array_interface__", "__dlpack__", "__wrapped__"):
        assert not hasattr(built, name)
    assert "clCreateKernel" not in _opencl._call_counts()


def test_attribute_before_the_build_says_what_to_do(ctx):
    fresh = cl.Program(ctx, FILL)
    with pytest.raises(AttributeError, match=r"call its build\(\) first"):
        _ = fresh.fill
    with pytest.raises(cl.LogicError, match=r"call its build\(\) first"):
        cl.Kernel(fresh, "fill")
    with pytest.raises(cl.LogicError, match=r"call its build\(\) first"):
        fresh.all_kernels()
    assert fresh.build().fill.function_name == "fill"


def test_attribute_after_a_failed_build(ctx):
    broken = cl.Program(ctx, "kernel void f(global int *a) { nonsense }")
    with pytest.raises(cl.RuntimeError):
        broken.build()
    with pytest.raises(AttributeError, match="did not build"):
        _ = broken.f
    with pytest.raises(cl.LogicError, match="did not build"):
        cl.Kernel(broken, "f")


def test_dir_offers_the_kernels(ctx):
    built = cl.Program(ctx, TWO)
    assert "fill" not in dir(built)
    assert {"fill", "other", "build", "source"} <= set(dir(built.build()))


def test_kernels_named_like_methods(ctx, queue):
    source = "kernel void source(global int *o) { o[0] = 1; } kernel void build(global int *o) {}"
    built = cl.Program(ctx, source).build()
    assert built.source == source
    assert callable(built.build)
    assert run(queue, cl.Kernel(built, "source")) == [1, 0, 0, 0]
    assert {kernel.function_name for kernel in built.all_kernels()} == {"source", "build"}
    assert built.source == source  # and stays so


def test_attributes_of_the_user(ctx):
    built = cl.Program(ctx, FILL).build()
    built.note = "mine"
    assert built.note == "mine"
    kernel = built.fill
    built.fill = 5
    assert built.fill == 5
    del built.fill
    assert built.fill.function_name == kernel.function_name


def test_repr_is_the_default(ctx):
    assert repr(cl.Program(ctx, FILL)).startswith("<pygpu.Program ")


def test_subclass(ctx, queue):
    class Mine(cl.Program):
        def __getattr__(self, name):
            raise AttributeError(f"mine: {name}")

    built = Mine(ctx, FILL).build()
    assert run(queue, built.fill, 2) == [2] * 4
    with pytest.raises(AttributeError, match="mine: nothing"):
        _ = built.nothing


def test_a_subclass_is_made_by_its_init(ctx, queue):
    class Named(cl.Program):
        def __init__(self, name, context=None, text=FILL):
            self.name = name
            if context is not None:
                super().__init__(context, text)
                self.build()

    assert run(queue, Named("a", ctx).fill, 3) == [3] * 4
    assert Named(name="a", context=ctx).kernel_names == "fill"
    with pytest.raises(ValueError, match="NUL"):
        Named("a", ctx, "\0")
    named = Named("a", ctx)
    with pytest.raises(cl.LogicError, match="a second time"):
        cl.Program.__init__(named, ctx, FILL)
    cl.Program(ctx, FILL).__init__()  # ignored, as ever

    class Plain(cl.Program):  # leaves it to __new__
        def __init__(self, context, text):
            self.name = "b"

    assert run(queue, Plain(ctx, FILL).build().fill, 4) == [4] * 4

    class Changed(cl.Program):
        def __init__(self, context, text):
            super().__init__(context, text.replace("fill", "stuff"))

    assert Changed(ctx, FILL).build().kernel_names == "stuff"


def test_a_program_that_its_init_did_not_make(ctx):
    class Named(cl.Program):
        def __init__(self, name):
            self.name = name

    uninitialized = Named("a")
    assert uninitialized.name == "a" and not hasattr(uninitialized, "fill")
    names = {name for name in dir(cl.Program) if not name.startswith("__")}
    for name in names - {"from_int_ptr"}:  # which believes any number
        try:
            value = getattr(uninitialized, name)
        except cl.LogicError:
            continue
        for args in [(), (ctx,), (b"",), (b"", None, []), ([], [], b""), (1, b"abcd")]:
            if callable(value):
                with contextlib.suppress(Exception):
                    value(*args)
    for use in (
        lambda: cl.Kernel(uninitialized, "fill"),
        lambda: cl.Program(uninitialized),
        lambda: cl.link_program(ctx, [uninitialized]),
        lambda: cl.Program(ctx, FILL).compile(headers=[("a.h", uninitialized)]),
        lambda: hash(uninitialized),
        lambda: uninitialized.context,
        lambda: uninitialized.devices,
        lambda: uninitialized.build(),
    ):
        with pytest.raises(cl.LogicError, match="not made yet"):
            use()


def test_programs_cannot_be_pickled(ctx):
    with pytest.raises(TypeError, match="Program"):
        pickle.dumps(cl.Program(ctx, FILL))


# ---- information --------------------------------------------------------------------------------


def test_information(ctx, device):
    built = cl.Program(ctx, FILL)
    assert built.context is ctx
    assert built.devices == [device]
    assert built.devices[0] is ctx.devices[0]
    assert built.num_devices == 1
    built.build("-DX=1")
    info = cl.program_info
    assert built.get_info(info.CONTEXT) is ctx
    assert built.get_info(info.SOURCE) == FILL
    assert built.get_info(info.NUM_DEVICES) == 1
    assert built.get_info(info.BINARIES) == built.binaries
    assert built.get_info(info.REFERENCE_COUNT) == built.reference_count >= 1
    build = cl.program_build_info
    assert built.get_build_info(device, build.STATUS) == cl.build_status.SUCCESS
    assert "-DX=1" in built.get_build_info(device, build.OPTIONS)
    assert isinstance(built.get_build_info(device, build.LOG), str)
    assert built.get_build_info(device, build.BINARY_TYPE) == cl.program_binary_type.EXECUTABLE
    with pytest.raises(cl.LogicError):
        built.get_info(0x7FFF)
    with pytest.raises(TypeError):
        built.get_build_info(device)
    with pytest.raises(TypeError, match="Device"):
        built.get_build_info(None, build.STATUS)


def test_from_int_ptr(ctx, queue, balance):
    built = cl.Program(ctx, FILL).build()
    same = cl.Program.from_int_ptr(built.int_ptr)
    assert same == built and hash(same) == hash(built)
    assert same != cl.Program(ctx, FILL)
    assert same != 5
    assert same.source == FILL
    del built
    gc.collect()
    assert run(queue, same.fill, 1) == [1] * 4
    with pytest.raises(cl.LogicError):
        cl.Program.from_int_ptr(0)
    del same


def test_program_of_a_program(ctx, queue, balance):
    built = cl.Program(ctx, FILL).build()
    same = cl.Program(built)
    assert same == built
    assert run(queue, same.fill, 8) == [8] * 4
    del built, same


def test_built_in_kernels(ctx, device):
    for name in filter(None, device.built_in_kernels.split(";")):
        made = cl.create_program_with_built_in_kernels(ctx, [device], name)
        assert made.context is ctx and made.source == ""
    known = device.built_in_kernels
    for wrong in ("no_such_kernel", ";", known + ";x", known[1:5] or "b"):
        with pytest.raises(cl.LogicError, match="has no built-in kernels"):
            cl.create_program_with_built_in_kernels(ctx, [device], wrong)
    with pytest.raises(cl.LogicError, match="kernel_names is empty"):
        cl.create_program_with_built_in_kernels(ctx, [device], "")
    with pytest.raises(cl.LogicError, match="devices is empty"):
        cl.create_program_with_built_in_kernels(ctx, [], "x")
    with pytest.raises(TypeError):
        cl.create_program_with_built_in_kernels(ctx, [device], 5)


# ---- several devices ----------------------------------------------------------------------------


@pytest.fixture
def parts(device):
    if device.max_compute_units < 2:
        pytest.skip("a device with one compute unit")
    try:
        return device.create_sub_devices([cl.device_partition_property.EQUALLY, 1])[:2]
    except cl.Error as error:
        pytest.skip(f"the device cannot be divided: {error}")


def test_several_devices(parts):
    ctx = cl.Context(parts)
    built = cl.Program(ctx, FILL).build()
    assert built.devices == ctx.devices  # PoCL names the whole device here
    assert len(built.binaries) == len(ctx.devices)
    for part in parts:
        assert run(cl.CommandQueue(ctx, part), built.fill, 5) == [5] * 4
    with pytest.raises(cl.RuntimeError) as caught:
        cl.Program(ctx, "kernel void f() { oops }").build()
    assert all(repr(part) in str(caught.value) for part in ctx.devices)


def test_build_for_one_of_several(parts):
    ctx = cl.Context(parts)
    built = cl.Program(ctx, FILL).build(devices=parts[1:])
    assert run(cl.CommandQueue(ctx, parts[1]), built.fill, 5) == [5] * 4
    with pytest.raises(cl.LogicError, match="devices is empty"):
        cl.Program(ctx, FILL).build(devices=[])
    with pytest.raises(TypeError, match="Device"):
        cl.Program(ctx, FILL).build(devices=["device"])


# ---- threads and lifetime -----------------------------------------------------------------------


def slow_source(seed):
    body = " ".join(f"s = sin(s) * {i + 2}.5f + exp(s + {seed}.0f);" for i in range(200))
    return f"kernel void slow(global float *a, float s) {{ {body} a[0] = s; }} {FILL}"


def test_threads_that_build_one_program(ctx, queue, balance):
    shared = cl.Program(ctx, slow_source(time.time_ns() % 100000))
    failures, kernels = [], []

    def work(program):
        try:
            program.build()
            kernels.append(program.fill)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=[shared]) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(set(map(id, kernels))) == 1
    assert run(queue, shared.fill, 3) == [3] * 4
    kernels.clear()
    del shared, threads


def test_kernels_wait_for_the_build_in_another_thread(ctx):
    shared = cl.Program(ctx, slow_source(time.time_ns() % 100000))
    started = threading.Event()

    def work():
        started.set()
        shared.build()

    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    while thread.is_alive():
        try:
            assert shared.fill.function_name == "fill"
            break
        except AttributeError:  # not begun yet
            time.sleep(0.0005)
    thread.join()
    assert shared.fill is shared.fill


def longest_gap_while_building(ctx):
    """How long another thread had no turn while a program was built, as a part of the build."""
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.perf_counter()
    cl.Program(ctx, slow_source(time.time_ns() % 100000)).build()
    end = time.perf_counter()
    stop.set()
    thread.join()
    during = [t for t in ticks if begin < t < end]
    return np.diff([begin, *during, end]).max() / (end - begin)


def test_other_threads_run_while_it_builds(ctx):
    # With the GIL kept the gap is nearly the whole build each time; on a busy machine at times.
    gaps = []
    while len(gaps) < 20 and min(gaps, default=1) > 0.5:
        gaps.append(longest_gap_while_building(ctx))
    assert min(gaps) <= 0.5, gaps


def test_build_within_a_build_is_refused(ctx, monkeypatch):
    outer = cl.Program(ctx, FILL)
    caught = []

    def build_again(*args):
        with pytest.raises(cl.LogicError, match="this thread is building") as error:
            outer.build()
        caught.append(error)
        return {}

    monkeypatch.setattr(program, "_collect_logs", build_again)
    outer.build()
    assert caught
    monkeypatch.undo()
    assert outer.build().fill.function_name == "fill"  # and the lock is free again


def test_programs_and_kernels_are_freed(ctx, balance):
    built = cl.Program(ctx, FILL).build()
    kernel = built.fill
    gone = weakref.ref(built)
    del built
    gc.collect()
    assert kernel.function_name == "fill"
    del kernel
    gc.collect()
    assert gone() is None


def test_program_outlives_its_context_object(device, balance):
    ctx = cl.Context([device])
    built = cl.Program(ctx, FILL).build()
    queue = cl.CommandQueue(ctx)
    del ctx
    gc.collect()
    assert run(queue, built.fill, 6) == [6] * 4
    del built, queue


def test_assigned_attributes_take_precedence_over_kernels(ctx):
    """However they are assigned, before or after the kernel was looked up."""
    program = cl.Program(ctx, "kernel void f(global int *x) {} kernel void g(global int *x) {}")
    program.build()
    kernel = program.f
    assert program.f is kernel
    object.__setattr__(program, "f", 1)
    program.g = 2
    assert (program.f, program.g) == (1, 2)
    del program.f, program.g
    assert program.f.function_name == "f"
    assert program.g.function_name == "g"
