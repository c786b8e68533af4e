// A fuzz target: decodes lossless WebP with our decoder and with libwebp, and compares. An input is a file that begins with its
// picture. Differences of one level are those of compositing over black.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cpictures.h>
#include <webp/decode.h>

#include "fuzz_input.h"

/// The chunk "VP8L" of a simple file is here (RFC 9649, 2.5 and 2.6).
#define CHUNK 12
#define HEAD 25
#define MOST_PIXELS (1 << 16)

static bool fuzz_proceed(void *context, double done) {
  (void)context;
  (void)done;
  return true;
}

static uint32_t little(const uint8_t *bytes) {
  return (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[1] << 8 | bytes[0];
}

/// Decodes with our decoder, over black.
static cdecoding_status decode(const uint8_t *bytes, size_t size, uint32_t width, uint32_t height, uint8_t *planes) {
  cdecoding_request request = {
      .kind = CDECODING_WEBP, .width = width, .height = height, .scaled_width = width, .scaled_height = height,
      .plane_count = 3, .tile_count = 1, .extent_count = 1};
  for (uint32_t index = 0; index < 3; index++) {
    request.planes[index] = (cdecoding_plane){
        .width = width, .height = height, .shrink_x = 1, .shrink_y = 1, .columns = width, .rows = height, .high = 255,
        .offset = (uint64_t)index * width * height};
  }
  cdecoding_tile tile = {.width = width, .height = height, .extent_count = 1};
  cdecoding_extent extent = {CHUNK, size - CHUNK};
  fuzz_input input = {bytes, size, 0};
  cpictures_input reading = {&input, size, fuzz_read, fuzz_proceed};
  cdecoding_reply reply;
  cpictures_decode(&request, &tile, &extent, &reading, planes, (size_t)3 * width * height, &reply);
  return reply.status;
}

static void compare(const uint8_t *planes, const uint8_t *pixels, size_t count, bool has_alpha) {
  for (size_t index = 0; index < count; index++) {
    for (size_t color = 0; color < 3; color++) {
      unsigned alpha = has_alpha ? pixels[4 * index + 3] : 255;
      int expected = (int)((pixels[4 * index + color] * alpha + 127) / 255), found = planes[color * count + index];
      if (abs(expected - found) <= 1) continue;
      fprintf(stderr, "pixel %zu, color %zu: %d, and %d by libwebp\n", index, color, found, expected);
      abort();
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (size < HEAD || memcmp(bytes + CHUNK, "VP8L", 4) != 0) return 0;
  uint64_t length = (uint64_t)little(bytes + CHUNK + 4) + CHUNK + 8;
  if (length > size) return 0;
  uint32_t bits = little(bytes + CHUNK + 9), width = (bits & 0x3FFF) + 1, height = (bits >> 14 & 0x3FFF) + 1;
  if ((uint64_t)width * height > MOST_PIXELS) return 0;
  // A file that has nothing but this chunk.
  uint8_t *file = malloc(length), *planes = malloc((size_t)3 * width * height);
  if (file == NULL || planes == NULL) abort();
  memcpy(file, bytes, length);
  memcpy(file, "RIFF", 4);
  memcpy(file + 8, "WEBP", 4);
  for (int place = 0; place < 4; place++) file[4 + place] = (uint8_t)((length - 8) >> 8 * place);
  cdecoding_status status = decode(file, length, width, height, planes);
  WebPBitstreamFeatures features;
  uint8_t *pixels = NULL;
  if (WebPGetFeatures(file, length, &features) == VP8_STATUS_OK) pixels = WebPDecodeRGBA(file, length, NULL, NULL);
  if ((status == CDECODING_OK) != (pixels != NULL)) {
    fprintf(stderr, "status %d, and %s by libwebp\n", status, pixels != NULL ? "decoded" : "not decoded");
    abort();
  }
  if (pixels != NULL) compare(planes, pixels, (size_t)width * height, features.has_alpha);
  WebPFree(pixels);
  free(planes);
  free(file);
  return 0;
}
