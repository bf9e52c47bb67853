"""Programs: sources, options, errors, kernels as attributes, binaries, compile and link, threads."""

import gc
import os
import pickle
import subprocess
import sys
import threading
import time
import warnings
import weakref

import numpy as np
import pytest

import pygpu as cl
from pygpu import _opencl, program, signature

SET = "kernel void set(global int *out) { out[get_global_id(0)] = VALUE; }"
FILL = "kernel void fill(global int *out, int x) { out[get_global_id(0)] = x; }"


def run(queue, kernel, *args, n=4):
    """What the kernel writes into n ints."""
    out = np.zeros(n, np.int32)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffer = cl.Buffer(queue.context, flags, hostbuf=out)
    kernel(queue, (n,), None, buffer, *args)
    cl.enqueue_copy(queue, out, buffer)
    return out.tolist()


@pytest.fixture(autouse=True)
def no_options_from_outside(monkeypatch):
    for name in ("BUILD_OPTIONS", "COMPILER_OUTPUT"):
        monkeypatch.delenv(f"PYGPU_{name}", raising=False)
        monkeypatch.delenv(f"PYOPENCL_{name}", raising=False)
    # Each test shall meet the compiler, not what an earlier run has left.
    monkeypatch.setenv("PYGPU_NO_CACHE", "1")


def is_pocl(device):
    return device.platform.name == "Portable Computing Language"


# ---- sources ---------------------------------------------------------------------------------------


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
def test_empty_source_is_refused(ctx, source):
    with pytest.raises(ValueError, match="source is empty"):
        cl.Program(ctx, source)


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


# ---- kernels as attributes -------------------------------------------------------------------------

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


def test_programs_cannot_be_pickled(ctx):
    with pytest.raises(TypeError, match="Program"):
        pickle.dumps(cl.Program(ctx, FILL))


# ---- options -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    ["-DVALUE=5", "-D VALUE=5", ["-DVALUE=5"], ("-D", "VALUE=5"), "  -w   -DVALUE=5 ", '-D "VALUE=5"'],
)
def test_forms_of_options(ctx, queue, options):
    assert run(queue, cl.Program(ctx, SET).build(options).set) == [5] * 4


@pytest.mark.parametrize(
    "options",
    ["-DVALUE='2 + 3'", '"-DVALUE=2 + 3"', ["-DVALUE=2 + 3"], ["-D", "VALUE=2 + 3"], ['-DVALUE="2 + 3"']],
)
def test_spaces_in_definitions(ctx, queue, options):
    assert run(queue, cl.Program(ctx, SET).build(options).set) == [5] * 4


def test_unicode_in_options(ctx, queue):
    built = cl.Program(ctx, "#define VALUE 1\n" + SET).build(["-DGRÖSSE=1"])
    assert run(queue, built.set) == [1] * 4


@pytest.mark.parametrize("options", [5, b"-DVALUE=5", 1.5, object()])
def test_options_of_other_types(ctx, options):
    with pytest.raises(TypeError, match="Program.build: options must be a str or a list of str"):
        cl.Program(ctx, SET).build(options)


@pytest.mark.parametrize("word", [b"-w", 1, None, ["-w"]])
def test_each_option_must_be_text(ctx, word):
    with pytest.raises(TypeError, match="each of options must be a str"):
        cl.Program(ctx, SET).build(["-DVALUE=1", word])


def test_options_that_cannot_be_read(ctx):
    with pytest.raises(ValueError, match="No closing quotation"):
        cl.Program(ctx, SET).build("-DVALUE='5")
    with pytest.raises(ValueError, match="NUL"):
        cl.Program(ctx, SET).build("-DVALUE=5\0 -w")


@pytest.mark.parametrize("name", ["PYGPU_BUILD_OPTIONS", "PYOPENCL_BUILD_OPTIONS"])
def test_options_from_the_environment(ctx, queue, monkeypatch, name):
    monkeypatch.setenv(name, "-DVALUE=9")
    assert run(queue, cl.Program(ctx, SET).build().set) == [9] * 4


def test_headers_of_the_package_are_found(ctx):
    source = "#include <pyopencl-complex.h>\nkernel void f(global float *a) { a[0] = cfloat_real(cfloat_new(1, 2)); }"
    assert cl.Program(ctx, source).build().kernel_names == "f"


