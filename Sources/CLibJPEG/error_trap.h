// Where libjpeg's fatal errors land. error_exit() must not return (libjpeg.txt, "Error handling"), so it jumps back
// into the tj_ function that called the library; that function returns a status.

#ifndef TJ_ERROR_TRAP_H
#define TJ_ERROR_TRAP_H

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

#include "clibjpeg.h"

typedef struct tj_trap {
  struct jpeg_error_mgr manager;  // first: libjpeg's pointer to it is ours to the whole
  jmp_buf landing;
  tj_status status;
  char message[TJ_MESSAGE_SIZE];
} tj_trap;

/// Fills the trap in, silent: nothing is ever printed.
struct jpeg_error_mgr *tj_trap_init(tj_trap *trap);

/// Ends the library call under way with a status and a message of our own.
_Noreturn void tj_trap_throw(tj_trap *trap, tj_status status, const char *message);

/// Copies the library's message for its current code, at most TJ_MESSAGE_SIZE bytes with the final zero.
void tj_trap_format(j_common_ptr common, char into[TJ_MESSAGE_SIZE]);

#endif
