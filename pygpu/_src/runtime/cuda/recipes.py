"""Records of CUDA compilations, so that they can be repeated for other architectures without a
GPU.

A recipe is a separate file in the cache on disk, next to the images that it made. It has the
source and the options, but not the architecture. cross_compile.py compiles recipes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from pygpu._src.runtime import disk_cache

_FORMAT = 1


def is_recipe(facts: dict[str, Any]) -> bool:
    return facts.get("recipe") == _FORMAT


def _record(store: disk_cache.Entries, recipe: dict[str, Any]) -> None:
    data = json.dumps(recipe, sort_keys=True).encode()
    recipes = disk_cache.Entries(store.folder, disk_cache.RECIPE)
    recipes.write(hashlib.sha256(b"recipe" + data).hexdigest(), data, {"recipe": _FORMAT})


def record_generated(
    store: disk_cache.Entries,
    prefix: str,
    text: str,
    options: Sequence[str],
    declared: str | None,
) -> None:
    """Record how a generated kernel is compiled; see kernel_images.key_of."""
    recipe = {"prefix": prefix, "text": text, "options": [*options], "declared": declared}
    _record(store, {"kind": "generated", **recipe})


def record_module(
    store: disk_cache.Entries,
    source: str,
    words: Sequence[str],
    folders: Sequence[str],
    expressions: Sequence[str],
) -> None:
    """Record how a SourceModule is compiled. words: NVRTC's options without the architecture."""
    recipe = {"source": source, "words": [*words], "folders": [*folders]}
    _record(store, {"kind": "module", **recipe, "expressions": [*expressions]})
