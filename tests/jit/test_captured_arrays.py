"""Device arrays that kernels name without getting them as arguments are pointers."""

from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import cuda


def launched(kernel: Any, out: Any) -> Any:
    kernel[1, 8](out)
    return out.get().tolist()


def kernel_over(table: Any) -> Any:
    def item(i):
        return table[i]

    @pygpu.kernel
    def k(out):
        i = pygpu.grid(1)
        if i < out.size:
            out[i] = 10 * item(i) + table[2] + 1000 * table.size

    return k


def test_a_captured_array_is_read_when_the_kernel_runs(make: Any) -> None:
    table = make(np.arange(5, dtype=np.int32))
    out = make(np.zeros(5, np.int32))
    k = kernel_over(table)
    assert launched(k, out) == [5002, 5012, 5022, 5032, 5042]
    table += 1
    assert launched(k, out) == [5013, 5023, 5033, 5043, 5053]


def test_a_captured_view_keeps_its_offset_and_strides(make: Any) -> None:
    whole = np.arange(24, dtype=np.int32).reshape(4, 6)
    table = make(whole)[1::2, 5:0:-2]

    @pygpu.kernel
    def k(out):
        i = pygpu.grid(1)
        if i < out.size:
            out[i] = table[i // 3, i % 3] + 100 * table.shape[1]

    out = make(np.zeros(6, np.int32))
    assert launched(k, out) == (whole[1::2, 5:0:-2].ravel() + 300).tolist()


def test_a_kernel_can_write_to_a_captured_array(make: Any) -> None:
    counts = make(np.zeros(3, np.int32))

    @pygpu.kernel
    def k(x):
        i = pygpu.grid(1)
        if i < x.size:
            pygpu.atomic.add(counts, x[i], 1)

    k[1, 8](make(np.array([0, 2, 2, 1, 2, 0], np.int32)))
    assert counts.get().tolist() == [2, 1, 3]


def test_a_captured_array_stays_alive_with_its_kernel(make: Any) -> None:
    k = kernel_over(make(np.arange(5, dtype=np.int32)))
    out = make(np.zeros(5, np.int32))
    expected = launched(k, out)
    filling = [make(np.full(5, -1, np.int32)) for _ in range(20)]
    assert launched(k, out) == expected and len(filling) == 20


def test_ufuncs_refuse_captured_device_arrays(make: Any) -> None:
    table = make(np.arange(5, dtype=np.int32))

    @pygpu.vectorize
    def f(i):
        return table[i]

    with pytest.raises(pygpu.KernelError, match="pass it as an argument"):
        f(make(np.arange(3, dtype=np.int32)))


def changing_kernel(decorator: Any) -> tuple[Any, Any]:
    names: dict[str, Any] = {"table": np.arange(4), "number": 1, "grid": pygpu.grid}
    text = (
        "def k(out):\n"
        "    i = grid(1)\n"
        "    if i < out.size:\n"
        "        out[i] = table[i] + 10 * number\n"
    )
    exec(text, names)
    return decorator(names["k"], src=text), names


def test_cuda_jit_freezes_host_data_at_the_first_compile() -> None:
    k, names = changing_kernel(cuda.jit)
    out = cuda.to_device(np.zeros(4, np.int64))
    assert launched(k, out) == [10, 11, 12, 13]
    names["table"][:] = 7
    names["number"] = 2
    assert launched(k, out) == [10, 11, 12, 13]


def test_kernel_follows_a_changed_number(make: Any) -> None:
    k, names = changing_kernel(pygpu.kernel)
    out = make(np.zeros(4, np.int64))
    launched(k, out)
    names["number"] = 2
    assert launched(k, out) == [20, 21, 22, 23]


def test_arrays_of_other_libraries_are_captured_by_their_interface() -> None:
    class Foreign:
        def __init__(self, array: Any) -> None:
            self.array = array
            self.__cuda_array_interface__ = array.__cuda_array_interface__

    table = cuda.to_device(np.arange(5, dtype=np.int32))
    k = kernel_over(Foreign(table))
    out = cuda.to_device(np.zeros(5, np.int32))
    assert launched(k, out) == [5002, 5012, 5022, 5032, 5042]
