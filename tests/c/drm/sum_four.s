# sum, for 4 threads a QPU, made by generator/targets/qpu
.uniform 0 # items
.uniform 0 # records
.uniform 0 # threads
.uniform 0xfffffffb # vec3
.uniform 0 # dst
.uniform 0 # src
.uniform 0 # table
.uniform 0 # dst_stride
.uniform 0 # src_stride
.uniform 0xfffffffa # vec2
.uniform 0xfffffffa # vec2
.uniform 0xfffffffa # vec2
.uniform 0xfffffffa # vec2
.uniform 0xfffffffb # vec3
.uniform 0xffffffe8 # back to the loop's first word
    eidx rf3 ; mov rf0, rf3.ul ; ldunifrf.rf1                       # workgroup | uniform value:items
    shl rf0, rf0, 4
    add rf0, rf0, rf3 ; sub rf1, rf1, 1
    shl rf0, rf0, 4
    shl rf1, rf1, 4
    nop ; ldunifrf.rf3                                              # uniform value:records
    add rf2, rf3, rf0 ; add rf0, rf3, rf1 ; ldunifrf.rf1            # uniform value:threads
    umin tmuau, rf2, rf0 ; thrsw                                    # the item's record | uniform 0xfffffffb (vec3)
    shl rf1, rf1, 8
    nop ; add rf3, rf2, rf1 ; ldunifrf.rf5                          # the item's record | 18 load dst | uniform value:dst
    nop ; ldtmu.rf4                                                 # the item's record
    nop ; add rf6, rf5, rf4 ; ldtmu.rf4                             # 18 load dst | the item's record
    nop ; ldunifrf.rf7                                              # 18 load src | uniform value:src
    nop ; ldunifrf.rf8                                              # 15 a | uniform table:table
    nop ; ldunifrf.rf9                                              # 18 load dst | uniform value:dst_stride
    nop ; ldunifrf.rf10                                             # 18 load src | uniform value:src_stride
loop:
    tmuwt - ; add rf11, rf7, rf4 ; ldtmu.rf4                        # 18 load src | the item's record
    shl rf4, rf4, 2 ; mov tmua, rf6                                 # 15 a | 18 load dst
    mov tmuau, rf11 ; add rf12, rf11, rf10 ; thrsw                  # 18 load src | uniform 0xfffffffa (vec2)
    add tmua, rf8, rf4 ; sub rf4, rf6, -4                           # 15 a | 18 load dst
    nop ; sub rf13, rf6, -8                                         # 18 load dst
    nop ; thrsw ; ldtmu.rf14                                        # 18 load dst
    nop ; mov tmua, rf4 ; ldtmu.rf15                                # 18 load dst | 18 load src
    add rf15, rf14, rf15 ; mov tmua, rf13 ; ldtmu.rf14              # 18 add | 18 load dst | 18 load src
    sub.pushc -, rf0, rf2 ; sub rf16, rf6, -12                      # 18 store dst | 18 load dst
    nop ; mov rf2, rf3 ; thrsw ; ldtmu.rf17                         # next trip | 15 a
    tmuwt - ; sub tmuau, rf11, -8                                   # the last trip's stores | 18 load src | uniform 0xfffffffa (vec2)
    nop
    nop ; add tmud, rf15, rf17 ; ldtmu.rf15                         # 18 store dst | 18 load dst
    mov.ifna tmua, rf6 ; add rf14, rf15, rf14 ; thrsw               # 18 store dst | 18 add
    nop ; mov tmua, rf16                                            # 18 load dst
    nop
    nop ; add tmud, rf14, rf17 ; ldtmu.rf14                         # 18 store dst | 18 load dst
    nop ; mov.ifna tmua, rf4 ; thrsw                                # 18 store dst
    nop ; add tmua, rf6, rf9 ; ldtmu.rf15                           # 18 load dst | 18 load src
    nop ; add rf15, rf14, rf15 ; ldtmu.rf14                         # 18 add | 18 load src
    nop ; add tmud, rf15, rf17 ; ldtmu.rf15                         # 18 store dst | 18 load dst
    mov.ifna tmua, rf13 ; add rf14, rf15, rf14                      # 18 store dst | 18 add
    add tmud, rf14, rf17 ; sub.pushc -, rf0, rf3                    # 18 store dst | whether there is a trip more
    mov.ifnb tmua, rf16 ; add rf3, rf2, rf1                         # 18 store dst | the item's record
    nop ; mov tmuau, rf12 ; thrsw                                   # 18 load src | uniform 0xfffffffa (vec2)
    nop ; add tmua, rf4, rf9                                        # 18 load dst
    nop
    nop ; thrsw ; ldtmu.rf14                                        # 18 load dst
    nop ; add tmua, rf13, rf9 ; ldtmu.rf15                          # 18 load dst | 18 load src
    nop ; add rf15, rf14, rf15 ; ldtmu.rf14                         # 18 add | 18 load src
    nop ; add tmud, rf15, rf17 ; ldtmu.rf15                         # 18 store dst | 18 load dst
    add.ifnb tmua, rf6, rf9 ; add rf6, rf15, rf14                   # 18 store dst | 18 add
    nop ; add tmud, rf6, rf17                                       # 18 store dst
    nop ; add.ifnb tmua, rf4, rf9                                   # 18 store dst
    nop ; sub tmuau, rf12, -8                                       # 18 load src | uniform 0xfffffffa (vec2)
    tmuwt - ; thrsw
    nop ; add tmua, rf16, rf9                                       # 18 load dst
    nop
    nop ; thrsw ; ldtmu.rf12                                        # 18 load dst
    nop ; ldtmu.rf4                                                 # 18 load src
    nop ; add rf12, rf12, rf4 ; ldtmu.rf4                           # 18 add | 18 load src
    umin tmuau, rf2, rf0 ; thrsw ; ldtmu.rf6                        # the item's record | 18 load dst | uniform 0xfffffffb (vec3)
    nop ; add rf4, rf6, rf4                                         # 18 add
    nop
    nop ; add tmud, rf12, rf17 ; ldtmu.rf12                         # 18 store dst | the item's record
    bu.anyna loop, r:unif                                           # next trip
    add.ifnb tmua, rf13, rf9 ; add rf6, rf5, rf12                   # 18 store dst | 18 load dst
    nop ; add tmud, rf4, rf17 ; ldtmu.rf4                           # 18 store dst | the item's record
    nop ; add.ifnb tmua, rf16, rf9                                  # 18 store dst
    ldtmu.-                                                         # looked up for a trip that there is not
    thrsw
    thrsw
    nop
    nop
    thrsw
    nop
    nop
