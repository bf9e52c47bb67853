"""pygpu.dask: chunks, messages, limits, and a cluster of two processes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

dask = pytest.importorskip("dask", reason="dask is not installed")
da = pytest.importorskip("dask.array", reason="dask is not installed")

from interop.gpus import two_gpus  # noqa: E402

import pygpu.dask as pd  # noqa: E402
from pygpu import xp  # noqa: E402
from pygpu._array import GPUArray  # noqa: E402


@pytest.fixture(params=["opencl", "cuda"])
def on(request):
    before = xp.set_default_device(request.param)
    with dask.config.set({"array.backend": "pygpu", "scheduler": "synchronous"}):
        yield
    xp.set_default_device(before)


def test_chunks_are_made_on_the_device(on):
    for made, expected in (
        (da.ones((6, 4), chunks=3), np.ones((6, 4))),
        (da.zeros(5, chunks=2, dtype="i2"), np.zeros(5, "i2")),
        (da.full((3, 3), 7, chunks=2, dtype="f4"), np.full((3, 3), 7, "f4")),
        (da.arange(3, 20, 4, chunks=2), np.arange(3, 20, 4)),
    ):
        x = made.compute()
        assert isinstance(made._meta, GPUArray) and isinstance(x, GPUArray)
        assert x.device == xp.default_device() and x.dtype == expected.dtype
        assert (x.get() == expected).all()
    total = (da.ones((8, 8), chunks=4) * 3 + 1).sum(axis=0).compute()
    assert isinstance(total, GPUArray) and (total.get() == 32).all()
    with dask.config.set({"array.backend": "numpy"}):
        host = da.arange(10, chunks=5)
    moved = host.to_backend("pygpu")
    assert isinstance(moved.compute(), GPUArray) and moved.to_backend("pygpu") is moved
    assert isinstance(moved.to_backend("numpy").compute(), np.ndarray)
    with pytest.raises(NotImplementedError, match=r"da.random.default_rng\(seed\)"):
        da.random.RandomState(1)


def test_random_numbers(on):
    x = da.random.default_rng(5).normal(2, 3, size=20_000, chunks=5_000)
    again = da.random.default_rng(5).normal(2, 3, size=20_000, chunks=5_000)
    found = x.compute()
    assert isinstance(found, GPUArray) and (found.get() == again.compute().get()).all()
    parts = found.get().reshape(4, -1)
    assert len(np.unique(parts)) > 19_900  # no two chunks are the same
    assert abs(parts.mean() - 2) < 0.1 and abs(parts.std() - 3) < 0.1


def test_sizes_and_tokens(on):
    x = xp.ones((100, 7), dtype=xp.float32)
    assert dask.sizeof.sizeof(x) == 2800
    assert dask.base.tokenize(x) == dask.base.tokenize(x + 0) != dask.base.tokenize(x + 1)


def test_limit(on):
    store = pd.LimitedDevice(2000)
    arrays = {name: xp.full(100, number, dtype=xp.float64) for number, name in enumerate("abcd")}
    store.update(arrays)  # 800 bytes each: two fit
    kept = [type(value).__name__ for value in store._items.values()]
    assert kept.count("_HostCopy") == 2 and store._on_device == 1600
    for number, name in enumerate("abcd"):
        x = store[name]
        assert (
            isinstance(x, GPUArray)
            and (x.get() == number).all()
            and x.device == arrays[name].device
        )
        assert store._on_device <= 2000
    store["e"] = "not an array"
    assert list(store)[-2:] == ["d", "e"] and "a" in store and len(store) == 5
    assert (store.pop("a").get() == 0).all() and "a" not in store
    del store["b"]
    store["c"] = xp.zeros(1000)  # larger than the limit by itself
    assert isinstance(store["c"], GPUArray)
    with pytest.raises(KeyError):
        store["b"]
    with pytest.raises(ValueError, match="limit must not be negative"):
        pd.LimitedDevice(-1)
    store.clear()
    assert store._on_device == 0


MESSAGES = (
    np.arange(12.0).reshape(3, 4),
    np.asfortranarray(np.arange(6, dtype="i2").reshape(2, 3)),
    np.zeros((0, 2), "c8"),
    np.array(5, "u1"),
    np.array([(1, 2.0)], [("a", "i4"), ("b", "f8")]),
)


def test_a_task_ends_when_the_device_has_done_its_work(on, monkeypatch):
    pools = pytest.importorskip(
        "distributed.threadpoolexecutor", reason="distributed is not installed"
    )
    here, order = xp.default_device(), []
    plain = type(here.backend).synchronize

    def synchronize(backend, queue):
        order.append("device")
        time.sleep(0.02)
        plain(backend, queue)

    monkeypatch.setattr(type(here.backend), "synchronize", synchronize)
    with pools.ThreadPoolExecutor(1) as executor:
        worker = SimpleNamespace(name="0", executors={"default": executor})
        plugin = pd.DeviceOfWorker([here.kind])
        plugin.setup(worker)
        task = executor.submit(lambda x, *, y: order.append("task") or x + y, 1, y=2)
        assert task.result() == 3 and order == ["task", "device"]
        order.clear()
        done = {"op": "task-finished", "result": {"stop": 1.0}, "stop": 5.0}  # as Dask's tasks
        executor.submit(lambda: order.append("task") or done).result()
        assert 5.01 < done["stop"] < 60 and done["result"] == {"stop": 1.0}
        plugin.teardown(worker)
        pd.DeviceOfWorker([here.kind], wait=False).setup(worker)
        executor.submit(order.append, "task").result()
        assert order == ["task", "device", "task"]


def test_messages(on):
    pytest.importorskip("distributed", reason="distributed is not installed")
    from distributed.protocol import deserialize, serialize

    for host in MESSAGES:
        x = xp.default_device().put(host)
        header, frames = serialize(x)
        assert header["serializer"] == "dask" and sum(f.nbytes for f in frames) == host.nbytes
        y = deserialize(header, frames)
        assert type(y) is type(x) and y.dtype == host.dtype and y.strides == x.strides
        assert (y.get() == host).all()


class Received:
    """Bytes on a device as a transport makes them: known by their interface only."""

    def __init__(self, array):
        self._array = array
        self.nbytes = array.nbytes
        self.__cuda_array_interface__ = array.__cuda_array_interface__


def test_messages_on_the_device(monkeypatch):
    """The family of UCX: the frames are device memory, and nothing is copied on the way back."""
    pytest.importorskip("distributed", reason="distributed is not installed")
    from distributed.protocol import deserialize, serialize

    from pygpu import _cuda
    from pygpu._src.interop import dask_messages

    families = ("cuda", "dask", "pickle")
    device = xp.Device("cuda")
    if _cuda._is_simulator():  # whose memory UCX does not read
        x = device.put(np.arange(3))
        header, frames = serialize(x, serializers=families)
        assert header["serializer"] == "dask"
        assert deserialize(header, frames, deserializers=families).get().tolist() == [0, 1, 2]
        monkeypatch.setattr(dask_messages, "_is_simulated", lambda: False)
    for host in MESSAGES:
        x = device.put(host)
        header, frames = serialize(x, serializers=families)
        assert header["serializer"] == "cuda" and sum(f.nbytes for f in frames) == host.nbytes
        frames = [Received(f) for f in frames]
        y = deserialize(header, frames, deserializers=families)
        assert type(y) is type(x) and y.dtype == host.dtype and y.shape == host.shape
        assert host.size == 0 or (y.strides == x.strides and int(y.gpudata) == int(x.gpudata))
        assert (y.get() == host).all()
    header, frames = serialize(device.put(np.arange(9))[::2], serializers=families)  # with gaps
    assert deserialize(header, frames, deserializers=families).get().tolist() == [0, 2, 4, 6, 8]
    header, frames = serialize(xp.ones(3, device="opencl"), serializers=families)
    assert header["serializer"] == "dask"  # UCX does not read OpenCL's memory


PROGRAM = """
import os
import sys
import dask
import dask.array as da
from dask.distributed import Client, LocalCluster
import pygpu.dask

