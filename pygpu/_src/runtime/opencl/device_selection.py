"""Choosing the devices of a program, by its user rather than its author.

There are two questions, one for the platform and one for the devices. Answers come from the
argument *answers*, else from the environment variable PYGPU_CTX or PYOPENCL_CTX
("PLATFORM:DEVICE,DEVICE"), else from the user at a terminal. Otherwise the first platform with a
device is chosen, and its first device. An answer is an index, or part of a name in any case.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from pygpu import _opencl, errors
from pygpu._src.util.public import publish
from pygpu._src.util.sequences import as_list

if TYPE_CHECKING:
    from pygpu import _opencl as cl

__all__ = ["choose_devices", "create_some_context"]

CTX_VARIABLES = ("PYGPU_CTX", "PYOPENCL_CTX")
TEST_VARIABLES = ("PYGPU_TEST", "PYOPENCL_TEST")


class NoPlatformError(errors.LogicError, errors.RuntimeError):
    """There is no OpenCL platform: raised by get_platforms; also a RuntimeError, as in PyOpenCL."""


NoPlatformError.__module__ = "pygpu"

_was_reported = False


def create_some_context(
    interactive: bool | None = None, answers: Sequence[str] | None = None
) -> cl.Context:
    """Make a context on the devices that :func:`choose_devices` returns for the same arguments."""
    return _opencl.Context(choose_devices(interactive, answers))


_csc = create_some_context  # PyOpenCL's short name


def choose_devices(
    interactive: bool | None = None, answers: Sequence[str] | None = None
) -> list[cl.Device]:
    """Return the devices that the user chooses, all of one platform.

    interactive: whether to ask if there are no answers; None asks if standard input is a terminal.
    answers: for the platform, then for the devices (separated by commas); each an index or part of
    a name. An empty answer means the default. None takes them from PYGPU_CTX or else PYOPENCL_CTX,
    separated by colons. PYGPU_TEST or PYOPENCL_TEST, if set, take precedence.

    Raises RuntimeError if an answer matches nothing or is superfluous, LogicError if there is no
    platform, Error if the platform has no device.
    """
    if answers is None:
        if any(name in os.environ for name in TEST_VARIABLES):
            from pygpu._src.runtime.opencl.test_devices import get_test_platforms_and_devices

            for _, devices in get_test_platforms_and_devices():
                if devices:
                    return devices[:1]
        spec = next((os.environ[name] for name in CTX_VARIABLES if name in os.environ), None)
        answers = [] if spec is None else spec.split(":")
    elif isinstance(answers, (str, bytes)):
        raise TypeError(
            f"choose_devices: answers must be a list of str such as ['0', '0'], not {answers!r}"
        )
    if interactive is None:
        interactive = _is_terminal()
    return _Choice(interactive, as_list(answers, "choose_devices", "answers", 1000)).devices()


class _Choice:
    """The state of answering both questions."""

    def __init__(self, interactive: bool, answers: list[Any]) -> None:
        self.interactive, self.given, self.answers = interactive, list(answers), answers
        self.typed: list[str] = []

    def devices(self) -> list[cl.Device]:
        platforms = _platforms()
        first = _first_with_devices(platforms)
        answer = self.ask("Choose platform:", platforms, "Choice", platforms.index(first))
        chosen = first if not answer else _find(answer, platforms, "platform", last=True)
        devices = chosen.get_devices()
        choices = len(platforms) * len(devices)
        if not devices:
            why = why_no_devices(chosen.name) or "; get_platforms() lists all platforms"
            raise errors.Error(f"no devices found on the platform {chosen.name!r}{why}")
        if len(devices) == 1 and not self.answers:
            self.say(f"Choosing only available device: {devices[0]!r}")
        else:
            answer = self.ask("Choose device(s):", devices, "Choice, comma-separated", 0)
            if answer:
                devices = [_find(part, devices, "device") for part in answer.split(",")]
            else:
                devices = devices[:1]
        if self.answers:
            raise errors.RuntimeError(
                "not all provided choices were used by choose_devices. (left over: "
                f"'{':'.join(map(str, self.answers))}')"
            )
        if self.typed:
            spec = ":".join(map(str, [*self.given, *self.typed]))
            self.say(
                f"Set the environment variable {CTX_VARIABLES[0]}='{spec}' to avoid being asked "
                "again."
            )
        if choices > 1 and not self.interactive and not self.given:
            _show_in_notebook(devices[0])
        return devices

    def say(self, text: str) -> None:
        if self.interactive:
            print(text)

    def ask(self, question: str, candidates: Sequence[Any], prompt: str, default: int) -> str:
        """Return the next answer; "" for the default."""
        if self.answers:
            return str(self.answers.pop(0)).strip()
        if not self.interactive:
            return ""
        print(question)
        for i, candidate in enumerate(candidates):
            print(f"[{i}] {candidate!r}")
        try:
            answer = input(f"{prompt} [{default}]:").strip()
        except EOFError:  # nobody can answer: the same as pressing Enter
            print()
            answer = ""
        self.typed.append(answer)
        return answer


def _platforms() -> list[cl.Platform]:
    """Return all platforms, at least one."""
    try:
        platforms = _opencl.get_platforms()
    except errors.LogicError as error:
        if error.code != -1001:
            raise
        raise NoPlatformError(*error.args) from None
    if not platforms:
        raise errors.Error("no platforms found")
    return platforms


def why_no_devices(platform: str) -> str:
    """Return the end of a message: why PoCL has no devices; "" if unknown."""
    if platform != "Portable Computing Language":
        return ""
    folder = os.environ.get("POCL_CACHE_DIR")
    if not folder:
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        folder = os.path.join(cache, "pocl")
    nearest = folder
    while not os.path.lexists(nearest) and os.path.dirname(nearest) != nearest:
        nearest = os.path.dirname(nearest)
    if os.path.isdir(nearest) and os.access(nearest, os.W_OK | os.X_OK):
        return ""
    return (
        f": it has none where it cannot write to its cache, and {folder} cannot be written; "
        "set POCL_CACHE_DIR to a folder that can be"
    )


def _first_with_devices(platforms: Sequence[cl.Platform]) -> cl.Platform:
    """Return the default, skipping platforms that list no device or fail to list them."""
    for platform in platforms:
        try:
            if platform.get_devices():
                return platform
        except errors.Error:
            continue
    return platforms[0]


def _find(answer: str, candidates: Sequence[Any], kind: str, last: bool = False) -> Any:
    """Return the candidate with this index, or the first (last) one whose name contains the
    answer."""
    answer = answer.strip()
    try:
        index = int(answer)
    except ValueError:
        index = -1
    if 0 <= index < len(candidates):
        return candidates[index]
    fits = [candidate for candidate in candidates if answer.lower() in candidate.name.lower()]
    if not fits:
        names = ", ".join(f"[{i}] {candidate.name}" for i, candidate in enumerate(candidates))
        raise errors.RuntimeError(
            f"input did not match any {kind}: '{answer}' is neither an index nor a part of a name; "
            f"there are: {names}"
        )
    return fits[-1 if last else 0]


def _is_terminal() -> bool:
    try:
        return sys.stdin.isatty()
    except (AttributeError, ValueError):  # None under pythonw, or closed
        return False


def _show_in_notebook(device: cl.Device) -> None:
    """In a notebook, which cannot ask, mention once that there was a choice."""
    global _was_reported
    shell: Callable[[], Any] | None = getattr(sys.modules.get("IPython"), "get_ipython", None)
    if _was_reported or shell is None or not hasattr(shell(), "kernel"):
        return
    _was_reported = True
    print(
        f"Using {device!r}. To choose another, set os.environ['{CTX_VARIABLES[0]}'] = "
        "'PLATFORM:DEVICE' before, each an index or a part of a name; get_platforms() lists them."
    )


publish(globals(), __all__, "pygpu")
