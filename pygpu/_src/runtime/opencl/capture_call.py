"""One kernel call as a standalone script: source, options, data and sizes.

For bug reports and debuggers. The script needs only pygpu, NumPy and a device, and makes the call
once. Its `main()` returns the queue and the memory objects, for a look at what the kernel wrote.
Data is stored as zlib-compressed base64 text: a third larger than the memory for random numbers,
far smaller for most other data.

    >>> program.twice.capture_call("twice.py", queue, (n,), None, buffer)  # doctest: +SKIP
"""

from __future__ import annotations

import base64
import operator
import os
import shlex
import zlib
from collections.abc import Sequence
from typing import IO, Any

import numpy as np

from pygpu import constants
from pygpu._opencl import (
    CommandQueue,
    Event,
    Image,
    Kernel,
    LocalMemory,
    MemoryObjectHolder,
    Program,
    Sampler,
    SVMPointer,
    enqueue_copy,
    wait_for_events,
)
from pygpu._src.codegen.template import Template
from pygpu._src.util.package_folder import OPENCL_HEADERS
from pygpu._src.util.public import publish
from pygpu.errors import RuntimeError

__all__ = ["capture_kernel_call"]

_LINE = 88  # characters of base64 per line


def _source_of(program: Program) -> str:
    source = program._source_bytes
    if source is None:
        raise RuntimeError(
            "capture_call: the program was not made from source, so there is none to write"
        )
    return source.decode("utf-8", "surrogateescape")


def _options_of(program: Program, queue: CommandQueue) -> list[str]:
    """Return the build options, without those that every build gets."""
    text = program.get_build_info(queue.device, constants.program_build_info.OPTIONS)
    words = shlex.split(text)
    result: list[str] = []
    for word in words:
        if word == OPENCL_HEADERS and result and result[-1] == "-I":
            result.pop()
        elif word != "-cl-kernel-arg-info":
            result.append(word)
    return result


def _literal(text: str) -> str:
    """Return a Python expression for a text, unescaped if possible."""
    try:
        text.encode()
    except UnicodeEncodeError:  # not UTF-8: keep the bytes
        return repr(text.encode("utf-8", "surrogateescape"))
    unusual = any(c < " " and c not in "\n\t" for c in text)
    if unusual or "'''" in text or text.endswith(("'", "\\")):
        lines = "".join(f"    {line!r}\n" for line in text.splitlines(keepends=True))
        return f"(\n{lines})"
    return f"r'''{text}'''"


def _sizes(name: str, value: Any) -> tuple[int, ...]:
    try:
        if isinstance(value, (int, np.integer)):
            return (int(value),)
        return tuple(operator.index(v) for v in value)
    except TypeError:
        raise TypeError(
            f"capture_call: {name} must be an int or a sequence of ints, not {type(value).__name__}"
        ) from None


def _number(value: Any) -> str | None:
    """Return an expression for a number, exact to the bit; None if the value is not a number."""
    if isinstance(value, (bool, np.bool_)):
        return repr(bool(value))
    if isinstance(value, int):
        return repr(int(value))
    if type(value) in (float, complex):
        return repr(value) if np.isfinite(value) else f"{type(value).__name__}('{value!r}')"
    if isinstance(value, np.integer) and not isinstance(value, np.timedelta64):
        return f"np.{value.dtype.name}({int(value)})"
    if isinstance(value, (np.float16, np.float32, np.float64)) and np.isfinite(value):
        return f"np.{value.dtype.name}({float(value)!r})"
    if isinstance(value, np.generic) and value.dtype.kind in "fcmM":
        return f"np.frombuffer(bytes.fromhex('{value.tobytes().hex()}'), '{value.dtype.str}')[0]"
    return None