@pytest.mark.parametrize("form", ["-I{}", "-I {}"])
@pytest.mark.parametrize("folder", ["plain", "with a space", "ümlaut"])
def test_search_path(ctx, queue, tmp_path, folder, form):
    place = tmp_path / folder
    place.mkdir()
    (place / "value.h").write_text("#define VALUE 6\n")
    options = [place.as_posix().join(form.split("{}"))] if form == "-I{}" else ["-I", str(place)]
    built = cl.Program(ctx, '#include "value.h"\n' + SET).build(options)
    assert run(queue, built.set) == [6] * 4


def test_package_in_a_folder_with_spaces(ctx, monkeypatch, tmp_path):
    folder = tmp_path / "a b" / "cl"
    folder.mkdir(parents=True)
    (folder / "spaced.h").write_text("#define VALUE 2\n")
    monkeypatch.setattr(program, "HEADERS", str(folder))
    assert cl.Program(ctx, '#include "spaced.h"\n' + SET).build().kernel_names == "set"


def test_arguments_are_described_without_asking(ctx):
    kernel = cl.Program(ctx, FILL).build().fill
    assert kernel.get_arg_info(1, cl.kernel_arg_info.NAME) == "x"
    assert kernel.get_arg_info(0, cl.kernel_arg_info.TYPE_NAME) == "int*"


# ---- errors and warnings -----------------------------------------------------------------------------


def failure(ctx, source, *args, **kwargs):
    with pytest.raises(cl.RuntimeError) as caught:
        cl.Program(ctx, source).build(*args, **kwargs)
    return caught.value


def test_error_has_log_options_and_code(ctx, device):
    error = failure(ctx, "kernel void f(global int *a) {\n  a[0] = missing_name;\n}", "-DX=1")
    assert error.code == cl.status_code.BUILD_PROGRAM_FAILURE == -11
    assert error.routine == "clBuildProgram"
    assert isinstance(error, RuntimeError)
    text = str(error)
    assert text.startswith("clBuildProgram failed: BUILD_PROGRAM_FAILURE - ")
    assert f"Build on {device!r}:\n\n" in text
    assert "missing_name" in error.log
    assert error.log in text
    assert "-DX=1" in error.options
    assert f"(options: {error.options})" in text
    assert "    2 |   a[0] = missing_name;" in text
    assert text.count("a[0] = missing_name;") == 1  # neither forgotten nor said twice


def marked(error):
    """The character of the source above each caret of the message."""
    lines = str(error).split("\n")
    result = []
    for above, below in zip(lines, lines[1:]):
        if below.strip("| \t~") == "^":
            result.append(above[below.index("^") :])
    return result


@pytest.mark.parametrize("before", ["", "\t", "\t  ", "int ä, ö, ü, 数; "], ids=repr)
def test_caret_below_the_mistake(ctx, before):
    if not before.isascii() and not is_pocl(ctx.devices[0]):
        pytest.skip("this compiler draws the caret itself")
    error = failure(ctx, f"kernel void f(global int *a) {{\n{before}a[0] = wrong_name;\n}}\n")
    assert any(rest.startswith("wrong_name") for rest in marked(error)), str(error)


def test_error_in_a_header_shows_the_header(ctx, tmp_path):
    (tmp_path / "broken.h").write_text("// one\n// two\nint f(int a) { return a + nowhere; }\n")
    error = failure(ctx, '#include "broken.h"\n' + FILL, ["-I", str(tmp_path)])
    assert "3 | int f(int a) { return a + nowhere; }" in str(error)
    assert "broken.h" in error.log


def test_refused_option(ctx):
    with pytest.raises(cl.Error) as caught:
        cl.Program(ctx, FILL).build("--no-such-option")
    assert caught.value.code in (-43, -11)
    assert "--no-such-option" in caught.value.log
    assert "--no-such-option" in caught.value.options


def test_error_and_then_a_build_that_works(ctx, queue):
    again = cl.Program(ctx, SET)
    with pytest.raises(cl.RuntimeError):
        again.build()
    assert run(queue, again.build("-DVALUE=4").set) == [4] * 4


