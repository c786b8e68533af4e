// The two markers a thumbnail needs: Exif (APP1) and the ICC profile (APP2). Read here rather than with
// jpeg_save_markers(), which would keep every APP1 and APP2 of a hostile file in memory, however many there are.

#ifndef CLIBJPEG_MARKERS_H
#define CLIBJPEG_MARKERS_H

#include <stdio.h>

#include <jpeglib.h>

#include "clibjpeg.h"

/// The largest profile taken: real CMYK profiles are 0.5 to 3 MiB.
#define CLIBJPEG_MAX_ICC_SIZE ((size_t)4 << 20)

typedef struct clibjpeg_markers {
  uint8_t *exif;
  size_t exif_size;
  uint8_t *icc;  // chunks in the order they came
  size_t icc_size;
  size_t chunk_start[256], chunk_size[256];  // by sequence number, 1-255; size 0: not seen
  unsigned chunk_total;                      // the count every chunk repeats; 0 before the first
  bool icc_in_order, icc_refused;
  bool measures;  // the profile's size is wanted, and none of its bytes
} clibjpeg_markers;

/// Has libjpeg keep the markers in the decoder.
void clibjpeg_markers_install(j_decompress_ptr jpeg);

/// Puts the profile's chunks in order, or refuses the profile. Call once, when the header is read.
void clibjpeg_markers_finish(clibjpeg_markers *markers);

void clibjpeg_markers_free(clibjpeg_markers *markers);

#endif
