#ifdef THUMBJOB_FORMATS
#include "encoding.h"

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

// The rows on which both strategies are tried, and how many bytes they may have.
#define TRIED_ROWS 16
#define TRIED_BYTES ((size_t)256 << 10)

static void fail(png_structp png, png_const_charp message) {
  encoding *call = png_get_error_ptr(png);
  // libpng says no more of a lack of memory than these words.
  bool lacks_memory = strstr(message, "emory") != NULL;
  encoding_fail(call, lacks_memory ? CDECODING_NO_MEMORY : CDECODING_UNSUPPORTED, "%s", message);
  png_longjmp(png, 1);
}

static void ignore(png_structp png, png_const_charp message) {
  (void)png;
  (void)message;
}

static void write_bytes(png_structp png, png_bytep bytes, size_t count) {
  if (!encoding_write(png_get_io_ptr(png), bytes, count)) png_error(png, "there is no room for the file");
}

static void flush(png_structp png) { (void)png; }

static unsigned samples_of_pixel(const encoding *call) {
  return encoding_colors(call) + (call->request->has_alpha ? 1 : 0);
}

/// Puts the samples of a row next to each other.
static void gather(const encoding *call, uint32_t row, uint8_t *into) {
  const cencoding_request *request = call->request;
  unsigned count = samples_of_pixel(call);
  for (unsigned index = 0; index < count; index++) {
    const uint8_t *line = encoding_plane(call, index) + (size_t)row * request->width;
    for (uint32_t x = 0; x < request->width; x++) into[(size_t)x * count + index] = line[x];
  }
}

/// How many bytes zlib makes of samples with a strategy; SIZE_MAX if it has no memory.
static size_t deflated_size(
    const encoding *call, int strategy, uint8_t *samples, size_t size, uint8_t *into, size_t capacity) {
  z_stream stream = {.next_in = samples, .avail_in = (uInt)size, .next_out = into, .avail_out = (uInt)capacity};
  if (deflateInit2(&stream, call->request->effort, Z_DEFLATED, 15, 8, strategy) != Z_OK) return SIZE_MAX;
  int result = deflate(&stream, Z_FINISH);
  size_t made = stream.total_out;
  deflateEnd(&stream);
  return result == Z_STREAM_END ? made : SIZE_MAX;
}

/// The strategy that suits the picture, by rows in its middle. Rows of photos do not repeat: to look for repetitions takes
/// four times as long and saves nothing. Those of drawings and texts do.
static int find_strategy(const encoding *call, uint8_t *row) {
  const cencoding_request *request = call->request;
  unsigned count = samples_of_pixel(call);
  size_t width = (size_t)request->width * count;
  uint32_t rows = width > TRIED_BYTES / TRIED_ROWS ? (uint32_t)(TRIED_BYTES / width) : TRIED_ROWS;
  if (rows < 1) rows = 1;
  if (rows > request->height) rows = request->height;
  size_t size = rows * width, capacity = compressBound(size) + 64;
  uint8_t *samples = malloc(size), *made = malloc(capacity);
  int strategy = Z_FILTERED;
  if (samples && made) {
    for (uint32_t y = 0; y < rows; y++) {
      gather(call, (request->height - rows) / 2 + y, row);
      // As PNG's filter Sub does.
      for (size_t x = 0; x < width; x++) samples[y * width + x] = (uint8_t)(row[x] - (x < count ? 0 : row[x - count]));
    }
    size_t thorough = deflated_size(call, Z_FILTERED, samples, size, made, capacity);
    size_t fast = deflated_size(call, Z_RLE, samples, size, made, capacity);
    if (fast <= thorough + thorough / 64) strategy = Z_RLE;
  }
  free(samples);
  free(made);
  return strategy;
}

static void write_head(png_structp png, png_infop info, const encoding *call, int strategy) {
  const cencoding_request *request = call->request;
  int color = request->samples == CENCODING_GREY ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB;
  if (request->has_alpha) color |= PNG_COLOR_MASK_ALPHA;
  png_set_IHDR(
      png, info, request->width, request->height, 8, color, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
      PNG_FILTER_TYPE_DEFAULT);
  // At 0, the samples are stored.
  png_set_compression_level(png, request->effort);
  png_set_compression_strategy(png, strategy);
  png_set_filter(png, PNG_FILTER_TYPE_BASE, request->effort == 0 ? PNG_FILTER_NONE : PNG_ALL_FILTERS);
  if (request->profile.size > 0) {
    png_set_iCCP(
        png, info, "ICC profile", PNG_COMPRESSION_TYPE_BASE, call->memory + request->profile.offset,
        (png_uint_32)request->profile.size);
  }
  if (request->exif.size > 0) {
    png_set_eXIf_1(png, info, (png_uint_32)request->exif.size, call->memory + request->exif.offset);
  }
  png_write_info(png, info);
}

static void write_picture(png_structp png, png_infop info, encoding *call, uint8_t *row) {
  int strategy = call->request->effort == 0 ? Z_DEFAULT_STRATEGY : find_strategy(call, row);
  if (setjmp(png_jmpbuf(png))) return;
  write_head(png, info, call, strategy);
  uint32_t height = call->request->height;
  for (uint32_t y = 0; y < height; y++) {
    gather(call, y, row);
    png_write_row(png, row);
    call->progress->advance(call->progress->context, (double)(y + 1) / height);
  }
  png_write_end(png, info);
}

void encode_png(encoding *call) {
  if (call->request->samples == CENCODING_YCC) {
    encoding_fail(call, CDECODING_BAD_CALL, "a PNG file has no chroma");
    return;
  }
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, call, fail, ignore);
  png_infop info = png ? png_create_info_struct(png) : NULL;
  uint8_t *row = malloc((size_t)call->request->width * CENCODING_MAX_PLANES);
  if (info && row) {
    png_set_write_fn(png, call, write_bytes, flush);
    // A profile that libpng does not take is left out.
    png_set_benign_errors(png, 1);
    png_set_compression_buffer_size(png, 64 << 10);
    // The largest side of a thumbnail is less than this, which is libpng's own limit.
    png_set_user_limits(png, CDECODING_MAX_SIDE, CDECODING_MAX_SIDE);
    write_picture(png, info, call, row);
  } else {
    encoding_fail(call, CDECODING_NO_MEMORY, "there is no memory for libpng");
  }
  free(row);
  if (png) png_destroy_write_struct(&png, &info);
}

#endif
