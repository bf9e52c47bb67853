"""copy_if and other filters, RadixSort, KeyValueSorter, ListOfListsBuilder, BitonicSort."""

from __future__ import annotations

import numpy as np
import pytest

from pygpu.algorithm import (
    KeyValueSorter,
    ListOfListsBuilder,
    RadixSort,
    copy_if,
    partition,
    remove_if,
    unique,
)
from pygpu.bitonic_sort import BitonicSort


def integers(n, low=-9, high=9, dtype=np.int32, seed=0):
    return np.random.default_rng(seed).integers(low, high, n).astype(dtype)


@pytest.mark.parametrize("n", [0, 1, 1000, 30011])
def test_filters(side, n):
    x = integers(n)
    ary = side.array(x)
    out, count, event = copy_if(ary, "ary[i] > limit", extra_args=[("limit", np.int32(3))])
    assert (event is None) == (side.name == "cuda")
    assert count.shape == () and np.array_equal(out.get()[: count.get()], x[x > 3])
    out, count, _ = remove_if(ary, "ary[i] > 3 || ary[i] < -3")
    assert np.array_equal(out.get()[: count.get()], x[np.abs(x) <= 3])
    yes, no, count, _ = partition(
        ary, "ary[i] > table[0]", extra_args=[("table", side.array(np.zeros(1, np.int32)))]
    )
    assert np.array_equal(yes.get()[: count.get()], x[x > 0])
    assert np.array_equal(no.get()[: n - int(count.get())], x[x <= 0])
    ordered = np.sort(x)
    out, count, _ = unique(side.array(ordered))
    assert np.array_equal(out.get()[: count.get()], np.unique(x))


def test_filter_refusals(side):
    with pytest.raises(RuntimeError, match="'limit' not understood"):
        copy_if(side.array(integers(3)), "ary[i] > limit", extra_args=[("limit", 3)])
    with pytest.raises(TypeError, match="on the device"):
        copy_if(integers(3), "ary[i] > 1")
    with pytest.raises(ValueError, match="one-dimensional"):
        copy_if(side.array(np.zeros((2, 2), np.int32)), "ary[i] > 1")


