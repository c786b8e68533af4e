#ifdef THUMBJOB_FORMATS
// Reads the strips or tiles of a page, and adds their rows to the means.

#include "tiff_pieces.h"

#include <stdlib.h>

#include "tiff_coded.h"
#include "tiff_stream.h"

/// Rows that are read at once hold about so many bytes.
enum { band_size = 64 << 10 };

void tiff_pieces_choose_samples(TIFF *tiff, const page *from) {
  if (from->photometric == PHOTOMETRIC_LOGL || from->photometric == PHOTOMETRIC_LOGLUV) {
    TIFFSetField(tiff, TIFFTAG_SGILOGDATAFMT, SGILOGDATAFMT_8BIT);
  }
  if (from->compression == COMPRESSION_JPEG && from->photometric == PHOTOMETRIC_YCBCR && !from->is_separate) {
    TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  }
}

/// How many planes of strips or tiles are read.
static unsigned plane_count(const page *from) { return from->is_separate ? from->used : 1; }

static bool is_in_blocks(const page *from) { return from->across > 1 || from->down > 1; }

/// Whether libtiff's rows are as long as those that are read here.
static bool is_row(page *from, tmsize_t size, uint32_t width) {
  if (size > 0 && (is_in_blocks(from) || (uint64_t)size >= tiff_coded_row_size(from, width))) return true;
  tiff_view_fail(&from->file);
  return false;
}

/// Whether the place of a strip or tile is known. Sparse files leave out what is empty; libtiff does not read these.
static bool has_place(page *from, uint32_t index) {
  TIFF *tiff = from->readers[0].tiff;
  if (TIFFGetStrileOffset(tiff, index) != 0 && TIFFGetStrileByteCount(tiff, index) != 0) return true;
  decoding_fail(from->call, CDECODING_TRUNCATED, "strip or tile %u is missing", index);
  return false;
}

/// Adds the row that begins at an offset of each plane's buffer.
static void add_buffered(
    page *from, uint32_t x, uint32_t y, size_t count, uint8_t *const buffers[most_samples], size_t offset) {
  const uint8_t *rows[most_samples];
  for (unsigned plane = 0; plane < most_samples; plane++) {
    rows[plane] = buffers[plane < plane_count(from) ? plane : 0] + offset;
  }
  tiff_page_add_row(from, x, y, count, rows);
}

static bool allocate(page *from, uint8_t **buffers, unsigned count, size_t size) {
  for (unsigned index = 0; index < count; index++) {
    buffers[index] = size > 0 ? malloc(size) : NULL;
    if (!buffers[index]) {
      decoding_fail(from->call, CDECODING_NO_MEMORY, "no memory for %zu bytes of a strip or tile", size);
      return false;
    }
  }
  return true;
}

/// What libtiff does after reading: fill order and byte order.
static void order(const page *from, uint8_t *samples, size_t size) {
  TIFF *tiff = from->readers[0].tiff;
  uint16_t fill_order;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_FILLORDER, &fill_order);
  if (fill_order == FILLORDER_LSB2MSB) TIFFReverseBits(samples, (tmsize_t)size);
  if (!TIFFIsByteSwapped(tiff)) return;
  void *words = samples;
  if (from->bits == 16) TIFFSwabArrayOfShort(words, (tmsize_t)(size / 2));
  if (from->bits == 32) TIFFSwabArrayOfLong(words, (tmsize_t)(size / 4));
  if (from->bits == 64) TIFFSwabArrayOfLong8(words, (tmsize_t)(size / 8));
}

static uint32_t rows_per_strip(const page *from) {
  uint32_t rows = 0;
  TIFFGetFieldDefaulted(from->readers[0].tiff, TIFFTAG_ROWSPERSTRIP, &rows);
  return rows == 0 || rows > from->height ? from->height : rows;
}

