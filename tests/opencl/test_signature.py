"""Kernel arguments read from the source, beside what the driver says of them."""

import pytest

import pygpu as cl
from pygpu import signature

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
    told = cl.Program(ctx, source).build(cache_dir=False)._kernel_arguments().get(name)
    if told is None and "NVIDIA" in device.platform.name:
        pytest.skip("NVIDIA's driver does not describe the arguments of this program")
    read = signature.kernel_arguments(DECLARATIONS, name)

    def essential(rows):  # drivers differ in qualifiers of values, and of pointers themselves
        return [
            (address, access, type_name.replace(" *", "*"), qualifier & 2, argument)
            for address, access, type_name, qualifier, argument in rows
        ]

    assert essential(read) == essential(told)


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
