# SPDX-License-Identifier: BSD-2-Clause
"""What waits for what within a block: operands, flags, the queues of the TMU, unifa."""

import itertools
from collections.abc import Sequence
from heapq import heapify, heappop, heappush

from daedalus.generator.targets.qpu import machine
from daedalus.generator.targets.qpu.nodes import TMUA, TMUAU, UNIFA, Node
from daedalus.generator.targets.qpu.virtual import Instruction, Load, Store, WaitStores


class Circular(Exception):
    """Nodes wait for each other."""


def connect(nodes: Sequence[Node], block: Sequence[Instruction]) -> None:
    """Adds the edges of a block's nodes, in the order in which it is written."""
    _operands(nodes)
    _flags(nodes)
    _modes(nodes)
    _lookups(nodes, block)
    _unifa(nodes)
    _together(nodes)


def _operands(nodes: Sequence[Node]) -> None:
    makers = {n.value: n for n in nodes if n.value is not None}
    for node in nodes:
        for value in node.reads:
            maker = makers.get(value)
            if maker is not None:
                node.after(maker, maker.latency)


def _flags(nodes: Sequence[Node]) -> None:
    makers = {n.flag: n for n in nodes if n.flag is not None}
    readers: dict[int, list[Node]] = {}
    for node in nodes:
        for flag in node.flags_read:
            node.after(makers[flag], 1)
            readers.setdefault(flag, []).append(node)
    for node in nodes:
        if node.updates is not None:
            for reader in readers[node.updates]:
                if reader is not node:
                    node.after(reader, 0)


def _modes(nodes: Sequence[Node]) -> None:
    mode: Node | None = None
    for node in nodes:
        if node.forms and node.forms[0].op.startswith("setnnmode_"):
            mode = node
        elif mode is not None and any(f.op == "v8dot" for f in node.forms):
            node.after(mode, 1)


def is_address(node: Node) -> bool:
    """Whether it starts a lookup."""
    return node.write in (TMUA, TMUAU)


def starts_load(node: Node) -> bool:
    """Whether it starts a lookup that returns something."""
    return is_address(node) and node.words > 0


def is_pop(node: Node) -> bool:
    """Whether it takes a word that a lookup has returned."""
    return node.kind == "ldtmu"


def _lookups(nodes: Sequence[Node], block: Sequence[Instruction]) -> None:
    addresses = {n.lookup: n for n in nodes if is_address(n)}
    opened = {n.lookup: n for n in reversed(nodes) if n.write}  # the first write of each
    waits = iter([n for n in nodes if n.kind == "tmuwt"])
    stores: dict[str, list[Node]] = {}
    loads: dict[str, list[Node]] = {}
    previous: Node | None = None  # lookup that loads
    wait: Node | None = None
    lookup = 0
    for i in block:
        if isinstance(i, WaitStores):
            before, wait = wait, next(waits)
            earlier = [n for group in stores.values() for n in group]
            for node in earlier + ([before] if before is not None else []):
                wait.after(node, 1)
            stores.clear()
        if not isinstance(i, Load | Store):
            continue
        first, address = opened[lookup], addresses[lookup]
        lookup += 1
        if wait is not None:
            first.after(wait, 1)
        if isinstance(i, Load):
            if previous is not None:
                address.after(previous, 1)
            previous = address
            loads.setdefault(i.space, []).append(address)
        else:
            for node in loads.pop(i.space, []) + stores.get(i.space, [])[-1:]:
                first.after(node, 1)
            stores.setdefault(i.space, []).append(address)
    pops = [n for n in nodes if is_pop(n)]
    for before_pop, pop in itertools.pairwise(pops):
        pop.after(before_pop, 1)


def is_unifa(node: Node) -> bool:
    """Whether it writes unifa, or reads what that points to."""
    return node.write == UNIFA or node.kind == "ldunifa"


def _unifa(nodes: Sequence[Node]) -> None:
    """A load moves the pointer on: each comes after the one before it."""
    for before, node in itertools.pairwise([n for n in nodes if is_unifa(n)]):
        written = before.write == UNIFA and node.kind == "ldunifa"
        node.after(before, machine.UNIFA_GAP if written else 1)


def _together(nodes: Sequence[Node]) -> None:
    """A store's writes follow each other: once it is begun nothing it needs may be missing."""
    stores: dict[int, list[Node]] = {}
    for node in nodes:
        if node.store:
            stores.setdefault(node.lookup, []).append(node)
    for writes in stores.values():
        for k, node in enumerate(writes[1:], 1):
            for pred, slots in list(node.preds.items()):
                if pred not in writes:
                    writes[0].after(pred, max(slots - k, 0))


