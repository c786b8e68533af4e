// libjpeg's data source. It calls the caller's read function and holds a window of 64 KiB. The file is not mapped into
// memory: if it shrinks during reading, it ends early instead of raising SIGBUS.

#ifndef CLIBJPEG_SOURCE_H
#define CLIBJPEG_SOURCE_H

#include <stdio.h>

#include <jpeglib.h>

#include "clibjpeg.h"
#include "error_trap.h"

#define CLIBJPEG_WINDOW_SIZE ((size_t)64 << 10)

typedef struct clibjpeg_source {
  struct jpeg_source_mgr manager;  // first, so that libjpeg's pointer to it is also a pointer to the source
  clibjpeg_input input;
  clibjpeg_trap *trap;
  uint64_t offset;  // of the first byte after the window
  uint64_t seen;    // how far bytes have been read; `offset` is beyond it after a segment was skipped
  bool ended;       // libjpeg asked for bytes after the input's end
  uint8_t window[CLIBJPEG_WINDOW_SIZE];
} clibjpeg_source;

void clibjpeg_source_init(clibjpeg_source *source, const clibjpeg_input *input, clibjpeg_trap *trap);

/// The next byte. This source never suspends: it delivers a byte, ends the data with an EOI marker, or jumps out.
static inline unsigned clibjpeg_next_byte(j_decompress_ptr jpeg) {
  if (jpeg->src->bytes_in_buffer == 0) jpeg->src->fill_input_buffer(jpeg);
  jpeg->src->bytes_in_buffer--;
  return *jpeg->src->next_input_byte++;
}

/// Formats a message with the place where the input ended. Call only if `ended`.
void clibjpeg_source_describe_end(const clibjpeg_source *source, char into[CLIBJPEG_MESSAGE_SIZE]);

#endif
