// Tells a cut-off arithmetic-coded file from a whole one. libjpeg's decoder reads zeros behind the end of its data
// without a word (jdarith.c, "fill zeros"), and for a good reason: an encoder leaves out the zeros a scan ends with
// (ITU-T T.81, D.1.8). What comes of zeros that were never there is noise.

#ifndef CLIBJPEG_ARITH_WATCH_H
#define CLIBJPEG_ARITH_WATCH_H

#include <stdbool.h>
#include <stdio.h>

#include <jpeglib.h>

/// How many MCUs behind the end of the data may say anything new. A decoder has up to three bytes in its register when
/// it meets the end, and zeros left out say no more than that all goes on as before; in whole files of photos, drawings
/// and text none went beyond this.
#define CLIBJPEG_ARITH_MOST_PAST_END 32

typedef struct clibjpeg_arith_watch {
  boolean (*decode_mcu)(j_decompress_ptr, JBLOCKROW *);  // libjpeg's own, of the scan under way
  int count;                                             // MCUs past the data's end that said something new
  bool has_mean[MAX_COMPS_IN_SCAN];
  JCOEF mean[MAX_COMPS_IN_SCAN];  // the last block's, by component of the scan
} clibjpeg_arith_watch;

/// Watches the scan under way. Call before each row of blocks, on files with arithmetic coding. Where libjpeg's internal
/// header is not installed, nothing is watched.
void clibjpeg_arith_watch_scan(j_decompress_ptr jpeg);

#endif
