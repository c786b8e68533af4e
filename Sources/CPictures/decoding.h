// What all decoders share: the arguments of one call, and the way to report its end.

#ifndef DECODING_H
#define DECODING_H

#include "cpictures.h"

#pragma clang assume_nonnull begin

/// One call of cpictures_decode().
typedef struct decoding {
  const cdecoding_request *request;
  const cdecoding_tile *_Nullable tiles;
  const cdecoding_extent *_Nullable extents;
  const cpictures_input *input;
  uint8_t *memory;
  size_t memory_size;
  cdecoding_reply *reply;
} decoding;

/// Records why there is no picture, unless a reason is known already. Returns `status`.
__attribute__((format(printf, 3, 4))) cdecoding_status decoding_fail(
    decoding *call, cdecoding_status status, const char *format, ...);

/// Records a flaw that the planes do not show, unless there is one already.
__attribute__((format(printf, 2, 3))) void decoding_warn(decoding *call, const char *format, ...);

/// Records that samples are wrong. If the request does not tolerate that, the call has failed with CDECODING_CORRUPT.
__attribute__((format(printf, 2, 3))) void decoding_find_damage(decoding *call, const char *format, ...);

/// Whether to go on. If not, the call has failed with CDECODING_CANCELLED.
bool decoding_proceeds(decoding *call, double done);

/// Reads exactly `count` bytes at an offset. If that fails, so has the call, with CDECODING_TRUNCATED or
/// CDECODING_READ_FAILED.
bool decoding_read(decoding *call, uint64_t offset, uint8_t *into, size_t count);

/// Whether the request has this many planes, all with the picture's size and the same shrink, as interleaved pixels need
/// them. If not, the call has failed with CDECODING_BAD_CALL.
bool decoding_expects_pixels(decoding *call, unsigned plane_count);

/// Whether the place for the profile is in the memory. If not, the call has failed with CDECODING_BAD_CALL.
bool decoding_expects_profile(decoding *call);

/// Warns that a profile is not kept because it is too long.
void decoding_warn_of_profile(decoding *call);

/// A big-endian number of up to four bytes.
static inline uint32_t decoding_number(const uint8_t *bytes, unsigned count) {
  uint32_t value = 0;
  for (unsigned index = 0; index < count; index++) value = value << 8 | bytes[index];
  return value;
}

// One function for each library. Each ends with the reply's status set, or leaves it CDECODING_OK.
void decode_png(decoding *call);
void decode_gif(decoding *call);
void decode_webp(decoding *call);
void decode_tiff(decoding *call);
void decode_hevc(decoding *call);
void decode_av1(decoding *call);
void decode_jpeg(decoding *call);
void decode_raster(decoding *call);
void decode_psd(decoding *call);
void decode_jxl(decoding *call);
void decode_jp2(decoding *call);

#pragma clang assume_nonnull end

#endif
