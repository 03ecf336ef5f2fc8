# SPDX-License-Identifier: BSD-2-Clause
"""The report's page in Chromium, as wide as a phone and as a desk: nothing sticks out."""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

from report_pages import manifest, page, some_entries, sources

WIDTHS = (360, 1280)

# Frames of these widths, and what the page in each measures once it is laid out. What scrolls in a
# box of its own may be wider than the page; drawings may be cut by the edge of their SVG.
_FRAMES = """<!DOCTYPE html><title>frames</title><pre id="told">nothing</pre>
<script>
addEventListener("load", () => {{
  const told = [...document.querySelectorAll("iframe")].map((frame) => {{
    const page = frame.contentDocument, root = page.documentElement;
    for (const d of page.querySelectorAll("details")) d.open = true;
    const out = [...page.body.querySelectorAll("*")].filter((e) =>
      !e.closest(".box, .drawing") && e.getBoundingClientRect().right > root.clientWidth + 0.5);
    const cut = [...page.querySelectorAll(".chart")].flatMap((svg) => {{
      const all = svg.getBoundingClientRect();
      return [...svg.querySelectorAll("text")].filter((t) => {{
        const r = t.getBoundingClientRect();
        return r.left < all.left - 0.5 || r.right > all.right + 0.5 || r.bottom > all.bottom + 0.5;
      }}).map((t) => t.textContent);
    }});
    const crowded = [...page.querySelectorAll(".chart")].flatMap((svg) => {{
      const axis = [...svg.querySelectorAll("text")];
      const boxes = axis.map((t) => t.getBoundingClientRect());
      return axis.filter((t, n) => boxes.some((b, m) => m < n && b.left < boxes[n].right &&
        boxes[n].left < b.right && b.top + 2 < boxes[n].bottom && boxes[n].top + 2 < b.bottom))
        .map((t) => t.textContent);
    }});
    return {{
      client: root.clientWidth, scroll: root.scrollWidth, height: root.scrollHeight,
      out: out.map((e) => e.tagName + " " + e.textContent.trim().slice(0, 40)),
      cut, crowded, boxes: page.querySelectorAll(".box").length,
      smallest: Math.min(...[...page.querySelectorAll(".chart text")].map((t) =>
        t.getBoundingClientRect().height)),
    }};
  }});
  document.getElementById("told").textContent = JSON.stringify(told);
}});
</script>
{frames}
"""


def test_nothing_sticks_out_at_either_width(tmp_path: Path) -> None:
    browser = shutil.which("chromium")
    assert browser, "chromium is not installed: run ./daedalus setup"
    every = tuple(k["id"] for k in manifest()["kernels"])
    made_of = sources(some_entries(), tmp_path, kernels=every)
    (tmp_path / "report.html").write_text(page(made_of, tmp_path))
    frames = "".join(
        f'<iframe src="report.html" style="border:0;width:{w}px;height:800px"></iframe>'
        for w in WIDTHS
    )
    (tmp_path / "frames.html").write_text(_FRAMES.format(frames=frames))
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
         "--hide-scrollbars", f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1700,900",
         "--virtual-time-budget=5000", "--dump-dom", f"file://{tmp_path / 'frames.html'}"],
        capture_output=True, text=True, timeout=400, check=False,
    )  # fmt: skip
    told = re.search(r'<pre id="told">(.*?)</pre>', done.stdout, re.S)
    assert told, done.stderr[-2000:]
    for width, found in zip(WIDTHS, json.loads(html.unescape(told[1])), strict=True):
        assert found["client"] == width
        assert found["scroll"] == width, found
        assert not found["out"] and not found["cut"] and not found["crowded"], found
        assert found["boxes"] > 5 and found["height"] > 2000
        assert found["smallest"] >= 9, "text of charts is too small to read"
