"""Generated kernels, each compiled once for a backend.

A kernel is known by a key: a tuple of what its text is made from. The binaries are cached on disk
by the programs' own caches (docs/cache.md), so a key costs a compilation once per machine, and
reading a file once per process.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .backend import Backend

__all__ = ["copy_bytes", "get", "grid", "source"]


def source(backend: Backend, text: str, features: Iterable[str] = ()) -> str:
    """A whole source: the dialect's prefix and a text in the common language."""
    return backend.dialect.prefix(features) + text


def get(
    backend: Backend,
    key: Hashable,
    make: Callable[[], tuple[str, str]],
    features: Iterable[str] = (),
    exact: bool = True,
) -> Any:
    """The kernel for a key; if there is none yet, of the (text, kernel's name) that *make* returns.

    The text is in the common language without its prefix. exact: each operation is rounded by
    itself (no fused multiply-add), as in NumPy. Two threads that miss at once both compile, and get
    the kernel of the one that finished first.
    """
    kernel = backend.kernels.get(key)
    if kernel is None:
        text, name = make()
        options = backend.dialect.exact if exact else ()
        compiled = backend.compile(source(backend, text, features), options)
        kernel = backend.kernels.setdefault(key, compiled.kernel(name))
    return kernel


def grid(backend: Backend, n: int, per_item: int = 1) -> tuple[int, int]:
    """(groups, group size) for a PG_FOR loop over n items, per_item of them in a step.

    On a GPU as many work-items as there are steps, up to 2**22 (a loop does the rest); on a CPU a
    few stretches for each core, none of them tiny.
    """
    limits = backend.limits
    steps = -(-n // per_item)
    if limits.is_cpu:
        return max(min(limits.units * 4, -(-steps // 4096)), 1), 1
    size = min(256, limits.group_size)
    return max(min(-(-steps // size), (1 << 22) // size * 4), 1), size


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
    """Copy bytes by a kernel, where no command does."""
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
