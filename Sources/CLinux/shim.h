// Calls of Linux that Swift's Glibc module does not declare.
#ifdef __linux__
#include <spawn.h>
#include <sys/auxv.h>
#include <sys/eventfd.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

// unistd.h declares them only if GNU extensions are enabled.
int pipe2(int ends[2], int flags);
int dup3(int file, int to, int flags);

// The same of spawn.h, sys/mman.h and sys/resource.h.
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int first);
int memfd_create(const char *name, unsigned int flags);
int prlimit(pid_t process, int resource, const struct rlimit *limit, struct rlimit *old);

// The same of stdio.h; its flag is in linux/fs.h.
int renameat2(int old_folder, const char *old_name, int new_folder, const char *new_name, unsigned int flags);
static const unsigned int rename_without_replacing = 1;

// When a file was made, which stat(2) does not tell; linux/stat.h declares the types of statx(2).
#include <linux/stat.h>
int statx(int folder, const char *restrict path, int flags, unsigned int mask, struct statx *restrict found);
#endif
