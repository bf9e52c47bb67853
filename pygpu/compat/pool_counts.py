"""PyOpenCL's ``_cl._TestMemoryPool``: the arithmetic and the counts of a pool, without memory."""

from __future__ import annotations

import operator

from pygpu.tools import bitlog2

__all__ = ["_TestMemoryPool"]


class _Block:
    """An allocation that is only counted; it is given back when it is dropped or released."""

    def __init__(self, pool: _TestMemoryPool, size: int) -> None:
        self._pool, self._size = pool, size

    def release(self) -> None:
        """Give it back."""
        if self._size:
            self._pool._return_block(self._size)
            self._size = 0

    free = release
    __del__ = release


class _TestMemoryPool:
    """Counts of blocks and bytes as those of :class:`pygpu.tools.MemoryPool`.

    leading_bits_in_bin_id: how many bits of a size, after the highest, tell bins apart.
    """

    def __init__(self, leading_bits_in_bin_id: int = 4) -> None:
        self._bits = operator.index(leading_bits_in_bin_id)
        if not 0 <= self._bits <= 20:
            raise ValueError(
                f"_TestMemoryPool: leading_bits_in_bin_id must be 0 to 20, got {self._bits}"
            )
        self._held: dict[int, int] = {}
        self._holds = True
        self.active_blocks = self.active_bytes = self.managed_bytes = 0

    def bin_number(self, size: int) -> int:
        """The bin that serves a request of *size* bytes."""
        power, bits = bitlog2(size), self._bits
        head = size >> power - bits if power >= bits else size << bits - power
        return power << bits | head & (1 << bits) - 1

    def alloc_size(self, bin: int) -> int:
        """The size of the blocks of a bin [bytes]."""
        power, bits = bin >> self._bits, self._bits
        head = 1 << bits | bin & (1 << bits) - 1
        if power < bits:
            return head >> bits - power
        return (head + 1 << power - bits) - 1

    def allocate(self, size: int) -> _Block | None:
        """A block of at least *size* bytes; None for 0."""
        size = operator.index(size)
        if size < 0:
            raise ValueError(f"_TestMemoryPool.allocate: size must not be negative, got {size}")
        if size == 0:
            return None
        block = self.alloc_size(self.bin_number(size))
        if self._held.get(block):
            self._held[block] -= 1
        else:
            self.managed_bytes += block
        self.active_blocks += 1
        self.active_bytes += block
        return _Block(self, block)

    __call__ = allocate

    def _return_block(self, block: int) -> None:
        self.active_blocks -= 1
        self.active_bytes -= block
        if self._holds:
            self._held[block] = self._held.get(block, 0) + 1
        else:
            self.managed_bytes -= block

    @property
    def held_blocks(self) -> int:
        """Blocks that wait for their next user."""
        return sum(self._held.values())

    def free_held(self) -> None:
        """Give them up."""
        self.managed_bytes -= sum(size * count for size, count in self._held.items())
        self._held.clear()

    def stop_holding(self) -> None:
        """Give them up, and all later ones as soon as they come back."""
        self._holds = False
        self.free_held()
