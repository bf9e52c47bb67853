"""One kernel source, two languages.

A generated kernel is written once, with the names below, and compiles as OpenCL C 1.2 and as CUDA
C++ after the prefix of the backend's dialect. Every name begins with PG_ or pg_, so nothing
collides with a user's snippet in the same source.

===========================  =====================================================================
PG_KERNEL                    before ``void name(...)``: an entry point
PG_INLINE                    before a function of the file
PG_FUNCTION                  before one that is inlined if the compiler chooses to
PG_NOINLINE                  before a long one, where there are many
PG_UNUSED                    before a local variable: compilers do not warn if it is unused
PG_GLOBAL, PG_LOCAL,         address spaces of pointers; PG_LOCAL also declares an array in a kernel's
PG_CONSTANT                  outermost scope, of constant size: ``PG_LOCAL pg_f32 sums[256];``
PG_LOCAL_PTR                 the address space of a pointer parameter to such an array
PG_RESTRICT                  after the ``*`` of a pointer
PG_TABLE                     before a constant array of the file: ``PG_TABLE pg_i32 t[] = {1, 2};``
PG_ARRAY(type, x)            two parameters of a kernel: an array's memory and its offset in bytes
PG_ARRAY_IN(type, x)         the same, for arrays that are only read
PG_START(type, x)            statement in the kernel: declares the pointer ``x``
PG_START_IN(type, x)         the same for PG_ARRAY_IN
PG_GROUP_ID(d), PG_GROUPS(d) this work-group and their number, in dimension 0 to 2
PG_LOCAL_ID(d), PG_SIZE(d)   this work-item in its group, and the group's size; all four are pg_u32
PG_ID(d), PG_IDS(d)          this work-item and how many there are, in all groups: pg_i64
PG_BARRIER                   wait for the whole group; local memory is consistent
PG_BARRIER_GLOBAL            and global memory, within the group
PG_FENCE, PG_FENCE_GROUP,
PG_FENCE_SYSTEM              order this work-item's accesses to memory, for those of the device, of
                             its group, and for the host as well
PG_FOR(i, n) { ... }         all pg_i64 i from 0 to n - 1, distributed over the work-items of all
                             groups: a stretch each on a CPU, in steps of all work-items elsewhere
PG_UNROLL                    before a loop of constant length
PG_ROLLED                    before a loop that rarely runs, or is not worth the compiler's time
PG_INDEPENDENT               before a loop or PG_FOR whose iterations do not read what others write
PG_VECTOR(type, n)           the type of n items (2, 4, 8, 16) as one aligned piece of memory, member
                             ``item[n]``; declared once by PG_DECLARE_VECTOR(type, n) in the file
PG_ALIGNED(pointer, bytes)   whether an address is a multiple
PG_PAST(pointer, bytes)      how far an address is past a multiple (a power of two)
PG_NAN_F32, PG_INF_F32, ...  and F64
pg_i8 ... pg_u64, pg_f32, pg_f64
                             numbers; pg_b8 is a bool in memory (0 or 1), pg_f16 the bits of a half,
                             pg_f16b, pg_f8e4m3, pg_f8e5m2 those of bfloat16 and of float8 types
pg_c64, pg_c128              complex numbers: members re, im; functions in prelude/complex.py
pg_from_f16(bits), pg_to_f16(x), pg_to_f16d(x)
                             a half as float; a float or double rounded once to a half
pg_from_f16b(bits), pg_to_f16b(x), ...
                             the same for the other narrow floats, of a float
pg_atomic_add_i32(p, x), ... see ATOMICS
===========================  =====================================================================

Mathematical functions have the names that both languages share (sin, exp, fmod, rint, ...) and take
float or double; an int argument must be converted first. Literals of float end in f. Divisions and
square roots are rounded correctly, nothing is contracted to a fused multiply-add in sources that are
compiled with :attr:`Dialect.exact`, and no unsafe optimization is on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from .prelude.atomics import CUDA_ATOMICS, OPENCL_ATOMICS, needs_loops
from .prelude.calendar import date_functions
from .prelude.complex import complex_functions, used_complex_functions
from .prelude.narrow_floats import FORMATS, narrow_functions
from .prelude.warp import CUDA_WARPS, OPENCL_WARPS

if TYPE_CHECKING:
    from pygpu._src.runtime.backend import Limits

_COMMON = """\
typedef struct PG_ALIGN(8) { pg_f32 re, im; } pg_c64;
#ifdef PG_FP64
typedef struct PG_ALIGN(16) { pg_f64 re, im; } pg_c128;
#endif
#define PG_PASTE2(a, b) a##b
#define PG_PASTE(a, b) PG_PASTE2(a, b)
#define PG_ARRAY(type, x) PG_GLOBAL type *PG_PASTE(x, _base), pg_i64 PG_PASTE(x, _offset)
#define PG_ARRAY_IN(type, x) PG_GLOBAL const type *PG_PASTE(x, _base), pg_i64 PG_PASTE(x, _offset)
#define PG_START(type, x) \\
    PG_UNUSED PG_GLOBAL type *x = (PG_GLOBAL type *)((PG_GLOBAL char *)PG_PASTE(x, _base) + PG_PASTE(x, _offset))