/// Uncompressed strips: a few rows at a time, straight from the file.
static void read_uncompressed(page *from, size_t row_size, uint8_t *buffers[most_samples]) {
  uint32_t per_strip = rows_per_strip(from);
  size_t band = row_size < band_size ? band_size / row_size : 1;
  if (!allocate(from, buffers, plane_count(from), band * row_size)) return;
  for (uint32_t y = 0; y < from->height;) {
    if (!decoding_proceeds(from->call, (double)y / from->height)) return;
    uint32_t in_strip = y % per_strip;
    uint32_t rows = per_strip - in_strip < band ? per_strip - in_strip : (uint32_t)band;
    if (rows > from->height - y) rows = from->height - y;
    for (unsigned plane = 0; plane < plane_count(from); plane++) {
      uint32_t strip = TIFFComputeStrip(from->readers[0].tiff, y, (uint16_t)plane);
      if (!has_place(from, strip)) return;
      uint64_t offset = TIFFGetStrileOffset(from->readers[0].tiff, strip);
      if (offset > from->call->input->size) {
        decoding_fail(from->call, CDECODING_TRUNCATED, "strip %u is after the end of the file", strip);
        return;
      }
      uint64_t start = (uint64_t)in_strip * row_size, size = (uint64_t)rows * row_size;
      // What follows the bytes of a strip is something else, such as the next one.
      if (TIFFGetStrileByteCount(from->readers[0].tiff, strip) < start + size) {
        decoding_fail(from->call, CDECODING_TRUNCATED, "strip %u has too few bytes for its rows", strip);
        return;
      }
      if (!decoding_read(from->call, offset + start, buffers[plane], (size_t)size)) return;
      order(from, buffers[plane], rows * row_size);
    }
    for (uint32_t row = 0; row < rows; row++) {
      add_buffered(from, 0, y + row, from->width, buffers, row * row_size);
    }
    y += rows;
  }
}

/// The largest strip that libtiff decodes as a whole. For its Deflate, that takes half the time.
static tmsize_t small_strip(const page *from) {
  switch (from->compression) {
    case COMPRESSION_LZW:
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_DEFLATE: return 4 << 20;
    default: return 512 << 10;
  }
}

/// Whether the first strip has the LZW of before TIFF 5.0, whose bits are in another order: libtiff tells it by the first
/// code.
static bool is_old_lzw(page *from) {
  TIFF *tiff = from->readers[0].tiff;
  uint8_t first[2];
  return from->compression == COMPRESSION_LZW && TIFFGetStrileByteCount(tiff, 0) >= 2 &&
         decoding_read(from->call, TIFFGetStrileOffset(tiff, 0), first, 2) && first[0] == 0 && (first[1] & 1) != 0;
}

/// Whether strips are decompressed without libtiff: those of LZW, for which it takes longer, and large ones of Deflate.
static bool is_streamed(page *from) {
  TIFF *tiff = from->readers[0].tiff;
  uint16_t predictor = PREDICTOR_NONE, fill_order;
  bool is_lzw = from->compression == COMPRESSION_LZW;
  bool is_deflate = from->compression == COMPRESSION_ADOBE_DEFLATE || from->compression == COMPRESSION_DEFLATE;
  if (!is_lzw && !(is_deflate && TIFFStripSize(tiff) > small_strip(from))) return false;
  TIFFGetField(tiff, TIFFTAG_PREDICTOR, &predictor);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_FILLORDER, &fill_order);
  if (fill_order != FILLORDER_MSB2LSB || is_old_lzw(from)) return false;
  if (predictor != PREDICTOR_NONE) return predictor == PREDICTOR_HORIZONTAL && (from->bits == 8 || from->bits == 16);
  return true;
}

