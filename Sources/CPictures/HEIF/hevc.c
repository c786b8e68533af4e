#ifdef THUMBJOB_FORMATS
#include "decoding.h"
#include "hevc_parameters.h"
#include "tiles.h"

#include <limits.h>
#include <libde265/de265.h>
#include <stdlib.h>

/// The most NAL units of a tile. At no level a picture has more than 600 slices (ITU-T H.265, A.4.1). libde265 takes some hundred
/// bytes for each unit, however short.
#define MOST_UNITS 2000

/// One decoder serves all tiles of a picture.
typedef struct hevc {
  decoding *call;
  de265_decoder_context *_Nullable decoder;
  const cdecoding_tile *tile;
  /// The configuration whose parameter sets the decoder knows.
  cdecoding_extent configuration;
  unsigned length_size;
} hevc;

static bool has_failed(hevc *state, de265_error error) {
  if (error == DE265_OK || error == DE265_ERROR_WAITING_FOR_INPUT_DATA) return false;
  if (error == DE265_ERROR_OUT_OF_MEMORY) {
    decoding_fail(state->call, CDECODING_NO_MEMORY, "no memory for a tile");
  } else {
    decoding_fail(state->call, CDECODING_DAMAGED, "%s", de265_get_error_text(error));
  }
  return true;
}

/// Whether a NAL unit keeps to the size of the tile. If not, the call has failed. Parameter sets could demand any amount of
/// memory, and libde265 does not ask its caller for all of it.
static bool is_of_size(hevc *state, const uint8_t *unit, size_t size) {
  if (!hevc_has_parameters(unit)) return true;
  uint32_t width, height;
  if (!hevc_read_size(unit, size, &width, &height)) {
    decoding_fail(state->call, CDECODING_DAMAGED, "a parameter set ends too early");
    return false;
  }
  if (width <= state->tile->width + CDECODING_MAX_PADDING && height <= state->tile->height + CDECODING_MAX_PADDING) return true;
  decoding_fail(
      state->call, CDECODING_DAMAGED, "a tile is coded with %u x %u pixels instead of %u x %u", width, height,
      state->tile->width, state->tile->height);
  return false;
}

/// Gives a NAL unit to the decoder, which copies it. A unit of no more than its header, 2 bytes, is passed over. False if the
/// call has failed.
static bool push_unit(hevc *state, const uint8_t *unit, size_t size) {
  if (size <= 2) return true;
  return is_of_size(state, unit, size) && !has_failed(state, de265_push_NAL(state->decoder, unit, (int)size, 0, NULL));
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
      if (!push_unit(state, record + position, length)) return false;
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
  state->configuration = *configuration;
  uint8_t *record = tile_configuration(state->call, state->tile, 23);
  if (!record) return false;
  bool is_pushed = push_parameters(state, record, (size_t)configuration->size);
  free(record);
  return is_pushed;
}

/// Gives the data of a tile to the decoder. False if the call has failed.
static bool push_tile(hevc *state) {
  tile_data data;
  if (!tile_data_init(&data, state->call, state->tile)) return false;
  for (unsigned units = 0; data.remaining > 0; units++) {
    if (units == MOST_UNITS) {
      decoding_fail(state->call, CDECODING_DAMAGED, "a tile has more than %d parts", MOST_UNITS);
      return false;
    }
    uint8_t prefix[4];
    if (!tile_data_take(&data, prefix, state->length_size)) return false;
    size_t length = 0;
    for (unsigned index = 0; index < state->length_size; index++) length = length << 8 | prefix[index];
    if (length > data.remaining || length > INT_MAX) {
      decoding_fail(state->call, CDECODING_DAMAGED, "the data of a tile end too early");
      return false;
    }
    uint8_t *unit = malloc(length > 0 ? length : 1);
    if (!unit) {
      decoding_fail(state->call, CDECODING_NO_MEMORY, "no memory for the data of a tile");
      return false;
    }
    bool is_pushed = tile_data_take(&data, unit, length) && push_unit(state, unit, length);
    free(unit);
    if (!is_pushed) return false;
  }
  return true;
}

/// Decodes a tile. NULL if the call has failed.
///
/// The decoder gets all data first. After de265_reset(), libde265 1.0.11 still takes the stream for ended, and would give a
/// picture as soon as it has decoded all slices that it has got.
static const struct de265_image *decode_tile(hevc *state) {
  if (!push_tile(state) || has_failed(state, de265_flush_data(state->decoder))) return NULL;
  for (int more = 1; more;) {
    more = 0;
    de265_error error = de265_decode(state->decoder, &more);
    if (has_failed(state, error)) return NULL;
    const struct de265_image *image = de265_get_next_picture(state->decoder);
    if (image) return image;
    if (error == DE265_ERROR_WAITING_FOR_INPUT_DATA) break;
  }
  decoding_fail(state->call, CDECODING_DAMAGED, "a tile has no picture");
  return NULL;
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

/// A side of the picture without the blocks that are outside the tile.
static uint32_t cut_side(uint32_t decoded, uint32_t wanted) {
  return decoded > wanted && decoded - wanted <= CDECODING_MAX_PADDING ? wanted : decoded;
}

static tile_picture picture_of(const struct de265_image *image, const cdecoding_tile *tile) {
  tile_picture picture = {
      .width = cut_side((uint32_t)de265_get_image_width(image, 0), tile->width),
      .height = cut_side((uint32_t)de265_get_image_height(image, 0), tile->height),
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
  hevc state = {.call = call};
  tile_sums tiles;
  bool goes_on = tiles_init(&tiles, call);
  for (uint32_t index = 0; goes_on && index < call->request->tile_count; index++) {
    goes_on = decoding_proceeds(call, (double)index / call->request->tile_count);
    if (!goes_on) break;
    state.tile = &call->tiles[index];
    const struct de265_image *image = prepare(&state) ? decode_tile(&state) : NULL;
    goes_on = image && is_sound(&state);
    if (goes_on) {
      tile_picture picture = picture_of(image, state.tile);
      goes_on = tiles_add(&tiles, state.tile, &picture);
    }
  }
  if (goes_on) accumulator_finish(&tiles.sums);
  if (state.decoder) de265_free_decoder(state.decoder);
  tiles_free(&tiles);
}
#endif
