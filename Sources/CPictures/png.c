#ifdef THUMBJOB_FORMATS
// PNG by libpng's sequential reader. Rows are passed on where libpng has them, and none is kept. Of an interlaced picture
// the passes are read one by one, and each pixel is added up at its place, so that it takes no more memory than another.
//
// Source: PNG (third edition), 8 "Interlacing and pass extraction", 11 "Chunk specifications".

#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "accumulator.h"
#include "decoding.h"
#include "stream.h"

// Asks whether to go on after so many rows or pixels.
#define ROWS_BETWEEN_CHECKS 64
#define PIXELS_BETWEEN_CHECKS (1 << 20)

// The compressed bytes that are inflated at once.
#define IDAT_BUFFER_SIZE 32768

// More than libpng allocates at once while it reads the header, but for the profile: to inflate takes 86 KiB.
#define LARGEST_OF_HEADER 131072

typedef struct png_reading {
  decoding *call;
  png_structp png;
  png_infop info;
  accumulator sums;
  sample_layout layout;
  bool is_interlaced;
  uint64_t pixels_done;
  uint32_t rows_unchecked, pixels_unchecked;
  /// The most bytes that libpng may allocate at once, and whether there were not as many.
  size_t largest_allocation;
  bool is_out_of_memory;
  stream input;
} png_reading;

static uint64_t pixel_count(const png_reading *reading) {
  return (uint64_t)reading->call->request->width * reading->call->request->height;
}

static png_voidp allocate(png_structp png, png_alloc_size_t size) {
  png_reading *reading = png_get_mem_ptr(png);
  if (size > reading->largest_allocation) {
    // Only a profile can be so large in a header. libpng goes on without it.
    decoding_warn_of_profile(reading->call);
    return NULL;
  }
  void *block = malloc(size);
  if (!block) reading->is_out_of_memory = true;
  return block;
}

static void deallocate(png_structp png, png_voidp block) {
  (void)png;
  free(block);
}

/// Called by libpng for errors, which must not return.
static _Noreturn void fail(png_structp png, png_const_charp message) {
  png_reading *reading = png_get_error_ptr(png);
  if (reading->is_out_of_memory) {
    decoding_fail(reading->call, CDECODING_NO_MEMORY, "out of memory");
  } else {
    decoding_fail(reading->call, CDECODING_DAMAGED, "%s", message);
  }
  png_longjmp(png, 1);
}

static void warn(png_structp png, png_const_charp message) {
  png_reading *reading = png_get_error_ptr(png);
  decoding_warn(reading->call, "%s", message);
}

static void read_bytes(png_structp png, png_bytep into, size_t count) {
  png_reading *reading = png_get_io_ptr(png);
  if (stream_read(&reading->input, into, count) == count) return;
  // After a failure or a cancellation the call has its status already.
  if (reading->pixels_done < pixel_count(reading)) {
    decoding_fail(reading->call, CDECODING_TRUNCATED, "the file ends too early");
  } else if (reading->call->reply->status == CDECODING_OK) {
    // Only the last checksum is missing.
    decoding_warn(reading->call, "the file ends after the last row");
  }
  png_longjmp(png, 1);
}

/// Called by libpng for each row that it has decoded and converted.
static void take_row(png_structp png, png_row_infop row, png_bytep samples) {
  png_reading *reading = png_get_io_ptr(png);
  png_uint_32 number = png_get_current_row_number(png);
  if (reading->is_interlaced) {
    int pass = png_get_current_pass_number(png);
    accumulator_add_spaced(
        &reading->sums, PNG_PASS_START_COL(pass), PNG_ROW_FROM_PASS_ROW(number, pass), (unsigned)PNG_PASS_COL_SHIFT(pass),
        row->width, samples, reading->layout);
  } else {
    accumulator_add(&reading->sums, 0, number, row->width, samples, reading->layout);
  }
  reading->pixels_done += row->width;
  reading->pixels_unchecked += row->width;
  reading->rows_unchecked++;
  if (reading->rows_unchecked < ROWS_BETWEEN_CHECKS && reading->pixels_unchecked < PIXELS_BETWEEN_CHECKS) return;
  reading->rows_unchecked = reading->pixels_unchecked = 0;
  reading->input.done = (double)reading->pixels_done / (double)pixel_count(reading);
  if (!decoding_proceeds(reading->call, reading->input.done)) png_longjmp(png, 1);
}

