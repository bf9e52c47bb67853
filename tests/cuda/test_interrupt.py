"""Ctrl-C while the simulator runs a kernel: the kernel stops, and the program can go on."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
import os, signal, threading
import numpy as np
import pygpu.cuda.driver as cuda
from pygpu.cuda.compiler import SourceModule

cuda.init()
context = cuda.Device(0).make_context()
module = SourceModule('''
#include <cooperative_groups.h>
extern "C" {
__global__ void alone(volatile int *a) { while (a[0] == 0); }
__global__ void barriers(volatile int *a) { while (a[0] == 0) __syncthreads(); }
__global__ void grid(volatile int *a) {
    while (a[0] == 0) cooperative_groups::this_grid().sync();
}
__global__ void sound(int *a) { a[threadIdx.x] = 7; }
}''', no_extern_c=True)
a = cuda.mem_alloc(256)
stream = cuda.Stream()
interrupt = lambda: os.kill(os.getpid(), signal.SIGINT)
for name in ("alone", "barriers", "grid"):
    cuda.memset_d32(a, 0, 64)
    for queue in (stream, stream, None):  # those that have not begun must not run either
        module.get_function(name)(
            a, grid=(2, 1), block=(32, 1, 1), stream=queue, cooperative=name == "grid")
    threading.Timer(0.1, interrupt).start()
    try:
        stream.synchronize()
    except KeyboardInterrupt as error:
        (note,) = error.__notes__
        assert note.startswith(f"kernel {name}, block (") and "stopped by Ctrl-C" in note, note
    else:
        raise SystemExit("the wait ended without the interrupt")
    module.get_function("sound")(a, block=(64, 1, 1))
    host = np.empty(64, np.int32)
    cuda.memcpy_dtoh(host, a)
    assert (host == 7).all()
context.pop()
"""


def test_ctrl_c_stops_kernels() -> None:
    environment = {**os.environ, "PYGPU_CUDA": "simulator", "PYGPU_SIM_TIMEOUT": "0"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