class _Script:
    """The lines of the script, and the variables of objects that occur more than once."""

    def __init__(self, queue: CommandQueue) -> None:
        self.queue = queue
        self.setup: list[str] = []
        self.data: list[str] = []
        self.made: dict[tuple[str, int], str] = {}
        self.memory: list[str] = []

    def store(self, name: str, content: bytes) -> str:
        """Add data; returns the expression that unpacks it."""
        text = base64.b64encode(zlib.compress(content, 9)).decode()
        self.data += [f"{name} = ("]
        self.data += [f'    "{text[i : i + _LINE]}"' for i in range(0, len(text), _LINE)]
        self.data += [")", ""]
        return f"unpack({name})"

    def argument(self, index: int, value: Any) -> str:
        name = f"arg{index}"
        is_number = (
            isinstance(value, np.ndarray) and value.size == 1 and value.dtype.kind in "biufcmM"
        )
        number = _number(value.reshape(())[()] if is_number else value)
        if number is not None:
            return number
        if value is None:
            return "None"
        if isinstance(value, LocalMemory):
            return f"cl.LocalMemory({value.size})"
        if isinstance(value, (MemoryObjectHolder, SVMPointer, Sampler)):
            return self.shared(name, index, value)
        if not isinstance(value, np.ndarray):
            data = getattr(value, "data", None)  # an array on the device
            if isinstance(data, (MemoryObjectHolder, SVMPointer)):
                return self.shared(name, index, data)
        try:
            if isinstance(value, (np.ndarray, np.generic)):
                content = value.tobytes("A")
            else:
                content = bytes(memoryview(value).cast("B"))
        except TypeError:
            raise TypeError(
                f"capture_call: arg#{index + 1} (1-based), of type {type(value).__name__}, "
                "cannot be written to a script"
            ) from None
        return self.store(f"{name}_data", content)

    def shared(self, name: str, index: int, value: Any) -> str:
        """Return the variable of an object that may occur twice."""
        kind = type(value).__name__
        key = (kind, value.svm_ptr if isinstance(value, SVMPointer) else value.int_ptr)
        if key in self.made:
            return self.made[key]
        if isinstance(value, Sampler):
            modes = int(value.addressing_mode), int(value.filter_mode)
            self.setup.append(
                f"{name} = cl.Sampler(ctx, {bool(value.normalized_coords)}, {modes[0]}, {modes[1]})"
            )
        elif isinstance(value, SVMPointer):
            content = np.empty(value.size, np.uint8)
            enqueue_copy(self.queue, content, value)
            unpacked = self.store(f"{name}_data", content.tobytes())
            self.setup += [
                # Untyped bytes, which pointers of every type accept.
                f"{name} = cl.SVM(cl.csvm_empty(ctx, {value.size}, 'V1'))",
                f"cl.enqueue_copy(queue, {name}, np.frombuffer({unpacked}, 'V1'))",
            ]
            self.memory.append(name)
        elif isinstance(value, Image):
            self.image(name, index, value)
        elif value.type == constants.mem_object_type.BUFFER:
            content = np.empty(value.size, np.uint8)
            enqueue_copy(self.queue, content, value)
            unpacked = self.store(f"{name}_data", content.tobytes())
            self.setup.append(
                f"{name} = cl.Buffer(ctx, mf.READ_WRITE | mf.COPY_HOST_PTR, hostbuf={unpacked})"
            )
            self.memory.append(name)
        else:
            raise TypeError(
                f"capture_call: arg#{index + 1} (1-based), a {kind}, cannot be written to a script"
            )
        self.made[key] = name
        return name

    def image(self, name: str, index: int, image: Image) -> None:
        shape = tuple(n for n in (image.width, image.height, image.depth) if n)
        if image.array_size or image.buffer is not None:
            raise TypeError(
                f"capture_call: arg#{index + 1} (1-based), an array of images or an image over a "
                "buffer, cannot be written to a script"
            )
        content = np.empty(int(np.prod(shape)) * image.element_size, np.uint8)
        enqueue_copy(self.queue, content, image, origin=(0,) * len(shape), region=shape)
        unpacked = self.store(f"{name}_data", content.tobytes())
        self.setup.append(
            f"{name} = cl.create_image(ctx, {image.flags & 7} | mf.COPY_HOST_PTR, "
            f"cl.ImageFormat({image.format.channel_order}, {image.format.channel_data_type}), "
            f"shape={shape}, hostbuf=np.frombuffer({unpacked}, np.uint8).copy())"
        )
        self.memory.append(name)


