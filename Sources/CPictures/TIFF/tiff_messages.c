#ifdef THUMBJOB_FORMATS
// Source: the messages of libtiff 4.5 to 4.7 and, for JPEG, of libjpeg's jerror.h.

#include "tiff_messages.h"

#include <stddef.h>
#include <string.h>

static bool begins(const char *text, const char *words) { return strncmp(text, words, strlen(words)) == 0; }

/// How warnings begin. Other warnings are reported, and fail a picture only where every warning does. Among these are JPEG and
/// JBIG data of another size: tiff_coded.c finds out whether samples are missing.
static const struct {
  const char *words;
  tiff_message meaning;
} meanings[] = {
    // An old way to compress is no flaw.
    {"Deprecated", TIFF_MESSAGE_UNTOLD},
    {"Old-style", TIFF_MESSAGE_UNTOLD},
    // CCITT.
    {"Premature EOF", TIFF_MESSAGE_TRUNCATED},
    {"Premature EOL", TIFF_MESSAGE_DAMAGED},
    {"Line length mismatch", TIFF_MESSAGE_DAMAGED},
    // JPEG: libjpeg's classes are those of CLibJPEG's warnings.c.
    {"Premature end of JPEG file", TIFF_MESSAGE_JPEG_ENDS},
    {"Corrupt JPEG data: premature end of data segment", TIFF_MESSAGE_DAMAGED},
    {"Corrupt JPEG data: bad Huffman code", TIFF_MESSAGE_DAMAGED},
    {"Corrupt JPEG data: bad arithmetic code", TIFF_MESSAGE_DAMAGED},
    {"Corrupt JPEG data: found marker", TIFF_MESSAGE_DAMAGED},
    {"Inconsistent progression sequence", TIFF_MESSAGE_DAMAGED},
    // PackBits; PixarLog.
    {"Terminating PackBitsDecode", TIFF_MESSAGE_TRUNCATED},
    {"stride ", TIFF_MESSAGE_TRUNCATED},
};

tiff_message tiff_message_meaning(const char *text, bool has_jpeg_ended, bool has_error) {
  for (size_t index = 0; index < sizeof meanings / sizeof *meanings; index++) {
    if (!begins(text, meanings[index].words)) continue;
    tiff_message meaning = meanings[index].meaning;
    if (meaning != TIFF_MESSAGE_DAMAGED) return meaning;
    // A fax's row without a pixel, and without a wrong code, is the end of the data.
    bool is_end_of_fax = !has_error && begins(text, "Premature EOL") && strstr(text, "(got 0,");
    return is_end_of_fax || (has_jpeg_ended && begins(text, "Corrupt JPEG")) ? TIFF_MESSAGE_TRUNCATED : meaning;
  }
  return TIFF_MESSAGE_HARMLESS;
}

bool tiff_message_is_harmless(const char *error) {
  // The strip or tile has more bytes than it can need, and the rest is not read.
  return begins(error, "Too large strip byte count") || begins(error, "Too large tile byte count");
}
#endif
