"""The local variables of a function: their types, and their assignments."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from ..ir import Value
from ..types import ArrayType, ObjectType, RecordType, Scalar, TupleType, Type, c_name
from .reaching_definitions import Reaching

_PART = re.compile(r"_(\d+|[ns]\d+|re|im|x)$")


class Split(Exception):
    """A name now has several variables: the walk starts again."""


class Variable:
    """A local variable: what is known of it so far."""

    __slots__ = ("cname", "nonneg", "type")

    def __init__(self, cname: str) -> None:
        self.cname = cname
        self.type: Type | None = None
        self.nonneg = True


def variable_name(name: str) -> str:
    """Return the C name of a variable; those of its parts are longer by a suffix with which no
    name ends."""
    name = c_name(name)
    return f"v_{name}_x" if _PART.search(name) else f"v_{name}"


def variable_value(t: Type, name: str, nonneg: bool = False) -> Value:
    """Return the value of a C variable of this type."""
    if isinstance(t, Scalar):
        return Value(t, name, nonneg=nonneg or t.dtype.kind in "bu")
    if isinstance(t, ArrayType):
        shape = [f"{name}_n{i}" for i in range(t.ndim)]
        strides = None if t.contiguous else [f"{name}_s{i}" for i in range(t.ndim)]
        return Value(t, name, shape=shape, strides=strides)
    if isinstance(t, TupleType):
        items = [variable_value(item, f"{name}_{i}", nonneg) for i, item in enumerate(t.items)]
        return Value(t, items=items)
    if isinstance(t, ObjectType):
        return Value(t, const=t.value)
    return Value(t, name) if isinstance(t, RecordType) else Value(t)


class Variables:
    """The variables of one function.

    by_key: by the result of :meth:`key_of`. const_locals: those that are a constant in the current
    block; left: those of finished blocks. assigned: those that the walk has assigned.
    may_be_unset: those that are read where they may not be assigned yet. decided: by id() of an
    ``if`` or ``while``, the known value of its test. renewed: the names that the expressions of a
    statement assign, and how often.
    """

    def __init__(
        self, parameters: Sequence[str], arg_types: Sequence[Type], body: Sequence[ast.stmt]
    ) -> None:
        self.parameters = parameters
        self.arg_types = tuple(arg_types)
        self.body = body
        self.by_key: dict[str, Variable] = {}
        self.split: set[str] = set()  # names with several variables, see key_of
        self.reaching: Reaching | None = None
        self.decided: dict[int, bool] = {}
        self.literals: dict[str, Value] = {}  # parameters with known numbers
        self.may_be_unset: set[str] = set()
        self.has_walrus = False
        self._stored_names: dict[ast.AST, set[str]] = {}  # by statements; loops ask repeatedly
        self.reads_none = False  # whether an expression read a variable that is None so far
        self.stores = self._count_stores(body)
        for name, t in zip(parameters, self.arg_types):
            self._add_parameter(name, t)

    def begin_walk(self) -> None:
        """Drop the results of the last walk, except types."""
        if self.is_outdated:
            self.analyse()
        self.decided = {}
        self.const_locals: dict[str, Value] = {}
        self.left: dict[str, Value] = {}
        self.assigned: set[str] = set()
        self.renewed: dict[str, int] = {}
        self.const_locals.update(self.literals)

    def decide(self, node: ast.AST, test: Value) -> None:
        """Record the known value of the test of an ``if`` or ``while``, unless that may change: a
        variable that is None so far may get other values."""
        if not self.reads_none:
            self.decided[id(node)] = bool(test.const)

    @property
    def is_outdated(self) -> bool:
        """Whether the analysis of reaching assignments is based on other tests."""
        return self.reaching is not None and self.reaching.decided != self.decided

    def _add_parameter(self, name: str, t: Type) -> None:
        v = self.by_key[name] = Variable(variable_name(name))
        v.type = t
        v.nonneg = isinstance(t, Scalar) and t.dtype.kind in "bu"

    def arguments(self) -> list[tuple[str, Type]]:
        """Return the C name and the type of each parameter."""
        return [(self.by_key[name].cname, t) for name, t in zip(self.parameters, self.arg_types)]

    def parameter_names(self) -> list[str]:
        """Return the C names of the parameters: one that is assigned has a variable in addition."""
        return [
            f"p_{self.by_key[n].cname}" if n in self.stores else self.by_key[n].cname
            for n in self.parameters
        ]

    def _count_stores(self, body: Sequence[ast.stmt]) -> dict[str, int]:
        found: dict[str, int] = {}
        for statement in body:
            for node in ast.walk(statement):
                if isinstance(node, ast.NamedExpr):
                    self.has_walrus = True
                if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
                    found[node.id] = found.get(node.id, 0) + 1
                if isinstance(node, (ast.For, ast.AugAssign)):
                    for target in ast.walk(node.target):  # assigned many times
                        if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store):
                            found[target.id] = found.get(target.id, 0) + 2
        return found

    # ---- names to variables

    def analyse(self) -> Reaching:
        """Compute which assignments reach which uses, given the known tests."""
        made = self.reaching = Reaching(self.body, self.parameters, dict(self.decided))
        for name in self.split:  # they are different variables now
            for key in [key for key in self.by_key if key.partition("#")[0] == name]:
                self._invalidate(key)
        return made

    def _invalidate(self, key: str) -> None:
        """Drop what is known of a variable's type."""
        self.by_key.pop(key, None)
        self.may_be_unset.discard(key)
        if key in self.parameters:
            self._add_parameter(key, self.arg_types[self.parameters.index(key)])

    def key_of(self, node: ast.Name, stored: bool = False) -> str:
        """Return the variable to which a name refers here, in by_key: the name itself, unless its
        assignments have incompatible types. Then those that reach a common use are one variable."""
        if node.id not in self.split:
            return node.id
        return (self.reaching or self.analyse()).key(node, stored)

    def split_name(self, name: str) -> None:
        """Give the name several variables, because an assigned value does not fit its variable; if
        it has several, by the tests known so far."""
        decided = {} if self.reaching is None else self.reaching.decided
        if name not in self.split or not self.decided.items() <= decided.items():
            self.split.add(name)
            raise Split

    def is_single(self, key: str) -> bool:
        """Whether a variable is assigned at one place, once."""
        if "#" in key:
            return (self.reaching or self.analyse()).stores(key) == 1
        return self.stores.get(key) == 1 and key not in self.parameters

    def is_set(self, node: ast.Name) -> bool:
        """Whether this use of a name is reached only on paths that assign it."""
        return not (self.reaching or self.analyse()).may_be_unset(node)

    def is_never_set(self, node: ast.Name) -> bool:
        """Whether no assignment to the name can run before this use."""
        return (self.reaching or self.analyse()).is_never_set(node)

    def c_names_stored(self, node: ast.AST) -> list[str]:
        """Return the C names of the variables that a statement assigns, as far as they are
        known."""
        names = self._stored_names.get(node)
        if names is None:
            names = self._stored_names[node] = _stored_names(node)
        return [v.cname for name in names if (v := self.by_key.get(name)) is not None]


def _stored_names(node: ast.AST) -> set[str]:
    """Return the names that a statement assigns."""
    return {
        inner.id
        for inner in ast.walk(node)
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, (ast.Store, ast.Del))
    }
