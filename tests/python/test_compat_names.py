"""Names that published programs import from PyOpenCL's and PyCUDA's own modules."""

import importlib.util
import os
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.sampled(3)


def check(code):
    """Run code, after install(), in a fresh interpreter; it must end well."""
    first = "import sys, pytest, pygpu\nfrom pygpu import compat\ncompat.install()\n"
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, sys.path)))
    done = subprocess.run(
        [sys.executable, "-c", first + textwrap.dedent(code)],
        env=env, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_private_names_of_its_modules():
    check("""
        from pyopencl._cl import _TestMemoryPool
        from pyopencl._cluda import CLUDA_PREAMBLE
        from pyopencl.algorithm import GenericScanKernel, ScanTemplate, VectorArg
        from pyopencl.clrandom import Random123GeneratorBase, _get_generator
        from pyopencl.elementwise import dtype_to_c_struct, get_take_kernel
        from pyopencl.scan import bitlog2, dtype_to_ctype
        from pyopencl.characterize import _may_have_svm
        from pycuda.elementwise import ScalarArg, VectorArg, get_elwise_module
        from pycuda.reduction import dtype_to_ctype
        from pycuda.scan import SourceModule
        from pycuda.compiler import _find_pycuda_include_path
        assert pygpu.elementwise.VectorArg is pygpu.tools.VectorArg
        assert pygpu.cuda.elementwise.VectorArg is VectorArg
        import pyopencl as cl, pyopencl.array, pyopencl.clrandom, warnings
        assert issubclass(cl.clrandom.PhiloxGenerator, Random123GeneratorBase)
        assert cl.clrandom.ThreefryGenerator.generator_name == "threefry4x32"
        assert cl.clrandom.PhiloxGenerator.header_name == "pyopencl-random123/philox.cl"
        assert cl.array.elwise_kernel_runner and cl.array.splay is cl.array._splay
        assert "#define LID_0 ((ptrdiff_t)(get_local_id(0)))" in CLUDA_PREAMBLE.splitlines()
        from pycuda._cluda import CLUDA_PREAMBLE as cuda
        assert "#define LDIM_2 ((ptrdiff_t)(blockDim.z))" in cuda.splitlines()
        assert cl._find_include_path(["-I a -Ib", "-I", "c", "-D", "x"]) == ["a", "c", "b"]
        with pytest.warns(cl.CompilerWarning, match="set PYOPENCL_COMPILER_OUTPUT=1"):
            cl.compiler_output("note")
        topology = cl.DeviceTopologyAmd(1, 2, 3)
        assert topology.type == topology.bus == 1 and topology.function == 3

        pool = _TestMemoryPool()
        assert pool.bin_number(1000) == 159 and pool.alloc_size(159) == 1023
        for size in [1, 5, 16, 17, 2**30 - 3, 2**31 + 4, 2**34]:
            assert pool.alloc_size(pool.bin_number(size)) >= size
            assert pool.bin_number(pool.alloc_size(pool.bin_number(size))) == pool.bin_number(size)
        blocks = [pool.allocate(1000), pool.allocate(1020), pool.allocate(0)]
        assert (pool.active_blocks, pool.active_bytes, pool.managed_bytes) == (2, 2046, 2046)
        blocks[0].release()
        del blocks
        assert (pool.active_blocks, pool.held_blocks, pool.managed_bytes) == (0, 2, 2046)
        pool.allocate(1001)
        assert pool.managed_bytes == 2046
        pool.stop_holding()
        pool.allocate(7)
        assert pool.held_blocks == pool.managed_bytes == pool.active_bytes == 0
        """)


def test_truth_values_are_int8_in_pyopencl():
    check("""
        import numpy as np, pyopencl as cl, pyopencl.array as cl_array
        queue = cl.CommandQueue(cl.create_some_context(interactive=False))
        x = cl_array.to_device(queue, np.arange(-2, 3, dtype=np.float32))
        made = [
            cl_array.logical_and(x, x > 0), cl_array.logical_or(x, x), cl_array.logical_not(x),
            x.any(), x.all(), cl_array.any(x), cl_array.all(x),
        ]
        assert [m.dtype for m in made] == [np.int8] * 7
        assert (-made[0]).get().tolist() == [0, 0, 0, -1, -1]
        assert [int(m.get()) for m in made[3:]] == [1, 0, 1, 0]
        x = pygpu.array.to_device(queue, np.arange(3))
        assert pygpu.array.logical_not(x).dtype == x.any().dtype == bool
        """)


def test_what_packages_around_it_use():
    check("""
        import numpy as np, pyopencl as cl, pyopencl.array as cl_array
        from pyopencl.array import _NoValue, _copy_queue, _same_as_transfer
        from pyopencl.reduction import _process_code_for_macro
        from pyopencl.tools import _process_code_for_macro as same
        assert same("a;\\nb") == _process_code_for_macro("a;\\nb") == "a; \\\\\\nb"
        with pytest.raises(RuntimeError, match="comment"):
            same("a; // b")
        queue = cl.CommandQueue(cl.create_some_context(interactive=False))
        x = cl_array.to_device(queue, np.arange(6), array_queue=_same_as_transfer)
        assert x.queue is x.copy(queue=_copy_queue).queue is queue
        assert cl_array.max(x, initial=_NoValue).get() == 5

        # reikna makes arrays without memory, and gives them some when all of them are known
        later = cl_array.Array(queue, 4, np.int32, allocator=lambda size: 0)
        memory = cl.Buffer(queue.context, cl.mem_flags.READ_WRITE, 16)
        later.base_data = memory
        later.fill(7)
        assert later.base_data is memory and later.get().tolist() == [7] * 4

        from pycuda.compyte.array import c_contiguous_strides
        import pyopencl.compyte.array as strides
        assert c_contiguous_strides is strides.c_contiguous_strides
        for shape in [(), (3,), (2, 3, 4), (1, 5, 1), (2, 0, 4)]:
            c, f = c_contiguous_strides(4, shape), strides.f_contiguous_strides(4, shape)
            if 0 not in shape:
                assert c == np.empty(shape, np.float32).strides
                assert f == np.empty(shape, np.float32, "F").strides
            assert strides.is_c_contiguous_strides(c, 4, shape)
            assert strides.is_f_contiguous_strides(f, 4, shape)
        assert (c, f) == ((16, 16, 4), (4, 8, 8))  # as if 0 were 1
        assert strides.is_c_contiguous_strides((99, 4), 4, (1, 3))
        assert not strides.is_c_contiguous_strides((99, 4), 4, (2, 3))
        assert not strides.equal_strides((4,), (4, 4), (3,))
        flags = strides.ArrayFlags(np.zeros((3, 4)).T)
        assert (flags.c_contiguous, flags.f_contiguous, flags.forc) == (False, True, True)
        a, b = np.zeros(2, np.float32), np.zeros(2, np.int64)
        assert strides.get_common_dtype(a, b, True) == np.float64
        assert strides.get_common_dtype(a, b, False) == np.float32
        """)


def test_mako_is_asked_for_when_it_is_used() -> None:
    from pygpu.compat import mymako

    assert not hasattr(mymako, "makos")
    if importlib.util.find_spec("mako") is None:
        with pytest.raises(ImportError, match="pip install mako"):
            mymako.mako  # noqa: B018
    else:
        assert mymako.mako is importlib.import_module("mako")


def test_what_loopy_and_arraycontext_import():
    check("""
        import numpy as np, pyopencl as cl
        from pyopencl.compyte.array import as_strided
        from pyopencl.tools import _ContextFactory
        from pyopencl.invoker import VectorArg
        from pyopencl.scan import CLUDA_PREAMBLE
        from pyopencl.array import SCALAR_CLASSES, Allocator, _get_common_dtype, has_double_support
        from pyopencl import CtxFactory, WaitList, _cl
        assert as_strided(np.arange(6), (2, 2), (8, 16)).tolist() == [[0, 2], [1, 3]]
        device = cl.create_some_context(interactive=False).devices[0]
        class Mine(_ContextFactory):
            def __call__(self):
                return super().__call__().devices
        assert Mine(device)() == [device] and _cl.Buffer is cl.Buffer
        assert VectorArg(np.float32, "x").declarator() and "#define LID_0" in CLUDA_PREAMBLE
        assert isinstance(np.bool_(1), SCALAR_CLASSES) and has_double_support(device) in (0, 1)
        """)


def test_types_for_annotations_are_pygpus_own_names():
    import pygpu as cl
    import pygpu.array
    import pygpu.typing

    assert cl.CtxFactory is pygpu.typing.CtxFactory and cl.WaitList is pygpu.typing.WaitList
    assert pygpu.array.Allocator is pygpu.typing.Allocator
    assert {"CtxFactory", "WaitList"} <= set(dir(cl)) and "Allocator" in pygpu.array.__all__
