# SPDX-License-Identifier: BSD-2-Clause
"""Generated code of kernels that no checkout has, and the check programs made of it."""

import hashlib
import os
import shutil
from pathlib import Path

from daedalus.dsl.ir import Kernel
from daedalus.generator.base.outputs import refresh
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.compile import emit
from daedalus.generator.compile.registry import Entry
from daedalus.generator.compile.sources import OTHERS
from daedalus.generator.compile.variants import Variant
from daedalus.generator.host import fetch, native
from daedalus.generator.options import CPU_TARGETS
from daedalus.generator.targets.shell import table_name
from daedalus.generator.verify import crosscheck

SPEC = "a random program"


class Build:
    """A folder of generated code and the check programs made of it."""

    def __init__(
        self, folder: Path, kernels: list[tuple[Kernel, tuple[Variant, ...]]], *, sanitize: bool,
        targets: tuple[str, ...] = CPU_TARGETS, level: str = "-O1",
    ) -> None:  # fmt: skip
        self.folder, self.sanitize, self.level = folder, sanitize, level
        found = crosscheck.devices(targets)
        self.devices = [d for d in found if not (sanitize and d.arch == "aarch64")]
        self.variants = tuple(v for _, own in kernels for v in own)
        entries = tuple(Entry(k, SPEC, tuple((v.options, True) for v in own)) for k, own in kernels)
        shutil.rmtree(folder, ignore_errors=True)
        for path, text in emit.generate(entries, self.variants).files.items():
            target = folder / "generated" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        self.include = folder / "generated" / "include"

    def program(self, device: crosscheck.Device) -> Path:
        """The check program for a device, with all variants in one translation unit."""
        root = repo_root()
        neon = device.target == "neon"
        shown = {"c", device.target}
        own = [v for v in self.variants if v.options.target in shown]
        source = self.folder / f"{device.target}-{device.arch}.c"
        source.write_text(_unit(own))
        flags = [self.level, "-g0", f"-D{OTHERS}=1", f"-I{self.folder / 'generated' / 'src'}"]
        system: list[Path] = []
        if neon:
            flags.append("-DDAEDALUS_HAVE_NEON=1")
        elif device.target == "vector":
            flags.append("-DDAEDALUS_HAVE_VECTORS=1")
        if device.arch == "simde":
            simde = fetch.ensure("simde", "all") / "usr" / "include"
            system = [root / "tools" / "simde", simde]
            flags.append("-fwrapv")  # as in cmake/DaedalusLibrary.cmake
        elif native.is_cross(device.arch):
            flags.append(f"-mcpu={native.CPU}")
        elif neon and any(v.options.choice("dot") for v in own):
            flags.append("-march=armv8.2-a+dotprod")
        if self.sanitize:
            # SIMDe's inlined code takes the address sanitizer minutes; the pages around the
            # buffers find the same there.
            which = "undefined" if device.arch == "simde" else "address,undefined"
            flags.append(f"-fsanitize={which}")
            _stop_at_findings()
        runtime = sorted(
            p
            for part in ("base", "batch", "cpu", "gpu")
            for p in (root / "runtime" / part).glob("*.c")
        )
        # Random programs are for the CPU, so the runtime is the one without a route to the GPU.
        runtime += [root / "runtime" / "gpu" / part / "absent.c" for part in ("vulkan", "drm")]
        generated = self.folder / "generated" / "src"
        dispatch = [p for n in ("dispatch", "items") for p in sorted(generated.glob(f"*/{n}.c"))]
        return native.compile_program(
            device.arch, self.folder / f"check-{device.target}-{device.arch}",
            [*crosscheck.sources(), *runtime, *dispatch, source],
            includes=crosscheck.includes(self.include),
            system_includes=system,
            flags=flags, static=not self.sanitize,
        )  # fmt: skip


def _stop_at_findings() -> None:
    """Has a sanitized program end at its first finding, unless that is in SIMDe itself."""
    kinds = ("shift-base", "shift-exponent", "signed-integer-overflow", "alignment")
    path = build_dir() / "fuzz" / "suppressions.txt"
    text = "".join(f"{kind}:*/simde/*\n" for kind in kinds)
    refresh(path, text)
    os.environ["UBSAN_OPTIONS"] = f"halt_on_error=1:suppressions={path}"


def _unit(own: list[Variant]) -> str:
    """One translation unit of the table and all variants, which are `prod`; a kernel's tables are
    in several files, and in other kernels under the same name, so each file's are named apart."""
    digest = hashlib.sha256("".join(v.text for v in own).encode()).hexdigest()
    lines = [f"/* {digest} */", "#include <daedalus.h>", '#include "table.c"']
    tables = {v.file: sorted(map(table_name, v.kernel.tables)) for v in own}
    for n, (file, names) in enumerate(tables.items()):
        lines += [f"#define {name} {name}_of_{n}" for name in names]
        lines.append(f'#include "{file.removeprefix("src/")}"')
        lines += [f"#undef {name}" for name in names]
    return "\n".join(lines) + "\n"
