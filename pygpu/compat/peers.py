"""Tables of names of the packages that pygpu stands in for: all that is specific to one of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["PEERS", "Peer"]


@dataclass(frozen=True)
class Peer:
    """One package and what its names are called in pygpu. Module names are without the package."""

    name: str
    target: str  # the package of pygpu whose modules of the same names take its place, or ""
    version: tuple[int, int, int]  # whose interface is kept
    modules: frozenset[str]  # all that it has, to tell "not yet" from "no such module"
    # Modules of other names: pygpu's modules that are searched for an attribute, in this order.
    # "" is the package itself.
    elsewhere: dict[str, tuple[str, ...]] = field(default_factory=dict)
    # Modules that are one of pygpu's under another name: programs assign to their attributes.
    same: dict[str, str] = field(default_factory=dict)
    # Attributes of other names: (module, attribute) -> (pygpu's module, attribute).
    renamed: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    # Attributes that are simply values.
    values: dict[tuple[str, str], Any] = field(default_factory=dict)

    @property
    def version_text(self) -> str:
        return ".".join(map(str, self.version))


def _pyopencl() -> Peer:
    version = (2026, 1, 4)
    text = ".".join(map(str, version))
    values: dict[tuple[str, str], Any] = {("", "__version__"): text}
    for module in ("", "version"):
        values[module, "VERSION"] = version
        values[module, "VERSION_STATUS"] = ""
        values[module, "VERSION_TEXT"] = text
    # Arguments that generated invokers pass as numbers, instead of bytes.
    values["invoker", "BUF_PACK_TYPECHARS"] = list("cbBhHiIlLfd")
    return Peer(
        name="pyopencl",
        target="pygpu",
        version=version,
        modules=frozenset(
            "_cl _cluda _mymako algorithm array bitonic_sort bitonic_sort_templates cache "
            "capture_call characterize characterize.performance clmath clrandom cltypes compyte "
            "compyte.array compyte.dtypes elementwise invoker ipython_ext reduction scan tools "
            "typing version".split()
        ),
        elsewhere={
            "": ("pygpu", "pygpu.compat.names"),
            "_cl": ("pygpu._opencl", "pygpu", "pygpu.tools", "pygpu.compat.names"),
            "array": ("pygpu.compat.opencl_array", "pygpu.array"),
            "_cluda": (),
            "_mymako": ("pygpu.compat.mymako",),
            "algorithm": ("pygpu.algorithm", "pygpu.scan", "pygpu.tools"),
            "bitonic_sort": ("pygpu.bitonic_sort", "pygpu.dtypes"),
            "reduction": ("pygpu.reduction", "pygpu._src.user_kernels.arguments", "pygpu.tools"),
            "scan": ("pygpu.scan", "pygpu.tools"),
            "clrandom": ("pygpu.compat.opencl_clrandom", "pygpu.clrandom"),
            # VectorArg and others
            "elementwise": (
                "pygpu.elementwise",
                "pygpu._src.user_kernels.arguments",
                "pygpu.tools",
            ),
            "invoker": ("pygpu._src.user_kernels.arguments",),
            "compyte": (),
            "compyte.array": ("pygpu.compat.compyte_array",),
            "compyte.dtypes": ("pygpu.dtypes", "pygpu.tools"),
            "version": (),
        },
        renamed={
            ("_cl", "_Program"): ("pygpu", "Program"),
            ("_cluda", "CLUDA_PREAMBLE"): ("pygpu._src.user_kernels.cluda", "OPENCL_PREAMBLE"),
            ("scan", "CLUDA_PREAMBLE"): ("pygpu._src.user_kernels.cluda", "OPENCL_PREAMBLE"),
            # Defaults that mean "not given" in their functions.
            ("array", "_NoValue"): ("pygpu._src.array.routines.pyopencl_names", "_NoValue"),
            ("array", "_copy_queue"): ("pygpu.array", "_SAME"),
            ("array", "_same_as_transfer"): ("pygpu.array", "_SAME"),
            ("clrandom", "_get_generator"): ("pygpu.clrandom", "_generator_of"),
            ("clrandom", "Random123GeneratorBase"): ("pygpu.clrandom", "_CounterGenerator"),
        },
        values=values,
    )


def _pycuda() -> Peer:
    version = (2026, 1, 0)
    text = "2026.1"
    values: dict[tuple[str, str], Any] = {
        ("", "VERSION"): version[:2],
        ("", "VERSION_STATUS"): "",
        ("", "VERSION_TEXT"): text,
        ("", "__version__"): text,
    }
    return Peer(
        name="pycuda",
        target="pygpu.cuda",
        version=version,
        modules=frozenset(
            "_cluda _driver _mymako _pvt_struct autoinit autoprimaryctx characterize compiler "
            "compyte compyte.array compyte.dtypes cumath curandom debug driver elementwise gl "
            "gl.autoinit gpuarray reduction scan sparse sparse.cg sparse.coordinate sparse.inner "
            "sparse.operator sparse.packeted sparse.pkt_build tools".split()
        ),
        elsewhere={
            "": ("pygpu.cuda",),
            "_driver": ("pygpu.cuda.driver",),
            "_cluda": (),
            "_mymako": ("pygpu.compat.mymako",),
            "gpuarray": ("pygpu.compat.cuda_gpuarray", "pygpu.cuda.gpuarray"),
            "curandom": ("pygpu.compat.cuda_curandom", "pygpu.cuda.curandom"),
            "autoinit": ("pygpu.cuda.autoinit", "pygpu.cuda.tools"),
            "autoprimaryctx": ("pygpu.cuda.autoprimaryctx", "pygpu.cuda.tools"),
            "cumath": ("pygpu.cuda.cumath", "pygpu.cuda.driver"),
            "elementwise": ("pygpu.cuda.elementwise", "pygpu.cuda.dtypes", "pygpu.cuda.tools"),
            "reduction": ("pygpu.cuda.reduction", "pygpu.cuda.dtypes", "pygpu.cuda.tools"),
            "scan": ("pygpu.cuda.scan", "pygpu.cuda.dtypes", "pygpu.cuda.compiler"),
            "_pvt_struct": ("struct",),
            "compyte": (),
            "compyte.array": ("pygpu.compat.compyte_array",),
            "compyte.dtypes": ("pygpu.cuda.dtypes", "pygpu.dtypes"),
        },
        renamed={
            ("_cluda", "CLUDA_PREAMBLE"): ("pygpu._src.user_kernels.cluda", "CUDA_PREAMBLE"),
            ("scan", "CLUDA_PREAMBLE"): ("pygpu._src.user_kernels.cluda", "CUDA_PREAMBLE"),
        },
        values=values,
    )


_NUMBA_MODULES = (
    "config core core.config core.errors core.types cuda cuda.api cuda.args cuda.bf16 cuda.cg "
    "cuda.compiler cuda.config cuda.core cuda.core.config cuda.cudadrv "
    "cuda.cudadrv.devicearray cuda.cudadrv.devices cuda.cudadrv.driver "
    "cuda.cudadrv.drvapi cuda.cudadrv.enums cuda.cudadrv.error cuda.cudadrv.libs "
    "cuda.cudadrv.nvvm cuda.cudadrv.runtime cuda.devicearray cuda.devices cuda.driver "
    "cuda.errors cuda.extending cuda.fp16 cuda.libdevice cuda.random cuda.runtime "
    "cuda.core.errors cuda.core.types cuda.kernels cuda.kernels.reduction "
    "cuda.kernels.transpose cuda.misc cuda.misc.special cuda.np cuda.np.numpy_support "
    "cuda.testing cuda.typing cuda.typing.typeof cuda.vector_types misc misc.special "
    "cuda.types errors experimental extending np np.numpy_support np.types np.ufunc "
    "np.ufunc.vectorize parfors stencils typed types"
)


def _numba_places() -> dict[str, tuple[str, ...]]:
    """Where Numba's modules find their names."""
    names = ("pygpu.compat.numba",)
    numba_driver = ("pygpu.compat.numba_driver",)
    return {
        "": names,
        "types": names,
        "errors": ("pygpu.compat.numba_errors",),
        "core": names,
        "core.errors": ("pygpu.compat.numba_errors",),
        "core.types": names,
        "cuda": ("pygpu.compat.numba_cuda", "pygpu.cuda", "pygpu.compat.numba_types"),
        "cuda.api": ("pygpu.compat.numba_arrays", "pygpu.cuda"),
        "cuda.args": ("pygpu._src.jit.decorators.arguments",),
        "cuda.bf16": ("pygpu.cuda.bf16",),
        "cuda.cg": ("pygpu.cuda.cg",),
        "cuda.core": names,
        "cuda.core.errors": ("pygpu.compat.numba_errors",),
        "cuda.core.types": names,
        "cuda.kernels": (),
        "cuda.kernels.reduction": ("pygpu._src.jit.decorators.cuda_reduce",),
        "cuda.kernels.transpose": ("pygpu.compat.numba_transpose",),
        "cuda.misc": (),
        "cuda.misc.special": names,
        "cuda.np": (),
        "cuda.np.numpy_support": names,
        "cuda.testing": ("pygpu.compat.numba_testing",),
        "cuda.typing": names,
        "cuda.typing.typeof": names,
        "cuda.vector_types": ("pygpu._src.jit.calls.vectors",),
        "misc": (),
        "misc.special": names,
        "cuda.cudadrv": (),
        "cuda.cudadrv.devicearray": numba_driver,
        "cuda.cudadrv.devices": numba_driver,
        "cuda.cudadrv.driver": numba_driver,
        "cuda.cudadrv.error": numba_driver,
        "cuda.cudadrv.nvvm": numba_driver,
        "cuda.cudadrv.runtime": numba_driver,
        "cuda.devicearray": numba_driver,
        "cuda.devices": numba_driver,
        "cuda.driver": numba_driver,
        "cuda.errors": ("pygpu.compat.numba_errors",),
        "cuda.fp16": ("pygpu.cuda.fp16",),
        "cuda.libdevice": ("pygpu.cuda.libdevice",),
        "cuda.runtime": numba_driver,
        "cuda.random": ("pygpu.cuda.random",),
        "cuda.types": names,
        "np": (),
        "np.numpy_support": names,
    }


def _numba() -> Peer:
    version = (0, 61, 2)
    text = ".".join(map(str, version))
    values: dict[tuple[str, str], Any] = {
        ("", "__version__"): text,
        ("", "version_info"): version,
    }
    return Peer(
        name="numba",
        target="",
        version=version,
        modules=frozenset(_NUMBA_MODULES.split()),
        elsewhere=_numba_places(),
        same=dict.fromkeys(
            ["config", "core.config", "cuda.config", "cuda.core.config"],
            "pygpu.compat.numba_config",
        ),
        values=values,
    )


PEERS: dict[str, Peer] = {peer.name: peer for peer in [_pyopencl(), _pycuda(), _numba()]}
