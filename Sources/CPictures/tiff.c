// TIFF and BigTIFF, by libtiff: one page, of which the caller has found the directory.
//
// libtiff sees a file whose only directory is that page's, with the entries that matter for its samples. Other
// directories, and tags as long as an editor's layers, are never read.
//
// Large strips are decoded row by row, so that one strip with the whole picture takes little more memory than small
// ones. Besides the accumulator, decoding takes at most
//
//     256 KiB + 64 × pieces + 8 × width + planes × (kept + codec) bytes
//
// `pieces` are the strips or tiles of all planes, and `width` is that of the picture or of a tile, whichever is larger.
// `planes` is 1 if samples are interleaved (PlanarConfiguration 1), else the count of colours and alpha. `kept`, with the
// decoded bytes of a `row` and of a `piece` (of one plane), and the largest StripByteCount or TileByteCount as `coded`:
//
//     strips, uncompressed                                     the larger of row and 64 KiB
//     strips of at most 512 KiB; and all strips of JBIG, old
//     JPEG, and of subsampled YCbCr unless it is JPEG          piece + coded
//     other strips                                             row + coded
//     tiles                                                    piece + coded
//
// `coded` counts as at most 10 × piece + 1 MiB, because libtiff does not read more. `codec` is
//
//     uncompressed, PackBits, ThunderScan, NeXT                0
//     CCITT                                                    16 × width
//     LZW, Deflate                                             96 KiB
//     JPEG, old JPEG                                           192 KiB + 64 × width
//     LZMA, ZSTD                                               10 MiB (more for the highest levels of both)
//     WebP                                                     512 KiB + 160 × width + 6 × piece
//     LERC, LogLuv, PixarLog                                   5 × piece
//     JBIG                                                     2 × piece
//
// A progressive JPEG takes 2 × piece more. A file that needs more than it has reserved fails for want of memory.
//
// Source: TIFF 6.0; TIFF Technical Notes 2 and 3; libtiff 4.5, "TIFF Functions".

#include <stdlib.h>
#include <string.h>

#include "tiff_page.h"

enum {
  /// Rows that are read at once hold about so many bytes.
  band_size = 64 << 10,
  /// The largest strip that is decoded as a whole. For libdeflate, that takes half the time.
  small_strip = 512 << 10,
};

static bool read_color_map(page *from) {
  uint16_t *red, *green, *blue;
  if (from->bits > 16 || !TIFFGetField(from->readers[0].tiff, TIFFTAG_COLORMAP, &red, &green, &blue)) {
    decoding_fail(from->call, CDECODING_DAMAGED, "it has no colour map");
    return false;
  }
  from->map_size = (size_t)1 << from->bits;
  from->map = malloc(from->map_size * 3);
  if (!from->map) {
    decoding_fail(from->call, CDECODING_NO_MEMORY, "no memory for the colour map");
    return false;
  }
  // Some programs write values of 8 bits.
  bool has_16_bits = false;
  for (size_t index = 0; index < from->map_size && !has_16_bits; index++) {
    has_16_bits = red[index] > 255 || green[index] > 255 || blue[index] > 255;
  }
  unsigned shift = has_16_bits ? 8 : 0;
  for (size_t index = 0; index < from->map_size; index++) {
    from->map[3 * index] = (uint8_t)(red[index] >> shift);
    from->map[3 * index + 1] = (uint8_t)(green[index] >> shift);
    from->map[3 * index + 2] = (uint8_t)(blue[index] >> shift);
  }
  return true;
}

static bool unsupported(page *from, const char *what, unsigned value) {
  decoding_fail(from->call, CDECODING_UNSUPPORTED, "%s %u", what, value);
  return false;
}

