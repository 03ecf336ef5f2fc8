# SPDX-License-Identifier: BSD-2-Clause
# copy, for 2 threads a QPU
.uniform 0          # items
.uniform 0          # threads
.uniform 0          # src
.uniform 0xfffffffc # vec4
.uniform 0          # dst
.uniform 0xfffffffc # vec4
.uniform 0xfffffffc # vec4
.uniform 0xfffffff4 # back to the loop's first word
    eidx rf0 ; mov rf3, rf3.ul ; ldunifrf.rf2                       # what all batches need, uniform value:items
    shl rf3, rf3, 4
    add rf5, rf3, rf0 ; sub rf4, rf2, 1
    umin rf3, rf5, rf4 ; ldunifrf.rf0                               # 16 bytes an element; the last ones again where there are no more, uniform value:threads
    shl rf1, rf3, 4
    shl rf3, rf0, 4 ; mov rf6, rf1                                  # what all batches need
    nop ; add rf5, rf5, rf3 ; ldunifrf.rf0                          # uniform value:src
    nop ; add tmuau, rf0, rf1 ; thrsw                               # 16 bytes an element; the last ones again where there are no more, uniform 0xfffffffc (vec4)
    nop ; ldunifrf.rf1                                              # what all batches need, uniform value:dst
    nop
loop:
    umin rf7, rf5, rf4 ; ldtmu.rf8                                  # 16 bytes an element; the last ones again where there are no more
    shl rf7, rf7, 4 ; sub.pushc -, rf5, rf2
    add tmuau, rf0, rf7 ; add rf5, rf5, rf3 ; thrsw ; ldtmu.rf9     # uniform 0xfffffffc (vec4)
    nop ; ldtmu.rf10
    tmuwt - ; ldtmu.rf11                                            # the last trip's stores
    nop ; mov tmud, rf8                                             # 16 bytes an element; the last ones again where there are no more
    nop ; mov tmud, rf9
    nop ; mov tmud, rf10
    nop ; mov tmud, rf11
    add tmuau, rf1, rf6 ; mov rf6, rf7                              # uniform 0xfffffffc (vec4)
    bu.a0 loop, r:unif                                              # next batch
    nop
    nop
    nop
    ldtmu.-                                                         # looked up for a batch that there is not
    ldtmu.-                                                         # looked up for a batch that there is not
    ldtmu.-                                                         # looked up for a batch that there is not
    ldtmu.-                                                         # looked up for a batch that there is not
    thrsw
    thrsw
    nop
    nop
    thrsw
    nop
    nop

