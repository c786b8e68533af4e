// Calls of Linux that Swift's Glibc module does not declare.
#ifdef __linux__
#include <sys/eventfd.h>
#include <sys/vfs.h>

// unistd.h declares it only if GNU extensions are enabled.
int pipe2(int ends[2], int flags);
#endif
