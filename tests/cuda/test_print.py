"""printf of kernels: on the simulator it goes to sys.stdout, whatever that is; else to C's."""

import contextlib
import io
import subprocess
import sys
import threading

import numpy as np
import pytest

import pygpu.cuda.driver as cuda
from pygpu.cuda.compiler import SourceModule

SOURCE = """
#include <stdio.h>
__global__ void say(int what) { printf("thread %d says %d \\xc3\\xa4\\n", threadIdx.x, what); }
__global__ void chatter() { printf("%0200d|", threadIdx.x); }
"""
ONE = (1, 1, 1)
SAID = "thread 0 says 7 ä\n"

simulator = pytest.mark.simulator


@pytest.fixture
def say(context):
    return SourceModule(SOURCE).get_function("say")


def of_stream():
    stream = cuda.Stream()
    stream.wait_for_event(cuda.Event().record())
    stream.synchronize()


def of_box():
    copy = cuda.Memcpy2D()
    copy.set_src_device(cuda.mem_alloc(16))
    copy.set_dst_host(np.zeros(4, np.int32))
    copy.src_pitch = copy.dst_pitch = copy.width_in_bytes = 16
    copy.height = 1
    copy()


WAITS = {
    "context": lambda: cuda.Context.synchronize(),
    "stream": of_stream,
    "event": lambda: cuda.Event().record().synchronize(),
    "to host": lambda: cuda.memcpy_dtoh(np.zeros(4, np.int32), cuda.mem_alloc(16)),
    "to device": lambda: cuda.memcpy_htod(cuda.mem_alloc(16), np.zeros(4, np.int32)),
    "from device": lambda: cuda.from_device(cuda.mem_alloc(16), 4, np.int32),
    "box": of_box,
}


@simulator
@pytest.mark.parametrize("name", WAITS)
def test_each_wait_prints(say, name):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        say(np.int32(7), block=ONE)
        WAITS[name]()
        assert out.getvalue() == SAID
        cuda.Context.synchronize()
    assert out.getvalue() == SAID


@simulator
def test_handlers_and_timed_calls_print(context):
    kernel = SourceModule(
        """#include <stdio.h>
        __global__ void fill(int *a) { *a = 3; printf("filled\\n"); }"""
    ).get_function("fill")
    got = np.zeros(1, np.int32)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        kernel(cuda.Out(got), block=ONE)
        assert got[0] == 3 and out.getvalue() == "filled\n"
        kernel(cuda.Out(got), block=ONE, time_kernel=True)
        assert out.getvalue() == 2 * "filled\n"


@simulator
def test_long_output_is_printed_completely(context):
    chatter = SourceModule(SOURCE).get_function("chatter")
    with contextlib.redirect_stdout(io.StringIO()) as out:
        chatter(block=(128, 1, 1), grid=(2, 1))
        cuda.Context.synchronize()
    printed = out.getvalue().split("|")
    assert sorted(printed) == sorted(["", *(2 * [f"{i:0200d}" for i in range(128)])])


@simulator
def test_in_another_thread(say):
    def work(context):
        context.push()
        say(np.int32(7), block=ONE)
        context.synchronize()
        context.pop()

    with contextlib.redirect_stdout(io.StringIO()) as out:
        thread = threading.Thread(target=work, args=(cuda.Context.get_current(),))
        thread.start()
        thread.join()
    assert out.getvalue() == SAID


class Broken(io.StringIO):
    def write(self, text):
        raise OSError("the disk is full")


class Curious(io.StringIO):
    """Waits for the device while it is written to."""

    def write(self, text):
        cuda.Context.synchronize()
        return super().write(text)


@simulator
def test_odd_streams(say, monkeypatch):
    """A stream that fails is told of, and fails no wait."""
    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda hook: seen.append(hook.exc_value))
    for stream in (Broken(), None, 5):
        monkeypatch.setattr(sys, "stdout", stream)
        say(np.int32(7), block=ONE)
        cuda.Context.synchronize()
    monkeypatch.setattr(sys, "stdout", stream := Curious())
    say(np.int32(7), block=ONE)
    cuda.Context.synchronize()
    monkeypatch.undo()
    assert stream.getvalue() == SAID
    assert [type(error) for error in seen] == [OSError, AttributeError]


def run(program):
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=120
    )


PROGRAM = """
import os
import numpy as np
import pygpu.cuda.driver as cuda
from pygpu.cuda.compiler import SourceModule

module = SourceModule('''
#include <stdio.h>
__global__ void say(int what) { printf("says %d\\\\n", what); }
__global__ void fail(int *a) { printf("before\\\\n"); *a = 1; }
''')
say, fail = module.get_function("say"), module.get_function("fail")
"""


@simulator
def test_what_a_failing_kernel_printed_comes_before_the_error():
    ended = run(
        PROGRAM
        + """
fail(np.intp(8), block=(1, 1, 1))
try:
    cuda.Context.synchronize()
except cuda.Error:
    print("failed")
"""
    )
    # A block that failed is run again, to learn which thread it was.
    said = list(dict.fromkeys(ended.stdout.splitlines()))
    assert (said, ended.returncode) == (["before", "failed"], 0), ended.stderr


@pytest.mark.parametrize("end", ["", "os._exit(0)"], ids=["exit", "after a wait"])
def test_standard_output(end):
    """Also a real driver's, where Python's and C's texts may come in any order."""
    wait = "say(np.int32(1), block=(1, 1, 1))\ncuda.Context.synchronize()\n"
    ended = run(f"{PROGRAM}{wait}print('python', flush=True)\n{end}")
    assert sorted(ended.stdout.splitlines()) == ["python", "says 1"], ended.stderr
    assert ended.returncode == 0


@simulator
@pytest.mark.parametrize("begin", ["", "import pygpu.cuda.autoinit\n"], ids=["bare", "autoinit"])
def test_a_launch_as_the_last_call(begin):
    """As in PyCUDA, whose context is destroyed at exit, which waits."""
    ended = run(f"{begin}{PROGRAM}say(np.int32(1), block=(1, 1, 1))\n")
    assert (ended.stdout, ended.returncode) == ("says 1\n", 0), ended.stderr


@simulator
@pytest.mark.parametrize("barrier", ["", "__syncthreads();"])
def test_a_block_that_fails_prints_once(context, barrier):
    """It may run again thread by thread, to find the thread that failed."""
    made = cuda.Device(0).make_context()
    out = io.StringIO()
    try:
        module = SourceModule(
            """
        __global__ void f(int *a, long long n) {
            printf("%d.%d ", blockIdx.x, threadIdx.x);
            BARRIER
            a[blockIdx.x == 2 && threadIdx.x == 2 ? n : 0] = 1;
        }""".replace("BARRIER", barrier)
        )
        with contextlib.redirect_stdout(out):
            module.get_function("f")(
                cuda.mem_alloc(4), np.int64(-(1 << 44)), block=(3, 1, 1), grid=(3, 1)
            )
            with pytest.raises(cuda.Error, match=r"block \(2,0,0\), thread \(2,0,0\)"):
                cuda.Context.synchronize()
            context.push()
            cuda.Context.synchronize()
            cuda.Context.pop()
    finally:
        made.pop()
        made.detach()
    assert out.getvalue().split() == "0.0 0.1 0.2 1.0 1.1 1.2 2.0 2.1 2.2".split()
