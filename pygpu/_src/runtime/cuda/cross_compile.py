"""Compiles recorded sources for an architecture by NVRTC, without a device of that kind.

This is for `pygpu.cache.pack`: the entries get the names that a program on such a device looks for
(docs/guide/cache.md).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from pygpu._src.runtime import disk_cache
from pygpu.errors import CompileError

from . import kernel_images, nvrtc, source_module
from .compilation import Compilation
from .kernel_sources import Lookup

_ARCHITECTURE = re.compile(r"(?:sm_)?([0-9]{1,2})([0-9])")


def known_architectures(call: str, names: Sequence[str]) -> list[tuple[int, int]]:
    """Return the compute capabilities of names such as sm_90. Raises ValueError for those that
    NVRTC does not support."""
    nvrtc.load()
    architectures = nvrtc._cuda()._nvrtc_architectures()
    result = []
    for name in names:
        match = _ARCHITECTURE.fullmatch(name)
        if match is None:
            raise ValueError(f"{call}: {name!r} is not an architecture such as sm_90")
        capability = int(match[1]), int(match[2])
        if architectures and 10 * capability[0] + capability[1] not in architectures:
            major, minor = nvrtc.version()
            listed = ", ".join(f"sm_{number}" for number in architectures)
            raise ValueError(f"{call}: NVRTC {major}.{minor} knows {listed}, not {name}")
        result.append(capability)
    return list(dict.fromkeys(result))


def compile_for(store: disk_cache.Entries, data: bytes, capability: tuple[int, int]) -> str | None:
    """Compile a recipe for an architecture into *store*. Returns the compiler's message if the
    source cannot be compiled here."""
    try:
        recipe = json.loads(data)
        if recipe["kind"] == "generated":
            _compile_generated(store, recipe, capability)
        else:
            _compile_module(store, recipe, capability)
    except CompileError as error:
        return str(error)
    except (KeyError, TypeError, ValueError) as error:
        return f"a recipe in the cache is not valid: {error!r}"
    return None


def _compile_generated(
    store: disk_cache.Entries, recipe: dict[str, Any], capability: tuple[int, int]
) -> None:
    prefix, text, options = recipe["prefix"], recipe["text"], recipe["options"]
    key = kernel_images.key_of(prefix, text, options, capability, simulated=False)
    if key is None:
        return
    result = source_module.compile_generated(
        prefix + text, source_module.known_options(options), "sm_{}{}".format(*capability)
    )
    image = result.cubin or result.ptx or b""
    kernel_images.keep(store, key, image, prefix, recipe["declared"])


def _compile_module(
    store: disk_cache.Entries, recipe: dict[str, Any], capability: tuple[int, int]
) -> None:
    expressions = tuple(recipe["expressions"])
    source, folders = recipe["source"], recipe["folders"]
    lookup = Lookup(source, lambda: store)
    job = Compilation("pack", source, folders, False, "cubin", expressions, lookup)
    lookup.get(lambda: job.with_nvrtc(recipe["words"], "sm_{}{}".format(*capability), None))
