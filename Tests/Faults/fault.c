/// A library to load before the others (LD_PRELOAD). It logs the calls of a program into the C library, and lets chosen
/// ones fail, transfer less, or wait.
///
/// FAULT_LOG is the path of the log. Each call is a line `call TAB place TAB caller`, where the place is the file, or the
/// kind of descriptor, that the call is about. A call that was disturbed is preceded by a line that begins with `!`.
///
/// FAULTS has one rule a line: `call first last effect value pattern`. It applies to the calls of this name (or any, for
/// `*`) whose place matches the pattern (fnmatch), from the first-th to the last-th of them. Effects:
/// - `error`: the call fails with this errno.
/// - `short`: a transfer is cut to half of its bytes, or one.
/// - `end`: a read finds the end of the file.
/// - `jump`: the clock is this many seconds ahead from now on.
/// - `wait`: the call waits, until the program that tests has written a byte to the first descriptor of FAULT_GATE. A byte
///   on the second tells it that the call waits.
#define _GNU_SOURCE

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define MOST_RULES 64
#define PLACE_SIZE 4096
/// A clock that is read all the time would fill the log. Its first calls are enough to learn who reads it.
#define MOST_CLOCK_LINES 2000

enum effect { NONE, FAIL, SHORT, END, JUMP, WAIT };

struct rule {
  char call[32];
  long first, last;
  enum effect effect;
  long value;
  char pattern[PLACE_SIZE];
  atomic_long seen;
};

static struct rule rules[MOST_RULES];
static int rule_count;
static int log_file = -1;
static int gate[2] = {-1, -1};
static atomic_long clock_lines;
static atomic_long jumps[16];

/// What happens to a call.
struct fate {
  enum effect effect;
  long value;
};

static enum effect effect_of(const char *name) {
  static const char *const names[] = {"none", "error", "short", "end", "jump", "wait"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(name, names[i]) == 0) return (enum effect)i;
  }
  // A rule with a typing mistake must not look like a program that stands any fault.
  fprintf(stderr, "fault: no such effect: %s\n", name);
  _exit(99);
}

static void read_rules(const char *text) {
  while (*text != '\0') {
    struct rule *rule = &rules[rule_count];
    char effect[16];
    int length = 0;
    int count = sscanf(
        text, "%31s %ld %ld %15s %ld %4095[^\n]%n", rule->call, &rule->first, &rule->last, effect, &rule->value,
        rule->pattern, &length);
    if (count != 6 || rule_count == MOST_RULES - 1) {
      fprintf(stderr, "fault: a rule is wrong, or there are too many: %s\n", text);
      _exit(99);
    }
    rule->effect = effect_of(effect);
    rule_count++;
    text += length;
    if (*text == '\n') text++;
  }
}

__attribute__((constructor)) static void start(void) {
  const char *path = getenv("FAULT_LOG"), *text = getenv("FAULTS"), *ends = getenv("FAULT_GATE");
  if (path != NULL) {
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    // Out of the way: the program's own descriptors should have the numbers that they usually have.
    log_file = (int)syscall(SYS_fcntl, file, F_DUPFD_CLOEXEC, 500);
    syscall(SYS_close, file);
    if (log_file < 0) _exit(99);
  }
  if (ends != NULL && sscanf(ends, "%d %d", &gate[0], &gate[1]) != 2) _exit(99);
  if (text != NULL) read_rules(text);
}

// Places

/// What a descriptor is: the path of its file, or its kind, such as `socket:[123]`.
static const char *of_file(int file, char *place) {
  if (file == STDOUT_FILENO) return "stdout";
  if (file == STDERR_FILENO) return "stderr";
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  long length = syscall(SYS_readlinkat, AT_FDCWD, link, place, (size_t)PLACE_SIZE - 1);
  if (length < 0) return "no file";
  place[length] = '\0';
  return place;
}

static const char *of_path(int folder, const char *path, char *place) {
  char start[PLACE_SIZE] = "";
  if (path == NULL) return "no path";
  if (path[0] == '/') return path;
  if (folder == AT_FDCWD) {
    if (syscall(SYS_getcwd, start, sizeof start) < 0) start[0] = '\0';
  } else {
    of_file(folder, start);
  }
  if (snprintf(place, PLACE_SIZE, "%s/%s", start, path) >= PLACE_SIZE) return "too long";
  return place;
}

