// libjpeg's data source. It calls the caller's read function and holds a window of 64 KiB. The file is not mapped into
// memory: if it shrinks during reading, it ends early instead of raising SIGBUS.
//
// The window is handed to libjpeg in slices. libjpeg-turbo decodes Huffman codes by a faster routine while its buffer
// has 512 bytes or more for each block of an MCU (jdhuff.c, BUFSIZE), and that routine reads a code that does not exist
// as a zero, without a warning. With shorter slices it always uses the routine that warns. That costs 2 to 5 % of a
// decoding, and whether a file counts as damaged does not depend on where a window ends.

#ifndef CLIBJPEG_SOURCE_H
#define CLIBJPEG_SOURCE_H

#include <stdio.h>

#include <jpeglib.h>

#include "clibjpeg.h"
#include "error_trap.h"

#define CLIBJPEG_WINDOW_SIZE ((size_t)64 << 10)
#define CLIBJPEG_SLICE_SIZE ((size_t)511)

typedef struct clibjpeg_source {
  struct jpeg_source_mgr manager;  // first, so that libjpeg's pointer to it is also a pointer to the source
  clibjpeg_input input;
  clibjpeg_trap *trap;
  uint64_t offset;  // of the first byte after the window
  uint64_t seen;    // how far bytes have been read; `offset` is beyond it after a segment was skipped
  bool ended;       // libjpeg asked for bytes after the input's end
  size_t filled;    // bytes in the window
  size_t handed;    // of these, how many libjpeg has been given
  uint8_t window[CLIBJPEG_WINDOW_SIZE];
} clibjpeg_source;

void clibjpeg_source_init(clibjpeg_source *source, const clibjpeg_input *input, clibjpeg_trap *trap);

/// The next byte. This source never suspends: it delivers a byte, ends the data with an EOI marker, or jumps out.
static inline unsigned clibjpeg_next_byte(j_decompress_ptr jpeg) {
  if (jpeg->src->bytes_in_buffer == 0) jpeg->src->fill_input_buffer(jpeg);
  jpeg->src->bytes_in_buffer--;
  return *jpeg->src->next_input_byte++;
}

/// The place of the next byte in the input.
static inline uint64_t clibjpeg_source_position(j_decompress_ptr jpeg) {
  const clibjpeg_source *source = (const clibjpeg_source *)jpeg->src;
  return source->offset - (source->filled - source->handed) - source->manager.bytes_in_buffer;
}

/// Formats a message with the place where the input ended. Call only if `ended`.
void clibjpeg_source_describe_end(const clibjpeg_source *source, char into[CLIBJPEG_MESSAGE_SIZE]);

#endif
