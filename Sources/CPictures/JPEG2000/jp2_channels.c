#ifdef THUMBJOB_FORMATS
// Which component each channel has, and which channel each colour.
//
// Source: ISO/IEC 15444-1, I.5.3.4 to I.5.3.6 (boxes pclr, cmap and cdef).

#include <stdlib.h>

#include "jp2.h"

enum {
  most_entries = 1024,
  /// Most of a palette is unused if it has more columns than there are channels.
  longest_palette = 1 << 20,
};

/// Reads the contents of a box, which the caller frees; NULL if there is none, or if the call has failed.
static uint8_t *_Nullable read_box(jp2_reading *reading, unsigned index, size_t longest) {
  decoding *call = reading->call;
  cdecoding_extent extent = call->extents[index];
  if (extent.size == 0) return NULL;
  if (extent.size > longest) {
    jp2_fail_as_damaged(reading, "a box of its header is too large");
    return NULL;
  }
  uint8_t *bytes = malloc((size_t)extent.size);
  if (!bytes) {
    jp2_fail_for_memory(reading);
  } else if (!decoding_read(call, extent.offset, bytes, (size_t)extent.size)) {
    free(bytes);
    bytes = NULL;
  }
  return bytes;
}

/// The palette, of which each value becomes 8 bits.
static bool read_palette(jp2_reading *reading) {
  uint8_t *bytes = read_box(reading, palette_extent, longest_palette);
  if (!bytes) return reading->call->reply->status == CDECODING_OK;
  size_t size = (size_t)reading->call->extents[palette_extent].size;
  palette *into = &reading->palette;
  bool is_sound = size >= 3;
  if (is_sound) {
    into->entries = decoding_number(bytes, 2);
    into->columns = bytes[2];
    is_sound = into->entries > 0 && into->entries <= most_entries && into->columns > 0 && size >= 3 + (size_t)into->columns;
  }
  if (is_sound) {
    into->values = calloc(into->columns, into->entries);
    if (!into->values) jp2_fail_for_memory(reading);
  }
  size_t position = 3 + (size_t)into->columns;
  for (unsigned entry = 0; into->values && is_sound && entry < into->entries; entry++) {
    for (unsigned column = 0; is_sound && column < into->columns; column++) {
      uint8_t depth = bytes[3 + column];
      unsigned bits = (depth & 0x7Fu) + 1, count = (bits + 7) / 8;
      is_sound = bits <= 16 && count <= size - position;
      if (!is_sound) break;
      uint32_t value = decoding_number(bytes + position, count), most = (1u << bits) - 1;
      if (depth & 0x80) value = (value + (1u << (bits - 1))) & most;
      into->values[(size_t)column * into->entries + entry] = jp2_to_8_bits(value & most, bits);
      position += count;
    }
  }
  free(bytes);
  if (!is_sound) return jp2_fail_as_damaged(reading, "the palette is damaged");
  return reading->call->reply->status == CDECODING_OK;
}

/// The channels: those of the component mapping, or the components.
static bool read_mapping(jp2_reading *reading) {
  reading->channel_count = reading->component_count;
  for (unsigned index = 0; index < reading->component_count; index++) reading->channels[index].component = index;
  if (!reading->palette.values) return true;
  uint8_t *bytes = read_box(reading, mapping_extent, 4 * 255);
  if (!bytes) {
    return reading->call->reply->status == CDECODING_OK && jp2_fail_as_damaged(reading, "a palette without a component mapping");
  }
  size_t count = (size_t)reading->call->extents[mapping_extent].size / 4;
  bool is_sound = count > 0;
  reading->channel_count = count < jp2_most_components ? (unsigned)count : jp2_most_components;
  for (unsigned index = 0; index < reading->channel_count; index++) {
    const uint8_t *entry = bytes + 4 * (size_t)index;
    channel *into = &reading->channels[index];
    *into = (channel){.component = decoding_number(entry, 2), .has_palette = entry[2] == 1, .column = entry[3]};
    if (into->component >= reading->component_count || (into->has_palette && into->column >= reading->palette.columns)) {
      is_sound = false;
      break;
    }
  }
  free(bytes);
  return is_sound || jp2_fail_as_damaged(reading, "the component mapping is damaged");
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
    size_t entries = size < 2 ? 0 : decoding_number(bytes, 2);
    if (entries > (size - 2) / 6) entries = (size - 2) / 6;
    for (size_t index = 0; size >= 2 && index < entries; index++) {
      const uint8_t *entry = bytes + 2 + 6 * index;
      unsigned place = decoding_number(entry, 2), type = decoding_number(entry + 2, 2), association = decoding_number(entry + 4, 2);
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
    if (reading->colors[index] >= reading->channel_count) return jp2_fail_as_damaged(reading, "a colour has no channel");
  }
  return reading->call->reply->status == CDECODING_OK;
}

bool jp2_is_spread(jp2_reading *reading, unsigned plane_index) {
  const cdecoding_plane *planes = reading->call->request->planes;
  const component *first = jp2_component_of(reading, reading->colors[0]);
  const component *own = jp2_component_of(reading, reading->colors[plane_index]);
  bool is_coarse = own->across != first->across || own->down != first->down;
  return reading->has_alpha || (is_coarse && planes[plane_index].width == planes[0].width &&
                                planes[plane_index].height == planes[0].height);
}

bool jp2_read_channels(jp2_reading *reading) {
  return read_palette(reading) && read_mapping(reading) && read_definitions(reading);
}
#endif
