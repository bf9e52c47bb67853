"""The general case of enqueue_copy: chooses the driver call for a source and a destination.

The usual cases (host arrays and today's keywords) never get here; they are handled in C
(src/opencl/commands/transfer.c).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pygpu import _opencl
from pygpu._opencl import (
    Buffer,
    CommandQueue,
    Event,
    GLRenderBuffer,
    Image,
    MemoryObjectHolder,
    SVMPointer,
)
from pygpu._src.util.public import publish

_BUFFER_TO_HOST = {"is_blocking", "wait_for", "src_offset", "device_offset"}
_HOST_TO_BUFFER = {"is_blocking", "wait_for", "dst_offset", "device_offset"}
_RECT_HOST = {
    "is_blocking",
    "wait_for",
    "buffer_origin",
    "host_origin",
    "region",
    "buffer_pitches",
    "host_pitches",
}
_RECT_BUFFERS = {"wait_for", "src_origin", "dst_origin", "region", "src_pitches", "dst_pitches"}
_BUFFERS = {"wait_for", "byte_count", "src_offset", "dst_offset"}
_IMAGES = (Image, GLRenderBuffer)


def _check(pair: str, kwargs: dict[str, Any], allowed: set[str], *needed: str) -> None:
    for name in kwargs:
        if name not in allowed:
            raise TypeError(
                f"enqueue_copy: {pair} has no keyword argument '{name}'; allowed: "
                + ", ".join(sorted(allowed))
            )
    for name in needed:
        if name not in kwargs:
            raise TypeError(f"enqueue_copy: {pair} needs the keyword argument '{name}'")


def _is_buffer(obj: object) -> bool:
    return isinstance(obj, MemoryObjectHolder) and not isinstance(obj, _IMAGES)


def _copy_with_host(
    queue: CommandQueue, memory: Buffer, host: Any, to_device: bool, kwargs: dict[str, Any]
) -> Event:
    pair = "a copy from the host to a buffer" if to_device else "a copy from a buffer to the host"
    if "buffer_origin" in kwargs or "host_origin" in kwargs:
        _check(pair, kwargs, _RECT_HOST, "buffer_origin", "host_origin", "region")
        rect = (
            _opencl._enqueue_write_buffer_rect if to_device else _opencl._enqueue_read_buffer_rect
        )
        return rect(queue, memory, host, **kwargs)
    kwargs = dict(kwargs)
    if kwargs.get("byte_count", 0) is None:
        del kwargs["byte_count"]
    _check(pair, kwargs, _HOST_TO_BUFFER if to_device else _BUFFER_TO_HOST)
    name = "dst_offset" if to_device else "src_offset"
    if "device_offset" in kwargs:  # an older name
        kwargs[name] = kwargs.pop("device_offset")
    plain = _opencl._enqueue_write_buffer if to_device else _opencl._enqueue_read_buffer
    return plain(queue, memory, host, **kwargs)


def enqueue_copy(queue: CommandQueue, dest: Any, src: Any, **kwargs: Any) -> Event:
    """Copy from *src* to *dest*; see pygpu.enqueue_copy."""
    if isinstance(dest, _IMAGES) or isinstance(src, _IMAGES):
        from .images import copy_image

        return copy_image(queue, dest, src, **kwargs)
    if isinstance(dest, SVMPointer) or isinstance(src, SVMPointer):
        from .svm import copy_svm

        return copy_svm(queue, dest, src, **kwargs)
    to_buffer, from_buffer = _is_buffer(dest), _is_buffer(src)
    if (type(dest) is int and dest == 0) or (type(src) is int and src == 0):
        raise TypeError(
            f"enqueue_copy: {'dest' if type(dest) is int else 'src'} is 0, not memory; an array "
            "made with data=0 has no memory yet: assign a Buffer to its base_data first"
        )
    if to_buffer and from_buffer:
        if "src_origin" in kwargs or "dst_origin" in kwargs:
            _check(
                "a copy between buffers",
                kwargs,
                _RECT_BUFFERS,
                "src_origin",
                "dst_origin",
                "region",
            )
            return _opencl._enqueue_copy_buffer_rect(queue, src, dest, **kwargs)
        if "dest_offset" in kwargs and "dst_offset" not in kwargs:  # an older name
            kwargs["dst_offset"] = kwargs.pop("dest_offset")
        _check("a copy between buffers", kwargs, _BUFFERS)
        return _opencl._enqueue_copy_buffer(queue, src, dest, **kwargs)
    if to_buffer:
        return _copy_with_host(queue, dest, src, True, kwargs)
    if from_buffer:
        return _copy_with_host(queue, src, dest, False, kwargs)
    for name, one in (("dest", dest), ("src", src)):
        if hasattr(one, "base_data"):
            raise TypeError(
                f"enqueue_copy: {name} must be memory, not {type(one).__name__}: pass its .data, "
                "or use its get() or set()"
            )
    raise TypeError(
        f"enqueue_copy: dest ({type(dest).__name__}) and src ({type(src).__name__}) are both host "
        "memory, or not memory at all; one must be a Buffer, an Image or SVM"
    )


def enqueue_fill(
    queue: CommandQueue,
    dest: Any,
    pattern: Any,
    size: int,
    *,
    offset: int = 0,
    wait_for: Sequence[Event] | None = None,
) -> Event:
    """Repeat *pattern* (host memory of 1 to 128 bytes) over *size* bytes of a buffer or of SVM.

    offset: first byte, in a buffer only. Raises ValueError past the end.
    """
    if isinstance(dest, MemoryObjectHolder):
        return _opencl.enqueue_fill_buffer(queue, dest, pattern, offset, size, wait_for)
    if isinstance(dest, SVMPointer):
        if offset:
            raise ValueError(
                "enqueue_fill: offset must be 0 for SVM; take a part of the SVM instead"
            )
        return _opencl.enqueue_svm_memfill(queue, dest, pattern, size, wait_for)
    raise TypeError(f"enqueue_fill: dest must be a Buffer or SVM, not {type(dest).__name__}")


publish(globals(), ["enqueue_fill"], "pygpu")
