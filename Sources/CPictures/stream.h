// Reads the file from its beginning to its end, for libraries that ask for a few bytes at a time.

#ifndef STREAM_H
#define STREAM_H

#include "decoding.h"

#pragma clang assume_nonnull begin

#define STREAM_BUFFER_SIZE 65536

typedef struct stream {
  decoding *call;
  /// Where in the file the bytes after those in the buffer are.
  uint64_t offset;
  /// The bytes of the buffer that are still to be read.
  size_t start, end;
  /// The fraction of the picture that is decoded, for `proceed`.
  double done;
  /// Whether more bytes were asked for than the file has.
  bool ended;
  uint8_t buffer[STREAM_BUFFER_SIZE];
} stream;

/// Reads up to `count` bytes: fewer only if the file ends or if the call has failed. Asks whether to go on each time that the
/// buffer is filled, so that long parts that a library skips can be cancelled too.
size_t stream_read(stream *input, uint8_t *into, size_t count);

/// Reads exactly `count` bytes. If the file ends before, the call has failed with CDECODING_TRUNCATED.
bool stream_take(stream *input, uint8_t *into, size_t count);

/// Goes on reading at an offset.
void stream_seek(stream *input, uint64_t offset);

#pragma clang assume_nonnull end

#endif
