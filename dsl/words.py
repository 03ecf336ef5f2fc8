# SPDX-License-Identifier: BSD-2-Clause
"""Words that declared names may not be, as they mean something else in what is generated."""

# Declared names become C names: words of C, and the other arguments of the generated functions.
TAKEN = frozenset(
    "auto bool break case char const continue default do double else enum extern false float for"
    " goto if inline int long register restrict return short signed sizeof static struct switch"
    " true typedef union unsigned void volatile while asm batch ctx meta meta_step"
    " substrate".split()
)
TAKEN |= {"I", "NULL", "EOF", "errno", "assert", "stdin", "stdout", "stderr"}  # macros
TAKEN |= {f"{u}int{n}_t" for u in ("", "u") for n in (8, 16, 32, 64)} | {"size_t", "ptrdiff_t"}
# What programs of GPUs get besides buffers and their strides.
TAKEN |= {"items", "records", "scratch", "threads"}

# Temps are arrays of shaders, by their names.
OF_SHADERS = frozenset(
    "active asm atomic_uint attribute barrier bool buffer bvec2 bvec3 bvec4 cast centroid class"
    " coherent common discard dvec2 dvec3 dvec4 enum external false filter fixed flat fvec2 fvec3"
    " fvec4 half highp hvec2 hvec3 hvec4 in inline inout input interface invariant ivec2 ivec3"
    " ivec4 layout lowp main mat2 mat3 mat4 mediump namespace noinline noperspective out output"
    " partition patch precise precision public readonly resource restrict sample sampler shared"
    " smooth subroutine superp template this true uint uniform using uvec2 uvec3 uvec4 varying vec2"
    " vec3 vec4 volatile writeonly abs clamp min max mix sign floor step dot cross length".split()
)
