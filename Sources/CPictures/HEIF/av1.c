#ifdef THUMBJOB_FORMATS
#include "decoding.h"
#include "tiles.h"

#include <dav1d/dav1d.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void ignore_message(void *context, const char *format, va_list arguments) {
  (void)context;
  (void)format;
  (void)arguments;
}

static bool has_failed(decoding *call, int result) {
  if (result == 0) return false;
  switch (DAV1D_ERR(result)) {
    case ENOMEM: decoding_fail(call, CDECODING_NO_MEMORY, "no memory for a tile"); break;
    case ERANGE: decoding_fail(call, CDECODING_DAMAGED, "a tile is coded with more pixels than it has"); break;
    case ENOPROTOOPT: decoding_fail(call, CDECODING_UNSUPPORTED, "the decoder does not know this kind of AV1"); break;
    default: decoding_fail(call, CDECODING_DAMAGED, "the data of a tile are damaged"); break;
  }
  return true;
}

/// Opens a decoder that works on the calling thread alone, as large as the tile demands.
static Dav1dContext *open_decoder(decoding *call, const cdecoding_tile *tile) {
  Dav1dSettings settings;
  dav1d_default_settings(&settings);
  settings.n_threads = 1;
  settings.max_frame_delay = 1;
  settings.all_layers = tile->shown_layer > 0;
  settings.operating_point = 0;
  // Film grain is noise that the encoder took out. A thumbnail would average it away.
  settings.apply_grain = 0;
  // A larger frame is not decoded. 0 would mean no limit, but no tile has 0 pixels.
  uint64_t pixels = (uint64_t)tile->width * tile->height;
  settings.frame_size_limit = pixels > UINT32_MAX ? UINT32_MAX : (unsigned)pixels;
  settings.logger.cookie = NULL;
  settings.logger.callback = ignore_message;
  Dav1dContext *decoder = NULL;
  return has_failed(call, dav1d_open(&decoder, &settings)) ? NULL : decoder;
}

/// Whether data end in zeros. A download that was broken off often has its full length, with zeros in place of the rest. No
/// encoder is known to write so many.
static bool ends_in_zeros(const uint8_t *bytes, size_t size) {
  const size_t many = 64;
  if (size < many) return false;
  for (size_t index = size - many; index < size; index++) {
    if (bytes[index] != 0) return false;
  }
  return true;
}

/// The open bitstream units of a tile: those of its configuration record (AV1 Codec ISO Media File Format Binding, 2.3), and
/// its data. False if the call has failed.
static bool read_units(decoding *call, const cdecoding_tile *tile, Dav1dData *units) {
  tile_data data;
  if (!tile_data_init(&data, call, tile)) return false;
  const size_t head_size = 4;
  uint8_t *record = tile_configuration(call, tile, head_size);
  if (!record) return false;
  size_t record_size = (size_t)tile->configuration.size - head_size;
  uint8_t *bytes = dav1d_data_create(units, record_size + data.remaining);
  if (bytes) {
    memcpy(bytes, record + head_size, record_size);
  } else {
    decoding_fail(call, CDECODING_NO_MEMORY, "no memory for the data of a tile");
  }
  free(record);
  size_t size = data.remaining;
  if (!bytes || !tile_data_take(&data, bytes + record_size, size)) return false;
  // dav1d reads zeros where a tile's data end, and finds nothing wrong.
  if (ends_in_zeros(bytes + record_size, size)) decoding_find_damage(call, "the data of a tile end in zeros");
  return call->reply->status == CDECODING_OK;
}

/// Decodes the picture of a tile, which the caller must release. False if the call has failed.
static bool decode_tile(decoding *call, const cdecoding_tile *tile, Dav1dContext *decoder, Dav1dPicture *picture) {
  Dav1dData units = {0};
  bool is_decoded = false;
  bool goes_on = read_units(call, tile, &units);
  while (goes_on && !is_decoded) {
    size_t before = units.sz;
    if (units.sz > 0) {
      int sent = dav1d_send_data(decoder, &units);
      if (sent != DAV1D_ERR(EAGAIN) && has_failed(call, sent)) break;
    }
    int result = dav1d_get_picture(decoder, picture);
    if (result == 0 && tile->shown_layer > 0 && picture->frame_hdr->spatial_id + 1 != tile->shown_layer) {
      dav1d_picture_unref(picture);
    } else if (result == 0) {
      is_decoded = true;
    } else if (result != DAV1D_ERR(EAGAIN)) {
      goes_on = !has_failed(call, result);
    } else if (units.sz == before) {
      // Nothing is left, or nothing is taken.
      decoding_fail(call, CDECODING_DAMAGED, "a tile has no picture");
      goes_on = false;
    }
  }
  dav1d_data_unref(&units);
  return is_decoded;
}

static tile_picture picture_of(const Dav1dPicture *decoded) {
  tile_picture picture = {
      .width = (uint32_t)decoded->p.w,
      .height = (uint32_t)decoded->p.h,
      .components = decoded->p.layout == DAV1D_PIXEL_LAYOUT_I400 ? 1 : 3,
      .across = decoded->p.layout == DAV1D_PIXEL_LAYOUT_I444 ? 1 : 2,
      .down = decoded->p.layout == DAV1D_PIXEL_LAYOUT_I420 ? 2 : 1,
  };
  for (unsigned component = 0; component < picture.components; component++) {
    picture.planes[component] = decoded->data[component];
    picture.strides[component] = decoded->stride[component == 0 ? 0 : 1];
    picture.bits[component] = (unsigned)decoded->p.bpc;
  }
  return picture;
}

void decode_av1(decoding *call) {
  tile_sums tiles;
  bool goes_on = tiles_init(&tiles, call);
  Dav1dContext *decoder = NULL;
  const cdecoding_tile *last = NULL;
  for (uint32_t index = 0; goes_on && index < call->request->tile_count; index++) {
    goes_on = decoding_proceeds(call, (double)index / call->request->tile_count);
    if (!goes_on) break;
    const cdecoding_tile *tile = &call->tiles[index];
    // One decoder serves tiles of the same size.
    if (decoder && (tile->width != last->width || tile->height != last->height || tile->is_alpha != last->is_alpha ||
                    tile->shown_layer != last->shown_layer)) {
      dav1d_close(&decoder);
    }
    if (decoder) {
      dav1d_flush(decoder);
    } else {
      decoder = open_decoder(call, tile);
    }
    last = tile;
    Dav1dPicture picture = {0};
    goes_on = decoder && decode_tile(call, tile, decoder, &picture);
    if (!goes_on) break;
    tile_picture decoded = picture_of(&picture);
    goes_on = tiles_add(&tiles, tile, &decoded);
    dav1d_picture_unref(&picture);
  }
  if (goes_on) accumulator_finish(&tiles.sums);
  if (decoder) dav1d_close(&decoder);
  tiles_free(&tiles);
}
#endif
