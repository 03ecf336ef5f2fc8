# SPDX-License-Identifier: BSD-2-Clause
"""A small program in the place of daedalus-tune, as a kit that a board is sent."""

from tuning_lines import BOARD, NEON, result

from daedalus.generator.base.paths import repo_root
from daedalus.generator.tuning import journal
from daedalus.generator.tuning.entries import described
from daedalus.generator.tuning.kit import PROGRAM, SCRIPT, Kit

LINES = 40
PACE = 0.05  # seconds a line

# Adds to the journal, a line at a time, what of `lines` it has not; says how often it was begun.
# Waits before each line as long as there is a file `gate` in the session's home and ten lines.
FAKE = f"""#!/bin/sh
[ "$1" != --list ] || {{ echo {NEON}; exit 0; }}
echo $$ >>began
trap 'exit 130' TERM
while read -r line; do
  grep -qxF "$line" journal.jsonl && continue
  sleep {PACE}
  while [ -e "$HOME/gate" ] && [ "$(wc -l <journal.jsonl)" -ge 10 ]; do sleep 0.1; done
  echo "$line" >>journal.jsonl
done <lines
"""


def kit(n: int = LINES, program: str = FAKE) -> Kit:
    lines = [journal.line_of(described(BOARD))]
    lines += [journal.line_of(result(scenario=f"m3 items={i}")) for i in range(1, n)]
    script = repo_root() / "tools" / "tune" / SCRIPT
    return Kit({PROGRAM: program.encode(), SCRIPT: script.read_bytes(), "lines": b"".join(lines)})
