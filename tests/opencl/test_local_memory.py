"""LocalMemory: a size, and nothing else."""

import weakref

import numpy as np
import pytest

import pygpu as cl


@pytest.mark.parametrize("size", [1, 4, 2**40, np.int32(12), True])
def test_size(size):
    memory = cl.LocalMemory(size)
    assert memory.size == int(size) and type(memory.size) is int
    assert repr(memory) == f"<pygpu.LocalMemory of {int(size)} bytes>"
    assert cl.LocalMemory(size=size).size == size


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ((), TypeError),
        ((0,), ValueError),
        ((-1,), ValueError),
        ((2**64,), OverflowError),
        ((1.0,), TypeError),
        (("4",), TypeError),
        ((None,), TypeError),
        ((1, 2), TypeError),
    ],
)
def test_wrong_sizes_are_refused(args, error):
    with pytest.raises(error):
        cl.LocalMemory(*args)


def test_is_constant_and_can_be_referred_to_weakly():
    memory = cl.LocalMemory(4)
    with pytest.raises(AttributeError):
        memory.size = 5
    gone = weakref.ref(memory)
    del memory
    assert gone() is None
