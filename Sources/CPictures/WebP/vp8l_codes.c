#include "vp8l_codes.h"

#include <string.h>

// MARK: Bits

void vp8l_bits_refill(vp8l_bits *bits) {
  while (bits->count < 56) {
    if (bits->start == bits->end && bits->remaining > 0) {
      size_t wanted = bits->remaining < VP8L_PIECE_SIZE ? (size_t)bits->remaining : VP8L_PIECE_SIZE;
      bits->start = 0;
      bits->end = decoding_read(bits->call, bits->offset, bits->piece, wanted) ? wanted : 0;
      bits->offset += wanted;
      bits->remaining = bits->end == 0 ? 0 : bits->remaining - wanted;
    }
    if (bits->start < bits->end) {
      bits->window |= (uint64_t)bits->piece[bits->start++] << bits->count;
    } else {
      bits->zeros += 8;
    }
    bits->count += 8;
  }
}

unsigned vp8l_bits_take(vp8l_bits *bits, unsigned count) {
  vp8l_bits_fill(bits);
  unsigned value = (unsigned)(bits->window & ((1u << count) - 1));
  vp8l_bits_drop(bits, count);
  return value;
}

bool vp8l_bits_ended(vp8l_bits *bits) {
  if (bits->count >= bits->zeros && bits->call->reply->status == CDECODING_OK) return false;
  decoding_fail(bits->call, CDECODING_TRUNCATED, "the data ends before the picture does");
  return true;
}

// MARK: Codes

/// The next code of the same length in the order of a canonical code, with its first bit as the lowest.
static uint32_t next_code(uint32_t code, unsigned length) {
  uint32_t step = 1u << (length - 1);
  while (code & step) step >>= 1;
  return step ? (code & (step - 1)) + step : code;
}

static void fill_table(uint16_t *table, size_t size, uint32_t code, unsigned bits, uint16_t symbol) {
  uint16_t entry = (uint16_t)((unsigned)symbol << 4 | bits);
  for (size_t place = code; place < size; place += (size_t)1 << bits) table[place] = entry;
}

size_t vp8l_code_make(vp8l_code *code, uint16_t *table, const uint8_t *lengths, unsigned count) {
  unsigned counts[VP8L_LONGEST_CODE + 1] = {0}, starts[VP8L_LONGEST_CODE + 1] = {0};
  for (unsigned symbol = 0; symbol < count; symbol++) counts[lengths[symbol]]++;
  unsigned used = count - counts[0];
  if (used == 0) return 0;
  code->table = table;
  uint16_t sorted[VP8L_MOST_SYMBOLS];
  for (unsigned length = 1; length < VP8L_LONGEST_CODE; length++) starts[length + 1] = starts[length] + counts[length];
  for (unsigned symbol = 0; symbol < count; symbol++) {
    if (lengths[symbol] > 0) sorted[starts[lengths[symbol]]++] = (uint16_t)symbol;
  }
  if (used == 1) {
    // The only symbol needs no bits.
    code->mask = 0;
    table[0] = (uint16_t)(sorted[0] << 4);
    return 1;
  }
  // A code must be complete.
  uint32_t space = 0;
  unsigned longest = 0;
  for (unsigned length = 1; length <= VP8L_LONGEST_CODE; length++) {
    space += counts[length] << (VP8L_LONGEST_CODE - length);
    if (counts[length] > 0) longest = length;
  }
  if (space != 1u << VP8L_LONGEST_CODE) return 0;
  unsigned root = longest < VP8L_ROOT_BITS ? longest : VP8L_ROOT_BITS;
  size_t size = (size_t)1 << root;
  code->mask = (uint32_t)size - 1;

  uint32_t bits = 0, prefix = UINT32_MAX;
  size_t second = 0, second_size = 0;
  const uint16_t *symbol = sorted;
  for (unsigned length = 1; length <= longest; length++) {
    for (; counts[length] > 0; counts[length]--, symbol++) {
      if (length <= root) {
        fill_table(table, (size_t)1 << root, bits, length, *symbol);
      } else {
        if ((bits & code->mask) != prefix) {
          // Codes with these first bits follow each other: as many as fit decide how long the longest one is.
          prefix = bits & code->mask;
          unsigned extra = length - root;
          for (uint32_t room = 1u << extra; root + extra < longest && counts[root + extra] < room; extra++) {
            room = (room - counts[root + extra]) << 1;
          }
          second = size;
          second_size = (size_t)1 << extra;
          size += second_size;
          if (size > VP8L_MOST_ENTRIES) return 0;
          table[prefix] = (uint16_t)(second << 4 | (root + extra));
        }
        fill_table(table + second, second_size, bits >> root, length - root, *symbol);
      }
      bits = next_code(bits, length);
    }
  }
  return size;
}

/// The lengths of the codes of lengths come in this order, because the last ones are often 0.
static const uint8_t order[19] = {17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/// Reads the lengths of a code's symbols, which are coded themselves. Returns false if they break the format.
static bool read_lengths(vp8l_bits *bits, uint8_t *lengths, unsigned count) {
  uint8_t own[19] = {0};
  unsigned own_count = vp8l_bits_take(bits, 4) + 4;
  for (unsigned index = 0; index < own_count; index++) own[order[index]] = (uint8_t)vp8l_bits_take(bits, 3);
  vp8l_code code;
  uint16_t table[1 << VP8L_ROOT_BITS];
  if (vp8l_code_make(&code, table, own, 19) == 0) return false;
  unsigned left = count;
  if (vp8l_bits_take(bits, 1)) {
    unsigned size = 2 + 2 * vp8l_bits_take(bits, 3);
    left = 2 + vp8l_bits_take(bits, size);
    if (left > count) return false;
  }
  uint8_t last = 8;
  for (unsigned symbol = 0; symbol < count && left > 0; left--) {
    vp8l_bits_fill(bits);
    unsigned length = vp8l_code_take(&code, bits);
    if (length < 16) {
      lengths[symbol++] = (uint8_t)length;
      if (length > 0) last = (uint8_t)length;
      continue;
    }
    // The last length 3 to 6 times, or 0 as often as 3 to 10 or 11 to 138 times.
    unsigned repeat = length == 16   ? 3 + vp8l_bits_take(bits, 2)
                      : length == 17 ? 3 + vp8l_bits_take(bits, 3)
                                     : 11 + vp8l_bits_take(bits, 7);
    if (repeat > count - symbol) return false;
    memset(lengths + symbol, length == 16 ? last : 0, repeat);
    symbol += repeat;
  }
  return true;
}

size_t vp8l_code_read(vp8l_code *code, uint16_t *table, vp8l_bits *bits, unsigned count) {
  uint8_t lengths[VP8L_MOST_SYMBOLS] = {0};
  if (vp8l_bits_take(bits, 1)) {
    // One or two symbols as they are.
    bool are_two = vp8l_bits_take(bits, 1);
    unsigned first = vp8l_bits_take(bits, vp8l_bits_take(bits, 1) ? 8 : 1);
    lengths[first] = 1;
    if (are_two) lengths[vp8l_bits_take(bits, 8)] = 1;
  } else if (!read_lengths(bits, lengths, count)) {
    return 0;
  }
  return vp8l_code_make(code, table, lengths, count);
}
