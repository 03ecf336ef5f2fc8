# SPDX-License-Identifier: BSD-2-Clause
"""Identifiers of GLSL."""

from daedalus.generator.targets.c.scalar import Names

# Words that GLSL reserves, or that a generated shader uses itself.
RESERVED = tuple(
    "active asm atomic_uint attribute barrier bool buffer bvec2 bvec3 bvec4 cast centroid class"
    " coherent common discard dvec2 dvec3 dvec4 enum external false filter fixed flat fvec2 fvec3"
    " fvec4 half highp hvec2 hvec3 hvec4 in inline inout input interface invariant ivec2 ivec3"
    " ivec4 layout lowp main mat2 mat3 mat4 mediump namespace noinline noperspective out output"
    " partition patch precise precision public readonly resource restrict sample sampler shared"
    " smooth subroutine superp template this true uint uniform using uvec2 uvec3 uvec4 varying vec2"
    " vec3 vec4 volatile writeonly abs clamp min max mix sign floor step dot cross length"
    " first n_items live slot lane record push zero WORKGROUP ITEMS".split()
)


def names(taken: tuple[str, ...] = ()) -> Names:
    """Fresh identifiers that no word of the language takes."""
    return Names((*RESERVED, *taken))
