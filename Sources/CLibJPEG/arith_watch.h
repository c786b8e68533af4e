// Detects arithmetic-coded files that are cut off. After the end of the data, libjpeg's decoder silently reads zeros
// (jdarith.c, "fill zeros"), because an encoder may leave out the zeros at the end of a scan (ITU-T T.81, D.1.8). In a
// cut-off file, these zeros are decoded to noise.

#ifndef CLIBJPEG_ARITH_WATCH_H
#define CLIBJPEG_ARITH_WATCH_H

#include <stdbool.h>
#include <stdio.h>

#include <jpeglib.h>

/// The number of MCUs after the end of the data that may change a coefficient. The decoder still has up to three bytes
/// in its register when it reaches the end, and omitted zeros change nothing. No complete file among photos, drawings
/// and text exceeded this limit.
#define CLIBJPEG_ARITH_MOST_PAST_END 32

typedef struct clibjpeg_arith_watch {
  boolean (*decode_mcu)(j_decompress_ptr, JBLOCKROW *);  // libjpeg's own, for the current scan
  int count;                                             // MCUs after the end of the data that changed a coefficient
  bool has_dc[MAX_COMPS_IN_SCAN];
  JCOEF dc[MAX_COMPS_IN_SCAN];  // DC coefficient of the last block, by component of the scan
} clibjpeg_arith_watch;

/// Watches the current scan. Call before each row of blocks of an arithmetic-coded file. Does nothing where libjpeg's
/// internal header is not installed.
void clibjpeg_arith_watch_scan(j_decompress_ptr jpeg);

#endif
