// The fuzz targets of CPictures: each decodes any bytes as a picture of one kind, with the address and
// undefined-behaviour sanitizers. PICTURE_KIND is the kind, as cdecoding.h numbers them. What the program's own
// parsers say of a file is made up here, roughly, so that hostile files get as far as the library; the last two bytes
// choose the rest.

#include <cpictures.h>
#include <stdlib.h>
#include <string.h>

#include "fills.h"
#include "fuzz_input.h"

// Larger pictures take long and show nothing else.
static const uint64_t most_pixels = 1 << 20;
static const int most_calls = 20000;

static bool fuzz_proceed(void *context, double done) {
  fuzz_input *input = context;
  if (!(done >= 0 && done <= 1)) abort();
  return ++input->calls <= most_calls;
}

/// A picture to decode.
typedef struct {
  cdecoding_request request;
  cdecoding_tile tile;
  cdecoding_extent extents[2];
  bool is_subsampled;
} fuzz_picture;

#if PICTURE_KIND == 3  // CDECODING_WEBP

static uint32_t little(const uint8_t *bytes, int count) {
  uint32_t value = 0;
  while (count-- > 0) value = value << 8 | bytes[count];
  return value;
}

/// Finds the first frame. Chunks follow each other; those of a frame are inside its own.
static bool describe(fuzz_picture *picture, const uint8_t *bytes, size_t size, unsigned choice) {
  cdecoding_request *request = &picture->request;
  cdecoding_tile *tile = &picture->tile;
  uint64_t at = 12;
  while (at + 18 <= size) {
    const uint8_t *chunk = bytes + at;
    uint64_t length = (uint64_t)little(chunk + 4, 4) + 8;
    bool is_lossy = memcmp(chunk, "VP8 ", 4) == 0, is_lossless = memcmp(chunk, "VP8L", 4) == 0;
    if (memcmp(chunk, "VP8X", 4) == 0) {
      request->width = little(chunk + 12, 3) + 1;
      request->height = little(chunk + 15, 3) + 1;
    }
    if (memcmp(chunk, "ANMF", 4) == 0) {
      tile->x = (int32_t)little(chunk + 8, 3) * 2;
      tile->y = (int32_t)little(chunk + 11, 3) * 2;
      at += 24;
      continue;
    }
    if (memcmp(chunk, "ALPH", 4) == 0) {
      picture->extents[0] = (cdecoding_extent){at, length};
      tile->extent_count = 1;
    }
    if (is_lossy || is_lossless) {
      picture->extents[tile->extent_count++] = (cdecoding_extent){at, length};
      uint32_t bits = little(chunk + 9, 4);
      tile->width = is_lossy ? little(chunk + 14, 2) & 0x3FFF : (bits & 0x3FFF) + 1;
      tile->height = is_lossy ? little(chunk + 16, 2) & 0x3FFF : (bits >> 14 & 0x3FFF) + 1;
      break;
    }
    at += length + (length & 1);
  }
  if (tile->width == 0 || tile->height == 0) return false;
  if (request->width == 0) request->width = tile->width, request->height = tile->height;
  bool covers = tile->x == 0 && tile->y == 0 && tile->width == request->width && tile->height == request->height;
  picture->is_subsampled = covers && tile->extent_count == 1 && memcmp(bytes + picture->extents[0].offset, "VP8 ", 4) == 0;
  bool is_scalable = memcmp(bytes + picture->extents[tile->extent_count - 1].offset, "VP8 ", 4) == 0;
  unsigned divisor = covers && is_scalable ? choice >> 8 & 7 : 1;
  request->scaled_width = divisor > 1 ? (request->width - 1) / divisor + 1 : request->width;
  request->scaled_height = divisor > 1 ? (request->height - 1) / divisor + 1 : request->height;
  request->tile_count = 1;
  request->extent_count = tile->extent_count;
  request->plane_count = 3;
  return true;
}

#elif PICTURE_KIND == 4  // CDECODING_TIFF

static uint64_t tiff_number(const uint8_t *bytes, const uint8_t *file, int count) {
  uint64_t value = 0;
  for (int index = 0; index < count; index++) value = value << 8 | bytes[file[0] == 'M' ? index : count - 1 - index];
  return value;
}

