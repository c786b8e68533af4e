#include "tiles.h"

#include "unwritten.h"

#include <stdlib.h>
#include <string.h>

/// The largest side of a tile: no coded picture of either codec is larger.
#define LONGEST_TILE_SIDE 65536

/// The most bytes of a decoder configuration record.
#define LONGEST_CONFIGURATION (64u << 10)

static bool are_sound(const cdecoding_request *request, const cdecoding_tile *_Nullable tiles) {
  if (!tiles || request->tile_count == 0 || request->width == 0 || request->width > CDECODING_MAX_SIDE ||
      request->height == 0 || request->height > CDECODING_MAX_SIDE ||
      (request->plane_count != 1 && request->plane_count != 3)) {
    return false;
  }
  if (request->is_overlay && request->tile_count > 2 * CDECODING_MAX_OVERLAYS) return false;
  for (uint32_t index = 0; index < request->tile_count; index++) {
    const cdecoding_tile *tile = &tiles[index];
    if (tile->width == 0 || tile->width > LONGEST_TILE_SIDE || tile->height == 0 || tile->height > LONGEST_TILE_SIDE ||
        tile->extent_count > request->extent_count || tile->first_extent > request->extent_count - tile->extent_count) {
      return false;
    }
    if (index == 0 || !(request->is_overlay ? tile[-1].is_alpha : tile->is_alpha)) continue;
    // Alpha comes before all colours, or that of an overlay before the tile that it belongs to.
    if (!request->is_overlay && !tile[-1].is_alpha) return false;
    if (request->is_overlay && (tile->is_alpha || tile->x != tile[-1].x || tile->y != tile[-1].y ||
                                tile->width != tile[-1].width || tile->height != tile[-1].height)) {
      return false;
    }
  }
  return !tiles[request->tile_count - 1].is_alpha;
}

static bool has_alpha_tile(const decoding *call) {
  for (uint32_t index = 0; index < call->request->tile_count; index++) {
    if (call->tiles[index].is_alpha) return true;
  }
  return false;
}

bool tiles_init(tile_sums *tiles, decoding *call) {
  const cdecoding_request *request = call->request;
  *tiles = (tile_sums){.call = call};
  if (!are_sound(request, call->tiles)) {
    decoding_fail(call, CDECODING_BAD_CALL, "the tiles contradict each other");
    return false;
  }
  bool has_alpha = has_alpha_tile(call);
  tiles->is_weighted = has_alpha || request->is_overlay;
  cdecoding_status status = accumulator_init(&tiles->sums, request, tiles->is_weighted, call->memory, call->memory_size);
  if (status == CDECODING_OK && has_alpha) {
    tiles->alpha = calloc(request->height, request->width);
    if (!tiles->alpha) status = CDECODING_NO_MEMORY;
  }
  if (status == CDECODING_OK && request->is_overlay) {
    size_t size = (size_t)request->height * request->width;
    tiles->uncovered = malloc(size);
    if (tiles->uncovered) {
      memset(tiles->uncovered, 255, size);
    } else {
      status = CDECODING_NO_MEMORY;
    }
  }
  if (status == CDECODING_OK) return true;
  decoding_fail(
      call, status, status == CDECODING_NO_MEMORY ? "no memory for the picture" : "the planes contradict the picture");
  return false;
}

void tiles_free(tile_sums *tiles) {
  accumulator_free(&tiles->sums);
  free(tiles->alpha);
  free(tiles->uncovered);
  free(tiles->rows);
}

/// Memory for rows; NULL if there is none.
static uint8_t *rows_of(tile_sums *tiles, size_t size) {
  if (size > tiles->rows_size) {
    free(tiles->rows);
    tiles->rows = malloc(size);
    tiles->rows_size = tiles->rows ? size : 0;
    if (!tiles->rows) decoding_fail(tiles->call, CDECODING_NO_MEMORY, "no memory for a row");
  }
  return tiles->rows;
}

