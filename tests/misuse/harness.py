"""What a misuse case is made of: the registry, the objects it uses, the words for what it wants.

A case is a function that takes one `Env` and raises if pygpu did not behave as wanted. The
mistake itself stands in `with expect(...)`, everything around it is ordinary use. After each
case the worker asks for three more things: a launch still gives the right numbers, no driver
handle was left behind, nothing was written to stderr. Set PYGPU_TEST_PEER=pyopencl to run the
same cases on PyOpenCL (its known crashes show that they bite).
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import re
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

PEER = os.environ.get("PYGPU_TEST_PEER", "")
if PEER:
    sys.modules["pygpu"] = importlib.import_module(PEER)
cl: Any = importlib.import_module("pygpu")

CASE_FILES = (
    "args", "callbacks", "commands", "context", "copy", "exit", "fork", "fuzz", "geometry", "image",
    "lifetime", "memory", "pool", "program", "reentry", "scalars", "svm", "threads", "types",
    "wait",
)  # fmt: skip
CUDA_FILES = (
    "cuda_args", "cuda_callbacks", "cuda_capture", "cuda_context", "cuda_exit", "cuda_fork",
    "cuda_fuzz", "cuda_lifetime", "cuda_reentry", "cuda_threads", "cuda_wait",
)  # fmt: skip
"""The same for pygpu.cuda.driver; their Env is cuda_env's."""
MF = cl.mem_flags
CALLER = (TypeError, ValueError, IndexError, OverflowError)
"""Mistakes that pygpu's own checks find."""
ANY = (*CALLER, cl.Error)
"""Mistakes that our check or the driver may find."""
UNHELPFUL = re.compile(r"std::|incompatible function arguments|nanobind|^\s*$")

SOURCE = """
kernel void add1(global float *a) { a[get_global_id(0)] += 1; }
kernel void axpy(float s, global const float *x, global float *y)
{ size_t i = get_global_id(0); y[i] += s * x[i]; }
kernel void nothing(void) {}
kernel void to_int(int value, global long *out) { out[0] = value; }
kernel void to_uint(uint value, global long *out) { out[0] = value; }
kernel void to_uchar(uchar value, global long *out) { out[0] = value; }
kernel void to_char(char value, global long *out) { out[0] = value; }
kernel void to_ulong(ulong value, global ulong *out) { out[0] = value; }
kernel void to_long(long value, global long *out) { out[0] = value; }
kernel void to_float(float value, global float *out) { out[0] = value; }
kernel void to_float4(float4 value, global float *out)
{ out[0] = value.x; out[1] = value.y; out[2] = value.z; out[3] = value.w; }
struct pair { int number; float weight; };
kernel void to_pair(struct pair value, global float *out)
{ out[0] = value.number; out[1] = value.weight; }
kernel void is_null(global float *a, global int *out) { out[0] = a == 0; }
kernel void scratch(local float *s, global float *out)
{ size_t i = get_global_id(0), j = get_local_id(0);
  s[j] = i; barrier(CLK_LOCAL_MEM_FENCE); out[i] = s[j]; }
kernel void scratch2(local float *s, local float *t, global float *out)
{ s[0] = 1; t[0] = 2; out[0] = s[0] + t[0]; }
kernel void lookup(constant float *table, global float *out) { out[0] = table[0]; }
kernel void where(global int *out)
{ size_t i = get_global_id(0); out[i - get_global_offset(0)] = i; }
kernel void spin(int n, global int *out)
{ volatile int x = 0;
  for (int i = 0; i < n; ++i) for (int j = 0; j < 1000; ++j) x += j;
  out[0] = x; }
kernel void twelve(global int *out, int a, int b, int c, int d, int e, int f,
                   int g, int h, int i, int j, int k)
{ out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = e; out[5] = f;
  out[6] = g; out[7] = h; out[8] = i; out[9] = j; out[10] = k; }
"""
IMAGE_SOURCE = """
kernel void texel(read_only image2d_t image, sampler_t s, global float *out)
{ out[0] = read_imagef(image, s, (int2)(0, 0)).x; }
"""