def test_a_good_program_builds_without_a_warning(ctx):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cl.Program(ctx, FILL).build()



def warns():
    """A source that a driver's own cache cannot know: what comes from there comes without the log."""
    return f"#warning something to say\n{FILL} kernel void f{time.time_ns()}(global int *a) {{ a[0] = 1; }}"



@pytest.mark.parametrize("name", ["PYGPU_COMPILER_OUTPUT", "PYOPENCL_COMPILER_OUTPUT", None])
def test_warning_of_the_compiler(ctx, monkeypatch, name):
    if name is not None:
        monkeypatch.setenv(name, "1")
    with pytest.warns(cl.CompilerWarning) as caught:
        cl.Program(ctx, warns()).build()
    [warning] = caught
    assert warning.filename == __file__
    text = str(warning.message)
    if name is None:
        assert text.startswith("Non-empty compiler output encountered. Set the environment variable")
    else:
        assert "something to say" in text


def test_chatter_is_told_from_messages():
    chatter = (
        "Compilation started\nCompilation done\nLinking started\nLinking done\nDevice build started\n"
        "Options used by backend compiler: -w\nDevice build done\n"
        'remark: <unknown>:0:0: 7 instructions in function\nKernel "f" was not vectorized\nDone.'
    )
    assert program.says_nothing(chatter)
    assert program.says_nothing(" \n\n")
    assert not program.says_nothing(chatter + "\n1:2:3: warning: x")
    assert not program.says_nothing("Kernel")


def test_lines_beyond_the_source_are_left_alone():
    log = "x.cl:99:1: error: far\nx.cl:0:0: error: nowhere\nx.cl:1:99: error: beside"
    shown = program.annotate(log, b"abc")
    assert shown.splitlines()[:2] == log.splitlines()[:2]
    assert "    1 | abc" in shown
    assert program.annotate("x.cl:1:2: error: no source", None) == "x.cl:1:2: error: no source"


# ---- building again ----------------------------------------------------------------------------------


def test_building_again_with_the_same_options_does_nothing(ctx):
    built = cl.Program(ctx, SET).build("-DVALUE=1")
    kernel = built.set
    assert built.build("-DVALUE=1") is built
    assert built.set is kernel


def test_building_again_with_others(ctx, queue):
    built = cl.Program(ctx, SET).build("-DVALUE=1")
    built.build("-DVALUE=2")
    assert run(queue, built.set) == [2] * 4
    with pytest.raises(cl.LogicError, match="cannot be built again with other options"):
        built.build("-DVALUE=3")
    assert run(queue, built.set) == [2] * 4


def test_handle_stays_what_it_was(ctx):
    fresh = cl.Program(ctx, FILL)
    seen = hash(fresh), fresh.int_ptr
    fresh.build()
    assert (hash(fresh), fresh.int_ptr) == seen
    assert {fresh: 1}[fresh] == 1


# ---- compile and link --------------------------------------------------------------------------------


def test_compile_with_headers_and_link(ctx, queue, balance):
    header = cl.Program(ctx, "#define FROM_HEADER 40\nint more(int a);")
    main = cl.Program(ctx, '#include "sub/mine.h"\nkernel void f(global int *o) { o[0] = more(FROM_HEADER); }')
    other = cl.Program(ctx, "int more(int a) { return a + 2; }").compile()
    assert main.compile(headers=[("sub/mine.h", header)]) is main
    with pytest.raises(AttributeError, match="link_program"):
        _ = main.f
    linked = cl.link_program(ctx, [main, other])
    assert run(queue, linked.f) == [42, 0, 0, 0]
    assert linked.kernel_names == "f"
    del header, main, other, linked


def test_library(ctx, queue):
    library = cl.link_program(
        ctx, [cl.Program(ctx, "int twice(int a) { return 2 * a; }").compile()], "-create-library"
    )
    main = cl.Program(ctx, "int twice(int a); kernel void f(global int *o) { o[0] = twice(4); }")
    assert run(queue, cl.link_program(ctx, [main.compile(), library]).f) == [8, 0, 0, 0]


