#ifdef THUMBJOB_FORMATS
// The merged picture of a Photoshop file (PSD, PSB): one channel after the other, as it is or packed row by row (PackBits).
// The rows of all channels are read side by side, so no channel is kept.
//
// Source: Adobe Photoshop File Formats Specification, "Image Data Section".

#include <stdlib.h>
#include <string.h>

#include "accumulator.h"
#include "decoding.h"

// Asks whether to go on after so many rows.
#define ROWS_BETWEEN_CHECKS 64

// The bytes of a channel that are read at once.
#define BLOCK_SIZE 16384

#define CHANNELS 5
#define COLORS 256

/// Where the reading of one channel is in the file.
typedef struct channel_stream {
  /// Where the block begins, and how many of its bytes are valid.
  uint64_t block;
  size_t count;
  /// The next byte in the file.
  uint64_t next;
  /// Where the sizes of its packed rows are.
  uint64_t sizes;
  uint8_t bytes[BLOCK_SIZE];
} channel_stream;

typedef struct psd_reading {
  decoding *call;
  const cdecoding_psd *psd;
  accumulator sums;
  unsigned channels;
  size_t row_bytes;
  /// Whether the colours of transparent pixels are mixed with white.
  bool is_mixed;
  uint8_t palette[3][COLORS];
  channel_stream *_Nullable streams;
  uint8_t *_Nullable packed;  ///< a row of a channel as it is in the file
  uint8_t *_Nullable rows[CHANNELS];
  uint8_t *_Nullable alpha;   ///< of 8 bits
} psd_reading;

/// Reads the next bytes of a channel. If there are not as many, the call has failed.
static bool take(psd_reading *reading, channel_stream *stream, uint8_t *into, size_t count) {
  decoding *call = reading->call;
  while (count > 0) {
    if (stream->next < stream->block || stream->next >= stream->block + stream->count) {
      ptrdiff_t taken = call->input->read(call->input->context, stream->next, stream->bytes, BLOCK_SIZE);
      if (taken <= 0) {
        decoding_fail(
            call, taken < 0 ? CDECODING_READ_FAILED : CDECODING_TRUNCATED,
            taken < 0 ? "cannot be read" : "the file ends too early");
        return false;
      }
      stream->block = stream->next;
      stream->count = (size_t)taken;
    }
    const size_t start = (size_t)(stream->next - stream->block);
    const size_t part = stream->count - start < count ? stream->count - start : count;
    memcpy(into, stream->bytes + start, part);
    into += part;
    stream->next += part;
    count -= part;
  }
  return true;
}

/// A big-endian number of 2 or 4 bytes.
static uint32_t number(const uint8_t *bytes, unsigned count) {
  uint32_t value = 0;
  for (unsigned index = 0; index < count; index++) value = value << 8 | bytes[index];
  return value;
}

/// Finds where the packed rows of each channel begin: behind the sizes of all rows of all channels, and behind those of the
/// channels before.
static bool find_channels(psd_reading *reading) {
  decoding *call = reading->call;
  const cdecoding_psd *psd = reading->psd;
  const uint64_t rows = call->request->height, entry = psd->size_bytes;
  uint64_t place = psd->data;
  if (!psd->is_packed) {
    for (unsigned channel = 0; channel < reading->channels; channel++) {
      reading->streams[channel].next = place + channel * rows * reading->row_bytes;
    }
    return true;
  }
  uint64_t start = place + psd->channels * rows * entry;
  for (unsigned channel = 0; channel < reading->channels; channel++) {
    channel_stream *stream = &reading->streams[channel];
    stream->sizes = place;
    stream->next = start;
    uint8_t sizes[1024];
    for (uint64_t row = 0; row < rows;) {
      const size_t count = rows - row < sizeof sizes / entry ? (size_t)(rows - row) : sizeof sizes / entry;
      if (row % 65536 == 0 && !decoding_proceeds(call, 0)) return false;
      if (!decoding_read(call, place, sizes, count * entry)) return false;
      for (size_t index = 0; index < count; index++) start += number(sizes + index * entry, (unsigned)entry);
      place += count * entry;
      row += count;
    }
  }
  return true;
}

/// Undoes the runs of a packed row.
static bool unpack(psd_reading *reading, channel_stream *stream, uint8_t *row, uint32_t number_of_row) {
  decoding *call = reading->call;
  const size_t entry = reading->psd->size_bytes;
  uint8_t bytes[4];
  if (!decoding_read(call, stream->sizes + number_of_row * entry, bytes, entry)) return false;
  const size_t size = number(bytes, (unsigned)entry), room = 2 * reading->row_bytes + 64;
  if (size > room) {
    decoding_fail(call, CDECODING_DAMAGED, "a row of the picture is too long");
    return false;
  }
  if (!take(reading, stream, reading->packed, size)) return false;
  const uint8_t *next = reading->packed, *end = next + size;
  size_t done = 0;
  while (done < reading->row_bytes) {
    if (next == end) break;
    const unsigned code = *next++;
    if (code == 128) continue;
    const size_t count = code < 128 ? code + 1 : 257 - code;
    const size_t part = count < reading->row_bytes - done ? count : reading->row_bytes - done;
    if (code < 128) {
      if ((size_t)(end - next) < part) break;
      memcpy(row + done, next, part);
      next += (size_t)(end - next) < count ? part : count;
    } else {
      if (next == end) break;
      memset(row + done, *next++, part);
    }
    done += part;
  }
  if (done == reading->row_bytes) return true;
  memset(row + done, 0, reading->row_bytes - done);
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
  for (unsigned channel = 0; channel < reading->channels; channel++) {
    channel_stream *stream = &reading->streams[channel];
    if (reading->psd->is_packed) {
      if (!unpack(reading, stream, reading->rows[channel], row)) return false;
    } else if (!take(reading, stream, reading->rows[channel], reading->row_bytes)) {
      return false;
    }
    if (reading->psd->bits == 16) swap_row(reading->rows[channel], call->request->width);
  }
  return true;
}

/// Finds out whether the colours of transparent pixels are mixed with white, as Photoshop does it. Other programs do not, and
/// nothing in the file tells.
static bool find_mixture(psd_reading *reading) {
  uint64_t starts[CHANNELS];
  for (unsigned channel = 0; channel < reading->channels; channel++) starts[channel] = reading->streams[channel].next;
  reading->is_mixed = true;
  for (uint32_t row = 0; reading->is_mixed && row < reading->call->request->height; row++) {
    if (!read_row(reading, row)) return false;
    reading->is_mixed = may_be_mixed(reading, reading->call->request->width);
  }
  for (unsigned channel = 0; channel < reading->channels; channel++) reading->streams[channel].next = starts[channel];
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
  cdecoding_status status =
      accumulator_init(&reading->sums, call->request, psd->has_alpha, call->memory, call->memory_size);
  if (status != CDECODING_OK) {
    decoding_fail(call, status, "the sums of the picture cannot be kept");
    return false;
  }
  reading->row_bytes = psd->bits == 1 ? (width + 7) / 8 : width * psd->bits / 8;
  reading->streams = calloc(reading->channels, sizeof *reading->streams);
  reading->packed = malloc(2 * reading->row_bytes + 64);
  reading->alpha = malloc(width);
  bool has_memory = reading->streams && reading->packed && reading->alpha;
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
  free(reading->streams);
  free(reading->packed);
  free(reading->alpha);
  for (unsigned row = 0; row < CHANNELS; row++) free(reading->rows[row]);
  free(reading);
}
#endif
