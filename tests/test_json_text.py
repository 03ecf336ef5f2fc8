# SPDX-License-Identifier: BSD-2-Clause
"""JSON of which what is short stands on a line."""

import json

from hypothesis import given
from hypothesis import strategies as st

from daedalus.generator.base.json_text import json_text

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=300),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=20), inner),
    max_leaves=60,
)


@given(VALUES)
def test_it_says_what_json_says(data: object) -> None:
    assert json.loads(json_text(data)) == data


def test_what_is_short_stands_on_a_line() -> None:
    many = {"empty": {}, "short": [{"a": n} for n in range(9)], "long": ["x" * 90] * 7}
    lines = json_text(many).splitlines()
    assert lines[0] == "{" and lines[1] == ' "empty": {},' and lines[2].startswith(' "short": [{')
    assert lines[3] == ' "long": [' and lines[4] == '  "' + "x" * 90 + '",'
    assert lines[-2:] == [" ]", "}"]