#define PG_START_IN(type, x) \\
    PG_UNUSED PG_GLOBAL const type *x = \\
        (PG_GLOBAL const type *)((PG_GLOBAL const char *)PG_PASTE(x, _base) + PG_PASTE(x, _offset))
#define PG_PASTE3(a, b, c) a##b##_##c
#define PG_VECTOR_(type, n) PG_PASTE3(pg_vector, n, type)
#define PG_VECTOR(type, n) PG_VECTOR_(type, n)
#define PG_DECLARE_VECTOR(type, n) \\
    typedef struct PG_ALIGN(sizeof(type) * n) { type item[n]; } PG_VECTOR(type, n);
#if defined(PG_CPU) && defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed" /* not every loop can be vectorized */
#define PG_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define PG_INDEPENDENT
#endif
#ifdef PG_CPU
#define PG_FOR(i, n) \\
    for (pg_i64 PG_PASTE(i, _each) = ((n) + PG_IDS(0) - 1) / PG_IDS(0), \\
         i = PG_ID(0) * PG_PASTE(i, _each), \\
         PG_PASTE(i, _end) = i + PG_PASTE(i, _each) < (n) ? i + PG_PASTE(i, _each) : (n); \\
         i < PG_PASTE(i, _end); i++)
#else
#define PG_FOR(i, n) for (pg_i64 i = PG_ID(0), PG_PASTE(i, _step) = PG_IDS(0); i < (n); i += PG_PASTE(i, _step))
#endif
"""

_OPENCL = """\
#ifdef PG_FP64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define pg_f64 double
#define PG_NAN_F64 ((double)NAN)
#define PG_INF_F64 ((double)INFINITY)
#endif
#define pg_b8 uchar
#define pg_i8 char
#define pg_u8 uchar
#define pg_i16 short
#define pg_u16 ushort
#define pg_i32 int
#define pg_u32 uint
#define pg_i64 long
#define pg_u64 ulong
#define pg_f16 ushort
#define pg_f16b ushort
#define pg_f8e4m3 uchar
#define pg_f8e5m2 uchar
#define pg_f32 float
#define PG_NAN_F32 NAN
#define PG_INF_F32 INFINITY
#define PG_KERNEL __kernel
#define PG_INLINE static inline
#define PG_FUNCTION static
#define PG_NOINLINE static
#define PG_UNUSED
#define PG_GLOBAL __global
#define PG_LOCAL __local
#define PG_LOCAL_PTR __local
#define PG_CONSTANT __constant
#define PG_RESTRICT restrict
#define PG_TABLE __constant
#define PG_ALIGN(n) __attribute__((aligned(n)))
#define PG_GROUP_ID(d) ((pg_u32)get_group_id(d))
#define PG_GROUPS(d) ((pg_u32)get_num_groups(d))
#define PG_LOCAL_ID(d) ((pg_u32)get_local_id(d))
#define PG_SIZE(d) ((pg_u32)get_local_size(d))
#define PG_ID(d) ((pg_i64)get_global_id(d))
#define PG_IDS(d) ((pg_i64)get_global_size(d))
#define PG_BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define PG_BARRIER_GLOBAL barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define PG_FENCE mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define PG_FENCE_GROUP PG_FENCE
#define PG_FENCE_SYSTEM PG_FENCE
#define PG_UNROLL _Pragma("unroll")
#define PG_ROLLED _Pragma("unroll 1")
#define PG_PAST(p, bytes) ((ulong)(p) & ((bytes) - 1))
#define PG_ALIGNED(p, bytes) (PG_PAST(p, bytes) == 0)
#define PG_LOAD_F16(p) vload_half(0, (PG_GLOBAL const half *)(p))
#define PG_STORE_F16(p, x) vstore_half_rte((float)(x), 0, (PG_GLOBAL half *)(p))
#define PG_STORE_F16D(p, x) vstore_half_rte((double)(x), 0, (PG_GLOBAL half *)(p))
PG_INLINE float pg_from_f16(ushort bits) { return vload_half(0, (const half *)&bits); }
PG_INLINE ushort pg_to_f16(float x) { ushort bits; vstore_half_rte(x, 0, (half *)&bits); return bits; }
#ifdef PG_FP64
PG_INLINE ushort pg_to_f16d(double x) { ushort bits; vstore_half_rte(x, 0, (half *)&bits); return bits; }
#endif
#define PG_BITS_F32(x) as_uint(x)
#define PG_FROM_BITS_F32(x) as_float(x)
#define PG_BITS_F64(x) as_ulong(x)
#define PG_FROM_BITS_F64(x) as_double(x)
"""

_CUDA = """\
typedef unsigned char pg_b8;
typedef signed char pg_i8;
typedef unsigned char pg_u8;
typedef short pg_i16;
typedef unsigned short pg_u16;
typedef int pg_i32;
typedef unsigned int pg_u32;
typedef long long pg_i64;
typedef unsigned long long pg_u64;
typedef unsigned short pg_f16;
typedef unsigned short pg_f16b;
typedef unsigned char pg_f8e4m3;
typedef unsigned char pg_f8e5m2;
typedef float pg_f32;
typedef double pg_f64;
#define PG_NAN_F32 __int_as_float(0x7fc00000)
#define PG_INF_F32 __int_as_float(0x7f800000)
#define PG_NAN_F64 __longlong_as_double(0x7ff8000000000000LL)
#define PG_INF_F64 __longlong_as_double(0x7ff0000000000000LL)
#define PG_KERNEL extern "C" __global__
#define PG_INLINE __attribute__((unused)) static __device__ __forceinline__
#define PG_FUNCTION __attribute__((unused)) static __device__
#define PG_NOINLINE PG_FUNCTION __noinline__
#define PG_UNUSED __attribute__((unused))
#define PG_GLOBAL
#define PG_LOCAL __shared__
#define PG_LOCAL_PTR
#define PG_CONSTANT const
#define PG_RESTRICT __restrict__
#define PG_TABLE static __device__ const
#define PG_ALIGN(n) __align__(n)
#define PG_OF(d, v) ((d) == 0 ? v.x : (d) == 1 ? v.y : v.z)
#define PG_GROUP_ID(d) PG_OF(d, blockIdx)
#define PG_GROUPS(d) PG_OF(d, gridDim)
#define PG_LOCAL_ID(d) PG_OF(d, threadIdx)
#define PG_SIZE(d) PG_OF(d, blockDim)
#define PG_ID(d) ((pg_i64)PG_GROUP_ID(d) * PG_SIZE(d) + PG_LOCAL_ID(d))
#define PG_IDS(d) ((pg_i64)PG_GROUPS(d) * PG_SIZE(d))
#define PG_BARRIER __syncthreads()
#define PG_BARRIER_GLOBAL __syncthreads()
#define PG_FENCE __threadfence()
#define PG_FENCE_GROUP __threadfence_block()
#define PG_FENCE_SYSTEM __threadfence_system()
#define PG_UNROLL _Pragma("unroll")
#define PG_ROLLED _Pragma("unroll 1")
#define PG_PAST(p, bytes) ((unsigned long long)(p) & ((bytes) - 1))
#define PG_ALIGNED(p, bytes) (PG_PAST(p, bytes) == 0)
#define PG_BITS_F32(x) ((pg_u32)__float_as_int(x))
#define PG_FROM_BITS_F32(x) __int_as_float((int)(x))
#define PG_BITS_F64(x) ((pg_u64)__double_as_longlong(x))
#define PG_FROM_BITS_F64(x) __longlong_as_double((long long)(x))
"""
_CUDA_TYPEDEFS = "".join(
    line for line in _CUDA.splitlines(True) if line.startswith("typedef ") and "{" not in line
)

# Conversions to half give every NaN the same bits: its sign is added.
_CUDA_HALF = """
PG_INLINE pg_u16 pg_to_f16(pg_f32 x)
{
    return (pg_u16)(__half_as_ushort(__float2half_rn(x)) | (PG_BITS_F32(x) >> 16 & 0x8000u));
}
PG_INLINE pg_u16 pg_to_f16d(pg_f64 x)
{
    return (pg_u16)(__half_as_ushort(__double2half(x)) | (PG_BITS_F64(x) >> 48 & 0x8000u));
}
#define pg_from_f16(bits) __half2float(__ushort_as_half(bits))
#define PG_LOAD_F16(p) __half2float(__ushort_as_half(*(const pg_f16 *)(p)))
#define PG_STORE_F16(p, x) (*(pg_f16 *)(p) = pg_to_f16((float)(x)))
#define PG_STORE_F16D(p, x) (*(pg_f16 *)(p) = pg_to_f16d((double)(x)))
"""


_ATOMICS_BUT_LOOPS = "atomics but loops"
_FEATURES = frozenset(
    {"half", "complex", "dates", "atomics", _ATOMICS_BUT_LOOPS, "warps", *FORMATS}
)


class Dialect:
    """A backend's language.

    exact: compiler options with which each operation is rounded separately, as in NumPy. quick:
    options that make compilation faster. quiet: options for kernels without a user's text, whose
    warnings are of no use to the user.
    """

    name: str
    exact: tuple[str, ...]
    quick: tuple[str, ...] = ()
    quiet: tuple[str, ...] = ()

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._prefixes: dict[frozenset[str], str] = {}

    def prefix(self, features: Iterable[str] = ()) -> str:
        """Return the text that precedes a kernel's own.

        features: "half" for float16 items in memory, "f16b", "f8e4m3", "f8e5m2" for those of
        bfloat16, float8_e4m3fn and float8_e5m2, "complex" for complex functions
        (prelude/complex.py), "dates" for the functions of dates, "atomics" for pg_atomic_*,
        "warps" for the functions of prelude/warp.py.
        """
        key = frozenset(features)
        text = self._prefixes.get(key)
        if text is None:
            unknown = key - _FEATURES
            if unknown:
                raise ValueError(f"Dialect.prefix: unknown features {sorted(unknown)}")
            text = self._prefixes.setdefault(key, self._make_prefix(key))
        return text

    def source(self, text: str, features: Iterable[str] = ()) -> str:
        """Return a complete source: the prefix, less the atomic functions that are loops if the
        text uses none of them, the complex functions that the text uses, and the text."""
        wanted = set(features)
        if "atomics" in wanted and not needs_loops(text):
            wanted.remove("atomics")
            wanted.add(_ATOMICS_BUT_LOOPS)
        if "complex" not in wanted:
            return self.prefix(wanted) + text
        wanted.remove("complex")
        return self.prefix(wanted) + used_complex_functions(text, self.limits.fp64) + text

    def prefix_of(self, source: str) -> str | None:
        """Return the prefix with which a source begins, None if it does not begin with one of this
        dialect's."""
        found = [text for text in self._prefixes.values() if source.startswith(text)]
        return max(found, key=len) if found else None

    def _make_prefix(self, features: frozenset[str]) -> str:
        raise NotImplementedError

    def _feature_functions(
        self, features: frozenset[str], atomics: tuple[str, str], warps: str
    ) -> str:
        text = _COMMON + narrow_functions(features)
        if "warps" in features:
            text += warps
        if "atomics" in features:
            text += "".join(atomics)
        elif _ATOMICS_BUT_LOOPS in features:
            text += atomics[0]
        if "dates" in features:
            text += date_functions(self.limits.fp64)
        if "complex" in features:
            text += complex_functions("c64")
            if self.limits.fp64:
                text += complex_functions("c128")
        return text


