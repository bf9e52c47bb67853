"""Functions and lambdas defined in a kernel.

Each becomes a device function with the kernel's variables that it reads as additional parameters.
Their values are those at the time of the call, as in Python.
"""

from __future__ import annotations

import ast
import copy
import types
from typing import Any

from ..ir import Value
from ..source import InnerFunction, InnerSource
from .calls import call_function
from .constants import constant
from .context import FunctionContext
from .names import read_name
from .registry import Args, Kwargs, visits_expression


class LocalFunction:
    """A function defined in a kernel. source: of that kernel, which has the variables
    *captured*."""

    def __init__(self, function: types.FunctionType, source: Any, captured: list[str]) -> None:
        self.__name__ = function.__name__
        self._function = function
        self._source = source
        self._captured = captured

    def emit_call(self, fc: FunctionContext, node: ast.Call, args: Args, kwargs: Kwargs) -> Value:
        if self._captured and fc.source is not self._source:
            raise fc.source.error(
                f"{self.__name__} uses variables of the function that it is defined in "
                f"({', '.join(self._captured)}), and can only be called there; pass them",
                node,
            )
        given = dict(kwargs)
        for name in self._captured:
            if name in kwargs:
                raise fc.source.error(f"{self.__name__}() has no argument {name!r}", node)
            if name in fc.vars.split:
                raise fc.source.error(
                    f"{name}, which {self.__name__} uses, has values of several types; use "
                    "several names",
                    node,
                )
            given[name] = read_name(fc, ast.copy_location(ast.Name(name, ast.Load()), node))
        return call_function(fc, node, self._function, args, given)

    def __repr__(self) -> str:
        return f"<function {self.__name__} of a kernel>"


@visits_expression(InnerFunction)
def inner_function(fc: FunctionContext, node: InnerFunction) -> Value:
    found = fc.source.inner.get(id(node))
    if found is None:
        found = fc.source.inner[id(node)] = _make_function(fc, node)
    return constant(fc, found, node)


def _make_function(fc: FunctionContext, node: InnerFunction) -> LocalFunction:
    definition = copy.deepcopy(node.definition)
    a = definition.args
    own = {p.arg for p in ast.walk(a) if isinstance(p, ast.arg)}
    names = [n for n in ast.walk(definition) if isinstance(n, ast.Name)]
    own |= {n.id for n in names if isinstance(n.ctx, ast.Store)}
    used = dict.fromkeys(n.id for n in names if n.id not in own)
    captured = [n for n in used if n in fc.vars.stores or n in fc.vars.parameters]
    defaults = [_default(fc, d) for d in a.defaults]
    keyword_defaults = {
        p.arg: _default(fc, d) for p, d in zip(a.kwonlyargs, a.kw_defaults) if d is not None
    }
    a.kwonlyargs += [ast.copy_location(ast.arg(n), node) for n in captured]
    a.defaults, a.kw_defaults = [], [None] * len(a.kwonlyargs)
    name = getattr(definition, "name", "inner_lambda")
    module = ast.parse(f"def {name}(): pass")  # only for its signature
    stub: Any = module.body[0]
    stub.args = a
    ast.fix_missing_locations(module)
    space: dict[str, Any] = {}
    exec(
        compile(module, fc.source.filename, "exec", dont_inherit=True),
        fc.source.function.__globals__,
        space,
    )
    function: types.FunctionType = space[name]
    function.__defaults__ = tuple(defaults) or None
    function.__kwdefaults__ = keyword_defaults or None
    function._pygpu_source = InnerSource(function, definition, fc.source)  # type: ignore[attr-defined]
    return LocalFunction(function, fc.source, captured)


def _default(fc: FunctionContext, node: ast.expr) -> Any:
    value = fc.expr(node)
    if not value.is_const:
        raise fc.source.error("defaults of functions in a kernel must be constant", node)
    return value.const