class Missed(AssertionError):
    """The case did not end as wanted; *kind* says how: NOERROR, WRONG, CLASS, MESSAGE, SKIP,
    LEAK, ..."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


@dataclass(frozen=True)
class Case:
    name: str
    group: str
    function: Callable[[Env], None]
    alone: bool
    limit: float
    stderr: str
    leaves: bool
    rc: int


CASES: dict[str, Case] = {}

PATIENCE = 5
"""What time limits are multiplied by: they are those of an idle machine, and what they are there
to find never ends."""


def case(
    function: Callable[[Env], None] | None = None,
    *,
    alone: bool = False,
    limit: float = 15.0,
    stderr: str = "",
    leaves: bool = False,
    rc: int = 0,
) -> Any:
    """Register a case. *alone*: it needs a process of its own (signals, forks, exits, hostile
    module games).

    limit: seconds (times PATIENCE) for the case and again for the exit after it; stderr: a pattern
    that all of stderr matches; leaves: it may leave handles behind (a gated command, say), so they
    are not counted; rc: wanted exit status.
    """

    def register(f: Callable[[Env], None]) -> Callable[[Env], None]:
        group = f.__module__.removeprefix("cases_")
        name = f"{group}:{f.__name__.rstrip('_')}"
        assert name not in CASES, name
        CASES[name] = Case(name, group, f, alone, limit * PATIENCE, stderr, leaves, rc)
        return f

    return register if function is None else register(function)


def load_cases(files: tuple[str, ...] = CASE_FILES) -> dict[str, Case]:
    """Import the cases_*.py of these names and return their cases, in file order."""
    for name in files:
        importlib.import_module(f"cases_{name}")
    return {name: case for name, case in CASES.items() if case.group in files}


def is_cuda(name: str) -> bool:
    """Whether the case of this name is about CUDA."""
    return name.startswith("cuda_")


MISSES: list[Missed] = []
"""What `expect` found wrong so far in this case: the case goes on, so that one run shows all of
it."""


def unhelpful(error: BaseException) -> bool:
    """Whether the message says nothing; the interpreter's own MemoryError and our Boom need not."""
    if type(error) in (MemoryError, Boom):
        return False
    return bool(UNHELPFUL.search(str(error)))


@contextlib.contextmanager
def expect(classes: Any, *says: str) -> Iterator[None]:
    """The block raises one of *classes*, with a message in which each pattern of *says* is
    found."""
    classes = classes if isinstance(classes, tuple) else (classes,)
    names = "/".join(c.__name__ for c in classes)
    caller = sys._getframe(2)
    line = caller.f_lineno
    try:
        yield
    except Missed:
        raise
    except classes as error:
        text = str(error)
        silent = [p for p in says if not re.search(p, text, re.IGNORECASE)]
        if unhelpful(error):
            miss = "MESSAGE", f"unhelpful {type(error).__name__}: {text[:200]!r}"
        elif silent:
            miss = "MESSAGE", f"{type(error).__name__} {text[:300]!r} does not say {silent}"
        else:
            return
    except BaseException as error:
        miss = "CLASS", f"wanted {names}, came {type(error).__name__}: {str(error)[:200]!r}"
    else:
        miss = "NOERROR", f"wanted {names}, but nothing was raised"
    shown = {k: v for k, v in caller.f_locals.items() if k not in ("env", "self")}
    values = ", ".join(f"{k}={v!r:.60}" for k, v in shown.items() if not k.startswith("_"))
    MISSES.append(Missed(miss[0], f"line {line}: {miss[1]} [{values[:400]}]"))


@contextlib.contextmanager
def tolerate(classes: Any = ANY) -> Iterator[list[BaseException]]:
    """The block may raise one of *classes* (helpfully) or pass; the caught exception is put into
    the list."""
    caught: list[BaseException] = []
    classes = classes if isinstance(classes, tuple) else (classes,)
    try:
        yield caught
    except classes as error:
        if isinstance(error, Missed):
            raise
        if unhelpful(error):
            text = f"unhelpful {type(error).__name__}: {str(error)[:300]!r}"
            raise Missed("MESSAGE", text) from None
        caught.append(error)


def check(condition: Any, text: str) -> None:
    """The results of ordinary use around the mistake: *text* says what is wrong if *condition*
    is false."""
    if not condition:
        raise Missed("WRONG", text)


def skip(missing: str) -> None:
    """Leave the case: *missing* names what this machine or driver lacks."""
    raise Missed("SKIP", missing)