/// Adds to each sample of a row the one before it.
static void undo_differences(const page *from, uint8_t *row, size_t size) {
  size_t step = from->is_separate ? 1 : from->samples;
  if (from->bits == 8) {
    for (size_t index = step; index < size; index++) row[index] = (uint8_t)(row[index] + row[index - step]);
    return;
  }
  uint16_t *words = (uint16_t *)(void *)row;
  for (size_t index = step; index < size / 2; index++) words[index] = (uint16_t)(words[index] + words[index - step]);
}

/// Reads rows of a strip from where its plane's stream is.
static bool read_band(page *from, tiff_stream *stream, uint8_t *rows, size_t count, size_t row_size) {
  if (!tiff_stream_read(stream, rows, count * row_size)) return false;
  order(from, rows, count * row_size);
  uint16_t predictor = PREDICTOR_NONE;
  TIFFGetField(from->readers[0].tiff, TIFFTAG_PREDICTOR, &predictor);
  for (size_t row = 0; row < count && predictor == PREDICTOR_HORIZONTAL; row++) {
    undo_differences(from, rows + row * row_size, row_size);
  }
  return true;
}

/// Strips of LZW, and large ones of Deflate: a few rows at a time. Each plane has a stream.
static void read_streams(
    page *from, size_t row_size, uint8_t *buffers[most_samples], tiff_stream *streams[most_samples]) {
  TIFF *tiff = from->readers[0].tiff;
  unsigned planes = plane_count(from);
  size_t band = row_size < band_size ? band_size / row_size : 1;
  if (!allocate(from, buffers, planes, band * row_size)) return;
  for (unsigned plane = 0; plane < planes; plane++) {
    streams[plane] = calloc(1, sizeof *streams[plane]);
    if (!streams[plane]) {
      decoding_fail(from->call, CDECODING_NO_MEMORY, "no memory for a strip");
      return;
    }
    streams[plane]->call = from->call;
    streams[plane]->is_lzw = from->compression == COMPRESSION_LZW;
  }
  uint32_t per_strip = rows_per_strip(from);
  for (uint32_t y = 0; y < from->height;) {
    if (!decoding_proceeds(from->call, (double)y / from->height)) return;
    uint32_t left = per_strip - y % per_strip;
    if (left > from->height - y) left = from->height - y;
    uint32_t rows = left < band ? left : (uint32_t)band;
    for (unsigned plane = 0; plane < planes; plane++) {
      uint32_t strip = TIFFComputeStrip(tiff, y, (uint16_t)plane);
      if (y % per_strip == 0 &&
          (!has_place(from, strip) || !tiff_stream_begin(
                                          streams[plane], TIFFGetStrileOffset(tiff, strip),
                                          TIFFGetStrileByteCount(tiff, strip)))) {
        return;
      }
      if (!read_band(from, streams[plane], buffers[plane], rows, row_size)) return;
    }
    for (uint32_t row = 0; row < rows; row++) {
      add_buffered(from, 0, y + row, from->width, buffers, row * row_size);
    }
    y += rows;
  }
}

/// Whether a reader has found the same directory as the first one. The values that are not in the directory itself, such as
/// the bits of three samples, are read again for each reader, and the file may have changed meanwhile. Buffers are as long as
/// the first reader says.
static bool is_like_first(const page *from, TIFF *tiff) {
  TIFF *first = from->readers[0].tiff;
  static const uint32_t short_tags[] = {
      TIFFTAG_BITSPERSAMPLE, TIFFTAG_SAMPLESPERPIXEL, TIFFTAG_SAMPLEFORMAT, TIFFTAG_COMPRESSION, TIFFTAG_PLANARCONFIG,
      TIFFTAG_PHOTOMETRIC,
  };
  for (size_t index = 0; index < sizeof short_tags / sizeof *short_tags; index++) {
    uint16_t own = 0, other = 0;
    TIFFGetFieldDefaulted(first, short_tags[index], &own);
    TIFFGetFieldDefaulted(tiff, short_tags[index], &other);
    if (own != other) return false;
  }
  static const uint32_t long_tags[] = {TIFFTAG_IMAGEWIDTH, TIFFTAG_IMAGELENGTH, TIFFTAG_ROWSPERSTRIP};
  for (size_t index = 0; index < sizeof long_tags / sizeof *long_tags; index++) {
    uint32_t own = 0, other = 0;
    TIFFGetFieldDefaulted(first, long_tags[index], &own);
    TIFFGetFieldDefaulted(tiff, long_tags[index], &other);
    if (own != other) return false;
  }
  // Subsampling, too, is in these sizes.
  return !TIFFIsTiled(tiff) && TIFFScanlineSize(tiff) == TIFFScanlineSize(first) &&
         TIFFStripSize(tiff) == TIFFStripSize(first);
}

