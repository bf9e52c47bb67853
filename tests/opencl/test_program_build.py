"""Building programs: options, messages, compile and link, binaries, SPIR-V, failing calls."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from opencl.program_helpers import FILL, SET, is_pocl, run

import pygpu as cl
from pygpu import _opencl
from pygpu._src.runtime.opencl import build as program

pytestmark = pytest.mark.usefixtures("no_options_from_outside")


# ---- options ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        "-DVALUE=5",
        "-D VALUE=5",
        ["-DVALUE=5"],
        ("-D", "VALUE=5"),
        ["-D VALUE=5"],
        ["-DOTHER=1 -DVALUE=5"],
        ["-D OTHER=1 -D VALUE=5 -w"],
        ["-D OTHER", "-D", "VALUE=5 -w"],
        ["", " -DVALUE=5 ", "  "],
        [b"-DVALUE=5"],
        [b"-D", "VALUE=5", b"-w -DOTHER"],
        "  -w   -DVALUE=5 ",
        '-D "VALUE=5"',
    ],
)
def test_forms_of_options(ctx, queue, options):
    assert run(queue, cl.Program(ctx, SET).build(options).set) == [5] * 4


@pytest.mark.parametrize(
    "options",
    [
        "-DVALUE='2 + 3'",
        '"-DVALUE=2 + 3"',
        ["-DVALUE=2 + 3"],
        ["-D", "VALUE=2 + 3"],
        ['-DVALUE="2 + 3"'],
        ["-D VALUE=2 + 3"],
        ["-DVALUE=2 + 3 -w -DOTHER"],
        ["-DVALUE=6 - 1"],
        ['-DOTHER="4 -w" -DVALUE="2 + 3" -w'],
    ],
)
def test_spaces_in_definitions(ctx, queue, options):
    assert run(queue, cl.Program(ctx, SET).build(options).set) == [5] * 4


def test_unicode_in_options(ctx, queue):
    built = cl.Program(ctx, "#define VALUE 1\n" + SET).build(["-DGRÖSSE=1"])
    assert run(queue, built.set) == [1] * 4


@pytest.mark.parametrize(
    "element, words",
    [
        ("-I", ["-I"]),
        ("-I{folder}/a b", ["-I{folder}/a b"]),
        ("-I {folder}/a b -DX", ["-I", "{folder}/a b", "-DX"]),
        ("-I {folder}/c -d", ["-I", "{folder}/c -d"]),
        ("-I{folder}/c -d", ["-I{folder}/c -d"]),
        ("-I{folder}/none -d", ["-I{folder}/none", "-d"]),
        ("-x spir -spir-std=1.2", ["-x", "spir", "-spir-std=1.2"]),
        ("-cl-std=CL2.0\t-w", ["-cl-std=CL2.0", "-w"]),
        ("-DX=a  b", ["-DX=a  b"]),
        ("-DX=a -1 -w", ["-DX=a -1", "-w"]),
        ('-DX="a -b" -I"{folder}/a b"', ['-DX="a -b"', '-I"{folder}/a b"']),
        ('-DX="a', ['-DX="a']),
        ("-U X", ["-U", "X"]),
    ],
)
def test_an_element_of_options_is_a_piece_of_a_command_line(tmp_path, element, words):
    for name in ("a b", "c -d"):
        (tmp_path / name).mkdir()
    there = {"folder": tmp_path.as_posix()}
    found = program.split_options([element.format(**there)], "build")
    assert found == [word.format(**there) for word in words]


def test_options_of_every_step_may_be_pieces(ctx, queue):
    compiled = cl.Program(ctx, SET).compile(["-DOTHER=1 -DVALUE=5", b"-w"])
    library = cl.link_program(ctx, [compiled], [b"-create-library -enable-link-options"])
    assert run(queue, cl.link_program(ctx, [library]).set) == [5] * 4


@pytest.mark.parametrize("options", [5, b"-DVALUE=5", 1.5, object()])
def test_options_of_other_types(ctx, options):
    with pytest.raises(TypeError, match="Program.build: options must be a str or a list of str"):
        cl.Program(ctx, SET).build(options)


@pytest.mark.parametrize("word", [bytearray(b"-w"), 1, None, ["-w"]])
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
    source = """#include <pyopencl-complex.h>
        kernel void f(global float *a) { a[0] = cfloat_real(cfloat_new(1, 2)); }"""
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
    monkeypatch.setattr(program, "OPENCL_HEADERS", str(folder))
    assert cl.Program(ctx, '#include "spaced.h"\n' + SET).build().kernel_names == "set"


def test_arguments_are_described_without_asking(ctx):
    kernel = cl.Program(ctx, FILL).build().fill
    assert kernel.get_arg_info(1, cl.kernel_arg_info.NAME) == "x"
    assert kernel.get_arg_info(0, cl.kernel_arg_info.TYPE_NAME) == "int*"


# ---- errors and warnings ------------------------------------------------------------------------


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
    assert text.count("a[0] = missing_name;") == 1  # neither forgotten nor said twice
    if (
        "NVIDIA" not in device.platform.name
    ):  # whose compiler quotes the line itself, without number
        assert "    2 |   a[0] = missing_name;" in text


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
    assert str(error).count("int f(int a) { return a + nowhere; }") == 1
    if "NVIDIA" not in ctx.devices[0].platform.name:
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


WARNED = """
import sys, time, warnings
import pygpu as cl

