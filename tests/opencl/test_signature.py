"""Kernel arguments read from the source, beside what the driver says of them."""

import numpy as np
import pytest

import pygpu as cl
from pygpu._src.drivers import declarations as signature

DECLARATIONS = """
/* kernel void a(int not_this_one) {} */
#define N 4
typedef struct { float x; int n[2]; } pair_t;
struct tagged { int a; };
__kernel void a(__global const float *restrict x, global int* y, __constant float4 *c,
                local float2 *l) {}
kernel void b(int i, unsigned int u, unsigned long ul, uchar uc, float3 v, long16 w, short s) {}
__kernel __attribute__((reqd_work_group_size(4, 1, 1)))
void c(pair_t p, struct tagged t, global pair_t *q) {}
kernel void d(read_only image2d_t in, __write_only image3d_t out, sampler_t smp,
              image2d_array_t arr) {}
kernel void e() {}
kernel void f(const int n, // a comment, with (brackets)
              volatile global uint *v, global float *const fixed) {}
"""


@pytest.mark.parametrize("name", list("abcdef"))
def test_signature_is_what_the_driver_says(ctx, device, name):
    if not device.image_support:
        pytest.skip("no images")
    # NVIDIA's assembler trips over the descriptions if a kernel has no argument.
    source = DECLARATIONS if name == "e" else DECLARATIONS.replace("kernel void e() {}", "")
    of_driver = cl.Program(ctx, source).build(cache_dir=False)._kernel_arguments().get(name)
    if of_driver is None and "NVIDIA" in device.platform.name:
        pytest.skip("NVIDIA's driver does not describe the arguments of this program")
    read = signature.kernel_arguments(DECLARATIONS, name)

    def essential(rows):  # drivers differ in qualifiers of values, and of pointers themselves
        return [
            (address, access, type_name.replace(" *", "*"), qualifier & 2, argument)
            for address, access, type_name, qualifier, argument in rows
        ]

    assert essential(read) == essential(of_driver)


@pytest.mark.parametrize(
    "source",
    [
        "#define ARGS int a\nkernel void f(ARGS) {}",
        "kernel void f(unknown_t a) {}",
        "kernel void f(global int **a) {}",
        "kernel void f(int) {}",
        "kernel void f(int a",
        "kernel void g(int a) {}",
        "// kernel void f(int a) {}",
        "#if X\nkernel void f(int a) {}\n#else\nkernel void f(float a) {}\n#endif",
        "typedef global float *pointer;\nkernel void f(pointer a) {}",
        "",
    ],
)
def test_signature_that_is_not_certain(source):
    assert signature.kernel_arguments(source, "f") is None


def test_signature_resolves_typedefs():
    source = (
        "typedef unsigned int word; typedef word same; kernel void f(same a, global word *b) {}"
    )
    rows = signature.kernel_arguments(source, "f")
    assert [row[2] for row in rows] == ["uint", "uint*"]


def test_types_that_a_source_defines(ctx, queue):
    text = """
    typedef float real; typedef real same; typedef const unsigned int word; typedef float4 quad;
    typedef struct { real a; same b[3]; uchar c; } first_t;  // a comment; with one
    typedef struct second { int x, y[2][3]; first_t s; double4 v; } second_t;
    struct third { long a; struct second t; char3 small; };
    typedef struct { volatile short a; /* int b; */ uint2 c[0x3]; } fourth_t;
    """
    found = signature.type_definitions(text)
    sizes = {name: size for name, size in found.items() if isinstance(size, int)}
    others = {"real": "float", "same": "float", "word": "uint", "quad": "float4"}
    assert found == sizes | others and len(sizes) == 5
    names = list(sizes)
    body = "".join(f"out[{i}] = sizeof({name});" for i, name in enumerate(names))
    program = cl.Program(ctx, text + f"kernel void f(global int *out) {{ {body} }}").build()
    out, result = cl.Buffer(ctx, cl.mem_flags.READ_WRITE, 64), np.zeros(len(names), np.int32)
    program.f(queue, (1,), None, out)
    cl.enqueue_copy(queue, result, out)
    assert dict(zip(names, result.tolist(), strict=True)) == sizes


@pytest.mark.parametrize(
    "source",
    [
        "typedef struct { global int *p; } S;",
        "typedef struct { int a : 3; } S;",
        "#define N 3\ntypedef struct { int a[N]; } S;",
        "#define float double\ntypedef struct { float a; } S;",
        "typedef struct { int a; } __attribute__((packed)) S;",
        "typedef struct __attribute__((packed)) { char c; int a; } S;",
        "#pragma pack(1)\ntypedef struct { char c; int a; } S;",
        "#ifdef A\ntypedef struct { int a; } S;\n#else\ntypedef struct { int a, b; } S;\n#endif",
        "#ifdef A\ntypedef float real;\n#endif\ntypedef struct { real n; } S;",
        "#ifdef A\n#define real double\n#endif\ntypedef float real; typedef struct { real n; } S;",
        "typedef struct { int a; } S; void g() { typedef struct { int a, b; } S; }",
        "typedef union { int a; float b; } S;",
        "typedef struct { struct { int a; } in; int b; } S;",
        "typedef struct { size_t n; } S;",
        "typedef struct { image2d_t n; } S;",
        "typedef struct { int a[0]; } S;",
        "typedef struct { int a[010]; } S;",
        "typedef struct { int a[2 + 1]; } S;",
        "typedef struct { } S;",
        "typedef struct { int a } S;",
        "typedef enum { A, B } E; typedef struct { E e; } S;",
        "typedef struct { int (*f)(int); } S;",
        "typedef global float *S;",
        "",
    ],
)
def test_types_that_are_not_certain(source):
    assert not {"S", "struct S"} & set(signature.type_definitions(source))
