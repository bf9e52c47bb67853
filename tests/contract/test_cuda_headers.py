"""The rows of src/cuda against the real cuda.h and nvrtc.h, where a toolkit is installed.

pygpu brings its own cu_api.h, cuda.fn, nvrtc.fn and .def tables, so that building it needs no
toolkit. Compared are every number, the size of every structure and the place of each of its
members, and the parameters of every function.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src/cuda/api"
PLACES = (os.environ.get("CUDA_HOME", ""), "/usr/local/cuda", "/usr/local/cuda-13.0", "/opt/cuda")

# Renamed by cuda.h 13, which offers their successors under the plain names.
SUCCEEDED = {"cuMemAdvise", "cuMemPrefetchAsync", "cuEventElapsedTime", "cuCtxCreate_v2"}

STRUCTURES = {
    "CUDA_MEMCPY2D": "srcXInBytes srcMemoryType srcHost srcDevice srcArray srcPitch dstXInBytes "
    "dstMemoryType dstHost dstDevice dstArray dstPitch WidthInBytes Height",
    "CUDA_MEMCPY3D": "srcXInBytes srcY srcZ srcLOD srcMemoryType srcHost srcDevice srcArray "
    "srcPitch srcHeight dstXInBytes dstLOD dstMemoryType dstHost dstDevice dstArray dstPitch "
    "dstHeight WidthInBytes Height Depth",
    "CUDA_MEMCPY3D_PEER": "srcXInBytes srcMemoryType srcArray srcContext srcPitch dstXInBytes "
    "dstContext dstPitch WidthInBytes Height Depth",
    "CUDA_ARRAY_DESCRIPTOR": "Width Height Format NumChannels",
    "CUDA_ARRAY3D_DESCRIPTOR": "Width Height Depth Format NumChannels Flags",
    "CUDA_RESOURCE_DESC": "resType res.array.hArray res.linear.devPtr res.linear.sizeInBytes "
    "res.pitch2D.width res.pitch2D.pitchInBytes flags",
    "CUDA_TEXTURE_DESC": "addressMode filterMode flags maxAnisotropy mipmapFilterMode "
    "mipmapLevelBias minMipmapLevelClamp maxMipmapLevelClamp borderColor",
    "CUDA_RESOURCE_VIEW_DESC": "format width height depth firstMipmapLevel lastLayer",
    "CUlaunchConfig": "gridDimX blockDimZ sharedMemBytes hStream attrs numAttrs",
    "CUlaunchAttribute": "id value",
    "CUmemLocation": "type id",
    "CUmemAccessDesc": "location flags",
    "CUmemPoolProps": "allocType handleTypes location win32SecurityAttributes",
    "CUgraphExecUpdateResultInfo": "result errorNode errorFromNode",
    "CUipcMemHandle": "",
    "CUipcEventHandle": "",
    "CUuuid": "",
}


def _toolkit() -> Path:
    for place in PLACES:
        if place and Path(place, "include", "cuda.h").is_file():
            return Path(place, "include")
    pytest.skip("no CUDA toolkit: there is no cuda.h")


@pytest.fixture(scope="module")
def include() -> Path:
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    return _toolkit()


def text_of(path: Path) -> str:
    return re.sub(r"/\*.*?\*/", "", path.read_text("utf-8", "replace"), flags=re.S)


def compile_and_run(tmp_path: Path, source: str, *folders: Path) -> str:
    (tmp_path / "check.c").write_text(source)
    command = ["cc", "-std=c11", *(f"-I{folder}" for folder in folders), "check.c", "-o", "check"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return subprocess.run(
        [str(tmp_path / "check")], capture_output=True, text=True, check=True
    ).stdout


def numbers() -> list[tuple[str, int]]:
    pattern = r"^ENUM\(\w+, \w+, (\d+), (\w+)\)$"
    found = [(name, int(n)) for n, name in re.findall(pattern, text_of(SOURCE / "enums.def"), re.M)]
    status = re.findall(r"^STATUS\((\w+), (\d+),", text_of(SOURCE / "status.def"), re.M)
    return found + [(f"CUDA_ERROR_{name}", int(n)) for name, n in status]


def test_constants_equal_those_of_the_headers(include: Path, tmp_path: Path):
    rows = numbers()
    assert len(rows) > 500
    known = text_of(include / "cuda.h") + text_of(include / "cudaProfiler.h")
    known_rows = [(name, n) for name, n in rows if re.search(rf"\b{name}\b", known)]
    # What CUDA 13 no longer names: the first architectures and a compute mode.
    gone = {name for name, _ in rows} - {name for name, _ in known_rows}
    assert all(name.startswith(("CU_TARGET_COMPUTE_", "CU_COMPUTEMODE_")) for name in gone), gone
    checks = "\n".join(f'_Static_assert({name} == {n}, "{name}");' for name, n in known_rows)
    source = (
        f"#include <cuda.h>\n#include <cudaProfiler.h>\n{checks}\nint main(void) {{ return 0; }}"
    )
    compile_and_run(tmp_path, source, include)


def test_structures(include: Path, tmp_path: Path):
    prints = []
    for name, members in STRUCTURES.items():
        prints.append(f'printf("{name} %zu\\n", sizeof({name}));')
        for member in members.split():
            prints.append(f'printf("{name}.{member} %zu\\n", offsetof({name}, {member}));')
    body = "int main(void) {\n" + "\n".join(prints) + "\nreturn 0;\n}\n"
    head = "#include <stdio.h>\n#include <stddef.h>\n"
    theirs = compile_and_run(tmp_path, f"{head}#include <cuda.h>\n{body}", include)
    ours = compile_and_run(
        tmp_path, f'{head}#include "cu_api.h"\n{body}', SOURCE, SOURCE.parents[1]
    )
    assert ours == theirs


def types_of(parameters: str) -> list[str]:
    """Types of a parameter list, without names."""
    found = []
    for parameter in parameters.split(","):
        words = re.findall(r"\w+|\*|\[\]", parameter)
        if len(words) > 1 and re.fullmatch(r"\w+", words[-1]) and words != ["unsigned", "int"]:
            words = words[:-1]
        found.append(" ".join(words))
    return found


def test_prototypes(include: Path):
    theirs: dict[str, list[list[str]]] = {}
    header = text_of(include / "cuda.h")
    for name, parameters in re.findall(r"CUresult\s+CUDAAPI\s+(\w+)\s*\(([^;]*?)\)\s*;", header):
        theirs.setdefault(name, []).append(types_of(parameters))
    pattern = r'^CU_(?:FN|OTHER)\((\d+), (\w+), "(\w+)",\s+\((.*?)\)\)$'
    rows = re.findall(pattern, text_of(SOURCE / "cuda.fn"), re.M | re.S)
    begun = re.findall(r"^CU_(?:FN|OTHER)\(", text_of(SOURCE / "cuda.fn"), re.M)
    assert len(rows) == len(begun) > 150
    for _, name, symbol, parameters in rows:
        assert symbol == name or re.fullmatch(rf"{name}_v\d", symbol), symbol
        known = theirs.get(name, []) + theirs.get(symbol, [])
        if symbol in SUCCEEDED or not known:
            continue
        assert types_of(parameters) in known, name


def test_nvrtc_prototypes(include: Path):
    header = text_of(include / "nvrtc.h")
    rows = re.findall(
        r"^NVRTC_(?:FN|OTHER)\(\d, (\w+),\s+\((.*?)\)\)$", text_of(SOURCE / "nvrtc.fn"), re.M | re.S
    )
    assert len(rows) > 10
    for name, parameters in rows:
        found = re.search(rf"nvrtcResult {name}\((.*?)\);", header, re.S)
        assert found is not None, name
        assert types_of(parameters) == types_of(found[1]), name


def test_symbols_are_exported_by_the_stub_library(include: Path):
    stubs = [include.parent / part / "stubs" / "libcuda.so" for part in ("lib64", "lib")]
    library = next((path for path in stubs if path.is_file()), None)
    nm = shutil.which("nm")
    if library is None or nm is None:
        pytest.skip("no stub libcuda.so, or no nm")
    listed = subprocess.run([nm, "-D", library], capture_output=True, text=True, check=True).stdout
    symbols = set(re.findall(r" T (\w+)", listed))
    rows = re.findall(r'^CU_(?:FN|OTHER)\(\d+, \w+, "(\w+)"', text_of(SOURCE / "cuda.fn"), re.M)
    assert set(rows) <= symbols