/// Copies a row as samples of 8 bits.
static void to_8_bits(uint8_t *into, const uint8_t *row, size_t count, unsigned bits) {
  if (bits <= 8) {
    memcpy(into, row, count);
    return;
  }
  const uint16_t *words = (const uint16_t *)(const void *)row;
  uint32_t most = (1u << bits) - 1;
  for (size_t index = 0; index < count; index++) {
    uint32_t value = (words[index] & most) * 255u + most / 2;
    into[index] = (uint8_t)(value / most);
  }
}

static bool add_alpha(tile_sums *tiles, const cdecoding_tile *tile, const tile_picture *picture) {
  const cdecoding_request *request = tiles->call->request;
  uint8_t *row = rows_of(tiles, picture->width);
  if (!row) return false;
  int64_t start = tile->x < 0 ? 0 : tile->x;
  int64_t end = (int64_t)tile->x + picture->width;
  if (end > request->width) end = request->width;
  if (start >= end) return true;
  for (uint32_t line = 0; line < picture->height; line++) {
    int64_t y = (int64_t)tile->y + line;
    if (y < 0 || y >= request->height) continue;
    to_8_bits(row, picture->planes[0] + (ptrdiff_t)line * picture->strides[0], picture->width, picture->bits[0]);
    memcpy(tiles->alpha + (size_t)y * request->width + start, row + (start - tile->x), (size_t)(end - start));
  }
  return true;
}

/// Half of a coordinate that may be negative, rounded up. Tiles beside each other have even sides, so their chroma samples
/// are beside each other too, also if an odd number of pixels is cut off in front of them.
static int64_t component_start(int32_t pixel, unsigned step) {
  return step == 1 ? pixel : ((int64_t)pixel + ((int64_t)1 << 32) + 1) / 2 - ((int64_t)1 << 31);
}

/// Copies a row of pixels of a map, `alpha` or `uncovered`; 0 outside the picture.
static void map_row(const tile_sums *tiles, const uint8_t *map, uint8_t *into, int64_t x, int64_t y, size_t count) {
  uint32_t width = tiles->call->request->width;
  const uint8_t *row = map + (size_t)y * width;
  for (size_t index = 0; index < count; index++) {
    int64_t column = x + (int64_t)index;
    into[index] = column < 0 || column >= width ? 0 : row[column];
  }
}

/// Whether a tile of colours has alpha.
static bool is_transparent(const tile_sums *tiles, const cdecoding_tile *tile) {
  const decoding *call = tiles->call;
  return tiles->alpha && (!call->request->is_overlay || (tile > call->tiles && tile[-1].is_alpha));
}

/// The part of a pixel that a tile covers, 0 to 255, of the part that no tile above does.
static uint8_t part_of(uint8_t uncovered, uint8_t alpha) { return (uint8_t)((uncovered * alpha + 127) / 255); }

/// Divides colours by the alpha with which they were multiplied, to the nearest value; `zero` is the one that no
/// multiplication changes.
static void divide(uint8_t *samples, const uint8_t *alpha, size_t count, int zero) {
  for (size_t index = 0; index < count; index++) {
    int opacity = alpha[index];
    if (opacity == 0) continue;
    int difference = (samples[index] - zero) * 255;
    int value = zero + (difference + (difference < 0 ? -opacity : opacity) / 2) / opacity;
    samples[index] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
  }
}

/// The plane of a component: green, blue, red become red, green, blue.
static unsigned plane_of(const cdecoding_request *request, const tile_picture *picture, unsigned component) {
  return request->is_gbr && picture->components == 3 ? (component + 1) % 3 : component;
}

static void add_component(
    tile_sums *tiles, const cdecoding_tile *tile, const tile_picture *picture, unsigned component) {
  unsigned index = plane_of(tiles->call->request, picture, component);
  unsigned across = component == 0 ? 1 : picture->across, down = component == 0 ? 1 : picture->down;
  size_t count = (picture->width - 1) / across + 1;
  uint32_t rows = (picture->height - 1) / down + 1;
  int64_t x = component_start(tile->x, across), y = component_start(tile->y, down);
  const uint8_t *row = picture->planes[component];
  for (uint32_t line = 0; line < rows; line++, row += picture->strides[component]) {
    accumulator_add_component(&tiles->sums, index, x, y + line, count, row, picture->bits[component], NULL);
  }
}

