// Calls of Linux that Swift's Glibc module does not declare.
#ifdef __linux__
#include <spawn.h>
#include <sys/auxv.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/vfs.h>

// unistd.h declares it only if GNU extensions are enabled.
int pipe2(int ends[2], int flags);

// The same of spawn.h, sys/mman.h and sys/resource.h.
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int first);
int memfd_create(const char *name, unsigned int flags);
int prlimit(pid_t process, int resource, const struct rlimit *limit, struct rlimit *old);
#endif
