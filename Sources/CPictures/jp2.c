#ifdef THUMBJOB_FORMATS
// JPEG 2000 by OpenJPEG: the codestream, at the resolution that remains without the levels that the request discards. The
// caller has found codestream, palette and channel definitions in their boxes; OpenJPEG sees the codestream only.
//
// Pictures of several tiles are decoded tile by tile, in the file's order, so that one tile is in memory at a time, besides
// the compressed data of those whose parts are scattered. A single tile is decoded whole: OpenJPEG then leaves its samples
// where it made them, which takes less memory than a copy in bytes.
//
// OpenJPEG decodes a tile in one go, and asks nobody whether to go on meanwhile. It does not check each of its small
// allocations, and so may crash where memory is scarce; the header's figures leave room for all of them.
//
// Source: ISO/IEC 15444-1, A.4 and A.5 (delimiting markers and SIZ), B.2 to B.5 (the grids), I.5.3.4 to I.5.3.6 (boxes pclr,
// cmap and cdef); OpenJPEG 2.5, openjpeg.h.

#include <errno.h>
#include <limits.h>
#include <openjpeg.h>
#include <stdlib.h>
#include <string.h>

#include "accumulator.h"
#include "decoding.h"

enum {
  /// The bytes that OpenJPEG reads ahead.
  read_ahead = 64 << 10,
  /// The most bytes that are read before the caller is asked whether to go on.
  longest_read = 1 << 20,
  /// The most components, and channels, of a picture.
  most_components = 16,
  most_entries = 1024,
  /// Most of a palette is unused if it has more columns than there are channels.
  longest_palette = 1 << 20,
  /// Asks whether to go on after so many tile-parts or rows.
  steps_between_checks = 64,
  /// The size of a marker segment SOT with its marker.
  sot_size = 12,
};

/// The extents of the request.
enum { codestream_extent, palette_extent, mapping_extent, definition_extent, extents_of_picture };

enum { marker_soc = 0xFF4F, marker_sot = 0xFF90, marker_eoc = 0xFFD9 };

/// The samples of a component that are decoded: those of the picture or of a tile.
typedef struct samples {
  uint32_t x, y;  ///< in the component of the whole picture
  uint32_t width, height;
  unsigned bytes;  ///< of each, 1, 2 or 4
  const uint8_t *_Nullable bytes_of_rows;
} samples;

/// A component, at the resolution that remains.
typedef struct component {
  uint32_t across, down;  ///< the steps of its grid, in units of the reference grid
  unsigned bits;
  bool is_signed;
  /// Where its first sample is in its grid.
  uint32_t left, top;
  uint32_t width, height;
  samples part;
} component;

/// A channel: a component, or a column of the palette with a component that has its indices.
typedef struct channel {
  unsigned component;
  bool has_palette;
  unsigned column;
} channel;

/// A column of the palette, in 8 bits.
typedef struct palette {
  unsigned entries, columns;
  uint8_t *_Nullable values;  ///< the entries of each column follow each other
} palette;

typedef struct jp2_reading {
  decoding *call;
  cdecoding_extent codestream;
  /// Whether the codestream lacks its last marker, which is then added.
  bool lacks_end;
  /// What OpenJPEG has read, in bytes of the codestream.
  uint64_t position;
  /// Whether more bytes were asked for than the codestream has.
  bool has_ended;
  /// What is done, for `proceed`.
  double done;
  /// The first error of OpenJPEG.
  char message[CDECODING_MESSAGE_SIZE];
  bool is_out_of_memory;

  opj_codec_t *codec;
  opj_stream_t *stream;
  opj_image_t *image;
  unsigned component_count;
  component components[most_components];
  unsigned channel_count;
  channel channels[most_components];
  palette palette;
  /// The channel of each plane, and of alpha.
  unsigned colors[CDECODING_MAX_COMPONENTS];
  unsigned alpha;
  bool has_alpha;

  accumulator sums;
  /// Memory for rows, as wide as the widest component and one sample more.
  uint16_t *words;
  uint8_t *bytes, *opacities;
} jp2_reading;

// MARK: What OpenJPEG says

/// Whether a text has these words, in any case of letters.
static bool says(const char *text, const char *words) {
  size_t length = strlen(words);
  for (; *text != '\0'; text++) {
    size_t index = 0;
    while (index < length && (text[index] | 0x20) == (words[index] | 0x20)) index++;
    if (index == length) return true;
  }
  return false;
}

/// Remembers an error: the first, because the others say what has failed because of it.
static void take_error(const char *message, void *context) {
  jp2_reading *reading = context;
  if (errno == ENOMEM || says(message, "memory") || says(message, "allocat")) reading->is_out_of_memory = true;
  if (reading->message[0] != '\0') return;
  strncpy(reading->message, message, sizeof reading->message - 1);
}

