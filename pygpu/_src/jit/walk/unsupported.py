"""Kinds of expressions and statements that kernels do not support, and what to do instead."""

from __future__ import annotations

import ast
from typing import NoReturn

from .context import FunctionContext
from .registry import EXPRESSIONS, STATEMENTS

_LOOP = "comprehensions are not supported; write a loop"
_OUTSIDE = "import is not supported; import the module outside"
_COROUTINES = "coroutines are not supported"

_EXPRESSIONS: dict[type[ast.expr], str] = {
    ast.List: "lists are not supported; use a tuple, or an array of the caller's",
    ast.ListComp: _LOOP,
    ast.SetComp: _LOOP,
    ast.DictComp: _LOOP,
    ast.GeneratorExp: "generators are not supported; write a loop",
    ast.Dict: "dictionaries are not supported",
    ast.Set: "sets are not supported",
    ast.Lambda: "a function inside of a kernel is not supported; define it outside",
    ast.Await: _COROUTINES,
    ast.Yield: "generators are not supported",
    ast.YieldFrom: "generators are not supported",
    ast.JoinedStr: "f-strings are only supported as arguments of print()",
    ast.Starred: "starred expressions are not supported",
}
_STATEMENTS: dict[type[ast.stmt], str] = {
    ast.Try: "exceptions are not supported; test what could go wrong with if",
    ast.TryStar: "exceptions are not supported",
    ast.With: "with is not supported",
    ast.ClassDef: "classes are not supported",
    ast.FunctionDef: "a function inside of a kernel is not supported; define it outside, it is "
    "called by its name",
    ast.AsyncFunctionDef: _COROUTINES,
    ast.AsyncFor: _COROUTINES,
    ast.AsyncWith: _COROUTINES,
    ast.Import: _OUTSIDE,
    ast.ImportFrom: _OUTSIDE,
    ast.Match: "match is supported of values, |, _ and names only; use if",
}


def _refuse_expression(fc: FunctionContext, node: ast.expr) -> NoReturn:
    raise fc.source.error(_EXPRESSIONS[type(node)], node)


def _refuse_statement(fc: FunctionContext, node: ast.stmt) -> NoReturn:
    raise fc.source.error(_STATEMENTS[type(node)], node)


EXPRESSIONS |= dict.fromkeys(_EXPRESSIONS, _refuse_expression)
STATEMENTS |= dict.fromkeys(_STATEMENTS, _refuse_statement)
