// Decodes pictures of many formats, each with the library that is kept for it, into small planes of means.
//
// Libraries see the file through `cpictures_input` only. No call has effects beyond its arguments, and nothing is written to
// stderr.

#ifndef CPICTURES_H
#define CPICTURES_H

#include "cdecoding.h"

#pragma clang assume_nonnull begin

typedef cdecoding_input cpictures_input;

/// Decodes a picture.
///
/// - `tiles`, `extents`: as many as the request says.
/// - `memory`: the memory for planes and profile, `memory_size` bytes. After a failure its contents are undefined.
void cpictures_decode(
    const cdecoding_request *request, const cdecoding_tile *_Nullable tiles, const cdecoding_extent *_Nullable extents,
    const cpictures_input *input, uint8_t *memory, size_t memory_size, cdecoding_reply *reply);

/// Whether a library is at work in this thread that crashes if malloc(3) fails.
bool cpictures_needs_memory(void);

/// Fills memory with a pattern, so that it has nothing of other pictures, and samples that a library does not write are found.
void cpictures_fill(void *memory, size_t size);

#pragma clang assume_nonnull end

#endif
