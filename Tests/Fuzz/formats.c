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
  cdecoding_extent extents[4];
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
  request->start = at;
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

#elif PICTURE_KIND == 8  // CDECODING_RASTER

/// The first 32 bytes describe the rows, which follow.
static bool describe(fuzz_picture *picture, const uint8_t *bytes, size_t size, unsigned choice) {
  static const uint32_t bits[] = {1, 2, 4, 8, 16, 24, 32, 8};
  static const uint32_t masks[][4] = {
      {0x7C00, 0x3E0, 0x1F, 0}, {0xF800, 0x7E0, 0x1F, 0}, {0xFF0000, 0xFF00, 0xFF, 0xFF000000u}, {0x3FF00000, 0xFFC00, 0x3FF, 0}};
  cdecoding_request *request = &picture->request;
  cdecoding_raster *raster = &request->raster;
  if (size < 32) return false;
  request->width = request->scaled_width = bytes[0] + 1u;
  request->height = request->scaled_height = bytes[1] + 1u;
  raster->bits = bits[bytes[2] & 7];
  raster->packing = (cdecoding_packing)(bytes[3] & 3);
  raster->is_bottom_up = choice >> 8 & 1;
  raster->is_right_to_left = choice >> 9 & 1;
  raster->data = 32 + bytes[4];
  raster->row_bytes = ((uint64_t)request->width * raster->bits + 7) / 8 + (bytes[5] & 3);
  bool has_palette = raster->packing == CDECODING_RLE8 || raster->packing == CDECODING_RLE4 || bytes[6] & 1;
  if (raster->packing == CDECODING_RLE8) raster->bits = 8;
  if (raster->packing == CDECODING_RLE4) raster->bits = 4;
  if (has_palette && raster->bits <= 8) {
    raster->palette = bytes[7];
    raster->palette_first = bytes[8];
    raster->palette_count = bytes[9] + 1u;
    raster->palette_entry = 2 + bytes[10] % 3;
    if (raster->palette_entry == 4 && bytes[11] & 1) raster->masks[3] = 1;
  } else if (raster->bits > 8) {
    memcpy(raster->masks, masks[bytes[12] & 3], sizeof raster->masks);
    if (raster->bits != 32) raster->masks[3] = raster->bits == 16 && bytes[12] & 4 ? 0x8000 : 0;
  }
  if (bytes[13] & 1) raster->mask = bytes[14] + 1u;
  bool is_grey = raster->palette_count == 0 && raster->masks[0] == 0;
  if (raster->packing == CDECODING_TGA_RUNS && raster->bits < 8) return false;
  request->plane_count = is_grey ? 1 : 3;
  return true;
}

#elif PICTURE_KIND == 9  // CDECODING_PSD

/// The first 16 bytes describe the channels, which follow.
static bool describe(fuzz_picture *picture, const uint8_t *bytes, size_t size, unsigned choice) {
  static const uint32_t bits[] = {1, 8, 16, 8};
  cdecoding_request *request = &picture->request;
  cdecoding_psd *psd = &request->psd;
  (void)choice;
  if (size < 16) return false;
  request->width = request->scaled_width = bytes[0] + 1u;
  request->height = request->scaled_height = bytes[1] + 1u;
  psd->bits = bits[bytes[2] & 3];
  request->plane_count = psd->bits == 1 ? 1 : bytes[3] % 3 == 0 ? 1 : bytes[3] % 3 == 1 ? 3 : 4;
  psd->has_alpha = psd->bits > 1 && bytes[4] & 1;
  if (psd->bits == 8 && request->plane_count == 3 && !psd->has_alpha && bytes[5] & 1) psd->palette = 16;
  psd->channels = request->plane_count + psd->has_alpha + (bytes[6] & 3);
  psd->size_bytes = bytes[7] & 1 ? 4 : 2;
  psd->is_packed = bytes[8] & 1;
  psd->is_inverted = bytes[9] & 1;
  psd->data = 16;
  return true;
}

#elif PICTURE_KIND == 11  // CDECODING_JP2

static uint32_t big(const uint8_t *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/// Reads the marker segment SIZ of a codestream.
static bool describe(fuzz_picture *picture, const uint8_t *bytes, size_t size, unsigned choice) {
  cdecoding_request *request = &picture->request;
  if (size < 60 || bytes[41] > 4 || bytes[40] > 0) return false;
  // Each component has samples of its own, 3 bytes. Those of the first are the pixels.
  uint32_t across = bytes[43], down = bytes[44];
  if (across == 0 || down == 0) return false;
  uint32_t levels = choice >> 8 & 3;
  uint64_t right = big(bytes + 8), bottom = big(bytes + 12), left = big(bytes + 16), top = big(bytes + 20);
  if (right <= left || bottom <= top || right > 4096 || bottom > 4096 || big(bytes + 24) < 8 || big(bytes + 28) < 8) return false;
  uint64_t first_x = (left + across - 1) / across, first_y = (top + down - 1) / down;
  uint64_t last_x = (right + across - 1) / across, last_y = (bottom + down - 1) / down;
  request->width = (uint32_t)(last_x - first_x);
  request->height = (uint32_t)(last_y - first_y);
  uint64_t scale = (uint64_t)1 << levels;
  request->discarded_levels = levels;
  request->scaled_width = (uint32_t)((last_x + scale - 1) / scale - (first_x + scale - 1) / scale);
  request->scaled_height = (uint32_t)((last_y + scale - 1) / scale - (first_y + scale - 1) / scale);
  if (request->scaled_width == 0 || request->scaled_height == 0) return false;
  request->plane_count = bytes[41] >= 3 ? 3 : 1;
  request->extent_count = 4;
  picture->extents[0] = (cdecoding_extent){0, size};
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
