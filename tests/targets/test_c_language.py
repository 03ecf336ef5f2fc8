# SPDX-License-Identifier: BSD-2-Clause
"""What parameters decide, in portable C under sanitizers: small kernels against the interpreter.

Each is an edge at which a pass or the emission of C once differed from the interpreter, or could.
"""

from pathlib import Path

import pytest
from spec_support import kernel_of

from daedalus.dsl.errors import SpecError
from daedalus.dsl.ir import Kernel
from daedalus.generator.compile import emit
from daedalus.generator.compile.variants import make_variant
from daedalus.generator.options import options_of, variant_name
from daedalus.generator.passes.pipeline import lower
from daedalus.generator.verify import crosscheck
from daedalus.generator.verify.fuzz.build import Build

HEAD = '''
from daedalus.dsl.lang import *

@kernel(clause="a test")
def edge_{name}(k):
    """Tests."""
'''

OUT = 'out = k.plane("out", u8, rows=(0, 8), cols=(0, 8), access="inout")\n'

SPECS = {
    "the_mask_is_the_condition": OUT + '''
p = k.param("p", u8, 0, 10)
with k.stage(x=8, given=p > 5) as x:
    with k.when(p > 5):
        out[0, x] = 3
''',
    "the_limit_is_stored": OUT + '''
p = k.param("p", u8, 0, 8)
with k.stage(y=k.upto(p, 8), x=8) as (y, x):
    out[y, x] = p
''',
    "a_limit_of_32_bits": OUT + '''
p = k.param("p", i32, 0, 2**31 - 1)
with k.stage(x=k.upto(p * 2, 8)) as x:
    out[0, x] = 1
''',
    "a_broken_assumption_keeps_a_stage_out": OUT + '''
p, q = k.param("p", u16, 0, 65535), k.param("q", u16, 0, 65535)
fits = k.assumption("fits", 0, 1000000, why="a test")
y = fits(p * q) * 2000
with k.stage(x=8, given=y < 5) as x:
    out[0, x] = 1
''',
    "a_shift_to_the_left_by_any_amount": OUT + '''
p, q = k.param("p", u8, 0, 7), k.param("q", i32, -9, 9)
with k.stage(x=8) as x:
    out[0, x] = low_bits((out[0, x] - 100) << p, 8)
    out[1, x] = low_bits((q << p) ^ (1 << p), 8)
''',
    "a_place_that_a_shift_decides": OUT + '''
src = k.plane("src", u8, rows=(0, 1), cols=(0, 24))
p = k.param("p", u8, 0, 4)
with k.stage(x=8) as x:
    out[0, x] = src[0, x + (1 << p)]
''',
    "a_place_that_bits_decide": OUT + '''
src = k.plane("src", u8, rows=(0, 1), cols=(0, 24))
p = k.param("p", i32, -9, 2**31 - 1)
with k.stage(x=8) as x:
    out[0, x] = src[0, x + ((p ^ 5) & 12) + bit(p, 31)]
''',
    "a_place_in_a_plane": OUT + '''
src = k.plane("src", u8, rows=(0, 1), cols=(0, 16))
p = k.param("p", u8, 0, 8)
with k.stage(x=8) as x:
    out[0, x] = src[0, x + p]
''',
    "a_place_in_a_block_that_a_class_clears": OUT + '''
src = k.block("src", u8, (16,))
p = k.param("p", u8, 0, 8)
k.item_class("few", p=(0, 3), nonzero={"src": (8,)})
with k.stage(x=8) as x:
    out[0, x] = src[x + p]
''',
    "a_place_whose_sum_is_wide": OUT + '''
src = k.plane("src", u8, rows=(0, 1), cols=(0, 20))
p = k.param("p", i32, 2**30, 2**30 + 1)
with k.stage(x=8) as x:
    out[0, x] = src[0, x + p + p + p + p - 2**32]
''',
    "a_place_computed_in_64_bits": OUT + '''
src = k.plane("src", u8, rows=(0, 16), cols=(0, 8))
p = k.param("p", i32, 0, 2**31 - 1)
fits = k.assumption("fits", 0, 65535, why="a test")
a = fits(p)
with k.stage(x=8) as x:
    out[0, x] = src[8 + (((a * a) >> 4) >> 28), x]
''',
    "a_lane_is_forwarded": OUT + '''
p = k.param("p", u8, 0, 8)
t = k.temp("t", (2,))
with k.stage(x=1) as x:
    t[x] = k.lane(x) + p
with k.stage(z=1) as z:
    t[z + 1] = k.lane(2 * z + 1) + p
with k.stage(x=8) as x:
    out[0, x] = t[0] + t[1]
''',
    "an_array_parameter_is_forwarded": OUT + '''
p = k.params("p", i16, 4, 0, 8)
t = k.temp("t", (1,))
with k.stage(x=1) as x:
    t[x] = p[x + 1]
with k.stage(x=3) as x:
    out[0, x] = t[0] + p[x]
''',
    "a_class_cuts_lanes_with_values": OUT + '''
c, p = k.block("c", i8, (8,), lo=-9, hi=9), k.params("p", u8, 8, 0, 8)
mode = k.param("mode", u8, 0, 1)
k.item_class("few", mode=(0, 0), nonzero={"c": (1,)})
t = k.temp("t", (8,))
with k.stage(x=8) as x:
    t[x] = c[x] * (k.lane(x) + p[x] + 1)
with k.stage(x=8) as x:
    out[0, x] = clip_u8(t[x] + p[x])
''',
    "reductions": '''
out = k.plane("out", i32, rows=(0, 1), cols=(0, 8), access="out")
src = k.plane("src", i16, rows=(0, 8), cols=(0, 8))
n, on = k.param("n", u8, 0, 8), k.param("on", u8, 0, 1)
with k.stage(y=k.upto(n, 8), x=8, given=on > 0) as (y, x):
    px = src[y, x]
    column = k.sum("column", px * 3, over=y)
    every = k.sum("every", px, start=-7)
    with k.when(px > 0):
        low = k.smallest("low", px, over=[y], start=9000)
        high = k.largest("high", px, over=(y, x), start=-5)
with k.stage(x=8) as x:
    out[0, x] = column[x] + every[0] + low[x] - high[0]
''',
    "accumulation": '''
out = k.plane("out", i32, rows=(0, 1), cols=(0, 8), access="out")
src = k.plane("src", i16, rows=(0, 8), cols=(0, 8))
low, high = k.temp("low", (8,), init=32767), k.temp("high", (8,), init=-32768)
total = k.temp("i", (8,), init=5)
n, on = k.param("n", u8, 0, 8), k.param("on", u8, 0, 1)
with k.stage(y=k.upto(n, 8), x=8, given=on > 0) as (y, x):
    low.accumulate(x, src[y, x], "min")
    with k.when(src[y, x] > 0):
        high.accumulate(x, src[y, x], "max")
    total.accumulate(x, src[y, x])
    total.accumulate(x, -src[y, x] * 3)
with k.stage(x=8) as x:
    out[0, x] = low[x] + high[x] + total[x]
''',
}  # fmt: skip


