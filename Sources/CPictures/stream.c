#include "stream.h"

#include <string.h>

/// Fills the buffer, which is empty. Returns false if the file ends or if the call has failed.
static bool fill(stream *input) {
  decoding *call = input->call;
  if (input->ended || call->reply->status != CDECODING_OK || !decoding_proceeds(call, input->done)) return false;
  ptrdiff_t taken = call->input->read(call->input->context, input->offset, input->buffer, STREAM_BUFFER_SIZE);
  if (taken < 0) {
    decoding_fail(call, CDECODING_READ_FAILED, "cannot be read");
    return false;
  }
  input->ended = taken == 0;
  input->start = 0;
  input->end = (size_t)taken;
  input->offset += (size_t)taken;
  return taken > 0;
}

size_t stream_read(stream *input, uint8_t *into, size_t count) {
  size_t done = 0;
  while (done < count) {
    if (input->start == input->end && !fill(input)) break;
    size_t taken = input->end - input->start;
    if (taken > count - done) taken = count - done;
    memcpy(into + done, input->buffer + input->start, taken);
    input->start += taken;
    done += taken;
  }
  return done;
}

bool stream_take(stream *input, uint8_t *into, size_t count) {
  if (stream_read(input, into, count) == count) return true;
  decoding_fail(input->call, CDECODING_TRUNCATED, "the file ends too early");
  return false;
}

void stream_seek(stream *input, uint64_t offset) {
  input->offset = offset;
  input->start = input->end = 0;
  input->ended = false;
}
