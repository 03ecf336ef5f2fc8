# SPDX-License-Identifier: BSD-2-Clause
"""Debian's vulkaninfo and validation layers on the simulated device, for arm64 and this machine.

They are Debian trixie's, with its libraries and loader, whatever this machine runs.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from daedalus.generator.base.paths import build_dir
from daedalus.generator.base.progress import say
from daedalus.generator.host import fetch, native
from daedalus.v3d import apart, driver, tools, vkrun
from daedalus.v3d.corpus import commands, plans, program
from daedalus.v3d.programs import Result

_ORACLE = "vulkan-tools"
_LIMIT_S = 120  # for vulkaninfo, which takes a second or two
# What tells one build of the driver from another, and nothing else may differ.
_OF_THE_BUILD = ("/pipelineCacheUUID/", "/driverUUID/", "/driverInfo")
_LAYER = "VK_LAYER_KHRONOS_validation"
_MISTAKE = "VUID-VkWriteDescriptorSet-descriptorType-00328"  # what the layers call _WRONG's mistake
_WRONG = """case wrong
buffer a 8192 zero
pipeline p {spirv}
bind p 0 a 4 4096
dispatch p 1 1 1
end
"""


def _loader(arch: str) -> list[str]:
    """What to put before a program of the oracle, so that it gets the libraries of its suite."""
    debian = native.debian_arch(arch)
    base = driver.arm64().folder if arch == "aarch64" else fetch.ensure("lavapipe", debian)
    name, triplet = {
        "amd64": ("usr/lib64/ld-linux-x86-64.so.2", "x86_64-linux-gnu"),
        "arm64": ("usr/lib/ld-linux-aarch64.so.1", "aarch64-linux-gnu"),
    }[debian]
    path = [str(f / "usr" / "lib" / triplet) for f in (fetch.ensure(_ORACLE, debian), base)]
    return [str(base / name), "--library-path", ":".join(path)]


def architectures() -> list[str]:
    """The builds that can be tried here: arm64, and this machine's when its driver is built."""
    return ["aarch64", *(["host"] if native.is_cross("aarch64") and driver.built() else [])]


def left_out(program: str, version: str) -> list[Result]:
    """What is told of the build for this machine where there is none, so that nobody misses it."""
    if not native.is_cross("aarch64") or driver.built():
        return []
    what = f"all of it, {native.debian_arch('host')}"
    why = "v3dv is not built for this machine: ./daedalus setup --native"
    return [Result(program, version, what, "the same for arm64", "left out", why)]


def vulkaninfo() -> list[Result]:
    """What vulkaninfo tells of the device, for each architecture, and whether it is the same."""
    results, told = [], {}
    for arch in architectures():
        debian = native.debian_arch(arch)
        folder = fetch.ensure(_ORACLE, debian)
        words, environment = tools.on_device([*_loader(arch), f"{folder}/usr/bin/vulkaninfo"])
        out = build_dir() / "v3dv" / "programs" / f"vulkaninfo-{debian}.json"
        out.parent.mkdir(parents=True, exist_ok=True)
        out.unlink(missing_ok=True)
        say(f"running vulkaninfo for {debian}")
        log = out.with_suffix(".log")
        ended = apart.finish(
            [*words, "--json", "--output", str(out)], environment, limit_s=_LIMIT_S, log=log
        )
        values = _values(_text(out)) if ended.how == apart.DONE else {}
        name = values.get("/capabilities/device/properties/VkPhysicalDeviceProperties/deviceName")
        fine = str(name).startswith("V3D 7.1")
        said = log.read_text(errors="replace")[-300:]
        detail = f"{len(values)} values" if fine else f"{ended.how}, device {name}: {said}"
        version = _version("vulkan-tools", debian)
        what = f"the device, {debian}"
        results.append(
            Result("vulkaninfo", version, what, "V3D 7.1", "ok" if fine else "failed", detail)
        )
        told[debian] = values
    if len(told) == 2 and all(told.values()):
        left, right = told.values()
        differ = different(left, right)
        detail = ", ".join(differ[:5]) or f"{len(left)} values the same"
        verdict = "differs" if differ else "ok"
        results.append(
            Result("vulkaninfo", version, "its properties", "the other build", verdict, detail)
        )
    return [*results, *left_out("vulkaninfo", version)]


def different(left: dict[str, object], right: dict[str, object]) -> list[str]:
    """The values that differ though they should not."""
    return [
        k
        for k in sorted(left.keys() | right.keys())
        if left.get(k, ...) != right.get(k, ...) and not any(b in k for b in _OF_THE_BUILD)
    ]


def _values(text: str) -> dict[str, object]:
    """The leaves of a JSON document; none where it is not one, as when its writer was stopped."""
    try:
        return dict(_flat(json.loads(text)))
    except ValueError:
        return {}


def _flat(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """The leaves of a JSON document, by path."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in items:
            yield from _flat(inner, f"{path}/{key}")
    else:
        yield path, value


def validation(*, programs: int = 52, sequences: int = 16) -> list[Result]:
    """Runs cases of the corpus under the validation layers, which must have nothing to say.

    That they listen is shown by a plan with a mistake.
    """
    place = build_dir() / "v3dv" / "programs" / "validation"
    place.mkdir(parents=True, exist_ok=True)
    cases = plans.materialise(
        [*(program(s + 1) for s in range(programs)), *(commands(s + 1) for s in range(sequences))],
        place,
    )
    spirv = sorted(place.rglob("*.spv"))[0].relative_to(place)
    results = []
    for arch in architectures():
        debian = native.debian_arch(arch)
        folder = fetch.ensure(_ORACLE, debian)
        log = place / f"said-{debian}"
        words, environment = tools.on_device([*_loader(arch), str(vkrun.program(arch))])
        device = replace(
            vkrun.v3dv(arch),
            prefix=tuple(words[:-1]),
            environment={
                **environment,
                "VK_LAYER_PATH": str(folder / "usr/share/vulkan/explicit_layer.d"),
                "VK_INSTANCE_LAYERS": _LAYER,
                "VK_KHRONOS_VALIDATION_LOG_FILENAME": str(log),
            },
        )
        say(f"running {len(cases)} cases under the validation layers, {debian}")
        log.unlink(missing_ok=True)
        outcomes = vkrun.run_cases(device, cases, place)
        said = _text(log)
        log.unlink(missing_ok=True)
        vkrun.run_cases(device, {"wrong": _WRONG.format(spirv=spirv)}, place)
        heard = _MISTAKE in _text(log)
        failed = [n for n, o in outcomes.items() if o.verdict not in ("ok", "unsupported")]
        verdict, detail = "ok", f"{len(cases)} cases of the corpus; a planted mistake was told"
        if said or failed or not heard:
            verdict = "differs" if said else "failed"
            detail = said[:300] or (f"not run: {failed}" if failed else "a mistake was not told")
        version = _version("vulkan-validationlayers", debian)
        results.append(
            Result("validation layers", version, f"vkrun, {debian}", "silence", verdict, detail)
        )
    return [*results, *left_out("validation layers", version)]


def _version(package: str, debian: str) -> str:
    return next(d.version for d in fetch.fetched(_ORACLE, debian) or [] if d.package == package)


def _text(path: Path) -> str:
    return path.read_text() if path.is_file() else ""
