"""Python functions as kernels run on both backends; the fixtures are those of the arrays."""

import ctypes
import ctypes.util
from pathlib import Path
from typing import Any

import pytest
from array_fixtures import Maker, cuda_context, make, opencl_maker  # noqa: F401


@pytest.fixture(scope="session")
def nvrtc() -> Any:
    """Compiles a text of the common language by NVIDIA's compiler for sm_90."""
    from pygpu._src.runtime.cuda import nvrtc as ours

    library: Any = None
    names = [ctypes.util.find_library("nvrtc"), "libnvrtc.so.13", "libnvrtc.so.12"]
    for folder in ours._library_folders():
        names += sorted(map(str, Path(folder).glob("libnvrtc.so.1[23]")))
    for name in filter(None, names):
        try:
            library = ctypes.CDLL(name)
            break
        except OSError:
            continue
    if library is None:
        pytest.skip("NVRTC (the package nvidia-cuda-nvrtc, or a toolkit) is not installed")
    bases = [*ours._pip_folders(), *ours._toolkits(), "/usr"]
    folders = [f"{base}/include" for base in bases]
    folders = [f for f in folders if (Path(f) / "cuda_fp16.h").exists()][:1]
    if not folders:
        pytest.skip("cuda_fp16.h (the package nvidia-cuda-runtime, or a toolkit) is not installed")

    def run(backend: Any, text: str) -> None:
        features = {"complex", "atomics", "half"}
        source = backend.dialect.prefix(features) + text
        options = ["--gpu-architecture=sm_90", *(f"-I{f}" for f in folders)]
        program = ctypes.c_void_p()
        words = (ctypes.c_char_p * len(options))(*(o.encode() for o in options))
        library.nvrtcCreateProgram(
            ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None
        )
        status = library.nvrtcCompileProgram(program, len(options), words)
        size = ctypes.c_size_t()
        library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        library.nvrtcGetProgramLog(program, log)
        library.nvrtcDestroyProgram(ctypes.byref(program))
        assert status == 0, log.value.decode() + "\n" + text

    return run
