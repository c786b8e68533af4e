// Lossless WebP pictures, in a few MiB. libwebp keeps all pixels, four bytes each, the whole file, and the picture
// that it returns. But pixels are copied only from the last 2^20 - 120 ones, and codes can be read from left to
// right. So only the last 2^20 pixels are kept here, and each row goes to the means as soon as it is whole.
//
// That is why libwebp does not decode them: a photo of 24 megapixels (26 MB) took 0.57 s and 5 MiB here, and 0.71 s and
// 121 MiB where libwebp 1.2.4 decoded it and scaled it to 768 pixels (2026-11-26, 2 cores at 2.3 GHz). `make bench-formats`
// compares such a picture with vipsthumbnail, which uses libwebp. `make fuzz TARGETS=lossless` compares the pixels with
// libwebp's.
//
// Decoding takes at most
//
//     160 KiB + 4 × the lesser of 2^20 and the picture's pixels + 20 × width + values + codes bytes
//
// `values` are four bytes for each block of the transforms and groups of codes; blocks have at least 4 × 4 pixels,
// so that all three kinds of them take at most 3/4 byte for each pixel; photos take a hundredth of that. `codes` are
// up to 20 KiB for each group: about 6 in photos, which have up to a hundred groups.
//
// Source: RFC 9649, section 3.

#include "vp8l.h"

#include <stdlib.h>
#include <string.h>

#include "vp8l_image.h"
#include "vp8l_transforms.h"

enum { most_transforms = 4 };

typedef struct vp8l {
  vp8l_stream stream;
  vp8l_transform transforms[most_transforms];
  unsigned transform_count;
  /// Where the rows of the picture go.
  const cdecoding_tile *tile;
  accumulator *sums;
  bool has_alpha;
  /// A row of pixels, and of their components.
  uint32_t *_Nullable row;
  uint8_t *_Nullable samples;
} vp8l;

/// Undoes the transforms of a row, and adds it to the means.
static bool finish_row(void *context, const vp8l_image *from, uint32_t y) {
  vp8l *state = context;
  size_t start = (size_t)y * from->width & from->mask, until_end = from->capacity - start;
  size_t first = from->width < until_end ? from->width : until_end;
  memcpy(state->row, from->pixels + start, first * sizeof *state->row);
  memcpy(state->row + first, from->pixels, (from->width - first) * sizeof *state->row);
  for (unsigned index = state->transform_count; index-- > 0;) {
    vp8l_transform_undo(&state->transforms[index], y, state->row);
  }
  uint32_t width = state->tile->width;
  uint8_t *sample = state->samples;
  if (state->has_alpha) {
    for (uint32_t x = 0; x < width; x++, sample += 4) {
      uint32_t pixel = state->row[x];
      sample[0] = (uint8_t)(pixel >> 16);
      sample[1] = (uint8_t)(pixel >> 8);
      sample[2] = (uint8_t)pixel;
      sample[3] = (uint8_t)(pixel >> 24);
    }
  } else {
    for (uint32_t x = 0; x < width; x++, sample += 3) {
      uint32_t pixel = state->row[x];
      sample[0] = (uint8_t)(pixel >> 16);
      sample[1] = (uint8_t)(pixel >> 8);
      sample[2] = (uint8_t)pixel;
    }
  }
  accumulator_add(
      state->sums, state->tile->x, (int64_t)state->tile->y + y, width, state->samples,
      state->has_alpha ? SAMPLES_RGBA : SAMPLES_RGB);
  return y % 32 != 0 || decoding_proceeds(state->stream.call, (double)y / state->tile->height);
}

