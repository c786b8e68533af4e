// The fuzz targets of CPictures: decodes any bytes as the decoder process does, with the address and undefined-behaviour
// sanitizers. The program's name chooses the library: decode-png, decode-gif. The last two bytes choose the request, so that
// any file is an input.

#include <stdlib.h>
#include <string.h>

#include <cpictures.h>
#include <zlib.h>

#include "fills.h"

// Larger pictures take long and show nothing else.
#define MOST_PIXELS (1 << 18)
#define MOST_CALLS 20000
#define LONGEST_PROFILE 100000

typedef struct {
  const uint8_t *bytes;
  size_t size;
  int calls;
  int most_calls;
  bool fails_at_end;
  size_t longest_read;
} fuzz_input;

static cdecoding_kind kind;

static ptrdiff_t fuzz_read(void *context, uint64_t offset, uint8_t *into, size_t capacity) {
  const fuzz_input *input = context;
  if (offset >= input->size) return input->fails_at_end ? -1 : 0;
  size_t count = input->size - (size_t)offset;
  if (count > capacity) count = capacity;
  if (count > input->longest_read) count = input->longest_read;
  memcpy(into, input->bytes + offset, count);
  return (ptrdiff_t)count;
}

static bool fuzz_proceed(void *context, double done) {
  fuzz_input *input = context;
  if (!(done >= 0 && done <= 1)) abort();
  return ++input->calls <= input->most_calls;
}

