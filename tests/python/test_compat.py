"""pygpu.compat: programs written for PyOpenCL find pygpu under its name, and nothing else changes.

Imports are tested in processes of their own, as they leave traces in sys.modules; the command is
compared with what plain Python does with the same program.
"""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from pygpu import compat
from pygpu.compat.peers import PEERS

pytestmark = pytest.mark.sampled(3)

PEER = PEERS["pyopencl"]


HERE = os.path.dirname(__file__)


def python(*arguments, cwd=HERE, stdin=None):
    """Plain Python with pygpu on its path, from a folder that has no other pygpu."""
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, sys.path)))
    env.pop("PYTHONSAFEPATH", None)
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        env=env, cwd=cwd, input=stdin, capture_output=True, text=True, timeout=120,
    )  # fmt: skip


def check(code, install=True):
    """Run code, after install(), in a fresh interpreter; it must end well."""
    first = "import sys, pytest, pygpu\nfrom pygpu import compat\n"
    done = python("-c", first + "compat.install()\n" * install + textwrap.dedent(code))
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---- imports ----------------------------------------------------------------------------------


def test_the_package_and_its_names():
    check("""
        import pyopencl as cl
        from pyopencl import Buffer, mem_flags as mf
        from pyopencl.elementwise import ElementwiseKernel, ScalarArg, VectorArg
        assert VectorArg is pygpu.tools.VectorArg is cl.tools.VectorArg
        assert cl.elementwise.ElementwiseKernel is ElementwiseKernel
        assert ElementwiseKernel is pygpu.elementwise.ElementwiseKernel
        assert cl.Buffer is Buffer is pygpu.Buffer and mf is pygpu.mem_flags
        assert cl.LogicError is pygpu.LogicError and cl.create_some_context
        assert cl is sys.modules["pyopencl"] and cl is not pygpu
        assert cl.__name__ == "pyopencl" and cl.__doc__ == pygpu.__doc__
        assert set(pygpu.__all__) <= set(dir(cl))
        with pytest.raises(AttributeError, match="'pyopencl', which is pygpu here, has no 'nope'"):
            cl.nope
        with pytest.raises(ImportError):
            from pyopencl import nope
        """)


def test_star_import():
    check("""
        from pyopencl import *
        assert CommandQueue is pygpu.CommandQueue and enqueue_copy is pygpu.enqueue_copy
        """)


@pytest.mark.parametrize(
    "statement",
    [
        "import pyopencl.cltypes as x",
        "from pyopencl import cltypes as x",
        "import pyopencl; x = pyopencl.cltypes",
        "import importlib; x = importlib.import_module('pyopencl.cltypes')",
        "x = __import__('pyopencl.cltypes').cltypes",
    ],
)
def test_submodules_are_pygpus_own(statement):
    check(f"""
        {statement}
        import pygpu.cltypes
        assert x is pygpu.cltypes is sys.modules["pyopencl.cltypes"]
        assert x.__name__ == x.__spec__.name == "pygpu.cltypes"
        """)


def test_modules_in_packages():
    check("""
        import pyopencl.characterize.performance as performance
        from pyopencl.characterize import has_double_support
        import pygpu.characterize.performance as ours
        assert performance is ours
        """)


def test_relative_imports_inside_pygpu_are_not_repeated():
    check("""
        import pyopencl.tools, pygpu.tools
        names = [name for name in sys.modules if name.startswith("pyopencl.")]
        assert pyopencl.tools is pygpu.tools
        assert all(sys.modules[name].__name__.startswith(("pygpu", "pyopencl")) for name in names)
        assert pygpu.tools.__package__ == "pygpu"
        """)


def test_vector_types_under_their_old_name():
    check("""
        import warnings
        import pyopencl as cl, pyopencl.array as cl_array
        with pytest.warns(DeprecationWarning, match="cltypes"):
            vec = cl_array.vec
        assert vec is cl.cltypes and vec.float4 is pygpu.cltypes.float4
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert cl_array.vec.make_float4(1, 2, 3, 4)["s2"] == 3
        with pytest.raises(AttributeError):
            cl_array.np_
        """)


def test_version():
    check("""
        import pyopencl, pyopencl.version, importlib.metadata
        from pyopencl.version import VERSION, VERSION_TEXT, VERSION_STATUS
        assert pyopencl.VERSION == VERSION >= (2024, 1) and pygpu.VERSION < (2024,)
        assert pyopencl.VERSION_TEXT == pyopencl.__version__ == VERSION_TEXT
        assert VERSION_TEXT == ".".join(map(str, VERSION)) and VERSION_STATUS == ""
        assert importlib.metadata.version("pyopencl") == VERSION_TEXT
        assert importlib.metadata.version("PyOpenCL") == VERSION_TEXT
        assert importlib.metadata.metadata("pyopencl")["Name"] == "pyopencl"
        assert importlib.metadata.version("numpy")[0].isdigit()
        with pytest.raises(importlib.metadata.PackageNotFoundError):
            importlib.metadata.version("pyopencl-nothing")
        """)