static void take_warning(const char *message, void *context) {
  jp2_reading *reading = context;
  // Code blocks that end wrong, and packets that do not begin where the codestream says.
  static const char *const damages[] = {"Bad segmentation symbol", "PTERM check failure", "malformed", "Expected SOP"};
  for (size_t index = 0; index < sizeof damages / sizeof *damages; index++) {
    if (!says(message, damages[index])) continue;
    decoding_find_damage(reading->call, "%s", message);
    return;
  }
  decoding_warn(reading->call, "%s", message);
}

/// Records why OpenJPEG has failed.
static void fail(jp2_reading *reading) {
  decoding *call = reading->call;
  const char *message = reading->message[0] == '\0' ? "the data breaks the format" : reading->message;
  // It says so only of some allocations. All set errno, and nothing is read after one has failed.
  if (reading->is_out_of_memory || errno == ENOMEM) {
    decoding_fail(call, CDECODING_NO_MEMORY, "OpenJPEG needs more memory");
  } else if (reading->has_ended || says(message, "inconsistent with stream length")) {
    decoding_fail(call, CDECODING_TRUNCATED, "the data ends before the picture does");
  } else if (says(message, "support") || says(message, "resolution")) {
    decoding_fail(call, CDECODING_UNSUPPORTED, "%s", message);
  } else {
    decoding_fail(call, CDECODING_DAMAGED, "%s", message);
  }
}

static bool fail_for_memory(jp2_reading *reading) {
  decoding_fail(reading->call, CDECODING_NO_MEMORY, "out of memory");
  return false;
}

static bool fail_as_damaged(jp2_reading *reading, const char *reason) {
  decoding_fail(reading->call, CDECODING_DAMAGED, "%s", reason);
  return false;
}

// MARK: The codestream

/// The bytes that OpenJPEG finds, with the marker that is added.
static uint64_t readable_size(const jp2_reading *reading) {
  return reading->codestream.size + (reading->lacks_end ? 2 : 0);
}

/// Called by OpenJPEG. -1 ends the stream.
static OPJ_SIZE_T read_bytes(void *into, OPJ_SIZE_T count, void *context) {
  jp2_reading *reading = context;
  decoding *call = reading->call;
  const OPJ_SIZE_T end = (OPJ_SIZE_T)-1;
  uint64_t size = reading->codestream.size;
  if (reading->position >= readable_size(reading) || count == 0) {
    reading->has_ended = true;
    return end;
  }
  if (reading->position >= size) {
    *(uint8_t *)into = (uint8_t)(reading->position == size ? marker_eoc >> 8 : marker_eoc & 0xFF);
    reading->position++;
    return 1;
  }
  if (call->reply->status != CDECODING_OK || !decoding_proceeds(call, reading->done)) return end;
  if (count > size - reading->position) count = (OPJ_SIZE_T)(size - reading->position);
  if (count > longest_read) count = longest_read;
  int error = errno;
  ptrdiff_t taken = call->input->read(call->input->context, reading->codestream.offset + reading->position, into, count);
  errno = error;
  if (taken < 0) {
    decoding_fail(call, CDECODING_READ_FAILED, "cannot be read");
    return end;
  }
  if (taken == 0) {
    decoding_fail(call, CDECODING_TRUNCATED, "the file ends too early");
    return end;
  }
  reading->position += (uint64_t)taken;
  return (OPJ_SIZE_T)taken;
}

static OPJ_BOOL seek(OPJ_OFF_T offset, void *context) {
  jp2_reading *reading = context;
  if (offset < 0 || (uint64_t)offset > readable_size(reading)) return OPJ_FALSE;
  reading->position = (uint64_t)offset;
  // OpenJPEG looks ahead to the end, and comes back.
  reading->has_ended = false;
  return OPJ_TRUE;
}

static OPJ_OFF_T skip(OPJ_OFF_T count, void *context) {
  jp2_reading *reading = context;
  if (count < 0 || (uint64_t)count > readable_size(reading) - reading->position) return -1;
  reading->position += (uint64_t)count;
  return count;
}

static uint32_t number(const uint8_t *bytes, unsigned count) {
  uint32_t value = 0;
  for (unsigned index = 0; index < count; index++) value = value << 8 | bytes[index];
  return value;
}

/// Reads bytes of the codestream, which must be there.
static bool read_at(jp2_reading *reading, uint64_t position, uint8_t *into, size_t count) {
  return decoding_read(reading->call, reading->codestream.offset + position, into, count);
}

