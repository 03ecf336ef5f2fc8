# SPDX-License-Identifier: BSD-2-Clause
"""Whole decodes: whose functions are whose, how clips are damaged, and what of times counts."""

import struct
from pathlib import Path

import pytest
from click.testing import CliRunner

from daedalus.codecs.clips import Clip
from daedalus.generator.cli.stream import command
from daedalus.generator.measure import mix
from daedalus.generator.verify import damage, timed

KERNELS = ("vp9_mc_8hv", "vp9_mc_8hv_avg", "vp9_lpf4_v")


@pytest.mark.parametrize(
    ("symbol", "kernel"),
    [
        ("daedalus_ffmpeg_vp9_mc_8hv_smooth", "vp9_mc_8hv"),
        ("daedalus_tall_vp9_mc_8hv_avg__neon_sub8_dot", "vp9_mc_8hv_avg"),
        ("all_items_vp9_mc_8hv__neon_sub8", "vp9_mc_8hv"),
        ("panel_of_all_vp9_mc_8hv_avg__neon_sub8.part.0", "vp9_mc_8hv_avg"),
        ("one_item_vp9_lpf4_v__neon_full", "vp9_lpf4_v"),
        ("ff_vp9_loop_filter_v_4_8_neon", None),
        ("vp9_decode_frame", None),
    ],
)
def test_a_function_of_ours_is_told_by_its_kernel(symbol: str, kernel: str | None) -> None:
    assert mix._kernel(symbol, KERNELS) == kernel


def packets(data: bytes) -> list[bytes]:
    found, at = [], 32
    while at < len(data):
        (size,) = struct.unpack_from("<I", data, at)
        found.append(data[at + 12 : at + 12 + size])
        at += 12 + size
    return found


def test_damage_is_in_few_packets_and_is_the_same_each_time() -> None:
    body = [bytes(range(n, n + 60)) for n in range(8)]
    clip = b"DKIF".ljust(32, b"\0")
    clip += b"".join(struct.pack("<IQ", len(b), n) + b for n, b in enumerate(body))
    kinds = set()
    for seed in range(40):
        made = damage.damaged(clip, seed)
        assert made == damage.damaged(clip, seed)
        now = packets(made)
        assert len(now) == len(body) and len(now[0]) == 60
        changed = [(a, b) for a, b in zip(body, now, strict=True) if a != b]
        assert 0 < len(changed) <= 4
        kinds |= {len(b) < 60 for _, b in changed}
    assert kinds == {False, True}  # flipped, and cut


def test_a_packet_of_no_bytes_stays() -> None:
    body = [bytes(range(60)), b"", bytes(range(60)), b""]
    clip = b"DKIF".ljust(32, b"\0")
    clip += b"".join(struct.pack("<IQ", len(b), n) + b for n, b in enumerate(body))
    for seed in range(40):
        now = packets(damage.damaged(clip, seed))
        assert [len(now[n]) for n in (1, 3)] == [0, 0] and now != body


def test_what_ours_save_is_of_clips_where_assembly_makes_a_difference() -> None:
    clip = Clip("one", Path("one.ivf"))
    much = timed.Times(clip, {"ours": 40.0, "portable": 100.0, "assembly": 20.0})
    little = timed.Times(clip, {"ours": 100.0, "portable": 100.0, "assembly": 90.0})
    assert timed.share([much, little]) == 60 / 80
    assert timed.share([little]) is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--damaged", "1", "--target", "c"], "leave FILE and the other options out"),
        (["--timed", "1", "--damaged", "1"], "two runs"),
        (["--substrate", "qpu", "--threads", "2"], "leave one of the two out"),
    ],
)
def test_modes_refuse_what_they_would_not_heed(words: list[str], said: str) -> None:
    result = CliRunner().invoke(command, words)
    assert result.exit_code != 0
    assert said in str(result.exception) + getattr(result.exception, "hint", "") + result.output
