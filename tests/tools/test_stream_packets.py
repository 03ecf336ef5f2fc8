# SPDX-License-Identifier: BSD-2-Clause
"""How the stream programs cut files into packets (tools/stream/packets.c)."""

import subprocess
from pathlib import Path

import pytest

from daedalus.codecs import clips
from daedalus.generator.host import native

DRIVER = r"""
#include "stream.h"
#include <stdlib.h>
_Noreturn void stream_fail(int status, const char *what, const char *detail) {
  fprintf(stderr, "%s: %s\n", what, detail);
  exit(status);
}
int main(int argc, char **argv) {
  stream_packets file = stream_open(argv[argc - 1]);
  const uint8_t *data;
  size_t size;
  while (stream_next(&file, &data, &size)) {
    printf("%zu ", size);
  }
  stream_close(&file);
  return 0;
}
"""

SHORT, LONG = b"\0\0\1", b"\0\0\0\1"
DELIMITER, PARAMETERS, MESSAGE = b"\x09\xf0", b"\x67\x64\x28", b"\x06\x05\x80"
FIRST, LATER = b"\x65\x88\x84", b"\x65\x42\x84"  # slices of a picture: its first, another
INTER, DATA = b"\x41\x9a\x21", b"\x41\x5a\x21"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packets")
    source = folder / "driver.c"
    source.write_text(DRIVER)
    return native.compile_program(
        "host",
        folder / "program",
        [source, clips.folder() / "packets.c"],
        includes=[clips.folder()],
        flags=["-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
        static=False,
    )


def _run(program: Path, data: bytes, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    path = tmp_path / "file"
    path.write_bytes(data)
    return subprocess.run([program, path], capture_output=True, text=True)


def _sizes(program: Path, data: bytes, tmp_path: Path) -> list[int]:
    done = _run(program, data, tmp_path)
    assert done.returncode == 0, done.stderr
    return [int(word) for word in done.stdout.split()]


def _nal(*units: bytes, start: bytes = SHORT) -> bytes:
    return b"".join(start + u for u in units)


@pytest.mark.parametrize(
    "packets",
    [
        [_nal(FIRST)],
        [_nal(PARAMETERS, MESSAGE, FIRST, LATER), _nal(INTER, DATA, DATA), _nal(INTER)],
        [_nal(DELIMITER, PARAMETERS, FIRST), _nal(DELIMITER, INTER), _nal(DELIMITER, INTER)],
        [_nal(FIRST), _nal(MESSAGE, INTER, DATA), _nal(PARAMETERS, FIRST, LATER)],
        [_nal(FIRST), _nal(INTER) + SHORT, ],
        [_nal(FIRST), _nal(INTER) + SHORT + b"\x41"],
    ],
)  # fmt: skip
def test_access_units(program: Path, packets: list[bytes], tmp_path: Path) -> None:
    assert _sizes(program, b"".join(packets), tmp_path) == [len(p) for p in packets]


def test_zeros_before_a_start_code_stay_behind(program: Path, tmp_path: Path) -> None:
    data = _nal(FIRST, INTER, INTER, start=LONG)
    assert _sizes(program, data, tmp_path) == [8, 7, 6]


def test_ivf(program: Path, tmp_path: Path) -> None:
    header, times = b"DKIF" + bytes(28), bytes(8)
    packets = [n.to_bytes(4, "little") + times + bytes(n) for n in (5, 0, 300)]
    whole = header + b"".join(packets)
    assert _sizes(program, header, tmp_path) == []
    assert _sizes(program, whole, tmp_path) == [5, 0, 300]
    for cut in (whole[:-1], whole[: 32 + 11], header + b"\xff" * 12):
        done = _run(program, cut, tmp_path)
        assert (done.returncode, "cut off or damaged" in done.stderr) == (2, True)


@pytest.mark.parametrize("data", [b"", b"DKI", b"\0\0\1", b"\0\0\0\0\0", b"\x1a\x45\xdf\xa3webm"])
def test_other_files_are_refused(program: Path, data: bytes, tmp_path: Path) -> None:
    done = _run(program, data, tmp_path)
    assert done.returncode == 2
    assert "neither an IVF file nor an H.264 byte stream" in done.stderr