def test_private_names_that_programs_use():
    check("""
        import pyopencl._cl as _cl, pyopencl as cl, pyopencl.typing
        from pyopencl._cl import MemoryPool
        assert _cl.Kernel is pygpu.Kernel and cl._cl is _cl
        assert _cl._Program is cl.Program and _cl.mem_flags is cl.mem_flags
        assert MemoryPool is pygpu.tools.MemoryPool
        assert _cl._ErrorRecord is pygpu.errors._ErrorRecord
        assert cl._csc is cl.create_some_context and cl._enqueue_marker is cl.enqueue_marker
        assert cl.CtxFactory and pyopencl.typing.WaitList == cl.WaitList
        from pyopencl.compyte.dtypes import dtype_to_ctype
        assert dtype_to_ctype is pygpu.tools.dtype_to_ctype
        import pyopencl.compyte
        assert pyopencl.compyte.dtypes is sys.modules["pyopencl.compyte.dtypes"]
        """)


def missing_module():
    import importlib.util

    for name in sorted(PEER.modules):
        if name not in PEER.elsewhere and "." not in name:
            if importlib.util.find_spec(f"pygpu.{name}") is None:
                return name
    pytest.skip("pygpu has a counterpart of every module of PyOpenCL")


@pytest.mark.parametrize("statement", ["import pyopencl.{}", "from pyopencl import {}"])
def test_a_missing_module_says_so(statement):
    name = missing_module()
    check(f"""
        with pytest.raises(ImportError, match="pyopencl.{name}: pygpu has no counterpart") as info:
            {statement.format(name)}
        assert info.value.name == "pyopencl.{name}"
        import pyopencl
        assert not hasattr(pyopencl, "{name}") and "pyopencl.{name}" not in sys.modules
        """)


def test_a_module_that_does_not_exist():
    check("""
        with pytest.raises(ModuleNotFoundError, match="pyopencl.nothing"):
            import pyopencl.nothing
        with pytest.raises(ModuleNotFoundError):
            import pyopencl_nothing
        """)


def test_data_files_are_found():
    check("""
        import importlib.resources, os, pkgutil, pyopencl
        header = importlib.resources.files("pyopencl") / "cl" / "pyopencl-complex.h"
        assert header.is_file()
        assert pkgutil.get_data("pyopencl", "cl/pyopencl-complex.h") == header.read_bytes()
        assert os.path.exists(os.path.join(os.path.dirname(pyopencl.__file__), "cl"))
        """)


def test_nothing_is_found_before_install():
    check(
        """
        import importlib.util
        spec = importlib.util.find_spec("pyopencl")
        assert spec is None or "pygpu" not in spec.origin
        """,
        install=False,
    )


def test_install_twice_and_uninstall():
    check("""
        count = len(sys.meta_path)
        compat.install()
        compat.install("pyopencl")
        assert len(sys.meta_path) == count
        import pyopencl, pyopencl.cltypes
        compat.uninstall()
        assert len(sys.meta_path) == count - len(compat.PEERS)
        assert not [name for name in sys.modules if name.startswith("pyopencl")]
        assert pyopencl.Buffer is pygpu.Buffer  # who has it keeps it
        compat.uninstall()
        """)


def test_the_real_package_is_not_mixed_in():
    check(
        """
        import types
        sys.modules["pyopencl"] = types.ModuleType("pyopencl")
        with pytest.raises(RuntimeError, match="pyopencl itself has been imported already"):
            compat.install()
        assert len([f for f in sys.meta_path if type(f).__module__.startswith("pygpu")]) == 0
        compat.uninstall()
        assert "pyopencl" in sys.modules
        """,
        install=False,
    )


def test_unknown_package():
    with pytest.raises(ValueError, match="cannot replace 'pyfoo', only pyopencl"):
        compat.install("pyfoo")


def test_every_module_in_the_table_exists():
    import importlib.util

    for sources in PEER.elsewhere.values():
        for source in sources:
            assert importlib.util.find_spec(source) is not None
    assert set(PEER.elsewhere) <= PEER.modules | {""}


# ---- the command ------------------------------------------------------------------------------

