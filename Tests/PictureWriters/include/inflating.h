// Decompression as libpng does it, by the functions that the program puts in the place of zlib's, and by zlib's own.

#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum inflate_end {
  /// zlib is not there.
  INFLATE_IMPOSSIBLE,
  /// The output is full; the end of the data was not reached.
  INFLATE_FULL,
  INFLATE_ENDED,
  INFLATE_DAMAGED,
  /// More input was asked for than there is.
  INFLATE_STARVED,
} inflate_end;

typedef struct inflate_result {
  inflate_end end;
  size_t made, read;
} inflate_result;

/// Returns the size of the compressed data; 0 if they do not fit.
size_t deflate_bytes(
    const uint8_t *_Nonnull bytes, size_t size, int level, uint8_t *_Nonnull into, size_t capacity);

/// Decompresses `bytes`, which are given in pieces, to pieces of the output.
inflate_result inflate_bytes(
    const uint8_t *_Nonnull bytes, size_t size, size_t input_step, size_t output_step, uint8_t *_Nonnull into,
    size_t capacity, bool by_zlib);
