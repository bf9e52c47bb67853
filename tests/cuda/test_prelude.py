"""Names that nvcc knows without any include, as kernels that were written for it use them."""

from __future__ import annotations

import numpy as np
import pytest

from pygpu._src.runtime.cuda.nvrtc_headers import prelude
from pygpu.cuda import driver
from pygpu.cuda.compiler import SourceModule

LIMITS = {
    "INT_MAX": 2**31 - 1,
    "INT_MIN": -(2**31),
    "UINT_MAX": 2**32 - 1,
    "LLONG_MAX": 2**63 - 1,
    "LLONG_MIN": -(2**63),
    "LONG_MAX": 2**63 - 1,
    "SHRT_MIN": -(2**15),
    "USHRT_MAX": 2**16 - 1,
    "CHAR_BIT": 8,
    "CHAR_MIN": -128,
    "RAND_MAX": 2**31 - 1,
    "EXIT_FAILURE": 1,
    "sizeof(int8_t)": 1,
    "sizeof(u_int16_t)": 2,
    "sizeof(int32_t)": 4,
    "sizeof(uint32_t)": 4,
    "sizeof(int64_t)": 8,
    "sizeof(ssize_t)": 8,
    "sizeof(std::size_t)": 8,
    "sizeof(float_t)": 4,
    "sizeof(double_t)": 8,
    "(int64_t)(uint8_t)-1": 255,
    "(int64_t)(u_char)-1": 255,
}
NUMBERS = {
    "M_PI": np.pi,
    "M_E": np.e,
    "M_SQRT1_2": 0.5**0.5,
    "INFINITY": np.inf,
    "-HUGE_VAL": -np.inf,
    "HUGE_VALF": np.inf,
    "NAN": np.nan,
    "kept[0]": -np.inf,
}


def run(source, *arrays):
    SourceModule(source).get_function("k")(*map(driver.Out, arrays), block=(1, 1, 1))


def test_names_without_an_include(context):
    whole, real = np.zeros(len(LIMITS), np.int64), np.zeros(len(NUMBERS))
    lines = [f"whole[{k}] = {name};" for k, name in enumerate(LIMITS)]
    lines += [f"real[{k}] = {name};" for k, name in enumerate(NUMBERS)]
    text = (
        "__device__ float kept[2] = {-INFINITY, NAN};\n"
        "__global__ void k(int64_t *whole, double *real) {" + "\n".join(lines) + "}"
    )
    for include in ("", "#include <stdint.h>\n#include <math.h>\n#include <limits.h>\n"):
        whole[:], real[:] = 0, 0
        run(include + text, whole, real)
        assert dict(zip(LIMITS, whole.tolist(), strict=True)) == LIMITS
        assert np.array_equal(real, list(NUMBERS.values()), equal_nan=True)


def test_definitions_of_the_program_win(context):
    result = np.zeros(6)
    with_own = """
    #define M_PI 3
    #ifndef M_E
    #define M_E 2
    #endif
    #ifdef SOMETHING_ELSE
    #define INT_MAX 5
    typedef int int32_t;
    #endif
    typedef struct { int x; } ssize_t;
    enum { SHRT_MAX = 7, LONG_MAX };
    static const int RAND_MAX = 11;
    __device__ const double NAN[2] = {13, 17};
    __global__ void k(double *result) {
        ssize_t s = {19};
        int32_t five = 5;
        result[0] = M_PI; result[1] = M_E; result[2] = INT_MAX - five; result[3] = s.x;
        result[4] = SHRT_MAX + LONG_MAX + RAND_MAX; result[5] = NAN[1];
    }"""
    run(with_own, result)
    assert np.allclose(result, [3, np.e, 2.0**31 - 6, 19, 7 + 8 + 11, 17])


@pytest.mark.parametrize("simulated", [False, True])
def test_only_what_is_used(simulated):
    assert prelude("__global__ void k(float *x) {}", simulated).split() == ["#pragma", "once"]
    text = prelude("int64_t x = INT_MAX;", simulated)
    assert "int64_t;" in text and "#define INT_MAX 2147483647" in text and "M_PI" not in text
    assert "#define M_PI 3.14" in prelude('#include "mine.h"', simulated)
    wide = "long" if simulated else "long long"
    assert f"typedef {wide} int64_t;" in text
    assert f"{wide} int64_t" in prelude(f"typedef signed {wide} int int64_t;", simulated)
    assert "int64_t" not in prelude("typedef short int64_t;", simulated)
