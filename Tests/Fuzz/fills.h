// Decodes a picture for a fuzz target. With DECODES_TWICE it does so twice, with other bytes in all memory that decoders get,
// and compares: what differs was never written, so that it would show what the memory had before. The address sanitizer
// cannot see that inside system libraries.

#ifndef FILLS_H
#define FILLS_H

#include <cpictures.h>

/// What memory has when a decoder gets it.
typedef enum fuzz_fill {
  FUZZ_PATTERN,  ///< what it has in the decoder program, which finds by it what was not written
  FUZZ_BYTE,     ///< one byte all over
} fuzz_fill;

/// Sets what memory has from now on. Without DECODES_TWICE, it has what it happens to have.
void fuzz_set_fill(fuzz_fill fill);

/// Decodes into `planes`, of which nothing has been written.
///
/// - `calls`: how often the decoder has asked whether to go on; the context of `input` has it.
void fuzz_decode(
    const cdecoding_request *request, const cdecoding_tile *tiles, const cdecoding_extent *extents,
    const cdecoding_input *input, int *calls, uint8_t *planes, size_t size, cdecoding_reply *reply);

#endif
