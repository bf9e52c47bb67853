"""The source of a Generator's numbers: Philox, with its key and position."""

from __future__ import annotations

import operator
import threading
from typing import Any

import numpy as np

from pygpu._src.util.public import publish

from .random import Generator as Filler

__all__ = ["Philox4x32"]

_MASK64 = (1 << 64) - 1


class Philox4x32:
    """The counter-based generator Philox 4x32-10 (J. K. Salmon et al., "Parallel random numbers: as
    easy as 1, 2, 3", SC11, 2011): 128 random bits are a function of a counter and a key.

    seed: None for entropy of the operating system, an int or a sequence of ints, none of them
    negative, or a numpy.random.SeedSequence. The key and a word of the counter, 96 bits, come from
    the seed and name the stream; 64 bits of the counter are the position in it, and 16 bits count
    what an item draws beyond its first numbers.
    """

    def __init__(self, seed: Any = None) -> None:
        if not hasattr(seed, "generate_state"):
            seed = np.random.SeedSequence(seed)
        self._seed_seq = seed
        words = [int(word) for word in seed.generate_state(3, np.uint32)]
        self._filler = Filler("philox", words[:2], words[2] << 64)
        self._key = words[0] | words[1] << 32
        self.lock: threading.Lock = threading.Lock()

    def __repr__(self) -> str:
        state = self.state["state"]
        parts = f"key={state['key']:#x}, stream={state['stream']:#x}, position={state['position']}"
        return f"<pygpu.random.{type(self).__name__} {parts}>"

    @property
    def seed_seq(self) -> Any:
        """The SeedSequence from which the stream was made."""
        return self._seed_seq

    @property
    def state(self) -> dict[str, Any]:
        """The key, the stream and the position, as a dict that can be assigned."""
        with self.lock:
            counter = self._filler.counter
        state = {"key": self._key, "stream": counter >> 64, "position": counter & _MASK64}
        return {"bit_generator": type(self).__name__, "state": state}

    @state.setter
    def state(self, value: dict[str, Any]) -> None:
        name = type(self).__name__
        if not isinstance(value, dict):
            raise TypeError(f"{name}.state must be a dict, not {type(value).__name__}")
        if value.get("bit_generator") != name:
            raise ValueError(f"state must be for a {name} bit generator")
        parts = value["state"]
        key, stream, position = (operator.index(parts[k]) for k in ("key", "stream", "position"))
        for part, number, bits in (
            ("key", key, 64),
            ("stream", stream, 32),
            ("position", position, 64),
        ):
            if not 0 <= number < 1 << bits:
                raise ValueError(f"{name}.state: {part} has {bits} bits, and is {number}")
        with self.lock:
            self._key = key
            self._filler.key = [key & 0xFFFFFFFF, key >> 32, 0, 0]
            self._filler.counter = stream << 64 | position

    def spawn(self, n_children: int) -> list[Philox4x32]:
        """Return *n_children* generators of other streams, made by ``seed_seq.spawn()``."""
        if not hasattr(self._seed_seq, "spawn"):
            raise TypeError("The underlying SeedSequence does not implement spawning.")
        return [type(self)(seed) for seed in self._seed_seq.spawn(n_children)]

    def advance(self, delta: int) -> Philox4x32:
        """Skip *delta* blocks of 128 bits, as if they had been drawn; go back if it is negative.
        Returns the generator."""
        with self.lock:
            self._move(operator.index(delta))
        return self

    def _move(self, blocks: int) -> int:
        """Advance the counter; returns its previous value. The caller holds the lock."""
        counter = self._filler.counter
        self._filler.counter = counter & ~_MASK64 | (counter + blocks) & _MASK64
        return counter

    def _take(self, blocks: int) -> tuple[int, int, int]:
        """Return (position, stream, key) of so many new blocks."""
        with self.lock:
            counter = self._move(blocks)
            return counter & _MASK64, counter >> 64, self._key

    def __reduce__(self) -> Any:
        return _restored, (type(self), self._seed_seq, self.state)


def _restored(cls: type[Philox4x32], seed_seq: Any, state: dict[str, Any]) -> Philox4x32:
    made = cls(seed_seq)
    made.state = state
    return made


publish(globals(), __all__, "pygpu.random")
