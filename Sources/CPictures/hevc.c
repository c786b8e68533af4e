#include "decoding.h"
#include "tiles.h"

#include <limits.h>
#include <libde265/de265.h>
#include <stdlib.h>
#include <string.h>

/// How many pixels the decoder's picture may be wider and higher than the tile: pictures are coded in whole blocks, and the
/// rest is cut off.
#define MOST_PADDING 128

/// One decoder serves all tiles of a picture.
typedef struct hevc {
  decoding *call;
  de265_decoder_context *_Nullable decoder;
  struct de265_image_allocation allocation;
  const cdecoding_tile *tile;
  /// The configuration whose parameter sets the decoder knows.
  cdecoding_extent configuration;
  unsigned length_size;
  /// One NAL unit.
  uint8_t *_Nullable unit;
} hevc;

/// Refuses pictures that are larger than the tile. The file's parameter sets say the size, so that they could demand any
/// amount of memory.
static int get_buffer(
    de265_decoder_context *decoder, struct de265_image_spec *spec, struct de265_image *image, void *context) {
  hevc *state = context;
  if (spec->width < 0 || (uint32_t)spec->width > state->tile->width + MOST_PADDING || spec->height < 0 ||
      (uint32_t)spec->height > state->tile->height + MOST_PADDING) {
    decoding_fail(
        state->call, CDECODING_DAMAGED, "a tile is coded with %d x %d pixels instead of %u x %u", spec->width,
        spec->height, state->tile->width, state->tile->height);
    return 0;
  }
  const struct de265_image_allocation *standard = de265_get_default_image_allocation_functions();
  return standard->get_buffer(decoder, spec, image, context);
}

static void release_buffer(de265_decoder_context *decoder, struct de265_image *image, void *context) {
  de265_get_default_image_allocation_functions()->release_buffer(decoder, image, context);
}

static bool has_failed(hevc *state, de265_error error) {
  if (error == DE265_OK || error == DE265_ERROR_WAITING_FOR_INPUT_DATA) return false;
  if (error == DE265_ERROR_OUT_OF_MEMORY) {
    decoding_fail(state->call, CDECODING_NO_MEMORY, "no memory for a tile");
  } else {
    decoding_fail(state->call, CDECODING_DAMAGED, "%s", de265_get_error_text(error));
  }
  return true;
}

/// Gives the parameter sets of the configuration record to the decoder (ISO/IEC 14496-15, 8.3.3.1).
static bool push_parameters(hevc *state, const uint8_t *record, size_t size) {
  state->length_size = (record[21] & 3u) + 1;
  size_t position = 23;
  for (unsigned arrays = record[22]; arrays > 0; arrays--) {
    if (size - position < 3) goto too_short;
    unsigned count = (unsigned)record[position + 1] << 8 | record[position + 2];
    position += 3;
    for (; count > 0; count--) {
      if (size - position < 2) goto too_short;
      size_t length = (size_t)record[position] << 8 | record[position + 1];
      position += 2;
      if (size - position < length) goto too_short;
      // A NAL unit without its header of 2 bytes is none.
      if (length > 2 && has_failed(state, de265_push_NAL(state->decoder, record + position, (int)length, 0, NULL))) {
        return false;
      }
      position += length;
    }
  }
  return true;
too_short:
  decoding_fail(state->call, CDECODING_DAMAGED, "a decoder configuration ends too early");
  return false;
}

/// Makes the decoder ready for a tile.
static bool prepare(hevc *state) {
  const cdecoding_extent *configuration = &state->tile->configuration;
  if (state->decoder && configuration->offset == state->configuration.offset &&
      configuration->size == state->configuration.size) {
    de265_reset(state->decoder);
    return true;
  }
  if (state->decoder) de265_free_decoder(state->decoder);
  state->decoder = de265_new_decoder();
  if (!state->decoder) {
    decoding_fail(state->call, CDECODING_NO_MEMORY, "no memory for a decoder");
    return false;
  }
  de265_set_image_allocation_functions(state->decoder, &state->allocation, state);
  state->configuration = *configuration;
  uint8_t *record = tile_configuration(state->call, state->tile, 23);
  if (!record) return false;
  bool is_pushed = push_parameters(state, record, (size_t)configuration->size);
  free(record);
  return is_pushed;
}

/// Decodes what the decoder has been given. NULL if no picture is whole yet, or if the call has failed.
static const struct de265_image *decode_units(hevc *state) {
  for (int more = 1; more;) {
    more = 0;
    de265_error error = de265_decode(state->decoder, &more);
    if (has_failed(state, error)) return NULL;
    const struct de265_image *image = de265_get_next_picture(state->decoder);
    if (image) return image;
    if (error == DE265_ERROR_WAITING_FOR_INPUT_DATA) return NULL;
  }
  return NULL;
}