def waves(nodes: Sequence[Node], threads: int) -> list[tuple[list[Node], list[Node]]]:
    """Loads that go out together, with the pops of their results: no more than the queue holds,
    and none that needs another's result, or is written after the first use of one."""
    addresses = [n for n in nodes if starts_load(n)]
    pops: dict[int, list[Node]] = {}
    for node in nodes:
        if is_pop(node):
            pops.setdefault(node.lookup, []).append(node)
    ancestors = reach(nodes)
    out: list[tuple[list[Node], list[Node]]] = []
    first_use: dict[int | None, int] = {}
    for node in nodes:
        for value in node.reads:
            first_use.setdefault(value, node.order)
    words, used = 0, len(nodes)
    for address in addresses:
        waits = out and any(ancestors[address] >> p.order & 1 for p in out[-1][1])
        if (
            not out
            or waits
            or address.order > used
            or words + address.words > machine.queue_words(threads)
        ):
            out.append(([], []))
            words, used = 0, len(nodes)
        words += address.words
        used = min([used, *(first_use.get(p.value, used) for p in pops[address.lookup])])
        out[-1][0].append(address)
        out[-1][1].extend(pops[address.lookup])
    return out


def reach(nodes: Sequence[Node]) -> dict[Node, int]:
    """The ancestors of each node, as bits by their order; nodes follow those they wait for."""
    out: dict[Node, int] = {}
    for node in nodes:
        bits = 0
        for pred in node.preds:
            bits |= out[pred] | 1 << pred.order
        out[node] = bits
    return out


def add_switches(nodes: list[Node], threads: int, most: int) -> list[Node]:
    """Adds thread switches between the loads of a wave and their results, for at most so many
    waves."""
    out = list(nodes)
    previous: Node | None = None
    for addresses, pops in waves(nodes, threads)[:most]:
        switch = Node("thrsw", pops[0].order)
        for address in addresses:
            switch.after(address, 0)
        for pop in pops:
            pop.after(switch, machine.THRSW_SLOTS + 1)
        if previous is not None:
            switch.after(previous, machine.THRSW_SLOTS + 1)
        previous = switch
        out.append(switch)
    return in_order(out)


def in_order(nodes: Sequence[Node]) -> list[Node]:
    """The nodes so that each follows those it waits for, else by their order; renumbered."""
    position = {n: at for at, n in enumerate(nodes)}
    missing = {n: len(n.preds) for n in nodes}
    followers: dict[Node, list[Node]] = {n: [] for n in nodes}
    for node in nodes:
        for pred in node.preds:
            followers[pred].append(node)
    ready = [(n.order, position[n]) for n in nodes if not missing[n]]
    heapify(ready)
    out = []
    while ready:
        node = nodes[heappop(ready)[1]]
        out.append(node)
        for follower in followers[node]:
            missing[follower] -= 1
            if not missing[follower]:
                heappush(ready, (follower.order, position[follower]))
    if len(out) < len(nodes):
        raise Circular
    for at, node in enumerate(out):
        node.order = at
    return out


def late_pops(nodes: Sequence[Node], threads: int) -> list[Node]:
    """The nodes with results taken from the queue as late as their first use lets them, and loads
    no earlier than there is room for what they return: an order that needs few registers."""
    key = {n: float(n.order) for n in nodes}
    first_use: dict[int, float] = {}
    for node in nodes:
        for value in node.reads:
            first_use.setdefault(value, key[node])
    pops = [n for n in nodes if is_pop(n)]
    latest = float(len(nodes))
    for pop in reversed(pops):
        assert pop.value is not None
        latest = min(latest, first_use.get(pop.value, latest)) - 0.01
        key[pop] = max(latest, key[pop])
        latest = key[pop]
    words = 0
    for load in [n for n in nodes if starts_load(n)]:
        words += load.words
        full = words - machine.queue_words(threads)
        if full > 0:
            key[load] = max(key[load], key[pops[full - 1]] + 0.005)
    for node in nodes:
        if node.kind == "thrsw":
            after = [key[p] for p in pops if node in p.preds]
            key[node] = min(after) - 0.005
    ordered = sorted(nodes, key=lambda n: key[n])
    for at, node in enumerate(ordered):
        node.order = at
    return in_order(ordered)
