"""The visitors of each kind of node, and the handlers of each object that is called.

A module registers its functions when it is imported: *visitors* of expressions and statements by
the node's type, *handlers* of calls by the object to which the called name refers. All of them
take the :class:`~pygpu._src.jit.walk.context.FunctionContext` of the function that is being
compiled.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from pygpu._src.util.wording import counted

from ..ir import Value

if TYPE_CHECKING:
    from .context import FunctionContext

Args = list[Value]
Kwargs = dict[str, Value]
Handler = Callable[["FunctionContext", ast.Call, Args, Kwargs], Value]
_E = TypeVar("_E", bound=Callable[["FunctionContext", Any], Value])
_S = TypeVar("_S", bound=Callable[["FunctionContext", Any], None])
_H = TypeVar("_H", bound=Handler)
_F = TypeVar("_F", bound=Callable[[Any], Handler | None])

EXPRESSIONS: dict[type[ast.expr], Callable[[FunctionContext, Any], Value]] = {}
STATEMENTS: dict[type[ast.stmt], Callable[[FunctionContext, Any], None]] = {}
HANDLERS: dict[Any, Handler] = {}
_FINDERS: list[Callable[[Any], Handler | None]] = []
# Modules with handlers that few kernels need. Importing them takes a fifth of the first kernel's
# time, so they are imported when an object without a handler is called.
RARE: list[str] = []


class WrongCall(Exception):
    """The arguments of a call do not fit; the message says why."""


def visits_expression(kind: type[ast.expr]) -> Callable[[_E], _E]:
    """Register the visitor of a kind of expression, which returns its value."""

    def keep(visitor: _E) -> _E:
        EXPRESSIONS[kind] = visitor
        return visitor

    return keep


def visits_statement(kind: type[ast.stmt]) -> Callable[[_S], _S]:
    """Register the visitor of a kind of statement, which writes its C text."""

    def keep(visitor: _S) -> _S:
        STATEMENTS[kind] = visitor
        return visitor

    return keep


def handles(*objects: Any) -> Callable[[_H], _H]:
    """Register the handler of calls of these objects."""

    def keep(handler: _H) -> _H:
        for obj in objects:
            HANDLERS[obj] = handler
        return handler

    return keep


def finds(finder: _F) -> _F:
    """Register a function that may know the handler of an object without a registered one."""
    _FINDERS.append(finder)
    return finder


def import_rare() -> None:
    """Register the handlers of the modules in RARE."""
    for name in [*RARE]:
        import_module(name)
    RARE.clear()  # afterwards: another thread must not miss handlers


def find(obj: Any) -> Handler | None:
    """Return the handler of a callable; None if there is none."""
    try:
        found = HANDLERS.get(obj)
        if found is None and RARE:
            import_rare()
            found = HANDLERS.get(obj)
    except TypeError:
        return None
    if found is not None:
        return found
    return next(filter(None, (finder(obj) for finder in _FINDERS)), None)


def count(what: str, args: Args, kwargs: Kwargs, low: int, high: int) -> None:
    """Check the number of arguments of a builtin."""
    if kwargs:
        raise WrongCall(f"{what}() takes no keyword arguments in kernels")
    if not low <= len(args) <= high:
        expected = counted(high, "argument")
        expected = expected if low == high else f"{low} to {expected}"
        raise WrongCall(f"{what}() takes {expected}, {len(args)} given")


def one_array(what: str, args: Args, kwargs: Kwargs) -> Value:
    """Return the argument of a builtin that takes one array."""
    count(what, args, kwargs, 1, 1)
    if not args[0].is_array:
        raise WrongCall(f"{what}() takes an array, not {args[0].type}")
    return args[0]
