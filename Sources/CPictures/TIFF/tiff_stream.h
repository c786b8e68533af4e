// The samples of a strip, decompressed while it is read. libtiff would hold a large strip as it is in the file.
//
// ISA-L inflates Deflate (inflate.c). LZW has a decoder here: a photo of 24 megapixels took 0.38 s with 8 bits and 0.52 s
// with 16, and with libtiff 4.5 it took 0.43 s and 0.79 s. In one strip, of 55 MB, it took 0.3 MiB, and 52 MiB with libtiff
// (2026-11-26, 2 cores at 2.3 GHz). `make bench-formats` compares both depths with vipsthumbnail, which uses libtiff.
// `make fuzz TARGETS=lzw` compares the samples with libtiff's.

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
