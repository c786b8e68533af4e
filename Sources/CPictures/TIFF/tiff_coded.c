#ifdef THUMBJOB_FORMATS
// libtiff returns success for a strip whose data end too early (CCITT) or are those of a smaller picture (JPEG, JBIG), and
// leaves the rest of the buffer as it was. So a buffer is filled before it is decoded into: what is in it never comes from
// another strip or picture, and the fill shows where nothing was written.

#include "tiff_coded.h"

#include <stdlib.h>
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
  tiff_view_begin_piece(&from->file);
  memset(into, filling, size);
  tmsize_t taken = from->is_tiled ? TIFFReadEncodedTile(tiff, piece, into, (tmsize_t)size)
                                  : TIFFReadEncodedStrip(tiff, piece, into, (tmsize_t)size);
  if (taken > 0 && (!from->is_tiled || (size_t)taken == size)) return tiff_view_accepts(&from->file) ? (size_t)taken : 0;
  tiff_view_fail(&from->file);
  return 0;
}

/// Decodes a strip or tile of JPEG data without EOI marker once more, with one. libtiff passes on the first warning of each
/// JPEG only, and that of the marker comes before that of samples that are missing. Returns false if the call has failed.
static bool decode_with_end(page *from, uint32_t piece, uint8_t *into, size_t size) {
  TIFF *tiff = from->readers[0].tiff;
  // libtiff reads no more of a strip or tile.
  uint64_t most = 10 * (uint64_t)size + 4096, count = TIFFGetStrileByteCount(tiff, piece);
  tmsize_t coded = (tmsize_t)(count < most ? count : most);
  static const uint8_t marker[] = {0xFF, 0xD9};
  uint8_t *data = malloc((size_t)coded + sizeof marker);
  if (!data) {
    decoding_fail(from->call, CDECODING_NO_MEMORY, "no memory for the data of a strip or tile");
    return false;
  }
  coded = from->is_tiled ? TIFFReadRawTile(tiff, piece, data, coded) : TIFFReadRawStrip(tiff, piece, data, coded);
  bool is_decoded = false;
  if (coded > 0) {
    memcpy(data + coded, marker, sizeof marker);
    is_decoded =
        TIFFReadFromUserBuffer(tiff, piece, data, coded + (tmsize_t)sizeof marker, into, (tmsize_t)size) != 0;
  }
  free(data);
  if (!is_decoded) tiff_view_fail(&from->file);
  return is_decoded && tiff_view_accepts(&from->file);
}

size_t tiff_coded_read_piece(page *from, uint32_t piece, uint8_t *into, size_t size, size_t last) {
  size_t taken = decode_piece(from, piece, into, size, first_fill(from));
  if (taken == 0 || (from->file.has_jpeg_ended && !decode_with_end(from, piece, into, taken))) return 0;
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
  if (TIFFReadScanline(from->readers[plane].tiff, into, y, (uint16_t)plane) >= 0) return tiff_view_accepts(&from->file);
  tiff_view_fail(&from->file);
  return false;
}

/// Whether the JPEG data of a strip are progressive (SOF2), which libjpeg reads to their end before it delivers the first row.
static bool is_progressive(const page *from, uint32_t strip) {
  TIFF *tiff = from->readers[0].tiff;
  uint64_t place = TIFFGetStrileOffset(tiff, strip) + 2, end = place + TIFFGetStrileByteCount(tiff, strip);
  // As many segments as come before the first scan, and more.
  for (int segment = 0; segment < 64 && place + 4 <= end; segment++) {
    uint8_t head[4];
    if (!decoding_read(from->call, place, head, sizeof head) || head[0] != 0xFF) return false;
    if (head[1] == 0xC2) return true;
    if (head[1] == 0xC0 || head[1] == 0xC1 || head[1] == 0xDA) return false;
    place += 2 + ((uint64_t)head[2] << 8 | head[3]);
  }
  return false;
}

bool tiff_coded_read_row(
    page *from, unsigned plane, uint32_t y, const row_range *strip, uint8_t *into, size_t size) {
  if (y == strip->first) tiff_view_begin_piece(&from->file);
  if (!decode_row(from, plane, y, into, size, first_fill(from))) return false;
  // libjpeg has decoded two rows of MCUs at most that it has not delivered.
  bool lacks_rows = from->file.has_jpeg_ended && strip->last - y > 2 * 8u * from->down;
  if (lacks_rows && !is_progressive(from, TIFFComputeStrip(from->readers[plane].tiff, y, (uint16_t)plane))) {
    if (from->call->reply->status != CDECODING_OK) return false;
    decoding_fail(from->call, CDECODING_TRUNCATED, "the JPEG data of a strip end at row %u", y);
    return false;
  }
  size_t last = tiff_coded_row_size(from, from->width) - 1;
  if (y != strip->last || into[last] != fill || !shows_what_is_missing(from)) return true;
  // As for a whole strip: libtiff begins it again for an earlier row.
  for (uint32_t row = strip->first; row <= y; row++) {
    if (row % 64 == 0 && !decoding_proceeds(from->call, (double)row / from->height)) return false;
    if (!decode_row(from, plane, row, into, size, (uint8_t)~fill)) return false;
  }
  if (into[last] != (uint8_t)~fill) return true;
  decoding_fail(from->call, CDECODING_TRUNCATED, "the strip that begins with row %u lacks samples", strip->first);
  return false;
}
#endif
