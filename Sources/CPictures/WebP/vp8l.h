// Lossless WebP pictures.

#ifndef VP8L_H
#define VP8L_H

#include "accumulator.h"
#include "decoding.h"

#pragma clang assume_nonnull begin

/// Decodes a VP8L stream, and adds its pixels to `sums`.
///
/// - `stream`: the contents of the chunk `VP8L`.
/// - `tile`: the place and size of the picture; a picture of another size is damaged.
/// - `has_alpha`: whether alpha counts.
void decode_vp8l(
    decoding *call, cdecoding_extent stream, const cdecoding_tile *tile, bool has_alpha, accumulator *sums);

#pragma clang assume_nonnull end

#endif
