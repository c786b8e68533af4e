// Makes pictures for tests with the libraries' encoders, and counts the memory that decoding takes.

#ifndef PICTURE_WRITERS_H
#define PICTURE_WRITERS_H

#include <cpictures.h>

#include "inflating.h"

#pragma clang assume_nonnull begin

/// A file in memory, to be freed with free(). `bytes` is NULL if it could not be made.
typedef struct written_file {
  uint8_t *_Nullable bytes;
  size_t size;
} written_file;

typedef struct webp_recipe {
  uint32_t width, height;
  bool is_lossless;
  bool keeps_hidden;   ///< the colours of transparent pixels stay
  int quality;         ///< 0 to 100
  int partitions;      ///< 0 to 3: the logarithm of the count of VP8's partitions
} webp_recipe;

/// Encodes RGBA pixels. If all are opaque, the file has no alpha.
written_file write_webp(const webp_recipe *recipe, const uint8_t *pixels);

typedef struct tiff_recipe {
  uint32_t width, height;
  uint16_t samples, bits, format, photometric, compression;
  bool is_separate, is_big, is_big_endian, has_reversed_bits;
  uint32_t rows_per_strip;   ///< 0 if there are tiles
  uint32_t tile_side;
  uint16_t extra;            ///< the kind of the last sample if it is alpha; else 0
  uint16_t predictor;        ///< 0 if there is none
  uint16_t across, down;     ///< of chroma
  const uint16_t *_Nullable map;  ///< red, green and blue of all indices, one after the other
} tiff_recipe;

/// Writes rows, each of whole bytes, whose samples are packed as in the file, in the machine's byte order: all rows of
/// the first plane, then those of the next. If the file has several planes, `row_size` is that of one plane. Chroma that
/// is subsampled must be in blocks, as many rows as there are rows of blocks.
written_file write_tiff(const tiff_recipe *recipe, const uint8_t *rows, size_t row_size);

/// Whether the allocator counts what it has given; that of a sanitizer does not.
bool counts_memory(void);

/// Decodes bytes in another process. Returns the most bytes that were allocated when the decoder read or reported.
size_t decode_counting(
    const cdecoding_request *request, const cdecoding_tile *_Nullable tiles, const cdecoding_extent *_Nullable extents,
    const uint8_t *bytes, size_t size, size_t memory_size, cdecoding_reply *reply);

#pragma clang assume_nonnull end

#endif
