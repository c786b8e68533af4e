// A fuzz target: decodes LZW in TIFF with our decoder and with libtiff, and compares. Both must decode the same pictures. The
// first bytes choose the shape of a grey picture; the rest is the data of its strips, in equal parts.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cpictures.h>
#include <tiffio.h>

#include "fuzz_input.h"

#define CHOICES 4
#define MOST_DATA 8192
#define MOST_STRIPS 64

/// A file in memory, as libtiff reads it.
typedef struct {
  const uint8_t *bytes;
  uint64_t size, place;
} memory_file;

static tmsize_t read_memory(thandle_t handle, void *into, tmsize_t count) {
  memory_file *file = handle;
  uint64_t left = file->place < file->size ? file->size - file->place : 0;
  size_t taken = (uint64_t)count < left ? (size_t)count : (size_t)left;
  memcpy(into, file->bytes + file->place, taken);
  file->place += taken;
  return (tmsize_t)taken;
}

static tmsize_t write_memory(thandle_t handle, void *from, tmsize_t count) {
  (void)handle;
  (void)from;
  (void)count;
  return -1;
}

static toff_t seek_memory(thandle_t handle, toff_t offset, int from) {
  memory_file *file = handle;
  file->place = offset + (from == SEEK_CUR ? file->place : from == SEEK_END ? file->size : 0);
  return file->place;
}

static int close_memory(thandle_t handle) {
  (void)handle;
  return 0;
}

static toff_t size_of_memory(thandle_t handle) { return ((memory_file *)handle)->size; }

/// A picture, and the file that has it.
typedef struct {
  uint32_t width, height, strips, strip_rows, directory;
  size_t size;
  uint8_t file[8 + MOST_DATA + 1 + MOST_STRIPS * 8 + 2 + 10 * 12 + 4];
} lzw_picture;

static void put(lzw_picture *picture, uint32_t value, int bytes) {
  for (int place = 0; place < bytes; place++) picture->file[picture->size++] = (uint8_t)(value >> 8 * place);
}

static void put_entry(lzw_picture *picture, uint32_t tag, uint32_t type, uint32_t count, uint32_t value) {
  put(picture, tag, 2);
  put(picture, type, 2);
  put(picture, count, 4);
  put(picture, value, 4);
}

/// The offset of strip `index`, or the end of the last one.
static uint32_t strip_offset(const lzw_picture *picture, size_t data, uint32_t index) {
  return 8 + (uint32_t)(data * index / picture->strips);
}

static void write_file(lzw_picture *picture, const uint8_t *data, size_t size, unsigned predictor) {
  memcpy(picture->file, "II*\0", 4);
  picture->size = 8;
  memcpy(picture->file + picture->size, data, size);
  picture->size += size + (size & 1);
  uint32_t offsets = (uint32_t)picture->size, counts = offsets + 4 * picture->strips;
  for (uint32_t index = 0; index < picture->strips; index++) put(picture, strip_offset(picture, size, index), 4);
  for (uint32_t index = 0; index < picture->strips; index++) {
    put(picture, strip_offset(picture, size, index + 1) - strip_offset(picture, size, index), 4);
  }
  // A single number stands in its entry.
  bool is_one = picture->strips == 1;
  picture->directory = (uint32_t)picture->size;
  put(picture, 10, 2);
  put_entry(picture, TIFFTAG_IMAGEWIDTH, TIFF_LONG, 1, picture->width);
  put_entry(picture, TIFFTAG_IMAGELENGTH, TIFF_LONG, 1, picture->height);
  put_entry(picture, TIFFTAG_BITSPERSAMPLE, TIFF_SHORT, 1, 8);
  put_entry(picture, TIFFTAG_COMPRESSION, TIFF_SHORT, 1, COMPRESSION_LZW);
  put_entry(picture, TIFFTAG_PHOTOMETRIC, TIFF_SHORT, 1, PHOTOMETRIC_MINISBLACK);
  put_entry(picture, TIFFTAG_STRIPOFFSETS, TIFF_LONG, picture->strips, is_one ? 8 : offsets);
  put_entry(picture, TIFFTAG_SAMPLESPERPIXEL, TIFF_SHORT, 1, 1);
  put_entry(picture, TIFFTAG_ROWSPERSTRIP, TIFF_LONG, 1, picture->strip_rows);
  put_entry(picture, TIFFTAG_STRIPBYTECOUNTS, TIFF_LONG, picture->strips, is_one ? (uint32_t)size : counts);
  put_entry(picture, TIFFTAG_PREDICTOR, TIFF_SHORT, 1, predictor);
  put(picture, 0, 4);
  size_t end = picture->size;
  picture->size = 4;
  put(picture, picture->directory, 4);
  picture->size = end;
}

