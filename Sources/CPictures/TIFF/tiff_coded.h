// Decodes strips, tiles and rows with libtiff, and finds out whether all their samples were there.

#ifndef TIFF_CODED_H
#define TIFF_CODED_H

#include "tiff_page.h"

#pragma clang assume_nonnull begin

/// The bytes of a row of `width` pixels, without what its end is padded with.
size_t tiff_coded_row_size(const page *from, uint32_t width);

/// Decodes a whole strip or tile into a buffer of `size` bytes. If that fails, or if bytes up to `last` are missing, so has
/// the call, and this returns 0. Otherwise it returns how many bytes were decoded.
///
/// - `last`: the offset of the last byte that is shown; SIZE_MAX if that is the last one decoded.
size_t tiff_coded_read_piece(page *from, uint32_t piece, uint8_t *into, size_t size, size_t last);

/// The rows of a strip.
typedef struct row_range {
  uint32_t first, last;
} row_range;

/// Decodes row `y` of a plane into a buffer of `size` bytes. The rows of a strip must be read one after the other. False if
/// the call has failed. Some missing samples are noticed in the strip's last row only.
bool tiff_coded_read_row(
    page *from, unsigned plane, uint32_t y, const row_range *strip, uint8_t *into, size_t size);

#pragma clang assume_nonnull end

#endif