/// Both paths, because they tell what is put in place from what is moved elsewhere.
static const char *of_rename(int folder, const char *path, int to_folder, const char *to, char *place) {
  char from_place[PLACE_SIZE], to_place[PLACE_SIZE];
  const char *from = of_path(folder, path, from_place);
  if (snprintf(place, PLACE_SIZE, "%s -> %s", from, of_path(to_folder, to, to_place)) >= PLACE_SIZE) return "too long";
  return place;
}

static const char *of_clock(clockid_t clock) {
  static const char *const names[] = {"real", "monotonic", "process", "thread", "raw", "real", "monotonic", "boot"};
  return clock >= 0 && (size_t)clock < sizeof names / sizeof *names ? names[clock] : "other";
}

// Fates

static void write_line(const char *mark, const char *call, const char *place, const void *caller) {
  Dl_info info = {0};
  const char *module = "?";
  long offset = 0;
  if (dladdr(caller, &info) != 0 && info.dli_fname != NULL) {
    const char *slash = strrchr(info.dli_fname, '/');
    module = slash == NULL ? info.dli_fname : slash + 1;
    offset = (const char *)caller - (const char *)info.dli_fbase;
  }
  char line[PLACE_SIZE + 256];
  int length = snprintf(line, sizeof line, "%s%s\t%s\t%s+%lx\n", mark, call, place, module, offset);
  if (length > 0) syscall(SYS_write, log_file, line, (size_t)length);
}

/// Tells the testing program that a call waits, and waits for its answer.
static void wait_at_gate(void) {
  char byte = 0;
  syscall(SYS_write, gate[1], &byte, (size_t)1);
  while (syscall(SYS_read, gate[0], &byte, (size_t)1) < 0 && errno == EINTR) {}
}

static struct fate fate_of(const char *call, const char *place, const void *caller) {
  int before = errno;
  struct fate fate = {NONE, 0};
  // Each rule counts the calls for itself. The first that applies decides.
  for (int i = 0; i < rule_count; i++) {
    struct rule *rule = &rules[i];
    if (strcmp(rule->call, "*") != 0 && strcmp(rule->call, call) != 0) continue;
    if (fnmatch(rule->pattern, place, 0) != 0) continue;
    long number = atomic_fetch_add(&rule->seen, 1) + 1;
    if (fate.effect != NONE || number < rule->first || number > rule->last) continue;
    fate.effect = rule->effect;
    fate.value = rule->value;
  }
  if (log_file >= 0) {
    if (fate.effect != NONE) write_line("!", call, place, caller);
    bool is_clock = strcmp(call, "clock") == 0;
    if (!is_clock || atomic_fetch_add(&clock_lines, 1) < MOST_CLOCK_LINES) write_line("", call, place, caller);
  }
  if (fate.effect == WAIT) wait_at_gate();
  errno = before;
  return fate;
}

/// Finds the function that this library stands before.
static void find(void *function, const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (found == NULL) _exit(99);
  memcpy(function, &found, sizeof found);
}

#define CALLER __builtin_return_address(0)

