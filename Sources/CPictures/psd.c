#ifdef THUMBJOB_FORMATS
// The merged picture of a Photoshop file (PSD, PSB): one channel after the other, as it is or packed row by row (PackBits).
// The rows of all channels are read side by side, so no channel is kept.
//
// Source: Adobe Photoshop File Formats Specification, "Image Data Section".

#include <stdlib.h>
#include <string.h>

#include "accumulator.h"
#include "decoding.h"
#include "stream.h"

// Asks whether to go on after so many rows.
#define ROWS_BETWEEN_CHECKS 64

#define CHANNELS 5
#define COLORS 256

typedef struct channel {
  uint64_t start;  ///< where its first row is in the file
  uint64_t sizes;  ///< where the sizes of its packed rows are
  stream rows;
} channel;

typedef struct psd_reading {
  decoding *call;
  const cdecoding_psd *psd;
  accumulator sums;
  unsigned channels;
  size_t row_bytes;
  /// Whether the colours of transparent pixels are mixed with white.
  bool is_mixed;
  uint8_t palette[3][COLORS];
  channel *_Nullable parts;   ///< as many as `channels`
  uint8_t *_Nullable packed;  ///< a row of a channel as it is in the file
  uint8_t *_Nullable rows[CHANNELS];
  uint8_t *_Nullable alpha;   ///< of 8 bits
} psd_reading;

/// Finds where the rows of each channel begin. Packed rows follow the sizes of all rows of all channels, and the rows of the
/// channels before.
static bool find_channels(psd_reading *reading) {
  decoding *call = reading->call;
  const cdecoding_psd *psd = reading->psd;
  const uint64_t rows = call->request->height, entry = psd->size_bytes;
  uint64_t sizes = psd->data, start = psd->data + (psd->is_packed ? psd->channels * rows * entry : 0);
  for (unsigned index = 0; index < reading->channels; index++) {
    channel *part = &reading->parts[index];
    part->rows.call = call;
    part->sizes = sizes;
    part->start = start;
    stream_seek(&part->rows, start);
    if (!psd->is_packed) start += rows * reading->row_bytes;
    uint8_t table[1024];
    for (uint64_t row = 0; psd->is_packed && row < rows;) {
      const size_t count = rows - row < sizeof table / entry ? (size_t)(rows - row) : sizeof table / entry;
      if (row % 65536 == 0 && !decoding_proceeds(call, 0)) return false;
      if (!decoding_read(call, sizes, table, count * entry)) return false;
      for (size_t place = 0; place < count; place++) start += decoding_number(table + place * entry, (unsigned)entry);
      sizes += count * entry;
      row += count;
    }
  }
  return true;
}

/// Undoes the runs of a packed row.
static bool unpack(psd_reading *reading, channel *part, uint8_t *row, uint32_t number_of_row) {
  decoding *call = reading->call;
  const size_t entry = reading->psd->size_bytes;
  uint8_t bytes[4];
  if (!decoding_read(call, part->sizes + number_of_row * entry, bytes, entry)) return false;
  const size_t size = decoding_number(bytes, (unsigned)entry), room = 2 * reading->row_bytes + 64;
  if (size > room) {
    decoding_fail(call, CDECODING_DAMAGED, "a row of the picture is too long");
    return false;
  }
  if (!stream_take(&part->rows, reading->packed, size)) return false;
  const uint8_t *next = reading->packed, *end = next + size;
  size_t done = 0;
  while (done < reading->row_bytes) {
    if (next == end) break;
    const unsigned code = *next++;
    if (code == 128) continue;
    const size_t count = code < 128 ? code + 1 : 257 - code;
    const size_t kept = count < reading->row_bytes - done ? count : reading->row_bytes - done;
    if (code < 128) {
      if ((size_t)(end - next) < kept) break;
      memcpy(row + done, next, kept);
      next += (size_t)(end - next) < count ? kept : count;
    } else {
      if (next == end) break;
      memset(row + done, *next++, kept);
    }
    done += kept;
  }
  if (done == reading->row_bytes) return true;
  decoding_fail(call, CDECODING_DAMAGED, "a row of the picture is too short");
  return false;
}

