// Linux's own calls, which Swift's Glibc module leaves out.
#ifdef __linux__
#include <sys/eventfd.h>
#include <sys/vfs.h>

// Declared by unistd.h for those only who ask for GNU names.
int pipe2(int ends[2], int flags);
#endif