PROGRAM = """
import atexit, os, pickle, sys
import __main__
import helper_of_the_program

class Thing:
    pass

def at_exit():
    assert sys.modules["__main__"].Thing is Thing
    print("exit", type(pickle.loads(pickle.dumps(Thing()))).__name__)

atexit.register(at_exit)
assert __main__.Thing is Thing
print(__name__, __file__, __package__, __spec__ and __spec__.name)
print(sys.argv)
print(sys.path[0])
print(sorted(name for name in globals() if name.startswith("__")))
print(__doc__, helper_of_the_program.__file__)
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "program.py").write_text('"""A program."""\n' + PROGRAM)
    (tmp_path / "sub" / "helper_of_the_program.py").write_text("")
    (tmp_path / "sub" / "package").mkdir()
    (tmp_path / "sub" / "package" / "__init__.py").write_text("")
    (tmp_path / "sub" / "package" / "__main__.py").write_text(PROGRAM)
    (tmp_path / "sub" / "package" / "part.py").write_text(PROGRAM)
    return tmp_path


def both(arguments, cwd, stdin=None):
    """The same under plain Python and under pygpu.compat."""
    plain = python(*arguments, cwd=cwd, stdin=stdin)
    ours = python("-m", "pygpu.compat", *arguments, cwd=cwd, stdin=stdin)
    return plain, ours


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        (["sub/program.py", "-m", "x", "--help"], "."),
        (["program.py"], "sub"),
        (["-m", "program", "a", "b"], "sub"),
        (["-m", "package", "-x"], "sub"),
        (["-m", "package.part"], "sub"),
        (["-c", "import sys; print(sys.argv, __name__); x = 1; print(eval('x'))", "-m", "b"], "."),
    ],
)
def test_a_program_sees_what_it_does_under_plain_python(folder, arguments, where):
    plain, ours = both(arguments, folder / where)
    assert plain.returncode == 0, plain.stderr
    assert (ours.returncode, ours.stderr) == (0, "")
    assert lines_of(ours) == lines_of(plain)


def lines_of(done):
    return [line.replace("'__annotations__', ", "") for line in done.stdout.splitlines()]


def test_a_folder_with_main(folder):
    (folder / "sub" / "__main__.py").write_text(
        "import sys; print(__name__, __file__, sys.path[0], sys.argv)"
    )
    plain, ours = both(["sub", "x"], folder)
    assert ours.returncode == 0 and ours.stdout == plain.stdout


def test_an_archive(folder):
    import zipfile

    with zipfile.ZipFile(folder / "program.pyz", "w") as archive:
        archive.writestr("__main__.py", "import sys, other; print(__name__, sys.path[0], sys.argv)")
        archive.writestr("other.py", "")
    plain, ours = both(["program.pyz", "x"], folder)
    assert ours.returncode == 0 and ours.stdout == plain.stdout


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("import sys; sys.exit(3)", 3),
        ("import sys; sys.exit('a message')", 1),
        ("raise SystemExit", 0),
        ("import os; os._exit(7)", 7),
        ("exit()", 0),
        ("1 / 0", 1),
        ("def f():\n    g()\ndef g():\n    raise KeyError('x')\nf()", 1),
        ("try:\n    1 / 0\nexcept ZeroDivisionError:\n    raise ValueError('second')", 1),
        ("import nothing_of_this_name", 1),
        ("def f(:", 1),
        ("import sys\nsys.excepthook = lambda *_: print('hooked')\n1 / 0", 1),
        ("raise BaseException('b')", 1),
        ("raise KeyboardInterrupt", -signal.SIGINT),
        ("import atexit; atexit.register(print, 'bye'); raise KeyboardInterrupt", -signal.SIGINT),
        ("import atexit; atexit.register(print, 'bye'); 1 / 0", 1),
        ("import warnings; warnings.warn('look')", 0),
        ("print(input())", 0),
    ],
)
def test_ends_and_tracebacks_are_the_programs_own(tmp_path, code, status):
    (tmp_path / "program.py").write_text(code + "\n")
    plain, ours = both(["program.py"], tmp_path, stdin="typed\n")
    assert plain.returncode == ours.returncode == status
    assert (ours.stdout, ours.stderr) == (plain.stdout, plain.stderr)


@pytest.mark.parametrize("code", ["import sys; sys.exit(3)", "def f():\n    1 / 0\nf()", "def f(:"])
def test_the_same_of_a_module(tmp_path, code):
    (tmp_path / "program.py").write_text(code + "\n")
    plain, ours = both(["-m", "program"], tmp_path)
    assert plain.returncode == ours.returncode
    # Plain Python shows frames of its own here; there are none of them under pygpu.compat.
    shown = [line for line in plain.stderr.splitlines() if not is_of_runpy(line)]
    assert ours.stderr.splitlines() == shown


def is_of_runpy(line):
    return line.startswith('  File "<frozen runpy>"')


def test_frames_of_the_compat_layer_stay_in_messages_from_pygpu(tmp_path):
    (tmp_path / "program.py").write_text("import pyopencl\npyopencl.nothing\n")
    done = python("-m", "pygpu.compat", "program.py", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith('Traceback (most recent call last):\n  File "')
    assert "program.py" in done.stderr.splitlines()[1]
    assert "<frozen runpy>" not in done.stderr and "__main__.py" not in done.stderr
    assert done.stderr.endswith("which is pygpu here, has no 'nothing'\n")


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        ([], 2, "PROGRAM.py"),
        (["nothing.py"], 2, "can't open file 'nothing.py': No such file or directory"),
        (["-m", "nothing.at.all"], 1, "no module named nothing.at.all"),
        (["-m", "_struct"], 1, "_struct is not a module that can be run"),
        (["."], 1, "can't find '__main__' module in '.'"),
        (["-m"], 2, "-m needs a value"),
        (["--fast", "program.py"], 2, "no such option: --fast"),
    ],
)
def test_wrong_calls(tmp_path, arguments, status, words):
    done = python("-m", "pygpu.compat", *arguments, cwd=tmp_path)
    assert done.returncode == status and words in done.stderr
    assert "Traceback" not in done.stderr


def test_help():
    done = python("-m", "pygpu.compat", "--help")
    assert done.returncode == 0 and "python -m pygpu.compat PROGRAM.py" in done.stdout


def test_a_program_on_a_device(tmp_path):
    (tmp_path / "program.py").write_text("""
