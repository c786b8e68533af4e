#include "compact.h"

typedef struct {
  const uint8_t *bytes;
  size_t size, position;
  bool is_damaged;
} reader;

static uint32_t read_number(reader *in, unsigned count) {
  uint32_t value = 0;
  for (unsigned index = 0; index < count; index++) {
    if (in->position >= in->size) {
      in->is_damaged = true;
      return 0;
    }
    value = value << 8 | in->bytes[in->position++];
  }
  return value;
}

// Reads an INDEX, and finds its first element. Afterwards the reader is behind it.
static void read_index(reader *in, size_t *start, size_t *end) {
  uint32_t count = read_number(in, 2);
  *start = *end = in->position;
  if (count == 0) return;
  unsigned width = read_number(in, 1);
  if (width < 1 || width > 4) {
    in->is_damaged = true;
    return;
  }
  // Offsets count from the byte before the elements.
  size_t offsets = in->position, base = offsets + ((size_t)count + 1) * width - 1;
  size_t first = read_number(in, width), second = read_number(in, width);
  in->position = offsets + (size_t)count * width;
  size_t last = read_number(in, width);
  if (first < 1 || second < first || last < second || base > in->size || last > in->size - base) in->is_damaged = true;
  *start = base + first;
  *end = base + second;
  in->position = base + last;
}

typedef struct {
  bool has_identifiers;
  size_t charset, outlines;
} top_dictionary;

// Reads the entries of the top dictionary that matter: ROS (12 30), charset (15) and CharStrings (17).
static top_dictionary read_dictionary(reader *in) {
  top_dictionary found = {0};
  int32_t operand = 0;
  while (in->position < in->size && !in->is_damaged) {
    uint32_t byte = read_number(in, 1);
    if (byte == 12) {
      if (read_number(in, 1) == 30) found.has_identifiers = true;
    } else if (byte <= 21) {
      if (byte == 15) found.charset = operand < 0 ? 0 : (size_t)operand;
      if (byte == 17) found.outlines = operand < 0 ? 0 : (size_t)operand;
    } else if (byte == 28) {
      operand = (int16_t)(uint16_t)read_number(in, 2);
    } else if (byte == 29) {
      operand = (int32_t)read_number(in, 4);
    } else if (byte == 30) {
      // A real number, which ends with a half byte of ones.
      for (uint32_t next = 0; (next & 0x0F) != 0x0F && !in->is_damaged;) next = read_number(in, 1);
    } else if (byte >= 32 && byte <= 246) {
      operand = (int32_t)byte - 139;
    } else if (byte >= 247 && byte <= 250) {
      operand = (int32_t)(((byte - 247) << 8) + read_number(in, 1) + 108);
    } else if (byte >= 251 && byte <= 254) {
      operand = -(int32_t)(((byte - 251) << 8) + read_number(in, 1) + 108);
    }
  }
  return found;
}

// The CID of a glyph, from the charset that begins where the reader is.
static uint32_t identifier_of(reader in, uint32_t glyph, uint32_t glyph_count) {
  if (glyph == 0) return 0;
  uint32_t format = read_number(&in, 1);
  if (format == 0) {
    in.position += ((size_t)glyph - 1) * 2;
    uint32_t identifier = read_number(&in, 2);
    return in.is_damaged ? UINT32_MAX : identifier;
  }
  for (uint32_t next = 1; next < glyph_count && format <= 2;) {
    uint32_t first = read_number(&in, 2), left = read_number(&in, format);
    if (in.is_damaged) break;
    if (glyph - next <= left) return first + (glyph - next);
    next += left + 1;
  }
  return UINT32_MAX;
}

bool ccompact_identifiers(const uint8_t *program, size_t size, uint32_t *identifiers, size_t count) {
  reader in = {.bytes = program, .size = size};
  size_t start = 0, end = 0;
  in.position = 2;
  in.position = read_number(&in, 1);
  read_index(&in, &start, &end);
  read_index(&in, &start, &end);
  if (in.is_damaged) return false;
  reader dictionary = {.bytes = program, .size = end, .position = start};
  top_dictionary top = read_dictionary(&dictionary);
  if (dictionary.is_damaged) return false;
  if (!top.has_identifiers) return true;
  in.position = top.outlines;
  uint32_t glyph_count = read_number(&in, 2);
  in.position = top.charset;
  // Values below 3 name a charset without CIDs.
  if (in.is_damaged || top.charset < 3) return false;
  for (size_t index = 0; index < count; index++) {
    identifiers[index] = identifier_of(in, identifiers[index], glyph_count);
    if (identifiers[index] > 0xFFFF) return false;
  }
  return true;
}