/// The samples of a row in 16-bit words of this machine.
static void swap_row(uint8_t *row, size_t width) {
  for (size_t column = 0; column < width; column++) {
    const uint16_t sample = (uint16_t)(row[2 * column] << 8 | row[2 * column + 1]);
    memcpy(row + 2 * column, &sample, 2);
  }
}

static inline unsigned sample_at(const uint8_t *row, size_t column, unsigned bits) {
  if (bits == 8) return row[column];
  uint16_t sample;
  memcpy(&sample, row + 2 * column, 2);
  return sample;
}

static inline void set_sample(uint8_t *row, size_t column, unsigned bits, unsigned value) {
  if (bits == 8) {
    row[column] = (uint8_t)value;
  } else {
    const uint16_t sample = (uint16_t)value;
    memcpy(row + 2 * column, &sample, 2);
  }
}

/// Whether the colours of a row can be mixed with white: then none is darker than the white that is in it, but for rounding.
static bool may_be_mixed(const psd_reading *reading, size_t width) {
  const unsigned bits = reading->psd->bits, most = bits == 8 ? 255 : 65535;
  for (unsigned channel = 0; channel + 1 < reading->channels; channel++) {
    for (size_t column = 0; column < width; column++) {
      const unsigned alpha = sample_at(reading->rows[reading->channels - 1], column, bits);
      const unsigned mixed = sample_at(reading->rows[channel], column, bits);
      if (alpha > 0 && mixed + most / 32 < most - alpha) return false;
    }
  }
  return true;
}

/// Finds the alpha of a row, and takes the white out of its colours, so that any background can be mixed in.
static void find_alpha(psd_reading *reading, size_t width) {
  const unsigned bits = reading->psd->bits, most = bits == 8 ? 255 : 65535;
  for (size_t column = 0; column < width; column++) {
    const unsigned alpha = sample_at(reading->rows[reading->channels - 1], column, bits);
    reading->alpha[column] = (uint8_t)((alpha * 255 + most / 2) / most);
    if (!reading->is_mixed || alpha == 0 || alpha == most) continue;
    for (unsigned channel = 0; channel + 1 < reading->channels; channel++) {
      const unsigned white = most - alpha, mixed = sample_at(reading->rows[channel], column, bits);
      const unsigned color = mixed > white ? (unsigned)(((uint64_t)(mixed - white) * most + alpha / 2) / alpha) : 0;
      set_sample(reading->rows[channel], column, bits, color < most ? color : most);
    }
  }
}

/// Adds up a row of all channels.
static void add_row(psd_reading *reading, uint32_t row) {
  const size_t width = reading->call->request->width;
  const cdecoding_psd *psd = reading->psd;
  unsigned planes = reading->channels - (psd->has_alpha ? 1 : 0), bits = psd->bits;
  if (bits == 1) {
    // Ones are black. The row of bits is spread from its end on, in its own place.
    uint8_t *bytes = reading->rows[0];
    for (size_t column = width; column-- > 0;) bytes[column] = bytes[column / 8] >> (7 - column % 8) & 1 ? 0 : 255;
    bits = 8;
  }
  if (psd->has_alpha) find_alpha(reading, width);
  if (psd->palette != 0) {
    planes = 3;
    for (unsigned plane = planes; plane-- > 0;) {
      for (size_t column = 0; column < width; column++) {
        reading->rows[plane][column] = reading->palette[plane][reading->rows[0][column]];
      }
    }
  }
  for (unsigned plane = 0; plane < planes; plane++) {
    if (psd->is_inverted) {
      const unsigned most = bits == 8 ? 255 : 65535;
      for (size_t column = 0; column < width; column++) {
        set_sample(reading->rows[plane], column, bits, most - sample_at(reading->rows[plane], column, bits));
      }
    }
    accumulator_add_component(
        &reading->sums, plane, 0, row, width, reading->rows[plane], bits, psd->has_alpha ? reading->alpha : NULL);
  }
}

