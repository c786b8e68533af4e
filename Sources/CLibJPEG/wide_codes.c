#include "wide_codes.h"

#include <stdbool.h>
#include <string.h>

#define LONGEST 16

/// The symbols that a baseline picture of 8-bit samples can have: sizes up to 11 of DC differences; for AC coefficients
/// EOB, ZRL, and each run with sizes up to 10 (ITU-T T.81, tables F.1, F.2 and K.5).
static bool is_possible(int symbol, bool is_dc) {
  if (is_dc) return symbol <= 11;
  int size = symbol & 15;
  return size == 0 ? symbol == 0x00 || symbol == 0xF0 : size <= 10;
}

/// Adds the missing symbols, with codes of 16 bits. To make room, it lengthens the longest codes below 16 bits, which belong
/// to the rarest symbols. So the symbols already in the table keep their order.
static void widen(JHUFF_TBL *table, bool is_dc) {
  bool has[256] = {false};
  int count = 0;
  // Codes of 16 bits that are free.
  long room = 1L << LONGEST;
  for (int length = 1; length <= LONGEST; length++) {
    count += table->bits[length];
    room -= (long)table->bits[length] << (LONGEST - length);
  }
  if (count > 256) return;
  for (int i = 0; i < count; i++) has[table->huffval[i]] = true;
  int missing = 0;
  for (int symbol = 0; symbol < 256; symbol++) missing += !has[symbol] && is_possible(symbol, is_dc);
  if (missing == 0) return;
  // One code remains free, because no code may consist of ones alone.
  while (room < missing + 1) {
    int longest = LONGEST - 1;
    while (longest > 0 && table->bits[longest] == 0) longest--;
    if (longest == 0) return;
    table->bits[longest]--;
    table->bits[longest + 1]++;
    room += 1L << (LONGEST - 1 - longest);
  }
  table->bits[LONGEST] = (UINT8)(table->bits[LONGEST] + missing);
  for (int symbol = 0; symbol < 256; symbol++) {
    if (!has[symbol] && is_possible(symbol, is_dc)) table->huffval[count++] = (UINT8)symbol;
  }
}

void clibjpeg_widen_codes(struct jpeg_compress_struct *jpeg) {
  for (int i = 0; i < NUM_HUFF_TBLS; i++) {
    if (jpeg->dc_huff_tbl_ptrs[i] != NULL) widen(jpeg->dc_huff_tbl_ptrs[i], true);
    if (jpeg->ac_huff_tbl_ptrs[i] != NULL) widen(jpeg->ac_huff_tbl_ptrs[i], false);
  }
}
