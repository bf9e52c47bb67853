"""The functions of pygpu/libraries/ against NVIDIA's headers, where a toolkit is installed: the
kind of every argument, and the numbers that are passed."""

from __future__ import annotations

import re

import pytest

from pygpu._src.array.routines import cusolver
from pygpu._src.runtime.libraries import cublas, cufft
from tests.contract.test_cuda_headers import _toolkit

HEADERS = {cublas: ("cublas_api.h",), cufft: ("cufft.h",), cusolver: ("cusolverDn.h",)}
POINTERS = ("cublasHandle_t", "cusolverDnHandle_t", "cudaStream_t")
NUMBERS = {
    "cublas_api.h": {"CUBLAS_COMPUTE_32F": 68, "CUBLAS_COMPUTE_64F": 70, "CUBLAS_OP_T": 1}
    | {name: number for number, name in cublas.STATUS.items()},
    "library_types.h": {"CUDA_R_16F": 2, "CUDA_R_32F": 0, "CUDA_R_64F": 1, "CUDA_C_32F": 4}
    | {"CUDA_C_64F": 5},
    "cufft.h": {"CUFFT_R2C": 0x2A, "CUFFT_C2R": 0x2C, "CUFFT_C2C": 0x29, "CUFFT_D2Z": 0x6A}
    | {"CUFFT_Z2D": 0x6C, "CUFFT_Z2Z": 0x69, "CUFFT_FORWARD": -1, "CUFFT_INVERSE": 1},
    "cusolver_common.h": {name: number for number, name in cusolver.STATUS.items()}
    | {"CUSOLVER_EIG_MODE_VECTOR": 1},
}


def kind(parameter: str) -> str:
    words = parameter.replace("const", " ").strip()
    if "*" in words or words.split()[0] in POINTERS:
        return "p"
    if words.startswith(("long long", "size_t", "int64_t")):
        return "l"
    if "char" in words:
        return "c"
    return {"float": "f", "double": "d"}.get(words.split()[0], "i")  # enumerations are ints


@pytest.mark.parametrize("module", HEADERS, ids=lambda m: m.__name__.rpartition(".")[2])
def test_argument_letters_match_the_prototypes(module):
    text = "".join((_toolkit() / file).read_text(errors="replace") for file in HEADERS[module])
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)
    for name, letters in module.FUNCTIONS.items():
        found = re.search(rf"\b{name}\s*\(([^)]*)\)\s*;", text)
        assert found is not None, f"{name} is in no header"
        assert "".join(kind(one) for one in found[1].split(",")) == letters, name


@pytest.mark.parametrize("header", NUMBERS)
def test_constants_equal_those_of_the_headers(header):
    text = (_toolkit() / header).read_text(errors="replace")
    for name, number in NUMBERS[header].items():
        found = re.search(rf"\b{name}\s*=?\s*(-?(?:0x[0-9a-fA-F]+|\d+))\b", text)
        assert found is not None, f"{name} is not in {header}"
        assert int(found[1], 0) == number, name
