"""Generated kernels, each compiled once per backend.

A kernel is identified by a key: a tuple of everything that determines its source. The binaries are
cached on disk by the programs' own caches (docs/guide/cache.md). So a key costs one compilation
per machine, and reading one file per process.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from pygpu import _array
from pygpu._src.util import log

if TYPE_CHECKING:
    from .backend import Backend, Compiled

# A source and its kernel's name; also the names, by key, of other kernels that it defines
Made = tuple[str, str] | tuple[str, str, Mapping[Hashable, str]]

background: set[int] = set()  # threads that compile in advance, which nobody waits for
_compiling = 0  # kernels that threads are waiting for
_compiled = 0.0  # when the last of them was ready
_works = False  # whether a kernel has been compiled
_starting = threading.RLock()  # held until a thread in Backend.compiling can be joined
_MOST_AT_ONCE = min(os.cpu_count() or 1, 8)


def _after_fork() -> None:
    """Make a lock that no thread of the parent holds."""
    global _starting
    _starting = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def quiet_for() -> float:
    """Return for how many seconds nobody has waited for a compiler."""
    return 0.0 if _compiling else time.monotonic() - _compiled


def source(backend: Backend, text: str, features: Iterable[str] = ()) -> str:
    """Return a complete source: the dialect's prefix and a source in the common language."""
    return backend.dialect.source(text, features)


def get(
    backend: Backend,
    key: Hashable,
    make: Callable[[], Made],
    features: Iterable[str] = (),
    exact: bool = True,
    quick: bool = False,
) -> Any:
    """Return the kernel for a key, if necessary compiled from the (source, kernel's name) that
    *make* returns. Other kernels that it names are kept under their own keys.

    The source is in the common language, without its prefix. exact: round each operation
    separately (no fused multiply-add), as NumPy does. quick: the compiler may skip optimizations
    that are slow and hardly help this source. If two threads miss at once, both compile, and get
    the kernel of the one that finished first.
    """
    kernel = backend.kernels.get(key)
    if kernel is None:
        with _starting:
            started = backend.compiling.get(key)
        if started is not None:
            started.join()
            kernel = backend.kernels.get(key)
    if kernel is None:
        with _counted():
            kernel = _compile(backend, key, _Source(backend, make, features, exact, quick))
    return kernel


class _Source:
    """A complete source, and the names of its kernels."""

    def __init__(
        self,
        backend: Backend,
        make: Callable[[], Made],
        features: Iterable[str],
        exact: bool,
        quick: bool,
    ) -> None:
        dialect = backend.dialect
        self.made = make()
        self.text = source(backend, self.made[0], features)
        self.options = (
            *dialect.quiet,
            *(dialect.exact if exact else ()),
            *(dialect.quick if quick else ()),
        )

    def keep(self, backend: Backend, key: Hashable, compiled: Compiled) -> Any:
        """Keep the kernels and return the one for the key."""
        made = self.made
        if len(made) == 3:
            for other, other_name in made[2].items():
                backend.kernels.setdefault(other, compiled.kernel(other_name))
        return backend.kernels.setdefault(key, compiled.kernel(made[1]))


@contextmanager
def _counted() -> Iterator[None]:
    """Count what is compiled in the block, unless nobody waits for it."""
    global _compiling, _compiled
    awaited = threading.get_ident() not in background
    _compiling += awaited
    try:
        yield
    finally:
        if awaited:
            _compiling -= 1
            _compiled = time.monotonic()


def _compile(backend: Backend, key: Hashable, source: _Source, searched: bool = False) -> Any:
    """Return the kernel for a key. searched: it is not in the cache on disk."""
    global _works
    compiled = backend.compile(source.text, source.options, searched)
    _works = True
    return source.keep(backend, key, compiled)


def start(
    backend: Backend,
    key: Hashable,
    make: Callable[[], Made],
    features: Iterable[str] = (),
    exact: bool = True,
    quick: bool = False,
) -> None:
    """Start compiling, in a thread, a kernel that get() will be asked for with the same arguments.

    A caller that needs several kernels starts all of them, so that the first call waits for the
    slowest one instead of for their sum. Errors are left to get(), which compiles again. Only on
    CUDA, whose compiler runs in several threads at once.
    """
    if backend.name != "cuda" or key in backend.kernels or key in backend.compiling:
        return

    def work() -> None:
        _compile(backend, key, _Source(backend, make, features, exact, quick))

    _start(backend, key, work)


def _start(backend: Backend, key: Hashable, work: Callable[[], None]) -> None:
    def run() -> None:
        _array._chain_compiler()
        try:
            with _counted():
                work()
        except BaseException as error:
            log.log("compile", log.INFO, "a kernel was not compiled in advance: %s", error)
        finally:
            backend.compiling.pop(key, None)
        if not backend.compiling:
            _array._launch_pending()

    thread = threading.Thread(target=run, name="pygpu compiler")
    with _starting:
        backend.compiling[key] = thread
        try:
            thread.start()
        except RuntimeError:  # no more threads, or the interpreter is shutting down
            backend.compiling.pop(key, None)


