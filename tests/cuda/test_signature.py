"""Parameters of kernels, read from PTX and from CUDA C++; no driver is needed."""

from __future__ import annotations

import pytest

from pygpu._src.drivers.cuda_signature import (
    kernel_parameters,
    parameters_from_ptx,
    parameters_from_source,
)

PTX = """
.version 8.4
.target sm_90
.address_size 64
.visible .entry add(
	.param .u64 .ptr .align 1 add_param_0,
	.param .u64 add_param_1,
	.param .u32 add_param_2,
	.param .f32 add_param_3,
	.param .f64 add_param_4,
	.param .u8 add_param_5,
	.param .align 8 .b8 add_param_6[24]
)
.maxntid 256, 1, 1
{ ret; }
.entry nothing() { ret; }
.visible .entry none
{ ret; }
.visible .entry add_more( .param .s64 add_more_param_0 ) { ret; }
"""


def kinds(source: str, name: str = "f") -> list[tuple[str, int]] | None:
    rows = parameters_from_source(name, source)
    return rows and [row[:2] for row in rows]


def test_ptx():
    assert parameters_from_ptx("add", PTX) == [
        ("P", 8, 8, None),
        ("I", 8, 8, None),
        ("I", 4, 4, None),
        ("f", 4, 4, None),
        ("f", 8, 8, None),
        ("I", 1, 1, None),
        ("?", 24, 8, None),
    ]
    assert parameters_from_ptx("nothing", PTX) == []
    assert parameters_from_ptx("none", PTX) == []
    # the simulator's text names its kernels in comments
    assert parameters_from_ptx("k", "// .visible .entry k()\n") is None
    assert parameters_from_ptx("k", "// .entry k()\n\t.weak .entry k(\n)\n") == []
    assert parameters_from_ptx("add_more", PTX) == [("I", 8, 8, None)]
    assert parameters_from_ptx("ad", PTX) is None
    assert parameters_from_ptx("$x+", PTX) is None


@pytest.mark.parametrize(
    "declaration, kind, size",
    [
        ("float *a", "Pf4", 8),
        ("const float *__restrict__ a", "Pf4", 8),
        ("float", "f", 4),
        ("float *", "Pf4", 8),
        ("float const *const a", "Pf4", 8),
        ("volatile float* a", "Pf4", 8),
        ("float a[]", "Pf4", 8),
        ("float a[4]", "Pf4", 8),
        ("float a[][4]", "Pf4", 8),
        ("float *a[]", "P", 8),
        ("float **a", "P", 8),
        ("double3 *a", "Pf8", 8),
        ("half2 *a", "Pf2", 8),
        ("__nv_bfloat16 *a", "Pf2", 8),
        ("cuDoubleComplex *a", "Pf8", 8),
        ("pycuda::complex<float> *a", "Pf4", 8),
        ("thrust :: complex< double > *a", "Pf8", 8),
        ("int *a", "Pi4", 8),
        ("unsigned *a", "Pu4", 8),
        ("unsigned long long int *a", "Pu8", 8),
        ("std::int16_t *a", "Pi2", 8),
        ("uint64_t *a", "Pu8", 8),
        ("bool *a", "Pu1", 8),
        ("long *a", "P", 8),
        ("size_t *a", "P", 8),
        ("char *a", "P", 8),
        ("uint8_t *a", "P", 8),
        ("uchar4 *a", "P", 8),
        ("void *a", "P", 8),
        ("struct Pair *a", "P", 8),
        ("Pair *a", "P", 8),
        ("ns::float4 *a", "P", 8),
        ("float (*a)[4]", "?", 0),
        ("float &a", "?", 0),
        ("int n", "i", 4),
        ("int", "i", 4),
        ("const int n", "i", 4),
        ("int const n", "i", 4),
        ("int n = 3", "i", 4),
        ("unsigned n", "u", 4),
        ("unsigned", "u", 4),
        ("unsigned int n", "u", 4),
        ("int unsigned n", "u", 4),
        ("long unsigned int n", "u", 8),
        ("long long n", "i", 8),
        ("unsigned long long int n", "u", 8),
        ("short int n", "i", 2),
        ("signed char n", "i", 1),
        ("char n", "I", 1),
        ("unsigned char n", "u", 1),
        ("bool n", "B", 1),
        ("float x", "f", 4),
        ("double x", "f", 8),
        ("__half x", "f", 2),
        ("__nv_bfloat16 x", "b", 2),
        ("std::size_t n", "u", 8),
        ("uint64_t n", "u", 8),
        ("std::int32_t n", "i", 4),
        ("cuDoubleComplex z", "c", 16),
        ("pycuda::complex<float> z", "c", 8),
        ("thrust :: complex< double > z", "c", 16),
        ("cuda::std::complex<float> z", "c", 8),
        ("float2 z", "c", 8),
        ("cudaTextureObject_t t", "u", 8),
        ("struct Pair p", "?", 0),
        ("Pair p", "?", 0),
        ("ns::Pair p", "?", 0),
        ("Pair<int, 4> p", "?", 0),
        ("const __grid_constant__ int n", "i", 4),
    ],
)
def test_one_parameter(declaration: str, kind: str, size: int):
    rows = parameters_from_source("f", f"__global__ void f({declaration}, char *last) {{}}")
    assert [row[:2] for row in rows] == [(kind, size), ("P", 8)]
    assert rows[0][3] == declaration.split(" =")[0]


