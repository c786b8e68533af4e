// Encodes pictures as WebP, AVIF and PNG, with the usual libraries.

#ifndef CENCODERS_H
#define CENCODERS_H

#include "cencoding.h"

#pragma clang assume_nonnull begin

/// Encodes a picture.
///
/// - `memory`: of `memory_size` bytes. It has what the request says, and receives the file.
/// - `reply`: receives the size of the file, or the reason why there is none.
///
/// A WebP file has the chunk VP8X, and a PNG file its chunk IHDR, before all others, so that it is known where comments may be
/// put (ISO/IEC 15948; the WebP container's specification).
void cencoders_encode(
    const cencoding_request *request, const cencoding_progress *progress, uint8_t *memory, size_t memory_size,
    cdecoding_reply *reply);

#pragma clang assume_nonnull end

#endif
