# SPDX-License-Identifier: BSD-2-Clause
"""Searches: every point once, and of large spaces a sample that finds what is best."""

import random

import pytest
from tuning_stand_ins import cost_of, space_of

from daedalus.generator.compile.registry import find, load
from daedalus.generator.tuning.plan import groups_of, spaces_of
from daedalus.generator.tuning.search import Sampled, Search, neighbours
from daedalus.generator.tuning.space import Candidate, recorded


def best_of(search: Search) -> tuple[Candidate, list[Candidate]]:
    """Runs it to its end; the best point, and all in the order in which they were asked for."""
    asked: list[Candidate] = []
    while (c := search.ask()) is not None:
        asked.append(c)
        search.tell(c, cost_of(c))
    return min(asked, key=cost_of), asked


def test_a_small_space_is_tried_whole_what_is_on_record_first() -> None:
    found = space_of("h264_idct4", "glsl").candidates
    first = found[7:9]
    best, asked = best_of(Search("x", first, found))
    assert asked[:2] == first
    assert sorted(asked) == sorted(found)
    assert best == min(found, key=cost_of)


@pytest.mark.parametrize(("kernel", "share"), [("av1_cdef8", 0.5), ("vp9_lpf4_v", 0.6)])
def test_a_sample_finds_the_best_of_each_class(kernel: str, share: float) -> None:
    found = space_of(kernel, "glsl").candidates
    for class_name in dict.fromkeys(c.options.class_name for c in found):
        own = [c for c in found if c.options.class_name == class_name]
        most = int(share * len(own))
        for seed in (1, 2, 3):
            best, asked = best_of(Sampled("x", own[:1], own, most, seed))
            assert len(asked) == len(set(asked)) == most
            assert set(asked) <= set(own)
            # The landscape has ripples of a hundredth, which nobody would call a better variant.
            assert cost_of(best) <= 1.01 * min(map(cost_of, own)), (class_name, seed)


def test_neighbours_are_worth_more_than_chance() -> None:
    """With few points, the mean over many seeds of what is found is better than random points'."""
    own = [c for c in space_of("vp9_lpf4_v", "glsl").candidates]
    most, sampled, drawn = 48, 0.0, 0.0
    for seed in range(20):
        sampled += cost_of(best_of(Sampled("x", own[:1], own, most, seed))[0])
        drawn += min(map(cost_of, random.Random(seed).sample(own, most)))
    assert sampled < drawn


def test_points_without_a_time_do_not_end_a_search() -> None:
    own = space_of("vp9_lpf4_v", "glsl").candidates
    search = Sampled("x", own[:1], own, len(own))
    asked = 0
    while (c := search.ask()) is not None:
        asked += 1
        search.tell(c, None if asked % 3 else cost_of(c))
    assert asked > len(own) // 5


def test_neighbours_differ_in_one_choice() -> None:
    c = next(c for c in space_of("vp9_idct8", "neon").candidates if c.options.items == 2)
    near = set(neighbours(c))
    assert c not in near
    assert {n.options.items for n in near} == {1, 2, 4}
    assert sum(n.compiler != c.compiler for n in near) == 1


def test_a_large_space_is_sampled_unless_all_of_it_is_asked_for() -> None:
    entry = find(load(), "av1_cdef8")
    assert entry is not None
    total = len(space_of("av1_cdef8", "glsl").candidates)
    spaces = spaces_of([entry], ["glsl"])
    sampled = groups_of([entry], spaces)
    assert all(isinstance(g.search, Sampled) for g in sampled)
    assert 400 < sum(g.search.total for g in sampled) <= 500 < total
    whole = groups_of([entry], spaces, exhaustive=True)
    assert sum(g.search.total for g in whole) == total


def test_points_of_a_compiler_that_is_not_here_are_left_out() -> None:
    entry = find(load(), "vp9_lpf8_v")
    assert entry is not None
    spaces = spaces_of([entry], ["c", "neon", "qpu"])
    for quick in (False, True):
        both, one = (
            {c for g in groups_of([entry], spaces, quick=quick, **given)
             for c in g.search.reach}
            for given in ({}, {"compilers": ("gcc",)})
        )  # fmt: skip
        assert {c.compiler for c in both} == {"gcc", "clang", ""}
        assert one == {c for c in both if c.compiler != "clang"}


def test_a_quick_run_has_what_is_on_record() -> None:
    entry = find(load(), "vp9_lpf8_v")
    assert entry is not None
    groups = {
        g.target: g.search
        for g in groups_of([entry], spaces_of([entry], ["c", "neon", "qpu"]), quick=True)
    }
    for target, search in groups.items():
        assert search.reach[0] == recorded(entry, target)[0]
    assert len(groups["qpu"].reach) == len(groups["c"].reach) == 1
    assert 3 <= len(groups["neon"].reach) <= 8
