"""Standard headers for NVRTC, which has none: the parts that kernels use.

printf, assert, malloc, free, memcpy, memset and all mathematical functions are built into NVRTC,
so their headers are empty.
"""

import re

from pygpu._src.drivers.declarations import typedefs

_STDINT = """\
#pragma once
#ifndef __cuda_std__
#ifndef PYGPU_STDINT
#define PYGPU_STDINT
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef signed char int_least8_t;
typedef short int_least16_t;
typedef int int_least32_t;
typedef long long int_least64_t;
typedef unsigned char uint_least8_t;
typedef unsigned short uint_least16_t;
typedef unsigned int uint_least32_t;
typedef unsigned long long uint_least64_t;
typedef signed char int_fast8_t;
typedef int int_fast16_t;
typedef int int_fast32_t;
typedef long long int_fast64_t;
typedef unsigned char uint_fast8_t;
typedef unsigned int uint_fast16_t;
typedef unsigned int uint_fast32_t;
typedef unsigned long long uint_fast64_t;
typedef long long intptr_t;
typedef unsigned long long uintptr_t;
typedef long long intmax_t;
typedef unsigned long long uintmax_t;
#define INT8_MIN (-128)
#define INT16_MIN (-32767 - 1)
#define INT32_MIN (-2147483647 - 1)
#define INT64_MIN (-9223372036854775807LL - 1)
#define INT8_MAX 127
#define INT16_MAX 32767
#define INT32_MAX 2147483647
#define INT64_MAX 9223372036854775807LL
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295U
#define UINT64_MAX 18446744073709551615ULL
#define SIZE_MAX UINT64_MAX
#define INTPTR_MAX INT64_MAX
#define UINTPTR_MAX UINT64_MAX
#define INT64_C(x) x##LL
#define UINT64_C(x) x##ULL
#define INT32_C(x) x
#define UINT32_C(x) x##U
#endif
#endif
"""

_LIMITS = """\
#pragma once
#ifndef CHAR_BIT
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN (-128)
#define CHAR_MAX 127
#define SHRT_MIN (-32767 - 1)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647 - 1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295U
#define LONG_MIN ((long)(sizeof(long) == 8 ? -9223372036854775807LL - 1 : -2147483647LL - 1))
#define LONG_MAX ((long)(sizeof(long) == 8 ? 9223372036854775807LL : 2147483647LL))
#define ULONG_MAX ((unsigned long)-1)
#define LLONG_MIN (-9223372036854775807LL - 1)
#define LLONG_MAX 9223372036854775807LL
#define ULLONG_MAX 18446744073709551615ULL
#endif
"""

_FLOAT = """\
#pragma once
#ifndef FLT_MAX
#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define DBL_MANT_DIG 53
#define FLT_DIG 6
#define DBL_DIG 15
#define FLT_MIN_EXP (-125)
#define DBL_MIN_EXP (-1021)
#define FLT_MAX_EXP 128
#define DBL_MAX_EXP 1024
#define FLT_MIN_10_EXP (-37)
#define DBL_MIN_10_EXP (-307)
#define FLT_MAX_10_EXP 38
#define DBL_MAX_10_EXP 308
#define FLT_MAX 3.402823466e+38F
#define DBL_MAX 1.7976931348623157e+308
#define FLT_EPSILON 1.192092896e-07F
#define DBL_EPSILON 2.2204460492503131e-16
#define FLT_MIN 1.175494351e-38F
#define DBL_MIN 2.2250738585072014e-308
#endif
"""

_MATH = """\
#pragma once
#ifndef M_PI
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#endif
#ifndef INFINITY
#define INFINITY (1.0f / 0.0f)
#endif
#ifndef NAN
#define NAN (0.0f / 0.0f)
#endif
#ifndef HUGE_VAL
#define HUGE_VAL (1.0 / 0.0)
#define HUGE_VALF (1.0f / 0.0f)
#endif
"""

# Types that nvcc's own headers take from the system's stdlib.h, math.h and sys/types.h.
_TYPES = {
    "unchar": "unsigned char",
    "ushort": "unsigned short",
    "uint": "unsigned int",
    "ulong": "unsigned long",
    "u_char": "unsigned char",
    "u_short": "unsigned short",
    "u_int": "unsigned int",
    "u_long": "unsigned long",
    "int8_t": "signed char",
    "int16_t": "short",
    "int32_t": "int",
    "int64_t": "long long",
    "uint8_t": "unsigned char",
    "uint16_t": "unsigned short",
    "uint32_t": "unsigned int",
    "u_int8_t": "unsigned char",
    "u_int16_t": "unsigned short",
    "u_int32_t": "unsigned int",
    "u_int64_t": "unsigned long long",
    "ssize_t": "long long",
    "time_t": "long long",
    "float_t": "float",
    "double_t": "double",
}
_MORE = """\
#define RAND_MAX 2147483647
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define MAXFLOAT 3.402823466e+38F
#define FP_NAN 0
#define FP_INFINITE 1
#define FP_ZERO 2
#define FP_SUBNORMAL 3
#define FP_NORMAL 4
"""
# Constants in a form that the simulator's compilers, g++ and clang, accept as constants.
_BUILTIN = {
    "(1.0f / 0.0f)": "(__builtin_inff())",
    "(0.0f / 0.0f)": '(__builtin_nanf(""))',
    "(1.0 / 0.0)": "(__builtin_huge_val())",
}
_EMPTY = "#pragma once\n"
_KNOWN = {*_TYPES, *re.findall(r"#define (\w+)", _MATH + _LIMITS + _MORE), "size_t"}
_OTHER = re.compile(
    r"\}\s*+(\w++)\s*+;|\busing\s++(\w++)|\b(\w++)\s*+(?:\[[^\[\]]*+\]\s*+)?=(?!=)"
    r"|\benum\b(?:(?!\benum\b)[^{};])*+\{([^{}]*+)\}"
)
_LINE = re.compile(r"^[ \t]*#[ \t]*(if|endif|define[ \t]+(\w+))", re.MULTILINE)