def test_compile_error(ctx):
    with pytest.raises(cl.RuntimeError) as caught:
        cl.Program(ctx, '#include "h.h"\nint f(void) { return 1; }').compile(
            headers=[("h.h", cl.Program(ctx, "int g(void) { return unknown_thing; }"))]
        )
    error = caught.value
    assert error.code in (-15, -11)
    assert error.routine == "clCompileProgram"
    assert "unknown_thing" in error.log
    assert "return unknown_thing;" in str(error)


@pytest.mark.parametrize("headers", [[("a.h",)], [("a.h", "text")], ["a.h"], [(1, None)], 5])
def test_wrong_headers(ctx, headers):
    with pytest.raises(TypeError):
        cl.Program(ctx, FILL).compile(headers=headers)


def test_link_of_nothing(ctx):
    with pytest.raises(ValueError, match="programs is empty"):
        cl.link_program(ctx, [])


@pytest.mark.parametrize("programs", [[None], ["x"], 5, [1]])
def test_link_of_other_things(ctx, programs):
    with pytest.raises(TypeError):
        cl.link_program(ctx, programs)


def test_link_of_another_context(ctx):
    other = cl.Program(cl.Context(ctx.devices), FILL).compile()
    with pytest.raises(cl.LogicError, match="program 0 belongs to another context"):
        cl.link_program(ctx, [other])


# ---- binaries ----------------------------------------------------------------------------------------


def test_binaries_go_round(ctx, queue, balance):
    first = cl.Program(ctx, FILL).build()
    binaries = first.binaries
    assert [len(binary) for binary in binaries] == first.binary_sizes
    second = cl.Program(ctx, ctx.devices, binaries)
    assert second.kind() is cl.program_kind.BINARY
    second.build()
    assert second.kernel_names == "fill"
    assert second.devices == ctx.devices
    assert run(queue, second.fill, np.int32(11)) == [11] * 4
    del first, second


def test_binaries_as_other_bytes(ctx):
    [binary] = cl.Program(ctx, FILL).build().binaries
    for same in (bytearray(binary), memoryview(binary), np.frombuffer(binary, np.uint8)):
        assert cl.Program(ctx, ctx.devices, [same]).build().kernel_names == "fill"


def test_wrong_binaries(ctx):
    [binary] = cl.Program(ctx, FILL).build().binaries
    with pytest.raises(cl.LogicError, match="binary for each device"):
        cl.Program(ctx, ctx.devices, [binary] * 2)
    with pytest.raises(cl.LogicError):
        cl.Program(ctx, ctx.devices, [])
    with pytest.raises(cl.LogicError, match="binary 0 is empty"):
        cl.Program(ctx, ctx.devices, [b""])
    with pytest.raises(cl.LogicError, match="INVALID_BINARY"):
        cl.Program(ctx, ctx.devices, [b"not a binary at all" * 10])
    for binaries in (5, binary, "text", ["text"], [5], [None]):
        with pytest.raises(TypeError):
            cl.Program(ctx, ctx.devices, binaries)
    with pytest.raises(TypeError, match="Device"):
        cl.Program(ctx, ["device"], [binary])


# In a process of its own: a driver may end it.
DAMAGED = """
import sys, warnings
import pygpu as cl
warnings.simplefilter("ignore")
platform, device = map(int, sys.argv[1:])
ctx = cl.Context([cl.get_platforms()[platform].get_devices()[device]])
source = "kernel void f(global int *a) { a[0] = 1; } kernel void g(local float *b, float x) {}"
[good] = cl.Program(ctx, source).build().binaries
n = len(good)
cuts = [*range(1, 120, 7), n // 3, n // 2, n - 100, n - 10, n - 1]
for bad in [good[:cut] for cut in cuts] + [good[:16] + bytes(n - 16), good[:90] + b"\\xff" * 40 + good[130:]]:
    try:
        cl.Program(ctx, ctx.devices, [bad]).build()
    except cl.Error:
        pass
print("survived")
"""


def test_damaged_binaries_do_not_end_the_process(device):
    platforms = cl.get_platforms()
    place = platforms.index(device.platform)
    index = device.platform.get_devices().index(device)
    root = os.path.dirname(os.path.dirname(cl.__file__))
    done = subprocess.run(
        [sys.executable, "-c", DAMAGED, str(place), str(index)],
        capture_output=True,
        text=True,
        timeout=200,
        env={**os.environ, "PYTHONPATH": root},
    )
    assert "survived" in done.stdout, done.stderr[-2000:]


