// Reads how large pictures are coded, before the decoder does (ITU-T H.265, 7.3.2.2).

#ifndef HEVC_PARAMETERS_H
#define HEVC_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// Whether a NAL unit, which has more than its header of 2 bytes, is a sequence parameter set that the decoder reads. It passes
/// over units of other layers than the first.
bool hevc_has_parameters(const uint8_t *unit);

/// Reads the coded width and height in pixels from a sequence parameter set. False if it ends before them.
bool hevc_read_size(const uint8_t *unit, size_t size, uint32_t *width, uint32_t *height);

#pragma clang assume_nonnull end

#endif
