"""Numbers as lines of text, by tables of their digits.

All numbers of a kind have the same number of letters, filled up with spaces, so that lines are
pieced together as arrays: a tenth of the time that writing number by number takes.
"""

import math
from collections.abc import Iterator

import numpy as np
from jaxtyping import Float, Int, Shaped

from anylight.threads import chunks

_LOW = 10_000
"""Numbers are two parts of up to four digits each."""
_DIGITS = 8


def decimals_for(values: Float[np.ndarray, "n d"]) -> int | None:
    """Digits after the point that make eight for the largest value.

    None if the values are so large or so small that `rows` cannot hold them.
    """
    largest = max(float(-values.min(initial=0)), float(values.max(initial=0)))
    before = max(math.floor(math.log10(largest)) + 1, 0) if largest > 0 else 0
    is_tiny = 0 < largest < 0.01
    return None if is_tiny or before > _DIGITS // 2 else _DIGITS - before


def rows(key: str, values: Float[np.ndarray, "n d"], decimals: int) -> Iterator[memoryview]:
    """Lines with a key and the numbers of a row, fixed point, some lines at a time.

    Args:
        key: first word of every line.
        values: with eight digits at the most, `decimals` included.
        decimals: digits after the point, four or more.
    """
    lowest, highest = float(values.min(initial=0)), float(values.max(initial=0))
    count = int(np.rint(max(-lowest, highest) * 10.0**decimals)) // _LOW + 1
    heads = _heads(decimals, count, lowest < 0)
    lows = np.array([f"{low:04d}" for low in range(_LOW)], bytes)
    numbers = [
        part
        for axis in range(values.shape[1])
        for part in ((f"head{axis}", heads.dtype), (f"low{axis}", lows.dtype))
    ]
    kind = np.dtype([("key", f"S{len(key)}"), *numbers, ("end", "S1")])
    for part in chunks(len(values)):
        block = values[part].astype(float)
        steps = np.rint(np.abs(block) * 10.0**decimals).astype(np.uint32)
        high = steps // _LOW
        low = steps - high * np.uint32(_LOW)
        high += np.uint32(count) * (block < 0)
        lines = np.empty(len(block), kind)
        lines["key"], lines["end"] = key, "\n"
        for axis in range(values.shape[1]):
            lines[f"head{axis}"] = heads[high[:, axis]]
            lines[f"low{axis}"] = lows[low[:, axis]]
        yield lines.view(np.uint8).data


def _heads(decimals: int, count: int, signed: bool) -> Shaped[np.ndarray, " n"]:
    """All of a number but its last four digits: first of positive ones, then of negative ones."""
    scale = 10 ** (decimals - 4)
    plain = [f"{head // scale}." + f"{scale + head % scale}"[1:] for head in range(count)]
    texts = [*plain, *(f"-{text}" for text in plain)] if signed else plain
    width = 1 + max(map(len, texts))
    return np.array([text.rjust(width) for text in texts], bytes)


def faces(corners: Int[np.ndarray, "F 3"]) -> Iterator[memoryview]:
    """Lines of triangles, some at a time; corners count from 1 and are written a/a/a.

    Place, texture and normal of a vertex have one number.
    """
    words = _corner_words(int(corners.max(initial=0)) + 1)
    kind = np.dtype([("key", "S1"), ("corners", words.dtype, (3,)), ("end", "S1")])
    for part in chunks(len(corners)):
        block = corners[part]
        lines = np.empty(len(block), kind)
        lines["key"], lines["end"] = "f", "\n"
        lines["corners"] = words[block]
        yield lines.view(np.uint8).data


def _corner_words(most: int) -> Shaped[np.ndarray, " n"]:
    """Words " 1/1/1" and so on, filled up with spaces."""
    longest = len(str(most))
    letters = np.full((most, 3 * longest + 3), ord(" "), np.uint8)
    for digits in range(1, longest + 1):
        first, beyond = 10 ** (digits - 1), min(10**digits, most + 1)
        for part in chunks(beyond - first):
            numbers = np.arange(first + part.start, first + part.stop, dtype=np.uint32)
            own = letters[numbers[0] - 1 : numbers[-1]]
            for place in range(digits, 0, -1):
                rest = numbers // np.uint32(10)
                letter = (numbers - 10 * rest + ord("0")).astype(np.uint8)
                numbers = rest
                for word in range(3):
                    own[:, word * (digits + 1) + place] = letter
            own[:, [digits + 1, 2 * digits + 2]] = ord("/")
    return letters.view(f"S{letters.shape[1]}")[:, 0]
