"""Compiles kernels for frequent sequences of operations (:mod:`.chains`).

C watches which elementwise operations follow each other (``src/array/chain.h``) and calls
:func:`on_frequent` for a chain that occurs often. A thread compiles one kernel for the whole
chain. Once it is ready, C defers such operations until the chain is complete and launches that
kernel; results that the program has dropped by then are not written to memory.

The program never waits for that thread, and the thread yields to the program: it compiles one
kernel at a time, and only if the program has compiled nothing for a while. So a program that ends
soon loses nothing.

Each step is computed and rounded as by its separate kernel, so results are the same to the bit.
"""

from __future__ import annotations

import atexit
import hashlib
import queue
import re
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pygpu import _array
from pygpu._src.codegen.kernels.reduction import GROUP
from pygpu._src.runtime import kernel_cache
from pygpu._src.util import log

from . import chain_reductions, elementwise
from .chain_operations import OPERATIONS as _operations
from .trace import Graph, Node

if TYPE_CHECKING:
    from pygpu._src.runtime.backend import Backend

_FROM_STEP, _FROM_NUMBER = 100, 200  # as in src/array/chain.h
_MOST_OPERANDS = 30  # per kernel: results, arrays and numbers
_MOST_NUMBERS = 50  # that a kernel with a reduction takes in addition
# seconds without another compilation before one begins. On CPUs it uses the cores that kernels
# need.
_QUIET, _QUIET_ON_CPUS = 0.05, 0.3

_VARIABLE = re.compile(r"\bv(\d+)\b")  # of a graph

_jobs: queue.SimpleQueue[tuple[weakref.ref[Backend], tuple[Any, ...]] | None] = queue.SimpleQueue()
_threads: list[threading.Thread] = []
_ends = threading.Event()


class _ArrayLayout(NamedTuple):
    """An array of a chain, with the attributes that :func:`elementwise.prepare` reads."""

    number: int
    offset: int  # modulo 32
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def base_data(self) -> None:
        """Its existence distinguishes arrays from numbers."""
        return None

    @property
    def dtype(self) -> np.dtype[Any]:
        return _DTYPES[self.number]

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize


_DTYPES = [np.dtype(code) for code in "?bBhHiIlLqQfdgFDG"] + [np.dtype("O")] * 6
_DTYPES += [np.dtype(np.float16)]  # 23


class _Job(NamedTuple):
    """A chain, and how it is launched."""

    key: bytes
    hashes: bytes
    shape: tuple[int, ...]
    operation: elementwise.Operation
    layouts: tuple[_ArrayLayout | None, ...]  # for the kernel's operands, None for a number
    # The reduction: number, layouts of its operand and of its result, the variable.
    end: tuple[int, _ArrayLayout, _ArrayLayout, str] | None
    results: tuple[int, ...]
    operands: tuple[int, ...]
    length: int  # number of operations


def _job(backend: Backend, description: tuple[Any, ...]) -> _Job | None:
    """Return what to compile for a chain, as described by C's ``chain_describe()``, without the
    backend."""
    key, shape, steps, leaves, live, hashes, end = description
    graph = Graph(backend.name)
    inputs: dict[int, tuple[int, _ArrayLayout | None]] = {}  # by node: see _chain_known()
    arrays = []
    for i, leaf in enumerate(leaves):
        layout = _ArrayLayout(*leaf)
        node = graph.add(Node("array", i, (), (), layout.dtype))
        inputs[node] = i, layout
        arrays.append(node)
    made: list[int] = []
    count = 0
    for number, sources, _ in steps:
        operation = _operations[number - 1]
        nodes = []
        for source, dtype in zip(sources, operation.inputs, strict=True):
            if source >= _FROM_NUMBER:
                node = graph.add(Node("number", count, (), (), dtype))
                inputs[node] = -1 - count, None
                count += 1
            else:
                node = made[source - _FROM_STEP] if source >= _FROM_STEP else arrays[source]
            nodes.append(node)
        (result,) = operation.outputs
        # A function by @pygpu.fuse has the variables of its own graph, of the same names.
        body = _VARIABLE.sub(r"inner\1", operation.body)
        step = Node("step", body, tuple(nodes), operation.inputs, result, operation.helpers)
        made.append(graph.add(step))
    results = [i for i in range(len(steps)) if live >> i & 1]
    wanted = results if end is None else [*results, end[1]]
    leaves_of, text, helpers, features = graph.text(tuple(made[i] for i in wanted))
    if len(results) + len(leaves_of) > _MOST_OPERANDS:
        return None
    for number, *_ in steps:
        features |= _operations[number - 1].features
    body = "\n        ".join([text, *(f"y{i} = v{made[k]};" for i, k in enumerate(results))])
    types = tuple(graph.nodes[k].dtype for k in leaves_of)
    outs = tuple(graph.nodes[made[k]].dtype for k in results)
    digest = hashlib.sha256("\0".join((body, helpers, *map(str, types + outs))).encode())
    fused = elementwise.Operation(
        "chain", types, outs, body, helpers, features, key=digest.hexdigest()
    )
    reduced = None
    if end is not None:
        of = _ArrayLayout(*steps[end[1]][2])
        reduced = end[0], of, _ArrayLayout(*end[2]), f"v{made[end[1]]}"
    layouts = (*(_ArrayLayout(*steps[i][2]) for i in results), *(inputs[k][1] for k in leaves_of))
    return _Job(
        key,
        hashes,
        shape,
        fused,
        layouts,
        reduced,
        tuple(results),
        tuple(inputs[k][0] for k in leaves_of),
        len(steps),
    )


