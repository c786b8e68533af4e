#include "vp8l_image.h"

#include <stdlib.h>
#include <string.h>

#include "vp8l_transforms.h"

enum {
  /// More pixels than any distance goes back.
  farthest = 1 << 20,
  most_groups = 1 << 16,
  /// The symbols of the first code and of distances.
  literals = 256,
  lengths = 24,
  distances = 40,
};

// MARK: Distances

static int compare_near(const void *first, const void *second) {
  const int8_t *one = first, *other = second;
  int by_length = one[0] * one[0] + one[1] * one[1] - other[0] * other[0] - other[1] * other[1];
  if (by_length != 0) return by_length;
  int by_column = abs(one[0]) - abs(other[0]);
  return by_column != 0 ? by_column : other[0] - one[0];
}

/// The pixels near by are those of the seven rows above from 8 to the left to 7 to the right, and 8 of the current
/// row, sorted by how far they are; then by column, the left one first.
static void find_near_distances(vp8l_stream *stream) {
  size_t count = 0;
  for (int up = 0; up < 8; up++) {
    for (int left = up == 0 ? 1 : -7; left <= 8; left++, count++) {
      stream->near[count][0] = (int8_t)left;
      stream->near[count][1] = (int8_t)up;
    }
  }
  qsort(stream->near, VP8L_NEAR_COUNT, sizeof stream->near[0], compare_near);
}

// MARK: The stream

void vp8l_stream_begin(vp8l_stream *stream, decoding *call, cdecoding_extent contents) {
  stream->call = call;
  stream->bits = (vp8l_bits){.call = call, .offset = contents.offset, .remaining = contents.size};
  find_near_distances(stream);
}

void vp8l_stream_fail(vp8l_stream *stream, const char *what) {
  if (!vp8l_bits_ended(&stream->bits)) decoding_fail(stream->call, CDECODING_DAMAGED, "%s", what);
}

void *vp8l_stream_allocate(vp8l_stream *stream, size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (!memory) decoding_fail(stream->call, CDECODING_NO_MEMORY, "no memory for the pixels");
  return memory;
}

void vp8l_image_free(vp8l_image *image) {
  for (uint32_t index = 0; image->groups && index < image->group_count; index++) free(image->groups[index].tables);
  free(image->groups);
  free(image->blocks);
  free(image->cache);
  free(image->pixels);
  *image = (vp8l_image){0};
}

// MARK: Prefix codes

static bool read_group(vp8l_stream *stream, vp8l_image *into, vp8l_group *found) {
  const unsigned cached = into->cache_bits > 0 ? 1u << into->cache_bits : 0;
  const unsigned counts[5] = {literals + lengths + cached, literals, literals, literals, distances};
  size_t sizes[5], total = 0;
  for (int index = 0; index < 5; index++) {
    vp8l_code code;
    sizes[index] = vp8l_code_read(&code, stream->tables[index], &stream->bits, counts[index]);
    if (sizes[index] == 0) {
      vp8l_stream_fail(stream, "a prefix code breaks the format");
      return false;
    }
    total += sizes[index];
    if (found) found->codes[index] = code;
  }
  if (vp8l_bits_ended(&stream->bits)) return false;
  if (!found) return true;
  found->tables = vp8l_stream_allocate(stream, total, sizeof *found->tables);
  if (!found->tables) return false;
  uint16_t *next = found->tables;
  for (int index = 0; index < 5; index++) {
    memcpy(next, stream->tables[index], sizes[index] * sizeof *next);
    found->codes[index].table = next;
    next += sizes[index];
  }
  return true;
}

/// Reads the groups of codes. Those that no block uses are read, but not kept.
static bool read_groups(vp8l_stream *stream, vp8l_image *into) {
  uint32_t count = 1;
  uint32_t *places = NULL;
  into->group_count = 1;
  if (into->blocks) {
    size_t block_count =
        (size_t)vp8l_blocks(into->width, into->block_bits) * vp8l_blocks(into->height, into->block_bits);
    places = vp8l_stream_allocate(stream, most_groups, sizeof *places);
    if (!places) return false;
    for (size_t block = 0; block < block_count; block++) {
      uint32_t number = into->blocks[block] >> 8 & (most_groups - 1);
      into->blocks[block] = number;
      places[number] = 1;
      if (number >= count) count = number + 1;
    }
    into->group_count = 0;
    for (uint32_t number = 0; number < count; number++) {
      if (places[number] != 0) places[number] = ++into->group_count;
    }
    for (size_t block = 0; block < block_count; block++) into->blocks[block] = places[into->blocks[block]] - 1;
  }
  into->groups = vp8l_stream_allocate(stream, into->group_count, sizeof *into->groups);
  bool goes_on = into->groups != NULL;
  for (uint32_t number = 0; goes_on && number < count; number++) {
    vp8l_group *found = !places ? into->groups : places[number] == 0 ? NULL : &into->groups[places[number] - 1];
    goes_on = read_group(stream, into, found);
  }
  free(places);
  return goes_on;
}

// MARK: Pixels

/// The number that a symbol of a length or distance stands for, with the bits after it.
static inline uint32_t take_number(vp8l_bits *bits, unsigned symbol) {
  if (symbol < 4) return symbol + 1;
  unsigned extra = (symbol - 2) >> 1;
  return ((2 + (symbol & 1)) << extra) + vp8l_bits_take(bits, extra) + 1;
}

