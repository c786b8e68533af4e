#ifdef THUMBJOB_FORMATS
// Adds up the samples that OpenJPEG has decoded.
//
// Source: ISO/IEC 15444-1, B.2 to B.5 (the grids).

#include <string.h>

#include "jp2.h"

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
  const component *first = jp2_component_of(reading, reading->colors[0]);
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
    for (size_t index = 0; index < count; index++) into[index] = jp2_to_8_bits(words[index], bits < 16 ? bits : 16);
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
    if (row % jp2_steps_between_checks == 0 && !decoding_proceeds(reading->call, reading->done)) return false;
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
  const samples *part = &jp2_component_of(reading, reading->colors[0])->part;
  for (uint32_t row = 0; row < part->height; row++) {
    if (row % jp2_steps_between_checks == 0 && !decoding_proceeds(reading->call, reading->done)) return false;
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

bool jp2_add_part(jp2_reading *reading) {
  for (unsigned index = 0; index < reading->call->request->plane_count; index++) {
    if (!(jp2_is_spread(reading, index) ? add_spread(reading, index) : add_own(reading, index))) return false;
  }
  return true;
}
#endif
