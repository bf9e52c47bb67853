"""Faults in kernels end the kernel, with a message that names the place, and not the process."""

import faulthandler
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

SOURCE = """
#define K extern "C" __global__ void
K null(int *a) { int *p = 0; p[threadIdx.x] = a[0]; }
K far(int *a) { a[threadIdx.x * -(1ll << 38)] = 1; }
K waits_then_far(int *a) {
    __syncthreads();
    if (threadIdx.x == 33) a[-(1ll << 44)] = 1;
    __syncthreads();
}
K wild(int *a) { int *p = (int *)0x123456789abcdef0ull; a[0] = *p; }
K divide(int *a) { a[threadIdx.x] = 100 / a[threadIdx.x]; }
K fails(int *a, int n) { if (blockIdx.x == 2) __trap(); }
__device__ int deep(volatile int *a, int n) {
    volatile int big[500];
    big[n % 500] = n;
    return n == 0 ? 0 : deep(a, n - 1) + big[n % 500];
}
K overflow(int *a) { a[0] = deep(a, a[1]); }
K frame(int *a) { volatile int big[1 << 18]; big[a[1]] = 1; a[0] = big[a[1] + 1]; }
K deadlock(int *a) {
    if (threadIdx.x < 5) __syncthreads();
    else __syncwarp(0xffffffff);
}
K divergent(int *a) { if (threadIdx.x % 2) { __syncwarp(0xffffffff); } }
K wrong_mask(int *a) { __syncwarp(0xff); }
K endless(volatile int *a) { while (a[0] == 0) ; }
K endless_waits(int *a) { for (;;) __syncthreads(); }
K freed_twice(int *a) { void *p = malloc(10); free(p); free(p); }
K freed_inside(int *a) { char *p = (char *)malloc(64); free(p + 16); }
K freed_wild(int *a) { free(a); }
K overrun(char *a) { /* of the heap: nothing is promised, but that the process goes on */
    char *p = (char *)malloc(100), *q = (char *)malloc(70000);
    for (int i = -64; i < 70000 + 64; i++) p[i % 128] = q[i] = 0x5a;
    free(p);
    free(q);
    free(malloc(100));
    p[0] = 1;
    a[0] = *(volatile char *)0;
}
K call_null(int *a) { void (*volatile f)() = 0; f(); }
K sound(int *a) { a[threadIdx.x] = threadIdx.x; }
"""


@pytest.fixture(scope="module")
def module(make_simulator):
    return make_simulator(PYGPU_SIM_TIMEOUT="0.3").module(SOURCE, name="kernel.cu")


CASES = [
    ("null", 64, [], 700, "thread (0,0,0): invalid write to address 0x0: a null pointer"),
    ("far", 64, [], 700, "thread (1,0,0): invalid write to address 0x"),
    ("waits_then_far", 64, [], 700, "thread (33,0,0): invalid write to address 0x"),
    ("wild", 1, [], 700, "access through a pointer that is not an address at all"),
    ("divide", 64, [], 719, "thread (0,0,0): integer division by zero"),
    ("overflow", 1, [], 719, "thread (0,0,0): stack overflow: more than the limit of "),
    ("frame", 33, [], 719, "large local arrays; cuCtxSetLimit raises it) at kernel.cu:"),
    ("deadlock", 32, [], 719, "deadlock: 5 of 32 threads wait at __syncthreads at kernel.cu:"),
    ("divergent", 32, [], 719, None),
    (
        "wrong_mask",
        32,
        [],
        719,
        "thread (8,0,0): warp operation whose mask 0x000000ff does not name the calling lane 8",
    ),
    (
        "endless",
        32,
        [],
        702,
        "ran for more than 0.3 s (PYGPU_SIM_TIMEOUT) and was stopped at kernel.cu:",
    ),
    ("freed_twice", 1, [], 700, "free() of 0x"),
    ("freed_inside", 1, [], 700, "free() of 0x"),
    ("freed_wild", 1, [], 700, "free() of 0x"),
    ("overrun", 1, [], 700, "address 0x0: a null pointer"),
    ("call_null", 1, [], 700, "address 0x0: a null pointer"),
]


