# SPDX-License-Identifier: BSD-2-Clause
# A Raspberry Pi 5, with every setting that there is at its default: to copy, and to change.
# docs/v3d-simulator.md and docs/v3d-arithmetic.md say what is known of each.

# The board.
slices = 3                         # slices of the core
qpus_per_slice = 4                 # QPUs a slice
core0_ident0 = 0x07443356          # identification word 0 of core 0
core0_ident1 = 0x81001431          # the same, 1; bits 11:4 are those of the board
hub_ident3 = 0x00020a10            # identification word 3 of the hub: revision

# Points that no public source settles.
carry_of_max = 1                   # C of max, umin, umax: 1 a > b as for min, 0 always clear
carry_elsewhere = 0                # C of operations for which none is known: 0 clear, 1 set
faddnf_flushes = 0                 # faddnf: 0 as fadd, 1 denormal sums become zero
negative_zero_is_zero = 1          # Z of float results: 1 set for -0.0, 0 only for +0.0
negative_zero_is_negative = 1      # N of float results: 1 set for -0.0, 0 not
fmin_nan = 0                       # fmin and fmax with one NaN: 0 the other operand, 1 NaN
float_to_int_saturates = 1         # ftoin, ftoiz, ftouz out of range: 1 nearest, 0 zero
f16_denormals = 1                  # f16 values: 1 denormals are kept, 0 flushed to zero
flags_of_halves = 0                # flags of 2 x f16: 0 both halves, 1 the low one, 2 the high one
sfu_significand_bits = 24          # bits to which SFU results are rounded, 24 all of fp32
clz_of_zero = 32                   # clz(0)
nnmode_first_letter_is_a = 1       # setnnmode_xy: 1 x is source a, 0 x is source b
nnmode_at_start = 0                # v8dot mode at thread start: 0 uu, 1 su, 2 us, 3 ss
nnmode_same_instruction = 1        # setnnmode acts on v8dot of the same instruction
flags_stay = 1                     # A and B after a thread switch: 1 as before, 0 lost (inverted)
register_branch_lane = 0           # lane whose value a branch to a register takes
link_when_not_taken = 0            # set_link of a branch not taken: 1 sets the link register
# Uniform branch to a register: 1 bits 2:0 of it are ignored, 0 bits 1:0.
register_stream_ignores_bit_2 = 1
flpop_restores = 1                 # flpop: 1 restores A from the popped bits, 0 leaves the flags
msf_of_active_lane = 1             # msf in a dispatched lane
tmu_signed_extends = 1             # i8 and i16 loads: 1 sign-extend, 0 zero-extend
tmu_unaligned_halves = 0           # misaligned 16-bit access: 1 works, 0 is reported
tmu_store_conflict_last_lane = 1   # lanes storing to one address: 1 highest wins, 0 lowest
# Stores with fewer data words than their type: 1 write those, 0 are reported.
tmu_short_stores = 1
# Per-quad lookups: 2 each lane its address, 1 that of the quad's lane 0, 0 reported.
quad_mode = 2
uniforms_see_stores = 0            # uniform reads: 0 memory as at job start, 1 as it is now
# Barriers: 1 the supergroup's batches that have ended count as there, 0 they do not.
ended_batches_arrive = 1

# Bounds of a simulated job.
max_slots = 2000000000             # instructions of one thread before it counts as endless
max_job_slots = 4294967295         # instructions of all threads of a job, likewise

# The timing model: docs/v3d-timing.md says where each comes from.
clock_mhz = 960                    # clock of the GPU in MHz
sfu_result_slots = 2               # slots until an SFU-class result can be read
sfu_slice_clocks = 4               # clocks that an SFU-class operation takes of its slice; 0: none
rep_result_slots = 1               # slots until what was written to rep or quad can be read
sfu_issue_slots = 1                # slots from one SFU-class operation to the next of a QPU
tmu_word_eighths = 8               # eighths of a clock that a TMU takes for a word of a lane
tmu_merges_words = 0               # 1: lanes of a lookup that share a 32-bit word take it once
tmu_line_clocks = 1                # clocks a TMU takes for a line, where words take less
tmu_fill_clocks = 4                # clocks between two lines that a TMU's cache takes in
tmu_hit_clocks = 70                # from a TMU's cache to the QPU
tmu_cache_bytes = 8192             # cache of a slice's TMU; 0: none
cache_spreads_strides = 1          # 1: lines powers of two apart lie in different sets
l2t_clocks = 30                    # from the L2T cache to a slice
l2t_line_clocks = 1                # clocks that the L2T is busy with a line
l2t_bytes = 262144                 # L2T cache; 0: none
memory_ns = 80                     # from memory to the L2T
memory_mb_per_s = 11200            # memory bandwidth, reads and writes, in 10^6 bytes/s
uniform_cache_bytes = 4096         # cache of a slice's uniforms; 0: none
barrier_clocks = 16                # from the last batch at a barrier until all go on
batch_clocks = 16                  # from one batch that is started to the next
supergroup_clocks = 0              # more, for the first batch of a supergroup
supergroups_in_flight = 2          # supergroups that run at once
job_ns = 32900                     # what the kernel and the queue add to a dispatch
submit_ns = 22700                  # what the kernel adds to a submission
reset_ms = 500                     # modelled time without progress that ends a job; 0: any
