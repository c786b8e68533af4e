// Where libjpeg's fatal errors land. error_exit() must not return (libjpeg.txt, "Error handling"), so it jumps back
// into the clibjpeg_ function that called the library; that function returns a status.

#ifndef CLIBJPEG_ERROR_TRAP_H
#define CLIBJPEG_ERROR_TRAP_H

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

#include "clibjpeg.h"

typedef struct clibjpeg_trap {
  struct jpeg_error_mgr manager;  // first: libjpeg's pointer to it is ours to the whole
  jmp_buf landing;
  clibjpeg_status status;
  char message[CLIBJPEG_MESSAGE_SIZE];
} clibjpeg_trap;

/// Fills the trap in, silent: nothing is ever printed.
struct jpeg_error_mgr *clibjpeg_trap_init(clibjpeg_trap *trap);

/// Ends the library call under way with a status and a message of our own.
_Noreturn void clibjpeg_trap_throw(clibjpeg_trap *trap, clibjpeg_status status, const char *message);

/// Copies the library's message for its current code, at most CLIBJPEG_MESSAGE_SIZE bytes with the final zero.
void clibjpeg_trap_format(j_common_ptr common, char into[CLIBJPEG_MESSAGE_SIZE]);

#endif