# ---- intermediate language ---------------------------------------------------------------------------


def spirv():
    """A module whose kernel "f" stores specialization constant 7 (default 5) to its first argument."""

    def op(code, *words):
        flat = []
        for word in words:
            if isinstance(word, str):
                text = word.encode() + b"\0" * (4 - len(word) % 4)
                flat += np.frombuffer(text, np.uint32).tolist()
            else:
                flat.append(word)
        return [(len(flat) + 1) << 16 | code, *flat]

    void, uint, pointer, kind, main, out, block, constant = range(1, 9)
    words = [0x07230203, 0x00010000, 0, 9, 0]
    for capability in (4, 5, 6):  # Addresses, Linkage, Kernel
        words += op(17, capability)
    words += op(14, 2, 2)  # OpMemoryModel Physical64 OpenCL
    words += op(15, 6, main, "f")  # OpEntryPoint Kernel
    words += op(71, constant, 1, 7)  # OpDecorate SpecId 7
    words += op(19, void) + op(21, uint, 32, 0) + op(32, pointer, 5, uint)
    words += op(33, kind, void, pointer)
    words += op(50, uint, constant, 5)  # OpSpecConstant
    words += op(54, void, main, 0, kind) + op(55, pointer, out) + op(248, block)
    words += op(62, out, constant, 2, 4)  # OpStore Aligned 4
    words += op(253) + op(56)
    return np.array(words, np.uint32).tobytes()


def test_spirv(ctx, queue, device):
    if "SPIR-V" not in device.il_version:
        with pytest.raises(cl.LogicError, match="takes SPIR-V.*build from OpenCL C source"):
            cl.Program(ctx, spirv())
        return
    built = cl.Program(ctx, spirv())
    assert built.kind() is cl.program_kind.IL
    assert built.il == spirv()
    built.build()
    assert run(queue, built.f)[0] == 5


def test_specialization_constant(ctx, queue, device):
    if "SPIR-V" not in device.il_version:
        with pytest.raises(cl.LogicError, match="only programs made from SPIR-V"):
            cl.Program(ctx, FILL).set_specialization_constant(7, np.uint32(9))
        return
    built = cl.Program(ctx, spirv())
    built.set_specialization_constant(7, np.uint32(9))
    assert run(queue, built.build().f)[0] == 9


@pytest.mark.parametrize("cut", [4, 12, 22])
def test_damaged_spirv(ctx, cut):
    with pytest.raises(cl.LogicError, match="damaged"):
        cl.Program(ctx, spirv()[:cut])


# ---- information -------------------------------------------------------------------------------------


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
    for wrong in ("no_such_kernel", ";", device.built_in_kernels + ";x", device.built_in_kernels[1:5] or "b"):
        with pytest.raises(cl.LogicError, match="has no built-in kernels"):
            cl.create_program_with_built_in_kernels(ctx, [device], wrong)
    with pytest.raises(cl.LogicError, match="kernel_names is empty"):
        cl.create_program_with_built_in_kernels(ctx, [device], "")
    with pytest.raises(cl.LogicError, match="devices is empty"):
        cl.create_program_with_built_in_kernels(ctx, [], "x")
    with pytest.raises(TypeError):
        cl.create_program_with_built_in_kernels(ctx, [device], 5)


# ---- several devices ---------------------------------------------------------------------------------


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


# ---- threads and lifetime ------------------------------------------------------------------------------


def slow_source(seed):
    body = " ".join(f"s = sin(s) * {i + 2}.5f + exp(s + {seed}.0f);" for i in range(200))
    return f"kernel void slow(global float *a, float s) {{ {body} a[0] = s; }} {FILL}"


def test_threads_that_build_one_program(ctx, queue, balance):
    shared = cl.Program(ctx, slow_source(time.time_ns() % 100000))
    failures, kernels = [], []

    def work():
        try:
            shared.build()
            kernels.append(shared.fill)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
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