@pytest.mark.parametrize(
    "before",
    [
        "typedef double real;",
        "using real = double;",
        "#define real double",
        "#ifndef real\n#define real double\n#endif",
        "template <typename real>",
        "typedef double float4; typedef float4 real;",
    ],
)
def test_what_a_pointer_to_the_sources_own_name_points_to_is_left_open(before: str):
    assert kinds(f"{before}\n__global__ void f(real *x) {{}}") == [("P", 8)]


def test_a_macro_with_a_types_own_name_leaves_open_what_it_is():
    assert kinds("#define float double\n__global__ void f(float *x) {}") == [("P", 8)]


def test_where_it_looks():
    assert kinds('extern "C" __global__ void f(int n) {}') == [("i", 4)]
    assert kinds('extern "C" {\n__global__ void f(int n) {}\n}') == [("i", 4)]
    assert kinds("void __global__ __launch_bounds__(256, 2) f(int n) {}") == [("i", 4)]
    assert kinds("__device__ int f(int n); __global__ void g(float x) {}") is None
    assert kinds("__global__ void f() {}") == []
    assert kinds("__global__ void f(void) {}") == []
    assert kinds("__global__ void ff(int n) {} __global__ void f(float x) {}") == [("f", 4)]
    assert kinds("// __global__ void f(int n);\n__global__ void f(float x) {}") == [("f", 4)]
    assert kinds("__global__ void f(int /* , float */ n) {}") == [("i", 4)]
    assert kinds("__global__ void f(int n); __global__ void f(int m) { f2(m); }") == [("i", 4)]
    assert kinds("__global__ void f(") is None
    assert kinds("int f(int n)", "f(") is None


def test_overloads_and_branches_are_not_certain():
    assert kinds("__global__ void f(int n) {} __global__ void f(float n) {}") is None
    assert (
        kinds("#ifdef X\n__global__ void f(int n)\n#else\n__global__ void f(float n)\n#endif\n{}")
        is None
    )


STRUCTS = """
struct Pair { char c; double d; };
typedef struct { short s[3], t; Pair *next, last; } Odd;
typedef struct Named { const float x, y; unsigned long long n[2][3]; } Other;
struct Empty {};
struct Deep { Odd a; Other b; float3 c; };
struct Late { Later x; };
struct Later { int x; };
struct Bits { int a : 3; int b : 5; };
struct Able { int a; int get() { return a; } };
struct Derived : Pair { int more; };
template <class T> struct Box { T a; };
struct Twice { int a; };
namespace n { struct Twice { double a; }; }
"""