static uint32_t big_endian(const uint8_t *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static uint32_t little_endian(const uint8_t *bytes) { return (uint32_t)bytes[1] << 8 | bytes[0]; }

static void put_big_endian(uint8_t *into, uint32_t value) {
  for (int index = 0; index < 4; index++) into[index] = (uint8_t)(value >> (24 - 8 * index));
}

/// A copy of a PNG file with the right CRC in each chunk, because no fuzzer finds that. If `compressing`, the data of IDAT
/// chunks and profiles is taken for uncompressed, and compressed.
static uint8_t *repaired_png(const uint8_t *bytes, size_t size, bool compressing, size_t *repaired_size) {
  uint8_t *copy = malloc(2 * size + 100000);
  if (copy == NULL) abort();
  size_t place = size < 8 ? size : 8, end = place;
  memcpy(copy, bytes, place);
  // A chunk is its length, its type, its data and its CRC.
  while (size - place >= 12 && end < size + 50000) {
    size_t length = big_endian(bytes + place);
    if (length > size - place - 12) break;
    const uint8_t *chunk = bytes + place, *data = chunk + 8;
    memcpy(copy + end + 4, chunk + 4, 4);
    bool is_data = memcmp(chunk + 4, "IDAT", 4) == 0;
    bool is_profile = memcmp(chunk + 4, "iCCP", 4) == 0;
    size_t kept = is_data ? 0 : is_profile ? strnlen((const char *)data, length) + 2 : length;
    if (compressing && (is_data || is_profile) && kept <= length) {
      uLongf compressed = compressBound(length - kept);
      memcpy(copy + end + 8, data, kept);
      if (compress2(copy + end + 8 + kept, &compressed, data + kept, length - kept, 1) != Z_OK) abort();
      put_big_endian(copy + end, (uint32_t)(kept + compressed));
    } else {
      memcpy(copy + end + 8, data, length);
      put_big_endian(copy + end, (uint32_t)length);
    }
    size_t written = big_endian(copy + end);
    put_big_endian(copy + end + 8 + written, (uint32_t)crc32(0, copy + end + 4, (uInt)written + 4));
    end += written + 12;
    place += length + 12;
  }
  if (end < size + 50000) {
    memcpy(copy + end, bytes + place, size - place);
    end += size - place;
  }
  *repaired_size = end;
  return copy;
}

/// The size of a PNG picture and the count of its planes.
static void read_png_header(const uint8_t *bytes, size_t size, cdecoding_request *request) {
  if (size < 26) return;
  request->width = big_endian(bytes + 16);
  request->height = big_endian(bytes + 20);
  request->plane_count = bytes[25] & 2 ? 3 : 1;
}

/// The size of a GIF's screen, enlarged for its first frame.
static void read_gif_header(const uint8_t *bytes, size_t size, cdecoding_request *request) {
  if (size < 13) return;
  request->width = little_endian(bytes + 6);
  request->height = little_endian(bytes + 8);
  request->plane_count = 3;
  size_t place = 13 + (bytes[10] & 0x80 ? (size_t)3 << ((bytes[10] & 7) + 1) : 0);
  while (place + 2 < size && bytes[place] == '!') {
    place += 2;
    while (place < size && bytes[place] != 0) place += bytes[place] + (size_t)1;
    place++;
  }
  if (place + 9 > size || bytes[place] != ',') return;
  uint32_t right = little_endian(bytes + place + 1) + little_endian(bytes + place + 5);
  uint32_t bottom = little_endian(bytes + place + 3) + little_endian(bytes + place + 7);
  if (right > request->width) request->width = right;
  if (bottom > request->height) request->height = bottom;
}

/// Lays out planes that follow each other. Returns their size.
static size_t lay_out(cdecoding_request *request, unsigned choice) {
  static const uint32_t shrinks[] = {1, 2, 3, 8, 11, 64, CDECODING_MAX_SHRINK, 5};
  size_t size = 0;
  for (uint32_t index = 0; index < request->plane_count; index++) {
    cdecoding_plane *plane = &request->planes[index];
    *plane = (cdecoding_plane){
        .width = request->width, .height = request->height, .shrink_x = shrinks[choice & 7],
        .shrink_y = shrinks[choice >> 3 & 7], .high = 255, .offset = size};
    plane->columns = (plane->width - 1) / plane->shrink_x + 1;
    plane->rows = (plane->height - 1) / plane->shrink_y + 1;
    size += (size_t)plane->columns * plane->rows;
    request->background[index] = (uint8_t)(choice >> index);
  }
  return size;
}

static void check(const cdecoding_request *request, const cdecoding_reply *reply, const fuzz_input *input) {
  bool is_good = reply->status == CDECODING_OK;
  if (is_good != (reply->message[0] == '\0')) abort();
  if (strnlen(reply->message, CDECODING_MESSAGE_SIZE) == CDECODING_MESSAGE_SIZE) abort();
  if (strnlen(reply->warnings[2], CDECODING_MESSAGE_SIZE) == CDECODING_MESSAGE_SIZE) abort();
  if (reply->status == CDECODING_BAD_CALL) abort();
  if (reply->profile_size > request->profile_capacity) abort();
  if ((reply->status == CDECODING_CANCELLED) != (input->calls > input->most_calls)) abort();
}

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerInitialize(int *count, char ***arguments) {
  (void)count;
  const char *name = strrchr((*arguments)[0], '-');
  kind = name != NULL && strcmp(name, "-gif") == 0 ? CDECODING_GIF : CDECODING_PNG;
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (size < 2) return 0;
  unsigned choice = (unsigned)bytes[size - 2] << 8 | bytes[size - 1];
  uint8_t *repaired = NULL;
  if (kind == CDECODING_PNG && choice >> 6 & 1) bytes = repaired = repaired_png(bytes, size, choice >> 7 & 1, &size);
  fuzz_input input = {
      .bytes = bytes, .size = size, .most_calls = choice >> 8 & 1 ? (int)(choice >> 9 & 7) : MOST_CALLS,
      .fails_at_end = choice >> 12 & 1, .longest_read = choice >> 13 & 1 ? 7 : SIZE_MAX};
  cdecoding_request request = {.kind = kind, .profile_capacity = choice >> 14 & 1 ? LONGEST_PROFILE : 0};
  if (kind == CDECODING_PNG) read_png_header(bytes, size, &request);
  if (kind == CDECODING_GIF) read_gif_header(bytes, size, &request);
  if (request.width > 0 && request.height > 0 && (uint64_t)request.width * request.height <= MOST_PIXELS) {
    size_t planes_size = lay_out(&request, choice);
    request.profile_offset = planes_size;
    size_t memory_size = planes_size + (size_t)request.profile_capacity;
    // Exactly as large as the request needs.
    uint8_t *memory = malloc(memory_size);
    if (memory == NULL) abort();
    cpictures_input reading = {&input, size, fuzz_read, fuzz_proceed};
    cdecoding_reply reply;
    fuzz_decode(&request, NULL, NULL, &reading, &input.calls, memory, memory_size, &reply);
    check(&request, &reply, &input);
    free(memory);
  }
  free(repaired);
  return 0;
}
