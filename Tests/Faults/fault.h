/// What the files of the library that disturbs calls share.
#ifndef FAULT_H
#define FAULT_H

#include <errno.h>
#include <stddef.h>

#define PLACE_SIZE 4096

enum effect { NONE, FAIL, SHORT, END, JUMP, WAIT };

/// What happens to a call.
struct fate {
  enum effect effect;
  long value;
};

// The tested program must not find these names.
#pragma GCC visibility push(hidden)

/// What a descriptor is: the path of its file, or its kind, such as `socket:[123]`.
const char *of_file(int file, char *place);

/// The path below a folder, which is a descriptor or AT_FDCWD.
const char *of_path(int folder, const char *path, char *place);

/// Both paths, because they tell what is put in place from what is moved elsewhere.
const char *of_rename(int folder, const char *path, int to_folder, const char *to, char *place);

/// Logs a call, and decides what happens to it. A call that has to wait has waited when this returns.
struct fate fate_of(const char *call, const char *place, const void *caller);

/// Finds the function of the C library that this one interposes.
void find(void *function, const char *name);

#pragma GCC visibility pop

#define CALLER __builtin_return_address(0)

/// Declares `real`, the function of the C library.
#define REAL(type, name, parameters)     \
  static type(*_Atomic known) parameters; \
  type(*real) parameters = known;         \
  if (real == NULL) {                     \
    find(&real, #name);                   \
    known = real;                         \
  }

/// Interposes a function. Returns `failure` and sets errno if the call is to fail.
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

#endif