/// What the photometric interpretation says: the colours, and what they mean.
static bool interpret(page *from) {
  TIFF *tiff = from->readers[0].tiff;
  from->colors = 3;
  switch (from->photometric) {
    case PHOTOMETRIC_MINISWHITE:
      from->colors = 1;
      from->meaning = INVERTED;
      break;
    case PHOTOMETRIC_MINISBLACK:
    case PHOTOMETRIC_MASK:
    case PHOTOMETRIC_LOGL: from->colors = 1; break;
    case PHOTOMETRIC_PALETTE:
      from->colors = 1;
      from->meaning = INDEX;
      if (!read_color_map(from)) return false;
      break;
    case PHOTOMETRIC_RGB:
    case PHOTOMETRIC_LOGLUV: break;
    case PHOTOMETRIC_SEPARATED: {
      uint16_t ink_set;
      TIFFGetFieldDefaulted(tiff, TIFFTAG_INKSET, &ink_set);
      from->colors = 4;
      if (ink_set != INKSET_CMYK) return unsupported(from, "inks of set", ink_set);
      break;
    }
    case PHOTOMETRIC_YCBCR:
      from->meaning = YCC;
      if (from->is_separate) {
        TIFFGetField(tiff, TIFFTAG_YCBCRSUBSAMPLING, &from->across, &from->down);
        if (from->across != 1 || from->down != 1) return unsupported(from, "planes of chroma of", from->across);
      } else {
        TIFFGetFieldDefaulted(tiff, TIFFTAG_YCBCRSUBSAMPLING, &from->across, &from->down);
      }
      if (from->across < 1 || from->across > 4 || from->down < 1 || from->down > 4) {
        return unsupported(from, "chroma subsampling", from->across * 10u + from->down);
      }
      if ((from->across > 1 || from->down > 1) && (from->bits != 8 || from->samples != 3)) {
        return unsupported(from, "subsampled chroma and bits", from->bits);
      }
      break;
    case PHOTOMETRIC_CIELAB:
    case PHOTOMETRIC_ICCLAB:
      from->meaning = LAB;
      if (from->bits != 8 && from->bits != 16) return unsupported(from, "CIE L*a*b* and bits", from->bits);
      break;
    default: return unsupported(from, "the photometric interpretation", from->photometric);
  }
  if (from->samples < from->colors) {
    decoding_fail(from->call, CDECODING_DAMAGED, "%u samples a pixel are too few", from->samples);
    return false;
  }
  return true;
}

/// Finds out which sample is alpha. Extra samples that have another meaning, or none, are not. A fourth sample beside red,
/// green and blue is alpha also if the file does not say so: programs leave out the tag.
static void find_alpha(page *from) {
  uint16_t count = 0;
  uint16_t *kinds = NULL;
  TIFFGetFieldDefaulted(from->readers[0].tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds);
  from->used = from->colors;
  bool has_place = from->meaning != LAB && from->meaning != YCC && from->colors < 4;
  if (!has_place || count == 0 || !kinds || from->samples <= from->colors) return;
  // Where the tag is missing, libtiff adds one.
  bool is_left_out = !from->file.names_extra_samples && from->photometric == PHOTOMETRIC_RGB && from->samples == 4;
  from->has_alpha = is_left_out || kinds[0] == EXTRASAMPLE_ASSOCALPHA || kinds[0] == EXTRASAMPLE_UNASSALPHA;
  from->is_associated = kinds[0] == EXTRASAMPLE_ASSOCALPHA;
  if (from->has_alpha) from->used++;
}

static bool is_depth_supported(const page *from) {
  switch (from->format) {
    case SAMPLEFORMAT_UINT:
    case SAMPLEFORMAT_VOID: return (from->bits >= 1 && from->bits <= 16) || from->bits == 32 || from->bits == 64;
    case SAMPLEFORMAT_INT: return from->bits == 16 || from->bits == 32 || from->bits == 64;
    case SAMPLEFORMAT_IEEEFP: return from->bits == 16 || from->bits == 32 || from->bits == 64;
    default: return false;
  }
}

/// Asks codecs for the samples that are simplest to use. To be called for each reader.
static void choose_samples(TIFF *tiff, const page *from) {
  if (from->photometric == PHOTOMETRIC_LOGL || from->photometric == PHOTOMETRIC_LOGLUV) {
    TIFFSetField(tiff, TIFFTAG_SGILOGDATAFMT, SGILOGDATAFMT_8BIT);
  }
  if (from->compression == COMPRESSION_JPEG && from->photometric == PHOTOMETRIC_YCBCR && !from->is_separate) {
    TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  }
}

