// Skips scans of a progressive JPEG without decoding them. The scans that refine the last bit of AC coefficients are
// often half of such a file, and are not visible at a smaller scale.

#ifndef CLIBJPEG_SCAN_SKIP_H
#define CLIBJPEG_SCAN_SKIP_H

#include <stdbool.h>
#include <stdio.h>

#include <jpeglib.h>

/// Whether scans of this picture can be skipped: it is progressive, and libjpeg's internal header is installed.
bool clibjpeg_can_skip_scans(j_decompress_ptr jpeg);

/// Skips the scan whose header has just been read. Call on JPEG_REACHED_SOS in buffered-image mode.
void clibjpeg_skip_scan(j_decompress_ptr jpeg);

#endif
