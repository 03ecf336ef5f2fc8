# SPDX-License-Identifier: BSD-2-Clause
"""Software pipelining: a loop's instructions of two trips, one of them the next one's beginning.

Stage 0 of a trip is executed in the trip before (that of the first one after the entry), stage 1 in
its own. What stage 0 defines for stage 1 keeps its register across the branch, and what it has
looked up stays in the TMU's queue until stage 1 pops it.
"""

from collections.abc import Mapping, Sequence

from daedalus.generator.targets.qpu import machine
from daedalus.generator.targets.qpu.depend import is_pop, is_unifa, starts_load
from daedalus.generator.targets.qpu.nodes import Node
from daedalus.generator.targets.qpu.webs import Webs


def stage_zero(
    nodes: Sequence[Node],
    early: set[Node],
    repeat: Node,
    carried: Mapping[int, int],
    threads: int,
) -> set[Node]:
    """The largest part of `early` that the trip before can do.

    early    nodes with all that they wait for
    carried  present value -> next one
    """
    late = {n for n in nodes if n not in early or n.store or n.kind == "tmuwt" or n is repeat}
    while True:
        before = len(late)
        for node in nodes:  # in order: whatever waits for a late one is late
            if node not in late and any(p in late for p in node.preds):
                late.add(node)
        late |= _split_flags(nodes, late)
        makers = {n.value: n for n in nodes}
        for present, after in carried.items():
            if any(present in n.reads for n in late):
                late.add(makers[after])
        late |= _overflow(nodes, late, threads)
        if len(late) == before:
            return {n for n in nodes if n not in late}


def _split_flags(nodes: Sequence[Node], late: set[Node]) -> set[Node]:
    """Makers of flags that late nodes read: flags do not live from trip to trip."""
    makers = {n.flag: n for n in nodes if n.flag is not None}
    return {makers[f] for n in late for f in n.flags_read}


def _overflow(nodes: Sequence[Node], late: set[Node], threads: int) -> set[Node]:
    """Loads whose results would wait in the queue from trip to trip, beyond what it holds."""
    waiting: dict[int, int] = {}
    for node in nodes:
        if is_pop(node) and node in late:
            waiting[node.lookup] = waiting.get(node.lookup, 0) + 1
    words = lookups = 0
    out = set()
    for node in nodes:
        if starts_load(node) and node not in late and node.lookup in waiting:
            words += waiting[node.lookup]
            lookups += 1
            if words > machine.queue_words(threads) or lookups > machine.MAX_LOOKUPS:
                out.add(node)
    return out


def combine(
    nodes: Sequence[Node], ahead: frozenset[Node], webs: Webs, carried: Mapping[int, int]
) -> dict[Node, Node]:
    """A copy of each node, with the edges of a trip together with the next one's stage 0."""
    copy = {n: n.copy(stage=0 if n in ahead else 1) for n in nodes}
    for node, made in copy.items():
        for pred, slots in node.preds.items():
            if copy[pred].stage == made.stage:
                made.after(copy[pred], slots)
    trip = [copy[n] for n in nodes if n not in ahead]
    following = [copy[n] for n in nodes if n in ahead]
    _registers(trip, following, webs, carried)
    _queue(trip, following)
    return copy


def copies(nodes: Sequence[Node], some: frozenset[Node], offset: int) -> list[Node]:
    """Copies of some nodes for the entry, whose own lookups number `offset`."""
    copy = {
        n: n.copy(lookup=n.lookup + offset if n.lookup >= 0 else -1) for n in nodes if n in some
    }
    for node, made in copy.items():
        for pred, slots in node.preds.items():
            made.after(copy[pred], slots)
    return list(copy.values())


def _registers(
    trip: Sequence[Node], following: Sequence[Node], webs: Webs, carried: Mapping[int, int]
) -> None:
    """The following trip's values come after the last use of this trip's, and what this trip
    passes on before its first use."""
    touching: dict[int, list[tuple[Node, int]]] = {}
    makers: dict[int, Node] = {}
    for node in trip:
        for value in node.reads:
            touching.setdefault(webs.find(value), []).append((node, 0))
        if node.value is not None:
            touching.setdefault(webs.find(node.value), []).append((node, 1))
            makers[node.value] = node
    for node in following:
        if node.value is not None:
            for other, slots in touching.get(webs.find(node.value), ()):
                node.after(other, slots)
        for value in node.reads:
            after = carried.get(value)
            if after is not None and after in makers:
                node.after(makers[after], makers[after].latency)


def _queue(trip: Sequence[Node], following: Sequence[Node]) -> None:
    """Results come in the order of loads: this trip's are all before the following one's. So is
    what it reads by unifa."""
    for kind in (starts_load, is_pop, is_unifa):
        last = [n for n in trip if kind(n)][-1:]
        for node in [n for n in following if kind(n)][:1]:
            for other in last:
                node.after(other, 1)
    switches = [n for n in trip if n.kind == "thrsw"][-1:]
    for node in [n for n in following if n.kind == "thrsw"][:1]:
        for other in switches:
            node.after(other, machine.THRSW_SLOTS + 1)


def crossing(nodes: Sequence[Node]) -> set[int]:
    """Values of stage 0 that stage 1 reads."""
    made = {n.value for n in nodes if n.stage == 0 and n.value is not None}
    return {v for n in nodes if n.stage == 1 for v in n.reads if v in made}


def waiting(nodes: Sequence[Node]) -> tuple[tuple[int, int], ...]:
    """Lookups of stage 0 whose results stage 1 pops, and how many words."""
    started = {n.lookup for n in nodes if starts_load(n) and n.stage == 0}
    words: dict[int, int] = {}
    for node in sorted(nodes, key=lambda n: n.lookup):
        if is_pop(node) and node.stage == 1 and node.lookup in started:
            words[node.lookup] = words.get(node.lookup, 0) + 1
    return tuple(words.items())