static bool read_page(page *from) {
  decoding *call = from->call;
  if (!tiff_view_open(&from->readers[0], &from->file)) {
    tiff_view_fail(&from->file);
    return false;
  }
  from->reader_count = 1;
  TIFF *tiff = from->readers[0].tiff;
  uint16_t planar, samples;
  TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &from->width);
  TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &from->height);
  if (from->width != call->request->width || from->height != call->request->height) {
    decoding_fail(call, CDECODING_DAMAGED, "the page has another size than the header said");
    return false;
  }
  TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &from->compression);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &planar);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &samples);
  from->samples = samples;
  from->is_tiled = TIFFIsTiled(tiff) != 0;
  from->is_separate = planar == PLANARCONFIG_SEPARATE && samples > 1;
  from->across = from->down = 1;
  if (!TIFFIsCODECConfigured(from->compression)) return unsupported(from, "the compression", from->compression);
  if (!TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &from->photometric)) {
    bool is_fax = from->compression >= COMPRESSION_CCITTRLE && from->compression <= COMPRESSION_CCITTFAX4;
    from->photometric = samples >= 3 ? PHOTOMETRIC_RGB : is_fax ? PHOTOMETRIC_MINISWHITE : PHOTOMETRIC_MINISBLACK;
  }
  choose_samples(tiff, from);
  if (from->compression == COMPRESSION_JPEG && from->photometric == PHOTOMETRIC_YCBCR && !from->is_separate) {
    from->photometric = PHOTOMETRIC_RGB;
  }
  // Only now, because codecs change them.
  TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &from->bits);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &from->format);
  // Pictures of 8 bits that are said to be signed have values of 0 to 255, as far as is known, and are shown so elsewhere.
  if (from->format == SAMPLEFORMAT_INT && from->bits == 8) from->format = SAMPLEFORMAT_UINT;
  if (!is_depth_supported(from)) return unsupported(from, "samples of another format or bits:", from->bits);
  if (!interpret(from)) return false;
  find_alpha(from);
  return true;
}

// MARK: Strips and tiles

/// How many planes of strips or tiles are read.
static unsigned plane_count(const page *from) { return from->is_separate ? from->used : 1; }

static bool is_in_blocks(const page *from) { return from->across > 1 || from->down > 1; }

/// Whether libtiff's rows are as long as those that are read here.
static bool is_row(page *from, tmsize_t size, uint32_t width) {
  uint64_t bits = (uint64_t)width * (from->is_separate ? 1 : from->samples) * from->bits;
  if (size > 0 && (is_in_blocks(from) || (uint64_t)size >= (bits + 7) / 8)) return true;
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
      if (!decoding_read(from->call, offset + (uint64_t)in_strip * row_size, buffers[plane], rows * row_size)) return;
      order(from, buffers[plane], rows * row_size);
    }
    for (uint32_t row = 0; row < rows; row++) {
      add_buffered(from, 0, y + row, from->width, buffers, row * row_size);
    }
    y += rows;
  }
}

