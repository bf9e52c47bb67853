"""Binaries of generated kernels on PoCL, cached on disk.

PoCL caches what it compiles, but each process reads a program's code again: 25 to 70 ms, or 2 ms
with a binary. To make one, PoCL compiles the kernels once more, for groups of any size, which
takes a third of the time of compiling a kernel. That does not pay for a process that runs only
once. So a process makes binaries of the first few new kernels, and marks the others. Another
process makes the binary of a marked kernel, if that takes no more than a part of all compilation.
Until then the kernel is left to PoCL's cache.

PoCL assembles a binary from files of its cache, and ends the process if another one is writing
them. So the program for a binary is built with an option that no other process has, which gives it
separate files.
"""

from __future__ import annotations

import hashlib
import json  # noqa: F401  # of the cache: now, not in the first operation
import os
import re
import time
from collections.abc import Sequence
from typing import Any

from pygpu._src.runtime import disk_cache
from pygpu._src.util import log

from . import build as programs

_FORMAT = "generated 2"
# Text in users' sources on which a program may depend beyond its source.
_UNCERTAIN = ("include", "import", "embed", "__DATE__", "__TIME", "__has_", "??")
_CONTINUED = re.compile(r"\\[ \t\f\v]*+(?:\r\n?|\n)")  # compilers first join such lines
# The limits of time for binaries: seconds, plus a share of the compilation time.
_FOR_NEW = 0.4, 0.01  # of kernels that were never compiled before
_FOR_MARKED = 2.0, 0.2  # of those that another process has compiled

_compiling = 0.0  # seconds of compilation in this process
_packing = 0.0  # seconds of that for binaries


def build(program: Any, source: str, prefix: str | None, words: Sequence[str], device: Any) -> Any:
    """As program.build(words, devices=[device]), for a program that was not built yet. prefix: of
    the dialect, with which the source begins; None if it does not."""
    store = None
    if prefix is not None and programs.is_pocl(device):
        text = _CONTINUED.sub("", source[len(prefix) :])
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
    """Return the cache; None if it is off, or if the program has chosen its own caching."""
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
    """Build a program, and write its binary, or a mark."""
    global _compiling, _packing
    packs = _packing <= limit[0] + limit[1] * _compiling
    start = time.perf_counter()
    alone = [f"-DPG_OF_{os.urandom(16).hex()}"] if packs else []
    built = program.build([*words, *alone], devices=[device])
    done = time.perf_counter()
    if packs:
        store.save(built, [device], [key], {})
        end = time.perf_counter()
        # A marked kernel was in PoCL's cache, and was compiled only for the binary.
        _packing += end - (done if limit is _FOR_NEW else start)
    else:
        store.write(key, b"", {})
        end = done
    _compiling += end - start
    return built