/// The position of the first tile-part; the codestream's size if there is none. False if the call has failed.
static bool find_tiles(jp2_reading *reading, uint64_t *position) {
  uint64_t size = reading->codestream.size;
  *position = 2;
  for (unsigned steps = 1; size - *position >= 4; steps++) {
    uint8_t head[4];
    if (steps % steps_between_checks == 0 && !decoding_proceeds(reading->call, 0)) return false;
    if (!read_at(reading, *position, head, sizeof head)) return false;
    if (number(head, 2) == marker_sot) return true;
    uint64_t length = 2 + (uint64_t)number(head + 2, 2);
    if (length > size - *position) break;
    *position += length;
  }
  *position = size;
  return true;
}

/// Finds out whether the codestream is whole although it does not end with its last marker. Some programs do not write that,
/// others add bytes after it. If data are missing, the call fails.
static bool check_end(jp2_reading *reading) {
  uint64_t size = reading->codestream.size;
  uint8_t head[sot_size];
  if (size < 4) {
    decoding_fail(reading->call, CDECODING_TRUNCATED, "the codestream ends too early");
    return false;
  }
  if (!read_at(reading, 0, head, 2)) return false;
  if (number(head, 2) != marker_soc) return fail_as_damaged(reading, "the codestream does not begin as one");
  if (!read_at(reading, size - 2, head, 2)) return false;
  if (number(head, 2) == marker_eoc) return true;
  uint64_t position;
  if (!find_tiles(reading, &position)) return false;
  bool is_cut = position == size;
  for (unsigned steps = 1; !is_cut && position < size; steps++) {
    if (steps % steps_between_checks == 0 && !decoding_proceeds(reading->call, 0)) return false;
    if (size - position < 2) break;
    if (!read_at(reading, position, head, 2)) return false;
    if (number(head, 2) == marker_eoc) return true;
    // OpenJPEG judges what is neither.
    if (number(head, 2) != marker_sot) return true;
    is_cut = size - position < sot_size;
    if (is_cut || !read_at(reading, position, head, sot_size)) break;
    // The last tile-part may leave its length open. Then only the marker would show that it is whole.
    uint64_t length = number(head + 6, 4);
    is_cut = length == 0 || length > size - position;
    if (length < sot_size) break;
    position += length;
  }
  if (reading->call->reply->status != CDECODING_OK) return false;
  if (is_cut) {
    decoding_fail(reading->call, CDECODING_TRUNCATED, "the data ends before the picture does");
    return false;
  }
  reading->lacks_end = true;
  decoding_warn(reading->call, "the codestream ends without its last marker");
  return true;
}

/// Opens the codestream, and reads its main header.
static bool open_codestream(jp2_reading *reading) {
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  reading->codec = opj_create_decompress(OPJ_CODEC_J2K);
  reading->stream = opj_stream_create(read_ahead, OPJ_TRUE);
  if (!reading->codec || !reading->stream) return fail_for_memory(reading);
  opj_set_error_handler(reading->codec, take_error, reading);
  opj_set_warning_handler(reading->codec, take_warning, reading);
  opj_stream_set_user_data(reading->stream, reading, NULL);
  opj_stream_set_user_data_length(reading->stream, readable_size(reading));
  opj_stream_set_read_function(reading->stream, read_bytes);
  opj_stream_set_seek_function(reading->stream, seek);
  opj_stream_set_skip_function(reading->stream, skip);
  if (opj_setup_decoder(reading->codec, &parameters) &&
      opj_read_header(reading->stream, reading->codec, &reading->image) && reading->image &&
      // Only now, because OpenJPEG would round the sizes of components wrong if they do not begin at 0.
      opj_set_decoded_resolution_factor(reading->codec, reading->call->request->discarded_levels)) {
    return true;
  }
  fail(reading);
  return false;
}

// MARK: Grids

static uint32_t quotient_up(uint32_t value, uint32_t divisor) { return value / divisor + (value % divisor != 0); }

/// A coordinate of the reference grid in that of a component, at the resolution that remains.
static uint32_t in_grid(uint32_t value, uint32_t step, unsigned levels) {
  return (uint32_t)(((uint64_t)quotient_up(value, step) + ((uint64_t)1 << levels) - 1) >> levels);
}

