"""``match`` as equivalent ``if`` statements, so that later stages need not know it."""

from __future__ import annotations

import ast
from typing import Any


def lower_match(node: Any) -> Any:
    """Return the function with each ``match`` of values as a chain of ``if``; those of sequences,
    mappings and classes stay, and are refused later."""
    return ast.fix_missing_locations(_MatchLowering().visit(node))


class _MatchLowering(ast.NodeTransformer):
    def visit_Match(self, node: ast.Match) -> Any:
        self.generic_visit(node)  # those inside of it
        first: list[ast.stmt] = []
        name = node.subject.id if isinstance(node.subject, ast.Name) else ""
        if not name or name in _stored_names(node.cases):  # computed once
            # A name that no program uses for a variable.
            name = f"match {node.lineno}:{node.col_offset}"
            target = ast.Name(name, ast.Store())
            first.append(ast.copy_location(ast.Assign([target], node.subject), node))
        try:
            return [*first, *_lower_cases(name, node.cases)]
        except _UnsupportedPattern:
            return node


def _stored_names(cases: list[ast.match_case]) -> set[str]:
    """Return the variables that guards assign, before the next case is checked."""
    walked = (node for case in cases if case.guard for node in ast.walk(case.guard))
    return {node.target.id for node in walked if isinstance(node, ast.NamedExpr)}


class _UnsupportedPattern(Exception):
    """An unsupported pattern."""


def _lower_cases(name: str, cases: list[ast.match_case]) -> list[ast.stmt]:
    if not cases:
        return []
    case, rest = cases[0], cases[1:]
    pattern, guard, body = case.pattern, case.guard, case.body
    first: list[ast.stmt] = []
    if isinstance(pattern, ast.MatchAs) and pattern.name is not None:
        value = ast.Name(name, ast.Load())
        named = ast.Assign([ast.Name(pattern.name, ast.Store())], value)
        ast.copy_location(named, pattern)
        if pattern.pattern is None:  # it always matches, even if a guard is false
            first.append(named)
        elif guard is None:
            body = [named, *body]
        else:
            raise _UnsupportedPattern
    test = _pattern_test(name, pattern)
    if test is None and guard is None:
        return [*first, *body]  # later cases are unreachable
    parts = [part for part in (test, guard) if part is not None]
    whole = parts[0] if len(parts) == 1 else ast.BoolOp(ast.And(), parts)
    made = ast.If(ast.copy_location(whole, pattern), body, _lower_cases(name, rest))
    return [*first, ast.copy_location(made, pattern)]


def _pattern_test(name: str, pattern: ast.pattern) -> ast.expr | None:
    """Return the test for a pattern; None if it always matches."""
    found: ast.expr
    if isinstance(pattern, ast.MatchAs):
        return None if pattern.pattern is None else _pattern_test(name, pattern.pattern)
    if isinstance(pattern, ast.MatchValue):
        found = ast.Compare(ast.Name(name, ast.Load()), [ast.Eq()], [pattern.value])
    elif isinstance(pattern, ast.MatchSingleton):
        op = ast.Is() if pattern.value is None else ast.Eq()
        value = ast.copy_location(ast.Constant(pattern.value), pattern)
        found = ast.Compare(ast.Name(name, ast.Load()), [op], [value])
    elif isinstance(pattern, ast.MatchOr):
        parts = [_pattern_test(name, part) for part in pattern.patterns]
        if None in parts:
            return None
        found = ast.BoolOp(ast.Or(), [part for part in parts if part is not None])
    else:
        raise _UnsupportedPattern
    return ast.copy_location(found, pattern)
