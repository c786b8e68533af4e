/// A library to load before the others (LD_PRELOAD). It lets every folder behave as one of a network file system, NFS: an open
/// file that is removed stays under a name that begins with `.nfs` until it is closed, files cannot be made without a name, and
/// a rename cannot be told to replace nothing.
///
/// Each try to remove a folder adds a line with its name to the file of the variable NFS_LOG. If NFS_BUSY is set, another
/// process has every file open whose name begins with `.nfs`.
///
/// Source: nfs(5); fs/nfs/unlink.c of Linux.
#define _GNU_SOURCE

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PLACE_SIZE 64
#define MOST_KEPT 256

/// A removed file that is still open.
struct kept {
  dev_t device;
  ino_t inode;
  char path[PATH_MAX];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept kept[MOST_KEPT];
static int kept_count;

static void find(void *function, const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (found == NULL) abort();
  memcpy(function, &found, sizeof found);
}

#define REAL(type, name, parameters) \
  static type(*real) parameters;     \
  if (real == NULL) find(&real, #name);

static int really_close(int file) {
  REAL(int, close, (int))
  return real(file);
}

static int really_unlink(int folder, const char *path, int flags) {
  REAL(int, unlinkat, (int, const char *, int))
  return real(folder, path, flags);
}

/// The path of an open file or folder; false if it has none.
static bool path_of(int file, char *path) {
  char link[PLACE_SIZE];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length <= 0) return false;
  path[length] = 0;
  return path[0] == '/';
}

static bool is_same(const struct stat *a, const struct stat *b) { return a->st_dev == b->st_dev && a->st_ino == b->st_ino; }

/// Whether this process has the file open.
static bool is_open(const struct stat *file) {
  DIR *files = opendir("/proc/self/fd");
  if (files == NULL) return false;
  bool found = false;
  for (struct dirent *entry; !found && (entry = readdir(files)) != NULL;) {
    struct stat status;
    found = fstat(atoi(entry->d_name), &status) == 0 && is_same(&status, file);
  }
  closedir(files);
  return found;
}

/// Renames an open file; false if it is not open, and has to be removed.
static bool keep(int folder, const char *path, const struct stat *file) {
  static unsigned int count;
  if (!is_open(file) || kept_count == MOST_KEPT) return false;
  const char *slash = strrchr(path, '/');
  char name[PATH_MAX];
  snprintf(
      name, sizeof name, "%.*s.nfs%08x%08x", slash == NULL ? 0 : (int)(slash - path + 1), path, (unsigned int)getpid(),
      ++count);
  if (renameat(folder, path, folder, name) != 0) return false;
  struct kept *next = &kept[kept_count];
  int now = openat(folder, name, O_PATH | O_CLOEXEC);
  if (now < 0 || !path_of(now, next->path)) abort();
  really_close(now);
  next->device = file->st_dev;
  next->inode = file->st_ino;
  kept_count++;
  return true;
}

static int unlink_entry(int folder, const char *path, int flags) {
  const char *slash = strrchr(path, '/');
  const char *name = slash == NULL ? path : slash + 1;
  if ((flags & AT_REMOVEDIR) != 0) {
    const char *log = getenv("NFS_LOG");
    int file = log == NULL ? -1 : open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0) {
      dprintf(file, "%s\n", name);
      really_close(file);
    }
    return really_unlink(folder, path, flags);
  }
  struct stat status;
  if (fstatat(folder, path, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode)) {
    return really_unlink(folder, path, flags);
  }
  pthread_mutex_lock(&lock);
  int result = 0;
  if (strncmp(name, ".nfs", 4) == 0 && (getenv("NFS_BUSY") != NULL || is_open(&status))) {
    errno = EBUSY;
    result = -1;
  } else if (!keep(folder, path, &status)) {
    result = really_unlink(folder, path, flags);
  }
  pthread_mutex_unlock(&lock);
  return result;
}

int unlinkat(int folder, const char *path, int flags) { return unlink_entry(folder, path, flags); }

int unlink(const char *path) { return unlink_entry(AT_FDCWD, path, 0); }

/// Removes a kept file that is no longer open.
static void closed(const struct stat *file) {
  pthread_mutex_lock(&lock);
  for (int i = 0; i < kept_count; i++) {
    if (kept[i].device != file->st_dev || kept[i].inode != file->st_ino || is_open(file)) continue;
    really_unlink(AT_FDCWD, kept[i].path, 0);
    kept[i] = kept[--kept_count];
    break;
  }
  pthread_mutex_unlock(&lock);
}

int close(int file) {
  struct stat status;
  bool is_file = kept_count > 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  int result = really_close(file);
  if (is_file) closed(&status);
  return result;
}

int dup3(int file, int to, int flags) {
  REAL(int, dup3, (int, int, int))
  struct stat status;
  bool is_file = fstat(to, &status) == 0 && S_ISREG(status.st_mode);
  int result = real(file, to, flags);
  if (is_file) closed(&status);
  return result;
}

/// The process ends, which closes all its files.
__attribute__((destructor)) static void end(void) {
  for (int i = 0; i < kept_count; i++) really_unlink(AT_FDCWD, kept[i].path, 0);
}

#define OPEN(name, before, folder_and_path, type)                          \
  int name before {                                                        \
    REAL(int, name, type)                                                  \
    mode_t mode = 0;                                                       \
    if ((flags & O_TMPFILE) == O_TMPFILE) {                                \
      errno = EOPNOTSUPP;                                                  \
      return -1;                                                           \
    }                                                                      \
    if ((flags & O_CREAT) != 0) {                                          \
      va_list list;                                                        \
      va_start(list, flags);                                               \
      mode = va_arg(list, mode_t);                                         \
      va_end(list);                                                        \
    }                                                                      \
    return real folder_and_path;                                           \
  }

OPEN(open, (const char *path, int flags, ...), (path, flags, mode), (const char *, int, ...))
OPEN(open64, (const char *path, int flags, ...), (path, flags, mode), (const char *, int, ...))
OPEN(openat, (int folder, const char *path, int flags, ...), (folder, path, flags, mode), (int, const char *, int, ...))
OPEN(openat64, (int folder, const char *path, int flags, ...), (folder, path, flags, mode), (int, const char *, int, ...))

int renameat2(int folder, const char *path, int to_folder, const char *to, unsigned int flags) {
  if (flags != 0) {
    errno = EINVAL;
    return -1;
  }
  return renameat(folder, path, to_folder, to);
}
