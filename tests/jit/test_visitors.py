"""The registries of the compiler: what it does for each kind of node, and for what is called."""

from __future__ import annotations

import ast
import builtins
import math
import operator

import pytest

import pygpu._src.jit.decorators.kernel  # noqa: F401 - it loads all visitors and handlers
from pygpu._src.jit.walk.registry import EXPRESSIONS, STATEMENTS, find

# No expressions of their own: parts of others, or of later versions of Python.
PARTS = {"FormattedValue", "Interpolation", "Slice", "TemplateStr", "TypeAlias"}


@pytest.mark.parametrize("base, registry", [(ast.expr, EXPRESSIONS), (ast.stmt, STATEMENTS)])
def test_every_kind_of_node_is_compiled_or_refused_with_a_hint(base: type, registry: dict):
    kinds = {kind for kind in vars(ast).values() if isinstance(kind, type)}
    found = {kind for kind in kinds if kind.__base__ is base}
    assert len(found) >= 24
    assert {kind.__name__ for kind in found - registry.keys()} <= PARTS
    own = {kind for kind in registry if kind.__module__ != "ast"}  # what source.py makes of them
    assert registry.keys() - own <= found and len(own) < 2


@pytest.mark.parametrize("obj", [math.log, math.comb, builtins.max, operator.neg, len, print])
def test_what_is_called_has_a_handler(obj: object):
    assert find(obj) is not None


@pytest.mark.parametrize("obj", [open, math.dist, [], object()])
def test_what_kernels_cannot_call_has_none(obj: object):
    assert find(obj) is None