static bool fuzz_proceed(void *context, double done) {
  (void)context;
  (void)done;
  return true;
}

/// Decodes with our decoder. Returns whether it gives a picture without a warning.
static bool decode(const lzw_picture *picture, uint8_t *samples) {
  cdecoding_request request = {
      .kind = CDECODING_TIFF, .width = picture->width, .height = picture->height, .scaled_width = picture->width,
      .scaled_height = picture->height, .plane_count = 1, .start = picture->directory};
  request.planes[0] = (cdecoding_plane){
      .width = picture->width, .height = picture->height, .shrink_x = 1, .shrink_y = 1, .columns = picture->width,
      .rows = picture->height, .high = 255};
  fuzz_input input = {picture->file, picture->size, 0};
  cpictures_input reading = {&input, picture->size, fuzz_read, fuzz_proceed};
  cdecoding_reply reply;
  cpictures_decode(&request, NULL, NULL, &reading, samples, (size_t)picture->width * picture->height, &reply);
  return reply.status == CDECODING_OK && reply.warnings[0][0] == '\0';
}

/// Decodes with libtiff. Returns whether every strip is whole.
static bool decode_with_libtiff(const lzw_picture *picture, uint8_t *samples) {
  memory_file memory = {picture->file, picture->size, 0};
  TIFF *tiff = TIFFClientOpen(
      "memory", "rm", &memory, read_memory, write_memory, seek_memory, close_memory, size_of_memory, NULL, NULL);
  if (tiff == NULL) return false;
  bool is_whole = true;
  for (uint32_t index = 0; index < picture->strips && is_whole; index++) {
    uint32_t first = index * picture->strip_rows, left = picture->height - first;
    tmsize_t size = (tmsize_t)(left < picture->strip_rows ? left : picture->strip_rows) * picture->width;
    is_whole = TIFFReadEncodedStrip(tiff, index, samples + (size_t)first * picture->width, size) == size;
  }
  TIFFClose(tiff);
  return is_whole;
}

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerInitialize(int *count, char ***arguments) {
  (void)count;
  (void)arguments;
  TIFFSetErrorHandler(NULL);
  TIFFSetWarningHandler(NULL);
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (size < CHOICES || size - CHOICES > MOST_DATA) return 0;
  lzw_picture picture = {.width = bytes[0] + 1u, .height = bytes[1] % MOST_STRIPS + 1u, .strip_rows = bytes[2] % 8 + 1u};
  picture.strips = (picture.height - 1) / picture.strip_rows + 1;
  write_file(&picture, bytes + CHOICES, size - CHOICES, (bytes[3] & 1) + 1u);
  size_t count = (size_t)picture.width * picture.height;
  uint8_t *ours = malloc(count), *theirs = malloc(count);
  if (ours == NULL || theirs == NULL) abort();
  bool is_ours = decode(&picture, ours), is_theirs = decode_with_libtiff(&picture, theirs);
  if (is_ours != is_theirs || (is_ours && memcmp(ours, theirs, count) != 0)) {
    const char *what = is_ours == is_theirs ? "samples differ" : is_ours ? "libtiff fails" : "only libtiff decodes it";
    fprintf(stderr, "%u × %u pixels, %u rows a strip: %s\n", picture.width, picture.height, picture.strip_rows, what);
    abort();
  }
  free(ours);
  free(theirs);
  return 0;
}