/// Other compressed strips: row by row. Each plane has a reader, because one can only go on in the strip that it has
/// begun.
static void read_rows(page *from, size_t row_size, uint8_t *buffers[most_samples]) {
  unsigned planes = plane_count(from);
  if (!allocate(from, buffers, planes, row_size)) return;
  for (unsigned plane = 1; plane < planes; plane++) {
    if (!tiff_view_open(&from->readers[plane], &from->file)) {
      tiff_view_fail(&from->file);
      return;
    }
    from->reader_count = plane + 1;
    tiff_pieces_choose_samples(from->readers[plane].tiff, from);
    if (!is_like_first(from, from->readers[plane].tiff)) {
      decoding_fail(from->call, CDECODING_DAMAGED, "the file changes while it is read");
      return;
    }
  }
  uint32_t per_strip = rows_per_strip(from);
  for (uint32_t y = 0; y < from->height; y++) {
    if (y % 64 == 0 && !decoding_proceeds(from->call, (double)y / from->height)) return;
    row_range strip = {.first = y - y % per_strip, .last = from->height - 1};
    if (strip.last - strip.first >= per_strip) strip.last = strip.first + per_strip - 1;
    for (unsigned plane = 0; plane < planes; plane++) {
      TIFF *tiff = from->readers[plane].tiff;
      if (y == strip.first && !has_place(from, TIFFComputeStrip(tiff, y, (uint16_t)plane))) return;
      if (!tiff_coded_read_row(from, plane, y, &strip, buffers[plane], row_size)) return;
    }
    add_buffered(from, 0, y, from->width, buffers, 0);
  }
}

/// Adds a whole strip or tile.
static void add_piece(
    page *from, uint32_t x, uint32_t y, uint32_t width, uint32_t height, uint8_t *const buffers[most_samples],
    size_t size, size_t row_size) {
  if (is_in_blocks(from)) {
    tiff_page_add_blocks(from, x, y, width, height, buffers[0], size);
    return;
  }
  uint32_t inside = width < from->width - x ? width : from->width - x;
  for (uint32_t row = 0; row < height && y + row < from->height && (row + 1) * row_size <= size; row++) {
    add_buffered(from, x, y + row, inside, buffers, row * row_size);
  }
}

/// Whole strips: small ones, and those of codecs that cannot stop within one.
static void read_strips(page *from, uint8_t *buffers[most_samples]) {
  TIFF *tiff = from->readers[0].tiff;
  uint32_t per_strip = rows_per_strip(from);
  tmsize_t size = TIFFStripSize(tiff), row_size = TIFFScanlineSize(tiff);
  if (size <= 0) tiff_view_fail(&from->file);
  if (size <= 0 || !is_row(from, row_size, from->width)) return;
  unsigned planes = plane_count(from);
  if (!allocate(from, buffers, planes, (size_t)size)) return;
  for (uint32_t y = 0; y < from->height; y += per_strip) {
    if (!decoding_proceeds(from->call, (double)y / from->height)) return;
    uint32_t rows = per_strip < from->height - y ? per_strip : from->height - y;
    size_t decoded = (size_t)size;
    size_t last = (size_t)row_size * (rows - 1) + tiff_coded_row_size(from, from->width) - 1;
    for (unsigned plane = 0; plane < planes; plane++) {
      uint32_t strip = TIFFComputeStrip(tiff, y, (uint16_t)plane);
      if (!has_place(from, strip)) return;
      size_t taken =
          tiff_coded_read_piece(from, strip, buffers[plane], (size_t)size, is_in_blocks(from) ? SIZE_MAX : last);
      if (taken == 0) return;
      if (taken < decoded) decoded = taken;
    }
    add_piece(from, 0, y, from->width, rows, buffers, decoded, (size_t)row_size);
    if (per_strip > from->height - y) return;
  }
}

