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
///
/// fault_calls.c, fault_clocks.c and fault_processes.c interpose the functions of the C library.
#define _GNU_SOURCE

#include <dlfcn.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fault.h"

#define MOST_RULES 64
/// A clock that is read all the time would fill the log. Its first calls are enough to learn who reads it.
#define MOST_CLOCK_LINES 2000

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

const char *of_file(int file, char *place) {
  if (file == STDOUT_FILENO) return "stdout";
  if (file == STDERR_FILENO) return "stderr";
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  long length = syscall(SYS_readlinkat, AT_FDCWD, link, place, (size_t)PLACE_SIZE - 1);
  if (length < 0) return "no file";
  place[length] = '\0';
  return place;
}

const char *of_path(int folder, const char *path, char *place) {
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

const char *of_rename(int folder, const char *path, int to_folder, const char *to, char *place) {
  char from_place[PLACE_SIZE], to_place[PLACE_SIZE];
  const char *from = of_path(folder, path, from_place);
  if (snprintf(place, PLACE_SIZE, "%s -> %s", from, of_path(to_folder, to, to_place)) >= PLACE_SIZE) return "too long";
  return place;
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

struct fate fate_of(const char *call, const char *place, const void *caller) {
  int before = errno;
  struct fate fate = {NONE, 0};
  // A thread writes the ledger meanwhile, at moments that differ between runs, so a pattern for a whole disk leaves it out.
  bool is_ledger = strstr(place, "/.thumbjob/ledger") != NULL;
  // Each rule counts the calls for itself. The first that applies decides.
  for (int i = 0; i < rule_count; i++) {
    struct rule *rule = &rules[i];
    if (strcmp(rule->call, "*") != 0 && strcmp(rule->call, call) != 0) continue;
    if (fnmatch(rule->pattern, place, 0) != 0) continue;
    if (is_ledger && strstr(rule->pattern, "ledger") == NULL) continue;
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
void find(void *function, const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (found == NULL) _exit(99);
  memcpy(function, &found, sizeof found);
}
