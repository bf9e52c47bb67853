"""Which assignments of a name reach which of its uses.

The walk over the syntax tree gives each name one variable, and replaces a name that is assigned
once, to a constant, by the constant. If that is not sufficient (a use that the assignment does not
dominate, assignments of incompatible types), it uses this analysis.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_Definitions = frozenset[Any]
_UNSET = "unset"  # the definition of a name before any assignment
_NOTHING: _Definitions = frozenset((_UNSET,))


class _State:
    """The definitions of each name that reach a place, and whether the place is reachable."""

    __slots__ = ("live", "names")

    def __init__(self, names: dict[str, _Definitions], live: bool = True) -> None:
        self.names = names
        self.live = live

    def set(self, name: str, definition: Any) -> _State:
        return _State({**self.names, name: frozenset((definition,))}, self.live)

    def dead(self) -> _State:
        return _State(self.names, False)


def _join(states: Iterable[_State]) -> _State:
    states = list(states)
    states = [s for s in states if s.live] or states[:1]
    names: dict[str, _Definitions] = {}
    for name in {name for state in states for name in state.names}:
        names[name] = frozenset().union(*(s.names.get(name, _NOTHING) for s in states))
    return _State(names, states[0].live)


class Reaching:
    """The analysis of one function.

    decided: by id() of an ``if`` or ``while``, the known value of its test: only that branch is
    followed.
    """

    def __init__(
        self,
        body: Sequence[ast.stmt],
        parameters: Sequence[str],
        decided: Mapping[int, bool],
    ) -> None:
        self.decided = decided
        # By id() of the Name, the definitions that may reach it.
        self.reads: dict[int, set[Any]] = {}
        self.parent: dict[Any, Any] = {}  # definitions that reach a common use are one variable
        self.count: dict[Any, int] = {}
        self.names: dict[Any, str] = {}
        self.breaks: list[list[_State]] = []
        self.continues: list[list[_State]] = []
        start = _State({})
        for name in parameters:
            self._define(name, name)
            start = start.set(name, name)
        self._block(body, start)
        self._number(parameters)

    # ---- queries

    def may_be_unset(self, node: ast.Name) -> bool:
        """Whether this use of a name can be reached without an assignment to it."""
        return _UNSET in self.reads.get(id(node), ())

    def is_never_set(self, node: ast.Name) -> bool:
        """Whether no assignment reaches this use of a name."""
        return self.reads.get(id(node)) == {_UNSET}

    def key(self, node: ast.Name, stored: bool) -> str:
        """Return the variable of this use of a name, or of this assignment: the name itself for a
        parameter's, else a name that no program uses."""
        if stored:
            return self.keys.get(self._root(id(node)), node.id)
        for definition in self.reads.get(id(node), ()):
            if definition != _UNSET:
                return self.keys[self._root(definition)]
        return node.id

    def stores(self, key: str) -> int:
        """Return how many assignments a variable has; those of loops and ``+=`` count as
        several."""
        return self.counts.get(key, 0)

    def _number(self, parameters: Sequence[str]) -> None:
        self.keys: dict[Any, str] = {}
        self.counts: dict[str, int] = {}
        numbers: dict[str, int] = {}
        for definition, name in self.names.items():
            root = self._root(definition)
            if root not in self.keys:
                if name in parameters and root == self._root(name):
                    self.keys[root] = name
                else:
                    numbers[name] = numbers.get(name, 0) + 1
                    self.keys[root] = f"{name}#{numbers[name]}"
            key = self.keys[root]
            self.counts[key] = self.counts.get(key, 0) + self.count[definition]

    # ---- definitions

    def _define(self, definition: Any, name: str, count: int = 1) -> None:
        self.parent.setdefault(definition, definition)
        self.names[definition] = name
        self.count[definition] = count

    def _root(self, definition: Any) -> Any:
        while self.parent.get(definition, definition) != definition:
            definition = self.parent[definition]
        return definition

    def _read(self, node: ast.Name, state: _State) -> None:
        found = state.names.get(node.id, _NOTHING)
        reaching = self.reads.setdefault(id(node), set())
        reaching |= found
        real = [d for d in reaching if d != _UNSET]
        for other in real[1:]:
            self.parent[self._root(other)] = self._root(real[0])

    # ---- the walk

    def _target(self, node: ast.expr, state: _State, count: int = 1) -> _State:
        if isinstance(node, ast.Name):
            self._define(id(node), node.id, count)
            return state.set(node.id, id(node))
        if isinstance(node, (ast.Tuple, ast.List)):
            for element in node.elts:
                state = self._target(element, state, count)
            return state
        if isinstance(node, ast.Starred):
            return self._target(node.value, state, count)
        return self._expression(node, state)

    def _expression(self, node: ast.AST | None, state: _State) -> _State:
        if node is None:
            return state
        if isinstance(node, ast.Name):
            self._read(node, state)
            return state
        if isinstance(node, ast.NamedExpr):
            return self._target(node.target, self._expression(node.value, state))
        for child in ast.iter_child_nodes(node):
            state = self._expression(child, state)
        return state

    def _block(self, statements: Sequence[ast.stmt], state: _State) -> _State:
        for statement in statements:
            method = getattr(self, f"_on_{type(statement).__name__}", self._expression)
            state = method(statement, state)
        return state

    def _on_Assign(self, node: ast.Assign, state: _State) -> _State:
        state = self._expression(node.value, state)
        for target in node.targets:
            state = self._target(target, state)
        return state

    def _on_AnnAssign(self, node: ast.AnnAssign, state: _State) -> _State:
        if node.value is None:
            return state
        return self._target(node.target, self._expression(node.value, state))

    def _on_AugAssign(self, node: ast.AugAssign, state: _State) -> _State:
        state = self._expression(node.target, state)  # it also reads a Name
        state = self._expression(node.value, state)
        return self._target(node.target, state, 3)

    def _on_If(self, node: ast.If, state: _State) -> _State:
        state = self._expression(node.test, state)
        decided = self.decided.get(id(node))
        if decided is not None:
            return self._block(node.body if decided else node.orelse, state)
        return _join([self._block(node.body, state), self._block(node.orelse, state)])

    def _on_While(self, node: ast.While, state: _State) -> _State:
        decided = self.decided.get(id(node))
        if isinstance(node.test, ast.Constant):
            decided = bool(node.test.value)

        def head(state: _State) -> tuple[_State, _State]:
            state = self._expression(node.test, state)
            return (
                state.dead() if decided is False else state,
                state.dead() if decided is True else state,
            )

        return self._loop(node, state, head)

    def _on_For(self, node: ast.For, state: _State) -> _State:
        state = self._expression(node.iter, state)
        return self._loop(node, state, lambda state: (self._target(node.target, state, 3), state))

    def _loop(self, node: ast.For | ast.While, state: _State, head: Any) -> _State:
        """head: maps the state before an iteration to the states in the body and after the last
        one."""
        begin = state
        while True:
            self.breaks.append([])
            self.continues.append([])
            inside, done = head(begin)
            ends = [self._block(node.body, inside), *self.continues.pop()]
            left = self.breaks.pop()
            again = _join([begin, *ends])
            if again.names == begin.names:
                break
            begin = _State(again.names, begin.live)
        return _join([self._block(node.orelse, done), *left])

    def _on_Break(self, node: ast.Break, state: _State) -> _State:
        self.breaks[-1].append(state)
        return state.dead()

    def _on_Continue(self, node: ast.Continue, state: _State) -> _State:
        self.continues[-1].append(state)
        return state.dead()

    def _on_Return(self, node: ast.Return, state: _State) -> _State:
        return self._expression(node.value, state).dead()
