# SPDX-License-Identifier: BSD-2-Clause
"""`check` compares only code that was generated from the specs as they are."""

from pathlib import Path

import pytest
from spec_support import load_text, spec_text

from daedalus.generator.base.errors import UserError
from daedalus.generator.compile.emit import generate
from daedalus.generator.compile.folder import write
from daedalus.generator.verify.check_runs import require_generated

BODY = "with k.stage(i=8) as i:\n    px[0, i] = clip_u8(px[0, i] + {})"


def test_code_of_another_spec_is_refused(tmp_path: Path) -> None:
    before = load_text(tmp_path / "before", spec_text(BODY.format(1)))
    after = load_text(tmp_path / "after", spec_text(BODY.format(2)))
    folder = tmp_path / "generated"
    with pytest.raises(UserError, match=r"generated/ is not what the spec of test_it gives"):
        require_generated(list(before), folder)
    write(generate(before), folder)
    require_generated(list(before), folder)
    with pytest.raises(UserError) as caught:
        require_generated(list(after), folder)
    assert caught.value.hint == "run ./daedalus gen, then check again"
