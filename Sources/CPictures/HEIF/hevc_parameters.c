#include "hevc_parameters.h"

#define HEADER_SIZE 2
#define SEQUENCE_PARAMETER_SET 33

/// The bits of a NAL unit, without the bytes that keep it from looking like the start of another one (7.3.1.1).
typedef struct bit_reader {
  const uint8_t *next, *end;
  unsigned zeros;  ///< how many bytes before `next` are 0, one after the other
  uint8_t byte;
  unsigned left;   ///< the bits of `byte` that have not been read
  bool has_ended;  ///< whether more bits were read than there are
} bit_reader;

static uint32_t read_bit(bit_reader *reader) {
  if (reader->left == 0) {
    if (reader->zeros >= 2 && reader->next < reader->end && *reader->next == 3) {
      reader->next++;
      reader->zeros = 0;
    }
    if (reader->next == reader->end) {
      reader->has_ended = true;
      return 0;
    }
    reader->byte = *reader->next++;
    reader->zeros = reader->byte == 0 ? reader->zeros + 1 : 0;
    reader->left = 8;
  }
  reader->left--;
  return reader->byte >> reader->left & 1u;
}

/// Reads up to 32 bits.
static uint32_t read_bits(bit_reader *reader, unsigned count) {
  uint32_t value = 0;
  while (count-- > 0) value = value << 1 | read_bit(reader);
  return value;
}

static void skip_bits(bit_reader *reader, unsigned count) {
  while (count-- > 0) read_bit(reader);
}

/// Reads an Exp-Golomb code (9.2). What does not fit becomes the largest number.
static uint32_t read_code(bit_reader *reader) {
  unsigned zeros = 0;
  while (read_bit(reader) == 0 && !reader->has_ended) zeros++;
  return zeros < 32 ? (1u << zeros) - 1 + read_bits(reader, zeros) : UINT32_MAX;
}

/// 7.3.3.
static void skip_profile_tier_level(bit_reader *reader, unsigned most_sub_layer) {
  skip_bits(reader, 96);
  if (most_sub_layer == 0) return;
  unsigned bits = 0;
  for (unsigned layer = 0; layer < 8; layer++) {
    uint32_t present = read_bits(reader, 2);
    if (layer < most_sub_layer) bits += (present & 2 ? 88 : 0) + (present & 1 ? 8 : 0);
  }
  skip_bits(reader, bits);
}

bool hevc_has_parameters(const uint8_t *unit) {
  unsigned type = unit[0] >> 1 & 0x3Fu, layer = (unit[0] & 1u) << 5 | unit[1] >> 3;
  return type == SEQUENCE_PARAMETER_SET && layer == 0;
}

bool hevc_read_size(const uint8_t *unit, size_t size, uint32_t *width, uint32_t *height) {
  bit_reader reader = {.next = unit + HEADER_SIZE, .end = unit + size, .zeros = unit[HEADER_SIZE - 1] == 0};
  skip_bits(&reader, 4);                            // sps_video_parameter_set_id
  unsigned most_sub_layer = read_bits(&reader, 3);  // sps_max_sub_layers_minus1
  skip_bits(&reader, 1);                            // sps_temporal_id_nesting_flag
  skip_profile_tier_level(&reader, most_sub_layer);
  read_code(&reader);                                    // sps_seq_parameter_set_id
  if (read_code(&reader) == 3) skip_bits(&reader, 1);    // chroma_format_idc, separate_colour_plane_flag
  *width = read_code(&reader);
  *height = read_code(&reader);
  return !reader.has_ended;
}
