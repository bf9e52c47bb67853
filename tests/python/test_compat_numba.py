"""pygpu.compat in place of Numba: what its programs find under its name."""

import pytest

from .test_compat_names import check

pytestmark = pytest.mark.sampled(3)


def test_numba():
    check("""
        compat.install("numba")
        import inspect, numba, numpy as np
        from numba import cuda, float32, guvectorize, njit, prange, types, vectorize, void
        from numba.core import types as core_types
        assert numba.__version__ == "0.61.2" and types.float32 is float32 is core_types.float32
        assert inspect.unwrap(vectorize) is inspect.unwrap(pygpu.vectorize)
        assert cuda.reduce is pygpu.cuda.reduce
        assert repr(void(float32[:, ::1])) == "none(array(float32, 2d, C))"
        assert njit(lambda x: x + 1)(2) == 3 and prange is range
        assert numba.typeof(np.zeros(3)).ndim == 1
        try:
            import numba.typed
        except ImportError as error:
            assert "no counterpart" in str(error)
        else:
            raise AssertionError
        """)


def test_numba_functions_by_exec():
    """Their text is in no variable any more when a kernel is compiled; Numba needs none."""
    check("""
        compat.install("numba")
        import numpy as np
        from numba import cuda

        def make(name):
            space = {"cuda": cuda}
            exec(f"def f(a):\\n    a[cuda.grid(1)] {name}= 3", space)
            return cuda.jit(space["f"])

        times, plus = make("*"), make("+")
        a = np.arange(4)
        times[1, 4](a)
        plus[1, 4](a)
        assert a.tolist() == [3, 6, 9, 12]
        """)


def test_modules_of_numba():
    """Those that programs look into for settings, errors and versions."""
    check("""
        compat.install("numba")
        import numba
        from numba import config, cuda, errors, types
        from numba.core.errors import NumbaPerformanceWarning, TypingError
        from numba.cuda import cudadrv, libdevice
        from numba.cuda.cudadrv.devicearray import DeviceNDArray, is_cuda_ndarray
        from numba.cuda.cudadrv.driver import CudaAPIError, driver
        from numba.cuda.cudadrv.error import CudaSupportError, NvvmSupportError
        numba.config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
        assert config is numba.config and config.ENABLE_CUDASIM == 0
        assert errors.TypingError is TypingError is pygpu.KernelError
        assert issubclass(NumbaPerformanceWarning, numba.NumbaWarning)
        assert cudadrv.driver.driver is driver and issubclass(CudaAPIError, Exception)
        assert issubclass(DeviceNDArray, pygpu.cuda.gpuarray.GPUArray)
        assert not is_cuda_ndarray(5)
        assert issubclass(CudaSupportError, RuntimeError)
        assert issubclass(NvvmSupportError, ImportError)
        assert types.CPointer(types.int8) == types.CPointer(numba.int8)
        assert types.Array(types.float32, 2, "C") == types.float32[:, ::1]
        record = types.Record.make_c_struct([("a", types.int8), ("b", types.float64)])
        assert record.dtype.itemsize == 16 and record[:].ndim == 1
        assert numba.from_dtype(record.dtype) == record
        assert libdevice.sinf.__name__ == "libdevice.sinf" and cuda.fp16.hadd
        """)