class OpenCLDialect(Dialect):
    """OpenCL C 1.2."""

    name = "opencl"
    exact = ()  # by a pragma, see _make_prefix
    quiet = ("-w",)

    def _make_prefix(self, features: frozenset[str]) -> str:
        lines = ["#pragma OPENCL FP_CONTRACT OFF"]
        if self.limits.fp64:
            lines.append("#define PG_FP64 1")
        if self.limits.is_cpu:
            lines.append("#define PG_CPU 1")
        if self.limits.int64_atomics and features & {"atomics", _ATOMICS_BUT_LOOPS}:
            lines.append("#define PG_INT64_ATOMICS 1")
            lines.append("#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable")
        return (
            "\n".join(lines)
            + "\n"
            + _OPENCL
            + self._feature_functions(features, OPENCL_ATOMICS, OPENCL_WARPS)
        )


class CUDADialect(Dialect):
    """CUDA C++."""

    name = "cuda"
    exact = ("--fmad=false",)
    quick = ("--Ofast-compile=min",)

    def declarations(self, source: str) -> str | None:
        """Return the declarations of the source's kernels without macros, from which launches
        learn the types of their arguments (pygpu/_src/drivers/cuda_signature.py); None if it has
        no kernels in the common language."""
        heads = re.findall(
            r"\bPG_KERNEL\s++void\s++\w++\s*+\((?:(?!\bPG_KERNEL\b)[^{;])*+\{", source
        )
        if not heads:
            return None
        text = "}\n".join(heads) + "}\n"
        text = text.replace("PG_KERNEL", "__global__").replace("PG_BOUNDS", "__launch_bounds__")
        if "PG_ARRAY" in text:  # compiling an expression takes longer than the rest
            text = re.sub(
                r"PG_ARRAY(?:_IN)?\(\s*+([^,()]++),\s*+(\w++)\s*+\)",
                r"\1 *\2_base, long long \2_offset",
                text,
            )
        text = text.replace("PG_GLOBAL", "").replace("PG_RESTRICT", "")
        if "pg_c64" in text:
            text = re.sub(r"\bpg_c64\b", "float2", text)
        if "pg_c128" in text:
            text = re.sub(r"\bpg_c128\b", "double2", text)
        return _CUDA_TYPEDEFS + text

    def _make_prefix(self, features: frozenset[str]) -> str:
        rest = self._feature_functions(features, CUDA_ATOMICS, CUDA_WARPS)
        if "half" not in features:
            return "#define PG_FP64 1\n" + _CUDA + rest
        return "#define PG_FP64 1\n#include <cuda_fp16.h>\n" + _CUDA + _CUDA_HALF + rest