def _defined_names(source: str, types: dict[str, str]) -> set[str]:
    """Return the names that the source defines so that another definition would conflict."""
    own = {name for name, text in _typedefs(source) if types.get(name) not in (None, text)}
    for match in _OTHER.finditer(source):
        own.update(re.findall(r"\w+", match[4]) if match[4] else [match[1] or match[2] or match[3]])
    depth = 0
    for match in _LINE.finditer(source):
        if match[2] is None:
            depth += 1 if match[1] == "if" else -1
        elif depth <= 0:  # otherwise it may be local, or guarded by #ifndef
            own.add(match[2])
    return own


def _typedefs(source: str) -> list[tuple[str, str]]:
    found = []
    for text, name in typedefs(source):
        words = text.split()
        if len(words) > 1 and "char" not in words:  # signed long int and similar
            words = [word for word in words if word not in ("signed", "int")] or ["int"]
        found.append((name, " ".join(words)))
    return found


def prelude(source: str, simulated: bool) -> str:
    """Define names that nvcc knows without any include, but NVRTC does not: ``uint``, ``int32_t``,
    ``M_PI``, ``INT_MAX``, ``INFINITY`` and others, except those that the source defines itself.

    A name is defined if the source contains it, or includes a file of the user's: CUDA's own
    headers warn of macros that they also define. simulated: compile for the simulator's compiler,
    which has the system's int64_t and the shorter types.
    """
    words = None if '#include "' in source else set(re.findall(r"[A-Za-z]\w+", source))
    if words is not None and _KNOWN.isdisjoint(words):
        return _EMPTY
    types = dict(_TYPES)
    if simulated:
        types = {name: text.replace("long long", "long") for name, text in types.items()}
        for name in ("ushort", "uint", "ulong"):
            del types[name]
    own = _defined_names(source, types)

    def wanted(name: str) -> bool:
        return name not in own and (words is None or name in words)

    lines = [f"typedef {text} {name};" for name, text in types.items() if wanted(name)]
    for line in (_MATH + _LIMITS + _MORE).splitlines():
        if line.startswith("#define") and wanted(line.split()[1]):
            for expression, builtin in _BUILTIN.items() if simulated else ():
                line = line.replace(expression, builtin)
            lines.append(line)
    if "std::size_t" in source:
        lines.append("namespace std { using ::size_t; }")
    return "\n".join(("#pragma once", *lines, ""))


_CMATH = (
    "abs fabs sqrt cbrt exp exp2 expm1 log log2 log10 log1p pow hypot sin cos tan asin acos atan "
    "atan2 sinh cosh tanh asinh acosh atanh erf erfc tgamma lgamma ceil floor trunc round rint "
    "nearbyint fmod remainder fmin fmax fma fdim copysign ldexp frexp modf ilogb logb scalbn "
    "isnan isinf isfinite signbit"
)

# The C headers that C++ also has as <cNAME>, and the names that they add to std::.
_IN_STD = {
    "cstdint": "".join(
        f"using ::{sign}int{kind}{bits}_t;\n"
        for sign in ("", "u")
        for kind in ("", "_least", "_fast")
        for bits in (8, 16, 32, 64)
    )
    + "using ::intptr_t;\nusing ::uintptr_t;\nusing ::intmax_t;\nusing ::uintmax_t;\n",
    "cstddef": "using ::size_t;\n",
    "cmath": "".join(f"using ::{name};\n" for name in _CMATH.split()),
    "algorithm": "using ::min;\nusing ::max;\n",
}


def _headers() -> dict[str, str]:
    found = {
        "stdint.h": _STDINT,
        "inttypes.h": '#pragma once\n#include "stdint.h"\n',
        "limits.h": _LIMITS,
        "float.h": _FLOAT,
        "math.h": _MATH,
        "stdbool.h": _EMPTY,
    }
    for name in (
        "assert",
        "errno",
        "memory",
        "signal",
        "stdarg",
        "stddef",
        "stdio",
        "stdlib",
        "string",
        "time",
    ):
        found[name + ".h"] = _EMPTY
    for name in (
        *("cuda.h", "cuda_runtime.h", "cuda_runtime_api.h", "device_launch_parameters.h"),
        *("device_functions.h", "math_functions.h", "builtin_types.h", "vector_types.h"),
        *("sm_20_intrinsics.h", "sys/types.h", "iostream", "algorithm"),
    ):
        found[name] = _EMPTY
    for name in (
        "assert",
        "errno",
        "float",
        "limits",
        "math",
        "stddef",
        "stdint",
        "stdio",
        "stdlib",
        "string",
        "time",
    ):
        found["c" + name] = f'#pragma once\n#include "{name}.h"\n'
    for name, text in _IN_STD.items():
        found[name] += 'extern "C++" {\nnamespace std {\n' + text + "}\n}\n"
    return found


HEADERS = _headers()
