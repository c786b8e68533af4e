/// The calls about decoder processes that can be disturbed. Those processes themselves are not: thumbjob passes no
/// LD_PRELOAD on to them, and behind their fence the library could not even write its log.
#define _GNU_SOURCE

#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "fault.h"

ON_PROCESS(socketpair, (int family, int type, int protocol, int files[2]), (family, type, protocol, files))
ON_PROCESS(memfd_create, (const char *name, unsigned int flags), (name, flags))
ON_PROCESS(
    prlimit, (pid_t process, enum __rlimit_resource resource, const struct rlimit *new, struct rlimit *old),
    (process, resource, new, old))
STAND_BEFORE(
    ssize_t, -1, sendmsg, "sendmsg", of_file(file, place), (int file, const struct msghdr *message, int flags),
    (file, message, flags))

/// Returns the error, and does not set errno.
int posix_spawn(
    pid_t *process, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
    char *const words[], char *const environment[]) {
  REAL(
      int, posix_spawn,
      (pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[],
       char *const[]))
  char place[PLACE_SIZE];
  struct fate fate = fate_of("posix_spawn", of_path(AT_FDCWD, path, place), CALLER);
  if (fate.effect == FAIL) return (int)fate.value;
  return real(process, path, actions, attributes, words, environment);
}

/// Only the seals of shared memory can be disturbed.
#define FCNTL(name)                                                           \
  int name(int file, int command, ...) {                                      \
    REAL(int, name, (int, int, ...))                                          \
    va_list list;                                                             \
    va_start(list, command);                                                  \
    void *argument = va_arg(list, void *);                                    \
    va_end(list);                                                             \
    if (command == F_ADD_SEALS) {                                             \
      char place[PLACE_SIZE];                                                 \
      struct fate fate = fate_of("add_seals", of_file(file, place), CALLER);  \
      if (fate.effect == FAIL) {                                              \
        errno = (int)fate.value;                                              \
        return -1;                                                            \
      }                                                                       \
    }                                                                         \
    return real(file, command, argument);                                     \
  }

FCNTL(fcntl)
FCNTL(fcntl64)