/// Takes the components from the header, and checks them against the request.
static bool read_components(jp2_reading *reading) {
  decoding *call = reading->call;
  const opj_image_t *image = reading->image;
  unsigned levels = call->request->discarded_levels;
  if (image->numcomps == 0 || !image->comps) return fail_for_memory(reading);
  if (image->numcomps > most_components || image->x1 > INT32_MAX || image->y1 > INT32_MAX) {
    decoding_fail(call, CDECODING_UNSUPPORTED, "%u components, or a large reference grid", image->numcomps);
    return false;
  }
  reading->component_count = image->numcomps;
  for (unsigned index = 0; index < image->numcomps; index++) {
    const opj_image_comp_t *from = &image->comps[index];
    component *into = &reading->components[index];
    *into = (component){.across = from->dx, .down = from->dy, .bits = from->prec, .is_signed = from->sgnd != 0};
    if (from->dx == 0 || from->dy == 0 || from->prec == 0 || from->prec > 31) {
      return fail_as_damaged(reading, "a component has no samples");
    }
    into->left = in_grid(image->x0, from->dx, levels);
    into->top = in_grid(image->y0, from->dy, levels);
    into->width = in_grid(image->x1, from->dx, levels) - into->left;
    into->height = in_grid(image->y1, from->dy, levels) - into->top;
    if (into->width == 0 || into->height == 0) return fail_as_damaged(reading, "a component has no samples");
    if (into->width > CDECODING_MAX_SIDE || into->height > CDECODING_MAX_SIDE) {
      decoding_fail(call, CDECODING_UNSUPPORTED, "a picture of %u x %u pixels", into->width, into->height);
      return false;
    }
  }
  return true;
}

/// Where a part of the picture, as corners in the reference grid, is in a component.
static samples part_of(const jp2_reading *reading, const component *whole, const uint32_t corners[4]) {
  unsigned levels = reading->call->request->discarded_levels;
  uint32_t left = in_grid(corners[0], whole->across, levels), top = in_grid(corners[1], whole->down, levels);
  return (samples){
      .x = left - whole->left, .y = top - whole->top,
      .width = in_grid(corners[2], whole->across, levels) - left,
      .height = in_grid(corners[3], whole->down, levels) - top};
}

// MARK: Channels

/// Reads the contents of a box, which the caller frees; NULL if there is none, or if the call has failed.
static uint8_t *_Nullable read_box(jp2_reading *reading, unsigned index, size_t longest) {
  decoding *call = reading->call;
  cdecoding_extent extent = call->extents[index];
  if (extent.size == 0) return NULL;
  if (extent.size > longest) {
    fail_as_damaged(reading, "a box of its header is too large");
    return NULL;
  }
  uint8_t *bytes = malloc((size_t)extent.size);
  if (!bytes) {
    fail_for_memory(reading);
  } else if (!decoding_read(call, extent.offset, bytes, (size_t)extent.size)) {
    free(bytes);
    bytes = NULL;
  }
  return bytes;
}

static uint8_t to_8_bits(uint32_t value, unsigned bits) {
  uint32_t most = (uint32_t)(((uint64_t)1 << bits) - 1);
  if (value > most) value = most;
  return (uint8_t)(((uint64_t)value * 255 + most / 2) / most);
}

/// The palette, of which each value becomes 8 bits.
static bool read_palette(jp2_reading *reading) {
  uint8_t *bytes = read_box(reading, palette_extent, longest_palette);
  if (!bytes) return reading->call->reply->status == CDECODING_OK;
  size_t size = (size_t)reading->call->extents[palette_extent].size;
  palette *into = &reading->palette;
  bool is_sound = size >= 3;
  if (is_sound) {
    into->entries = number(bytes, 2);
    into->columns = bytes[2];
    is_sound = into->entries > 0 && into->entries <= most_entries && into->columns > 0 && size >= 3 + (size_t)into->columns;
  }
  if (is_sound) {
    into->values = calloc(into->columns, into->entries);
    if (!into->values) fail_for_memory(reading);
  }
  size_t position = 3 + (size_t)into->columns;
  for (unsigned entry = 0; into->values && is_sound && entry < into->entries; entry++) {
    for (unsigned column = 0; is_sound && column < into->columns; column++) {
      uint8_t depth = bytes[3 + column];
      unsigned bits = (depth & 0x7Fu) + 1, count = (bits + 7) / 8;
      is_sound = bits <= 16 && count <= size - position;
      if (!is_sound) break;
      uint32_t value = number(bytes + position, count), most = (1u << bits) - 1;
      if (depth & 0x80) value = (value + (1u << (bits - 1))) & most;
      into->values[(size_t)column * into->entries + entry] = to_8_bits(value & most, bits);
      position += count;
    }
  }
  free(bytes);
  if (!is_sound) return fail_as_damaged(reading, "the palette is damaged");
  return reading->call->reply->status == CDECODING_OK;
}

