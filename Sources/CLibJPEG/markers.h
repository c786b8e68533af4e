// Reads the two markers that a thumbnail needs: Exif (APP1) and the ICC profile (APP2). jpeg_save_markers() would keep
// every APP1 and APP2 segment of a hostile file in memory, however many there are.

#ifndef CLIBJPEG_MARKERS_H
#define CLIBJPEG_MARKERS_H

#include <stdio.h>

#include <jpeglib.h>

#include "clibjpeg.h"

/// The largest profile that is read. Real CMYK profiles have 0.5 to 3 MiB.
#define CLIBJPEG_MAX_ICC_SIZE ((size_t)4 << 20)

typedef struct clibjpeg_markers {
  uint8_t *exif;
  size_t exif_size;
  uint8_t *icc;  // chunks in the order of the file
  size_t icc_size;
  size_t chunk_start[256], chunk_size[256];  // by sequence number, 1-255; size 0: not seen
  unsigned chunk_total;                      // the total that every chunk states; 0 before the first
  bool icc_in_order, icc_refused;
  bool measures;  // keeps the profile's size, but not its bytes
} clibjpeg_markers;

/// Makes libjpeg store the two markers in the decoder.
void clibjpeg_markers_install(j_decompress_ptr jpeg);

/// Sorts the profile's chunks, or drops a profile that is incomplete. Call once, after the header has been read.
void clibjpeg_markers_finish(clibjpeg_markers *markers);

void clibjpeg_markers_free(clibjpeg_markers *markers);

#endif
