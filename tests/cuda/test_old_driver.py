"""A driver for CUDA 11.8: what it lacks is done without, or is an error that says so."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.simulator

PROGRAM = '''
import ctypes
import numpy as np
import pygpu.cuda.driver as cuda
from pygpu import _cuda
from pygpu.cuda.compiler import SourceModule

assert cuda.get_driver_version() == 11080
newer = [name for name, since in _cuda._functions().items() if since > 11080]
_cuda._call_counts(reset=True)

module = SourceModule("""
struct Pair { char c; double d; };
typedef struct { short s[3]; Pair *next; float2 at; } Odd;
struct Box { float value, more; __device__ float both() const { return value + more; } };
__constant__ float factor;
__global__ void plain(double *out, int a, float b, bool c, unsigned char d, long long e)
{ out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = (double)e; }
__global__ void structs(double *out, char a, Pair p, int b, float4 v, short c, Odd o, char d)
{ out[0] = a; out[1] = p.c; out[2] = p.d; out[3] = b; out[4] = v.w; out[5] = c; out[6] = o.s[2];
  out[7] = o.at.y; out[8] = d; }
__global__ void box(double *out, int a, Box x, int b)
{ out[0] = a; out[1] = x.both(); out[2] = b; }
__global__ void nothing() {}
""")
PAIR = np.dtype([("c", "i1"), ("d", "f8")], align=True)
ODD = np.dtype([("s", "i2", 3), ("next", "u8"), ("at", "f4", 2)], align=True)
BOX = np.dtype([("value", "f4"), ("more", "f4")])


def call(name, n, *args, **more):
    out = np.zeros(n)
    module.get_function(name)(cuda.Out(out), *args, block=(1, 1, 1), **more)
    return list(out)


def refused(kind, said, name, *args):
    try:
        call(name, 9, *args)
    except kind as error:
        assert said in str(error), error
    else:
        raise SystemExit(f"{name}{args} is not refused")


# Python's numbers by the declared types; NumPy's by the same.
assert call("plain", 5, -3, 0.5, True, 200, 2**40) == [-3, 0.5, 1, 200, 2**40]
given = np.int32(-3), np.float32(0.5), np.bool_(True), np.uint8(200), np.int64(2**40)
assert call("plain", 5, *given) == [-3, 0.5, 1, 200, 2**40]
refused(TypeError, "takes 6 arguments", "plain", 1, 2)
refused(TypeError, "parameter #1", "plain", 0.5, 0.5, True, 200, 1)
refused(OverflowError, "does not fit", "plain", 1, 0.5, True, 256, 1)
refused(TypeError, "4 bytes", "plain", np.int64(1), 0.5, True, 2, 1)

# Structs whose layout the source tells, and vectors.
pair, odd = np.zeros((), PAIR), np.zeros((), ODD)
pair["c"], pair["d"], odd["s"], odd["at"] = 7, 2.5, (1, 2, 3), (4, 5)
four = np.arange(4, dtype=np.float32)
assert call("structs", 9, 1, pair[()], 2, four, 3, odd[()], 4) == [1, 7, 2.5, 2, 3, 3, 3, 5, 4]
assert call("structs", 9, 1, pair.tobytes(), 2, four, 3, odd[()], 4)[:3] == [1, 7, 2.5]
refused(TypeError, "16 bytes", "structs", 1, b"x", 2, four, 3, odd[()], 4)

# One that it does not tell: its size is that of the argument, the others are converted as declared.
box = np.array((1, 2), BOX)[()]
assert call("box", 3, 5, box, 6) == [5, 3, 6]
refused(TypeError, "takes 4 arguments", "box", 5, box)
refused(TypeError, "parameter #3", "box", 5, box, 0.5)
refused(TypeError, "nothing is known", "box", 5, 7, 6)


class Box(ctypes.Structure):
    _fields_ = [("value", ctypes.c_float), ("more", ctypes.c_float)]


assert call("box", 3, 5, Box(1, 2), 6) == [5, 3, 6]
module.get_function("nothing")(block=(1, 1, 1))
prepared = module.get_function("plain").prepare("Pif?Bq")
memory = cuda.mem_alloc(64)
prepared.prepared_call((1, 1), (1, 1, 1), memory, 1, 2.0, False, 4, 5)
assert list(cuda.from_device(memory, 5, np.float64)) == [1, 2, 0, 4, 5]

called = _cuda._call_counts()
assert newer == ["cuFuncGetParamInfo"], "say what is done where this is missing"
assert called["cuLaunchKernel"] >= 8
print("done")
'''


def run(program, **environment):
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"PYGPU_CUDA": "simulator"} | environment,
    )


def test_parameters():
    ended = run(PROGRAM, PYGPU_SIM_VERSION="11080")
    assert (ended.returncode, ended.stdout) == (0, "done\n"), ended.stderr


MISSING = """
import pygpu.cuda.driver as cuda

cuda.init()
stream = cuda.Stream()
for use in (
    lambda: cuda.mem_alloc_async(16),
    lambda: stream.begin_capture(),
    lambda: cuda.Stream(priority=0),
    lambda: cuda.mem_alloc_pitch(4, 4, 4),
):
    try:
        use()
    except cuda.LogicError as error:
        assert "failed: operation not supported" in str(error), error
    else:
        raise SystemExit("there is no such function")
stream.synchronize()
print("done")
"""


def test_functions_that_a_driver_lacks():
    names = "cuMemAllocAsync,cuStreamBeginCapture,cuStreamCreateWithPriority,cuMemAllocPitch"
    ended = run(MISSING, PYGPU_SIM_VERSION="11080", PYGPU_SIM_HIDE=names)
    assert (ended.returncode, ended.stdout) == (0, "done\n"), ended.stderr


def test_too_old():
    ended = run("import pygpu.cuda.driver as cuda; cuda.init()", PYGPU_SIM_VERSION="11070")
    assert ended.returncode == 1
    assert "the driver is for CUDA 11.7, but pygpu needs 11.8 or newer" in ended.stderr
