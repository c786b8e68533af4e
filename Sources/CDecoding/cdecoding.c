#include "cdecoding.h"

// The structures have no padding that differs between compilers.
_Static_assert(sizeof(cdecoding_plane) == 40, "a plane has 40 bytes");
_Static_assert(sizeof(cdecoding_extent) == 16, "an extent has 16 bytes");
