# SPDX-License-Identifier: BSD-2-Clause
"""Random virtual programs compute on the simulator what they say.

`./daedalus v3d schedule --programs N` does the same with more.
"""

import re
from dataclasses import replace

import pytest

from daedalus.generator.targets.qpu import agree
from daedalus.generator.targets.qpu.agree import compare
from daedalus.generator.targets.qpu.random_programs import make
from daedalus.generator.targets.qpu.text import Assembly, assembly

_CHUNK = 25


@pytest.mark.parametrize("chunk", range(5))
def test_nothing_differs(chunk: int) -> None:
    scheduled = 0
    for seed in range(chunk * _CHUNK, (chunk + 1) * _CHUNK):
        verdict = compare(make(seed, 30), threads=4 if seed % 4 == 0 else 2, budget=400)
        if verdict.assembly is None:
            # Only for what no schedule can help.
            assert "with its address these are more words" in verdict.reason
            continue
        scheduled += 1
        assert verdict.differing == 0, f"seed {seed}"
        assert verdict.assembly.trip > verdict.assembly.bound - 1
    assert scheduled >= _CHUNK - 3


def test_a_wrong_register_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many ways to spoil a program most show."""
    seen = tried = 0

    def spoiled(code: object) -> Assembly:
        made = assembly(code)  # type: ignore[arg-type]
        places = list(re.finditer(r"(?<=, )rf(\d+)(?= |$)", made.text, re.MULTILINE))
        at = places[tried * len(places) // 12]
        other = f"rf{(int(at[1]) + 1) % 8}"
        return replace(made, text=made.text[: at.start()] + other + made.text[at.end() :])

    monkeypatch.setattr(agree, "assembly", spoiled)
    for tried in range(12):  # noqa: B007  (spoiled reads it)
        try:
            seen += compare(make(11, 30), threads=2, budget=200).differing > 0
        except Exception:
            seen += 1  # an address outside of every buffer
    assert seen >= 8
