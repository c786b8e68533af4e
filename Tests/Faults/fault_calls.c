/// The calls about files, sockets, memory and threads that can be disturbed.
#define _GNU_SOURCE

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fault.h"

// Opening

/// A file is created with a mode, which other calls do not pass.
#define MODE_OF(flags)                                                     \
  mode_t mode = 0;                                                         \
  if (((flags) & O_CREAT) != 0 || ((flags) & O_TMPFILE) == O_TMPFILE) {    \
    va_list list;                                                          \
    va_start(list, flags);                                                 \
    mode = va_arg(list, mode_t);                                           \
    va_end(list);                                                          \
  }

/// What only reads is told apart from what a full or read-only disk refuses, and from what some file systems cannot do.
static const char *opening(int flags) {
  if ((flags & O_TMPFILE) == O_TMPFILE) return "create_unnamed";
  return (flags & (O_CREAT | O_WRONLY | O_RDWR)) == 0 ? "open" : "create";
}

#define OPEN(name)                                                                      \
  int name(const char *path, int flags, ...) {                                          \
    REAL(int, name, (const char *, int, ...))                                           \
    MODE_OF(flags)                                                                      \
    char place[PLACE_SIZE];                                                             \
    struct fate fate = fate_of(opening(flags), of_path(AT_FDCWD, path, place), CALLER); \
    if (fate.effect == FAIL) {                                                          \
      errno = (int)fate.value;                                                          \
      return -1;                                                                        \
    }                                                                                   \
    return real(path, flags, mode);                                                     \
  }

#define OPEN_ENTRY(name)                                                                \
  int name(int folder, const char *path, int flags, ...) {                              \
    REAL(int, name, (int, const char *, int, ...))                                      \
    MODE_OF(flags)                                                                      \
    char place[PLACE_SIZE];                                                             \
    struct fate fate = fate_of(opening(flags), of_path(folder, path, place), CALLER);   \
    if (fate.effect == FAIL) {                                                          \
      errno = (int)fate.value;                                                          \
      return -1;                                                                        \
    }                                                                                   \
    return real(folder, path, flags, mode);                                             \
  }

OPEN(open)
OPEN(open64)
OPEN_ENTRY(openat)
OPEN_ENTRY(openat64)

STAND_BEFORE(
    FILE *, NULL, fopen, "open", of_path(AT_FDCWD, path, place), (const char *path, const char *mode), (path, mode))
STAND_BEFORE(DIR *, NULL, opendir, "open", of_path(AT_FDCWD, path, place), (const char *path), (path))
STAND_BEFORE(DIR *, NULL, fdopendir, "fdopendir", of_file(file, place), (int file), (file))
STAND_BEFORE(struct dirent *, NULL, readdir, "readdir", of_file(dirfd(stream), place), (DIR * stream), (stream))

// Transfers

#define TRANSFER(name, call, parameters, arguments)                     \
  ssize_t name parameters {                                             \
    REAL(ssize_t, name, parameters)                                     \
    char place[PLACE_SIZE];                                             \
    struct fate fate = fate_of(call, of_file(file, place), CALLER);     \
    if (fate.effect == FAIL) {                                          \
      errno = (int)fate.value;                                          \
      return -1;                                                        \
    }                                                                   \
    if (fate.effect == END) return 0;                                   \
    if (fate.effect == SHORT && size > 1) size /= 2;                    \
    return real arguments;                                              \
  }

TRANSFER(read, "read", (int file, void *bytes, size_t size), (file, bytes, size))
TRANSFER(write, "write", (int file, const void *bytes, size_t size), (file, bytes, size))
TRANSFER(pread, "pread", (int file, void *bytes, size_t size, off_t at), (file, bytes, size, at))
TRANSFER(pread64, "pread", (int file, void *bytes, size_t size, off_t at), (file, bytes, size, at))
TRANSFER(pwrite, "pwrite", (int file, const void *bytes, size_t size, off_t at), (file, bytes, size, at))
TRANSFER(pwrite64, "pwrite", (int file, const void *bytes, size_t size, off_t at), (file, bytes, size, at))
TRANSFER(send, "write", (int file, const void *bytes, size_t size, int flags), (file, bytes, size, flags))
TRANSFER(recv, "recv", (int file, void *bytes, size_t size, int flags), (file, bytes, size, flags))

/// Cut to its first part.
ssize_t writev(int file, const struct iovec *parts, int count) {
  REAL(ssize_t, writev, (int, const struct iovec *, int))
  char place[PLACE_SIZE];
  struct fate fate = fate_of("write", of_file(file, place), CALLER);
  if (fate.effect == FAIL) {
    errno = (int)fate.value;
    return -1;
  }
  if (fate.effect == SHORT && count > 0) {
    struct iovec first = parts[0];
    if (first.iov_len > 1) first.iov_len /= 2;
    return real(file, &first, 1);
  }
  return real(file, parts, count);
}

/// A failing close closes the file all the same, as that of Linux does.
int close(int file) {
  REAL(int, close, (int))
  char place[PLACE_SIZE];
  struct fate fate = fate_of("close", of_file(file, place), CALLER);
  int result = real(file);
  if (fate.effect != FAIL) return result;
  errno = (int)fate.value;
  return -1;
}