def _kernel(folder: Path, name: str, body: str) -> Kernel:
    lines = "\n".join("    " + line for line in body.strip("\n").splitlines())
    return kernel_of(folder / name, HEAD.format(name=name) + lines)


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Kernel], Path]:
    """All kernels, and one sanitized check program of them."""
    folder = tmp_path_factory.mktemp("language")
    kernels = {name: _kernel(folder, name, body) for name, body in SPECS.items()}
    made = [
        (k, tuple(
            make_variant(
                emit.environment(), k, options_of("c", c), prod=True, rank=n, spec="a test"
            )
            for n, c in enumerate(k.class_names)
        ))
        for k in kernels.values()
    ]  # fmt: skip
    work = Build(folder, made, sanitize=True, targets=("c",))
    return kernels, work.program(work.devices[0])


@pytest.mark.parametrize("name", SPECS)
def test_c_does_what_the_interpreter_does(build: tuple[dict[str, Kernel], Path], name: str) -> None:
    kernels, program = build
    kernel, (device,) = kernels[name], crosscheck.devices(("c",))
    variants = [variant_name(kernel.id, options_of("c", c)) for c in kernel.class_names]
    for count, seed in ((16, 1), (16, 2), (200, 3)):
        batches = crosscheck.prepare(kernel, count, seed)
        for outcome in crosscheck.check_kernel(kernel, variants, device, program, batches, seed):
            assert outcome.failures == []
            assert outcome.conformant > 0 and outcome.mismatches == outcome.out_of_bounds == 0


def test_a_clip_that_keeps_a_place_inside_stays(tmp_path: Path) -> None:
    """Conformant items do not need it, which passes for other values make use of."""
    kernel = _kernel(tmp_path, "clipped", OUT + '''
src = k.block("src", u8, (8, 8), lo=0, hi=7)
with k.stage(x=8) as x:
    out[0, x] = src[clip(src[0, 0], 2, 7), x]
''')  # fmt: skip
    for target in ("c", "neon"):
        lower(kernel, options_of(target, "full"))


def test_a_value_compared_with_itself_is_decided(tmp_path: Path) -> None:
    kernel = _kernel(tmp_path, "same", OUT + '''
with k.stage(x=8) as x:
    v = out[0, x]
    out[0, x] = select(v > v, 1, select(v <= v, v, 2))
''')  # fmt: skip
    (store,) = kernel.stages[0].stores
    assert store.value.op == "load"


def test_a_place_that_only_a_class_makes_unsafe_is_refused(tmp_path: Path) -> None:
    """In the class the temp needs 7 bits, so that an item that lies about it reads before src."""
    kernel = _kernel(tmp_path, "signed", OUT + '''
src = k.plane("src", u8, rows=(0, 257), cols=(0, 8))
p = k.param("p", u8, 0, 200)
k.item_class("few", p=(0, 100))
t = k.temp("t", (2,))
with k.stage(z=2) as z:
    t[z] = p + k.lane(z)
with k.stage(x=8) as x:
    out[0, x] = src[t[0], x]
''')  # fmt: skip
    lower(kernel, options_of("c", "full"))
    with pytest.raises(SpecError, match="as c_few computes it, .* reads src at row -128") as e:
        lower(kernel, options_of("c", "few"))
    assert "clip()" in e.value.hint and e.value.loc.line > 0
