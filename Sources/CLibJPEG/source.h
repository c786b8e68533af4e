// libjpeg's data source over the caller's read function: a 64 KiB window, so a file is never mapped and never whole in
// memory. A file that shrinks while it is read is a file that ends early, not a SIGBUS.

#ifndef CLIBJPEG_SOURCE_H
#define CLIBJPEG_SOURCE_H

#include <stdio.h>

#include <jpeglib.h>

#include "clibjpeg.h"
#include "error_trap.h"

#define CLIBJPEG_WINDOW_SIZE ((size_t)64 << 10)

typedef struct clibjpeg_source {
  struct jpeg_source_mgr manager;  // first: libjpeg's pointer to it is ours to the whole
  clibjpeg_input input;
  clibjpeg_trap *trap;
  uint64_t offset;  // of the first byte behind the window
  uint64_t seen;    // how far bytes were there; `offset` goes past that where a segment was passed over
  bool ended;       // the input's end was met, and libjpeg wanted more
  uint8_t window[CLIBJPEG_WINDOW_SIZE];
} clibjpeg_source;

void clibjpeg_source_init(clibjpeg_source *source, const clibjpeg_input *input, clibjpeg_trap *trap);

/// The next byte. This source never suspends: it delivers, ends the data with an EOI marker, or jumps out.
static inline unsigned clibjpeg_next_byte(j_decompress_ptr jpeg) {
  if (jpeg->src->bytes_in_buffer == 0) jpeg->src->fill_input_buffer(jpeg);
  jpeg->src->bytes_in_buffer--;
  return *jpeg->src->next_input_byte++;
}

/// Says where the input ended, once it has.
void clibjpeg_source_describe_end(const clibjpeg_source *source, char into[CLIBJPEG_MESSAGE_SIZE]);

#endif