/// How many pixels back a distance goes.
static inline size_t distance_of(const vp8l_stream *stream, uint32_t width, uint32_t code) {
  if (code > VP8L_NEAR_COUNT) return code - VP8L_NEAR_COUNT;
  const int8_t *near = stream->near[code - 1];
  int64_t distance = (int64_t)near[1] * width + near[0];
  return distance < 1 ? 1 : (size_t)distance;
}

/// Puts the pixels from `start` to `end` into the colour cache.
static void remember(const vp8l_image *in, size_t start, size_t end) {
  for (; start < end; start++) {
    uint32_t pixel = in->pixels[start & in->mask];
    in->cache[(0x1e35a7bdu * pixel) >> (32 - in->cache_bits)] = pixel;
  }
}

static void copy(const vp8l_image *in, size_t position, size_t distance, size_t length) {
  size_t from = (position - distance) & in->mask, to = position & in->mask;
  if (distance >= length && from + length <= in->capacity && to + length <= in->capacity) {
    // From far back, the pixels may be right after their place in the ring, and overlap it.
    memmove(in->pixels + to, in->pixels + from, length * sizeof *in->pixels);
    return;
  }
  for (; length > 0; length--, from++, to++) in->pixels[to & in->mask] = in->pixels[from & in->mask];
}

static bool read_pixels(
    vp8l_stream *stream, const vp8l_image *in, vp8l_take_row _Nullable take_row, void *_Nullable context) {
  vp8l_bits *bits = &stream->bits;
  const size_t width = in->width, total = width * in->height, mask = in->mask;
  const uint32_t block_mask = in->blocks ? (1u << in->block_bits) - 1 : UINT32_MAX;
  const size_t across = in->blocks ? vp8l_blocks(in->width, in->block_bits) : 0;
  size_t position = 0, remembered = 0;
  uint32_t x = 0, y = 0;
  const vp8l_group *codes = in->groups;
  while (position < total) {
    if ((x & block_mask) == 0 && in->blocks) {
      codes = &in->groups[in->blocks[(y >> in->block_bits) * across + (x >> in->block_bits)]];
    }
    vp8l_bits_fill(bits);
    unsigned green = vp8l_code_take(&codes->codes[0], bits);
    if (green < literals) {
      unsigned red = vp8l_code_take(&codes->codes[1], bits);
      unsigned blue = vp8l_code_take(&codes->codes[2], bits);
      if (codes->codes[3].mask != 0) vp8l_bits_fill(bits);
      unsigned alpha = vp8l_code_take(&codes->codes[3], bits);
      in->pixels[position & mask] = alpha << 24 | red << 16 | green << 8 | blue;
      position++;
      x++;
    } else if (green < literals + lengths) {
      size_t length = take_number(bits, green - literals);
      vp8l_bits_fill(bits);
      uint32_t code = take_number(bits, vp8l_code_take(&codes->codes[4], bits));
      size_t distance = distance_of(stream, in->width, code);
      if (distance > position || length > total - position) {
        vp8l_stream_fail(stream, "pixels are copied from or to outside the picture");
        return false;
      }
      copy(in, position, distance, length);
      position += length;
      x += (uint32_t)length;
      if (in->blocks && (x & block_mask) != 0 && x < width) {
        codes = &in->groups[in->blocks[(y >> in->block_bits) * across + (x >> in->block_bits)]];
      }
    } else {
      remember(in, remembered, position);
      remembered = position;
      in->pixels[position & mask] = in->cache[green - literals - lengths];
      position++;
      x++;
    }
    if (x < width) continue;
    if (vp8l_bits_ended(bits)) return false;
    if (in->cache_bits > 0) remember(in, remembered, position);
    remembered = position;
    for (; x >= width; x -= (uint32_t)width, y++) {
      if (take_row && !take_row(context, in, y)) return false;
    }
    if (in->blocks && (x & block_mask) != 0 && position < total) {
      codes = &in->groups[in->blocks[(y >> in->block_bits) * across + (x >> in->block_bits)]];
    }
  }
  return true;
}

bool vp8l_image_prepare(vp8l_stream *stream, vp8l_image *into, bool keeps_all) {
  size_t count = (size_t)into->width * into->height;
  bool is_whole = keeps_all || count <= farthest;
  into->capacity = is_whole ? count : farthest;
  into->mask = is_whole ? SIZE_MAX : farthest - 1;
  into->pixels = vp8l_stream_allocate(stream, into->capacity, sizeof *into->pixels);
  if (!into->pixels) return false;
  if (vp8l_bits_take(&stream->bits, 1)) {
    into->cache_bits = vp8l_bits_take(&stream->bits, 4);
    if (into->cache_bits < 1 || into->cache_bits > 11) {
      vp8l_stream_fail(stream, "a colour cache of no size");
      return false;
    }
  }
  into->cache = vp8l_stream_allocate(stream, (size_t)1 << into->cache_bits, sizeof *into->cache);
  return into->cache != NULL;
}

bool vp8l_image_read(vp8l_stream *stream, vp8l_image *into, vp8l_take_row take_row, void *context) {
  return read_groups(stream, into) && read_pixels(stream, into, take_row, context);
}

uint32_t *vp8l_image_read_values(vp8l_stream *stream, uint32_t width, uint32_t height) {
  vp8l_image values = {.width = width, .height = height};
  uint32_t *pixels = NULL;
  if (vp8l_image_prepare(stream, &values, true) && vp8l_image_read(stream, &values, NULL, NULL)) {
    pixels = values.pixels;
    values.pixels = NULL;
  }
  vp8l_image_free(&values);
  return pixels;
}
