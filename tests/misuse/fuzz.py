"""What the fuzzing of both systems shares: values that no parameter likes, and calls with them."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from harness import Boom, Liar, Missed


class Cyclic(list):
    """A list that contains itself."""

    def __init__(self) -> None:
        super().__init__()
        self.append(self)


def nasty_values() -> list[Any]:
    """Values that have nothing to do with a device."""
    closed = memoryview(bytearray(8))
    closed.release()
    return [
        None, True, 0, -1, 1, 3, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63,
        2**64 - 1, 2**64, -(2**63), 10**100, 0.5, float("nan"), float("inf"), 1j, "", "x", "\0",
        "\ud800", b"", b"x", b"\0" * 64, bytearray(3), (), (1,), (1, 2, 3, 4), (-1, 0, 0),
        (2**64, 1, 1), (2**63, 2**63, 2**63), [None], ["x"], [[]], {}, {1: 2}, {1}, object(), int,
        np, Ellipsis, NotImplemented, slice(1), range(2**40), iter([]), Cyclic(), np.float32(1.5),
        np.zeros(0), np.zeros(3, np.uint8), np.array(5), np.zeros(4, object),
        np.zeros((2, 2), "V3"), np.zeros(64, np.float32)[::-2], np.array("text"), closed, Liar(),
        Liar(index=Boom("index")), Liar(index="x"), Liar(len=Boom("len")),
        Liar(len=lambda: 2**40), Liar(len=lambda: 3, getitem=lambda: 1), Liar(iter=Boom("iter")),
        Liar(float=Boom("float"), index=Boom("index")), Liar(buffer=Boom("buffer")),
    ]  # fmt: skip


def _note(function: Any, place: object, value: Any) -> None:
    """Tell a file what is about to be called, so that it is known after a crash: FUZZ_LOG."""
    path = os.environ.get("FUZZ_LOG")
    if path:
        try:
            text = repr(value)[:80]
        except Exception as error:
            text = f"<{type(value).__name__}: {error!r}>"
        name = getattr(function, "__qualname__", repr(function))
        with open(f"{path}.{os.getpid()}", "w") as file:
            file.write(f"{name}: argument {place!r} = {text}\n")


def attempt(
    function: Any, place: int | str, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """Call *function* with *value* as the argument *place*; an error must say something."""
    now, more = list(args), dict(kwargs)
    if isinstance(place, int):
        now[place] = value
    else:
        more[place] = value
    _note(function, place, value)
    try:
        function(*now, **more)
    except (SystemError, RecursionError) as error:
        text = f"{function!r}: argument {place!r} = {value!r:.80}: {error!r}"
        raise Missed("CLASS", text) from None
    except Exception as error:
        if not str(error) and type(error) not in (MemoryError, Boom):
            text = f"{function!r}: argument {place!r} = {value!r:.80}: {error!r}"
            raise Missed("MESSAGE", text) from None


def wrong_counts(function: Any, args: tuple[Any, ...]) -> None:
    """Call *function* with no, three times as many, and one of its arguments."""
    for wrong in ((), args * 3, args[:1]):
        try:
            function(*wrong)
        except SystemError as error:
            raise Missed("CLASS", f"{function!r} with {len(wrong)} arguments: {error!r}") from None
        except Exception:
            pass