/// Lets libpng handle only what is needed for the pixels, and the profile. The others it skips, but checks their CRC.
static void choose_chunks(png_reading *reading) {
  // A negative count stands for all chunks that the pixels do not need.
  png_set_keep_unknown_chunks(reading->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
  // A libpng with support for APNG would check these. The first frame that is shown is the default image.
  static const png_byte animation[] = "acTL\0fcTL\0fdAT";
  png_set_keep_unknown_chunks(reading->png, PNG_HANDLE_CHUNK_NEVER, animation, 3);
  static const png_byte profile[] = "iCCP";
  if (reading->call->request->profile_capacity > 0) {
    png_set_keep_unknown_chunks(reading->png, PNG_HANDLE_CHUNK_AS_DEFAULT, profile, 1);
  }
  // thumbjob recognises the profile of sRGB itself.
  png_set_option(reading->png, PNG_SKIP_sRGB_CHECK_PROFILE, PNG_OPTION_ON);
  // Old encoders wrote a smaller window into the header of the compressed data than it has.
  png_set_option(reading->png, PNG_MAXIMUM_INFLATE_WINDOW, PNG_OPTION_ON);
  // Chunks that are skipped may have any size. `allocate` limits the others.
  png_set_chunk_malloc_max(reading->png, 0);
}

static void keep_profile(png_reading *reading) {
  const cdecoding_request *request = reading->call->request;
  png_charp name;
  int compression;
  png_bytep profile;
  png_uint_32 size;
  if (png_get_iCCP(reading->png, reading->info, &name, &compression, &profile, &size) == 0) return;
  if (size <= request->profile_capacity) {
    memcpy(reading->call->memory + request->profile_offset, profile, size);
    reading->call->reply->profile_size = size;
  } else {
    decoding_warn_of_profile(reading->call);
  }
  png_free_data(reading->png, reading->info, PNG_FREE_ICCP, 0);
}

/// Asks libpng for samples of 8 bits, without palettes and keys.
static void choose_conversions(png_reading *reading) {
  png_set_expand(reading->png);
  png_set_scale_16(reading->png);
  png_set_read_user_transform_fn(reading->png, take_row);
  reading->is_interlaced = png_get_interlace_type(reading->png, reading->info) != PNG_INTERLACE_NONE;
  png_read_update_info(reading->png, reading->info);
  static const sample_layout layouts[] = {SAMPLES_GREY, SAMPLES_GREY_ALPHA, SAMPLES_RGB, SAMPLES_RGBA};
  reading->layout = layouts[png_get_channels(reading->png, reading->info) - 1];
}

static bool prepare_sums(png_reading *reading) {
  decoding *call = reading->call;
  bool is_grey = reading->layout == SAMPLES_GREY || reading->layout == SAMPLES_GREY_ALPHA;
  bool has_alpha = reading->layout == SAMPLES_GREY_ALPHA || reading->layout == SAMPLES_RGBA;
  if (!decoding_expects_pixels(call, is_grey ? 1 : 3)) return false;
  return accumulator_prepare(&reading->sums, call, has_alpha);
}

static void read_rows(png_reading *reading) {
  const cdecoding_request *request = reading->call->request;
  int passes = reading->is_interlaced ? PNG_INTERLACE_ADAM7_PASSES : 1;
  for (int pass = 0; pass < passes; pass++) {
    uint32_t rows = request->height;
    if (reading->is_interlaced) {
      rows = PNG_PASS_COLS(request->width, pass) > 0 ? PNG_PASS_ROWS(request->height, pass) : 0;
    }
    for (uint32_t row = 0; row < rows; row++) png_read_row(reading->png, NULL, NULL);
  }
}

/// Everything that may jump. Returns after the last row, or if the call has failed.
static void read_picture(png_reading *reading) {
  const cdecoding_request *request = reading->call->request;
  if (setjmp(png_jmpbuf(reading->png))) return;
  choose_chunks(reading);
  png_set_read_fn(reading->png, reading, read_bytes);
  png_set_user_limits(reading->png, CDECODING_MAX_SIDE, CDECODING_MAX_SIDE);
  png_set_compression_buffer_size(reading->png, IDAT_BUFFER_SIZE);
  if (request->profile_capacity > reading->largest_allocation) {
    reading->largest_allocation = request->profile_capacity;
  }
  png_read_info(reading->png, reading->info);
  reading->largest_allocation = SIZE_MAX;
  if (png_get_image_width(reading->png, reading->info) != request->width ||
      png_get_image_height(reading->png, reading->info) != request->height) {
    decoding_fail(reading->call, CDECODING_DAMAGED, "the picture has another size than its header says");
    return;
  }
  keep_profile(reading);
  choose_conversions(reading);
  if (prepare_sums(reading)) read_rows(reading);
}

void decode_png(decoding *call) {
  const cdecoding_request *request = call->request;
  if (!decoding_expects_profile(call)) return;
  png_reading *reading = calloc(1, sizeof *reading);
  if (!reading) {
    decoding_fail(call, CDECODING_NO_MEMORY, "out of memory");
    return;
  }
  reading->call = reading->input.call = call;
  reading->input.offset = request->start;
  reading->largest_allocation = LARGEST_OF_HEADER;
  reading->png = png_create_read_struct_2(
      PNG_LIBPNG_VER_STRING, reading, fail, warn, reading, allocate, deallocate);
  reading->info = reading->png ? png_create_info_struct(reading->png) : NULL;
  if (reading->info) {
    read_picture(reading);
    if (call->reply->status == CDECODING_OK) accumulator_finish(&reading->sums);
  } else {
    decoding_fail(call, CDECODING_NO_MEMORY, "libpng cannot be prepared");
  }
  png_destroy_read_struct(&reading->png, &reading->info, NULL);
  accumulator_free(&reading->sums);
  free(reading);
}
#endif
