#if __has_include(<jpegint.h>)
// The entropy decoder's methods (struct jpeg_entropy_decoder, the same since libjpeg 6b) are not in the public header.
#define JPEG_INTERNALS
#endif

#include "decoder.h"

#ifdef JPEG_INTERNALS

/// The number of AC coefficients that are not zero.
static int nonzero_count(const JBLOCK *block) {
  int count = 0;
  for (int k = 1; k < DCTSIZE2; k++) {
    if ((*block)[k] != 0) count++;
  }
  return count;
}

/// Whether a DC coefficient differs from the component's last one. Stores it as the last one.
static bool dc_changes(clibjpeg_arith_watch *watch, int component, JCOEF dc) {
  bool differs = watch->has_dc[component] && watch->dc[component] != dc;
  watch->has_dc[component] = true;
  watch->dc[component] = dc;
  return differs;
}

static boolean decode_mcu(j_decompress_ptr jpeg, JBLOCKROW *blocks) {
  clibjpeg_arith_watch *watch = &clibjpeg_decoder_of((j_common_ptr)jpeg)->arith_watch;
  // libjpeg handles restart markers itself. Any other marker ends the scan's data.
  int marker = jpeg->unread_marker;
  if (marker == 0 || (marker >= JPEG_RST0 && marker <= JPEG_RST0 + 7)) return watch->decode_mcu(jpeg, blocks);
  int before[D_MAX_BLOCKS_IN_MCU];
  for (int i = 0; i < jpeg->blocks_in_MCU; i++) before[i] = nonzero_count(blocks[i]);
  boolean result = watch->decode_mcu(jpeg, blocks);
  bool is_new = false;
  for (int i = 0; i < jpeg->blocks_in_MCU; i++) {
    if (nonzero_count(blocks[i]) != before[i]) is_new = true;
    // A DC refinement scan has one bit for each block, from which nothing can be concluded.
    bool is_first_dc = jpeg->Ss == 0 && jpeg->Ah == 0;
    if (is_first_dc && dc_changes(watch, jpeg->MCU_membership[i], (*blocks[i])[0])) is_new = true;
  }
  if (is_new && ++watch->count > CLIBJPEG_ARITH_MOST_PAST_END) clibjpeg_warn_truncated(jpeg);
  return result;
}

void clibjpeg_arith_watch_scan(j_decompress_ptr jpeg) {
  clibjpeg_arith_watch *watch = &clibjpeg_decoder_of((j_common_ptr)jpeg)->arith_watch;
  if (jpeg->entropy == NULL || jpeg->entropy->decode_mcu == decode_mcu) return;
  watch->decode_mcu = jpeg->entropy->decode_mcu;
  jpeg->entropy->decode_mcu = decode_mcu;
  watch->count = 0;
  for (int i = 0; i < MAX_COMPS_IN_SCAN; i++) watch->has_dc[i] = false;
}

#else

void clibjpeg_arith_watch_scan(j_decompress_ptr jpeg) { (void)jpeg; }

#endif