def device():
    import pygpu.xp as xp
    return str(xp.default_device())

def is_current():
    import pygpu.cuda.driver as cuda
    import pygpu.xp as xp
    (xp.ones(3) + 1).get()  # each kernel would be waited for in another device's context
    place = xp.default_device()
    return place.kind == "opencl" or cuda.Context.get_current() == place.context

def die_once(x, flag):
    if not os.path.exists(flag):
        open(flag, "w").close()
        os._exit(1)
    return x

def out_of_memory():
    import pygpu
    raise pygpu.MemoryError("no memory for this task")

if __name__ == "__main__":
    dask.config.set({"array.backend": "pygpu", "distributed.worker.preload": ["pygpu.dask"]})
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None,
                      host="127.0.0.1") as cluster:
        with Client(cluster) as client:
            client.register_plugin(pygpu.dask.DeviceOfWorker(sys.argv[1:3]))
            places = sorted(client.run(device).values())
            print(len(set(places)))
            workers = client.scheduler_info()["workers"]
            current = [client.submit(is_current, workers=[w], pure=False) for w in workers]
            print(client.gather(current))
            x = da.random.default_rng(3).random(size=40_000, chunks=10_000)
            mean = float(x.mean().compute())
            exchanged = x.rechunk(40_000).sum().compute()  # chunks go from worker to worker
            print(abs(mean - 0.5) < 0.02, abs(float(exchanged) / 40_000 - mean) < 1e-9)
            lost = x.map_blocks(die_once, sys.argv[3], meta=x._meta).mean()  # a worker ends
            print(abs(float(lost.compute()) - mean) < 1e-9, os.path.exists(sys.argv[3]))
            try:
                client.submit(out_of_memory).result()
            except pygpu.MemoryError as error:
                print(error)