@pytest.mark.parametrize(
    ("name", "size", "align"),
    [
        *(("Pair", 16, 8), ("struct Pair", 16, 8), ("Odd", 32, 8), ("const Odd", 32, 8)),
        *(("Named", 56, 8), ("Other", 56, 8), ("Deep", 104, 8), ("Later", 4, 4)),
        *((name, 0, 0) for name in ("Empty", "Late", "Bits", "Able", "Derived", "Box", "Twice")),
        *(("float4", 16, 16), ("float3", 12, 4), ("int1", 4, 4), ("uchar4", 4, 4)),
        *(("double3", 24, 8), ("double4", 32, 16), ("longlong2", 16, 16), ("dim3", 12, 4)),
    ],
)
def test_structs(name: str, size: int, align: int):
    rows = parameters_from_source("f", f"{STRUCTS}__global__ void f({name} a) {{}}")
    assert rows == [("V" if size else "?", size, align, f"{name} a")]
    for unsure in ("#pragma pack(1)", "#ifdef X\n#endif"):  # may change any of them
        rows = parameters_from_source("f", f"{unsure}\n{STRUCTS}__global__ void f({name} a) {{}}")
        assert rows[0][1] == (size if name[-1].isdigit() else 0)


def test_aliases():
    assert kinds("typedef float real; __global__ void f(real x) {}") == [("f", 4)]
    assert kinds("typedef real2 real; typedef double real2; __global__ void f(real x){}") == [
        ("f", 8)
    ]
    assert kinds("using index = unsigned long long; __global__ void f(index x) {}") == [("u", 8)]
    assert kinds("typedef float *array; __global__ void f(array x) {}") == [("P", 8)]
    assert kinds("#define REAL double\n__global__ void f(REAL x) {}") == [("f", 8)]
    assert kinds("#define REAL double\n#undef REAL\n__global__ void f(REAL x) {}") is None
    assert kinds("#define A(x) x\n__global__ void f(A(int) x) {}") is None
    assert kinds("typedef float t; typedef int t; __global__ void f(t x) {}") == [("?", 0)]
    assert kinds("typedef a b; typedef b a; __global__ void f(a x) {}") == [("?", 0)]


def test_templates_and_mangled_names():
    source = "typedef int T; template <typename T> __global__ void add(T *x, T y, int n) {}"
    assert kinds(source, "_Z3addIfEvPT_S0_i") == [("P", 8), ("?", 0), ("i", 4)]
    source = "namespace a { __global__ void add(float x) {} }"
    assert kinds(source, "_ZN1a3addEf") == [("f", 4)]


def test_both_texts():
    ptx = PTX.encode()
    source = (
        "__global__ void add(float *a, unsigned long b, int n, float x, double y, bool c, S s);"
    )
    rows = kernel_parameters("add", source, ptx)
    assert [row[:3] for row in rows] == [
        ("Pf4", 8, 8),
        ("u", 8, 8),
        ("i", 4, 4),
        ("f", 4, 4),
        ("f", 8, 8),
        ("B", 1, 1),
        ("?", 24, 8),
    ]
    assert rows[2][3] == "int n"
    # What contradicts the PTX is not this kernel's declaration.
    assert kernel_parameters("add", "__global__ void add(float *a);", ptx)[2][:2] == ("I", 4)
    other = source.replace("int n", "short n")
    assert kernel_parameters("add", other, ptx)[2][:2] == ("I", 4)
    assert kernel_parameters("add", None, b"\x7fELF") is None
    assert kernel_parameters("other", source, ptx) is None
    assert kernel_parameters("add", source, None)[2][:2] == ("i", 4)


@pytest.mark.parametrize(
    "junk", ["", "__global__", "__global__ void f(<", "f(((", "#define f", "\\"]
)
def test_junk(junk: str):
    assert kernel_parameters("f", junk, junk.encode()) is None
