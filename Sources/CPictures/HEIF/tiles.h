// What the codecs of HEIF pictures share: reading the data of a tile, and adding a decoded tile to the picture.

#ifndef TILES_H
#define TILES_H

#include "accumulator.h"
#include "decoding.h"

#pragma clang assume_nonnull begin

/// The state between the tiles of one picture.
typedef struct tile_sums {
  decoding *call;
  accumulator sums;
  /// The alpha of each pixel of the picture, 8 bits; NULL if there is none. Of an overlay, that of the last tile with alpha.
  uint8_t *_Nullable alpha;
  /// Of an overlay, the part of each pixel that no tile so far covers, 0 to 255; else NULL.
  uint8_t *_Nullable uncovered;
  /// Whether pixels have weights: if there is either of the two.
  bool is_weighted;
  /// The significant bits of each component, as in the first tile; 0 before it.
  unsigned bits[3];
  /// Memory for rows, made when it is needed.
  uint8_t *_Nullable rows;
  size_t rows_size;
} tile_sums;

/// A decoded tile.
typedef struct tile_picture {
  uint32_t width, height;  ///< pixels
  unsigned components;     ///< 1 or 3
  unsigned across, down;   ///< the pixels that a chroma sample covers; 1 or 2
  const uint8_t *_Nullable planes[3];
  ptrdiff_t strides[3];    ///< bytes from row to row
  unsigned bits[3];        ///< samples of more than 8 bits are 16-bit words
} tile_picture;

/// Checks the request, and allocates the sums. `tiles` must be freed in any case.
bool tiles_init(tile_sums *tiles, decoding *call);

/// Adds a decoded tile. False if the call has failed.
bool tiles_add(tile_sums *tiles, const cdecoding_tile *tile, const tile_picture *picture);

void tiles_free(tile_sums *tiles);

/// The data of a tile, which are in several parts of the file, from the first byte to the last.
typedef struct tile_data {
  decoding *call;
  const cdecoding_extent *_Nullable extent;
  uint32_t extents_left;
  uint64_t position;  ///< in the first extent that is left
  size_t remaining;   ///< bytes in all of them
} tile_data;

/// Fails the call if the tile has more data than its samples would be without compression, or more than memory has bytes.
bool tile_data_init(tile_data *data, decoding *call, const cdecoding_tile *tile);

/// Takes the next `count` bytes, which must be there.
bool tile_data_take(tile_data *data, uint8_t *into, size_t count);

/// Reads a decoder configuration record into memory that the caller frees; NULL if the call has failed. `minimum` is how many
/// bytes it must have.
uint8_t *_Nullable tile_configuration(decoding *call, const cdecoding_tile *tile, size_t minimum);

#pragma clang assume_nonnull end

#endif