import numpy
import pyopencl as cl

try:
    context = cl.create_some_context(interactive=False)
except cl.Error as error:
    raise SystemExit(f"none: {error}")
queue = cl.CommandQueue(context)
a = numpy.arange(1000, dtype=numpy.float32)
b = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=a)
program = cl.Program(context, "__kernel void f(__global float *x) { x[get_global_id(0)] += 1; }")
program.build().f(queue, a.shape, None, b)
cl.enqueue_copy(queue, a, b)
assert (a == numpy.arange(1000) + 1).all()
print(type(b).__module__, cl.VERSION[0])
""")
    done = python("-m", "pygpu.compat", "program.py", cwd=tmp_path)
    if done.stderr.startswith("none:"):
        pytest.skip(f"no OpenCL device on this machine: {done.stderr}")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["pygpu", "2026"]


def test_arrays_as_their_programs_know_them():
    check("""
        import collections.abc
        import types
        import numpy as np
        import pyopencl as cl, pyopencl.array as cl_array, pyopencl.clrandom as clrandom
        assert type(cl) is type(cl_array) is types.ModuleType  # a subclass makes each look-up slow

        context = cl.create_some_context(interactive=False)
        queue = cl.CommandQueue(context)
        host = np.arange(6, dtype=np.complex64).reshape(2, 3) * (1 - 1j)
        z = cl_array.to_device(queue, host)
        assert z.real.flags.c_contiguous and (z.imag.get() == host.imag).all()
        z.imag = 5
        assert (z.get() == host.real + 5j).all()
        assert type(z) is cl_array.Array and (z.real > 2).dtype == np.int8
        assert (clrandom.rand(queue, 9, np.float32) < 2).dtype == np.int8
        normal = clrandom.PhiloxGenerator(context).normal(queue, 9, np.float32)
        assert (normal < 99).dtype == np.int8
        assert cl_array._get_common_dtype(1, z.real, queue) == np.float32
        lonely = z.with_queue(None)
        assert (cl_array.if_positive(z.real, lonely, lonely, queue=queue).get() == z.get()).all()

        grid = cl_array.to_device(queue, np.arange(6, dtype=np.float32).reshape(2, 3))
        assert cl_array.dot(grid, grid).get() == 55 and cl_array.dot(grid, grid.ravel()).shape == ()
        assert cl_array.dot(grid.T, grid.T, dtype=np.float64, queue=queue).dtype == np.float64
        with pytest.raises(ValueError):
            cl_array.dot(grid, grid[:1])

        buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, 64)
        x = cl_array.zeros(queue, 8, np.float32)
        x.base_data = buffer
        x.fill(3)
        back = np.empty(16, np.float32)
        cl.enqueue_copy(queue, back, buffer)
        assert (back[:8] == 3).all()
        x.offset = 32
        with pytest.raises(ValueError, match="up to byte 68"):
            x.offset = 36
        with pytest.raises(ValueError, match="before the start"):
            x.offset = -4
        with pytest.raises(TypeError):
            del x.base_data
        assert x.offset == 32 and x.base_data is buffer

        class Mine(cl_array.Array):
            def __init__(self, queue, shape, dtype, mark):
                super().__init__(queue, shape, dtype)
                self.mark, self.nbytes = mark, 1000

            def _new_like_me(self, dtype=None, queue=None):
                return Mine(self.queue, self.shape, dtype or self.dtype, self.mark)

        mine = Mine(queue, 4, np.float32, "here")
        mine.set(np.arange(4, dtype=np.float32))
        for result in (mine + mine, 2 * mine, -mine, mine[1:], mine[::2] + 1, mine.copy()):
            assert type(result) is Mine and result.mark == "here"
        assert ((mine * mine).get() == [0, 1, 4, 9]).all() and mine.nbytes == 1000
        assert not isinstance(mine, collections.abc.Iterable)
        """)


def test_what_generated_invokers_call():
    check("""
        import struct
        import numpy as np
        import pyopencl as cl
        from pyopencl.invoker import BUF_PACK_TYPECHARS

        assert "f" in BUF_PACK_TYPECHARS
        context = cl.create_some_context(interactive=False)
        queue = cl.CommandQueue(context)
        kernel = cl.Program(context, "kernel void f(global float *x, int n, float2 v)"
                                     "{ x[0] = n * v.x; x[1] = v.y; }").build().f
        x = cl.Buffer(context, cl.mem_flags.READ_WRITE, 8)
        kernel._set_arg_multi((0, x))
        kernel._set_arg_buf_pack_multi((1, b"i", 3))
        kernel._set_arg_buf_multi((2, struct.pack("ff", 1.5, 7)))
        cl.enqueue_nd_range_kernel(queue, kernel, (1,), None)
        back = np.empty(2, np.float32)
        cl.enqueue_copy(queue, back, x)
        assert back.tolist() == [4.5, 7]
        for wrong in ([0, x], (0,), (9, x), (1, b"i")):
            with pytest.raises((TypeError, cl.LogicError)):
                kernel._set_arg_multi(wrong)
        with pytest.raises(TypeError):
            kernel._set_arg_buf_pack_multi((1, 3))
        """)


def test_cuda_arrays_as_their_programs_know_them():
    check("""
        import os
        os.environ["PYGPU_CUDA"] = "simulator"
        import numpy as np
        import pycuda.autoinit
        from pycuda import curandom, gpuarray

        host = np.arange(12, dtype=np.float32).reshape(3, 4)
        a = gpuarray.to_gpu(host)
        turned = a.reshape(3, 4, order="F")
        assert turned.flags.f_contiguous
        assert (turned.get() == host.reshape(-1).reshape(3, 4, order="F")).all()
        assert (turned.reshape(2, -1).get() == host.reshape(2, 6)).all()
        assert a.transpose(axes=(1, 0)).shape == (4, 3)
        with pytest.raises(ValueError):
            a.reshape(5, -1)
        assert (curandom.rand((9,)) < 2).dtype == np.float32
        sizes = []
        def allocate(n):
            sizes.append(n)
            return pycuda.driver.mem_alloc(n)
        chosen = gpuarray.to_gpu(np.array([1, 3], np.int32))
        assert gpuarray.subset_sum(chosen, a, allocator=allocate).get() == 4 and sizes == [4]
        assert gpuarray.sum(a, allocator=allocate).get() == 66 and sizes == [4, 4]
        assert gpuarray.dot(a, a).get() == (host * host).sum()
        other = pycuda.driver.mem_alloc(a.nbytes)
        a.gpudata = other
        a.fill(2)
        assert a.gpudata is other and a.get().sum() == 24
        import pickle
        b = pickle.loads(pickle.dumps(a))
        assert type(b) is gpuarray.GPUArray and b.get().sum() == 24 and (b > 1).dtype == b.dtype
        assert b.__cuda_array_interface__["strides"] == b.strides
        box = np.zeros((2, 3, 5, 1), np.int16)
        for axes in ((0, 1, 2, 3), (3, 2, 1, 0), (1, 3, 0, 2)):
            view = box.transpose(axes)
            assert tuple(gpuarray._compact_strides(view)) == view.strides
            gaps = np.zeros((4, 3, 10, 1), np.int16)[::2, :, ::2].transpose(axes)
            assert tuple(gpuarray._compact_strides(gaps)) == view.strides
        """)
