// Counts libjpeg's warnings by class, and ends decoding at a class that the caller does not tolerate.

#ifndef CLIBJPEG_WARNINGS_H
#define CLIBJPEG_WARNINGS_H

#include <stdio.h>

#include <jpeglib.h>

#include "clibjpeg.h"

typedef struct clibjpeg_warnings {
  unsigned fail_mask;  // bit `1 << class` is set if a warning of that class ends decoding
  struct {
    long count;
    char first[CLIBJPEG_MESSAGE_SIZE];
  } classes[CLIBJPEG_WARNING_CLASSES];
} clibjpeg_warnings;

/// Makes libjpeg report its warnings to the decoder.
void clibjpeg_warnings_install(j_decompress_ptr jpeg);

/// Counts a harmless warning. Its message replaces those of libjpeg, because it says more.
void clibjpeg_warn_harmless(j_decompress_ptr jpeg, const char *message);

/// Counts a warning that the picture's data ends early.
void clibjpeg_warn_truncated(j_decompress_ptr jpeg);

/// Ends decoding if the EOI marker is missing, nothing else, and the caller tolerates no harmless warning. Call when the
/// picture is decoded.
void clibjpeg_warnings_finish(j_decompress_ptr jpeg);

#endif
