# SPDX-License-Identifier: BSD-2-Clause
"""Where a random program reads and writes: index patterns that are legal as `dsl.verify` has it."""

import random

import numpy as np

from daedalus.dsl.errors import Loc
from daedalus.dsl.ir import Affine, Buffer, Kernel, Stage
from daedalus.dsl.values import LaneIndex
from daedalus.dsl.verify import flat_index

Key = tuple[LaneIndex | int, ...]
_TRIES = 12


class Places:
    """Draws indices for the stage at hand.

    A *frame* fixes how the lanes of a stage run through a buffer; the axes that no lane runs along
    vary from access to access. A buffer that a stage also writes keeps one frame in it, so that no
    lane touches another's elements.
    """

    def __init__(self, declared: Kernel, rng: random.Random) -> None:
        self.rng = rng
        self.written = {t.name: np.full(t.size, t.init is not None) for t in declared.temps}
        self.frozen: set[str] = set()
        self.stage = Stage((), (), Loc("", 0))
        self.frames: dict[str, tuple[Affine, ...] | None] = {}
        self.loaded: dict[str, list[np.ndarray]] = {}
        self.stored: dict[str, dict[int, int]] = {}

    def enter(self, dims: dict[str, int]) -> None:
        """Starts a stage."""
        self.stage = Stage(tuple(dims.items()), (), Loc("", 0))
        self.frames, self.loaded, self.stored = {}, {}, {}
        self.frozen = set()

    def leave(self, stage: Stage) -> None:
        """Ends it: its stores can be read now, unless they do not always happen."""
        if stage.given is not None or stage.limits:
            return
        for name, stored in self.stored.items():
            if name in self.written:
                self.written[name][list(stored)] = True

    # ------------------------------------------------------------------ beyond frames

    def freeze(self, b: Buffer) -> None:
        """Keeps this stage from storing into the buffer from here on."""
        self.frozen.add(b.name)

    def anywhere(self, b: Buffer) -> bool:
        """Whether any element may be read: all are there, and the stage stores none of them."""
        if b.kind != "temp":
            return b.access == "in"
        return bool(self.written[b.name].all()) and b.name not in self.stored

    def untouched(self, b: Buffer) -> bool:
        """Whether the stage has neither read nor stored any of the buffer."""
        touched = {*self.frozen, *self.stored, *(n for n, read in self.loaded.items() if read)}
        return b.name not in touched

    # ------------------------------------------------------------------ frames

    def _frame(self, b: Buffer, box: tuple[tuple[int, int], ...]) -> tuple[Affine, ...] | None:
        """A way for all lanes to run through the box, each along an axis of its own if possible."""
        rng, dims = self.rng, list(self.stage.dims)
        for _ in range(_TRIES):
            terms: list[list[tuple[str, int]]] = [[] for _ in box]
            axes = list(range(len(box)))
            if len(dims) > len(axes):  # row by row along the one axis
                inner = dims[-1][1] * rng.choice((1, 1, 2))
                terms[0] = [(dims[0][0], inner), (dims[1][0], 1)]
            else:
                if rng.random() < 0.4:
                    rng.shuffle(axes)
                else:
                    axes = axes[-len(dims) :]
                for axis, (lane, _n) in zip(axes, dims, strict=False):
                    terms[axis].append((lane, rng.choice((1, 1, 1, 1, 1, 1, 1, 1, 2, -1, 3))))
                free = [t for t in terms if not t]
                if rng.random() < 0.04 and free:  # a slope
                    rng.choice(free).append((dims[-1][0], rng.choice((1, -1))))
            frame = []
            for (lo, hi), t in zip(box, terms, strict=True):
                low, high = Affine(0, tuple(t)).bounds(self.stage.extents)
                if high - low >= hi - lo:
                    break
                first = rng.choice((lo - low, hi - 1 - high, rng.randint(lo - low, hi - 1 - high)))
                frame.append(Affine(first, tuple(t)))
            else:
                return tuple(frame)
        return None

    def _fixed(self, b: Buffer, box: tuple[tuple[int, int], ...]) -> tuple[Affine, ...] | None:
        if b.name not in self.frames:
            self.frames[b.name] = self._frame(b, box)
        return self.frames[b.name]

    def _index(
        self, frame: tuple[Affine, ...], box: tuple[tuple[int, int], ...], base: int, step: int
    ) -> tuple[Affine, ...]:
        """The frame at one position of the axes that no lane runs along."""
        out, wrap = [], step
        for a, (lo, hi) in list(zip(frame, box, strict=True))[::-1]:
            if a.terms:
                out.append(a)
                continue
            size = hi - lo
            out.append(Affine(lo + (base + wrap) % size))
            wrap = (base + wrap) // size if size > 1 else wrap
        return tuple(out[::-1])

    # ------------------------------------------------------------------ accesses

    def reads(self, b: Buffer, many: int, *, steady: bool) -> list[Key]:
        """Up to so many indices that may be read; `steady` keeps to one frame."""
        rng = self.rng
        frame = self._fixed(b, b.shape)
        base = rng.choice((0, 0, rng.randint(0, 31)))
        found: dict[tuple[Affine, ...], np.ndarray] = {}
        for n in range(many):
            use = frame
            if rng.random() < 0.07 and not steady:
                use = tuple(Affine(rng.randint(lo, hi - 1)) for lo, hi in b.shape)  # uniform
            elif not steady and rng.random() < 0.12:
                use = self._frame(b, b.shape)
            if use is None:
                continue
            step = n if rng.random() < 0.85 else rng.randint(0, 15)
            index = self._index(use, b.shape, base, step) if any(a.terms for a in use) else use
            flat = flat_index(b, index, self.stage)
            if b.name in self.written and not self.written[b.name][flat].all():
                continue
            found[index] = flat
        self.loaded.setdefault(b.name, []).extend(found.values())
        return [_key(i) for i in found]

    def writes(self, b: Buffer, many: int, *, whole: bool) -> list[tuple[Key, np.ndarray]]:
        """Up to so many indices that may be written; with `whole`, all that one frame reaches."""
        rng = self.rng
        if b.name in self.frozen:
            return []
        box = b.owns or b.shape
        frame = self._fixed(b, box)
        if frame is None or any(
            not lo <= low <= high < hi
            for (low, high), (lo, hi) in zip(
                (a.bounds(self.stage.extents) for a in frame), box, strict=True
            )
            if (low, high) != (0, 0)
        ):
            frame = self._frame(b, box)
        if frame is None:
            return []
        free = 1
        for a, (lo, hi) in zip(frame, box, strict=True):
            free *= 1 if a.terms else hi - lo
        if whole:
            many = free if rng.random() < 0.9 else rng.randint(1, free)
        base = 0 if whole else rng.choice((0, 0, rng.randint(0, free - 1)))
        order = list(range(min(many, free, 16)))
        if rng.random() < 0.15:
            rng.shuffle(order)
        out = []
        indices = [self._index(frame, box, base, n) for n in order]
        if not whole and rng.random() < 0.25:
            indices = self._in_turn(box) or indices
        for index in indices:
            flat = flat_index(b, index, self.stage)
            if self._legal(b, index, flat):
                taken = self.stored.setdefault(b.name, {})
                taken.update({int(f): lane for lane, f in enumerate(flat)})
                out.append((_key(index), flat))
        return out

    def _in_turn(self, box: tuple[tuple[int, int], ...]) -> list[tuple[Affine, ...]]:
        """Indices of 2 to 4 elements a lane, lane after lane without a gap; none without room."""
        rng, (*before, (lo, hi)) = self.rng, box
        lane, n = self.stage.dims[-1]
        many = rng.choice((2, 3, 4))
        room = hi - lo - many * n
        if room < 0 or len(self.stage.dims) > len(box):
            return []
        outer = []
        for (name, count), (a, b) in zip(self.stage.dims[:-1], before[::-1], strict=False):
            if count > b - a:
                return []
            outer.append(Affine(a, ((name, 1),)))
        outer += [Affine(rng.randint(a, b - 1)) for a, b in before[::-1][len(outer) :]]
        first = lo + rng.randint(0, room)
        return [(*outer[::-1], Affine(first + k, ((lane, many),))) for k in range(many)]

    def _legal(self, b: Buffer, index: tuple[Affine, ...], flat: np.ndarray) -> bool:
        box = b.owns or b.shape
        for a, (lo, hi) in zip(index, box, strict=True):
            low, high = a.bounds(self.stage.extents)
            if low < lo or high >= hi:
                return False
        taken = self.stored.get(b.name, {})
        if len(np.unique(flat)) != len(flat) or any(int(f) in taken for f in flat):
            return False
        lane_of = np.full(b.size, -1)
        lane_of[flat] = np.arange(len(flat))
        for read in self.loaded.get(b.name, []):
            writer = lane_of[read]
            if ((writer >= 0) & (writer != np.arange(len(read)))).any():
                return False
        return True

    def may_mask(self, b: Buffer, flat: np.ndarray) -> bool:
        """Whether a store there may be left out: not where a temp has nothing yet."""
        return b.name not in self.written or bool(self.written[b.name][flat].all())


def _key(index: tuple[Affine, ...]) -> Key:
    return tuple(LaneIndex(a) if a.terms else a.const for a in index)