/// Declares `real`, the function of the C library.
#define REAL(type, name, parameters)     \
  static type(*_Atomic known) parameters; \
  type(*real) parameters = known;         \
  if (real == NULL) {                     \
    find(&real, #name);                   \
    known = real;                         \
  }

/// A function that fails with `failure` and errno.
#define STAND_BEFORE(type, failure, name, call, where, parameters, arguments) \
  type name parameters {                                                      \
    REAL(type, name, parameters)                                              \
    char place[PLACE_SIZE];                                                   \
    struct fate fate = fate_of(call, where, CALLER);                          \
    (void)place;                                                              \
    if (fate.effect == FAIL) {                                                \
      errno = (int)fate.value;                                                \
      return failure;                                                         \
    }                                                                         \
    return real arguments;                                                    \
  }

#define ON_FILE(name, parameters, arguments) \
  STAND_BEFORE(int, -1, name, #name, of_file(file, place), parameters, arguments)
#define ON_PATH(name, parameters, arguments) \
  STAND_BEFORE(int, -1, name, #name, of_path(AT_FDCWD, path, place), parameters, arguments)
#define ON_ENTRY(name, parameters, arguments) \
  STAND_BEFORE(int, -1, name, #name, of_path(folder, path, place), parameters, arguments)
#define ON_PROCESS(name, parameters, arguments) \
  STAND_BEFORE(int, -1, name, #name, "process", parameters, arguments)

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
TRANSFER(recv, "read", (int file, void *bytes, size_t size, int flags), (file, bytes, size, flags))

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

// Clocks

/// The seconds that a clock is ahead.
static long ahead(clockid_t clock, const void *caller) {
  struct fate fate = fate_of("clock", of_clock(clock), caller);
  // The coarse clocks jump with the others.
  clockid_t same = clock == CLOCK_REALTIME_COARSE ? CLOCK_REALTIME : clock;
  if (same < 0 || same >= (clockid_t)(sizeof jumps / sizeof *jumps)) return 0;
  if (fate.effect == JUMP) atomic_store(&jumps[same], fate.value);
  return atomic_load(&jumps[same]);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  REAL(int, clock_gettime, (clockid_t, struct timespec *))
  int result = real(clock, time);
  if (result == 0) time->tv_sec += ahead(clock, CALLER);
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  REAL(int, gettimeofday, (struct timeval *, void *))
  int result = real(time, zone);
  if (result == 0) time->tv_sec += ahead(CLOCK_REALTIME, CALLER);
  return result;
}

time_t time(time_t *place) {
  REAL(time_t, time, (time_t *))
  time_t now = real(NULL) + ahead(CLOCK_REALTIME, CALLER);
  if (place != NULL) *place = now;
  return now;
}

/// The end of the next slice of a wait until this time of the clock that jumps, by the kernel's clock. A wait consists of
/// slices, because a jump shortens or lengthens it while it goes on, as that of the kernel's clock would. Sets `is_last` if
/// the wait ends with the slice.
static struct timespec slice(const struct timespec *until, bool *is_last) {
  struct timespec now, end = *until;
  syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
  end.tv_sec -= atomic_load(&jumps[CLOCK_REALTIME]);
  now.tv_nsec += 20000000;
  if (now.tv_nsec >= 1000000000) {
    now.tv_sec++;
    now.tv_nsec -= 1000000000;
  }
  *is_last = end.tv_sec < now.tv_sec || (end.tv_sec == now.tv_sec && end.tv_nsec <= now.tv_nsec);
  return *is_last ? end : now;
}

/// Whether the end of a wait is a time of the clock that people set, and not of the one that counts from the start of the
/// machine: it is nearer to the present time of the former. A condition does not say which of them it goes by.
static bool is_of_the_day(const struct timespec *until) {
  struct timespec day, start;
  syscall(SYS_clock_gettime, CLOCK_REALTIME, &day);
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &start);
  day.tv_sec += atomic_load(&jumps[CLOCK_REALTIME]);
  return labs(until->tv_sec - day.tv_sec) < labs(until->tv_sec - start.tv_sec);
}

/// It waits by the clock that people set.
int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until) {
  REAL(int, sem_timedwait, (sem_t *, const struct timespec *))
  while (true) {
    bool is_last;
    struct timespec end = slice(until, &is_last);
    int result = real(semaphore, &end);
    if (result == 0 || errno != ETIMEDOUT || is_last) return result;
  }
}

int pthread_cond_timedwait(
    pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, const struct timespec *restrict until) {
  REAL(int, pthread_cond_timedwait, (pthread_cond_t *, pthread_mutex_t *, const struct timespec *))
  if (!is_of_the_day(until)) return real(condition, mutex, until);
  while (true) {
    bool is_last;
    struct timespec end = slice(until, &is_last);
    int result = real(condition, mutex, &end);
    if (result != ETIMEDOUT || is_last) return result;
  }
}
