"""md5_code: C source that computes four pseudorandom words from the position of a thread, for
snippets of kernels.

    kernel = get_elwise_kernel("unsigned int *dest, unsigned int seed", md5_code + "dest[i] = a;")

The words ``a``, ``b``, ``c``, ``d`` (unsigned int) are one block of MD5 (RFC 1321) over threadIdx,
blockIdx, ``seed``, ``i``, ``n``, blockDim, gridDim and a zero.
"""

from __future__ import annotations

from collections.abc import Callable
from math import floor, sin

_WORDS = (
    *(f"threadIdx.{axis}" for axis in "xyz"),
    *(f"blockIdx.{axis}" for axis in "xyz"),
    *("seed", "i", "n"),
    *(f"blockDim.{axis}" for axis in "xyz"),
    *(f"gridDim.{axis}" for axis in "xyz"),
    "0",
)
_START = {"a": 0x67452301, "b": 0xEFCDAB89, "c": 0x98BADCFE, "d": 0x10325476}
# for each round: the function of the three other words, the index of the k-th word, the four
# shifts
_ROUNDS: tuple[tuple[str, Callable[[int], int], tuple[int, ...]], ...] = (
    ("({1} & {2}) | (~{1} & {3})", lambda k: k, (7, 12, 17, 22)),
    ("({1} & {3}) | ({2} & ~{3})", lambda k: 5 * k + 1, (5, 9, 14, 20)),
    ("{1} ^ {2} ^ {3}", lambda k: 3 * k + 5, (4, 11, 16, 23)),
    ("{2} ^ ({1} | ~{3})", lambda k: 7 * k, (6, 10, 15, 21)),
)


def _text() -> str:
    names = "abcd"
    lines = [f"unsigned int {name} = 0x{value:08x}u;" for name, value in _START.items()]
    lines.append("{ unsigned int md5_sum;")
    lines += [f"const unsigned int md5_{k} = (unsigned int)({w});" for k, w in enumerate(_WORDS)]
    for number, (function, order, shifts) in enumerate(_ROUNDS):
        for k in range(16):
            turned = names[-k % 4 :] + names[: -k % 4]
            constant = floor(abs(sin(16 * number + k + 1)) * 2**32)
            shift = shifts[k % 4]
            lines.append(
                f"md5_sum = {turned[0]} + ({function.format(*turned)}) + md5_{order(k) % 16} "
                f"+ 0x{constant:08x}u; "
                f"{turned[0]} = {turned[1]} + ((md5_sum << {shift}) | (md5_sum >> {32 - shift}));"
            )
    lines += [f"{name} += 0x{value:08x}u;" for name, value in _START.items()]
    return "\n".join(lines) + "\n}\n"


md5_code: str = _text()