ON_FILE(fsync, (int file), (file))
ON_FILE(ftruncate, (int file, off_t size), (file, size))
ON_FILE(flock, (int file, int operation), (file, operation))
ON_FILE(futimens, (int file, const struct timespec times[2]), (file, times))
ON_FILE(fchmod, (int file, mode_t mode), (file, mode))
ON_FILE(fstat, (int file, struct stat *status), (file, status))
STAND_BEFORE(
    int, -1, fstat64, "fstat", of_file(file, place), (int file, struct stat64 *status), (file, status))

// Names

ON_PATH(stat, (const char *path, struct stat *status), (path, status))
STAND_BEFORE(
    int, -1, lstat, "stat", of_path(AT_FDCWD, path, place), (const char *path, struct stat *status), (path, status))
STAND_BEFORE(
    int, -1, fstatat, "stat", of_path(folder, path, place),
    (int folder, const char *path, struct stat *status, int flags), (folder, path, status, flags))
ON_PATH(statfs, (const char *path, struct statfs *status), (path, status))
ON_PATH(access, (const char *path, int mode), (path, mode))
ON_PATH(chmod, (const char *path, mode_t mode), (path, mode))
ON_PATH(mkdir, (const char *path, mode_t mode), (path, mode))
STAND_BEFORE(
    int, -1, mkdirat, "mkdir", of_path(folder, path, place), (int folder, const char *path, mode_t mode),
    (folder, path, mode))
ON_PATH(rmdir, (const char *path), (path))
ON_PATH(unlink, (const char *path), (path))
STAND_BEFORE(
    int, -1, unlinkat, "unlink", of_path(folder, path, place), (int folder, const char *path, int flags),
    (folder, path, flags))
STAND_BEFORE(
    int, -1, rename, "rename", of_rename(AT_FDCWD, path, AT_FDCWD, to, place), (const char *path, const char *to),
    (path, to))
ON_ENTRY(
    utimensat, (int folder, const char *path, const struct timespec times[2], int flags), (folder, path, times, flags))
STAND_BEFORE(
    int, -1, renameat, "rename", of_rename(folder, path, to_folder, to, place),
    (int folder, const char *path, int to_folder, const char *to), (folder, path, to_folder, to))
/// The place is the new name, because a file that gets its first one has no other.
STAND_BEFORE(
    int, -1, linkat, "linkat", of_path(to_folder, to, place),
    (int folder, const char *path, int to_folder, const char *to, int flags), (folder, path, to_folder, to, flags))
STAND_BEFORE(
    ssize_t, -1, readlink, "readlink", of_path(AT_FDCWD, path, place), (const char *path, char *text, size_t size),
    (path, text, size))
STAND_BEFORE(char *, NULL, getcwd, "getcwd", "process", (char *text, size_t size), (text, size))
STAND_BEFORE(
    char *, NULL, realpath, "realpath", of_path(AT_FDCWD, path, place), (const char *path, char *text), (path, text))

// Sockets and events

ON_PROCESS(socket, (int family, int type, int protocol), (family, type, protocol))
ON_PROCESS(epoll_create, (int size), (size))
ON_PROCESS(epoll_create1, (int flags), (flags))
ON_PROCESS(eventfd, (unsigned int value, int flags), (value, flags))
ON_PROCESS(timerfd_create, (int clock, int flags), (clock, flags))
ON_PROCESS(pipe, (int files[2]), (files))
ON_PROCESS(pipe2, (int files[2], int flags), (files, flags))
ON_PROCESS(poll, (struct pollfd * files, nfds_t count, int timeout), (files, count, timeout))
ON_FILE(bind, (int file, const struct sockaddr *address, socklen_t size), (file, address, size))
ON_FILE(listen, (int file, int backlog), (file, backlog))
ON_FILE(accept, (int file, struct sockaddr *address, socklen_t *size), (file, address, size))
ON_FILE(accept4, (int file, struct sockaddr *address, socklen_t *size, int flags), (file, address, size, flags))
ON_FILE(shutdown, (int file, int how), (file, how))
ON_FILE(getsockname, (int file, struct sockaddr *address, socklen_t *size), (file, address, size))
ON_FILE(epoll_ctl, (int file, int operation, int on, struct epoll_event *event), (file, operation, on, event))
ON_FILE(epoll_wait, (int file, struct epoll_event *events, int count, int timeout), (file, events, count, timeout))
ON_FILE(
    timerfd_settime, (int file, int flags, const struct itimerspec *value, struct itimerspec *old),
    (file, flags, value, old))

// Memory, threads, limits

STAND_BEFORE(
    void *, MAP_FAILED, mmap, "mmap", file < 0 ? "memory" : of_file(file, place),
    (void *start, size_t size, int protection, int flags, int file, off_t at), (start, size, protection, flags, file, at))
ON_PROCESS(madvise, (void *start, size_t size, int advice), (start, size, advice))
ON_PROCESS(getrlimit, (__rlimit_resource_t resource, struct rlimit *limit), (resource, limit))
ON_PROCESS(setrlimit, (__rlimit_resource_t resource, const struct rlimit *limit), (resource, limit))

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
  REAL(int, pthread_create, (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))
  struct fate fate = fate_of("pthread_create", "process", CALLER);
  if (fate.effect == FAIL) return (int)fate.value;
  return real(thread, attributes, body, argument);
}