def test_other_threads_run_while_it_builds(ctx):
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
    gaps = np.diff([begin, *during, end])
    assert gaps.max() < max(0.5 * (end - begin), 0.05), (gaps.max(), end - begin)


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


CALLS = ["clCreateProgramWithSource", "clBuildProgram", "clGetProgramBuildInfo", "clCreateKernel"]


@pytest.mark.parametrize("code", [-6, -30, -11])
@pytest.mark.parametrize("name", CALLS)
def test_each_driver_call_fails_once(ctx, queue, balance, name, code):
    def work():
        made = cl.Program(ctx, FILL).build()
        return run(queue, made.fill, 4)

    assert work() == [4] * 4
    _opencl._fault(name, code)
    try:
        assert work() == [4] * 4
        # A log that cannot be read is no reason to fail, and where memory is short we try again.
        assert name == "clGetProgramBuildInfo" or (name, code) == ("clCreateKernel", -6)
    except cl.Error as error:
        assert error.code == code and error.routine == name
    finally:
        hits = _opencl._fault_hits()
        _opencl._fault(None, 0)
    assert hits == 1
    assert work() == [4] * 4


@pytest.mark.parametrize("name", ["clCompileProgram", "clLinkProgram", "clCreateProgramWithBinary"])
def test_other_driver_calls_fail_once(ctx, balance, name):
    def work():
        [binary] = cl.link_program(ctx, [cl.Program(ctx, FILL).compile()]).binaries
        return cl.Program(ctx, ctx.devices, [binary]).build().kernel_names

    assert work() == "fill"
    _opencl._fault(name, -6)
    try:
        with pytest.raises(cl.RuntimeError if name == "x" else cl.Error, match=name):
            work()
    finally:
        _opencl._fault(None, 0)
    assert work() == "fill"


# ---- signatures read from the source --------------------------------------------------------------------

DECLARATIONS = """
/* kernel void a(int not_this_one) {} */
#define N 4
typedef struct { float x; int n[2]; } pair_t;
struct tagged { int a; };
__kernel void a(__global const float *restrict x, global int* y, __constant float4 *c, local double2 *l) {}
kernel void b(int i, unsigned int u, unsigned long ul, uchar uc, float3 v, long16 w, short s) {}
__kernel __attribute__((reqd_work_group_size(4, 1, 1))) void c(pair_t p, struct tagged t, global pair_t *q) {}
kernel void d(read_only image2d_t in, __write_only image3d_t out, sampler_t smp, image2d_array_t arr) {}
kernel void e() {}
kernel void f(const int n, // a comment, with (brackets)
              volatile global uint *v, global float *const fixed) {}
""".replace("double2", "float2")


@pytest.mark.parametrize("name", list("abcdef"))
def test_signature_is_what_the_driver_says(ctx, device, name):
    if not device.image_support:
        pytest.skip("no images")
    told = cl.Program(ctx, DECLARATIONS).build()._kernel_arguments()[name]
    read = signature.kernel_arguments(DECLARATIONS, name)

    def essential(rows):  # drivers differ in qualifiers of values, and of pointers themselves
        return [
            (address, access, type_name.replace(" *", "*"), qualifier & 2, argument)
            for address, access, type_name, qualifier, argument in rows
        ]

    assert essential(read) == essential(told)


@pytest.mark.parametrize(
    "source",
    [
        "#define ARGS int a\nkernel void f(ARGS) {}",
        "kernel void f(unknown_t a) {}",
        "kernel void f(global int **a) {}",
        "kernel void f(int) {}",
        "kernel void f(int a",
        "kernel void g(int a) {}",
        "// kernel void f(int a) {}",
        "#if X\nkernel void f(int a) {}\n#else\nkernel void f(float a) {}\n#endif",
        "typedef global float *pointer;\nkernel void f(pointer a) {}",
        "",
    ],
)
def test_signature_that_is_not_certain(source):
    assert signature.kernel_arguments(source, "f") is None


def test_signature_resolves_typedefs():
    source = "typedef unsigned int word; typedef word same; kernel void f(same a, global same *b) {}"
    rows = signature.kernel_arguments(source, "f")
    assert [row[2] for row in rows] == ["uint", "uint*"]