def launch_and_check(module, name, threads, args, code, message):
    a = np.zeros(64, "i4")
    a[1] = 100_000
    if message is None:
        module.launch(name, 1, threads, a, *args)
    else:
        with pytest.raises(Exception) as e:
            module.launch(name, 1, threads, a, *args)
        assert e.value.text.startswith(f"kernel {name}, block (0,0,0)")
        assert message in e.value.text
        assert e.value.code == code
        if name != "call_null":
            lines = [i for i, line in enumerate(SOURCE.split("\n"), 1) if f"K {name}(" in line]
            assert " at kernel.cu:" in e.value.text or not lines
    module.launch("sound", 1, 64, a)
    assert (a == np.arange(64)).all()


@pytest.mark.parametrize("name, threads, args, code, message", CASES, ids=[c[0] for c in CASES])
def test_faults(module, name, threads, args, code, message):
    launch_and_check(module, name, threads, args, code, message)


def test_the_line(module):
    for name in ["far", "null", "divide", "wild"]:
        line = next(i for i, text in enumerate(SOURCE.split("\n"), 1) if f"K {name}(" in text)
        with pytest.raises(Exception, match=f" at kernel.cu:{line}$"):
            module.launch(name, 1, 64, np.zeros(64, "i4"))


def test_the_block(module):
    with pytest.raises(
        Exception, match=r"kernel fails, block \(2,0,0\), thread \(0,0,0\): __trap\(\) at kernel.cu"
    ):
        module.launch("fails", 4, 32, np.zeros(1, "i4"), np.int32(0))


def test_a_loop_with_barriers_is_stopped(module):
    with pytest.raises(Exception, match="PYGPU_SIM_TIMEOUT"):
        module.launch("endless_waits", 1, 64, np.zeros(1, "i4"))


def test_many_faults_in_a_row(module):
    for _ in range(200):
        with pytest.raises(Exception, match="null pointer"):
            module.launch("null", 8, 64, np.zeros(64, "i4"))


def test_faults_under_faulthandler(module):
    """It installs its handlers after ours: we come back in front of them."""
    was = faulthandler.is_enabled()
    for _ in range(3):
        faulthandler.disable()
        faulthandler.enable(file=sys.__stderr__)
        launch_and_check(module, *CASES[0])
    if not was:
        faulthandler.disable()


def test_faults_in_launches_of_a_thread_that_blocks_signals(module):
    """The kernel's threads come from it, and must not block what tells of a fault."""
    masks = []

    def work():
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [])
        launch_and_check(module, *CASES[0])
        masks.append(signal.pthread_sigmask(signal.SIG_BLOCK, []) == blocked)
        with pytest.raises(Exception, match="PYGPU_SIM_TIMEOUT"):
            module.launch("endless_waits", 1, 64, np.zeros(1, "i4"))
        masks.append(signal.pthread_sigmask(signal.SIG_BLOCK, []) == blocked)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert masks == [True, True]


@pytest.mark.skipif(
    "libasan" in os.environ.get("LD_PRELOAD", ""), reason="AddressSanitizer takes the fault"
)
def test_faults_outside_of_kernels_end_the_process_as_before(make_simulator):
    script = """
import ctypes, faulthandler, runpy, sys
faulthandler.enable()
names = runpy.run_path(sys.argv[1])
simulator = names["Simulator"](sys.argv[2])
import numpy as np
module = simulator.module('extern "C" __global__ void k(int *a) { *(int *)0 = 1; }')
try:
    module.launch("k", 1, 1, np.zeros(1, "i4"))
except Exception as e:
    print(e)
ctypes.string_at(0)
"""
    from simulator import conftest

    done = subprocess.run(
        [sys.executable, "-c", script, conftest.__file__, str(conftest.LIBRARY)],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert "null pointer" in done.stdout
    assert done.returncode == -11
    assert "Segmentation fault" in done.stderr and "string_at" in done.stderr


@pytest.mark.parametrize("order", ["reverse", "shuffle", "shuffle:7"])
def test_order_of_blocks(make_simulator, order):
    source = """
    __device__ int next;
    extern "C" __global__ void k(int *a) {
        if (threadIdx.x == 0) a[__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED)] = blockIdx.x;
    }"""
    simulator = make_simulator(PYGPU_SIM_ORDER=order, PYGPU_SIM_THREADS="1")
    for n in (1, 2, 100, 257):
        a = np.full(n, -1, "i4")
        simulator.run(source, n, 32, a)
        assert (np.sort(a) == np.arange(n)).all()
        if order == "reverse":
            assert (a == np.arange(n)[::-1]).all()
        elif n > 2:
            assert (a != np.arange(n)).any()
