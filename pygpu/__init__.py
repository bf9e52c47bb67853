"""pygpu: OpenCL (and, as `pygpu.cuda`, CUDA) for Python programs.

Programs written for `import pyopencl as cl` run after `import pygpu as cl`:

    >>> import numpy as np, pygpu as cl
    >>> context = cl.create_some_context(interactive=False)
    >>> queue = cl.CommandQueue(context)
    >>> program = cl.Program(context, '''
    ... __kernel void twice(__global float *a) { a[get_global_id(0)] *= 2; }''').build()
    >>> a = np.arange(4, dtype=np.float32)
    >>> buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=a)
    >>> event = program.twice(queue, a.shape, None, buffer)
    >>> event = cl.enqueue_copy(queue, a, buffer)
    >>> a.tolist()
    [0.0, 2.0, 4.0, 6.0]

Importing pygpu loads no driver; the first call that needs one does. `python -m pygpu` shows what is
installed.

(PYTEST_DONT_REWRITE: pytest need not rewrite pygpu's assertions, which are not a test's.)
"""

from importlib import import_module as _import_module
from typing import Any as _Any

from ._opencl import (  # noqa: F401 - and PyOpenCL's private functions
    SVM,
    Buffer,
    CommandQueue,
    Context,
    Device,
    Event,
    GLBuffer,
    GLRenderBuffer,
    GLTexture,
    Image,
    ImageDescriptor,
    ImageFormat,
    Kernel,
    LocalMemory,
    MemoryMap,
    MemoryObject,
    MemoryObjectHolder,
    NameVersion,
    NannyEvent,
    Pipe,
    Platform,
    Program,
    Sampler,
    SVMAllocation,
    SVMPointer,
    UserEvent,
    _enqueue_copy_buffer,
    _enqueue_copy_buffer_rect,
    _enqueue_copy_buffer_to_image,
    _enqueue_copy_image,
    _enqueue_copy_image_to_buffer,
    _enqueue_read_buffer,
    _enqueue_read_buffer_rect,
    _enqueue_read_image,
    _enqueue_svm_map,
    _enqueue_svm_memcpy,
    _enqueue_svm_unmap,
    _enqueue_write_buffer,
    _enqueue_write_buffer_rect,
    _enqueue_write_image,
    _provide,
    create_image,
    create_program_with_built_in_kernels,
    enqueue_acquire_gl_objects,
    enqueue_barrier,
    enqueue_copy,
    enqueue_copy_buffer_p2p_amd,
    enqueue_fill_buffer,
    enqueue_fill_image,
    enqueue_map_buffer,
    enqueue_map_image,
    enqueue_marker,
    enqueue_migrate_mem_objects,
    enqueue_nd_range_kernel,
    enqueue_release_gl_objects,
    enqueue_svm_memfill,
    enqueue_svm_migrate_mem,
    enqueue_task,
    get_gl_context_info_khr,
    get_platforms,
    get_supported_image_formats,
    link_program,
    unload_platform_compiler,
    wait_for_events,
)
from .constants import *  # noqa: F403
from .errors import *  # noqa: F403
from .version import VERSION, VERSION_STATUS, VERSION_TEXT  # noqa: F401

del Constants  # noqa: F821 - pygpu.constants alone has the base class

__version__ = VERSION_TEXT

# PyOpenCL's names of the enqueue functions, as programs of different ages use them.
_enqueue_copy = enqueue_copy
_Program = Program
_Image = Image
enqueue_svm_migratemem = enqueue_svm_migrate_mem

# Parts in Python that the extension calls without knowing their names. Nothing is loaded here.
_provide("build", "pygpu._src.runtime.opencl.build")
_provide("capture_call", "pygpu._src.runtime.opencl.capture_call")
_provide("gl", "pygpu._src.runtime.opencl.gl")
_provide("image_html", "pygpu._src.runtime.opencl.image_html")
_provide("svm", "pygpu._src.runtime.opencl.svm")
_provide("transfer", "pygpu._src.runtime.opencl.transfer")
del globals()["_provide"]

