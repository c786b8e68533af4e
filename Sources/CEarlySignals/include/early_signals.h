// Blocks the signals that a job handles before `main`, which runs only after the program's other initialisers. A signal
// that came in between would kill the process; blocked, it waits for the listener. There is nothing to call for this.

#pragma once

/// An argument of the process; NULL after the last one. Swift reads them from /proc/self/cmdline, so that without /proc it has
/// none.
const char *_Nullable cearlysignals_argument(int index);
