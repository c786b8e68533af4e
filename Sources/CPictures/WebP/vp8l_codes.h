// The bits of a lossless WebP picture, and their prefix codes.

#ifndef VP8L_CODES_H
#define VP8L_CODES_H

#include "decoding.h"

#pragma clang assume_nonnull begin

/// A file is read in pieces of so many bytes.
#define VP8L_PIECE_SIZE (64 << 10)

/// The bits of a chunk, the lowest of each byte first.
typedef struct vp8l_bits {
  decoding *call;
  /// What of the chunk is not in the piece yet.
  uint64_t offset, remaining;
  /// The bytes of the piece that are not in the window yet.
  size_t start, end;
  uint64_t window;
  /// How many bits the window has, and how many of these are zeros after the end of the chunk.
  unsigned count, zeros;
  uint8_t piece[VP8L_PIECE_SIZE];
} vp8l_bits;

/// Takes bytes into the window where fewer than eight are in the piece.
void vp8l_bits_refill(vp8l_bits *bits);

/// Fills the window with at least 56 bits; with zeros after the end of the chunk.
static inline void vp8l_bits_fill(vp8l_bits *bits) {
  if (bits->end - bits->start < 8) {
    vp8l_bits_refill(bits);
    return;
  }
  const uint8_t *next = bits->piece + bits->start;
  uint64_t word = 0;
  for (int index = 0; index < 8; index++) word |= (uint64_t)next[index] << 8 * index;
  bits->window |= word << bits->count;
  bits->start += (63 - bits->count) >> 3;
  bits->count |= 56;
}

/// Drops bits that fill() has brought.
static inline void vp8l_bits_drop(vp8l_bits *bits, unsigned count) {
  bits->window >>= count;
  bits->count -= count;
}

/// Takes up to 24 bits.
unsigned vp8l_bits_take(vp8l_bits *bits, unsigned count);

/// Whether more bits were taken than there are. If so, or if the chunk could not be read, the call has failed.
bool vp8l_bits_ended(vp8l_bits *bits);

/// A prefix code: a table for its first bits, and tables for longer codes. The lower 4 bits of an entry are the bits
/// of the code that the table decides, and the upper 12 its symbol. In the first table, more than VP8L_ROOT_BITS lead
/// to another table: the upper bits are the place of that one, and the lower ones the length of its longest code.
typedef struct vp8l_code {
  const uint16_t *table;
  uint32_t mask;
} vp8l_code;

#define VP8L_ROOT_BITS 8
#define VP8L_LONGEST_CODE 15

/// Green, lengths of copies, and the entries of the largest colour cache.
#define VP8L_MOST_SYMBOLS (256 + 24 + (1 << 11))

/// The most entries of all tables of a code. Codes are sorted by their length, so only a table in which the length
/// grows has more entries than symbols: at most seven tables, of 128 entries each.
#define VP8L_MOST_ENTRIES 4096

/// Takes a symbol, with at least 15 bits in the window.
static inline unsigned vp8l_code_take(const vp8l_code *code, vp8l_bits *bits) {
  unsigned entry = code->table[bits->window & code->mask], length = entry & 15;
  if (length > VP8L_ROOT_BITS) {
    bits->window >>= VP8L_ROOT_BITS;
    bits->count -= VP8L_ROOT_BITS;
    entry = code->table[(entry >> 4) + (bits->window & ((1u << (length - VP8L_ROOT_BITS)) - 1))];
    length = entry & 15;
  }
  vp8l_bits_drop(bits, length);
  return entry >> 4;
}

/// Makes the tables of a code of `lengths`, 0 for symbols that do not occur, in `table`, which has VP8L_MOST_ENTRIES
/// entries.
///
/// Returns how many entries they have; 0 if there is no such code.
size_t vp8l_code_make(vp8l_code *code, uint16_t *table, const uint8_t *lengths, unsigned count);

/// Reads the lengths of a code of `count` symbols, and makes its tables. Returns as vp8l_code_make().
size_t vp8l_code_read(vp8l_code *code, uint16_t *table, vp8l_bits *bits, unsigned count);

#pragma clang assume_nonnull end

#endif
