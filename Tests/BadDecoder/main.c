// A decoder process that does harm on request, so that tests can see how thumbjob and the fence take it (`bad_deeds.h`). The
// name of the program says how it begins.

#include "bad_deeds.h"
#include "cfence.h"

#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static bool is_called(const char *path, const char *name) {
  const char *slash = strrchr(path, '/');
  return strcmp(slash ? slash + 1 : path, name) == 0;
}

int main(int count, char **arguments) {
  // The path that was given to execve(2).
  const char *name = (const char *)getauxval(AT_EXECFN);
  cdecoding_hello hello = {.magic = CDECODING_MAGIC + 1};
  if (is_called(name, "says-nothing")) for (;;) pause();
  if (is_called(name, "ends-at-once")) return 1;
  if (is_called(name, "has-other-version")) {
    cdecoding_send(CDECODING_SOCKET, &hello, sizeof hello);
    for (;;) pause();
  }
  return cfence_run(count, arguments, (cfence_work){.decode = bad_deeds_decode});
}
