// Passing over scans of a progressive JPEG without decoding them: most of such a file's bytes, and nearly all the time
// it takes, go into detail that a picture an eighth the size does not show.

#ifndef CLIBJPEG_SCAN_SKIP_H
#define CLIBJPEG_SCAN_SKIP_H

#include <stdbool.h>
#include <stdio.h>

#include <jpeglib.h>

/// Whether scans of this picture can be passed over: it is progressive, and the library's internals are at hand.
bool clibjpeg_can_skip_scans(j_decompress_ptr jpeg);

/// Goes on behind the scan whose header has just been read. Call on JPEG_REACHED_SOS in buffered-image mode.
void clibjpeg_skip_scan(j_decompress_ptr jpeg);

#endif
