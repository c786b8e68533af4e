// What libtiff's messages mean for the samples. It has no codes for them.

#ifndef TIFF_MESSAGES_H
#define TIFF_MESSAGES_H

#include <stdbool.h>

#pragma clang assume_nonnull begin

typedef enum tiff_message {
  TIFF_MESSAGE_UNTOLD,     ///< no flaw
  TIFF_MESSAGE_HARMLESS,   ///< a flaw that no sample shows, or one that is found otherwise
  TIFF_MESSAGE_JPEG_ENDS,  ///< JPEG data have no EOI marker; the next message tells whether samples are missing too
  TIFF_MESSAGE_DAMAGED,    ///< samples are wrong
  TIFF_MESSAGE_TRUNCATED,  ///< samples are missing
} tiff_message;

/// What a warning means that comes while a strip or tile is decoded.
///
/// - `has_jpeg_ended`: whether there was a message that JPEG data have ended, of the same strip or tile.
/// - `has_error`: whether there was an error, of the same row.
tiff_message tiff_message_meaning(const char *text, bool has_jpeg_ended, bool has_error);

/// Whether samples are right although there was this error.
bool tiff_message_is_harmless(const char *error);

#pragma clang assume_nonnull end

#endif
