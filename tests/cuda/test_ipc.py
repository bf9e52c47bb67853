"""Device memory and events of another process, by handles of 64 bytes."""

import subprocess
import sys

import numpy as np
import pytest

import pygpu.cuda.driver as cuda
from pygpu import _cuda

pytestmark = pytest.mark.usefixtures("context")

CHILD = """
import sys
import numpy as np
import pygpu.cuda.driver as cuda
handle = bytearray.fromhex(sys.stdin.readline())
cuda.init()
memory = cuda.IPCMemoryHandle(handle)
assert isinstance(memory, cuda.DeviceAllocation) and int(memory) != 0
a = np.empty(16, np.int32)
cuda.memcpy_dtoh(a, memory)
cuda.memcpy_htod(memory, a * 2)
cuda.Context.synchronize()
try:
    cuda.memcpy_htod(memory, bytes(memory.size + 1))
except cuda.LogicError:
    pass
else:
    raise SystemExit("nothing stops a copy at the end")
memory.close()
for use in (memory.close, lambda: int(memory), lambda: cuda.memset_d8(memory, 0, 1)):
    try:
        use()
    except cuda.LogicError:
        pass
    else:
        raise SystemExit("use after close")
again = cuda.IPCMemoryHandle(bytes(handle), cuda.ipc_mem_flags.LAZY_ENABLE_PEER_ACCESS)
del again
print(int(a.sum()))
"""


@pytest.fixture
def handle():
    memory = cuda.to_device(np.arange(16, dtype=np.int32))
    try:
        made = cuda.mem_get_ipc_handle(memory)
    except cuda.LogicError as error:
        if "not supported" in str(error):
            del memory
            pytest.skip(f"needs a driver with CUDA IPC (NVIDIA's on Linux): {error}")
        raise
    yield memory, made


def test_another_process_reads_and_writes(handle):
    memory, made = handle
    assert type(made) is bytearray and len(made) == 64
    result = subprocess.run(
        [sys.executable, "-c", CHILD],
        input=made.hex() + "\n",
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == [str(sum(range(16)))]
    assert (cuda.from_device(memory, 16, np.int32) == np.arange(16) * 2).all()


def test_the_same_process_cannot_open_its_own(handle):
    with pytest.raises(cuda.LogicError, match="cuIpcOpenMemHandle failed"):
        cuda.IPCMemoryHandle(handle[1])


def test_an_address_gives_the_handle_too(handle):
    memory, made = handle
    assert cuda.mem_get_ipc_handle(int(memory)) == made


@pytest.mark.parametrize("size", [0, 63, 65, 128])
def test_a_handle_of_another_size(size):
    with pytest.raises(cuda.LogicError, match="a handle has 64 bytes, got"):
        cuda.IPCMemoryHandle(bytearray(size))


def test_wrong_handles():
    with pytest.raises(cuda.LogicError, match="cuIpcOpenMemHandle failed"):
        cuda.IPCMemoryHandle(bytearray(b"\xff" * 64))
    for wrong in (None, 5, "x" * 64, [0] * 64):
        with pytest.raises(TypeError, match="handle must be"):
            cuda.IPCMemoryHandle(wrong)
    with pytest.raises(TypeError):
        cuda.IPCMemoryHandle()
    with pytest.raises(TypeError):
        cuda.IPCMemoryHandle(bytes(64), "x")
    for wrong in (None, "x", np.zeros(3)):
        with pytest.raises(TypeError, match="mem_get_ipc_handle: devptr"):
            cuda.mem_get_ipc_handle(wrong)
    with pytest.raises(cuda.LogicError, match="cuIpcGetMemHandle failed"):
        cuda.mem_get_ipc_handle(16)


@pytest.mark.parametrize(
    "function, use",
    [
        ("cuIpcGetMemHandle", lambda: cuda.mem_get_ipc_handle(cuda.mem_alloc(4))),
        ("cuIpcOpenMemHandle", lambda: cuda.IPCMemoryHandle(bytes(64))),
    ],
)
def test_failures_of_the_driver(balance, function, use):
    _cuda._fault(function, 801)
    try:
        with pytest.raises(cuda.LogicError, match=f"{function} failed"):
            use()
    finally:
        _cuda._fault(None, 0)