# Names that are loaded when first used, and the modules that have them.
_LAZY = {
    "CtxFactory": "typing",
    "DTYPE_TO_CHANNEL_TYPE": "_src.runtime.opencl.images",
    "DTYPE_TO_CHANNEL_TYPE_NORM": "_src.runtime.opencl.images",
    "DeviceTopologyAmd": "_src.runtime.opencl.extras",
    "GPUArray": "_array",
    "SVMMap": "_src.runtime.opencl.svm",
    "WaitList": "typing",
    "_csc": "_src.runtime.opencl.device_selection",
    "allow_host_copies": "_src.array.methods",
    "autotune": "_src.observe.autotune",
    "benchmark": "_src.observe.benchmark",
    "choose_devices": "_src.runtime.opencl.device_selection",
    "create_some_context": "_src.runtime.opencl.device_selection",
    "csvm_empty": "_src.runtime.opencl.svm",
    "csvm_empty_like": "_src.runtime.opencl.svm",
    "enable_debugging": "_src.runtime.opencl.extras",
    "enqueue_fill": "_src.runtime.opencl.transfer",
    "fsvm_empty": "_src.runtime.opencl.svm",
    "fsvm_empty_like": "_src.runtime.opencl.svm",
    "from_dlpack": "xp",
    "fuse": "fusion",
    "get_apple_cgl_share_group": "_src.runtime.opencl.gl",
    "get_cl_header_version": "_src.runtime.opencl.extras",
    "guvectorize": "_src.jit.decorators.guvectorize",
    "have_gl": "_src.runtime.opencl.gl",
    "image_from_array": "_src.runtime.opencl.images",
    "jit": "_src.jit.decorators.jit",
    "kernel": "_src.jit.decorators.kernel",
    "KernelError": "_src.jit.source",
    "memory_info": "_src.runtime.memory",
    "memory_report": "_src.observe.memory_report",
    "profile": "_src.observe.profile",
    "program_kind": "_src.runtime.opencl.build",
    "reduce": "_src.jit.decorators.reduce",
    "svm_empty": "_src.runtime.opencl.svm",
    "svm_empty_like": "_src.runtime.opencl.svm",
    "track_memory": "_src.observe.memory_report",
    "vectorize": "_src.jit.decorators.vectorize",
}
# Names for kernels written in Python, on every backend; `from pygpu import *` leaves these out, as
# they are short words that PyOpenCL does not have.
_IN_KERNELS = dict.fromkeys(
    (
        *("activemask", "all_sync", "any_sync", "ballot_sync", "blockDim", "blockIdx", "brev"),
        *("cbrt", "clz", "const", "eq_sync", "ffs", "fma", "grid", "gridDim", "gridsize"),
        *("laneid", "lanemask_lt", "local", "match_all_sync", "match_any_sync", "nanosleep"),
        *("popc", "selp", "shared", "shfl_down_sync", "shfl_sync", "shfl_up_sync"),
        *("shfl_xor_sync", "syncthreads", "syncthreads_and", "syncthreads_count"),
        *("syncthreads_or", "syncwarp", "threadIdx", "threadfence", "threadfence_block"),
        *("threadfence_system", "warpsize"),
    ),
    "_src.jit.calls.intrinsics",
) | {"atomic": "_src.jit.calls.atomics"}
_SUBMODULES = {
    "algorithm",
    "array",
    "array_kernels",
    "bitonic_sort",
    "cache",
    "capture_call",
    "characterize",
    "clmath",
    "clrandom",
    "cltypes",
    "compat",
    "constants",
    "cuda",
    "dask",
    "dtypes",
    "elementwise",
    "errors",
    "fft",
    "fusion",
    "gl",
    "ipython_ext",
    "linalg",
    "mpi",
    "profiling",
    "pykernel",
    "random",
    "reduction",
    "scan",
    "special",
    "tools",
    "typing",
    "version",
    "xp",
}

__all__ = [
    *(name for name in globals() if not name.startswith("_") and name not in _SUBMODULES),
    *(name for name in _LAZY if not name.startswith("_")),
]


def __getattr__(name: str) -> _Any:
    home = _LAZY.get(name) or _IN_KERNELS.get(name)
    if home is not None:
        value = getattr(_import_module(f".{home}", __name__), name)
        globals()[name] = value
        return value
    if name in _SUBMODULES:
        return _import_module(f".{name}", __name__)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_IN_KERNELS, *_SUBMODULES} - {"_import_module", "_Any"})
