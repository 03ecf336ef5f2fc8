# SPDX-License-Identifier: BSD-2-Clause
"""Generated headers never collide with the runtime's own."""

import pytest

from daedalus.dsl.errors import SpecError
from daedalus.generator.compile.registry import load

SPEC = '''
from daedalus.dsl.lang import kernel, u8

@kernel(clause="none", decoders={decoders})
def {name}(k):
    """Copies."""
    a = k.plane("a", u8, rows=(0, 1), cols=(0, 8), access="out")
    with k.stage(x=8) as x:
        a[0, x] = 1
'''


@pytest.mark.parametrize(
    ("name", "decoders", "header"),
    [
        ("core_copy", {}, "core.h"),
        ("neon_copy", {}, "neon.h"),
        ("x_copy", {"lane": "a a.stride"}, "lane.h"),
    ],
)
def test_runtime_headers_are_refused(tmp_path, name, decoders, header):
    (tmp_path / "spec.py").write_text(SPEC.format(name=name, decoders=decoders))
    with pytest.raises(SpecError, match=f"<daedalus/{header}> is a header of the runtime") as e:
        load(tmp_path)
    assert e.value.rule == "name"
    assert e.value.loc.line == 4
    assert e.value.hint
