# SPDX-License-Identifier: BSD-2-Clause
"""Points of the CPU that spill: told by the code that measures them, and never measured."""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tuning_lines import BOARD, result
from tuning_stand_ins import HASH, group, space_of

from daedalus.generator.base.errors import UserError
from daedalus.generator.base.process import run
from daedalus.generator.cli import tune_remote
from daedalus.generator.cli.recipe import generated_library
from daedalus.generator.compile.registry import find, load
from daedalus.generator.compile.sources import OTHERS
from daedalus.generator.compile.variants import file_name
from daedalus.generator.host import native
from daedalus.generator.options import parse_variant
from daedalus.generator.tuning import cpu_program, engine_device, generated, journal, spills
from daedalus.generator.tuning.cpu_spills import Spills
from daedalus.generator.tuning.engine_device import EngineDevice, Options
from daedalus.generator.tuning.entries import Result, Run, described
from daedalus.generator.tuning.hashes import Hashes
from daedalus.generator.tuning.kit import PROGRAM, Kit
from daedalus.generator.tuning.remote import Board, Job
from daedalus.generator.tuning.run import Budget, Tuner
from daedalus.generator.tuning.search import Search
from daedalus.generator.tuning.space import Space

# ------------------------------------------------------------------ the code

# What is live while the body takes all of the registers away has to go to the stack.
ALL = ", ".join(['"memory"', *(f'"v{n}"' for n in range(32))])
HEAD = "#include <arm_neon.h>\n"
HELD = "uint8x16_t a = vld1q_u8(p), b = vld1q_u8(p + 16);\n{} vst1q_u8(p, vaddq_u8(a, b));"
TAKES_ALL = f'__asm__ volatile("" ::: {ALL});'
TAKES_SOME = '__asm__ volatile("" ::: "memory", "v8", "v9", "v14");'
STORES_FOUR = '__asm__ volatile("st1 {v4.16b-v7.16b}, [sp]" ::: "memory");'
LONG = '__asm__ volatile(".rept 200\\n nop\\n .endr");'
CALLED = """static __attribute__((noinline)) void one_item(uint8_t *p) {{ {} }}
void NAME(uint8_t *p) {{ one_item(p); *p = 1; }}
"""
ARRAY = f"""{HEAD}void NAME(uint8_t *p, const int *at) {{
  int16_t rows[8][8];
  for (int i = 0; i < 8; i++) {{
    vst1q_s16(&rows[i][0], vmovl_s8(vld1_s8((const int8_t *)p + 8 * i)));
  }}
  for (int i = 0; i < 64; i++) p[i] = (uint8_t)rows[at[i] & 7][at[i + 1] & 7];
}}
"""


def direct(body: str) -> str:
    return f"{HEAD}void NAME(uint8_t *p) {{\n{HELD.format(body)}\n}}\n"


CASES = {
    "h264_idct4__neon_full": (direct(TAKES_ALL), "2 vector registers go to the stack, of "),
    "h264_idct4__neon_full_x2": (direct(""), ""),
    "h264_idct4__neon_full_r2": (direct(TAKES_SOME), ""),  # which saves them: the caller's
    "h264_idct8__neon_full": (
        HEAD + CALLED.format(HELD.format(TAKES_ALL)), "2 vector registers",
    ),
    "h264_idct8__c_full": (ARRAY, ""),
    "h264_idct8__neon_full_x2": (direct(STORES_FOUR), "4 vector registers go to the stack"),
    "av1_cdef8__neon_inside": (direct(TAKES_ALL + LONG), ""),  # less than 2 %
    "av1_cdef8__neon_insec": (direct(TAKES_ALL + LONG), "2 vector registers"),
    "av1_cdef8__neon_full": (direct(TAKES_ALL), "more than the 2% let pass of this group"),
}  # fmt: skip


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of all cases, as the C build makes one: a file for each kernel and group, compiled twice. A
    kernel's first variant is the prod one."""
    folder = tmp_path_factory.mktemp("build")
    cc = shlex.join(cpu_program.compiler("gcc"))
    rules = f"rule cc\n  command = {cc} $flags -MD -MF $out.d -o $out -c $in\n"
    files: dict[str, list[str]] = {}
    for name, (text, _) in CASES.items():
        own = text.replace("NAME", f"daedalus_{name}").replace("one_item", f"one_item_{name}")
        files.setdefault(file_name(*parse_variant(f"daedalus_{name}")), []).append(own)
    objects = []
    for file, (first, *others) in files.items():
        halves = [f"#ifndef {OTHERS}\n", first, "#else\n", *others, "#endif\n"]
        (folder / file).write_text("".join(halves))
        for library, flags in (("daedalus", ""), ("daedalus_variants", f"-D{OTHERS}=1")):
            objects.append(f"{library}_code.dir/{file}.o")
            rules += f"build {objects[-1]}: cc {folder / file}\n  flags = {flags}\n"
    (folder / "build.ninja").write_text(rules)
    run(["ninja"], cwd=folder, what="building")
    made = folder / PROGRAM
    run([native.compiler("aarch64"), "-shared", "-o", made, *objects], cwd=folder, what="linking")
    return made


