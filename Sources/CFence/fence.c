#define _GNU_SOURCE

#include "fence.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

void fence_ignore_signals(void) {
  static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2, SIGPIPE, SIGALRM};
  for (size_t index = 0; index < sizeof ignored / sizeof *ignored; index++) signal(ignored[index], SIG_IGN);
  // thumbjob has blocked all signals, so that none came before they were ignored.
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

// Not PR_SET_PDEATHSIG: the kernel would send that signal when the thread ends that has started this process, and operations
// move between threads. Nor does it help to notice a closed socket, because a decoder that hangs reads no socket.
int fence_tie_to_lifeline(void) {
  if (fcntl(CDECODING_LIFELINE, F_SETSIG, SIGKILL) != 0 || fcntl(CDECODING_LIFELINE, F_SETOWN, getpid()) != 0) return errno;
  int flags = fcntl(CDECODING_LIFELINE, F_GETFL);
  if (flags < 0 || fcntl(CDECODING_LIFELINE, F_SETFL, flags | O_ASYNC | O_NONBLOCK) != 0) return errno;
  // The kernel signals only a change. thumbjob may have ended before.
  char byte;
  if (read(CDECODING_LIFELINE, &byte, 1) == 0) _exit(0);
  return 0;
}

static int limit(int resource, rlim_t most) {
  struct rlimit limit = {.rlim_cur = most, .rlim_max = most};
  return setrlimit((__rlimit_resource_t)resource, &limit) == 0 ? 0 : errno;
}

/// Limits that also hold where the kernel cannot filter system calls. thumbjob itself limits the address space for each
/// picture.
static int set_limits(void) {
  // With a limit of 1, the kernel neither writes a core file nor starts the program of core_pattern(5); with 0, it would
  // start that. PR_SET_DUMPABLE would hide the process's memory usage from thumbjob in a service with ProtectProc=invisible.
  if (limit(RLIMIT_CORE, 1) != 0) limit(RLIMIT_CORE, 0);
  int faults[] = {
      limit(RLIMIT_NPROC, 0),
      limit(RLIMIT_FSIZE, 0),
      limit(RLIMIT_NOFILE, CDECODING_DESCRIPTORS),
      limit(RLIMIT_MEMLOCK, 0),
      limit(RLIMIT_MSGQUEUE, 0),
  };
  for (size_t index = 0; index < sizeof faults / sizeof *faults; index++) {
    if (faults[index] != 0) return faults[index];
  }
  return 0;
}

/// Tells the OOM killer to take this process first: that costs one picture.
static int invite_oom_killer(void) {
  int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return errno;
  static const char most[] = "1000";
  int fault = write(file, most, sizeof most - 1) == (ssize_t)(sizeof most - 1) ? 0 : errno;
  close(file);
  return fault;
}

/// Gives up what root may do beyond other users. No program that the process executes gets it back, because of
/// PR_SET_NO_NEW_PRIVS.
static int drop_capabilities(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};
  return syscall(SYS_capset, &header, none) == 0 ? 0 : errno;
}

bool fence_has_stack(size_t size) {
  struct rlimit limits;
  if (getrlimit(RLIMIT_STACK, &limits) != 0) return false;
  if (limits.rlim_cur >= size) return true;
  limits.rlim_cur = size;
  // Only root may raise the hard limit.
  if (limits.rlim_max < size) limits.rlim_max = size;
  return setrlimit(RLIMIT_STACK, &limits) == 0;
}

void fence_raise(int32_t *faults) {
  faults[CDECODING_FENCE_OOM] = invite_oom_killer();
  faults[CDECODING_FENCE_LIMITS] = set_limits();
  faults[CDECODING_FENCE_PRIVILEGES] = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno;
  faults[CDECODING_FENCE_CAPABILITIES] = drop_capabilities();
  faults[CDECODING_FENCE_CALLS] = fence_filter_calls();
}
