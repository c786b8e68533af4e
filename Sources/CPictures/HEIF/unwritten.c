#include "unwritten.h"

#include "cpictures.h"

#include <string.h>

/// Memory has it from each address on that 8 divides, so it stays in step where rows begin at such addresses.
///
/// Its bytes differ, so that no even surface has it. Two of them are no sample of 9 to 15 bits, eight of them no pointer.
static const uint8_t pattern[8] = {0xC6, 0x9B, 0xE5, 0x8D, 0xF2, 0xA7, 0xD9, 0xB4};

void cpictures_fill(void *memory, size_t size) {
  uint8_t *bytes = memory;
  uint8_t turned[sizeof pattern];
  for (size_t index = 0; index < sizeof pattern; index++) {
    turned[index] = pattern[((uintptr_t)bytes + index) % sizeof pattern];
  }
  for (; size >= sizeof turned; bytes += sizeof turned, size -= sizeof turned) memcpy(bytes, turned, sizeof turned);
  memcpy(bytes, turned, size);
}

bool has_unwritten(const uint8_t *row, size_t size) {
  uint32_t halves[2];
  memcpy(halves, pattern, sizeof halves);
  bool was_half = false;
  for (size_t offset = -(uintptr_t)row % sizeof *halves; offset + sizeof *halves <= size; offset += sizeof *halves) {
    uint32_t half;
    memcpy(&half, row + offset, sizeof half);
    bool is_half = half == halves[(uintptr_t)(row + offset) / sizeof half % 2];
    if (is_half && was_half) return true;
    was_half = is_half;
  }
  return false;
}
