# SPDX-License-Identifier: BSD-2-Clause
# A device that makes of an uncertain form of instructions what nobody supposed: sum_carry.s.
carry_elsewhere = 1
