// Detects arithmetic-coded files that are cut off. After the end of a scan's data, libjpeg's decoder silently reads
// zeros (jdarith.c, "stuff zero data"), because an encoder leaves out the zeros at the end (ITU-T T.81, D.1.8). In a
// cut-off file, these zeros are decoded to noise.
//
// A scan's data is a binary fraction that lies in an interval, which every decision narrows to its lower or its upper
// part. The decoder's C register is the distance from the interval's lower end to the fraction (D.2). The encoder ends
// with the fraction in the last interval that has the most trailing zeros. So for most files, the last interval's lower
// end is the fraction itself once zeros have been read for a while, and C is zero. For the others, pictures of repeated
// patterns, C takes a few values again and again. In a cut-off file it takes new values for ever.

#ifndef CLIBJPEG_ARITH_WATCH_H
#define CLIBJPEG_ARITH_WATCH_H

#include <stdbool.h>
#include <stdio.h>

#include <jpeglib.h>

/// The number of zero bytes that the decoder may read after a scan's data while its C register takes new values. The
/// register has 16 bits and libjpeg reads up to three bytes ahead, which together take up to seven bytes in a complete
/// file. The rest is for files in which some more bits happen to be zero: half as many for each bit.
#define CLIBJPEG_ARITH_MOST_ZEROS 12

/// The number of last values of the C register that are not new.
#define CLIBJPEG_ARITH_KNOWN_VALUES 16

typedef struct clibjpeg_arith_watch {
  boolean (*decode_mcu)(j_decompress_ptr, JBLOCKROW *);  // libjpeg's own, for the current scan
  bool knows_registers;  // the C register is where libjpeg-turbo has it
  bool past_end;         // the current MCU begins after the end of the data
  size_t in_interval;    // MCUs decoded since the last restart
  size_t zeros;          // bytes read after the end of the data while the C register took new values, since then
  unsigned values;       // of the C register after the end of the data, since then
  unsigned long known[CLIBJPEG_ARITH_KNOWN_VALUES];  // the last of these values
} clibjpeg_arith_watch;

/// Watches the current scan. Call before each row of blocks of an arithmetic-coded file. Does nothing where libjpeg's
/// internal header is not installed.
void clibjpeg_arith_watch_scan(j_decompress_ptr jpeg);

/// Whether the end of the scan's data has been reached. libjpeg handles restart markers itself, at the next restart; any
/// other marker ends the data.
static inline bool clibjpeg_at_scan_end(j_decompress_ptr jpeg) {
  int marker = jpeg->unread_marker;
  return marker != 0 && (marker < JPEG_RST0 || marker > JPEG_RST0 + 7);
}

#endif