def test_integers_of_numba():
    """Arithmetic of small integers has 64 bits, as Numba's; that of pygpu's own kernels NumPy's."""
    check("""
        compat.install("numba")
        import numpy as np
        from numba import cuda, guvectorize, njit, vectorize

        @njit
        def third(r, g, b):
            return (r + g + b) / 3

        def several(pixel, i4, u4, out):
            out[0] = np.uint8(third(pixel[0], pixel[1], pixel[2]))
            out[1] = pixel[0] - 220
            out[2] = pixel[0] * 1000
            out[3] = (1664525 * i4[0] + 1013904223) % 2**32
            s = 0
            for k in range(2):
                s += i4[k]
            out[4] = s
            out[5] = u4[0] * u4[1] >> np.uint32(32)
            out[6] = ~i4[0] + (i4[1] << 2) + (u4[1] >> 3) + i4[0] // 7 + i4[1] ** 2 % 5
            out[7] = -i4[0] + (True + pixel[0])
            out[8] = i4[0] + u4[0]
            out[9] = (u4[0] | np.uint32(1)) + (pixel[1] & 15)
            pixel[3] += 200

        pixel = np.array([200, 220, 240, 100], np.uint8)
        i4 = np.array([2**31 - 5, 2**31 - 7], np.int32)
        u4 = np.array([2**32 - 3, 2**32 - 9], np.uint32)
        r, g, b, _ = map(int, pixel)
        i, j = map(int, i4)
        u, v = map(int, u4)
        expected = [220, r - 220, r * 1000, (1664525 * i + 1013904223) % 2**32, i + j, u * v >> 32,
                    ~i + (j << 2) + (v >> 3) + i // 7 + j**2 % 5, -i + 1 + r, i + u,
                    (u | 1) + (g & 15)]
        for declared in ((), ("void(uint8[:], int32[:], uint32[:], int64[:])",)):
            kernel = cuda.jit(*declared)(several) if declared else cuda.jit(several)
            changed, out = pixel.copy(), np.zeros(10, np.int64)
            kernel[1, 1](changed, i4, u4, out)
            assert out.tolist() == expected, out.tolist()
            assert changed.tolist() == [200, 220, 240, 44]

        for target in ("cuda", "opencl"):
            mean = vectorize(["float32(uint8, uint8)"], target=target)(lambda a, b: (a + b) / 2)
            assert mean(pixel[:1], pixel[1:2]).tolist() == [210]

            @guvectorize(["void(uint8[:], int64[:])"], "(n)->()", target=target)
            def total(a, out):
                s = 0
                for k in range(a.shape[0]):
                    s += a[k]
                out[0] = s

            assert total(np.array([pixel, pixel])).tolist() == [760, 760]

        @pygpu.cuda.jit
        def own(a, out):
            out[0] = a[0] + a[1]

        out = np.zeros(1, np.int64)
        own[1, 1](pixel, out)
        assert out[0] == (200 + 220) % 256
        """)


def test_numbas_language():
    """What its kernels do otherwise than pygpu's own: print, round, divisions, signatures."""
    check("""
        compat.install("numba")
        import enum, io, os, sys, numpy as np
        from numba import cuda, literal_unroll, types
        from numba.core.errors import TypingError

        class Color(enum.Enum):
            red, green = 1, 2

        @cuda.jit
        def several(out, a, b, items):
            out[0] = a is b
            out[1] = a != b
            out[2] = round(out[2], 3)
            n = 3
            for item in literal_unroll(items):
                out[n] = item[0] / 4
                n += 1
            print(cuda.threadIdx, 0.5, n)

        out = np.zeros(6, np.float32)
        out[2] = 0.3425
        several[1, 1](out, Color.red, Color.red, (np.ones(1), np.ones(1, np.int8)))
        assert out.tolist() == [1, 0, np.float32(0.343), 0.25, 0.25, 0], out
        several[1, 1](out, Color.red, Color.green, (np.ones(1), np.ones(1, np.int8)))
        assert out[:2].tolist() == [0, 1]

        @cuda.jit(debug=True, opt=False)
        def divides(a, b):
            a[0] = a[0] // b[0]
            a[1] = b.shape[a[0]]

        for numbers, error in (([1, 0], ZeroDivisionError), ([7, 1], IndexError)):
            try:
                divides[1, 1](np.array([numbers[0], 0]), np.array([numbers[1]]))
            except error:
                continue
            raise AssertionError(error)

        try:
            @cuda.jit("void(float32[:])")
            def wrong(a):
                a[0] = missing
        except TypingError as error:
            assert "missing" in str(error)
        else:
            raise AssertionError
        assert types.int32 in types.integer_domain and types.float32 not in types.integer_domain
        """)


