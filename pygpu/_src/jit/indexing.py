"""Arrays in kernels: attributes, items, slices."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from pygpu._src.codegen import dtypes

from . import emit, ranges
from .index_checks import Checked
from .ir import Method, Value
from .iteration import Iteration
from .types import VOID, WEAK_INT, ArrayType, Scalar, TupleType

__all__ = ["Indexing"]

_NO_TEXT = {"T", "flat", "sum", "mean", "min", "max", "copy", "reshape", "ravel", "dot", "fill"}


class Indexing(Iteration):
    """Methods of the function compiler; *self* is one."""

    # What the other parts provide.
    expr: Callable[[ast.expr], Value]
    temp: Callable[..., str]
    assign: Callable[[ast.expr, Value], None]
    keep: Callable[[Value], Value]
    in_order: Callable[..., Value]
    constant: Callable[[Any, ast.AST], Value]
    binary: Callable[..., Value]
    counter: Callable[[], str]
    as_number: Callable[..., Value]
    indent: int
    need_dtype: Callable[[np.dtype[Any], ast.AST], None]
    number: Callable[..., Value]
    statement_only: Callable[[ast.AST, str], None]
    test: Callable[[ast.expr], Value]
    unpack: Callable[..., list[Value]]
    field: Callable[..., Value]
    field_name: Callable[..., str | None]
    record_at: Callable[..., Value]
    store_field: Callable[..., None]
    store_record: Callable[..., None]

    def array_attribute(self, value: Value, name: str, node: ast.AST) -> Value:
        assert isinstance(value.type, ArrayType)
        if name == "shape":
            items = [self.length(n) for n in value.shape]
            return Value(TupleType((WEAK_INT,) * len(items)), items=items)
        if name == "size":
            size = self.length(_product(value.shape))
            if self.unit.checks and value.shape:
                found = self.length_range(value.shape[0])
                for n in value.shape[1:]:
                    found = ranges.of_operation("multiply", found, self.length_range(n))
                size.range = found
            return size
        if name == "ndim":
            return self.constant(value.type.ndim, node)
        if name == "dtype":
            return self.constant(value.type.dtype, node)
        if name == "itemsize":
            return self.constant(value.type.dtype.itemsize, node)
        if name == "nbytes":
            return self.length(_product([*value.shape, str(value.type.dtype.itemsize)]))
        if name == "strides":
            items = [Value(WEAK_INT, s) for s in emit.strides_of(value)]
            return Value(TupleType((WEAK_INT,) * len(items)), items=items)
        if name == "T":
            t = ArrayType(value.type.dtype, value.type.ndim, value.type.ndim < 2, value.type.space)
            strides = None if t.contiguous else list(reversed(emit.strides_of(value)))
            if value.type.ndim < 2:
                return value
            return Value(t, value.text, shape=list(reversed(value.shape)), strides=strides)
        if name == "view":
            return self.constant(Method(name, value), node)
        hint = "; write a loop over its items" if name in _NO_TEXT else ""
        raise self.source.error(f"an array has no {name!r} in kernels{hint}", node)

    def view_as(self, value: Value, dtype: np.dtype[Any], node: ast.AST) -> Value:
        """``array.view(dtype)``: the same bytes as items of another dtype."""
        t = value.type
        assert isinstance(t, ArrayType)
        old, new = t.dtype.itemsize, dtype.itemsize
        kind = ArrayType(dtype, t.ndim, t.contiguous, t.space)
        shape = list(value.shape)
        if old != new:
            if not t.ndim or not t.contiguous:
                raise self.source.error(
                    f"view(): items of {t} become items of another size only in contiguous arrays "
                    "of at least one dimension",
                    node,
                )
            last = shape[-1]
            if last.isdigit():
                if int(last) * old % new:
                    raise self.source.error(
                        f"view(): {int(last) * old} bytes are not a whole number of items of "
                        f"{dtype}",
                        node,
                    )
                shape[-1] = str(int(last) * old // new)
            else:
                shape[-1] = f"({last} * {old} / {new})"
        pointer = f"(({emit.pointer_type(kind)}){value.text})"
        if self.unit.checks and old != new:
            found = ranges.of_operation("multiply", self.length_range(last), (old, old))
            self.known[shape[-1]] = ranges.of_operation("floor_divide", found, (new, new))
        return Value(kind, pointer, shape=shape, strides=value.strides)

    def length(self, text: str) -> Value:
        if text.isdigit():
            return Value(WEAK_INT, text, const=int(text), nonneg=True)
        return Value(WEAK_INT, text, nonneg=True)

    # ---- indices

    def indices(self, node: ast.expr) -> list[ast.expr]:
        return list(node.elts) if isinstance(node, ast.Tuple) else [node]

    def index_text(self, value: Value, n: str, node: ast.AST) -> str:
        """An index as pg_i64 that is not negative, for an axis of length *n*."""
        if not value.is_scalar or value.type.dtype.kind not in "iu":  # type: ignore[union-attr]
            if value.is_scalar and value.type.dtype.kind == "b":  # type: ignore[union-attr]
                raise self.source.error("a bool is not an index in kernels; use int()", node)
            raise self.source.error(f"an index must be an integer, not {value.type}", node)
        if value.is_const:
            i = int(value.const)
            if n.isdigit() and not -int(n) <= i < int(n):
                raise self.source.error(f"index {i} is out of bounds for length {n}", node)
            return str(i) if i >= 0 else str(int(n) + i) if n.isdigit() else f"({n} - {-i})"
        text = emit.convert(value, WEAK_INT)
        if value.nonneg or value.type.dtype.kind == "u":  # type: ignore[union-attr]
            return text
        return f"{self.unit.helper('pg_wrap')}({text}, {n})"

    def on_Subscript(self, node: ast.Subscript) -> Value:
        value = self.expr(node.value)
        if value.is_tuple:
            return self.tuple_item(value, node)
        name = self.field_name(value, node.slice)
        if name is not None:
            return self.field(value, name, node)
        if value.is_object:
            index = self.expr(node.slice)
            try:
                if index.is_const:
                    return self.constant(value.const[index.const], node)
            except (TypeError, KeyError, IndexError) as error:
                raise self.source.error(str(error), node) from None
        if not value.is_array:
            raise self.source.error(f"{value.type} cannot be indexed in kernels", node)
        found = self.view(value, node)
        if isinstance(found, Value):
            return found
        return self.in_order(self.load(value, *found))

    def load(self, value: Value, pointer: str, index: str) -> Value:
        """The item at a place."""
        assert isinstance(value.type, ArrayType)
        dtype = value.type.dtype
        self.unit.need(dtype)
        if not dtypes.is_numeric(dtype):
            return self.record_at(value.type, pointer, index)
        if isinstance(index, Checked):
            text = self.checked_load(value.type, pointer, index)
        else:
            text = dtypes.load(dtype, pointer, index)
        return Value(Scalar(dtype), text, nonneg=dtype.kind in "bu")

    def tuple_item(self, value: Value, node: ast.Subscript) -> Value:
        if isinstance(node.slice, ast.Slice):
            ends = [
                None if e is None else self.expr(e).const
                for e in (node.slice.lower, node.slice.upper, node.slice.step)
            ]
            if not all(e is None or isinstance(e, int) for e in ends):
                raise self.source.error("slices of tuples must be constant", node)
            items = list(value.items)[slice(*ends)]
            return Value(TupleType(tuple(v.type for v in items)), items=items)
        index = self.expr(node.slice)
        if index.is_const and isinstance(index.const, (int, np.integer)):
            try:
                return value.items[int(index.const)]
            except IndexError:
                raise self.source.error("tuple index out of range", node) from None
        index = self.as_number(index, node, "an index")
        if not value.items:
            raise self.source.error("tuple index out of range", node)
        n = str(len(value.items))
        i = self.stable(self.index_text(index, n, node))
        found = value.items[-1]
        for k in reversed(range(len(value.items) - 1)):
            found = self.choose(node, f"({i} == {k})", value.items[k], found)  # type: ignore[attr-defined]
        return found

    def view(self, value: Value, node: ast.Subscript) -> Any:
        """A Value for a slice; (pointer, index) of an item."""
        assert isinstance(value.type, ArrayType)
        parts = self.indices(node.slice)
        given: list[Any] = []
        for part in parts:
            if isinstance(part, ast.Slice):
                given.append(part)
                continue
            item = self.expr(part)
            if item.is_tuple:
                given += item.items
            else:
                given.append(item)
        axes = sum(
            not (isinstance(g, Value) and g.is_object and g.const in (None, ...)) for g in given
        )
        ndim = value.type.ndim
        if axes > ndim:
            raise self.source.error(f"{axes} indices for an array of {ndim} dimensions", node)
        dots = [g for g in given if isinstance(g, Value) and g.is_object and g.const is ...]
        if len(dots) > 1:
            raise self.source.error("an index can only have one ellipsis", node)
        full = ast.Slice()
        if not dots:
            given += [full] * (ndim - axes)
        else:
            place = next(i for i, g in enumerate(given) if g is dots[0])
            given[place : place + 1] = [full] * (ndim - axes)
        if ndim == axes and all(isinstance(g, Value) and g.is_scalar for g in given):
            return self.item_place(value, given, node)
        return self.slice_view(value, given, node)

    def item_place(self, value: Value, given: list[Value], node: ast.AST) -> tuple[str, str]:
        t = value.type
        assert isinstance(t, ArrayType)
        texts = [self.index_text(g, n, node) for g, n in zip(given, value.shape)]
        if not texts:
            return value.text, "0"
        if self.unit.checks:
            checked = [
                self.check(g, n, node, i, t.ndim)
                for i, (g, n) in enumerate(zip(given, value.shape))
            ]
            if any(checked):
                return value.text, self.joined(t, [c or i for c, i in zip(checked, texts)], value)
        if t.contiguous:
            text = texts[0]
            for i, n in zip(texts[1:], value.shape[1:]):
                text = f"({text} * {n} + {i})"
            return value.text, text
        offset = " + ".join(f"{i} * {s}" for i, s in zip(texts, emit.strides_of(value)))
        return self.moved(t, value.text, offset), "0"

    def check(self, value: Value, n: str, node: ast.AST, axis: int, ndim: int) -> str | None:
        """The text of an index that the kernel has to check; None for others."""
        site = self.site(node, axis, ndim)
        return None if self.proven(value, n, site) else self.checked_index(value, n, site)

    def moved(self, t: ArrayType, pointer: str, offset: str) -> str:
        """The pointer *offset* bytes on."""
        kind = emit.pointer_type(t)
        char = kind.replace(dtypes.storage_type(t.dtype), "char")
        return f"(({kind})(({char}){pointer} + ({offset})))"

    def slice_view(self, value: Value, given: list[Any], node: ast.AST) -> Value:
        t = value.type
        assert isinstance(t, ArrayType)
        strides = emit.strides_of(value)
        axis = 0
        offsets: list[str] = []
        shape: list[str] = []
        steps: list[str] = []
        whole_rest = t.contiguous  # the axes left are whole, and before them only items
        sliced = False
        inside: list[str] = []
        for g in given:
            if isinstance(g, Value) and g.is_object and g.const is None:
                shape.append("1")
                steps.append("0")
                whole_rest = False
                continue
            n, stride = value.shape[axis], strides[axis]
            axis += 1
            if isinstance(g, Value):
                self.as_number(g, node, "an index")
                i = self.index_text(g, n, node)
                if self.unit.checks:
                    i, ok = self.slice_index(i, g, n, node, axis - 1, t.ndim)
                    inside += [ok] if ok else []
                if i != "0":
                    offsets.append(f"{i} * {stride}")
                if sliced:
                    whole_rest = False
                continue
            start, length, step = self.slice_parts(g, n)
            if start != "0":
                offsets.append(f"{start} * {stride}")
            if (sliced and (length != n or start != "0")) or step != "1":
                whole_rest = False
            sliced = True
            shape.append(length)
            steps.append(stride if step == "1" else f"({stride} * {step})")
        contiguous = whole_rest
        if inside:  # out of bounds it is a view of nothing, not of the first row
            shape = [self.empty_unless(" && ".join(inside), n) for n in shape]
        kind = ArrayType(t.dtype, len(shape), contiguous, t.space)
        pointer = value.text if not offsets else self.moved(t, value.text, " + ".join(offsets))
        return Value(kind, pointer, shape=shape, strides=None if contiguous else steps)

    def slice_index(
        self, text: str, value: Value, n: str, node: ast.AST, axis: int, ndim: int
    ) -> tuple[str, str]:
        """The text of an index beside slices, 0 where it is out of bounds, and that of whether it
        is not; "" if that is known."""
        found = self.check(value, n, node, axis, ndim)
        if found is None:
            return text, ""
        if self.conditional:  # where it may not be evaluated, nothing is reported but by items
            return f"((pg_u64){text} < (pg_u64){n} ? {text} : 0)", f"(pg_u64){text} < (pg_u64){n}"
        at = self.stable(found)
        return f"({at} < 0 ? 0 : {at})", f"{at} >= 0"

    def empty_unless(self, inside: str, n: str) -> str:
        text = f"({inside} ? {n} : 0)"
        made = text if self.conditional else self.stable(text)
        self.known[made] = 0, self.length_range(n)[1]
        return made

    def slice_parts(self, node: ast.Slice, n: str) -> tuple[str, str, str]:
        """The start, the length and the step of a slice of an axis of *n* items."""
        ends = []
        for part in (node.lower, node.upper, node.step):
            value = None if part is None else self.expr(part)
            if value is not None and value.is_object and value.const is None:
                value = None
            if value is not None:
                self.as_number(value, part, "an end of a slice")
                if value.type.dtype.kind not in "iub":  # type: ignore[union-attr]
                    raise self.source.error("ends of slices must be integers", part)
            ends.append(value)
        lower, upper, step = ends
        clip = self.unit.helper("pg_clip")
        by = 1 if step is None else int(step.const) if step.is_const else None
        if by == 0:
            raise self.source.error("slice step cannot be zero", node)
        if by == 1 and lower is None and upper is None:
            return "0", n, "1"
        if by is not None and by > 0:
            start = (
                "0" if lower is None else f"{clip}({emit.convert(lower, WEAK_INT)}, {n}, 0, {n})"
            )
            if lower is not None and lower.is_const and lower.const == 0:
                start = "0"
            stop = n if upper is None else f"{clip}({emit.convert(upper, WEAK_INT)}, {n}, 0, {n})"
        elif by is not None:
            last = f"{n} - 1"
            start = (
                f"({last})"
                if lower is None
                else f"{clip}({emit.convert(lower, WEAK_INT)}, {n}, -1, {last})"
            )
            stop = (
                "-1"
                if upper is None
                else f"{clip}({emit.convert(upper, WEAK_INT)}, {n}, -1, {last})"
            )
        else:
            assert step is not None
            by_text = self.stable(emit.convert(step, WEAK_INT))
            low, high = f"({by_text} < 0 ? -1 : 0)", f"({by_text} < 0 ? {n} - 1 : {n})"
            start = (
                f"({by_text} < 0 ? {n} - 1 : 0)"
                if lower is None
                else f"{clip}({emit.convert(lower, WEAK_INT)}, {n}, {low}, {high})"
            )
            stop = (
                f"({by_text} < 0 ? -1 : {n})"
                if upper is None
                else f"{clip}({emit.convert(upper, WEAK_INT)}, {n}, {low}, {high})"
            )
            start = self.stable(start)
            steps = self.unit.helper("pg_steps")
            return start, self.stable(f"{steps}({start}, {stop}, {by_text})"), by_text
        if start != "0" or not stop.isidentifier():
            start = self.stable(start)
            steps = self.unit.helper("pg_steps")
            return start, self.stable(f"{steps}({start}, {stop}, {by})"), str(by)
        return start, stop if by == 1 else self.stable(f"(({stop} + {by - 1}) / {by})"), str(by)

    # ---- assignment

    def store_item(self, target: ast.Subscript, value: Value) -> None:
        """``array[...] = value``."""
        array = self.expr(target.value)
        name = self.field_name(array, target.slice)
        if name is not None:
            self.store_field(target, array, name, value)
            return
        if not array.is_array:
            raise self.source.error(f"items of {array.type} cannot be assigned", target)
        self.writable(array, target)
        found = self.view(array, target)
        if isinstance(found, Value):
            self.fill(found, value, target)
            return
        self.store(array, found[0], found[1], value, target)

    def writable(self, array: Value, node: ast.AST) -> None:
        if array.type.space == "constant":  # type: ignore[union-attr]
            raise self.source.error("a constant array cannot be written", node)

    def store(self, array: Value, pointer: str, index: str, value: Value, node: ast.AST) -> None:
        assert isinstance(array.type, ArrayType)
        if value.type == VOID:
            raise self.source.error("None cannot be stored: the function returns nothing", node)
        if isinstance(index, Checked):
            value = self.finished(value)
            place, end = self.only_inside(array.type, pointer, index)
            self.store(array, *place, value, node)
            end()
            return
        if not dtypes.is_numeric(array.type.dtype):
            self.store_record(array.type, pointer, index, value, node)
            return
        value = self.as_number(value, node, "a number")
        assert isinstance(value.type, Scalar)
        dtype, of = array.type.dtype, value.type.dtype
        if of.kind == "c" and dtype.kind != "c":
            raise self.source.error(f"a complex number cannot be stored in {dtype}", node)
        if value.is_const:
            try:
                text, of = emit.convert(value, Scalar(dtype)), dtype
            except OverflowError as error:
                raise self.source.error(str(error), node) from None
        else:
            text = value.text
        self.unit.need(dtype, of)
        self.emit(dtypes.store(dtype, pointer, index, emit.bare(text), of))

    def finished(self, value: Value) -> Value:
        """A value whose text calls no function that may wait for other threads."""
        return self.keep(value) if value.is_scalar and "pgf_" in value.text else value

    def only_inside(
        self, t: ArrayType, pointer: str, index: Checked
    ) -> tuple[tuple[str, str], Callable[[], None]]:
        """A place for statements that are done only if it is in bounds, and what ends them."""
        at = self.stable(index)
        self.emit(f"if (!({index.outside(at)})) {{")
        self.indent += 1

        def end() -> None:
            self.indent -= 1
            self.emit("}")

        return self.place_text(t, pointer, at, index.strided), end

    def augment_item(self, node: ast.AugAssign) -> None:
        """``array[i] += value``: the index is evaluated once."""
        target = node.target
        assert isinstance(target, ast.Subscript)
        array = self.expr(target.value)
        name = self.field_name(array, target.slice)
        if name is not None:
            array = self.keep(array)
            old = self.field(array, name, target)
            new = self.binary(node, node.op, old, self.expr(node.value))
            self.store_field(target, array, name, new)
            return
        if not array.is_array:
            raise self.source.error(f"items of {array.type} cannot be assigned", target)
        self.writable(array, target)
        found = self.view(array, target)
        if isinstance(found, Value):
            other = self.keep(self.expr(node.value))

            def change(place: Value, at: Any) -> None:
                pointer, index = at([])
                item = self.load(other, *at([other])) if other.is_array else other
                new = self.binary(node, node.op, self.load(place, pointer, index), item)
                self.store(place, pointer, index, new, node)

            self.same_ndim(found, other, target)
            self.loop_over(self.keep(found), change, node.value)
            return
        pointer, index = found
        if isinstance(index, Checked):
            self.augment_checked(array, pointer, index, node)
            return
        kind = emit.pointer_type(array.type)  # type: ignore[arg-type]
        place = self.temp(kind)
        self.emit(f"{place} = {pointer} + {index};" if index != "0" else f"{place} = {pointer};")
        old = self.in_order(self.load(array, place, "0"))
        value = self.expr(node.value)
        self.store(array, place, "0", self.binary(node, node.op, old, value), node)

    def augment_checked(
        self, array: Value, pointer: str, index: Checked, node: ast.AugAssign
    ) -> None:
        """The same where the index may be out of bounds: the value is computed all the same."""
        assert isinstance(array.type, ArrayType)
        index = Checked(self.stable(index), index.strided)
        checked = self.load(array, pointer, index)
        old = self.in_order(checked)
        value = self.finished(self.expr(node.value))
        (pointer, at), end = self.only_inside(array.type, pointer, index)
        place = self.temp(emit.pointer_type(array.type))
        self.emit(f"{place} = {pointer} + {at};" if at != "0" else f"{place} = {pointer};")
        if old is checked:  # the value does not write it: no second check
            old = self.load(array, place, "0")
        self.store(array, place, "0", self.binary(node, node.op, old, value), node)
        end()

    def same_ndim(self, view: Value, value: Value, node: ast.AST) -> None:
        if value.is_scalar:
            return
        if not value.is_array or value.type.ndim != view.type.ndim:  # type: ignore[union-attr]
            raise self.source.error(f"{value.type} cannot be assigned to {view.type}", node)

    def fill(self, view: Value, value: Value, node: ast.AST) -> None:
        """All items of a view: a number, or the items of another array of the same shape."""
        self.same_ndim(view, value, node)
        other = self.keep(value)

        def set_item(place: Value, at: Any) -> None:
            pointer, index = at([])
            item = self.load(other, *at([other])) if other.is_array else other
            self.store(place, pointer, index, item, node)

        source = ast.Name(f"what {ast.unparse(node)} is set to", ast.Load())
        self.loop_over(self.keep(view), set_item, ast.copy_location(source, node))

    def ufunc_of_arrays(
        self, node: ast.AST, name: str, inputs: list[Value], outs: list[Value]
    ) -> None:
        """NumPy's ufunc of arrays with outputs: ``np.sin(a, b)`` sets all items of b."""
        if not all(v.is_array for v in outs):
            raise self.source.error(f"the outputs of numpy.{name}() must be arrays", node)
        for out in outs:
            self.writable(out, node)
            for value in (*inputs, *outs):
                self.same_ndim(out, value, node)
        kept = [self.keep(v) for v in (*inputs, *outs)]

        def body(view: Value, at: Any) -> None:
            items = [self.load(v, *at([v])) if v.is_array else v for v in kept[: len(inputs)]]
            found = self.ufunc(node, name, items)  # type: ignore[attr-defined]
            for out, value in zip(kept[len(inputs) :], map(self.keep, found)):
                pointer, index = at([out])
                self.store(out, pointer, index, value, node)

        self.loop_over(kept[len(inputs)], body, node)

    def loop_over(
        self, view: Value, body: Callable[[Value, Any], None], node: ast.AST | None = None
    ) -> None:
        """Loops over all items of a view; body gets the view and a function for places in it, or
        in another array."""
        counters = []
        for n in view.shape:
            counter = self.counter()
            counters.append(Value(WEAK_INT, counter, nonneg=True))
            self.emit(f"for (pg_i64 {counter} = 0; {counter} < {n}; {counter}++) {{")
            self.counts(counter, n)
            self.indent += 1

        def at(other: list[Value]) -> tuple[str, str]:
            array = other[0] if other else view
            return self.item_place(array, counters, node or self.source.node)

        body(view, at)
        for _ in view.shape:
            self.indent -= 1
            self.emit("}")


def _product(texts: Any) -> str:
    found = list(texts)
    if all(t.isdigit() for t in found):
        result = 1
        for t in found:
            result *= int(t)
        return str(result)
    return found[0] if len(found) == 1 else f"({' * '.join(found)})"
