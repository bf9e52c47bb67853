"""Programs from nonsense: sources, options, binaries, IL, headers, links."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from harness import (
    ANY,
    CALLER,
    Boom,
    Env,
    Liar,
    case,
    check,
    cl,
    expect,
    np,
    skip,
    tolerate,
    within,
)

PLAIN = "kernel void k(global int *a) { a[0] = 42; }"
TEXT = (*ANY, UnicodeError)


@case
def nul_in_the_source(env: Env) -> None:
    for source in ("kernel void k() {}\0 nonsense", b"kernel void k() {}\0", "\0"):
        with expect(ValueError, "NUL|null|zero"):
            cl.Program(env.ctx, source).build()


@case
def sources_of_odd_kinds(env: Env) -> None:
    for source in (None, 5, 1.5, [], ["kernel void k() {}"], object(), env.host, Liar(), env.ctx):
        with expect(CALLER):
            cl.Program(env.ctx, source)
    with expect(TypeError):
        cl.Program(env.ctx)
    with expect(TypeError):
        cl.Program()
    for context in (None, 5, env.dev, env.queue):
        with expect(TypeError):
            cl.Program(context, PLAIN)


@case
def sources_that_are_no_text(env: Env) -> None:
    for source in (
        "\ud800",
        b"\xff\xfe\xfd kernel",
        "",
        b"",
        " ",
        "\n" * 10000,
        b"\x03\x02\x23\x07",
    ):
        with tolerate(TEXT):
            cl.Program(env.ctx, source).build()


@case
def source_that_fails_to_compile(env: Env) -> None:
    source = "kernel void k(global float *a)\n{\n  a[0] = wrong_name_here;\n}\n"
    with expect(
        cl.RuntimeError,
        "wrong_name_here",
        "clBuildProgram",
        "-DSOME=3",
        r"a\[0\] = wrong_name_here",
    ):
        cl.Program(env.ctx, source).build("-DSOME=3")
    with expect(cl.Error, "k_undeclared|nonsense"):
        cl.Program(env.ctx, b"kernel void k() { nonsense k_undeclared; }").build()


@case
def kernel_of_a_program_not_built(env: Env) -> None:
    with expect((*ANY, AttributeError)):
        _ = cl.Program(env.ctx, "kernel void k( {").k
    with tolerate((*ANY, AttributeError)):
        _ = cl.Program(env.ctx, PLAIN).k
    with expect(ANY):
        cl.Kernel(cl.Program(env.ctx, PLAIN), "k")
    with tolerate():
        cl.Program(env.ctx, PLAIN).all_kernels()
    for name in ("kernel_names", "num_kernels", "binaries", "binary_sizes"):
        with tolerate((*ANY, AttributeError)):
            getattr(cl.Program(env.ctx, PLAIN), name)


@case
def options_of_odd_kinds(env: Env) -> None:
    for options in (5, [5], [None], ["-DA", 5], object(), 1.5, [["-DA"]], [b"-DA", 7]):
        with expect(CALLER, "option"):
            cl.Program(env.ctx, PLAIN).build(options)
    with expect((Boom, TypeError)):
        cl.Program(env.ctx, PLAIN).build(Liar(iter=Boom("iter"), len=Boom("len")))


@case
def options_that_break(env: Env) -> None:
    for options in ("-cl-no-such-option", "-I", "-D", "-DA=(", "-Werror -nonsense", ["--", "-x"],
                    "-include /nowhere",
                    "-cl-std=CL9.9", "-", " ", "", [], [""], "-DA='", 'x "y', "-D A B C", "@file",
                    "-o /nowhere/x"):  # fmt: skip
        with tolerate():
            cl.Program(env.ctx, PLAIN).build(options)
    for options in ("-DA\0B", ["-DA\0"], "\0"):
        with expect(ValueError, "NUL|null|zero"):
            cl.Program(env.ctx, PLAIN).build(options)
    with tolerate(TEXT):
        cl.Program(env.ctx, PLAIN).build("-DA=\ud800")


@case
def options_that_are_huge(env: Env) -> None:
    prg = cl.Program(env.ctx, "kernel void k(global int *a) { a[0] = A4999; }")
    with tolerate():
        prg.build([f"-DA{i}={i}" for i in range(5000)])


@case
def options_with_spaces_and_quotes(env: Env) -> None:
    with tempfile.TemporaryDirectory(prefix="a b'c") as folder:
        Path(folder, "answer.h").write_text("#define ANSWER 42\n")
        source = '#include "answer.h"\nkernel void k(global int *a) { a[0] = ANSWER; }'
        with tolerate():
            prg = cl.Program(env.ctx, source).build(["-I", folder])
            out = env.out()
            cl.Kernel(prg, "k")(env.queue, (1,), None, out)
            check(env.read(out, np.int32)[0] == 42, "the include was another one")


@case
def includes_that_never_end(env: Env) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "self.h").write_text('#include "self.h"\n')
        with expect(cl.Error):
            cl.Program(env.ctx, '#include "self.h"\n' + PLAIN).build(["-I", folder])
        Path(folder, "missing.h").write_text('#include "not_there.h"\n')
        with expect(cl.Error, "not_there"):
            cl.Program(env.ctx, '#include "missing.h"\n' + PLAIN).build(["-I", folder])
        os.mkfifo(Path(folder, "pipe.h"))
        os.symlink(Path(folder, "loop.h"), Path(folder, "loop.h"))
        with tolerate():
            cl.Program(env.ctx, '#include "loop.h"\n' + PLAIN).build(["-I", folder])
        # Only mentioned in a comment: a scanner for includes must not open a pipe and wait for
        # ever.
        with within(10, "a build with a named pipe"), tolerate():
            cl.Program(env.ctx, '// #include "pipe.h"\n' + PLAIN).build(["-I", folder])


@case
def build_twice(env: Env) -> None:
    prg = cl.Program(env.ctx, PLAIN).build()
    with tolerate():
        prg.build()
    with tolerate():
        prg.build("-DOTHER")
    kernel = cl.Kernel(prg, "k")
    with tolerate():
        prg.build("-DTHIRD")
    out = env.out()
    kernel(env.queue, (1,), None, out)
    check(env.read(out, np.int32)[0] == 42, "the kernel went wrong after another build")


@case
def build_after_a_failure(env: Env) -> None:
    prg = cl.Program(env.ctx, "kernel void k(global int *a) { a[0] = VALUE; }")
    with expect(cl.Error, "VALUE"):
        prg.build()
    with tolerate():
        prg.build("-DVALUE=42")
    for _ in range(3):
        with expect(cl.Error, "VALUE"):
            cl.Program(env.ctx, "kernel void k(global int *a) { a[0] = VALUE; }").build()


@case
def build_for_odd_devices(env: Env) -> None:
    for devices in (5, "x", [5], [None], [env.ctx], env.dev.platform, object(), []):
        with tolerate() as caught:
            cl.Program(env.ctx, PLAIN).build(devices=devices)
        check(caught or devices == [], f"devices={devices!r} was accepted")


@case
def build_information_of_odd_arguments(env: Env) -> None:
    log = cl.program_build_info.LOG
    for device in (None, 5, "x", env.ctx):
        with expect(TypeError):
            env.prg.get_build_info(device, log)
    for param in (0, -1, 2**32, 2**64, "LOG", None):
        with expect(ANY):
            env.prg.get_build_info(env.dev, param)


@case
def binaries_of_odd_kinds(env: Env) -> None:
    for devices, binaries in (
        ([env.dev], [b""]), ([env.dev], [b"garbage"]), ([env.dev], [b"\0" * 10000]),
        ([env.dev], []), ([], []),
        ([], [b"x"]), ([env.dev], [None]), ([env.dev], [5]), ([env.dev], ["text"]),
        ([env.dev], b"bytes"),
        ([env.dev], None), (None, [b"x"]), ([env.dev] * 2, [b"x"]), ([env.dev], [b"x"] * 2),
        ([None], [b"x"]),
        ([5], [b"x"]), (env.dev, b"x"), ([env.dev], [object()]), ([env.dev], 5), (5, [b"x"]),
    ):  # fmt: skip
        with expect(ANY):
            cl.Program(env.ctx, devices, binaries).build()


@case
def binaries_cut_and_changed(env: Env) -> None:
    binary = cl.Program(env.ctx, PLAIN).build().get_info(cl.program_info.BINARIES)[0]
    check(len(binary) > 16, "the binary is empty")
    for n in (0, 1, 4, 7):
        with expect(ANY):
            cl.Program(env.ctx, [env.dev], [binary[:n]]).build()
    for kind in (bytearray, memoryview, np.frombuffer):
        with tolerate():
            cl.Program(env.ctx, [env.dev], [kind(binary)]).build()


@case(alone=True)
def binaries_cut_in_the_middle(env: Env) -> None:
    binary = env.prg.get_info(cl.program_info.BINARIES)[0]
    for n in (16, 64, len(binary) // 2, len(binary) - 1):
        with tolerate():
            cl.Program(env.ctx, [env.dev], [binary[:n]]).build()


@case
def binary_for_a_sub_device(env: Env) -> None:
    binary = env.prg.get_info(cl.program_info.BINARIES)[0]
    prg = cl.Program(env.ctx, [env.dev], [binary]).build()
    out = env.buffer()
    cl.Kernel(prg, "add1")(env.queue, (64,), None, out)
    check(np.array_equal(env.read(out), env.host + 1), "a program from its binary went wrong")


@case
def il_that_is_garbage(env: Env) -> None:
    magic = b"\x03\x02\x23\x07"
    for il in (
        magic,
        magic + b"\0" * 3,
        magic + b"\xff" * 400,
        magic + b"\0" * 16,
        magic[::-1] + b"\0" * 400,
    ):
        with expect(ANY):
            cl.Program(env.ctx, il).build()


@case
def headers_of_odd_kinds(env: Env) -> None:
    good = cl.Program(env.ctx, "#define ANSWER 42\n")
    for headers in (5, "x", [5], [("a.h",)], [("a.h", None)], [(1, good)], [("a.h", good, 1)],
                    [good], [None],
                    [("a.h", "text")], [("a\0.h", good)], [(None, good)], {"a.h": good}, object(),
                    ["ab"]):  # fmt: skip
        with expect(ANY):
            cl.Program(env.ctx, PLAIN).compile(headers=headers)
    with tolerate():
        cl.Program(env.ctx, PLAIN).compile(headers=[("a.h", good)] * 100)
    with tolerate():
        cl.Program(env.ctx, PLAIN).compile(headers=[("", good)])


@case
def headers_of_another_context(env: Env) -> None:
    with expect(ANY, "context"):
        cl.Program(env.ctx, PLAIN).compile(headers=[("a.h", cl.Program(env.other, "\n"))])


@case
def header_is_the_program_itself(env: Env) -> None:
    prg = cl.Program(env.ctx, '#include "me.h"\n' + PLAIN)
    with tolerate():
        prg.compile(headers=[("me.h", prg)])


@case
def links_of_odd_things(env: Env) -> None:
    done = cl.Program(env.ctx, PLAIN)
    done.compile()
    for programs in (
        None,
        5,
        "x",
        [],
        [None],
        [5],
        [env.ctx],
        object(),
        [cl.Program(env.ctx, PLAIN)],
        [done, None],
    ):
        with expect(ANY):
            cl.link_program(env.ctx, programs)
    with expect(ANY, "context"):
        cl.link_program(env.other, [done])
    for context in (None, 5, env.dev):
        with expect(TypeError):
            cl.link_program(context, [done])
    for options in (5, [5], "-x -no-such", "\0"):
        with tolerate():
            cl.link_program(env.ctx, [done], options=options)
    with tolerate():
        cl.link_program(env.ctx, [done, done])


@case
def compile_errors_are_told(env: Env) -> None:
    with expect(cl.Error, "undeclared_thing"):
        cl.Program(env.ctx, "kernel void k() { undeclared_thing; }").compile()
    prg = cl.Program(
        env.ctx, "void missing_function(void); kernel void k() { missing_function(); }"
    )
    prg.compile()
    with tolerate():
        cl.link_program(env.ctx, [prg])


@case
def built_in_kernels_of_odd_names(env: Env) -> None:
    for names in ("", "no_such_kernel", "a;b", ";", "a\0b", None, 5, ["a"], b"a"):
        with expect(ANY):
            cl.create_program_with_built_in_kernels(env.ctx, [env.dev], names)
    for devices in (None, [], [5], 5):
        with expect(ANY):
            cl.create_program_with_built_in_kernels(env.ctx, devices, "no_such_kernel")


@case
def specialization_of_odd_things(env: Env) -> None:
    prg = cl.Program(env.ctx, PLAIN)
    if not hasattr(prg, "set_specialization_constant"):
        skip("set_specialization_constant")
    for args in ((0, np.int32(5)), (-1, np.int32(5)), (2**32, np.int32(5)), (0, None), (0, "x"),
                 ("x", np.int32(5)),
                 (0, b""), (0, np.array([object()])), (), (0,)):  # fmt: skip
        with expect((*ANY, BufferError)):
            prg.set_specialization_constant(*args)


@case
def cache_folders_that_are_none(env: Env) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "file")
        file.write_text("not a folder")
        frozen = Path(folder, "frozen")
        frozen.mkdir()
        frozen.chmod(stat.S_IRUSR | stat.S_IXUSR)
        for place in (
            str(file),
            f"{file}/below",
            "/dev/null",
            "/proc/nowhere",
            str(frozen),
            "",
            "x" * 5000,
            False,
            None,
        ):
            prg = cl.Program(env.ctx, PLAIN).build(cache_dir=place)
            check(cl.Kernel(prg, "k").num_args == 1, f"cache_dir={place!r} broke the build")
    for place in (5, object(), 1.5, "a\0b", [folder]):
        with tolerate((TypeError, ValueError)):
            cl.Program(env.ctx, PLAIN).build(cache_dir=place)


@case
def cache_folder_full_of_rubbish(env: Env) -> None:
    source = f"kernel void k(global int *a) {{ a[0] = 42; }} // {os.getpid()}"
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(3):
            prg = cl.Program(env.ctx, source).build(cache_dir=folder)
            out = env.out()
            cl.Kernel(prg, "k")(env.queue, (1,), None, out)
            check(env.read(out, np.int32)[0] == 42, "a cached program went wrong")
            for path in Path(folder).rglob("*"):
                if path.is_file():
                    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2] + b"rubbish")


@case(alone=True, limit=20)
def integer_division_by_zero(env: Env) -> None:
    prg = cl.Program(env.ctx, "kernel void k(int n, global int *a) { a[0] = a[1] / n; }").build()
    out = env.out()
    with tolerate():
        cl.Kernel(prg, "k")(env.queue, (1,), None, np.int32(0), out)
        env.queue.finish()


@case
def source_that_is_huge(env: Env) -> None:
    lines = "".join(f"constant int c{i} = {i};\n" for i in range(20000))
    with within(12, "building 20000 lines"), tolerate():
        cl.Program(env.ctx, lines + PLAIN).build()


@case
def kernel_with_many_arguments(env: Env) -> None:
    names = [f"int a{i}" for i in range(120)]
    prg = cl.Program(
        env.ctx, f"kernel void k(global int *out, {', '.join(names)}) {{ out[0] = a0 + a119; }}"
    )
    kernel = cl.Kernel(prg.build(), "k")
    out = env.out()
    kernel(env.queue, (1,), None, out, *range(120))
    check(env.read(out, np.int32)[0] == 119, "120 arguments arrived wrong")
    with expect(TypeError, "121"):
        kernel(env.queue, (1,), None, out, *range(119))


@case
def odd_attribute_names(env: Env) -> None:
    for name in ("", "é", "a b", "a\0b", "x" * 100000, "\ud800", "__nothing__"):
        with expect((AttributeError, UnicodeError)):
            getattr(env.prg, name)
    with expect((AttributeError, TypeError)):
        env.prg.add1 = 5
        if env.prg.add1 == 5:
            raise AttributeError("attributes of Python classes may be set")
