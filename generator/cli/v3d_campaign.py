# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus v3d corpus --random N`: thousands of random programs, with differences explained."""

import json
import sys
from collections import Counter
from dataclasses import asdict

from daedalus.generator.base.console import tell
from daedalus.generator.base.errors import EXIT_FAILED
from daedalus.generator.base.progress import progress
from daedalus.generator.base.tables import print_table
from daedalus.generator.host import native
from daedalus.v3d import campaign, vkrun
from daedalus.v3d.corpus.known import mistakes


def run(device: vkrun.Device, first: int, count: int, *, as_json: bool) -> None:
    """Runs the seeds, prints what came of them, and ends with exit code 1 where that is bad."""
    with progress(quiet=as_json), native.alone(campaign.folder()):
        summary = campaign.run(device, first, count)
    if as_json:
        print(json.dumps({**asdict(summary), "good": summary.good}, indent=1))
    else:
        _print(summary)
    if not summary.good:
        sys.exit(EXIT_FAILED)


def _print(summary: campaign.Summary) -> None:
    rows = [(f, n, equal, n - equal) for f, (n, equal) in sorted(summary.families.items())]
    rows.append(("all", summary.seeds, summary.equal, len(summary.results)))
    print_table(("family", "programs", "equal", "differ"), rows)
    counts = Counter(" and ".join(r.mistakes) for r in summary.results if r.mistakes)
    if counts:
        print_table(("explained by", "programs"), counts.most_common())
    met = {name for r in summary.results for name in r.mistakes}
    for m in (m for m in mistakes() if m.name in met):
        print(f"{m.name}: {m.of} errs. {m.what}\n  {m.clause}\n  {m.shader}")
    for r in summary.unexplained:
        text = "; ".join(f"{k}: {v.splitlines()[0]}" for k, v in r.symptoms.items())
        tell(f"unexplained: {r.name}: {text}")
    share = len(summary.unexplained) / max(1, summary.seeds)
    print(f"{len(summary.unexplained)} unexplained, {share:.2%}")
