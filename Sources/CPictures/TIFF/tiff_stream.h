// The samples of a large strip, decompressed while it is read. libtiff would hold the whole strip as it is in the file.

#ifndef TIFF_STREAM_H
#define TIFF_STREAM_H

#include <zlib.h>

#include "decoding.h"

#pragma clang assume_nonnull begin

enum {
  /// A strip is read in pieces of so many bytes.
  tiff_stream_piece = 64 << 10,
  /// Codes of LZW have at most 12 bits.
  tiff_stream_codes = 1 << 12,
  /// Strings of LZW are written so many bytes at a time.
  tiff_string_part = 8,
};

/// A string of LZW: that of another code, whose length is a multiple of 8, and 1 to 8 bytes after it. Most strings of
/// photographs have no more.
typedef struct tiff_string {
  /// As in memory, whatever the byte order of the machine.
  uint64_t part;
  uint16_t prefix, length;
  uint8_t first;
} tiff_string;

typedef struct tiff_stream {
  decoding *call;
  /// LZW, else Deflate.
  bool is_lzw;
  /// The rest of the strip that is not in the piece yet.
  uint64_t offset, remaining;
  /// The bytes of the piece that are still to be read.
  size_t start, end;
  z_stream inflation;
  bool is_inflating;
  /// LZW: the bits that are read already, the width of the next code, the one before it, and the next one to be
  /// defined.
  uint64_t window;
  unsigned bits, width, previous, next;
  /// The rest of a string that did not fit.
  size_t string_start, string_end;
  tiff_string strings[tiff_stream_codes];
  uint8_t string[tiff_stream_codes + tiff_string_part];
  uint8_t piece[tiff_stream_piece];
} tiff_stream;

/// Begins a strip. If that fails, so has the call.
bool tiff_stream_begin(tiff_stream *stream, uint64_t offset, uint64_t size);

/// Reads exactly `count` bytes of samples. If that fails, so has the call.
bool tiff_stream_read(tiff_stream *stream, uint8_t *into, size_t count);

void tiff_stream_end(tiff_stream *stream);

#pragma clang assume_nonnull end

#endif
