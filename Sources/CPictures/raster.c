#ifdef THUMBJOB_FORMATS
// Rows of pixels that are stored as they are, or in runs: BMP, bitmaps in icons, and TGA.
//
// The header says how (`cdecoding_raster`). Rows are read one after the other, converted, and added up; none is kept.
//
// Source: [MS-WMF] 2.2.2 "DeviceIndependentBitmap Object" and 3.1.6 "Run-Length Encoding"; Truevision TGA, version 2.0.

#include <stdlib.h>
#include <string.h>

#include "accumulator.h"
#include "decoding.h"
#include "stream.h"

// Asks whether to go on after so many rows.
#define ROWS_BETWEEN_CHECKS 64

#define COLORS 256
#define CHANNELS 4

typedef struct raster_reading {
  decoding *call;
  const cdecoding_raster *raster;
  accumulator sums;
  uint8_t palette[COLORS][CHANNELS];
  /// Of each channel of pixels with masks: how far its bits are shifted, and the 8-bit value of each number that they then are.
  unsigned shifts[CHANNELS];
  uint8_t values[CHANNELS][COLORS];
  /// The bits of a pixel in `stored`: those of the file, or 8 once runs of indices are undone.
  unsigned bits;
  /// Whether alpha comes from the pixels, and whether from the mask of an icon.
  bool has_alpha, has_mask;
  /// Whether rows are only searched for alpha, and whether there is some.
  bool seeks_alpha, found_alpha;
  size_t stored_size;
  uint8_t *_Nullable stored;  ///< a row as it is in the file
  uint8_t *_Nullable pixels;  ///< the same row, converted
  uint8_t *_Nullable mask;    ///< its row of the mask
  stream input;
} raster_reading;

static bool read_palette(raster_reading *reading) {
  const cdecoding_raster *raster = reading->raster;
  uint8_t entries[COLORS * 4];
  size_t size = (size_t)raster->palette_count * raster->palette_entry;
  if (size > 0 && !decoding_read(reading->call, raster->palette, entries, size)) return false;
  for (uint32_t index = 0; index < raster->palette_count; index++) {
    const uint8_t *entry = entries + (size_t)index * raster->palette_entry;
    // Indices before the first colour and after the last one are black.
    if (index + raster->palette_first >= COLORS) break;
    uint8_t *color = reading->palette[index + raster->palette_first];
    if (raster->palette_entry == 2) {
      const unsigned packed = entry[0] | (unsigned)entry[1] << 8;
      for (unsigned channel = 0; channel < 3; channel++) {
        const unsigned value = packed >> (10 - 5 * channel) & 31;
        color[channel] = (uint8_t)((value * 255 + 15) / 31);
      }
    } else {
      color[0] = entry[2];
      color[1] = entry[1];
      color[2] = entry[0];
      if (raster->palette_entry == 4) color[3] = entry[3];
    }
  }
  return true;
}

/// Prepares the tables for pixels with masks. Returns false if a mask is none.
static bool prepare_masks(raster_reading *reading) {
  for (unsigned channel = 0; channel < CHANNELS; channel++) {
    const uint32_t mask = reading->raster->masks[channel];
    if (mask == 0) continue;
    unsigned shift = (unsigned)__builtin_ctz(mask);
    const uint32_t ones = mask >> shift;
    if ((ones & (ones + 1)) != 0) return false;
    unsigned width = (unsigned)__builtin_popcount(ones);
    if (width > 8) {
      shift += width - 8;
      width = 8;
    }
    const unsigned most = (1u << width) - 1;
    reading->shifts[channel] = shift;
    for (unsigned value = 0; value <= most; value++) {
      reading->values[channel][value] = (uint8_t)((value * 255 + most / 2) / most);
    }
    // Bits of other channels are cut off by the size of the table.
    for (unsigned value = most + 1; value < COLORS; value++) {
      reading->values[channel][value] = reading->values[channel][value & most];
    }
  }
  return true;
}

static bool is_grey(const raster_reading *reading) {
  const cdecoding_raster *raster = reading->raster;
  return raster->palette_count == 0 && (raster->masks[0] | raster->masks[1] | raster->masks[2]) == 0;
}

static sample_layout layout_of(const raster_reading *reading) {
  if (is_grey(reading)) return SAMPLES_GREY;
  return reading->has_alpha || reading->has_mask ? SAMPLES_RGBA : SAMPLES_RGB;
}

