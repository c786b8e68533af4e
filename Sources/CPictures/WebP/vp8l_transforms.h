// What the encoder of a lossless WebP picture has done to its pixels, undone row by row.

#ifndef VP8L_TRANSFORMS_H
#define VP8L_TRANSFORMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

typedef enum vp8l_transform_kind {
  VP8L_PREDICTOR = 0,
  VP8L_CROSS_COLOR = 1,
  VP8L_SUBTRACT_GREEN = 2,
  VP8L_COLOR_INDEXING = 3,
} vp8l_transform_kind;

typedef struct vp8l_transform {
  vp8l_transform_kind kind;
  /// The pixels of a row once it is undone.
  uint32_t width;
  /// Predictor, cross colour: blocks have 2 to the power of `bits` pixels along each side. Colour indexing: as many
  /// indices are in one pixel.
  unsigned bits;
  /// Predictor, cross colour: a value for each block. Colour indexing: 256 colours.
  uint32_t *_Nullable values;
  /// Predictor: the row above, and the first pixel of the current one.
  uint32_t *_Nullable above;
} vp8l_transform;

/// How many blocks cover `length` pixels.
static inline uint32_t vp8l_blocks(uint32_t length, unsigned bits) { return (length + (1u << bits) - 1) >> bits; }

/// Undoes a transform of a row, in place. Rows must come one after the other, from 0 on.
void vp8l_transform_undo(vp8l_transform *transform, uint32_t y, uint32_t *row);

/// The sum of two pixels, each component modulo 256.
static inline uint32_t vp8l_sum(uint32_t first, uint32_t second) {
  uint32_t high = (first & 0xff00ff00u) + (second & 0xff00ff00u), low = (first & 0x00ff00ffu) + (second & 0x00ff00ffu);
  return (high & 0xff00ff00u) | (low & 0x00ff00ffu);
}

#pragma clang assume_nonnull end

#endif