/// Decodes a tile. NULL if the call has failed.
static const struct de265_image *decode_tile(hevc *state) {
  tile_data data;
  if (!tile_data_init(&data, state->call, state->tile)) return NULL;
  while (data.remaining > 0) {
    uint8_t prefix[4];
    if (!tile_data_take(&data, prefix, state->length_size)) return NULL;
    size_t length = 0;
    for (unsigned index = 0; index < state->length_size; index++) length = length << 8 | prefix[index];
    if (length > data.remaining || length > INT_MAX) {
      decoding_fail(state->call, CDECODING_DAMAGED, "the data of a tile end too early");
      return NULL;
    }
    // A NAL unit without its header of 2 bytes is none.
    if (length <= 2) {
      uint8_t ignored[2];
      if (!tile_data_take(&data, ignored, length)) return NULL;
      continue;
    }
    state->unit = malloc(length);
    if (!state->unit) {
      decoding_fail(state->call, CDECODING_NO_MEMORY, "no memory for the data of a tile");
      return NULL;
    }
    bool is_pushed = tile_data_take(&data, state->unit, length) &&
                     !has_failed(state, de265_push_NAL(state->decoder, state->unit, (int)length, 0, NULL));
    // The decoder has a copy.
    free(state->unit);
    state->unit = NULL;
    if (!is_pushed) return NULL;
    const struct de265_image *image = decode_units(state);
    if (image || state->call->reply->status != CDECODING_OK) return image;
  }
  if (has_failed(state, de265_flush_data(state->decoder))) return NULL;
  const struct de265_image *image = decode_units(state);
  if (!image) decoding_fail(state->call, CDECODING_DAMAGED, "a tile has no picture");
  return image;
}

/// Fails the call if the decoder has concealed damage. It warns of that, and gives a picture all the same.
static bool is_sound(hevc *state) {
  for (;;) {
    de265_error warning = de265_get_warning(state->decoder);
    switch ((int)warning) {
      case DE265_OK: return true;
      // These say nothing about the picture.
      case DE265_WARNING_NO_WPP_CANNOT_USE_MULTITHREADING:
      case DE265_WARNING_NUMBER_OF_THREADS_LIMITED_TO_MAXIMUM:
      case DE265_WARNING_SPS_MISSING_CANNOT_DECODE_SEI: break;
      case DE265_WARNING_CANNOT_APPLY_SAO_OUT_OF_MEMORY:
        decoding_fail(state->call, CDECODING_NO_MEMORY, "no memory for a tile");
        return false;
      default: decoding_fail(state->call, CDECODING_DAMAGED, "%s", de265_get_error_text(warning)); return false;
    }
  }
}

static tile_picture picture_of(const struct de265_image *image) {
  tile_picture picture = {
      .width = (uint32_t)de265_get_image_width(image, 0),
      .height = (uint32_t)de265_get_image_height(image, 0),
      .components = 3,
      .across = 1,
      .down = 1,
  };
  switch (de265_get_chroma_format(image)) {
    case de265_chroma_mono: picture.components = 1; break;
    case de265_chroma_420: picture.down = 2;  // fall through
    case de265_chroma_422: picture.across = 2; break;
    case de265_chroma_444: break;
  }
  for (int channel = 0; channel < (int)picture.components; channel++) {
    int stride = 0;
    picture.planes[channel] = de265_get_image_plane(image, channel, &stride);
    picture.strides[channel] = stride;
    picture.bits[channel] = (unsigned)de265_get_bits_per_pixel(image, channel);
  }
  return picture;
}

void decode_hevc(decoding *call) {
  hevc state = {.call = call, .allocation = {get_buffer, release_buffer}};
  tile_sums tiles;
  bool goes_on = tiles_init(&tiles, call);
  for (uint32_t index = 0; goes_on && index < call->request->tile_count; index++) {
    goes_on = decoding_proceeds(call, (double)index / call->request->tile_count);
    if (!goes_on) break;
    state.tile = &call->tiles[index];
    const struct de265_image *image = prepare(&state) ? decode_tile(&state) : NULL;
    goes_on = image && is_sound(&state);
    if (goes_on) {
      tile_picture picture = picture_of(image);
      goes_on = tiles_add(&tiles, state.tile, &picture);
    }
  }
  if (goes_on) accumulator_finish(&tiles.sums);
  if (state.decoder) de265_free_decoder(state.decoder);
  tiles_free(&tiles);
}