/// Compressed strips: row by row. Each plane has a reader, because one can only go on in the strip that it has begun.
static void read_rows(page *from, size_t row_size, uint8_t *buffers[most_samples]) {
  unsigned planes = plane_count(from);
  if (!allocate(from, buffers, planes, row_size)) return;
  for (unsigned plane = 1; plane < planes; plane++) {
    if (!tiff_view_open(&from->readers[plane], &from->file)) {
      tiff_view_fail(&from->file);
      return;
    }
    from->reader_count = plane + 1;
    choose_samples(from->readers[plane].tiff, from);
  }
  uint32_t per_strip = rows_per_strip(from);
  for (uint32_t y = 0; y < from->height; y++) {
    if (y % 64 == 0 && !decoding_proceeds(from->call, (double)y / from->height)) return;
    for (unsigned plane = 0; plane < planes; plane++) {
      TIFF *tiff = from->readers[plane].tiff;
      if (y % per_strip == 0 && !has_place(from, TIFFComputeStrip(tiff, y, (uint16_t)plane))) return;
      if (TIFFReadScanline(tiff, buffers[plane], y, (uint16_t)plane) < 0) {
        tiff_view_fail(&from->file);
        return;
      }
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

/// Strips of codecs that cannot stop within one.
static void read_strips(page *from, uint8_t *buffers[most_samples]) {
  TIFF *tiff = from->readers[0].tiff;
  uint32_t per_strip = rows_per_strip(from);
  tmsize_t size = TIFFStripSize(tiff), row_size = TIFFScanlineSize(tiff);
  if (size <= 0) tiff_view_fail(&from->file);
  if (size <= 0 || !is_row(from, row_size, from->width)) return;
  if (!allocate(from, buffers, plane_count(from), (size_t)size)) return;
  for (uint32_t y = 0; y < from->height; y += per_strip) {
    if (!decoding_proceeds(from->call, (double)y / from->height)) return;
    tmsize_t decoded = size;
    for (unsigned plane = 0; plane < plane_count(from); plane++) {
      uint32_t strip = TIFFComputeStrip(tiff, y, (uint16_t)plane);
      if (!has_place(from, strip)) return;
      tmsize_t taken = TIFFReadEncodedStrip(tiff, strip, buffers[plane], size);
      if (taken < 0) {
        tiff_view_fail(&from->file);
        return;
      }
      if (taken < decoded) decoded = taken;
    }
    uint32_t rows = per_strip < from->height - y ? per_strip : from->height - y;
    add_piece(from, 0, y, from->width, rows, buffers, (size_t)decoded, (size_t)row_size);
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
  if (!allocate(from, buffers, plane_count(from), (size_t)size)) return;
  for (uint64_t y = 0; y < from->height; y += height) {
    for (uint64_t x = 0; x < from->width; x += width) {
      if (!decoding_proceeds(from->call, (double)y / from->height)) return;
      for (unsigned plane = 0; plane < plane_count(from); plane++) {
        uint32_t tile = TIFFComputeTile(tiff, (uint32_t)x, (uint32_t)y, 0, (uint16_t)plane);
        if (!has_place(from, tile)) return;
        if (TIFFReadEncodedTile(tiff, tile, buffers[plane], size) < size) {
          tiff_view_fail(&from->file);
          return;
        }
      }
      add_piece(from, (uint32_t)x, (uint32_t)y, width, height, buffers, (size_t)size, (size_t)row_size);
    }
  }
}

static void read_samples(page *from) {
  uint8_t *buffers[most_samples] = {NULL};
  TIFF *tiff = from->readers[0].tiff;
  tmsize_t row_size = TIFFScanlineSize(tiff);
  bool is_whole = is_in_blocks(from) || from->compression == COMPRESSION_OJPEG || from->compression == COMPRESSION_JBIG;
  if (from->is_tiled) {
    read_tiles(from, buffers);
  } else if (is_row(from, row_size, from->width)) {
    if (from->compression == COMPRESSION_NONE && !is_whole) {
      read_uncompressed(from, (size_t)row_size, buffers);
    } else if (is_whole || TIFFStripSize(tiff) <= small_strip) {
      read_strips(from, buffers);
    } else {
      read_rows(from, (size_t)row_size, buffers);
    }
  }
  for (unsigned index = 0; index < most_samples; index++) free(buffers[index]);
}

/// Whether the planes are those of the page's colours.
static bool has_expected_colors(const page *from) {
  return from->call->request->plane_count == (from->meaning == INDEX ? 3 : from->colors);
}

/// Whether the planes are those of the page's pixels.
static bool fits(const page *from) {
  const cdecoding_request *request = from->call->request;
  for (unsigned index = 0; index < request->plane_count; index++) {
    const cdecoding_plane *plane = &request->planes[index], *first = &request->planes[0];
    if (plane->width != from->width || plane->height != from->height || plane->shrink_x != first->shrink_x ||
        plane->shrink_y != first->shrink_y) {
      return false;
    }
  }
  return true;
}

static void decode_page(page *from) {
  decoding *call = from->call;
  if (!tiff_view_read(&from->file) || !read_page(from)) return;
  // Without a colour map, libtiff takes the indices for shades of grey.
  if (!has_expected_colors(from)) {
    decoding_fail(call, CDECODING_DAMAGED, "it has other colours than its directory says");
    return;
  }
  if (!fits(from)) {
    decoding_fail(call, CDECODING_BAD_CALL, "the planes do not fit the page's pixels");
    return;
  }
  cdecoding_status status =
      accumulator_init(&from->sums, call->request, from->has_alpha, call->memory, call->memory_size);
  uint32_t longest = from->width, tile_width = 0;
  if (from->is_tiled && TIFFGetField(from->readers[0].tiff, TIFFTAG_TILEWIDTH, &tile_width) && tile_width > longest) {
    longest = tile_width;
  }
  from->line = malloc((size_t)longest * 4);
  from->pixels = malloc((size_t)longest * 4);
  if (!from->line || !from->pixels) status = CDECODING_NO_MEMORY;
  if (status != CDECODING_OK) {
    decoding_fail(call, status, "no memory for the planes, or no place in it");
    return;
  }
  from->file.is_decoding = true;
  read_samples(from);
  if (call->reply->status != CDECODING_OK) return;
  accumulator_finish(&from->sums);
  tiff_page_convert_planes(from);
}

void decode_tiff(decoding *call) {
  // A few of libtiff's functions do not know the reader for which they work.
  TIFFSetErrorHandler(NULL);
  TIFFSetWarningHandler(NULL);
  page *from = calloc(1, sizeof *from);
  if (!from) {
    decoding_fail(call, CDECODING_NO_MEMORY, "no memory for the page");
    return;
  }
  from->call = call;
  from->file.call = call;
  decode_page(from);
  for (unsigned index = 0; index < from->reader_count; index++) TIFFClose(from->readers[index].tiff);
  accumulator_free(&from->sums);
  free(from->file.directory);
  free(from->map);
  free(from->line);
  free(from->pixels);
  free(from);
}
