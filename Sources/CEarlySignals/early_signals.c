#include "early_signals.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

#ifdef __linux__

/// The signals are those of SignalListener. The tests contain this file too, and they must end with Ctrl-C.
static void block(int count, char **arguments, char **environment) {
  (void)environment;
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
__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **, char **) = block;

#endif
