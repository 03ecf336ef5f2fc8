# SPDX-License-Identifier: BSD-2-Clause
"""Shaders whose results depend on what no public source says of the hardware, by Mesa's driver.

By the default profile they compute what lavapipe does; by the other reading they do not.
"""

import json
import struct
import warnings
from pathlib import Path

import pytest

from daedalus.v3d import comparison, driver, vkrun
from daedalus.v3d.corpus import Program
from daedalus.v3d.corpus.model import Kernel, Output

HEAD = """#version 450
layout(local_size_x = 40) in;
layout(binding = 0, std430) buffer R { uint r[]; };
"""

# A barrier for every other group; v3dv has batches of several groups in one supergroup.
SOME_GROUPS = f"""{HEAD}
shared uint words[40];
void main() {{
  uint i = gl_LocalInvocationIndex;
  words[i] = 7u * gl_GlobalInvocationID.x;
  if ((gl_WorkGroupID.x & 1u) == 0u) {{
    barrier();
    i = 39u - i;
  }}
  r[gl_GlobalInvocationID.x] = words[i];
}}
"""

# None to three rounds of two barriers, by the group's number.
ROUNDS = f"""{HEAD}
shared uint words[40];
void main() {{
  uint i = gl_LocalInvocationIndex;
  words[i] = 7u * gl_GlobalInvocationID.x;
  for (uint round = 0u; round < (gl_WorkGroupID.x & 3u); round++) {{
    barrier();
    uint next = words[(i + 17u) % 40u];
    barrier();
    words[i] = 3u * next + round;
  }}
  r[gl_GlobalInvocationID.x] = words[i];
}}
"""

# A condition that holds in whole groups, by a word of shared memory.
SHARED_WORD = f"""{HEAD}
shared uint number;
void main() {{
  if (gl_LocalInvocationIndex == 0u)
    number = gl_WorkGroupID.x;
  barrier();
  r[gl_GlobalInvocationID.x] = 3u;
  if (number == 1u)
    r[gl_GlobalInvocationID.x] = 5u;
}}
"""

SIGN = f"""{HEAD}
layout(push_constant) uniform P {{ uint bits; }};
void main() {{
  r[gl_GlobalInvocationID.x] = floatBitsToUint(sign(uintBitsToFloat(bits)));
}}
"""


def of_groups(name: str, glsl: str, *, size: int = 40, push: tuple[int, ...] = ()) -> Program:
    """A program of groups of 40, of which some share a supergroup, in several numbers of them."""
    for old, new in (("= 40", f"= {size}"), ("[40]", f"[{size}]"), ("39u", f"{size - 1}u")):
        glsl = glsl.replace(old, new)
    return Program(
        name=name,
        features=frozenset(),
        local=(size, 1, 1),
        shapes=((1, 1, 1), (5, 1, 1), (40, 1, 1)),
        kernels=(Kernel(glsl, push=push),),
        inputs=(),
        outputs=(Output("r", 0, per_item=1),),
    )


BARRIERS = [of_groups("some-groups", SOME_GROUPS), of_groups("rounds", ROUNDS)]


def profile(folder: Path, text: str) -> Path:
    path = folder / "other.profile"
    path.write_text(f"{text}\n")
    return path


@pytest.fixture(autouse=True)
def needs_the_native_driver() -> None:
    if driver.built() is None:
        warnings.warn("v3dv is not built for this machine: setup --native", stacklevel=2)
        pytest.skip("v3dv is not built for this machine: ./daedalus setup --native")


@pytest.mark.parametrize("timed", [False, True])
def test_a_barrier_that_some_groups_reach(timed: bool, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    trace.mkdir()
    device = vkrun.v3dv("host", trace=trace if timed else None)
    report = comparison.compared(device, vkrun.lavapipe(), BARRIERS, tmp_path)
    assert report.good, report
    assert sorted(report.compared) == ["rounds", "some-groups"]
    assert any(trace.iterdir()) == timed


def test_strict_jobs_report_a_barrier_that_some_groups_reach(tmp_path: Path) -> None:
    device = vkrun.v3dv("host", strict=True)
    for program in BARRIERS:
        report = comparison.compared(device, vkrun.lavapipe(), [program], tmp_path)
        assert report.failed_jobs
        assert all("BARRIER_PARTLY" in line for line in report.failed_jobs), report


def test_by_the_other_reading_such_a_barrier_hangs(tmp_path: Path) -> None:
    device = vkrun.v3dv("host", profile=profile(tmp_path, "ended_batches_arrive = 0"))
    for program in BARRIERS:
        report = comparison.compared(device, vkrun.lavapipe(), [program], tmp_path)
        assert report.failed_jobs
        assert all("no thread can go on" in line for line in report.failed_jobs), report


def test_groups_of_whole_batches_have_a_supergroup_each(tmp_path: Path) -> None:
    """Strict: so no batch of the supergroup ends before others come to the barrier."""
    program = of_groups("whole-batches", SOME_GROUPS, size=48)
    device = vkrun.v3dv("host", strict=True)
    assert comparison.compared(device, vkrun.lavapipe(), [program], tmp_path).good


def test_v3dv_takes_a_shared_word_for_the_same_in_a_batch(tmp_path: Path) -> None:
    """A mistake of the driver's, which docs/v3d-programs.md tells: two groups share a batch."""
    programs = [of_groups(f"groups-of-{n}", SHARED_WORD, size=n) for n in (40, 48)]
    report = comparison.compared(vkrun.v3dv("host"), vkrun.lavapipe(), programs, tmp_path)
    assert list(report.differences) == ["groups-of-40"] and not report.failed_jobs, report
    assert "r-1[40] is 0x00000003; 0x00000005 is expected" in report.differences["groups-of-40"][0]


@pytest.mark.parametrize("negative", [1, 0])
def test_the_sign_of_a_negative_zero(negative: int, tmp_path: Path) -> None:
    """v3dv tests the flag N of it."""
    minus_zero = of_groups("sign", SIGN, push=(0x80000000,))
    device = vkrun.v3dv(
        "host", profile=profile(tmp_path, f"negative_zero_is_negative = {negative}")
    )
    outcome = comparison.run(device, [minus_zero], tmp_path)
    assert outcome["sign"].verdict == "ok", json.dumps(outcome["sign"].detail)
    words = (tmp_path / device.name / "sign.bin").read_bytes()
    assert struct.unpack_from("<f", words)[0] == (-1.0 if negative else 0.0)
