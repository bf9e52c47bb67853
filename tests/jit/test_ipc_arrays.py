"""Device arrays of other processes by numba.cuda's names. The handle itself is the driver's, which
tests/cuda/test_ipc.py tries: here it is replaced, so that the rest runs without a GPU."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from pygpu import _cuda, cuda
from pygpu._src.jit import ipc_arrays

HANDLE = bytes(range(64))


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The handles that were opened. Each stands for memory with the numbers 0 to 15."""
    memory = cuda.to_device(np.arange(16, dtype=np.int32))
    found: list[Opened] = []

    class Opened:
        def __init__(self, handle: bytearray) -> None:
            assert bytes(handle) == HANDLE
            self.is_closed = False
            found.append(self)

        def __int__(self) -> int:
            return int(memory.gpudata)

        def close(self) -> None:
            self.is_closed = True

    monkeypatch.setattr(_cuda, "IPCMemoryHandle", Opened)
    return found


def test_a_pickled_handle_gives_the_array(opened: Any) -> None:
    made = ipc_arrays.IpcHandle(None, HANDLE, 32, offset=8)
    sent = pickle.loads(pickle.dumps(made))
    with ipc_arrays.IpcArrayHandle(sent, {"shape": (2, 3), "dtype": np.int32}) as array:
        assert array.get().tolist() == [[2, 3, 4], [5, 6, 7]]
        assert not opened[0].is_closed
    assert opened[0].is_closed


def test_memory_is_given_up_whatever_happens(opened: Any) -> None:
    with pytest.raises(ZeroDivisionError), cuda.open_ipc_array(HANDLE, 4, np.int32) as array:
        assert array.get().tolist() == [0, 1, 2, 3]
        raise ZeroDivisionError
    assert [one.is_closed for one in opened] == [True]


def test_wrong_order(opened: Any) -> None:
    handle = ipc_arrays.IpcHandle(None, HANDLE, 64)
    with pytest.raises(ValueError, match="not opened"):
        handle.close()
    handle.open()
    with pytest.raises(ValueError, match="already opened"):
        handle.open()
    handle.close()
    assert len(opened) == 1 and opened[0].is_closed