def test_unique_by_an_expression(side):
    x = np.sort(integers(2000, 0, 100))
    out, count, _ = unique(side.array(x), "(a / 10) == (b / 10)")
    _, first = np.unique(x // 10, return_index=True)
    assert np.array_equal(out.get()[: count.get()], x[first])


def test_radix_sort(side):
    sort = RadixSort(
        side.context,
        "int *keys, float *values, double *other",
        "keys[i]",
        ["keys", "values"],
        key_dtype=np.int32,
    )
    for n in (1, 5, 1000, 40001):
        keys, values = integers(n, -1000, 1000), np.arange(n, dtype=np.float32)
        (sorted_keys, sorted_values), event = sort(
            side.array(keys), side.array(values), side.array(np.zeros(2))
        )
        assert (event is None) == (side.name == "cuda")
        order = np.argsort(keys, kind="stable")
        assert np.array_equal(sorted_keys.get(), keys[order])
        assert np.array_equal(sorted_values.get(), values[order])
    with pytest.raises(ValueError, match="'z'"):
        RadixSort(side.context, "int *x", "x[i]", ["z"])
    with pytest.raises(TypeError, match="takes 3 arguments"):
        sort(side.array(keys))


def test_radix_sort_by_some_bits_and_of_structures(side):
    dtype = np.dtype([("a", np.int32), ("b", np.int32), ("c", np.int32)])
    if side.name == "opencl":
        from pygpu.tools import VectorArg, get_or_register_dtype
    else:
        from pygpu.cuda.tools import VectorArg, get_or_register_dtype
    get_or_register_dtype("generators_triple", dtype)
    items = np.zeros(3000, dtype)
    items["a"], items["b"] = integers(3000, 0, 1 << 20), np.arange(3000)
    words = items["a"].copy()
    sort = RadixSort(side.context, "int *words", "words[i] + 1", ["words"])
    (got,), _ = sort(side.array(words), key_bits=5)
    assert np.array_equal(got.get(), words[np.argsort((words + 1) & 31, kind="stable")])
    with pytest.raises(ValueError, match="key_bits"):
        sort(side.array(words), key_bits=33)
    if side.name == "cuda":
        return  # the structure is declared in a preamble, which RadixSort has none of
    sort = RadixSort(
        side.context,
        [VectorArg(np.int32, "words"), VectorArg(np.complex128, "z")],
        "words[i]",
        ["z"],
    )
    z = np.arange(3000) + 1j
    (got,), _ = sort(side.array(words), side.array(z))
    assert np.array_equal(got.get(), z[np.argsort(words, kind="stable")])


def test_key_value_sorter(side):
    keys, values = integers(5000, 0, 120), np.arange(5000, dtype=np.float32)
    starts, lists, _ = KeyValueSorter(side.context)(
        side.queue, side.array(keys), side.array(values), 150, np.dtype(np.int32)
    )
    starts, lists = starts.get(), lists.get()
    assert starts.dtype == np.int32 and len(starts) == 151 and starts[-1] == 5000
    for key in range(150):
        assert np.array_equal(lists[starts[key] : starts[key + 1]], values[keys == key])


GENERATE = """
void add(LIST_ARG_DECL USER_ARG_DECL index_type i, int value)
{
    APPEND_numbers(value);
    APPEND_doubles(2.0f * value * scale);
}
void generate(LIST_ARG_DECL USER_ARG_DECL index_type i)
{
    for (int j = 0; j < lengths[i]; ++j)
        add(LIST_ARGS USER_ARGS i, i * 10 + j);
    if (i % 3 == 0)
        APPEND_thirds(i);
}
"""


def test_list_of_lists(opencl):
    lengths = integers(700, 0, 5)
    lengths[100:200] = 0
    names = [("numbers", np.int32), ("doubles", np.float32), ("thirds", np.int64)]
    build = ListOfListsBuilder(
        opencl.context,
        names,
        GENERATE,
        "int *lengths, float scale",
        count_sharing={"doubles": "numbers"},
        eliminate_empty_output_lists=["thirds"],
    )
    result, event = build(opencl.queue, 700, opencl.array(lengths), 0.5)
    event.wait()
    expected = [i * 10 + j for i in range(700) for j in range(lengths[i])]
    numbers = result["numbers"]
    assert numbers.count == len(expected) and numbers.lists.get().tolist() == expected
    assert np.array_equal(numbers.starts.get(), np.r_[0, np.cumsum(lengths)])
    assert np.array_equal(result["doubles"].lists.get(), np.float32(expected))
    thirds = result["thirds"]
    assert thirds.num_nonempty_lists == 234 and thirds.count == 234
    assert np.array_equal(thirds.nonempty_indices.get(), np.arange(0, 700, 3))
    assert np.array_equal(thirds.starts.get(), np.arange(235))
    assert np.array_equal(thirds.lists.get(), np.arange(0, 700, 3))


def test_list_of_lists_omits_and_refuses(opencl):
    build = ListOfListsBuilder(
        opencl.context,
        [("kept", np.int32), ("left", np.int32)],
        "void generate(LIST_ARG_DECL USER_ARG_DECL index_type i) { APPEND_kept(i); "
        "APPEND_kept(-i); }",
        [],
    )
    result, _ = build(opencl.queue, 1000, omit_lists=["left"])
    assert set(result) == {"kept"} and result["kept"].count == 2000
    assert np.array_equal(result["kept"].lists.get()[1::2], -np.arange(1000))
    with pytest.raises(ValueError, match="omit_lists"):
        build(opencl.queue, 10, omit_lists=["other"])
    with pytest.raises(TypeError, match="0 arguments declared"):
        build(opencl.queue, 10, 3)
    with pytest.raises(ValueError, match="eliminate"):
        ListOfListsBuilder(
            opencl.context, [("a", np.int32)], "", [], eliminate_empty_output_lists=["b"]
        )


@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_bitonic_sort(side, dtype):
    sort = BitonicSort(side.context)
    x = integers(2048, -1000, 1000, dtype)
    index = side.array(np.arange(2048, dtype=np.uint32))
    array = side.array(x)
    result, _ = sort(array, index)
    assert result is array and np.array_equal(array.get(), np.sort(x))
    assert np.array_equal(x[index.get()], np.sort(x))
    x = x[:768].reshape(4, 12, 16)
    for axis in (0, 1, -1):
        array = side.array(x)
        sort(array, axis=axis)
        assert np.array_equal(array.get(), np.sort(x, axis))
    with pytest.raises(ValueError, match="idx"):
        sort(array, index)