device = next(p for p in cl.get_platforms() if p.name == sys.argv[1]).get_devices()[0]
# A source that no driver has in its own cache, from where it would come without the log.
source = f"#warning something to say\\nkernel void f{time.time_ns()}() {{}}"
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    cl.Program(cl.Context([device]), source).build()
[warning] = caught
assert warning.category is cl.CompilerWarning and warning.filename == __file__
print(warning.message)
"""


@pytest.mark.parametrize("name", ["PYGPU_COMPILER_OUTPUT", "PYOPENCL_COMPILER_OUTPUT", None])
def test_warning_of_the_compiler(device, tmp_path, name):
    """In a process of its own: where NVIDIA's driver met the option -w, it warns no more."""
    script = tmp_path / "warned.py"
    script.write_text(WARNED)
    environment = os.environ | ({name: "1"} if name is not None else {})
    done = subprocess.run(
        [sys.executable, "-P", script, device.platform.name],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    text = done.stdout
    if name is None:
        assert text.startswith("Non-empty compiler output encountered. Set the environment")
    else:
        assert "something to say" in text


def test_compiler_chatter_is_not_reported_as_a_warning():
    chatter = (
        "Compilation started\nCompilation done\nLinking started\nLinking done\n"
        "Device build started\nOptions used by backend compiler: -w\nDevice build done\n"
        'remark: <unknown>:0:0: 7 instructions in function\nKernel "f" was not vectorized\nDone.'
    )
    assert program.is_empty_log(chatter)
    assert program.is_empty_log(
        "warning: /tmp/x.cl:9:3 <Spelling=/usr/y.h:6:1>: AVX vector argument of type "
        "'double8' (vector of 8 'double' values) without 'avx512f' enabled changes the ABI"
    )
    assert program.is_empty_log(" \n\n")
    assert not program.is_empty_log(chatter + "\n1:2:3: warning: x")
    assert not program.is_empty_log("Kernel")


def test_lines_beyond_the_source_are_left_alone():
    log = "x.cl:99:1: error: far\nx.cl:0:0: error: nowhere\nx.cl:1:99: error: beside"
    shown = program.annotate(log, b"abc")
    assert shown.splitlines()[:2] == log.splitlines()[:2]
    assert "    1 | abc" in shown
    assert program.annotate("x.cl:1:2: error: no source", None) == "x.cl:1:2: error: no source"


# ---- building again -----------------------------------------------------------------------------


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


# ---- compile and link ---------------------------------------------------------------------------


def test_compile_with_headers_and_link(ctx, queue, balance):
    header = cl.Program(ctx, "#define FROM_HEADER 40\nint more(int a);")
    source = '#include "sub/mine.h"\nkernel void f(global int *o) { o[0] = more(FROM_HEADER); }'
    main = cl.Program(ctx, source)
    other = cl.Program(ctx, "int more(int a) { return a + 2; }").compile()
    assert main.compile(headers=[("sub/mine.h", header)]) is main
    with pytest.raises(AttributeError, match="link_program"):
        _ = main.f
    linked = cl.link_program(ctx, [main, other])
    assert run(queue, linked.f) == [42, 0, 0, 0]
    assert linked.kernel_names == "f"
    assert run(queue, cl.Program.link(ctx, [main, other], options="").f) == [42, 0, 0, 0]
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


def test_headers_that_cannot_be(ctx):
    header = cl.Program(ctx, "#define A 1")
    for name in ("", "a\0.h"):
        with pytest.raises(ValueError, match="name of header 0 is empty or has a NUL"):
            cl.Program(ctx, FILL).compile(headers=[(name, header)])
    other = cl.Program(cl.Context(ctx.devices), "#define A 1")
    with pytest.raises(cl.LogicError, match="header 0 belongs to another context"):
        cl.Program(ctx, FILL).compile(headers=[("a.h", other)])


def test_link_of_nothing(ctx):
    with pytest.raises(ValueError, match="programs is empty"):
        cl.link_program(ctx, [])


@pytest.mark.parametrize("programs", [[None], ["x"], 5, [1]])
def test_link_of_other_objects(ctx, programs):
    with pytest.raises(TypeError):
        cl.link_program(ctx, programs)


def test_link_of_another_context(ctx):
    other = cl.Program(cl.Context(ctx.devices), FILL).compile()
    with pytest.raises(cl.LogicError, match="program 0 belongs to another context"):
        cl.link_program(ctx, [other])


# ---- binaries -----------------------------------------------------------------------------------


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
        wrong = cl.Program(ctx, ctx.devices, [b"not a binary at all" * 10])
        if "NVIDIA" in ctx.devices[0].platform.name:  # looks at it only then
            wrong.build()
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
damaged = [good[:cut] for cut in cuts]
damaged += [good[:16] + bytes(n - 16), good[:90] + b"\\xff" * 40 + good[130:]]
for bad in damaged:
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
        [sys.executable, "-P", "-c", DAMAGED, str(place), str(index)],
        capture_output=True,
        text=True,
        timeout=200,
        env={**os.environ, "PYTHONPATH": root},
    )
    assert "survived" in done.stdout, done.stderr[-2000:]


