"""pygpu.compat in place of Numba: what its programs find under its name."""

from .test_compat_names import check


def test_numba():
    check("""
        compat.install("numba")
        import numba, numpy as np
        from numba import cuda, float32, guvectorize, njit, prange, types, vectorize, void
        from numba.core import types as core_types
        assert numba.__version__ == "0.61.2" and types.float32 is float32 is core_types.float32
        assert vectorize is pygpu.vectorize and cuda.reduce is pygpu.cuda.reduce
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
