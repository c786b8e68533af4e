#include "early_signals.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

static int argument_count;
static char **all_arguments;

const char *cearlysignals_argument(int index) {
  return index >= 0 && index < argument_count ? all_arguments[index] : NULL;
}

#ifdef __linux__

/// The signals are those of SignalListener. The tests contain this file too, and they must end with Ctrl-C.
static void begin(int count, char **arguments, char **environment) {
  (void)environment;
  argument_count = count;
  all_arguments = arguments;
  const char *path = count > 0 ? arguments[0] : "";
  const char *slash = strrchr(path, '/');
  if (strcmp(slash == NULL ? path : slash + 1, "thumbjob") != 0) return;
  static const int handled[] = {SIGUSR1, SIGUSR2, SIGINT, SIGTERM, SIGHUP};
  sigset_t set;
  sigemptyset(&set);
  for (size_t i = 0; i < sizeof handled / sizeof *handled; i++) sigaddset(&set, handled[i]);
  sigprocmask(SIG_BLOCK, &set, NULL);
}

/// The functions that the loader calls before the initialisers of all libraries (System V ABI, "Initialization and
/// Termination Functions").
__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **, char **) = begin;

#endif
