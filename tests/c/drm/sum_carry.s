# SPDX-License-Identifier: BSD-2-Clause
# sum.s and two instructions, at "uncertain": what C of xor is, no public source says
.uniform 0          # items
.uniform 0          # records
.uniform 0xfffffffc # vec4
.uniform 0          # src
.uniform 0          # table
.uniform 0          # dst
.uniform 0          # threads
.uniform 0xfffffffc # vec4
.uniform 0          # dst_stride
.uniform 0          # src_stride
.uniform 0xfffffffc # vec4
.uniform 0xfffffffc # vec4
.uniform 0xfffffffc # vec4
.uniform 0xfffffffc # vec4
.uniform 0xfffffffc # vec4
.uniform 0xfffffffc # vec4
.uniform 0xfffffffc # vec4
.uniform 0xffffffe0 # back to the loop's first word
    eidx rf0 ; mov rf3, rf3.ul ; ldunifrf.rf6                       # what all trips need, uniform value:items
    shl rf3, rf3, 4
    add rf9, rf3, rf0 ; sub rf8, rf6, 1
    umin rf0, rf9, rf8 ; ldunifrf.rf2                               # record: dst_off, src_off, choice and 0, uniform value:records
    shl rf0, rf0, 4
    nop ; add tmuau, rf2, rf0 ; thrsw                               # uniform 0xfffffffc (vec4)
    nop ; ldunifrf.rf1                                              # what all trips need, uniform value:src
    nop ; ldunifrf.rf5                                              # uniform value:table
    nop ; ldtmu.rf3                                                 # record: dst_off, src_off, choice and 0
    nop ; ldtmu.rf0
    nop ; add rf11, rf1, rf0 ; ldtmu.rf0
    and rf0, rf0, 3                                                 # table
    shl rf0, rf0, 2
    nop ; add tmua, rf5, rf0 ; ldunifrf.rf0                         # uniform value:dst
    nop ; add rf10, rf0, rf3 ; ldunifrf.rf3                         # record: dst_off, src_off, choice and 0, uniform value:threads
    shl rf7, rf3, 4 ; mov tmuau, rf11                               # what all trips need, uniform 0xfffffffc (vec4)
    nop ; add rf9, rf9, rf7 ; thrsw ; ldunifrf.rf3                  # uniform value:dst_stride
    nop ; add rf12, rf10, rf3 ; ldunifrf.rf4                        # row 1, uniform value:src_stride
    nop ; ldtmu.-                                                   # record: dst_off, src_off, choice and 0
loop:
    umin rf13, rf9, rf8 ; ldtmu.rf14                                # record: dst_off, src_off, choice and 0
    nop ; mov tmuau, rf10 ; ldtmu.rf15                              # row 0, uniform 0xfffffffc (vec4)
    nop ; ldtmu.rf16
    nop ; ldtmu.rf17
    nop ; ldtmu.rf18
    nop ; add tmuau, rf11, rf4 ; thrsw                              # row 1, uniform 0xfffffffc (vec4)
    shl rf13, rf13, 4                                               # record: dst_off, src_off, choice and 0
    nop
    nop ; ldtmu.rf11                                                # row 0
    xor.pushc -, rf13, rf13                                         # uncertain
    add.ifa rf14, rf14, 1                                           # uncertain: of the sums
    nop ; add rf15, rf15, rf11 ; ldtmu.rf11                         # sums
    nop ; add rf16, rf16, rf11 ; ldtmu.rf11
    nop ; add rf17, rf17, rf11 ; ldtmu.rf11
    mov tmuau, rf12 ; add rf18, rf18, rf11 ; thrsw ; ldtmu.rf11     # row 1, uniform 0xfffffffc (vec4)
    tmuwt - ; ldtmu.rf19                                            # the last trip's stores
    nop ; ldtmu.rf20                                                # row 1
    nop ; add tmud, rf15, rf14 ; ldtmu.rf15                         # sums
    nop ; add tmud, rf16, rf14 ; ldtmu.rf16
    add tmud, rf17, rf14 ; add rf16, rf11, rf16 ; ldtmu.rf11
    add tmud, rf18, rf14 ; add rf18, rf19, rf11 ; ldtmu.rf11
    mov tmuau, rf10 ; add rf11, rf20, rf11 ; ldtmu.rf10             # uniform 0xfffffffc (vec4)
    add rf13, rf15, rf10 ; add tmuau, rf2, rf13 ; thrsw             # uniform 0xfffffffc (vec4)
    nop
    nop
    nop ; add tmud, rf16, rf14 ; ldtmu.rf16
    add tmud, rf18, rf14 ; add rf10, rf0, rf16 ; ldtmu.rf16
    add tmud, rf11, rf14 ; add rf11, rf1, rf16 ; ldtmu.rf16
    and rf13, rf16, 3 ; add tmud, rf13, rf14                        # table
    shl rf12, rf13, 2 ; mov tmuau, rf12                             # uniform 0xfffffffc (vec4)
    add tmua, rf5, rf12 ; sub.pushc -, rf9, rf6
    mov tmuau, rf11 ; add rf12, rf10, rf3 ; thrsw ; ldtmu.-         # row 0, uniform 0xfffffffc (vec4)
    nop
    nop
    bu.a0 loop, r:unif                                              # next trip
    nop ; add rf9, rf9, rf7
    nop
    nop
    ldtmu.-                                                         # looked up for a trip that there is not
    ldtmu.-                                                         # looked up for a trip that there is not
    ldtmu.-                                                         # looked up for a trip that there is not
    ldtmu.-                                                         # looked up for a trip that there is not
    ldtmu.-                                                         # looked up for a trip that there is not
    thrsw
    thrsw
    nop
    nop
    thrsw
    nop
    nop
