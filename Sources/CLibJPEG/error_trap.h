// Catches libjpeg's fatal errors. error_exit() must not return (libjpeg.txt, "Error handling"), so it jumps back into
// the clibjpeg_ function that called the library, and that function returns a status.

#ifndef CLIBJPEG_ERROR_TRAP_H
#define CLIBJPEG_ERROR_TRAP_H

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

#include "clibjpeg.h"

typedef struct clibjpeg_trap {
  struct jpeg_error_mgr manager;  // first, so that libjpeg's pointer to it is also a pointer to the trap
  jmp_buf landing;
  clibjpeg_status status;
  char message[CLIBJPEG_MESSAGE_SIZE];
} clibjpeg_trap;

/// Initialises the trap, which prints no messages.
struct jpeg_error_mgr *clibjpeg_trap_init(clibjpeg_trap *trap);

/// Jumps out of the current library call with this status and message.
_Noreturn void clibjpeg_trap_throw(clibjpeg_trap *trap, clibjpeg_status status, const char *message);

/// Formats the library's message for its current code.
void clibjpeg_trap_format(j_common_ptr common, char into[CLIBJPEG_MESSAGE_SIZE]);

#endif
