#if __has_include(<jpegint.h>)
// The public interface cannot end a scan early; the input controller's method finish_input_pass can, and has been the
// same since libjpeg 6b. If the internal header is not installed, nothing is skipped.
#define JPEG_INTERNALS
#endif

#include "scan_skip.h"

#include <string.h>

#include "source.h"

#ifdef JPEG_INTERNALS

bool clibjpeg_can_skip_scans(j_decompress_ptr jpeg) { return jpeg->progressive_mode; }

/// Reads up to the first marker that is not a restart marker, ignoring stuffed bytes, and returns its code.
static int find_marker(j_decompress_ptr jpeg) {
  for (;;) {
    if (jpeg->src->bytes_in_buffer == 0) jpeg->src->fill_input_buffer(jpeg);
    const JOCTET *start = jpeg->src->next_input_byte;
    const JOCTET *found = memchr(start, 0xFF, jpeg->src->bytes_in_buffer);
    size_t passed = found == NULL ? jpeg->src->bytes_in_buffer : (size_t)(found - start) + 1;
    jpeg->src->next_input_byte += passed;
    jpeg->src->bytes_in_buffer -= passed;
    if (found == NULL) continue;
    unsigned code = 0xFF;
    while (code == 0xFF) code = clibjpeg_next_byte(jpeg);
    if (code != 0 && (code < JPEG_RST0 || code > JPEG_RST0 + 7)) return (int)code;
  }
}

void clibjpeg_skip_scan(j_decompress_ptr jpeg) {
  jpeg->unread_marker = find_marker(jpeg);
  jpeg->inputctl->finish_input_pass(jpeg);
}

#else

bool clibjpeg_can_skip_scans(j_decompress_ptr jpeg) {
  (void)jpeg;
  return false;
}

void clibjpeg_skip_scan(j_decompress_ptr jpeg) { (void)jpeg; }

#endif
