#include "fence.h"

#include <errno.h>
#include <linux/futex.h>
#ifdef THUMBJOB_FORMATS
#include <seccomp.h>
#endif
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
// The runtime of a sanitizer makes calls of its own. Such a build is not fenced, and says so.
#define IS_SANITIZED 1
#endif
#endif

#if defined(IS_SANITIZED) || !defined(THUMBJOB_FORMATS)

int fence_filter_calls(void) { return ENOTSUP; }

#else

typedef struct rules {
  scmp_filter_ctx filter;
  int fault;  ///< 0, or the negative errno of the first rule that could not be added
} rules;

/// Allows a call if its arguments fulfil all conditions.
static void allow(rules *own, int call, unsigned count, const struct scmp_arg_cmp *conditions) {
  if (own->fault == 0) own->fault = seccomp_rule_add_array(own->filter, SCMP_ACT_ALLOW, call, count, conditions);
}

/// Compares all 64 bits. Comparing which of two numbers is greater would not do for an `int`: the kernel ignores its upper
/// half, so that a process could close descriptor 4 as 4 + 2^32.
static struct scmp_arg_cmp equals(unsigned argument, uint64_t value) {
  return (struct scmp_arg_cmp){.arg = argument, .op = SCMP_CMP_EQ, .datum_a = value};
}

static struct scmp_arg_cmp lacks(unsigned argument, uint64_t bits) {
  return (struct scmp_arg_cmp){.arg = argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = bits, .datum_b = 0};
}

static void allow_always(rules *own, int call) { allow(own, call, 0, NULL); }

static void allow_if(rules *own, int call, struct scmp_arg_cmp condition) { allow(own, call, 1, &condition); }

/// docs/fence.md lists these calls, and the reason for each.
static void allow_calls(rules *own) {
  // Requests and replies. Descriptors below CDECODING_FIRST_FREE stay open: a process that closed its lifeline would
  // survive thumbjob.
  allow_if(own, SCMP_SYS(recvmsg), equals(0, CDECODING_SOCKET));
  allow_if(own, SCMP_SYS(sendmsg), equals(0, CDECODING_SOCKET));
  for (int file = CDECODING_FIRST_FREE; file < CDECODING_DESCRIPTORS; file++) {
    allow_if(own, SCMP_SYS(close), equals(0, (uint64_t)file));
    allow_if(own, SCMP_SYS(pread64), equals(0, (uint64_t)file));
  }
  // Memory, which is never executable.
  allow_if(own, SCMP_SYS(mmap), lacks(2, PROT_EXEC));
  allow_if(own, SCMP_SYS(mprotect), lacks(2, PROT_EXEC));
  allow_always(own, SCMP_SYS(munmap));
  allow_always(own, SCMP_SYS(mremap));
  allow_always(own, SCMP_SYS(brk));
  allow_always(own, SCMP_SYS(madvise));
  // Locks of the libraries. There is one thread, so none ever waits.
  allow_if(own, SCMP_SYS(futex), equals(1, FUTEX_WAKE_PRIVATE));
  // Questions. qsort(3) asks how much memory there is.
  allow_always(own, SCMP_SYS(clock_gettime));
  allow_always(own, SCMP_SYS(sysinfo));
  allow_always(own, SCMP_SYS(getpid));
  allow_always(own, SCMP_SYS(gettid));
  // The end. abort(3) blocks signals, and sends SIGABRT to its own thread; before, glibc writes why to standard error, which
  // is /dev/null.
  allow_always(own, SCMP_SYS(exit));
  allow_always(own, SCMP_SYS(exit_group));
  allow_always(own, SCMP_SYS(rt_sigprocmask));
  const struct scmp_arg_cmp aborts[] = {equals(0, (uint64_t)getpid()), equals(2, SIGABRT)};
  allow(own, SCMP_SYS(tgkill), 2, aborts);
  allow_if(own, SCMP_SYS(write), equals(0, STDERR_FILENO));
  allow_if(own, SCMP_SYS(writev), equals(0, STDERR_FILENO));
  // The kernel repeats some calls after the process was stopped and continued.
  allow_always(own, SCMP_SYS(restart_syscall));
}

int fence_filter_calls(void) {
  rules own = {.filter = seccomp_init(SCMP_ACT_KILL_PROCESS)};
  if (!own.filter) return ENOSYS;
  // Calls of another instruction set, such as those of 32-bit programs.
  own.fault = seccomp_attr_set(own.filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  allow_calls(&own);
  if (own.fault == 0) own.fault = seccomp_load(own.filter);
  seccomp_release(own.filter);
  return -own.fault;
}

#endif
