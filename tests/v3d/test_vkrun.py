# SPDX-License-Identifier: BSD-2-Clause
"""The runner of compute plans, on lavapipe: what it does, and what it says of a wrong plan."""

import os
import random
import subprocess
from pathlib import Path

import numpy as np
import pytest

from daedalus.generator.host import native
from daedalus.v3d import driver, vkrun
from daedalus.v3d.corpus import commands
from daedalus.v3d.corpus.commands import FAMILIES

ADD = """#version 450
layout(local_size_x = 8) in;
layout(constant_id = 5) const uint added = 1u;
layout(binding = 0, std430) readonly buffer A { uint a[]; };
layout(binding = 1, std430) buffer R { uint r[]; };
layout(binding = 2, std140) uniform U { uvec4 u[2]; };
layout(push_constant) uniform P { uint factor; uint other; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  r[i] = a[i] * factor + added + other + u[1].z;
}
"""


@pytest.fixture(scope="module")
def shaders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shaders")
    (folder / "add.comp").write_text(ADD)
    subprocess.run(
        ["glslangValidator", "-V", "--target-env", "vulkan1.1", "-o", "add.spv", "add.comp"],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    return folder


def launch(
    plan: str, folder: Path, *options: str, program: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs a plan on lavapipe; its paths start at the folder."""
    device = vkrun.lavapipe()
    (folder / "test.plan").write_text(plan)
    return subprocess.run(
        [*device.prefix, str(program or vkrun.program("host")), *options, "test.plan"],
        cwd=folder, env={**os.environ, **device.environment, **environment},
        capture_output=True, text=True,
    )  # fmt: skip


def splitmix64(seed: int, n: int) -> list[int]:
    """The words that `random SEED` stands for."""
    words, mask = [], (1 << 64) - 1
    for _ in range(n):
        seed = (seed + 0x9E3779B97F4A7C15) & mask
        z = (seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & mask
        words.append((z ^ (z >> 31)) >> 32)
    return words


def fnv1a(data: bytes) -> str:
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & ((1 << 64) - 1)
    return f"{value:016x}"


def test_a_shader_gets_what_the_plan_says(shaders: Path) -> None:
    (shaders / "u.bin").write_bytes(np.arange(100, 108, dtype="<u4").tobytes())
    plan = """
    case one   # a comment
    buffer a 128 random 77
    buffer r 128 word 0xffffffff
    buffer u 64 file u.bin
    pipeline p add.spv spec 5 1000
    bind p 0 a
    bind p 1 r
    uniform p 2 u 0 32
    push p 0 3 20
    dispatch p 2 1 1
    push p 4 30
    dispatch p 1 1 1 base 3 0 0
    end
    """
    done = launch(plan, shaders, "--out", ".", "--device", "LLVMpipe")
    assert done.returncode == 0, done.stdout + done.stderr
    data = np.fromfile(shaders / "one.bin", dtype="<u4")
    a, r, u = data[:32], data[32:64], data[64:]
    assert a.tolist() == splitmix64(77, 32)
    assert u.tolist() == [*range(100, 108), *[0] * 8]
    expected = np.full(32, 0xFFFFFFFF, dtype=np.uint32)
    expected[:16] = a[:16] * np.uint32(3) + np.uint32(1000 + 20 + 106)
    expected[24:] = a[24:] * np.uint32(3) + np.uint32(1000 + 30 + 106)
    assert r.tolist() == expected.tolist()
    outcome = vkrun.read_outcomes(done.stdout)["one"]
    hashes = {n: fnv1a(v.tobytes()) for n, v in {"a": a, "r": r, "u": u}.items()}
    assert outcome.verdict == "ok" and outcome.hashes == hashes


def expected_of(lines: tuple[str, ...]) -> dict[str, bytearray]:
    """What copies, fills and updates leave, worked out one by one."""
    buffers: dict[str, bytearray] = {}
    for words in (line.split() for line in lines):
        if words[0] == "buffer":
            n = int(words[2]) // 4
            assert words[3] == "random"
            content = np.array(splitmix64(int(words[4]), n), dtype="<u4")
            buffers[words[1]] = bytearray(content.tobytes())
        elif words[0] == "copy":
            source, at, target, to, size = (
                words[1],
                int(words[2]),
                words[3],
                int(words[4]),
                int(words[5]),
            )
            buffers[target][to : to + size] = buffers[source][at : at + size]
        elif words[0] == "fill":
            at, size = int(words[2]), int(words[3])
            buffers[words[1]][at : at + size] = int(words[4], 16).to_bytes(4, "little") * (
                size // 4
            )
        elif words[0] == "update":
            data = np.array([int(w) for w in words[3:]], dtype="<u4").tobytes()
            at = int(words[2])
            buffers[words[1]][at : at + len(data)] = data
    return buffers


@pytest.mark.parametrize("seed", [1, 2, 3, 9, 10, 11])
def test_transfers_do_what_they_say(seed: int, tmp_path: Path) -> None:
    case = commands(seed)
    assert list(FAMILIES)[(seed - 1) % len(FAMILIES)] in ("copies", "fills", "transfers")
    done = launch("\n".join(case.lines), tmp_path, "--out", ".")
    assert done.returncode == 0, done.stdout + done.stderr
    expected = b"".join(expected_of(case.lines).values())
    assert (tmp_path / f"{case.name}.bin").read_bytes() == expected


WRONG = [
    ("buffer a 6 zero", "the size in bytes is 6; a multiple of 4 is needed"),
    ("buffer a 0 zero", "a buffer of no bytes cannot be"),
    ("buffer a 8", "the content is missing"),
    ("buffer a 8 noise", "the content is 'noise'; zero, random, file or word is known"),
    ("buffer x 8 zero", "buffer 'x' was declared in line 2"),
    ("buffer a 8 zero 1", "'1' is one word too many"),
    ("pipeline p", "the SPIR-V file's name is missing"),
    ("pipeline p s.spv sepc 1 2", "'sepc' is not known here, or there are more than 32 constants"),
    ("bind q 0 x", "no pipeline 'q' was declared before"),
    ("bind k 16 x", "the binding is '16'; a number from 0 to 15 is needed"),
    ("bind k 0 y", "no buffer 'y' was declared before"),
    ("bind k 0 x 4 16", "16 bytes from 4 are not inside 'x' of 16"),
    ("push k 124 1 2", "push constants end at byte 132; 128 are there"),
    ("push k 2 1", "the offset is 2; a multiple of 4 is needed"),
    ("push k 0", "at least one word is needed"),
    ("dispatch k 1 1", "the number of workgroups is missing"),
    ("dispatch k 1 1 -1", "the number of workgroups is '-1'; a number from 0 to 4294967295"),
    ("dispatch k 1 1 1 bass 0 0 0", "'bass' is not known here; base is"),
    ("indirect k x 8", "12 bytes from 8 are not inside 'x' of 16"),
    ("copy x 0 x 12 8", "8 bytes from 12 are not inside 'x' of 16"),
    ("fill x 4 16 0", "16 bytes from 4 are not inside 'x' of 16"),
    ("update x 0 1 2 3 4 5", "20 bytes from 0 are not inside 'x' of 16"),
    ("update x 0 0x1g", "a word is '0x1g'"),
    ("submit 0", "a submission of no times cannot be"),
    ("needs quads", "'quads' is not known here; subgroup is"),
    ("frobnicate", "'frobnicate' is no command of a plan"),
    ("case b", "case 'a' has no end before this"),
]


@pytest.mark.parametrize(("line", "message"), WRONG)
def test_a_mistake_is_told_once_with_its_line(line: str, message: str, tmp_path: Path) -> None:
    plan = f"case a\nbuffer x 16 zero\npipeline k s.spv\n{line}\nend\n"
    done = launch(plan, tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"test.plan:4: {message}"), done.stderr
    assert done.stderr.count("\n") == 1 and not done.stdout


def test_what_stands_outside_of_cases_is_told(tmp_path: Path) -> None:
    done = launch("fill x 0 4 0\ncase a/b\nend\ncase a\nend\ncase a\nend\ncase c\n", tmp_path)
    assert done.returncode == 2
    assert [line.split(": ")[0] for line in done.stderr.splitlines()] == [
        "test.plan:1", "test.plan:2", "test.plan:6", "test.plan:8"
    ]  # fmt: skip


def test_exit_codes(shaders: Path) -> None:
    assert launch("case a\nend\n", shaders, "--frobnicate").returncode == 2
    assert launch("", shaders, "--device", "no such device").returncode == 3
    assert launch("", shaders, VK_ICD_FILENAMES="/dev/null").returncode == 3
    (shaders / "bad.spv").write_bytes(b"nothing of the kind")
    plan = "case a\npipeline p bad.spv\nend\ncase b\nend\ncase c\nneeds subgroup 17\nend\n"
    done = launch(plan, shaders)
    assert done.returncode == 1
    outcomes = vkrun.read_outcomes(done.stdout)
    assert {n: o.verdict for n, o in outcomes.items()} == {
        "a": "failed", "b": "ok", "c": "unsupported"
    }  # fmt: skip
    assert outcomes["a"].detail == "test.plan:2: bad.spv: it is no SPIR-V"
    unsupported = launch("case c\nneeds subgroup 17\nend\n", shaders)
    assert unsupported.returncode == 3
    listed = launch("", shaders, "--list")
    assert listed.returncode == 0 and listed.stdout.startswith("found llvmpipe")


def test_a_driver_that_dies_costs_one_case(tmp_path: Path) -> None:
    """The wrapper ends the program at the case named `two`, as an abort in a driver would."""
    script = tmp_path / "wrapper.sh"
    script.write_text('#!/bin/sh\n"$@" | sed -u "/^case two/q"\n')
    script.chmod(0o755)
    plain = vkrun.lavapipe()
    device = vkrun.Device(
        "dying", "host", (str(script), *plain.prefix), plain.environment, plain.choose
    )
    cases = {n: f"case {n}\nbuffer b 4 zero\nend\n" for n in ("one", "two", "three")}
    outcomes = vkrun.run_cases(device, cases, tmp_path)
    assert {n: o.verdict for n, o in outcomes.items()} == {
        "one": "ok", "two": "crashed", "three": "ok"
    }  # fmt: skip


def test_buffers_are_written_beside_and_put_in_place(shaders: Path) -> None:
    """What was there is whole until it is replaced; a symlink stays; a FIFO is not waited for."""
    out = shaders / "out"
    out.mkdir()
    kept = out / "kept"
    kept.write_bytes(b"old")
    (out / "plain.bin").hardlink_to(kept)
    target = shaders / "elsewhere"
    target.write_bytes(b"old")
    (out / "link.bin").symlink_to(target)
    os.mkfifo(out / "fifo.bin")
    names = ("plain", "link", "new", "fifo")
    plan = "".join(f"case {n}\nbuffer a 8 word 1\nbuffer b 4 word 2\nend\n" for n in names)
    done = launch(plan, shaders, "--out", str(out))
    assert done.returncode == 2 and f"vkrun: {out}/fifo.bin: no regular file\n" in done.stderr
    words = np.array([1, 1, 2], np.uint32).tobytes()
    for n in names[:3]:
        assert (out / f"{n}.bin").read_bytes() == words
    assert kept.read_bytes() == b"old" and target.read_bytes() == words
    assert (out / "link.bin").is_symlink()
    assert {p.name for p in out.iterdir()} == {"kept", *(f"{n}.bin" for n in names)}


def test_wrong_plans_and_right_ones_under_sanitizers(shaders: Path, tmp_path: Path) -> None:
    """Mutations of a plan that uses every command are refused or taken, and break nothing."""
    program = native.compile_program(
        "host", tmp_path / "vkrun", vkrun.sources(),
        system_includes=[driver.vulkan_headers()],
        flags=[*vkrun.FLAGS, "-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
        static=False,
    )  # fmt: skip
    plan = (
        "case one\nbuffer a 64 random 1\nbuffer r 64 word 3\nbuffer u 64 zero\nneeds subgroup 16\n"
        "pipeline p add.spv subgroup 16 spec 5 1\nbind p 0 a\nbind p 1 r 0 64\nuniform p 2 u\n"
        "push p 0 1 2\ndispatch p 2 1 1\nbarrier\ncopy a 0 r 32 7\nfill a 0 8 0x12\nbarrier\n"
        "update u 0 1 1 1\nbarrier\nindirect p u 0\nsubmit 2\nend\n"
    )
    # LeakSanitizer would report the driver's own.
    options = {"ASAN_OPTIONS": "detect_leaks=0"}
    right = launch(plan, shaders, program=program, **options)
    assert right.returncode == 0, right.stdout + right.stderr
    rng = random.Random(1)
    codes = set()
    for _ in range(200):
        words = plan.split(" ")
        for _ in range(rng.randrange(1, 4)):
            k = rng.randrange(len(words))
            words[k] = rng.choice(("", "-1", "4294967296", "a", "p", "99999999999999999999", "\n",
                                   "x" * 300, words[rng.randrange(len(words))]))  # fmt: skip
        # Without a device nothing but the plan is looked at: 2 or, where that is right, 3.
        done = launch(" ".join(words), shaders, program=program, VK_ICD_FILENAMES="/dev/null",
                      **options)  # fmt: skip
        assert done.returncode in (2, 3), done.stderr
        assert "Sanitizer" not in done.stderr and "runtime error" not in done.stderr, done.stderr
        codes.add(done.returncode)
    assert codes == {2, 3}
