// glibc's own part of its allocator, which Swift's Glibc module leaves out.
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
