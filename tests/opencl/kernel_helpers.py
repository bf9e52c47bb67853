"""What tests of kernels' arguments share."""

from __future__ import annotations

import numpy as np

import pygpu as cl

mf = cl.mem_flags

MEMORY = """
__kernel void copy(__global const int *a, __global int *b, __constant int *c)
{ int i = get_global_id(0); b[i] = a[i] + c[0]; }
__kernel void is_null(__global int *out, __global const int *p, __constant int *q)
{ *out = (p == 0) + 2 * (q == 0); }
__kernel void local_size(__global int *out, __local int *scratch, __local float *other)
{ int i = get_local_id(0); scratch[i] = i; other[i] = 2 * i; barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = scratch[get_local_size(0) - 1 - i] + other[i]; }
__kernel void add(__global const float *a, __global float *b, float s, int n)
{ int i = get_global_id(0); if (i < n) b[i] = a[i] + s; }
__kernel void nothing(void) {}
"""


def same_bits(a, b):
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.tobytes() == b.tobytes()


def ints(ctx, *values):
    return cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf=np.array(values, np.int32))


def read(queue, buffer, n=1, dtype=np.int32):
    result = np.empty(n, dtype)
    cl.enqueue_copy(queue, result, buffer)
    return result.tolist()