@pytest.mark.parametrize("name", CASES)
def test_what_goes_to_the_stack_is_told(name: str, program: Path) -> None:
    why, wanted = Spills(program).reason(f"daedalus_{name}"), CASES[name][1]
    assert wanted in why and bool(why) == bool(wanted), why


def test_arrays_are_told_apart_by_compiling_again(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("daedalus.generator.tuning.cpu_spills.arrays_apart", lambda text: text)
    assert "go to the stack" in Spills(program).reason("daedalus_h264_idct8__c_full")


def test_what_is_not_there_or_not_for_arm64_is_not_looked_at(program: Path, tmp_path: Path) -> None:
    assert not Spills(program).reason("daedalus_vp9_idct8__neon_full")
    other = tmp_path / PROGRAM
    other.write_bytes(program.read_bytes()[:18] + b"\x3e\x00")  # x86-64
    assert not Spills(other).reason("daedalus_h264_idct4__neon_full")


def test_a_share_is_let_pass_of_some_groups() -> None:
    some = ("av1_cdef8", "inside", "neon")
    assert spills.LET_PASS[some] == 0.02
    assert not spills.reason(some, 2, 100)
    assert spills.reason(some, 3, 100) == (
        "3 vector registers go to the stack, of 100 instructions of its code,"
        " more than the 2% let pass of this group"
    )
    assert spills.reason(("av1_cdef8", "pri", "neon"), 4, 800, items=8) == (
        "0.5 vector registers an item go to the stack, of 100 instructions"
    )


# ------------------------------------------------------------------ a device


class Told:
    """In the place of Spills: what spills, by a word of the name."""

    word = "_x2"

    def __init__(self, program: Path) -> None:
        assert program.name == PROGRAM

    def reason(self, variant: str) -> str:
        return "3 vector registers go to the stack" if self.word in variant else ""


class Engine:
    """In the place of daedalus-tune: each point takes 10 ns."""

    def __init__(self, path: Path) -> None:
        self.path, self.asked, self._lines = path, list[str](), list[bytes]()

    def write(self, points: str) -> None:
        for point in points.split():
            self.asked.append(point)
            line = measured(point)
            journal.append(self.path, line)
            self._lines.append(journal.line_of(line)[:-1])

    def read(self, patience: float) -> bytes | None:
        return self._lines.pop(0)

    def end(self) -> None:
        """Nothing is under way."""


def measured(point: str) -> Result:
    return result(point, "m3 items=32640", median=10.0, low=10.0, high=10.0, items=32640,
                  input_hash=HASH, seconds=3.0, when="2026-11-21T12:00:00Z")  # fmt: skip


def device(path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[EngineDevice, Space, Engine]:
    """One for h264_idct4 on NEON, of which nothing is built."""
    space, engine = space_of("h264_idct4", "neon"), Engine(path)
    hashes = {p.variant: HASH for p in space.points}
    made = generated.Made(path.parent, hashes, {})
    monkeypatch.setattr(generated, "generate", lambda *given: made)
    monkeypatch.setattr(engine_device.cpu_spills, "Spills", Told)
    monkeypatch.setattr(EngineDevice, "_write_data", lambda *given: [])
    monkeypatch.setattr(EngineDevice, "_build", lambda self, compiler: Path(PROGRAM))
    monkeypatch.setattr(EngineDevice, "_ask", lambda self, program: BOARD)
    monkeypatch.setattr(EngineDevice, "_engine", lambda self, compiler: engine)
    entry = find(load(), "h264_idct4")
    assert entry is not None
    wanted = [(entry, [c.options for c in space.candidates])]
    return EngineDevice("cpu", wanted, path, Options(), print), space, engine


def tuned(place: EngineDevice, space: Space, path: Path) -> Tuner:
    groups = [group(Search("x", [], space.candidates), "h264_idct4", "neon")]
    tuner = Tuner(place, groups, path, Hashes(path.parent / "hashes"))
    tuner.run(Budget(), "tune")
    return tuner


def test_a_device_does_not_measure_what_spills(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal"
    place, space, engine = device(path, monkeypatch)
    points = [str(p) for p in space.points]
    spilling = {p for p in points if Told.word in p}
    assert spilling and spilling < set(points)
    stale = next(iter(spilling))
    journal.append(path, described(BOARD), measured(stale))  # from before it was looked at
    assert tuned(place, space, path).outcome.done == len(points)
    assert sorted(engine.asked) == sorted(set(points) - spilling)
    found = {e.point: e for e in journal.read(path).entries if isinstance(e, Result)}
    assert {p for p, r in found.items() if r.verdict == "spills"} == spilling
    assert found[stale].reason == "3 vector registers go to the stack"
    assert found[stale].median is None and not found[stale].modelled
    again = tuned(place, space, path).outcome
    assert (again.done, again.known) == (0, len(points))


# ------------------------------------------------------------------ a board

SLOW, GOOD, SPILLING = (
    f"vp9_idct8/full/daedalus_vp9_idct8__{name}/{rest}"
    for name, rest in (
        ("glsl_full_p2", "-/vulkan/64"), ("neon_full", "gcc/-/0"),
        ("neon_full_assumesum16", "gcc/-/0"),
    )
)  # fmt: skip


class Host:
    """In the place of Remote: a board that has measured the spilling point once."""

    asked: Sequence[str] = ()

    def __init__(self, *given: object) -> None:
        self.mirror = Path()

    def probe(self) -> Board:
        return Board("aarch64", 4)

    def deploy(self, kit: Kit, mirror: Path) -> None:
        self.mirror = mirror.parent.parent / "mirror"
        if not self.mirror.exists():
            journal.append(self.mirror, described(BOARD), self._line(SPILLING))

    def points(self) -> list[str]:
        return [SLOW, GOOD, SPILLING]

    def run(self, jobs: Sequence[Job], points: Sequence[str], *told: Callable[..., None]) -> int:
        Host.asked = points
        lines = [self._line(p) for p in points if p == GOOD]
        ended = Run(fingerprint=BOARD.id, command="tune", points=1, done=1, ended="done",
                    seconds=1.0, when="2026-11-22T12:00:00Z")  # fmt: skip
        journal.append(self.mirror, *lines, ended)
        return 0

    @staticmethod
    def _line(point: str) -> Result:
        variant = generated_library().variants[point.split("/")[2]]
        ns = 5.0 if point == SPILLING else 10.0
        return result(point, "m3 items=32640", median=ns, low=ns, high=ns,
                      input_hash=variant.input_hash, when="2020-11-21T12:00:00Z")  # fmt: skip


def test_a_board_is_not_asked_for_what_spills(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal"
    entry = find(load(), "vp9_idct8")
    assert entry is not None
    monkeypatch.setattr(Told, "word", "assumesum16")
    monkeypatch.setattr(tune_remote.cpu_spills, "Spills", Told)
    monkeypatch.setattr(tune_remote, "Remote", Host)
    monkeypatch.setattr(tune_remote, "build_dir", lambda: tmp_path)
    kit = Kit({PROGRAM: b""}, Path(PROGRAM))
    monkeypatch.setattr(tune_remote.kit, "make", lambda arch, entries: kit)
    wish = tune_remote.Wish("board", [entry], [], path, mixed=False)

    def kept() -> list[Result]:
        entries = journal.read(path).entries
        return [e for e in entries if isinstance(e, Result) and e.verdict == "spills"]

    for _ in range(2):  # the second time it is there already
        assert tune_remote.measure(wish) == 0
        assert Host.asked == [SLOW, GOOD]
        (found,) = kept()
        assert (found.point, found.fingerprint) == (SPILLING, BOARD.id)
        assert found.key == Host._line(SPILLING).key  # so that it takes the place of that
        assert found.reason == "3 vector registers go to the stack"
    # A time that daedalus-tune took by hand since, and which has come here, does not stay.
    by_hand = replace(Host._line(SPILLING), when="2099-11-21T12:00:00Z")
    journal.append(path, by_hand)
    monkeypatch.setattr(engine_device, "now", lambda: "2099-11-22T12:00:00Z")
    assert tune_remote.measure(wish) == 0 and len(kept()) == 2
    assert journal.replaces(kept()[-1], by_hand)
    (recipe,) = tmp_path.rglob("daedalus.recipe")
    choices = [line for line in recipe.read_text().splitlines() if line.startswith("choose")]
    assert choices and all("assumesum16" not in line for line in choices)
    monkeypatch.setattr(Told, "word", "neon")  # all of them: there is none to choose
    with pytest.raises(UserError, match="no recipe: nothing has a time on the CPU"):
        tune_remote.measure(wish)
    assert {r.point for r in kept()} == {GOOD, SPILLING}