/// Adds a component weighted by alpha, and by what the tiles above leave uncovered. Each pixel has a weight of its own, so
/// each gets the sample that covers it.
static bool add_weighted_component(
    tile_sums *tiles, const cdecoding_tile *tile, const tile_picture *picture, unsigned component) {
  const cdecoding_request *request = tiles->call->request;
  unsigned index = plane_of(request, picture, component);
  unsigned across = component == 0 ? 1 : picture->across, down = component == 0 ? 1 : picture->down;
  size_t width = picture->width;
  // The coded samples of a row, those of its pixels, their alpha and their weights.
  uint8_t *coded = rows_of(tiles, 4 * width);
  if (!coded) return false;
  uint8_t *samples = coded + width, *alpha = samples + width, *weights = alpha + width;
  bool has_alpha = is_transparent(tiles, tile);
  int zero = request->is_gbr ? 0 : component == 0 ? request->planes[0].low : 128;
  for (uint32_t line = 0; line < picture->height; line++) {
    int64_t y = (int64_t)tile->y + line;
    if (y < 0 || y >= request->height) continue;
    const uint8_t *row = picture->planes[component] + (ptrdiff_t)(line / down) * picture->strides[component];
    to_8_bits(coded, row, (width - 1) / across + 1, picture->bits[component]);
    for (size_t pixel = 0; pixel < width; pixel++) samples[pixel] = coded[pixel / across];
    if (has_alpha) map_row(tiles, tiles->alpha, alpha, tile->x, y, width);
    if (has_alpha && request->is_premultiplied) divide(samples, alpha, width, zero);
    if (tiles->uncovered) map_row(tiles, tiles->uncovered, weights, tile->x, y, width);
    if (has_alpha && tiles->uncovered) {
      for (size_t pixel = 0; pixel < width; pixel++) weights[pixel] = part_of(weights[pixel], alpha[pixel]);
    }
    accumulator_add_component(
        &tiles->sums, index, tile->x, y, width, samples, 8, tiles->uncovered ? weights : alpha);
  }
  return true;
}

/// Takes what a tile covers away from what is uncovered for the tiles below.
static void cover(tile_sums *tiles, const cdecoding_tile *tile) {
  const cdecoding_request *request = tiles->call->request;
  bool has_alpha = is_transparent(tiles, tile);
  int64_t right = (int64_t)tile->x + tile->width, bottom = (int64_t)tile->y + tile->height;
  for (int64_t y = tile->y < 0 ? 0 : tile->y; y < bottom && y < request->height; y++) {
    for (int64_t x = tile->x < 0 ? 0 : tile->x; x < right && x < request->width; x++) {
      size_t place = (size_t)y * request->width + (size_t)x;
      uint8_t uncovered = tiles->uncovered[place];
      tiles->uncovered[place] -= has_alpha ? part_of(uncovered, tiles->alpha[place]) : uncovered;
    }
  }
}

/// Whether the samples are of the kind that the request and the tiles before say. If not, the call has failed.
static bool fits(tile_sums *tiles, const cdecoding_tile *tile, const tile_picture *picture) {
  decoding *call = tiles->call;
  const cdecoding_request *request = call->request;
  if (picture->width != tile->width || picture->height != tile->height) {
    decoding_fail(
        call, CDECODING_DAMAGED, "a tile has %u x %u pixels instead of %u x %u", picture->width, picture->height,
        tile->width, tile->height);
    return false;
  }
  bool is_whole = true;
  for (unsigned component = 0; component < (tile->is_alpha ? 1 : picture->components); component++) {
    if (!picture->planes[component] || picture->bits[component] < 8 || picture->bits[component] > 16) is_whole = false;
  }
  if (tile->is_alpha && is_whole) return true;
  if (picture->components != request->plane_count) is_whole = false;
  for (unsigned component = 0; component < picture->components && is_whole; component++) {
    // Where pixels have weights, chroma has a sample for each of them too.
    bool is_coarse = component > 0 && !tiles->is_weighted;
    unsigned across = is_coarse ? picture->across : 1, down = is_coarse ? picture->down : 1;
    const cdecoding_plane *plane = &request->planes[component];
    if (plane->width != (request->width - 1) / across + 1 || plane->height != (request->height - 1) / down + 1) {
      is_whole = false;
    }
    if (tiles->bits[component] == 0) tiles->bits[component] = picture->bits[component];
    if (tiles->bits[component] != picture->bits[component]) is_whole = false;
  }
  if (!is_whole) decoding_fail(call, CDECODING_DAMAGED, "a tile has other samples than the header says");
  return is_whole;
}