# ---- intermediate language ----------------------------------------------------------------------


def spirv(kernel=True):
    """A module whose function stores specialization constant 7, by default 5, to its argument; if
    *kernel*, it is the kernel "f"."""

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
    if kernel:
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
    with pytest.raises(cl.LogicError, match="no specialization constant 8"):
        built.set_specialization_constant(8, np.uint32(9))
    built.set_specialization_constant(7, np.uint32(9))
    assert run(queue, built.build().f)[0] == 9
    library = cl.Program(ctx, spirv(kernel=False))
    if "Intel" in device.platform.name:  # whose runtime would end the process
        with pytest.raises(cl.LogicError, match="only for programs with a kernel"):
            library.set_specialization_constant(7, np.uint32(9))
    else:
        library.set_specialization_constant(7, np.uint32(9))


@pytest.mark.parametrize("cut", [4, 12, 22])
def test_damaged_spirv(ctx, cut):
    with pytest.raises(cl.LogicError, match="damaged"):
        cl.Program(ctx, spirv()[:cut])


# ---- every call fails once ----------------------------------------------------------------------

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
        # A log that cannot be read is not a reason to fail, and if memory is short we try again.
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
        with pytest.raises(cl.Error, match=name):
            work()
    finally:
        _opencl._fault(None, 0)
    assert work() == "fill"


def test_a_link_that_our_option_broke_is_made_without_it(ctx, queue, balance):
    """NVIDIA's linker misses inline functions of programs compiled under -cl-kernel-arg-info."""
    header = cl.Program(ctx, "static inline int seven() { return 7; }").compile()
    source = '#include "seven.h"\n' + FILL.replace("{", "{ int y = seven(); (void)y; ", 1)
    part = cl.Program(ctx, source).compile("-DUNUSED", headers=[("seven.h", header)])
    _opencl._fault("clLinkProgram", -17)
    try:
        linked = cl.link_program(ctx, [part])
        assert _opencl._fault_hits() == 1
        assert run(queue, linked.fill, np.int32(4)) == [4] * 4
    finally:
        _opencl._fault(None, 0)


def test_refused_options_are_both_kinds_of_error(ctx):
    """PyOpenCL raises RuntimeError for whatever fails in build()."""
    with pytest.raises(cl.RuntimeError) as caught:
        cl.Program(ctx, SET).build("-nonsense-option")
    assert isinstance(caught.value, cl.LogicError | RuntimeError)
    assert caught.value.options.startswith("-nonsense-option")


def test_what_is_not_a_sequence(ctx):
    program = cl.Program(ctx, "kernel void f() {}")
    for call, name in (
        (lambda: program.build(devices=5), "Program.build: devices"),
        (lambda: cl.link_program(ctx, 5), "link_program: programs"),
        (lambda: cl.choose_devices(answers=5), "choose_devices: answers"),
    ):
        with pytest.raises(TypeError, match=f"{name} must be a sequence, not int"):
            call()
