#ifdef THUMBJOB_FORMATS
// TIFF and BigTIFF, by libtiff: one page, of which the caller has found the directory.
//
// libtiff sees a file whose only directory is that page's, with the entries that matter for its samples. Other
// directories, and tags as long as an editor's layers, are never read.
//
// Large strips, and all of LZW, are decoded row by row, so that one strip with the whole picture takes little more
// memory than small ones. Besides the accumulator, decoding takes at most
//
//     256 KiB + 64 × pieces + 8 × width + planes × (kept + codec) bytes
//
// `pieces` are the strips or tiles of all planes, and `width` is that of the picture or of a tile, whichever is larger.
// `planes` is 1 if samples are interleaved (PlanarConfiguration 1), else the count of colours and alpha. `kept`, with
// the decoded bytes of a `row` and of a `piece` (of one plane), and the largest StripByteCount or TileByteCount as
// `coded`:
//
//     strips, uncompressed                                     the larger of row and 64 KiB
//     all strips of JBIG, old JPEG, and of subsampled YCbCr
//     unless it is JPEG                                        piece + coded
//     LZW, and Deflate of more than 4 MiB, in FillOrder 1, and
//     without a predictor or with differences of 8 or 16 bits  the larger of row and 64 KiB
//     other strips of LZW and Deflate, of at most 4 MiB        piece + coded
//     strips of another compression, of at most 512 KiB        piece + coded
//     all others                                               row + coded
//     tiles                                                    piece + coded
//
// `coded` counts as at most 10 × piece + 1 MiB, because libtiff does not read more. `codec` is
//
//     uncompressed, PackBits, ThunderScan, NeXT                0
//     CCITT                                                    16 × width
//     LZW, Deflate                                             176 KiB
//     JPEG, old JPEG                                           192 KiB + 64 × width + coded
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
#include "tiff_pieces.h"

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

/// Fails the call with a format that has one %u.
__attribute__((format(printf, 2, 0))) static bool unsupported(page *from, const char *format, unsigned value) {
  decoding_fail(from->call, CDECODING_UNSUPPORTED, format, value);
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
      if (ink_set != INKSET_CMYK) return unsupported(from, "inks other than CMYK (InkSet %u)", ink_set);
      break;
    }
    case PHOTOMETRIC_YCBCR:
      from->meaning = YCC;
      if (from->is_separate) {
        TIFFGetField(tiff, TIFFTAG_YCBCRSUBSAMPLING, &from->across, &from->down);
        if (from->across != 1 || from->down != 1) {
          decoding_fail(from->call, CDECODING_UNSUPPORTED, "separate planes with subsampled colour");
          return false;
        }
      } else {
        TIFFGetFieldDefaulted(tiff, TIFFTAG_YCBCRSUBSAMPLING, &from->across, &from->down);
      }
      if (from->across < 1 || from->across > 4 || from->down < 1 || from->down > 4) {
        decoding_fail(from->call, CDECODING_UNSUPPORTED, "chroma subsampling of %u x %u", from->across, from->down);
        return false;
      }
      if ((from->across > 1 || from->down > 1) && (from->bits != 8 || from->samples != 3)) {
        return unsupported(from, "subsampled colour with samples of %u bits", from->bits);
      }
      break;
    case PHOTOMETRIC_CIELAB:
    case PHOTOMETRIC_ICCLAB:
      from->meaning = LAB;
      if (from->bits != 8 && from->bits != 16) return unsupported(from, "CIE L*a*b* colours with %u bits", from->bits);
      break;
    default: return unsupported(from, "colours of an unknown kind, number %u", from->photometric);
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
  if (!TIFFIsCODECConfigured(from->compression)) return unsupported(from, "the compression %u", from->compression);
  if (!TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &from->photometric)) {
    bool is_fax = from->compression >= COMPRESSION_CCITTRLE && from->compression <= COMPRESSION_CCITTFAX4;
    from->photometric = samples >= 3 ? PHOTOMETRIC_RGB : is_fax ? PHOTOMETRIC_MINISWHITE : PHOTOMETRIC_MINISBLACK;
  }
  tiff_pieces_choose_samples(tiff, from);
  if (from->compression == COMPRESSION_JPEG && from->photometric == PHOTOMETRIC_YCBCR && !from->is_separate) {
    from->photometric = PHOTOMETRIC_RGB;
  }
  // Only now, because codecs change them.
  TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &from->bits);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &from->format);
  // Pictures of 8 bits that are said to be signed have values of 0 to 255, as far as is known, and are shown so
  // elsewhere.
  if (from->format == SAMPLEFORMAT_INT && from->bits == 8) from->format = SAMPLEFORMAT_UINT;
  if (from->format == SAMPLEFORMAT_COMPLEXINT || from->format == SAMPLEFORMAT_COMPLEXIEEEFP) {
    return unsupported(from, "complex samples of %u bits", from->bits);
  }
  if (!is_depth_supported(from)) return unsupported(from, "samples of %u bits", from->bits);
  if (!interpret(from)) return false;
  find_alpha(from);
  return true;
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
  tiff_pieces_read(from);
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
#endif