def test_options_and_errors_of_numba():
    """Unknown options, exceptions of kernels, which begin with the thread, and copies by address.
    Exceptions of ufuncs are as they were raised."""
    check("""
        compat.install("numba")
        import warnings
        import numpy as np
        from numba import cuda, guvectorize, vectorize
        from numba.cuda import driver

        def add(a, b):
            return a + b

        def copy(a, out):
            out[0] = a[0]

        def error_of(call):
            try:
                call()
            except Exception as error:
                return error

        error = error_of(lambda: vectorize("f4(f4, f4)", never=1)(add))
        assert type(error) is KeyError and "Unrecognized options: never" in str(error)
        error = error_of(
            lambda: guvectorize(["f4[:], f4[:]"], "(n)->(n)", target="cuda", b=1, a=2)(copy))
        assert str(error) == "The following target options are not supported: 'a', 'b'", error
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            vectorize("f4(f4, f4)", target="cuda", nopython=True)(add)
            vectorize("f4(f4, f4)", nopython=True)(add)
        assert ["redundant" in str(w.message) for w in caught] == [True], caught

        @cuda.jit(debug=True, opt=False)
        def failing(a):
            if cuda.grid(1) == a[0]:
                raise ValueError("wrong", 7)

        error = error_of(lambda: failing[2, 4](np.array([5])))
        assert error.args[0].startswith("In function 'failing', file "), error
        assert error.args[0].endswith("tid=[1, 0, 0] ctaid=[1, 0, 0]: wrong"), error
        assert error.args[1] == 7

        @vectorize("f4(f4)")
        def root(a):
            if a < 0:
                raise ValueError("negative")
            return a ** 0.5

        assert error_of(lambda: root(np.float32(-1))).args == ("negative",)

        @cuda.jit(device=True)
        def helper(a):
            return a

        assert isinstance(error_of(lambda: helper[1, 1](0)), RuntimeError)

        a = np.arange(6)
        there, other = cuda.to_device(a), cuda.device_array(6, np.int64)
        driver.device_to_device(other, there, 48)
        back = np.zeros((3, 2), np.int64, order="F")
        driver.device_to_host(back, other.gpu_data, 40)
        assert back.ravel(order="A").tolist() == [0, 1, 2, 3, 4, 0]
        driver.host_to_device(there.gpu_data.device_pointer_value, back[:1, 0] + 9, 8)
        assert there.copy_to_host().tolist() == [9, 1, 2, 3, 4, 5]
        assert "has 48 bytes" in str(error_of(lambda: driver.device_to_host(a, there, 49)))
        assert "contiguous" in str(error_of(lambda: driver.host_to_device(there, a[::2], 8)))
        """)


def test_numbas_arrays():
    check("""
        compat.install("numba")
        import numpy as np
        from numba import cuda

        a = cuda.to_device(np.zeros((2, 3)))
        shown = a.__cuda_array_interface__
        assert shown["strides"] is None and shown["stream"] is None and a.stream == 0
        assert a[:, 1].__cuda_array_interface__["strides"] == (24,)
        assert a and not cuda.device_array(0)
        stream = cuda.stream()
        b = cuda.device_array(3, stream=stream)
        assert b.stream == stream and b.__cuda_array_interface__["stream"] == stream.handle
        records = cuda.device_array(2, np.dtype([("x", "i4"), ("y", "f4", 2)]))
        records[1]["x"], records[1]["y"][0] = 7, 2.5
        assert records.copy_to_host()["x"][1] == 7 and records[1]["y"][0] == 2.5
        one = np.zeros(1, records.dtype)[0]
        records[1].copy_to_host(one)
        assert one["x"] == 7
        like = np.zeros((4, 6, 8)).transpose(2, 0, 1)
        for make in (cuda.device_array_like, cuda.pinned_array_like):
            assert make(like).strides == like.strides
            assert make(like[::2]).strides == np.empty_like(like[::2]).strides
            assert make(np.zeros((0, 3))).shape == (0, 3)
        """)


def test_pointers_of_numba():
    """carray and farray: arrays over a pointer's memory, as large as that at most."""
    check("""
        compat.install("numba")
        import numpy as np
        import numba
        from numba import carray, cuda, farray

        @cuda.jit("void(CPointer(float32), int32, int32[:])")
        def fill(p, n, sizes):
            a, b, c = carray(p, (2, n), np.float32), farray(p, (2, n)), carray(p, 9)
            a[1, 0] = 5
            b[1, 0] = 7
            b[0, n - 1] += 2
            sizes[0], sizes[1], sizes[2] = a.size, b.shape[1], c.size

        memory, sizes = cuda.to_device(np.zeros(6, np.float32)), np.zeros(3, np.int32)
        fill[1, 1](memory.gpu_data.device_pointer, 3, sizes)
        assert memory.copy_to_host().tolist() == [0, 7, 0, 5, 2, 0]
        assert sizes.tolist() == [6, 3, 0]
        try:
            fill[1, 1](memory.gpu_data.device_pointer, 4, sizes)
            cuda.synchronize()
        except IndexError as error:
            assert "out of bounds" in str(error)
        else:
            raise AssertionError

        try:
            @cuda.jit("void(CPointer(float32))")
            def other(p):
                carray(p, 1, np.float64)[0] = 1
        except numba.TypingError as error:
            assert "the pointer is to float32" in str(error)
        else:
            raise AssertionError
        """)