/// Whether the decoder has written all samples that are shown. If not, the call has failed.
static bool is_written(tile_sums *tiles, const cdecoding_tile *tile, const tile_picture *picture) {
  for (unsigned component = 0; component < (tile->is_alpha ? 1 : picture->components); component++) {
    unsigned across = component == 0 ? 1 : picture->across, down = component == 0 ? 1 : picture->down;
    size_t bytes = (size_t)((picture->width - 1) / across + 1) * (picture->bits[component] > 8 ? 2 : 1);
    uint32_t rows = (picture->height - 1) / down + 1;
    const uint8_t *row = picture->planes[component];
    for (uint32_t line = 0; line < rows; line++, row += picture->strides[component]) {
      if (!has_unwritten(row, bytes)) continue;
      decoding_fail(tiles->call, CDECODING_DAMAGED, "a part of a tile is missing");
      return false;
    }
  }
  return true;
}

bool tiles_add(tile_sums *tiles, const cdecoding_tile *tile, const tile_picture *picture) {
  if (!fits(tiles, tile, picture) || !is_written(tiles, tile, picture)) return false;
  if (tile->is_alpha) return add_alpha(tiles, tile, picture);
  for (unsigned component = 0; component < picture->components; component++) {
    if (!tiles->is_weighted) {
      add_component(tiles, tile, picture, component);
    } else if (!add_weighted_component(tiles, tile, picture, component)) {
      return false;
    }
  }
  if (tiles->uncovered) cover(tiles, tile);
  return true;
}

bool tile_data_init(tile_data *data, decoding *call, const cdecoding_tile *tile) {
  *data = (tile_data){.call = call, .extents_left = tile->extent_count};
  if (tile->extent_count > 0) data->extent = &call->extents[tile->first_extent];
  uint64_t most = (uint64_t)tile->width * tile->height * 6 + (64u << 10);
  uint64_t size = 0;
  for (uint32_t index = 0; index < tile->extent_count; index++) {
    const cdecoding_extent *extent = &call->extents[tile->first_extent + index];
    if (extent->size > most - size) {
      decoding_fail(call, CDECODING_DAMAGED, "a tile has more data than pixels");
      return false;
    }
    size += extent->size;
  }
  if (size == 0) {
    decoding_fail(call, CDECODING_DAMAGED, "a tile has no data");
    return false;
  }
  data->remaining = (size_t)size;
  return true;
}

bool tile_data_take(tile_data *data, uint8_t *into, size_t count) {
  if (count > data->remaining) {
    decoding_fail(data->call, CDECODING_DAMAGED, "the data of a tile end too early");
    return false;
  }
  while (count > 0) {
    uint64_t left = data->extent->size - data->position;
    if (left == 0) {
      data->extent++;
      data->extents_left--;
      data->position = 0;
      continue;
    }
    size_t taken = left < count ? (size_t)left : count;
    if (!decoding_read(data->call, data->extent->offset + data->position, into, taken)) return false;
    data->position += taken;
    data->remaining -= taken;
    into += taken;
    count -= taken;
  }
  return true;
}

uint8_t *tile_configuration(decoding *call, const cdecoding_tile *tile, size_t minimum) {
  if (tile->configuration.size < minimum || tile->configuration.size > LONGEST_CONFIGURATION) {
    decoding_fail(call, CDECODING_DAMAGED, "a decoder configuration of %llu bytes", (unsigned long long)tile->configuration.size);
    return NULL;
  }
  size_t size = (size_t)tile->configuration.size;
  uint8_t *record = malloc(size);
  if (!record) {
    decoding_fail(call, CDECODING_NO_MEMORY, "no memory for a decoder configuration");
    return NULL;
  }
  if (decoding_read(call, tile->configuration.offset, record, size)) return record;
  free(record);
  return NULL;
}
