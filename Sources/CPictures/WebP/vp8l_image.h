// The pixels of a lossless WebP picture, or of the values that belong to it, before transforms are undone.

#ifndef VP8L_IMAGE_H
#define VP8L_IMAGE_H

#include "decoding.h"
#include "vp8l_codes.h"

#pragma clang assume_nonnull begin

/// The distances that stand for pixels near by.
#define VP8L_NEAR_COUNT 120

/// What all images of a stream share.
typedef struct vp8l_stream {
  decoding *call;
  vp8l_bits bits;
  /// How far each of the near distances goes to the left and upwards.
  int8_t near[VP8L_NEAR_COUNT][2];
  /// The entries of the tables of one group.
  uint16_t tables[5][VP8L_MOST_ENTRIES];
} vp8l_stream;

/// The codes of one group: green, lengths and colours of the cache; red; blue; alpha; distances.
typedef struct vp8l_group {
  vp8l_code codes[5];
  uint16_t *tables;
} vp8l_group;

/// A picture of pixels: the one that is decoded, or one of the values of blocks.
typedef struct vp8l_image {
  uint32_t width, height;
  /// All pixels, or the last ones: of the one at index `i`, the place is `i & mask`.
  uint32_t *_Nullable pixels;
  size_t capacity, mask;
  /// The colour cache, of one colour if the bits of its places are 0.
  unsigned cache_bits;
  uint32_t *_Nullable cache;
  /// The group of each block of 2 to the power of `block_bits` pixels along each side; NULL if there is one group.
  uint32_t *_Nullable blocks;
  unsigned block_bits;
  vp8l_group *_Nullable groups;
  uint32_t group_count;
} vp8l_image;


/// Takes the row `y` of the picture. Returns whether to go on.
typedef bool (*vp8l_take_row)(void *context, const vp8l_image *from, uint32_t y);

void vp8l_stream_begin(vp8l_stream *stream, decoding *call, cdecoding_extent contents);

/// Records that the data break the format; or that they end too early, which looks alike.
void vp8l_stream_fail(vp8l_stream *stream, const char *what);

/// Memory, all 0. If there is none, the call has failed.
void *_Nullable vp8l_stream_allocate(vp8l_stream *stream, size_t count, size_t size);

/// Makes room for the pixels of an image, and reads its colour cache.
///
/// - `keeps_all`: whether all pixels are kept, also if no distance goes back as far.
bool vp8l_image_prepare(vp8l_stream *stream, vp8l_image *into, bool keeps_all);

/// Reads the codes and the pixels.
///
/// - `take_row`: called for each row once it is whole.
bool vp8l_image_read(vp8l_stream *stream, vp8l_image *into, vp8l_take_row _Nullable take_row, void *_Nullable context);

/// Reads an image with the values of blocks or the colours of an index. NULL if the call has failed.
uint32_t *_Nullable vp8l_image_read_values(vp8l_stream *stream, uint32_t width, uint32_t height);

void vp8l_image_free(vp8l_image *image);

#pragma clang assume_nonnull end

#endif