/// Checks what the request says, and makes buffers and sums.
static bool prepare(raster_reading *reading) {
  decoding *call = reading->call;
  const cdecoding_raster *raster = reading->raster;
  const bool is_packed = raster->packing == CDECODING_RLE4 || raster->packing == CDECODING_RLE8;
  const uint32_t bits = raster->bits;
  const bool has_bits = bits == 1 || bits == 2 || bits == 4 || bits == 8 || bits == 16 || bits == 24 || bits == 32;
  const bool has_entries = raster->palette_entry >= 2 && raster->palette_entry <= 4;
  const bool has_palette = raster->palette_count > 0;
  const uint32_t width = call->request->width;
  if (!has_bits || raster->palette_count > COLORS || (has_palette && (!has_entries || bits > 8)) ||
      (is_packed && (!has_palette || bits != (raster->packing == CDECODING_RLE4 ? 4 : 8))) ||
      (raster->packing == CDECODING_TGA_RUNS && bits < 8) || (bits != 8 && is_grey(reading)) ||
      raster->row_bytes > UINT64_C(4) * CDECODING_MAX_SIDE + 4 || raster->row_bytes * 8 < (uint64_t)width * bits ||
      width > CDECODING_MAX_SIDE || !prepare_masks(reading)) {
    decoding_fail(call, CDECODING_BAD_CALL, "the rows of the picture are described wrongly");
    return false;
  }
  reading->bits = is_packed ? 8 : bits;
  reading->stored_size = is_packed ? width : raster->row_bytes;
  if (!decoding_expects_pixels(call, is_grey(reading) ? 1 : 3)) return false;
  const bool has_alpha = reading->has_alpha || reading->has_mask;
  if (!accumulator_prepare(&reading->sums, call, has_alpha)) return false;
  reading->stored = malloc(reading->stored_size);
  reading->pixels = malloc((size_t)width * CHANNELS);
  reading->mask = malloc(((size_t)width + 31) / 32 * 4);
  if (!reading->stored || !reading->pixels || !reading->mask) {
    decoding_fail(call, CDECODING_NO_MEMORY, "out of memory");
    return false;
  }
  return read_palette(reading);
}

/// The pixel as a number.
static inline uint32_t pixel_at(const uint8_t *stored, size_t column, unsigned bytes) {
  const uint8_t *place = stored + column * bytes;
  uint32_t pixel = place[0];
  if (bytes > 1) pixel |= (uint32_t)place[1] << 8;
  if (bytes > 2) pixel |= (uint32_t)place[2] << 16;
  if (bytes > 3) pixel |= (uint32_t)place[3] << 24;
  return pixel;
}

/// Converts pixels with masks to RGB or RGBA.
static void convert_masked(raster_reading *reading, size_t width, size_t channels) {
  const unsigned bytes = reading->bits / 8;
  uint8_t *into = reading->pixels;
  for (size_t column = 0; column < width; column++, into += channels) {
    const uint32_t pixel = pixel_at(reading->stored, column, bytes);
    for (unsigned channel = 0; channel < 3; channel++) {
      into[channel] = reading->values[channel][pixel >> reading->shifts[channel] & 255];
    }
    if (channels == CHANNELS) into[3] = reading->has_alpha ? reading->values[3][pixel >> reading->shifts[3] & 255] : 255;
  }
}

/// Looks up the colours of a row of indices.
static void convert_indices(raster_reading *reading, size_t width, size_t channels) {
  const unsigned bits = reading->bits;
  uint8_t *into = reading->pixels;
  for (size_t column = 0; column < width; column++, into += channels) {
    const size_t bit = column * bits;
    const unsigned index = reading->stored[bit / 8] >> (8 - bits - bit % 8) & ((1u << bits) - 1);
    memcpy(into, reading->palette[index], channels);
    if (!reading->has_alpha && channels == CHANNELS) into[3] = 255;
  }
}

static void turn_around(uint8_t *pixels, size_t width, size_t channels) {
  for (size_t left = 0, right = width; left + 1 < right; left++) {
    right--;
    for (size_t channel = 0; channel < channels; channel++) {
      const uint8_t kept = pixels[left * channels + channel];
      pixels[left * channels + channel] = pixels[right * channels + channel];
      pixels[right * channels + channel] = kept;
    }
  }
}

/// Where a row of the file is in the picture.
static uint32_t place_of(const raster_reading *reading, uint32_t row) {
  return reading->raster->is_bottom_up ? reading->call->request->height - 1 - row : row;
}