static void read_tiles(page *from, uint8_t *buffers[most_samples]) {
  TIFF *tiff = from->readers[0].tiff;
  uint32_t width = 0, height = 0;
  TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &width);
  TIFFGetField(tiff, TIFFTAG_TILELENGTH, &height);
  tmsize_t size = TIFFTileSize(tiff), row_size = TIFFTileRowSize(tiff);
  if (width == 0 || height == 0 || size <= 0) {
    tiff_view_fail(&from->file);
    return;
  }
  if (!is_row(from, row_size, width)) return;
  unsigned planes = plane_count(from);
  if (!allocate(from, buffers, planes, (size_t)size)) return;
  for (uint64_t y = 0; y < from->height; y += height) {
    for (uint64_t x = 0; x < from->width; x += width) {
      if (!decoding_proceeds(from->call, (double)y / from->height)) return;
      // What is outside the picture may be missing.
      uint64_t columns = width < from->width - x ? width : from->width - x;
      uint64_t rows = height < from->height - y ? height : from->height - y;
      size_t last = (size_t)row_size * (size_t)(rows - 1) + tiff_coded_row_size(from, (uint32_t)columns) - 1;
      for (unsigned plane = 0; plane < planes; plane++) {
        uint32_t tile = TIFFComputeTile(tiff, (uint32_t)x, (uint32_t)y, 0, (uint16_t)plane);
        if (!has_place(from, tile)) return;
        size_t end = is_in_blocks(from) ? SIZE_MAX : last;
        if (tiff_coded_read_piece(from, tile, buffers[plane], (size_t)size, end) == 0) return;
      }
      add_piece(from, (uint32_t)x, (uint32_t)y, width, height, buffers, (size_t)size, (size_t)row_size);
    }
  }
}

static void decompress_strips(page *from, size_t row_size, uint8_t *buffers[most_samples]) {
  tiff_stream *streams[most_samples] = {NULL};
  read_streams(from, row_size, buffers, streams);
  for (unsigned plane = 0; plane < most_samples && streams[plane]; plane++) {
    tiff_stream_end(streams[plane]);
    free(streams[plane]);
  }
}

void tiff_pieces_read(page *from) {
  uint8_t *buffers[most_samples] = {NULL};
  TIFF *tiff = from->readers[0].tiff;
  tmsize_t row_size = TIFFScanlineSize(tiff);
  bool is_whole = is_in_blocks(from) || from->compression == COMPRESSION_OJPEG || from->compression == COMPRESSION_JBIG;
  if (from->is_tiled) {
    read_tiles(from, buffers);
  } else if (is_row(from, row_size, from->width)) {
    if (from->compression == COMPRESSION_NONE && !is_whole) {
      read_uncompressed(from, (size_t)row_size, buffers);
    } else if (!is_whole && is_streamed(from)) {
      decompress_strips(from, (size_t)row_size, buffers);
    } else if (from->call->reply->status != CDECODING_OK) {
      // The first strip is unreadable, which is_streamed() has found out.
    } else if (is_whole || TIFFStripSize(tiff) <= small_strip(from)) {
      read_strips(from, buffers);
    } else {
      read_rows(from, (size_t)row_size, buffers);
    }
  }
  for (unsigned index = 0; index < most_samples; index++) free(buffers[index]);
}
#endif