/// Reads a row of all channels, with 16-bit samples in words of this machine.
static bool read_row(psd_reading *reading, uint32_t row) {
  decoding *call = reading->call;
  const uint32_t height = call->request->height;
  if (row % ROWS_BETWEEN_CHECKS == 0 && !decoding_proceeds(call, (double)row / height)) return false;
  for (unsigned index = 0; index < reading->channels; index++) {
    channel *part = &reading->parts[index];
    part->rows.done = (double)row / height;
    if (reading->psd->is_packed) {
      if (!unpack(reading, part, reading->rows[index], row)) return false;
    } else if (!stream_take(&part->rows, reading->rows[index], reading->row_bytes)) {
      return false;
    }
    if (reading->psd->bits == 16) swap_row(reading->rows[index], call->request->width);
  }
  return true;
}

/// Finds out whether the colours of transparent pixels are mixed with white, as Photoshop does it. Other programs do not, and
/// nothing in the file tells.
static bool find_mixture(psd_reading *reading) {
  reading->is_mixed = true;
  for (uint32_t row = 0; reading->is_mixed && row < reading->call->request->height; row++) {
    if (!read_row(reading, row)) return false;
    reading->is_mixed = may_be_mixed(reading, reading->call->request->width);
  }
  for (unsigned index = 0; index < reading->channels; index++) {
    stream_seek(&reading->parts[index].rows, reading->parts[index].start);
  }
  return true;
}

static bool read_rows(psd_reading *reading) {
  if (reading->psd->has_alpha && !find_mixture(reading)) return false;
  for (uint32_t row = 0; row < reading->call->request->height; row++) {
    if (!read_row(reading, row)) return false;
    add_row(reading, row);
  }
  return true;
}

static bool prepare(psd_reading *reading) {
  decoding *call = reading->call;
  const cdecoding_psd *psd = reading->psd;
  const unsigned planes = call->request->plane_count;
  const size_t width = call->request->width;
  const bool is_indexed = psd->palette != 0;
  reading->channels = (is_indexed ? 1 : planes) + (psd->has_alpha ? 1 : 0);
  if ((psd->bits != 1 && psd->bits != 8 && psd->bits != 16) || reading->channels > psd->channels ||
      psd->channels > 56 || (psd->size_bytes != 2 && psd->size_bytes != 4) || width > CDECODING_MAX_SIDE ||
      (is_indexed && (planes != 3 || psd->bits != 8 || psd->has_alpha)) ||
      (psd->bits == 1 && (planes != 1 || psd->has_alpha))) {
    decoding_fail(call, CDECODING_BAD_CALL, "the channels of the picture are described wrongly");
    return false;
  }
  if (!decoding_expects_pixels(call, planes)) return false;
  if (!accumulator_prepare(&reading->sums, call, psd->has_alpha)) return false;
  reading->row_bytes = psd->bits == 1 ? (width + 7) / 8 : width * psd->bits / 8;
  reading->parts = calloc(reading->channels, sizeof *reading->parts);
  reading->packed = malloc(2 * reading->row_bytes + 64);
  reading->alpha = malloc(width);
  bool has_memory = reading->parts && reading->packed && reading->alpha;
  for (unsigned row = 0; row < (is_indexed ? 3 : reading->channels); row++) {
    reading->rows[row] = malloc(width * 2);
    has_memory = has_memory && reading->rows[row];
  }
  if (!has_memory) {
    decoding_fail(call, CDECODING_NO_MEMORY, "out of memory");
    return false;
  }
  // Reds, then greens, then blues.
  return !is_indexed || decoding_read(call, psd->palette, reading->palette[0], sizeof reading->palette);
}

void decode_psd(decoding *call) {
  psd_reading *reading = calloc(1, sizeof *reading);
  if (!reading) {
    decoding_fail(call, CDECODING_NO_MEMORY, "out of memory");
    return;
  }
  reading->call = call;
  reading->psd = &call->request->psd;
  if (prepare(reading) && find_channels(reading) && read_rows(reading)) accumulator_finish(&reading->sums);
  accumulator_free(&reading->sums);
  free(reading->parts);
  free(reading->packed);
  free(reading->alpha);
  for (unsigned row = 0; row < CHANNELS; row++) free(reading->rows[row]);
  free(reading);
}
#endif
