// One page of a TIFF file, and what its samples mean.

#ifndef TIFF_PAGE_H
#define TIFF_PAGE_H

#include "accumulator.h"
#include "tiff_view.h"

#pragma clang assume_nonnull begin

/// Colours and alpha.
enum { most_samples = 5 };

/// How samples become the planes' values.
typedef enum meaning {
  SHOWN_AS_IT_IS,
  INVERTED,
  INDEX,   ///< of a colour map
  LAB,     ///< CIE L*a*b*: in planes as L*, a* + 128, b* + 128 until the end
  YCC,     ///< in planes as luma and chroma until the end
} meaning;

typedef struct page {
  view file;
  decoding *call;
  accumulator sums;
  /// The first knows the directory. Others read the other planes' strips.
  reader readers[most_samples];
  unsigned reader_count;
  uint32_t width, height;
  uint16_t compression, photometric, bits, format;
  bool is_tiled, is_separate;
  /// Samples of a pixel: in the file; and those that are read, colours first, then alpha.
  unsigned samples, colors, used;
  bool has_alpha, is_associated;
  meaning meaning;
  /// Pixels that share a chroma sample; 1 and 1 if samples are interleaved as those of other pictures.
  uint16_t across, down;
  /// The colour map: red, green and blue of each index.
  uint8_t *_Nullable map;
  size_t map_size;
  /// A row as 8-bit samples, and as pixels.
  uint8_t *_Nullable line;
  uint8_t *_Nullable pixels;
} page;

/// Adds `count` pixels from (x, y) on, of one row with all samples, or of one row for each sample.
void tiff_page_add_row(page *from, uint32_t x, uint32_t y, size_t count, const uint8_t *_Nonnull const rows[_Nonnull]);

/// Adds the rows of a strip or tile whose luma and chroma are in blocks: the luma of `across` × `down` pixels, then both
/// chroma samples.
void tiff_page_add_blocks(
    page *from, uint32_t x, uint32_t y, uint32_t width, uint32_t height, const uint8_t *blocks, size_t size);

/// Converts the finished planes to RGB, if they have other colours.
void tiff_page_convert_planes(page *from);

#pragma clang assume_nonnull end

#endif
