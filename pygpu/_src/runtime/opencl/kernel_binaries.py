"""Binaries of generated kernels on PoCL, kept on disk.

PoCL keeps what it compiled itself, but reads a program's code anew in each process: 25 to 70 ms, of
which 2 are left with a binary. To make one it compiles the kernels once more, for groups of any
size, which takes a third of the time of compiling a kernel. A process that runs once has nothing
of it. So a process makes binaries of the first few kernels that are new, and leaves a mark for the
others; of a marked kernel, another process makes one, where that takes no longer than a part of
all compiling. Until then it is left to PoCL's cache.

PoCL puts a binary together from files of its cache, and ends the process if another one is writing
them. So what a binary is made of is built with an option that no other process has, which gives it
files of its own.
"""

from __future__ import annotations

import hashlib
import json  # noqa: F401  # of the cache: now, not in the first operation
import os
import time
from collections.abc import Sequence
from typing import Any

from pygpu._src.runtime import disk_cache
from pygpu._src.util import log

from . import build as programs

__all__ = ["build"]

_FORMAT = "generated 2"
# What a program could depend on beyond its text, in the text of users.
_UNCERTAIN = ("include", "import", "embed", "__DATE__", "__TIME", "__has_", "\\\n", "\\\r", "??")
# What a process gives for binaries: [s], and a share of the time of compiling.
_FOR_NEW = 0.4, 0.01  # of kernels that were never compiled before
_FOR_MARKED = 2.0, 0.2  # of those that another process compiled, too

_compiling = 0.0  # [s] by this process
_packing = 0.0  # [s] of them, on binaries


def build(program: Any, source: str, prefix: str | None, words: Sequence[str], device: Any) -> Any:
    """program.build(words, devices=[device]) of a program that was not built yet. prefix: of the
    dialect, with which the source begins; None for one that does not."""
    store = None
    if prefix is not None and programs.is_pocl(device):
        text = source[len(prefix) :]
        if not any([sign in text for sign in _UNCERTAIN]):
            store = _store(program.context)
    if store is None:
        return program.build(list(words), devices=[device])
    options = programs._Options(list(words), [device], programs._takes_arg_info([device]))
    key = _key(source, options.words, device)
    entry = store.read(key)
    if entry is not None and entry[0]:
        if store.load(program, [device], [key], options.encoded) is not None:
            log.cache_lookup(True, source)
            return program
    log.cache_lookup(False, source)
    if entry is None:
        return _keep(store, key, program, words, device, _FOR_NEW)
    return _keep(store, key, program, words, device, _FOR_MARKED)


def _store(context: Any) -> disk_cache.Store | None:
    """The cache, None for none, or if the program has chosen how its programs are kept."""
    folder, wanted = disk_cache.chosen_folder(context, None)
    return (
        None if folder is None or wanted or disk_cache._switched_off() else disk_cache.Store(folder)
    )


def _key(source: str, words: Sequence[str], device: Any) -> str:
    around = (_FORMAT, words, disk_cache._surroundings(), disk_cache._identity(device))
    key = hashlib.sha256(repr(around).encode("utf-8", "surrogateescape"))
    key.update(source.encode("utf-8", "surrogateescape"))
    return key.hexdigest()


def _keep(
    store: disk_cache.Store,
    key: str,
    program: Any,
    words: Sequence[str],
    device: Any,
    limit: tuple[float, float],
) -> Any:
    """Build a program, and keep its binary, or a mark."""
    global _compiling, _packing
    packs = _packing <= limit[0] + limit[1] * _compiling
    start = time.perf_counter()
    alone = [f"-DPG_OF_{os.urandom(16).hex()}"] if packs else []
    built = program.build([*words, *alone], devices=[device])
    done = time.perf_counter()
    if packs:
        store.save(built, [device], [key], {})
        end = time.perf_counter()
        # A marked kernel was in PoCL's cache, and was compiled for the binary alone.
        _packing += end - (done if limit is _FOR_NEW else start)
    else:
        store.write(key, b"", {})
        end = done
    _compiling += end - start
    return built