_SCRIPT = Template("""\
# A call of the kernel $kernel, captured on $device.
import base64
import zlib

import numpy as np

import pygpu as cl

mf = cl.mem_flags
OPTIONS = $options
SOURCE = $source


def unpack(text):
    return zlib.decompress(base64.b64decode(text))


def main():
    ctx = cl.create_some_context()
    queue = cl.CommandQueue(ctx)
    program = cl.Program(ctx, SOURCE).build(OPTIONS)
    kernel = cl.Kernel(program, $name)
$setup    kernel(queue, $arguments)
    queue.finish()
    return queue, [$memory]


$data
if __name__ == "__main__":
    main()
""")


def _kernel_capture_call(
    kernel: Kernel,
    output_file: str | os.PathLike[str] | IO[str],
    queue: CommandQueue,
    global_size: int | Sequence[int],
    local_size: int | Sequence[int] | None,
    *args: Any,
    wait_for: Sequence[Event] | None = None,
    g_times_l: bool = False,
    allow_empty_ndrange: bool = False,
    global_offset: Sequence[int] | None = None,
) -> None:
    """Implement Kernel.capture_call, whose names for the sizes differ from
    capture_kernel_call's."""
    if not isinstance(kernel, Kernel):
        raise TypeError(f"capture_call: kernel must be a Kernel, not {type(kernel).__name__}")
    if not isinstance(queue, CommandQueue):
        raise TypeError(f"capture_call: queue must be a CommandQueue, not {type(queue).__name__}")
    source = _source_of(kernel.program)
    options = _options_of(kernel.program, queue)
    sizes = [repr(_sizes("global_size", global_size))]
    sizes.append("None" if local_size is None else repr(_sizes("local_size", local_size)))
    keywords = []
    if global_offset is not None:
        keywords.append(f"global_offset={_sizes('global_offset', global_offset)!r}")
    if g_times_l:
        keywords.append("g_times_l=True")
    if allow_empty_ndrange:
        keywords.append("allow_empty_ndrange=True")
    if wait_for is not None:
        wait_for_events(wait_for)

    script = _Script(queue)
    call = [script.argument(i, value) for i, value in enumerate(args)]
    text = _SCRIPT.fill(
        kernel=kernel.function_name,
        device=queue.device.name,
        options=repr(options),
        source=_literal(source),
        name=repr(kernel.function_name),
        setup="".join(f"    {line}\n" for line in script.setup),
        arguments=", ".join([*sizes, *call, *keywords]),
        memory=", ".join(script.memory),
        data="".join(f"{line}\n" for line in script.data),
    )
    if isinstance(output_file, (str, os.PathLike)):
        with open(output_file, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    else:
        output_file.write(text)


def capture_kernel_call(
    kernel: Kernel,
    output_file: str | os.PathLike[str] | IO[str],
    queue: CommandQueue,
    g_size: int | Sequence[int],
    l_size: int | Sequence[int] | None,
    *args: Any,
    wait_for: Sequence[Event] | None = None,
    g_times_l: bool = False,
    allow_empty_ndrange: bool = False,
    global_offset: Sequence[int] | None = None,
) -> None:
    """Write a standalone script of this call to a path or an open text file.

    Arguments as for calling the kernel, with output_file first. The data of memory objects is read
    after the events of wait_for. Raises pygpu.RuntimeError for a program without source, TypeError
    for an argument that cannot be written (a pipe, an array of images); then nothing is written.
    """
    _kernel_capture_call(
        kernel, output_file, queue, g_size, l_size, *args, wait_for=wait_for, g_times_l=g_times_l,
        allow_empty_ndrange=allow_empty_ndrange, global_offset=global_offset,
    )  # fmt: skip


publish(globals(), __all__, "pygpu.capture_call")