/// Reads a transform. `width` is that of the rows before it is undone.
static bool read_transform(vp8l *state, uint32_t *width, uint32_t height) {
  vp8l_transform_kind kind = vp8l_bits_take(&state->stream.bits, 2);
  for (unsigned index = 0; index < state->transform_count; index++) {
    if (state->transforms[index].kind == kind) {
      vp8l_stream_fail(&state->stream, "a transform comes twice");
      return false;
    }
  }
  vp8l_transform *read = &state->transforms[state->transform_count++];
  *read = (vp8l_transform){.kind = kind, .width = *width};
  if (kind == VP8L_SUBTRACT_GREEN) return true;
  if (kind != VP8L_COLOR_INDEXING) {
    read->bits = vp8l_bits_take(&state->stream.bits, 3) + 2;
    read->values =
        vp8l_image_read_values(&state->stream, vp8l_blocks(*width, read->bits), vp8l_blocks(height, read->bits));
    if (read->values && kind == VP8L_PREDICTOR) {
      read->above = vp8l_stream_allocate(&state->stream, *width + 1, sizeof *read->above);
    }
    return read->values && (kind != VP8L_PREDICTOR || read->above);
  }
  uint32_t count = vp8l_bits_take(&state->stream.bits, 8) + 1;
  read->bits = count <= 2 ? 3 : count <= 4 ? 2 : count <= 16 ? 1 : 0;
  uint32_t *colors = vp8l_image_read_values(&state->stream, count, 1);
  if (!colors) return false;
  // An index above the colours is transparent.
  read->values = vp8l_stream_allocate(&state->stream, 256, sizeof *read->values);
  if (read->values) {
    read->values[0] = colors[0];
    for (uint32_t index = 1; index < count; index++) {
      read->values[index] = vp8l_sum(read->values[index - 1], colors[index]);
    }
  }
  free(colors);
  *width = vp8l_blocks(*width, read->bits);
  return read->values != NULL;
}

static bool read_header(vp8l *state) {
  vp8l_bits *bits = &state->stream.bits;
  const uint32_t signature = 0x2f;
  bool is_known = vp8l_bits_take(bits, 8) == signature;
  uint32_t width = vp8l_bits_take(bits, 14) + 1, height = vp8l_bits_take(bits, 14) + 1;
  vp8l_bits_take(bits, 1);
  is_known = is_known && vp8l_bits_take(bits, 3) == 0;
  if (is_known && width == state->tile->width && height == state->tile->height) return true;
  vp8l_stream_fail(&state->stream, "the frame has no size, or another one than the header said");
  return false;
}

static void decode(vp8l *state, vp8l_image *shown) {
  uint32_t width = state->tile->width, height = state->tile->height;
  state->row = vp8l_stream_allocate(&state->stream, width, sizeof *state->row);
  state->samples = vp8l_stream_allocate(&state->stream, width, 4);
  if (!state->row || !state->samples || !read_header(state)) return;
  while (vp8l_bits_take(&state->stream.bits, 1)) {
    if (!read_transform(state, &width, height)) return;
  }
  shown->width = width;
  shown->height = height;
  if (!vp8l_image_prepare(&state->stream, shown, false)) return;
  if (vp8l_bits_take(&state->stream.bits, 1)) {
    shown->block_bits = vp8l_bits_take(&state->stream.bits, 3) + 2;
    shown->blocks = vp8l_image_read_values(
        &state->stream, vp8l_blocks(width, shown->block_bits), vp8l_blocks(height, shown->block_bits));
    if (!shown->blocks) return;
  }
  vp8l_image_read(&state->stream, shown, finish_row, state);
}

void decode_vp8l(
    decoding *call, cdecoding_extent stream, const cdecoding_tile *tile, bool has_alpha, accumulator *sums) {
  vp8l *state = calloc(1, sizeof *state);
  if (!state) {
    decoding_fail(call, CDECODING_NO_MEMORY, "no memory for the decoder");
    return;
  }
  vp8l_stream_begin(&state->stream, call, stream);
  state->tile = tile;
  state->sums = sums;
  state->has_alpha = has_alpha;
  vp8l_image shown = {0};
  decode(state, &shown);
  vp8l_image_free(&shown);
  for (unsigned index = 0; index < state->transform_count; index++) {
    free(state->transforms[index].values);
    free(state->transforms[index].above);
  }
  free(state->row);
  free(state->samples);
  free(state);
}
