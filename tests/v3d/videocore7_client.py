# SPDX-License-Identifier: BSD-2-Clause
"""A client that submits as py-videocore7 does, on the example's way to the node.

Arguments: the number of threads (the dispatcher's batches), and how many words of the result to
print. Standard input: the program's words in hex, one a line. Its uniforms are the address of the
result and the number of threads; the words of the result are printed, one a line.
"""

import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "v3d"))

from node import Buffer, Node

CARD = "/dev/dri/by-path/platform-1002000000.v3d-card"
CODE_AREA, DATA_AREA = 1 << 20, 32 << 20
UNIFORMS, RESULT = CODE_AREA, CODE_AREA + 4096


def words_of(code: int, uniforms: int, threads: int) -> list[int]:
    """py-videocore7's defaults: 16 workgroups of 16, and as many of them a supergroup."""
    groups, size, per_supergroup = (16, 1, 1), 16, 16
    batches = (per_supergroup * size + 15) // 16
    shape = batches - 1 << 12 | per_supergroup << 8 | size
    return [*(g << 16 for g in groups), shape, threads, code, uniforms]


def main() -> None:
    threads, n_results = (int(word) for word in sys.argv[1:])
    code = b"".join(int(line, 16).to_bytes(8, "little") for line in sys.stdin)
    node = Node(CARD)
    memory = Buffer(node, CODE_AREA + DATA_AREA)
    memory.data[: len(code)] = code
    memory.put("II", memory.address + RESULT, threads, at=UNIFORMS)
    node.dispatch(words_of(memory.address, memory.address + UNIFORMS, threads), [memory])
    memory.wait(10)
    for (word,) in struct.iter_unpack("I", memory.data[RESULT : RESULT + 4 * n_results]):
        print(word)
    memory.close()
    node.close()


if __name__ == "__main__":
    main()