"""


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(("opencl", "simulator"), marks=pytest.mark.slow, id="opencl simulator"),
        pytest.param(("cuda:0", "cuda:1"), id="cuda:0 cuda:1"),
    ],
)
def test_a_cluster(names, tmp_path):
    pytest.importorskip("distributed", reason="distributed is not installed")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    real = two_gpus() and "simulator" not in names
    environment = {
        **os.environ,
        "PYGPU_CUDA": "driver" if real else "simulator",
        "PYGPU_SIM_DEVICES": "2",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    done = subprocess.run(
        [sys.executable, str(program), *names, str(tmp_path / "flag")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    expected = ["2", "[True, True]", "True True", "True True", "no memory for this task"]
    assert done.stdout.splitlines() == expected, done.stderr


DASK_CUDA = """
import dask
import dask.array as da
import pygpu.dask
from dask.distributed import Client
from dask_cuda import LocalCUDACluster

def bus():
    import pygpu.xp as xp
    return xp.default_device().driver_device.pci_bus_id()

if __name__ == "__main__":
    dask.config.set({"array.backend": "pygpu", "distributed.worker.preload": ["pygpu.dask"]})
    with LocalCUDACluster(n_workers=2, protocol="tcp", dashboard_address=None) as cluster:
        with Client(cluster) as client:
            client.register_plugin(pygpu.dask.DeviceOfWorker(["cuda:0"]))  # of those it may see
            print(len(set(client.run(bus).values())))
            x = da.random.default_rng(3).random(size=40_000, chunks=10_000)
            print(abs(float(x.rechunk(40_000).mean().compute()) - 0.5) < 0.02)
"""


@pytest.mark.gpu
@pytest.mark.skipif("not two_gpus()", reason="there are not two NVIDIA GPUs")
def test_a_cluster_of_dask_cuda(tmp_path):
    pytest.importorskip("dask_cuda", reason="dask-cuda is not installed")
    program = tmp_path / "program.py"
    program.write_text(DASK_CUDA)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, str(program)], env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["2", "True"], done.stderr