/// The channels: those of the component mapping, or the components.
static bool read_mapping(jp2_reading *reading) {
  reading->channel_count = reading->component_count;
  for (unsigned index = 0; index < reading->component_count; index++) reading->channels[index].component = index;
  if (!reading->palette.values) return true;
  uint8_t *bytes = read_box(reading, mapping_extent, 4 * 255);
  if (!bytes) {
    return reading->call->reply->status == CDECODING_OK && fail_as_damaged(reading, "a palette without a component mapping");
  }
  size_t count = (size_t)reading->call->extents[mapping_extent].size / 4;
  bool is_sound = count > 0;
  reading->channel_count = count < most_components ? (unsigned)count : most_components;
  for (unsigned index = 0; index < reading->channel_count; index++) {
    const uint8_t *entry = bytes + 4 * (size_t)index;
    channel *into = &reading->channels[index];
    *into = (channel){.component = number(entry, 2), .has_palette = entry[2] == 1, .column = entry[3]};
    if (into->component >= reading->component_count || (into->has_palette && into->column >= reading->palette.columns)) {
      is_sound = false;
      break;
    }
  }
  free(bytes);
  return is_sound || fail_as_damaged(reading, "the component mapping is damaged");
}

/// Which channel is which colour, and which is alpha.
static bool read_definitions(jp2_reading *reading) {
  uint32_t count = reading->call->request->plane_count;
  for (unsigned index = 0; index < count; index++) reading->colors[index] = index;
  // Without definitions, the channels are the colours, and one more is alpha.
  reading->has_alpha = (count == 1 || count == 3) && reading->channel_count == count + 1;
  reading->alpha = count;
  uint8_t *bytes = read_box(reading, definition_extent, 2 + 6 * 255);
  if (bytes) {
    reading->has_alpha = false;
    size_t size = (size_t)reading->call->extents[definition_extent].size;
    size_t entries = size < 2 ? 0 : number(bytes, 2);
    if (entries > (size - 2) / 6) entries = (size - 2) / 6;
    for (size_t index = 0; size >= 2 && index < entries; index++) {
      const uint8_t *entry = bytes + 2 + 6 * index;
      unsigned place = number(entry, 2), type = number(entry + 2, 2), association = number(entry + 4, 2);
      if (place >= reading->channel_count) continue;
      if (type == 0 && association > 0 && association <= count) reading->colors[association - 1] = place;
      if ((type == 1 || type == 2) && association == 0 && !reading->has_alpha) {
        reading->has_alpha = true;
        reading->alpha = place;
      }
    }
    free(bytes);
  }
  for (unsigned index = 0; index < count; index++) {
    if (reading->colors[index] >= reading->channel_count) return fail_as_damaged(reading, "a colour has no channel");
  }
  return reading->call->reply->status == CDECODING_OK;
}

static component *component_of(jp2_reading *reading, unsigned channel_index) {
  return &reading->components[reading->channels[channel_index].component];
}

/// Whether a plane has a sample for each pixel although its component has fewer.
static bool is_spread(jp2_reading *reading, unsigned plane_index) {
  const cdecoding_plane *planes = reading->call->request->planes;
  const component *first = component_of(reading, reading->colors[0]);
  const component *own = component_of(reading, reading->colors[plane_index]);
  bool is_coarse = own->across != first->across || own->down != first->down;
  return reading->has_alpha || (is_coarse && planes[plane_index].width == planes[0].width &&
                                planes[plane_index].height == planes[0].height);
}

/// Whether two lengths differ by one sample at most, as those of a coarse component may if the picture begins at an odd
/// place.
static bool is_near(uint32_t one, uint32_t other) { return (one > other ? one - other : other - one) <= 1; }

static bool prepare_sums(jp2_reading *reading) {
  decoding *call = reading->call;
  const cdecoding_request *request = call->request;
  const opj_image_t *image = reading->image;
  const component *first = component_of(reading, reading->colors[0]);
  if (in_grid(image->x1, first->across, 0) - in_grid(image->x0, first->across, 0) != request->width ||
      in_grid(image->y1, first->down, 0) - in_grid(image->y0, first->down, 0) != request->height) {
    return fail_as_damaged(reading, "the picture has another size than its header says");
  }
  bool fits = first->width == request->scaled_width && first->height == request->scaled_height;
  uint32_t widest = 0;
  for (unsigned index = 0; index < request->plane_count; index++) {
    const cdecoding_plane *plane = &request->planes[index];
    const component *own = is_spread(reading, index) ? first : component_of(reading, reading->colors[index]);
    fits = fits && is_near(plane->width, own->width) && is_near(plane->height, own->height);
    if (own->width > widest) widest = own->width;
  }
  fits = fits && request->planes[0].width == first->width && request->planes[0].height == first->height;
  if (!fits) {
    decoding_fail(call, CDECODING_BAD_CALL, "the planes do not fit the picture");
    return false;
  }
  cdecoding_status status = accumulator_init(&reading->sums, request, reading->has_alpha, call->memory, call->memory_size);
  if (status != CDECODING_OK) {
    decoding_fail(call, status, "the sums of the picture cannot be kept");
    return false;
  }
  reading->words = malloc(((size_t)widest + 1) * sizeof *reading->words);
  reading->bytes = malloc((size_t)widest + 1);
  reading->opacities = malloc((size_t)widest + 1);
  return (reading->words && reading->bytes && reading->opacities) || fail_for_memory(reading);
}

