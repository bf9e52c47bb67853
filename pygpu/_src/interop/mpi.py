"""mpi4py's communicators for device arrays.

If the MPI library can read device memory, it gets the arrays themselves; otherwise it gets host
memory: page-locked for CUDA, mapped for OpenCL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from mpi4py import MPI

from pygpu import _cuda
from pygpu import _opencl as cl
from pygpu._array import GPUArray
from pygpu._src.runtime.mpi_library import knows_cuda
from pygpu.constants import map_flags

# The memory arguments of mpi4py's calls: position, name, and whether MPI writes to them.
_SEND = ((0, "buf", False),)
_RECEIVE = ((0, "buf", True),)
_BOTH = ((0, "sendbuf", False), (1, "recvbuf", True))
_BUFFERS: dict[str, tuple[tuple[int, str, bool], ...]] = {
    **dict.fromkeys(("Send", "Bsend", "Ssend", "Rsend", "Isend", "Ibsend", "Issend"), _SEND),
    **dict.fromkeys(("Irsend",), _SEND),
    **dict.fromkeys(("Recv", "Irecv", "Sendrecv_replace", "Isendrecv_replace"), _RECEIVE),
    **dict.fromkeys(("Bcast", "Ibcast"), _RECEIVE),
    **dict.fromkeys(("Sendrecv", "Isendrecv"), ((0, "sendbuf", False), (3, "recvbuf", True))),
}
for _name in (
    *("Allgather", "Allgatherv", "Allreduce", "Alltoall", "Alltoallv", "Exscan", "Gather"),
    *("Gatherv", "Neighbor_allgather", "Neighbor_allgatherv", "Neighbor_alltoall"),
    *("Neighbor_alltoallv", "Reduce", "Reduce_scatter", "Reduce_scatter_block", "Scan"),
    *("Scatter", "Scatterv"),
):
    _BUFFERS[_name] = _BUFFERS[f"I{_name[0].lower()}{_name[1:]}"] = _BOTH

_pool: _cuda.PageLockedMemoryPool | None = None
# Requests that the program has dropped, whose memory is still in use.
_pending: set[Request] = set()


class Request:
    """A nonblocking call: mpi4py's Request, and what remains to do when it is complete."""

    def __init__(self, request: MPI.Request, finish: list[Callable[[], None]]) -> None:
        self.request = request
        self._finish = finish
        _pending.add(self)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.request, name)

    def _done(self) -> None:
        finish, self._finish = self._finish, []
        _pending.discard(self)
        for step in finish:
            step()

    def Wait(self, status: MPI.Status | None = None) -> bool:
        """Wait, and copy received data to the device array."""
        self.request.Wait(status)
        self._done()
        return True

    def Test(self, status: MPI.Status | None = None) -> bool:
        """Whether the call is complete; if so, received data is in the device array."""
        done: bool = self.request.Test(status)
        if done:
            self._done()
        return done

    @staticmethod
    def Waitall(requests: Iterable[Request | MPI.Request]) -> bool:
        """Wait for all requests."""
        everyone = list(requests)
        MPI.Request.Waitall([r.request if isinstance(r, Request) else r for r in everyone])
        for request in everyone:
            if isinstance(request, Request):
                request._done()
        return True


class Comm:
    """An mpi4py communicator that accepts device arrays.

    They are accepted wherever mpi4py takes buffers (``Send``, ``Irecv``, ``Allreduce``, ...),
    alone or in its lists. Blocking calls return when the arrays have the result; the others return
    a :class:`Request`. Everything else is mpi4py's."""

    def __init__(self, comm: MPI.Comm) -> None:
        if not isinstance(comm, MPI.Comm):
            raise TypeError(
                f"Comm: comm must be a communicator of mpi4py, not {type(comm).__name__}"
            )
        self.comm = comm

    def __repr__(self) -> str:
        how = "direct" if knows_cuda() else "through the host"
        return f"<Comm of {self.comm!r}, CUDA arrays {how}>"

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.comm, name)
        if not callable(found):
            return found
        buffers = _BUFFERS.get(name)

        def call(*args: Any, **options: Any) -> Any:
            if buffers is None:
                if name[:1].isupper():
                    _refuse(name, [*args, *options.values()])
                made = found(*args, **options)
                return Comm(made) if isinstance(made, MPI.Comm) else made
            return _call(found, buffers, args, options)

        call.__name__, call.__doc__ = name, found.__doc__
        return call


def _refuse(name: str, args: Sequence[Any]) -> None:
    """Refuse device arrays in a call that this module does not know, which would read them as host
    memory."""
    if any(isinstance(a, GPUArray) or (_array_in(a) is not None) for a in args):
        raise TypeError(
            f"Comm.{name}: device arrays are not supported here; pass array.get(), or "
            "communicate by Send, Recv and the collective calls"
        )


def _array_in(spec: Any) -> Any:
    """Return the device array of a buffer argument: itself, or the first item of mpi4py's [data,
    ...]."""
    if isinstance(spec, (list, tuple)) and spec:
        spec = spec[0]
    return spec if isinstance(spec, GPUArray) else None


def _call(
    function: Any,
    buffers: tuple[tuple[int, str, bool], ...],
    args: tuple[Any, ...],
    options: dict[str, Any],
) -> Any:
    given, finish = list(args), []
    try:
        for position, name, is_written in buffers:
            spec = given[position] if position < len(given) else options.get(name)
            array = _array_in(spec)
            if array is None:
                continue
            host, after = _for_mpi(array, is_written)
            finish.append(after)
            spec = host if not isinstance(spec, (list, tuple)) else [host, *spec[1:]]
            if position < len(given):
                given[position] = spec
            else:
                options[name] = spec
        made = function(*given, **options)
    except BaseException:
        for after in finish:
            after()
        raise
    if isinstance(made, MPI.Request):
        return Request(made, finish)
    for after in finish:
        after()
    return made


def _for_mpi(array: Any, is_written: bool) -> tuple[Any, Callable[[], None]]:
    """Return the memory for MPI and a function to call afterwards. The memory holds the array's
    items even if MPI writes to it, because it may write only a part."""
    if array.backend.name == "cuda":
        if knows_cuda() and array._c_contiguous:
            array.backend.synchronize(array.queue)  # MPI does not know the stream
            return array, lambda: None
        with array.device.current():
            host = _page_locked(array)
    elif isinstance(array.base_data, cl.Buffer) and array._c_contiguous and array.size:
        return _mapped(array, is_written)
    else:
        host = array.get()
        if not host.flags.c_contiguous:
            host = np.ascontiguousarray(host)

    def write_back() -> None:
        with array.device.current():
            array[...] = host
            array.backend.synchronize(array.queue)  # then another call may use the memory

    return host, write_back if is_written else lambda: None


def _page_locked(array: Any) -> Any:
    global _pool
    if _pool is None:
        _pool = _cuda.PageLockedMemoryPool()
    host = _pool.allocate(array.shape, array.dtype)
    source = array if array._c_contiguous else array._copy(order="C")
    return source.get(ary=host)


def _mapped(array: Any, is_written: bool) -> tuple[Any, Callable[[], None]]:
    queue = array._queue(None)
    flags = map_flags.READ | (map_flags.WRITE if is_written else 0)
    waits = array.backend.wait_list(queue, [array])
    host: Any
    host, _ = cl.enqueue_map_buffer(
        queue, array.base_data, flags, array.offset, array.shape, array.dtype, wait_for=waits
    )

    def unmap() -> None:
        array._set_event(host.base.release(queue))
        queue.flush()

    return host, unmap
