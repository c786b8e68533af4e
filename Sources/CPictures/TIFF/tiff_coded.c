// libtiff returns success for a strip whose data end too early (CCITT) or are those of a smaller picture (JPEG, JBIG), and
// leaves the rest of the buffer as it was. So a buffer is filled before it is decoded into: what is in it never comes from
// another strip or picture, and the fill shows where nothing was written.

#include "tiff_coded.h"

#include <string.h>

/// Bits that are rare at the end of a row: neither black, white nor a fine pattern.
static const uint8_t fill = 0x5A;

size_t tiff_coded_row_size(const page *from, uint32_t width) {
  uint64_t bits = (uint64_t)width * (from->is_separate ? 1 : from->samples) * from->bits;
  return (size_t)((bits + 7) / 8);
}

/// Whether a byte that is still as it was filled tells something. libtiff's ThunderScan decoder never writes the last run
/// of a row, which is then black.
static bool shows_what_is_missing(const page *from) { return from->compression != COMPRESSION_THUNDERSCAN; }

static uint8_t first_fill(const page *from) { return shows_what_is_missing(from) ? fill : 0; }

static size_t decode_piece(page *from, uint32_t piece, uint8_t *into, size_t size, uint8_t filling) {
  TIFF *tiff = from->readers[0].tiff;
  memset(into, filling, size);
  tmsize_t taken = from->is_tiled ? TIFFReadEncodedTile(tiff, piece, into, (tmsize_t)size)
                                  : TIFFReadEncodedStrip(tiff, piece, into, (tmsize_t)size);
  if (taken > 0 && (!from->is_tiled || (size_t)taken == size)) return (size_t)taken;
  tiff_view_fail(&from->file);
  return 0;
}

size_t tiff_coded_read_piece(page *from, uint32_t piece, uint8_t *into, size_t size, size_t last) {
  size_t taken = decode_piece(from, piece, into, size, first_fill(from));
  if (taken == 0) return 0;
  if (last >= taken) last = taken - 1;
  if (into[last] != fill || !shows_what_is_missing(from)) return taken;
  // A sample that was decoded has the same value a second time. Of a byte that the row only begins, the rest may not.
  taken = decode_piece(from, piece, into, size, (uint8_t)~fill);
  if (taken == 0 || into[last] != (uint8_t)~fill) return taken;
  decoding_fail(from->call, CDECODING_TRUNCATED, "strip or tile %u lacks samples", piece);
  return 0;
}

static bool decode_row(page *from, unsigned plane, uint32_t y, uint8_t *into, size_t size, uint8_t filling) {
  memset(into, filling, size);
  if (TIFFReadScanline(from->readers[plane].tiff, into, y, (uint16_t)plane) >= 0) return true;
  tiff_view_fail(&from->file);
  return false;
}

bool tiff_coded_read_row(
    page *from, unsigned plane, uint32_t first, uint32_t y, bool is_last, uint8_t *into, size_t size) {
  if (!decode_row(from, plane, y, into, size, first_fill(from))) return false;
  size_t last = tiff_coded_row_size(from, from->width) - 1;
  if (!is_last || into[last] != fill || !shows_what_is_missing(from)) return true;
  // As for a whole strip: libtiff begins it again for an earlier row.
  for (uint32_t row = first; row <= y; row++) {
    if (row % 64 == 0 && !decoding_proceeds(from->call, (double)row / from->height)) return false;
    if (!decode_row(from, plane, row, into, size, (uint8_t)~fill)) return false;
  }
  if (into[last] != (uint8_t)~fill) return true;
  decoding_fail(from->call, CDECODING_TRUNCATED, "the strip that begins with row %u lacks samples", first);
  return false;
}