// MARK: Rows

/// A sample of a row, as a number from 0 on of at most 16 bits.
static inline uint16_t sample_of(const component *from, const uint8_t *row, size_t index) {
  int64_t value;
  switch (from->part.bytes) {
    case 1: value = from->is_signed ? (int8_t)row[index] : row[index]; break;
    case 2: {
      uint16_t word;
      memcpy(&word, row + 2 * index, sizeof word);
      value = from->is_signed ? (int16_t)word : word;
      break;
    }
    default: {
      int32_t word;
      memcpy(&word, row + 4 * index, sizeof word);
      value = word;
    }
  }
  int64_t most = ((int64_t)1 << from->bits) - 1;
  if (from->is_signed) value += (int64_t)1 << (from->bits - 1);
  if (value < 0) value = 0;
  if (value > most) value = most;
  return (uint16_t)(from->bits > 16 ? value >> (from->bits - 16) : value);
}

/// The place in a component's part, along one axis, that shows a pixel of the first colour's component.
static uint32_t place_of(uint32_t pixel, uint32_t step, uint32_t own_start, uint32_t own_step, uint32_t length) {
  int64_t place = (int64_t)((uint64_t)pixel * step / own_step) - own_start;
  return place < 0 ? 0 : place >= length ? length - 1 : (uint32_t)place;
}

/// A row of a component to `words`: each sample for itself, and the last one again if there are fewer than `count`.
static void take_row(jp2_reading *reading, const component *from, uint32_t row, size_t count) {
  const samples *part = &from->part;
  const uint8_t *bytes = part->bytes_of_rows + (size_t)row * part->width * part->bytes;
  size_t inside = count < part->width ? count : part->width;
  for (size_t index = 0; index < inside; index++) reading->words[index] = sample_of(from, bytes, index);
  for (size_t index = inside; index < count; index++) reading->words[index] = reading->words[inside - 1];
}

/// A row of a component to `words`, with the sample that shows each pixel of the row of the first colour. Where a tile has
/// none, the middle of the range.
static void take_spread_row(jp2_reading *reading, const component *from, uint32_t row) {
  const component *first = component_of(reading, reading->colors[0]);
  const samples *part = &from->part;
  size_t count = first->part.width;
  if (part->width == 0 || part->height == 0) {
    unsigned bits = from->bits < 16 ? from->bits : 16;
    for (size_t index = 0; index < count; index++) reading->words[index] = (uint16_t)(1u << (bits - 1));
    return;
  }
  uint32_t line = place_of(
      first->top + first->part.y + row, first->down, from->top + part->y, from->down, part->height);
  if (from->across == first->across) {
    take_row(reading, from, line, count);
    return;
  }
  const uint8_t *bytes = part->bytes_of_rows + (size_t)line * part->width * part->bytes;
  for (size_t index = 0; index < count; index++) {
    uint32_t place = place_of(
        first->left + first->part.x + (uint32_t)index, first->across, from->left + part->x, from->across, part->width);
    reading->words[index] = sample_of(from, bytes, place);
  }
}

/// The words of a row as samples of 8 bits: looked up in the palette, or scaled.
static void to_bytes(const jp2_reading *reading, const channel *from, size_t count, uint8_t *into) {
  unsigned bits = reading->components[from->component].bits;
  const uint16_t *words = reading->words;
  if (from->has_palette) {
    const uint8_t *column = reading->palette.values + (size_t)from->column * reading->palette.entries;
    unsigned last = reading->palette.entries - 1;
    for (size_t index = 0; index < count; index++) into[index] = column[words[index] < last ? words[index] : last];
  } else if (bits == 8) {
    for (size_t index = 0; index < count; index++) into[index] = (uint8_t)words[index];
  } else {
    for (size_t index = 0; index < count; index++) into[index] = to_8_bits(words[index], bits < 16 ? bits : 16);
  }
}

/// Divides colours by the alpha with which they were multiplied.
static void divide(uint8_t *values, const uint8_t *alpha, size_t count) {
  for (size_t index = 0; index < count; index++) {
    unsigned opacity = alpha[index];
    if (opacity == 0) continue;
    unsigned value = (values[index] * 255u + opacity / 2) / opacity;
    values[index] = (uint8_t)(value < 255 ? value : 255);
  }
}