/// Makes transparent what the mask of an icon says. Its rows have whole words of 4 bytes.
static bool apply_mask(raster_reading *reading, uint32_t row) {
  const size_t width = reading->call->request->width;
  const size_t size = (width + 31) / 32 * 4;
  if (!decoding_read(reading->call, reading->raster->mask + (uint64_t)row * size, reading->mask, size)) return false;
  for (size_t column = 0; column < width; column++) {
    if (reading->mask[column / 8] >> (7 - column % 8) & 1) reading->pixels[column * CHANNELS + 3] = 0;
  }
  return true;
}

/// Looks for alpha in the row in `stored`. Returns whether to look on.
static bool seek_alpha(raster_reading *reading) {
  const size_t width = reading->call->request->width;
  for (size_t column = 0; column < width && !reading->found_alpha; column++) {
    reading->found_alpha = (pixel_at(reading->stored, column, reading->bits / 8) & reading->raster->masks[3]) != 0;
  }
  return !reading->found_alpha;
}

/// Converts the row in `stored`, and adds it up. Returns false if the call has failed, or no more rows are needed.
static bool add_row(raster_reading *reading, uint32_t row) {
  if (reading->seeks_alpha) return seek_alpha(reading);
  decoding *call = reading->call;
  const size_t width = call->request->width;
  const sample_layout layout = layout_of(reading);
  const size_t channels = (size_t)layout;
  uint8_t *pixels = reading->pixels;
  if (layout == SAMPLES_GREY) {
    pixels = reading->stored;
  } else if (reading->raster->palette_count > 0) {
    convert_indices(reading, width, channels);
  } else {
    convert_masked(reading, width, channels);
  }
  if (reading->has_mask && !apply_mask(reading, row)) return false;
  if (reading->raster->is_right_to_left) turn_around(pixels, width, channels);
  accumulator_add(&reading->sums, 0, place_of(reading, row), width, pixels, layout);
  if (row % ROWS_BETWEEN_CHECKS != 0) return true;
  reading->input.done = (double)row / call->request->height;
  return decoding_proceeds(call, reading->input.done);
}

static bool read_plain_rows(raster_reading *reading) {
  for (uint32_t row = 0; row < reading->call->request->height; row++) {
    if (!stream_take(&reading->input, reading->stored, reading->stored_size) || !add_row(reading, row)) return false;
  }
  return true;
}

/// Runs of TGA: a byte with the count, and either one pixel that repeats or as many pixels. Runs may go on in the next row.
static bool read_tga_runs(raster_reading *reading) {
  const size_t bytes = reading->bits / 8, width = reading->call->request->width;
  uint8_t pixel[4] = {0};
  size_t left = 0;
  bool repeats = false;
  for (uint32_t row = 0; row < reading->call->request->height; row++) {
    for (size_t column = 0; column < width;) {
      if (left == 0) {
        uint8_t head;
        if (!stream_take(&reading->input, &head, 1)) return false;
        left = (head & 127u) + 1;
        repeats = head > 127;
        if (repeats && !stream_take(&reading->input, pixel, bytes)) return false;
      }
      const size_t count = left < width - column ? left : width - column;
      uint8_t *into = reading->stored + column * bytes;
      if (repeats) {
        for (size_t index = 0; index < count; index++) memcpy(into + index * bytes, pixel, bytes);
      } else if (!stream_take(&reading->input, into, count * bytes)) {
        return false;
      }
      column += count;
      left -= count;
    }
    if (!add_row(reading, row)) return false;
  }
  return true;
}

/// Where the next pixel of a bitmap with runs goes.
typedef struct run_place {
  uint32_t row;
  size_t column;
} run_place;

/// Adds up the rows before `row`. Pixels that no run has given are of the first colour.
static bool end_rows(raster_reading *reading, run_place *place, uint32_t row) {
  for (; place->row < row && place->row < reading->call->request->height; place->row++) {
    if (!add_row(reading, place->row)) return false;
    memset(reading->stored, 0, reading->stored_size);
  }
  return true;
}

/// Writes indices to the row, as far as it reaches.
static void put(raster_reading *reading, run_place *place, unsigned index) {
  if (place->column < reading->stored_size) reading->stored[place->column] = (uint8_t)index;
  place->column++;
}