def _make(backend: Backend, description: tuple[Any, ...]) -> None:
    """Compile a chain's kernel and register it in C."""
    job = _job(backend, description)
    if job is None:
        return
    log.log(
        "fusion",
        log.INFO,
        "a chain of %d operations on arrays of shape %s becomes one kernel%s",
        job.length,
        job.shape,
        "" if job.end is None else " with the reduction at its end",
    )
    if job.end is not None:
        _make_reduction(backend, job, *job.end)
        return
    launch = elementwise.prepare(backend, job.operation, job.layouts, job.shape)
    sizes = _sizes(backend, launch.groups, launch.group_size)
    made = (launch.kernel, *sizes, job.results, job.operands, launch.numbers, None)
    _array._chain_known(backend.table, job.key, job.hashes, made)


def _sizes(backend: Backend, groups: Any, local: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the sizes of a launch in C's form."""
    groups = (groups,) if isinstance(groups, int) else tuple(groups)
    local = (local,) if isinstance(local, int) else tuple(local)
    if backend.name == "opencl":
        return tuple(n * s for n, s in zip(groups, local, strict=True)), local
    return groups, (*local, 1, 1)[:3]


def _make_reduction(
    backend: Backend, job: _Job, number: int, of: _ArrayLayout, out: _ArrayLayout, value: str
) -> None:
    """The same for a chain that ends with a reduction."""
    step = job.operation
    n = len(job.results)
    steps = step.body, value, step.inputs, step.helpers, step.features, f"{step.key} {value}"
    outputs, inputs = job.layouts[:n], job.layouts[n:]
    found = chain_reductions.prepare(backend, number, job.shape, of, out, outputs, inputs, steps)
    if found is None or len(found.numbers) > _MOST_NUMBERS:
        return
    join = None
    if found.join is not None:
        kernel, groups, numbers = found.join
        join = kernel, *_sizes(backend, groups, GROUP), numbers
    sizes = _sizes(backend, found.groups, GROUP)
    made = (found.kernel, *sizes, job.results, job.operands, found.numbers, join)
    _array._chain_known(backend.table, job.key, job.hashes, made)


def on_frequent(description: tuple[Any, ...], wait: bool) -> None:
    """Handle a chain that occurred often. wait: compile its kernel at once."""
    backend, *rest = description
    if wait:
        _make(backend, tuple(rest))
        return
    _jobs.put((weakref.ref(backend), tuple(rest)))
    if not _threads:
        thread = threading.Thread(target=_work, name="pygpu compiles chains", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # in atexit callbacks, from CPython 3.12 on
            return
        atexit.register(_stop)
        _threads.append(thread)


def _work() -> None:
    kernel_cache.background.add(threading.get_ident())
    _array._chain_compiler()
    while (item := _jobs.get()) is not None and not _ends.is_set():
        reference, description = item
        backend = reference()
        if backend is None:
            continue
        on_cpu = backend.limits.is_cpu
        quiet = _QUIET_ON_CPUS if on_cpu else _QUIET
        while (left := quiet - kernel_cache.quiet_for()) > 0:
            if _ends.wait(left):
                return
        begin = time.monotonic()
        try:
            _make(backend, description)
        except Exception as error:  # the operations continue as before, one launch each
            _failures.append(description[0])
            log.log("fusion", log.INFO, "a chain stays separate operations: %s", error)
        finally:
            del backend, item, description
        if on_cpu and _ends.wait(time.monotonic() - begin):  # the program gets half of the time
            return


_failures: list[bytes] = []  # keys


def _stop() -> None:
    _ends.set()
    _jobs.put(None)
    for thread in _threads:
        thread.join(5.0)  # a compilation in progress
