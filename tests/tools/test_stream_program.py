# SPDX-License-Identifier: BSD-2-Clause
"""What stream programs refuse (tools/stream/main.c), and how stock functions are told (traps.c)."""

import signal
import subprocess
from pathlib import Path

import pytest

from daedalus.codecs import clips
from daedalus.generator.host import native

STANDS_FOR_THE_DECODER = r"""
#include "stream.h"
stream_function stream_functions[] = {{.id = "one", .classes = {"full"}, .ways = {"mc"}}};
const size_t stream_n_functions = 1;
const char *const stream_fields[] = {"mc", NULL};
unsigned stream_slots_good;
static __attribute__((noinline)) void executed(void) { puts("executed"); }
static __attribute__((noinline)) void left_out(void) { puts("left out"); }
long stream_decode(stream_packets *file, long limit, int reorder) {
  (void)file;
  (void)reorder;
  stream_trap(executed, "dsp.mc[8]");
  stream_trap(left_out, "dsp.mc[4]");
  executed();
  executed();
  if (limit == 1) {
#if defined(__x86_64__)
    __asm__ volatile("int3");
#else
    __asm__ volatile(".inst 0");
#endif
    puts("went on");
  }
  return 1;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("program")
    source = folder / "decoder.c"
    source.write_text(STANDS_FOR_THE_DECODER)
    return native.compile_program(
        "host",
        folder / "program",
        [source, *(clips.folder() / s for s in ("main.c", "packets.c", "traps.c"))],
        includes=[clips.folder()],
    )


def _run(program: Path, *options: str) -> subprocess.CompletedProcess[str]:
    clip = program.parent / "clip.ivf"
    clip.write_bytes(b"DKIF".ljust(32, b"\0"))
    return subprocess.run([program, *options, clip], capture_output=True, text=True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--threads", "x"), "--threads takes a number of threads: x"),
        (("--threads", "0"), "--threads takes a number of threads: 0"),
        (("--threads", "2x"), "--threads takes a number of threads: 2x"),
        (("--bare", "--keep", "cm"), "no field of the tables with functions of ours: cm"),
        (("--ours", "--bare"), "--ours and --bare are two ways"),
        (("--keep", "mc"), "--keep is for --ours and --bare: mc"),
    ],
)
def test_options_without_effect_are_refused(
    options: tuple[str, ...], said: str, program: Path
) -> None:
    done = _run(program, *options)
    assert (done.returncode, done.stderr.strip()) == (2, said)


def test_a_function_of_the_decoder_is_told_once_and_by_its_place(program: Path) -> None:
    done = _run(program, "--bare", "--keep", "mc", "--threads", "4")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == ["executed", "executed"]
    (told,) = (x for x in lines if x.startswith("stock "))
    assert told.split(" ", 2)[2] == "dsp.mc[8]" and "watched 2" in lines


def test_another_stop_ends_the_program(program: Path) -> None:
    done = _run(program, "--frames", "1")
    assert -done.returncode in (signal.SIGTRAP, signal.SIGILL) and "went on" not in done.stdout
