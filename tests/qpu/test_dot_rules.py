# SPDX-License-Identifier: BSD-2-Clause
"""That the QPU's rules of sums of bytes are right, by the executable meaning of the operations:
every byte with every weight at every place of a word, and whole sums at the ends of the ranges."""

from typing import Any

import numpy as np
import pytest

from daedalus.generator.targets.qpu import semantics
from daedalus.generator.targets.qpu.dot_rules import DOTS, DotRule, dot_rule, moved, words_of


def _vector(x: Any) -> semantics.Vector:
    return np.atleast_1d(np.asarray(x, np.int64) & 0xFFFFFFFF).astype(np.uint32)


def _computed(x: Any, operands: dict[str, semantics.Vector], mode: str) -> semantics.Vector:
    if isinstance(x, int):
        return _vector(x)
    if isinstance(x, str):
        return operands[x]
    sources = [_computed(y, operands, mode) for y in x[1:]]
    if x[0] == "v8dot":
        return semantics.dot(*sources, mode)
    return semantics.BINARY[x[0]](*sources)


def _product(one: DotRule, words: Any, weights: Any) -> semantics.Vector:
    word = _computed(one.word, {"a": _vector(words)}, one.mode)
    return _computed(one.product, {"a": word, "b": _vector(weights)}, one.mode)


@pytest.mark.parametrize("one", DOTS, ids=lambda r: r.name)
@pytest.mark.parametrize("place", range(4))
def test_every_byte_times_every_weight(one: DotRule, place: int) -> None:
    """The other bytes and weights are random: v8dot is the sum of the four products."""
    rng = np.random.default_rng(place)
    pixels = rng.integers(0, 256, (2**16, 4))
    weights = rng.integers(-128, 128, (2**16, 4))
    pixels[:, place] = np.repeat(np.arange(256), 256)
    weights[:, place] = np.tile(np.arange(-128, 128), 256)
    at = 1 << (8 * np.arange(4))
    got = _product(one, pixels @ at, (weights & 255) @ at)
    more = np.array([one.more([w.tolist()]) for w in weights])
    assert np.array_equal(got + _vector(more), _vector((pixels * weights).sum(1)))


def _sums() -> Any:
    """Rows of weights at the ends and random ones, of all lengths that are made."""
    rng = np.random.default_rng(5)
    for count in range(1, 13):
        yield [-128] * count
        yield [127] * count
        yield [(-128, 127)[k % 2] for k in range(count)]
        yield rng.integers(-128, 128, count).tolist()


@pytest.mark.parametrize("known", [False, True], ids=["moved by operations", "moved as numbers"])
@pytest.mark.parametrize("phase", range(4))
def test_sums_of_bytes_wherever_they_begin(phase: int, known: bool) -> None:
    """Also of what lies before and behind them in memory nothing counts."""
    rng = np.random.default_rng(phase)
    compared = 0
    for weights in _sums():
        one = dot_rule([weights])
        assert one is not None
        count = len(weights)
        plain = [0, *words_of(weights), 0]
        taps = words_of(weights, phase) if known else [
            int(_computed(x, {"a": _vector(plain[k]), "b": _vector(plain[k + 1])}, one.mode)[0])
            for k, x in enumerate(moved(count, phase))
        ]  # fmt: skip
        assert len(taps) == (phase + count + 3) // 4
        for fill in (0, 255, None):
            data = rng.integers(0, 256, 4 * len(taps)) if fill is None else np.full(16, fill)
            data[:phase] = 255 - data[:phase]
            words = [int(w) for w in data[: 4 * len(taps)].astype(np.uint8).view("<u4")]
            total = one.more([weights]) + sum(
                int(_product(one, w, t)[0]) for w, t in zip(words, taps, strict=True)
            )
            want = int((data[phase : phase + count] * np.array(weights)).sum())
            assert (total - want) % 2**32 == 0, (weights, phase, fill)
            compared += 1
    assert compared == 12 * 4 * 3


def test_weights_beyond_8_bits_and_rows_of_unlike_sums_are_refused() -> None:
    assert dot_rule([[-128, 127]]) is not None
    assert dot_rule([[1, 2, 3], [3, 2, 1]]) is not None
    for rows in ([[128]], [[-129]], [[1, 2], [1, 3]]):
        assert dot_rule(rows) is None