/// Reads the first directory.
static bool describe(fuzz_picture *picture, const uint8_t *bytes, size_t size, unsigned choice) {
  cdecoding_request *request = &picture->request;
  (void)choice;
  if (size < 16) return false;
  bool is_big = tiff_number(bytes + 2, bytes, 2) == 43;
  int count_size = is_big ? 8 : 2, entry_size = is_big ? 20 : 12, offset_size = is_big ? 8 : 4;
  uint64_t at = tiff_number(bytes + (is_big ? 8 : 4), bytes, offset_size);
  request->directory = at;
  if (at > size || size - at < (size_t)count_size) return false;
  uint64_t count = tiff_number(bytes + at, bytes, count_size), photometric = 1;
  at += (uint64_t)count_size;
  for (uint64_t index = 0; index < count && size - at >= (size_t)entry_size; index++, at += (uint64_t)entry_size) {
    const uint8_t *entry = bytes + at;
    uint64_t type = tiff_number(entry + 2, bytes, 2);
    int width = type == 1 ? 1 : type == 3 ? 2 : type == 16 ? 8 : 4;
    if (width > offset_size) width = offset_size;
    uint64_t value = tiff_number(entry + 4 + offset_size, bytes, width);
    if (tiff_number(entry, bytes, 2) == 256) request->width = (uint32_t)value;
    if (tiff_number(entry, bytes, 2) == 257) request->height = (uint32_t)value;
    if (tiff_number(entry, bytes, 2) == 262) photometric = value;
  }
  bool is_grey = photometric <= 1 || photometric == 4 || photometric == 32844;
  request->plane_count = is_grey ? 1 : photometric == 5 ? 4 : 3;
  request->scaled_width = request->width;
  request->scaled_height = request->height;
  return true;
}

#endif

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (size < 2) return 0;
  unsigned choice = (unsigned)bytes[size - 2] << 8 | bytes[size - 1];
  fuzz_picture picture = {.request = {.kind = PICTURE_KIND}};
  cdecoding_request *request = &picture.request;
  if (!describe(&picture, bytes, size, choice)) return 0;
  if (request->width == 0 || request->height == 0 || (uint64_t)request->width * request->height > most_pixels ||
      (uint64_t)picture.tile.width * picture.tile.height > most_pixels) {
    return 0;
  }
  // Planes exactly as large as they must be.
  size_t size_of_planes = 0;
  for (uint32_t index = 0; index < request->plane_count; index++) {
    cdecoding_plane *plane = &request->planes[index];
    bool is_half = picture.is_subsampled && index > 0;
    plane->width = is_half ? (request->scaled_width + 1) / 2 : request->scaled_width;
    plane->height = is_half ? (request->scaled_height + 1) / 2 : request->scaled_height;
    plane->shrink_x = plane->shrink_y = (choice & 15) + 1;
    plane->columns = (plane->width - 1) / plane->shrink_x + 1;
    plane->rows = (plane->height - 1) / plane->shrink_y + 1;
    plane->low = picture.is_subsampled ? 16 : 0;
    plane->high = picture.is_subsampled ? 235 : 255;
    plane->offset = size_of_planes;
    size_of_planes += (size_t)plane->columns * plane->rows;
    request->background[index] = (uint8_t)choice;
  }
  uint8_t *planes = malloc(size_of_planes);
  if (!planes) abort();
  fuzz_input input = {bytes, size, 0};
  cpictures_input reading = {&input, size, fuzz_read, fuzz_proceed};
  cdecoding_reply reply;
  fuzz_decode(request, &picture.tile, picture.extents, &reading, &input.calls, planes, size_of_planes, &reply);
  // What was told must be a line. A picture has no reason to be missing, and a missing one has a reason.
  if ((reply.status == CDECODING_OK) != (reply.message[0] == '\0')) abort();
  if (!memchr(reply.message, 0, sizeof reply.message) || !memchr(reply.warnings[2], 0, sizeof reply.warnings[2])) abort();
  free(planes);
  return 0;
}