/// Adds the part of a colour whose plane has the component's own samples.
static bool add_own(jp2_reading *reading, unsigned plane_index) {
  const channel *from = &reading->channels[reading->colors[plane_index]];
  const component *own = &reading->components[from->component];
  const cdecoding_plane *plane = &reading->call->request->planes[plane_index];
  const samples *part = &own->part;
  if (part->width == 0 || part->height == 0) return true;
  size_t count = part->width;
  uint32_t rows = part->height;
  // A picture that begins at an odd place may have a coarse sample less than its pixels need.
  if (part->x + part->width == own->width && plane->width > own->width) count++;
  if (part->y + part->height == own->height && plane->height > own->height) rows++;
  for (uint32_t row = 0; row < rows; row++) {
    if (row % steps_between_checks == 0 && !decoding_proceeds(reading->call, reading->done)) return false;
    take_row(reading, own, row < part->height ? row : part->height - 1, count);
    bool has_words = own->bits > 8 && !from->has_palette;
    if (!has_words) to_bytes(reading, from, count, reading->bytes);
    accumulator_add_component(
        &reading->sums, plane_index, part->x, (int64_t)part->y + row, count,
        has_words ? (const void *)reading->words : reading->bytes, !has_words ? 8 : own->bits < 16 ? own->bits : 16, NULL);
  }
  return true;
}

/// Adds the part of a colour whose plane has a sample for each pixel, with the alpha of each if there is one.
static bool add_spread(jp2_reading *reading, unsigned plane_index) {
  const channel *from = &reading->channels[reading->colors[plane_index]];
  const channel *alpha = &reading->channels[reading->alpha];
  const samples *part = &component_of(reading, reading->colors[0])->part;
  for (uint32_t row = 0; row < part->height; row++) {
    if (row % steps_between_checks == 0 && !decoding_proceeds(reading->call, reading->done)) return false;
    if (reading->has_alpha) {
      take_spread_row(reading, &reading->components[alpha->component], row);
      to_bytes(reading, alpha, part->width, reading->opacities);
    }
    take_spread_row(reading, &reading->components[from->component], row);
    to_bytes(reading, from, part->width, reading->bytes);
    if (reading->has_alpha && reading->call->request->is_premultiplied) {
      divide(reading->bytes, reading->opacities, part->width);
    }
    accumulator_add_component(
        &reading->sums, plane_index, part->x, (int64_t)part->y + row, part->width, reading->bytes, 8,
        reading->has_alpha ? reading->opacities : NULL);
  }
  return true;
}

/// Adds the parts of all components.
static bool add_part(jp2_reading *reading) {
  for (unsigned index = 0; index < reading->call->request->plane_count; index++) {
    if (!(is_spread(reading, index) ? add_spread(reading, index) : add_own(reading, index))) return false;
  }
  return true;
}

// MARK: Tiles

/// Decodes a picture of one tile.
static bool decode_whole(jp2_reading *reading, const opj_codestream_info_v2_t *info) {
  opj_image_t *image = reading->image;
  uint32_t corners[4] = {image->x0, image->y0, image->x1, image->y1};
  if (!opj_decode(reading->codec, reading->stream, image)) {
    fail(reading);
    return false;
  }
  if (image->numcomps != reading->component_count) return fail_for_memory(reading);
  for (unsigned index = 0; index < reading->component_count; index++) {
    const opj_image_comp_t *from = &image->comps[index];
    component *into = &reading->components[index];
    into->part = part_of(reading, into, corners);
    into->part.bytes = sizeof *from->data;
    into->part.bytes_of_rows = (const uint8_t *)from->data;
    if (!from->data || from->w != into->width || from->h != into->height) {
      return fail_as_damaged(reading, "a component has another size than the header says");
    }
    // OpenJPEG leaves the rest of the samples as it found them.
    const opj_tccp_info_t *coding = info->m_default_tile_info.tccp_info;
    if (coding && from->resno_decoded + 1 + reading->call->request->discarded_levels < coding[index].numresolutions) {
      decoding_find_damage(reading->call, "a component has no data of its last resolution levels");
    }
  }
  reading->done = 1;
  return reading->call->reply->status == CDECODING_OK && add_part(reading);
}

/// The samples of a tile, of which OpenJPEG writes one component after the other.
static bool find_samples(jp2_reading *reading, const uint32_t corners[4], const uint8_t *bytes, size_t size) {
  size_t position = 0;
  for (unsigned index = 0; index < reading->component_count; index++) {
    component *into = &reading->components[index];
    into->part = part_of(reading, into, corners);
    into->part.bytes = into->bits <= 8 ? 1 : into->bits <= 16 ? 2 : 4;
    into->part.bytes_of_rows = bytes + position;
    uint64_t taken = (uint64_t)into->part.width * into->part.height * into->part.bytes;
    if (taken > size - position) return fail_as_damaged(reading, "a tile has another size than the header says");
    position += (size_t)taken;
  }
  return true;
}

