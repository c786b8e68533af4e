// The fuzz targets of CPictures for the codecs of HEIF: decode-hevc and decode-av1, by the program's name. The first two bytes
// are the size of the decoder configuration record, which follows; then come the data of one tile. The last two bytes choose
// the request.

#include <cpictures.h>
#include <stdlib.h>
#include <string.h>

#include "fills.h"
#include "fuzz_input.h"

static cdecoding_kind kind;

static bool fuzz_proceed(void *context, double done) {
  (void)context;
  if (!(done >= 0 && done <= 1)) abort();
  return true;
}

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerInitialize(int *count, char ***arguments) {
  (void)count;
  const char *name = strrchr((*arguments)[0], '-');
  kind = name != NULL && strcmp(name, "-av1") == 0 ? CDECODING_AV1 : CDECODING_HEVC;
  return 0;
}

// One tile, or four in two rows or on each other, partly outside the picture; in rows, with alpha for the first one, or on each
// other, for all.
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (size < 4) return 0;
  unsigned choice = (unsigned)bytes[size - 2] << 8 | bytes[size - 1];
  size_t configuration = (size_t)bytes[0] << 8 | bytes[1];
  if (configuration > size - 4) return 0;
  size_t data = size - 4 - configuration;
  static const uint32_t sides[] = {64, 63, 128, 16, 200, 256, 8, 1};
  uint32_t width = sides[choice & 7], height = sides[choice >> 3 & 7];
  unsigned step_x = choice >> 6 & 1 ? 2 : 1, step_y = choice >> 7 & 1 ? 2 : 1;
  bool has_alpha = choice >> 8 & 1;
  uint32_t side_tiles = choice >> 9 & 1 ? 2 : 1;
  int32_t cut = (int32_t)(choice >> 10 & 3);
  cdecoding_request request = {
      .kind = kind, .width = width * side_tiles, .height = height * side_tiles, .plane_count = choice >> 12 & 1 ? 1 : 3,
      .is_gbr = choice >> 13 & 1, .is_premultiplied = choice >> 14 & 1, .is_overlay = choice >> 15 & 1};
  size_t planes_size = 0;
  for (uint32_t index = 0; index < request.plane_count; index++) {
    cdecoding_plane *plane = &request.planes[index];
    uint32_t x = index == 0 ? 1 : step_x, y = index == 0 ? 1 : step_y;
    *plane = (cdecoding_plane){
        .width = (request.width - 1) / x + 1, .height = (request.height - 1) / y + 1, .shrink_x = 2 / x, .shrink_y = 2 / y,
        .high = 255, .offset = planes_size};
    plane->columns = (plane->width - 1) / plane->shrink_x + 1;
    plane->rows = (plane->height - 1) / plane->shrink_y + 1;
    planes_size += (size_t)plane->columns * plane->rows;
  }
  cdecoding_tile tiles[8];
  cdecoding_extent extents[2] = {
      {.offset = 2 + configuration, .size = data / 2}, {.offset = 2 + configuration + data / 2, .size = data - data / 2}};
  // How many tiles have alpha, and how many tiles lie at one place.
  uint32_t count = side_tiles * side_tiles, alphas = !has_alpha ? 0 : request.is_overlay ? count : 1;
  uint32_t layers = alphas == count ? 2 : 1;
  for (uint32_t index = 0; index < count + alphas; index++) {
    uint32_t place = layers == 2 ? index / 2 : index - (index < alphas ? 0 : alphas);
    uint32_t across = request.is_overlay ? width / 2 : width, down = request.is_overlay ? height / 4 : height;
    tiles[index] = (cdecoding_tile){
        .x = (int32_t)(place % side_tiles * across) - cut, .y = (int32_t)(place / side_tiles * down) - cut, .width = width,
        .height = height, .extent_count = 2, .configuration = {.offset = 2, .size = configuration},
        .is_alpha = layers == 2 ? index % 2 == 0 : index < alphas, .shown_layer = request.is_overlay ? (uint8_t)cut : 0};
    request.tile_count++;
  }
  request.extent_count = 2;
  fuzz_input input = {.bytes = bytes, .size = size};
  cpictures_input reading = {&input, size, fuzz_read, fuzz_proceed};
  uint8_t *memory = malloc(planes_size);
  if (memory == NULL) abort();
  cdecoding_reply reply;
  fuzz_decode(&request, tiles, extents, &reading, &input.calls, memory, planes_size, &reply);
  if ((reply.status == CDECODING_OK) != (reply.message[0] == '\0')) abort();
  if (strnlen(reply.message, CDECODING_MESSAGE_SIZE) == CDECODING_MESSAGE_SIZE) abort();
  if (strnlen(reply.warnings[2], CDECODING_MESSAGE_SIZE) == CDECODING_MESSAGE_SIZE) abort();
  free(memory);
  return 0;
}
