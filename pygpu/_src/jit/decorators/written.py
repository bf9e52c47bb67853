"""Which parameters a function of arrays may write to, as far as its syntax shows."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from ..compiler import source_of

_READ = {"shape", "size", "ndim", "dtype", "strides", "itemsize", "nbytes"}


def written_parameters(function: Any, ndims: Sequence[int]) -> frozenset[int]:
    """Return the numbers of the parameters whose items may be assigned: of those that are used in
    another way than reading an item, or a property such as the shape. ndims: their axes."""
    node = source_of(function).node
    names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
    axes = dict(zip(names, ndims))
    harmless = set()
    for part in ast.walk(node):
        base = getattr(part, "value", None)
        if isinstance(base, ast.Name) and base.id in axes:
            if isinstance(part, ast.Attribute) and part.attr in _READ:
                harmless.add(base)
            elif isinstance(part, ast.Subscript) and _is_item_read(part, axes[base.id]):
                harmless.add(base)
    used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and n not in harmless}
    return frozenset(i for i, name in enumerate(names[: len(ndims)]) if name in used)


def assigned_parameters(source: Any) -> frozenset[int]:
    """Return the numbers of the parameters whose items, or fields of them, some statement of the
    function assigns."""
    node = source.node
    names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
    found = set()
    for part in ast.walk(node):
        ctx = getattr(part, "ctx", None)
        if isinstance(part, ast.Name) and isinstance(ctx, ast.Store) and part.id in names:
            names[names.index(part.id)] = ""  # it may be another array
        elif isinstance(part, (ast.Subscript, ast.Attribute)) and isinstance(ctx, ast.Store):
            base: ast.expr = part
            while isinstance(base, (ast.Subscript, ast.Attribute)):
                base = base.value
            found.add(base.id if isinstance(base, ast.Name) else "")
    return frozenset(i for i, name in enumerate(names) if name and name in found)


def check_outputs(function: Any, nin: int) -> None:
    """Raise KernelError if an output's name is assigned a new value and its items are not
    assigned: the results would be undefined."""
    source = source_of(function)
    node = source.node
    names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
    assigned: dict[str, ast.AST] = {}
    used = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            if isinstance(part.ctx, ast.Load):
                used.add(part.id)
            else:
                assigned.setdefault(part.id, part)
        elif isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
            used.add(part.target.id)
    for name in names[nin:]:
        if name in assigned and name not in used:
            raise source.error(
                f"{name} is an output: this rebinds the name, and the value is lost; "
                f"assign its items: {name}[0] = ..., or {name}[:] = ...",
                assigned[name],
            )


def _is_item_read(part: ast.Subscript, ndim: int) -> bool:
    if not isinstance(part.ctx, ast.Load):
        return False
    index = part.slice
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    plain = not any(isinstance(p, (ast.Slice, ast.Starred)) for p in parts)
    return plain and len(parts) >= ndim


def writable_inputs(function: Any, nin: int, given: Sequence[Any], target: Any) -> frozenset[int]:
    """Return the inputs that ``writable_args`` names, by number or parameter. Raises ValueError,
    RuntimeError and TypeError as Numba does."""
    if not given:
        return frozenset()
    if target == "cuda":
        raise TypeError(
            "guvectorize: writable_args is not supported for target='cuda'; use an output"
        )
    if len(given) > nin:
        raise ValueError(f"guvectorize: writable_args names {len(given)} of {nin} inputs")
    node = source_of(function).node
    names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)][:nin]
    found = set()
    for one in given:
        if isinstance(one, str):
            if one not in names:
                raise RuntimeError(
                    f"guvectorize: writable_args: {one!r} is not an input; they are "
                    f"{', '.join(names)}"
                )
            one = names.index(one)
        if not 0 <= one < nin:
            raise ValueError(f"guvectorize: writable_args: {one} is not one of {nin} inputs")
        found.add(one)
    return frozenset(found)
