// The fence around the process, part by part.

#ifndef FENCE_H
#define FENCE_H

#include "cdecoding_wire.h"

#pragma clang assume_nonnull begin

/// Ignores the signals of a terminal and those that control thumbjob: they reach the whole group of processes, and thumbjob
/// decides what to do. Unblocks all signals.
void fence_ignore_signals(void);

/// Whether the stack may grow to `size` bytes. Raises the limit as far as the process may.
bool fence_has_stack(size_t size);

/// Puts up all parts of the fence, as far as the kernel allows it. `faults`: those of a hello.
void fence_raise(int32_t *faults);

/// Makes the kernel kill the process when thumbjob ends. Returns 0 or a value of errno.
int fence_tie_to_lifeline(void);

/// From now on, the kernel kills the process at any system call that decoding does not need. Returns 0 or a value of errno.
int fence_filter_calls(void);

#pragma clang assume_nonnull end

#endif