class Env:
    """Context, queue, program and memory for a case; everything a health check needs is made at
    once."""

    N = 64

    def __init__(self) -> None:
        self.ctx = cl.create_some_context(interactive=False)
        self.dev = self.ctx.devices[0]
        self.queue = cl.CommandQueue(self.ctx)
        self.prg = cl.Program(self.ctx, SOURCE).build()
        self._kernels: dict[str, Any] = {}
        self.other = cl.Context([self.dev])
        self.other_queue = cl.CommandQueue(self.other)
        self.host = np.arange(self.N, dtype=np.float32)
        self._health = cl.Buffer(self.ctx, MF.READ_WRITE, self.host.nbytes)
        self._image_program: Any = None
        self.healthy()
        self.forget()

    def kernel(self, name: str) -> Any:
        """The kernel of that name, one object per name (PyOpenCL makes a new one at each
        attribute access)."""
        if name not in self._kernels:
            self._kernels[name] = cl.Kernel(self.prg, name)
        return self._kernels[name]

    def forget(self) -> None:
        """Drop the kernels, and with them the arguments that they hold."""
        self._kernels.clear()

    def buffer(self, n: int = N, ctx: Any = None) -> Any:
        """A fresh buffer of *n* float32, 0, 1, 2, ..."""
        host = np.arange(n, dtype=np.float32)
        return cl.Buffer(ctx or self.ctx, MF.READ_WRITE | MF.COPY_HOST_PTR, hostbuf=host)

    def out(self, nbytes: int = 256) -> Any:
        """A fresh zeroed buffer."""
        host = np.zeros(nbytes, np.uint8)
        return cl.Buffer(self.ctx, MF.READ_WRITE | MF.COPY_HOST_PTR, hostbuf=host)

    def read(self, buffer: Any, dtype: Any = np.float32, n: int | None = None) -> np.ndarray:
        """The first *n* (or all) items of a buffer."""
        dtype = np.dtype(dtype)
        result = np.zeros(buffer.size // dtype.itemsize if n is None else n, dtype)
        cl.enqueue_copy(self.queue, result, buffer)
        return result

    def scalar(self, name: str, value: Any, dtype: Any = np.int64) -> Any:
        """Send *value* through the scalar parameter of kernel *name*; return what the kernel
        saw."""
        out = self.out()
        self.kernel(name)(self.queue, (1,), None, value, out)
        return self.read(out, dtype)[0].item()

    def image_program(self) -> Any:
        """The program that reads an image through a sampler."""
        if not self.dev.image_support:
            skip("the device has no images")
        return cl.Program(self.ctx, IMAGE_SOURCE).build()

    def image(self, shape: tuple[int, ...] = (8, 8), ctx: Any = None) -> Any:
        """A zeroed float RGBA image of *shape* (width, height[, depth])."""
        if not self.dev.image_support:
            skip("the device has no images")
        form = cl.ImageFormat(cl.channel_order.RGBA, cl.channel_type.FLOAT)
        make = getattr(cl, "create_image", cl.Image)
        return make(ctx or self.ctx, MF.READ_WRITE, form, shape=shape)

    def healthy(self) -> None:
        """A copy, a launch and a copy back give the right numbers."""
        cl.enqueue_copy(self.queue, self._health, self.host)
        self.kernel("add1")(self.queue, (self.N,), None, self._health)
        result = np.empty_like(self.host)
        cl.enqueue_copy(self.queue, result, self._health)
        if not np.array_equal(result, self.host + 1):
            raise Missed("UNUSABLE", "a plain launch no longer gives the right numbers")


def in_child(action: Callable[[], Any], seconds: float = 30.0) -> None:
    """Fork; *action* runs in the child, which must end with status 0 in time, having said why if
    not."""
    if not hasattr(os, "fork"):
        skip("os.fork")
    sys.stderr.flush()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            action()
            gc.collect()
            status = 0
        except BaseException as error:
            os.write(writer, "".join(traceback.format_exception(error)[-2:]).encode()[-2000:])
        finally:
            os._exit(status)
    os.close(writer)
    deadline = time.monotonic() + seconds
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(reader)
            raise Missed("HANG", "the child did not end")
        time.sleep(0.01)
    text = os.read(reader, 4000).decode()
    os.close(reader)
    if os.WIFSIGNALED(status):
        raise Missed(
            "CRASH", f"the child ended by {signal.Signals(os.WTERMSIG(status)).name} {text}"
        )
    check(os.WEXITSTATUS(status) == 0, f"the child failed: {text}")


def soon(seconds: float, action: Callable[[], Any]) -> threading.Timer:
    """Call *action* on another thread after *seconds*."""
    timer = threading.Timer(seconds, action)
    timer.daemon = True
    timer.start()
    return timer


@contextlib.contextmanager
def within(seconds: float, what: str) -> Iterator[None]:
    """The block takes less than *seconds* times PATIENCE."""
    start = time.monotonic()
    yield
    spent = time.monotonic() - start
    if spent > seconds * PATIENCE:
        raise Missed("SLOW", f"{what} took {spent:.1f} s, more than {seconds * PATIENCE} s")


class Liar:
    """An object whose special methods return what they were told to, or raise if that is an
    exception."""

    def __init__(self, **answers: Any) -> None:
        self._answers = answers

    def _answer(self, name: str) -> Any:
        if name not in self._answers:
            raise TypeError(f"no __{name}__")
        value = self._answers[name]
        if isinstance(value, BaseException):
            # A new one: its traceback may hold an array that holds self, which nothing collects.
            raise type(value)(*value.args)
        return value() if callable(value) else value

    def __index__(self) -> Any:
        return self._answer("index")

    def __len__(self) -> Any:
        return self._answer("len")

    def __iter__(self) -> Any:
        return self._answer("iter")

    def __getitem__(self, key: Any) -> Any:
        return self._answer("getitem")

    def __float__(self) -> Any:
        return self._answer("float")

    def __bool__(self) -> Any:
        return self._answer("bool")

    def __buffer__(self, flags: int) -> Any:
        return self._answer("buffer")


class Boom(Exception):
    """Raised by hostile objects: it must reach the caller unchanged."""
