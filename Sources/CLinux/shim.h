// Linux's own calls, which Swift's Glibc module leaves out.
#ifdef __linux__
#include <sys/eventfd.h>
#include <sys/vfs.h>
#endif