class Compiling:
    """A kernel that a thread compiles."""

    def __init__(self, get: Callable[[], Any]) -> None:
        self._get = get
        self._calls: list[Callable[[], None]] = []
        self.kernel: Any = None  # once it was waited for

    def call_when_launched(self, call: Callable[[], None]) -> None:
        """Have a function called before the kernel's first launch."""
        self._calls.append(call)

    def wait(self) -> Any:
        """Return the kernel."""
        self.kernel = self._get()
        while self._calls:
            self._calls.pop(0)()
        return self.kernel


def is_compiling(*kernels: Any) -> bool:
    """Whether nobody has waited yet for one of them."""
    return any(type(kernel) is Compiling and kernel.kernel is None for kernel in kernels)


def compiled(kernel: Any) -> Any:
    """Return a kernel, which may be Compiling and waited for."""
    return kernel.kernel or kernel.wait() if type(kernel) is Compiling else kernel


def later(
    backend: Backend,
    key: Hashable,
    make: Callable[[], Made],
    features: Iterable[str] = (),
    exact: bool = True,
    quick: bool = False,
) -> Any:
    """Like get(), but on CUDA the kernel may be Compiling, which pending.launch() takes."""
    kernel = backend.kernels.get(key)
    if kernel is not None:
        return kernel
    again = partial(get, backend, key, make, features, exact, quick)
    if key in backend.compiling:
        return Compiling(again)
    if backend.name != "cuda" or not _works or len(backend.compiling) + 1 >= _MOST_AT_ONCE:
        return again()
    source = _Source(backend, make, features, exact, quick)
    compiled = backend.find(source.text, source.options)
    if compiled is not None:
        return source.keep(backend, key, compiled)

    def work() -> None:
        _compile(backend, key, source, searched=True)

    _start(backend, key, work)
    return Compiling(again) if key in backend.compiling else again()


def begin(backend: Backend, makers: Sequence[Callable[[], Any]]) -> Callable[[], list[Any]]:
    """Start functions that compile, on CUDA each in its own thread. The function that is returned
    waits for them and returns their results, or raises the first exception after all have ended.
    Elsewhere it calls them."""
    if backend.name != "cuda":
        return lambda: [make() for make in makers]
    results: list[Any] = [None] * len(makers)
    errors: list[BaseException] = []
    begun: list[threading.Thread] = []

    def work(index: int) -> None:
        try:
            results[index] = makers[index]()
        except BaseException as error:
            errors.append(error)

    def finish() -> list[Any]:
        for thread in begun:
            thread.join()
        if errors:
            raise errors[0]
        return results

    for index in range(len(makers)):
        thread = threading.Thread(target=work, args=(index,), name="pygpu compiler")
        try:
            thread.start()
        except RuntimeError:  # no more threads
            work(index)
        else:
            begun.append(thread)
    return finish


def keep_plan(backend: Backend, family: str, key: Any, plan: Any) -> None:
    """Keep a plan for arrays of some shape. Since there may be very many shapes, at most a
    thousand plans of each family are kept."""
    keys = backend.kernels.setdefault(family, [])
    if len(keys) >= 1024:
        for old in keys[:512]:
            backend.kernels.pop(old, None)
        del keys[:512]
    keys.append(key)
    backend.kernels[key] = plan


def rule(backend: Backend, per_item: int = 1) -> tuple[int, int, int]:
    """Return how a PG_FOR loop is distributed: (items per group, most groups, group size), if a
    work-item processes per_item items per step."""
    limits = backend.limits
    if limits.is_cpu:  # a few stretches per core, none of them tiny
        return limits.share >> 3, limits.units * 4, 1
    size = min(256, limits.group_size)
    return size * per_item, 1 << 20, size


def grid(backend: Backend, n: int, per_item: int = 1) -> tuple[int, int]:
    """Return (groups, group size) for a PG_FOR loop over n items, per_item of them per step."""
    per_group, most, size = rule(backend, per_item)
    return max(min(-(-n // per_group), most), 1), size


def group_shape(backend: Backend) -> tuple[int, ...]:
    """Return the work-group size of such a loop, in the form for a launch."""
    size = rule(backend)[2]
    return (size,) if backend.name == "opencl" else (size, 1, 1)


def copy_bytes(
    backend: Backend,
    queue: Any,
    dest: Any,
    dest_offset: int,
    src: Any,
    src_offset: int,
    nbytes: int,
    *,
    wait_for: Any = None,
) -> Any:
    """Copy bytes by a kernel, where no command can."""
    kernel = get(
        backend,
        ("copy_bytes",),
        lambda: (
            """\
PG_KERNEL void copy_bytes(PG_ARRAY(pg_u8, dest), PG_ARRAY_IN(pg_u8, src), pg_i64 n)
{
    PG_START(pg_u8, dest);
    PG_START_IN(pg_u8, src);
    PG_FOR(i, n) dest[i] = src[i];
}
""",
            "copy_bytes",
        ),
    )
    groups, size = grid(backend, nbytes)
    args = (dest, dest_offset, src, src_offset, nbytes)
    return backend.launch(kernel, queue, groups, size, args, wait_for=wait_for)