/// Decodes a picture of several tiles.
static bool decode_tiles(jp2_reading *reading, uint32_t tile_count) {
  decoding *call = reading->call;
  const opj_image_t *image = reading->image;
  uint8_t *bytes = NULL;
  size_t capacity = 0;
  uint32_t decoded = 0;
  // Each sample is added once.
  bool *is_decoded = calloc(tile_count, sizeof *is_decoded);
  bool goes_on = is_decoded != NULL || fail_for_memory(reading);
  while (goes_on) {
    reading->done = (double)decoded / tile_count;
    goes_on = decoding_proceeds(call, reading->done);
    if (!goes_on) break;
    OPJ_UINT32 index, size, count;
    OPJ_INT32 x0, y0, x1, y1;
    OPJ_BOOL is_tile = OPJ_FALSE;
    goes_on = opj_read_tile_header(
        reading->codec, reading->stream, &index, &size, &x0, &y0, &x1, &y1, &count, &is_tile);
    // OpenJPEG would go on without a tag tree for which it had no memory, and crash.
    goes_on = goes_on && !reading->is_out_of_memory;
    if (!goes_on) fail(reading);
    if (!goes_on || !is_tile) break;
    if (index >= tile_count || is_decoded[index]) {
      goes_on = fail_as_damaged(reading, "a tile is coded twice");
      break;
    }
    if (x0 < 0 || y0 < 0 || (uint32_t)x0 < image->x0 || (uint32_t)y0 < image->y0 || x1 < x0 || y1 < y0) {
      goes_on = fail_as_damaged(reading, "a tile is outside the picture");
      break;
    }
    if (size > capacity) {
      free(bytes);
      bytes = malloc(size);
      capacity = bytes ? size : 0;
      goes_on = bytes != NULL || fail_for_memory(reading);
      if (!goes_on) break;
    }
    // A tile may lack its last resolution levels.
    if (size > 0) memset(bytes, 0, size);
    goes_on = opj_decode_tile_data(reading->codec, index, bytes, size, reading->stream);
    if (!goes_on) {
      fail(reading);
      break;
    }
    const uint32_t corners[4] = {(uint32_t)x0, (uint32_t)y0, (uint32_t)x1, (uint32_t)y1};
    goes_on = call->reply->status == CDECODING_OK && find_samples(reading, corners, bytes, size) && add_part(reading);
    is_decoded[index] = true;
    decoded++;
  }
  free(bytes);
  free(is_decoded);
  if (goes_on && decoded < tile_count) {
    decoding_fail(call, CDECODING_TRUNCATED, "%u of %u tiles are missing", tile_count - decoded, tile_count);
    goes_on = false;
  }
  return goes_on;
}

static bool decode_picture(jp2_reading *reading) {
  errno = 0;
  if (!check_end(reading) || !open_codestream(reading) || !read_components(reading) || !read_palette(reading) ||
      !read_mapping(reading) || !read_definitions(reading) || !prepare_sums(reading)) {
    return false;
  }
  opj_codestream_info_v2_t *info = opj_get_cstr_info(reading->codec);
  if (!info) return fail_for_memory(reading);
  bool is_single = info->tw == 1 && info->th == 1;
  bool is_decoded = is_single ? decode_whole(reading, info) : decode_tiles(reading, info->tw * info->th);
  opj_destroy_cstr_info(&info);
  return is_decoded;
}

static bool is_request_sound(const decoding *call) {
  const cdecoding_request *request = call->request;
  return request->extent_count == extents_of_picture && call->extents && request->discarded_levels <= 32 &&
         request->plane_count > 0 && request->plane_count <= CDECODING_MAX_COMPONENTS;
}

void decode_jp2(decoding *call) {
  if (!is_request_sound(call)) {
    decoding_fail(call, CDECODING_BAD_CALL, "the request does not describe a JPEG 2000 picture");
    return;
  }
  jp2_reading *reading = calloc(1, sizeof *reading);
  if (!reading) {
    decoding_fail(call, CDECODING_NO_MEMORY, "out of memory");
    return;
  }
  reading->call = call;
  reading->codestream = call->extents[codestream_extent];
  // The box may be longer than the file.
  uint64_t size = call->input->size, start = reading->codestream.offset;
  if (start > size) start = reading->codestream.offset = size;
  if (reading->codestream.size > size - start) reading->codestream.size = size - start;
  if (decode_picture(reading)) accumulator_finish(&reading->sums);
  if (reading->codec) opj_destroy_codec(reading->codec);
  if (reading->stream) opj_stream_destroy(reading->stream);
  opj_image_destroy(reading->image);
  accumulator_free(&reading->sums);
  free(reading->palette.values);
  free(reading->words);
  free(reading->bytes);
  free(reading->opacities);
  free(reading);
}
#endif
