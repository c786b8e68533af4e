// The functions of glibc's allocator that Swift's Glibc module does not declare.
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