/// A run of pixels that are given one by one, and fill whole words of 2 bytes.
static bool read_given(raster_reading *reading, run_place *place, unsigned count) {
  const bool halves = reading->raster->packing == CDECODING_RLE4;
  uint8_t bytes[256];
  const size_t size = halves ? (count + 1) / 2 : count;
  if (!stream_take(&reading->input, bytes, size + size % 2)) return false;
  for (unsigned index = 0; index < count; index++) {
    put(reading, place, halves ? bytes[index / 2] >> (index % 2 == 0 ? 4 : 0) & 15u : bytes[index]);
  }
  return true;
}

/// Runs of BMP.
static bool read_bmp_runs(raster_reading *reading) {
  const bool halves = reading->raster->packing == CDECODING_RLE4;
  const uint32_t height = reading->call->request->height;
  run_place place = {0, 0};
  memset(reading->stored, 0, reading->stored_size);
  // Runs beyond the end of a row are cut off. Without a limit a file of empty runs would take for ever; it ends with the file.
  while (place.row < height) {
    uint8_t code[2];
    const bool has_all = place.row == height - 1 && place.column >= reading->stored_size;
    if (has_all && stream_read(&reading->input, code, 2) < 2) {
      // Only the mark of the end is missing, unless the call has failed.
      if (!reading->input.ended) return false;
      decoding_warn(reading->call, "the file ends after the last row");
      return end_rows(reading, &place, height);
    }
    if (!has_all && !stream_take(&reading->input, code, 2)) return false;
    if (code[0] > 0) {
      for (unsigned index = 0; index < code[0]; index++) {
        put(reading, &place, halves ? code[1] >> (index % 2 == 0 ? 4 : 0) & 15u : code[1]);
      }
    } else if (code[1] == 0) {
      if (!end_rows(reading, &place, place.row + 1)) return false;
      place.column = 0;
    } else if (code[1] == 1) {
      return end_rows(reading, &place, height);
    } else if (code[1] == 2) {
      uint8_t delta[2];
      if (!stream_take(&reading->input, delta, 2) || !end_rows(reading, &place, place.row + delta[1])) return false;
      place.column += delta[0];
    } else if (!read_given(reading, &place, code[1])) {
      return false;
    }
  }
  return true;
}

static bool read_all(raster_reading *reading) {
  switch (reading->raster->packing) {
    case CDECODING_RLE4:
    case CDECODING_RLE8: return read_bmp_runs(reading);
    case CDECODING_TGA_RUNS: return read_tga_runs(reading);
    default: return read_plain_rows(reading);
  }
}

/// Finds out whether any pixel has alpha. If none has, the program that wrote the file has filled the bytes of alpha with zeros:
/// all pixels count as opaque, and in an icon the mask says which are transparent.
static bool find_alpha(raster_reading *reading) {
  if (reading->raster->palette_count > 0) {
    for (unsigned index = 0; index < COLORS; index++) reading->found_alpha |= reading->palette[index][3] != 0;
  } else {
    reading->seeks_alpha = true;
    if (!read_all(reading) && !reading->found_alpha) return false;
    reading->seeks_alpha = false;
  }
  reading->has_alpha = reading->found_alpha;
  reading->has_mask = reading->has_mask && !reading->found_alpha;
  stream_seek(&reading->input, reading->raster->data);
  return true;
}

void decode_raster(decoding *call) {
  raster_reading *reading = calloc(1, sizeof *reading);
  if (!reading) {
    decoding_fail(call, CDECODING_NO_MEMORY, "out of memory");
    return;
  }
  reading->call = reading->input.call = call;
  reading->raster = &call->request->raster;
  reading->input.offset = reading->raster->data;
  reading->has_alpha = reading->raster->masks[3] != 0;
  reading->has_mask = reading->raster->mask != 0;
  const bool may_have_alpha = reading->raster->palette_count > 0
                                  ? reading->raster->palette_entry == 4
                                  : reading->raster->bits == 16 || reading->raster->bits == 32;
  if (reading->has_alpha && !may_have_alpha) {
    decoding_fail(call, CDECODING_BAD_CALL, "pixels of this size have no alpha");
  } else if (prepare(reading) && (!reading->has_alpha || find_alpha(reading)) && read_all(reading)) {
    accumulator_finish(&reading->sums);
  }
  accumulator_free(&reading->sums);
  free(reading->stored);
  free(reading->pixels);
  free(reading->mask);
  free(reading);
}
#endif
